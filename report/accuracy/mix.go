package accuracy

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect/refsim/session"
)

// Planted is what a bundle of a folder of planted bugs is of.
type Planted struct {
	Bundle string `json:"bundle"` // the name of its folder
	Bug    string `json:"bug"`
	View   View   `json:"evidence"`
}

// Mix writes sessions into one folder, a folder for each, whose names say nothing of their bugs, and the
// truth beside them as truth.json. Those in which a mistake never showed are left out.
func Mix(dir string, strikes []Strike, view View) ([]Planted, error) {
	list := []Planted{}
	for _, s := range strikes {
		name := fmt.Sprintf("%016x", s.Seed*0x9e3779b97f4a7c15) // another for each seed
		to := filepath.Join(dir, name)
		shown, err := s.Leave(to+".played", []View{view}, func(_ View, dirs []string) error {
			return os.Rename(filepath.Dir(dirs[0]), to)
		})
		if err != nil {
			return nil, err
		}
		if shown {
			list = append(list, Planted{name, s.Bug.Name, view})
		}
	}
	slices.SortFunc(list, func(a, b Planted) int { return strings.Compare(a.Bundle, b.Bundle) })
	text, err := json.MarshalIndent(list, "", "  ")
	if err != nil {
		return nil, err
	}
	return list, os.WriteFile(filepath.Join(dir, session.TruthName), append(text, '\n'), 0o666)
}
