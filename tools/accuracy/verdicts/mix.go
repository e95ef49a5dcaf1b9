package verdicts

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// Planted is the bug of a bundle in a folder of planted bugs.
type Planted struct {
	Bundle string `json:"bundle"` // name of its folder
	Bug    string `json:"bug"`
	View   View   `json:"evidence"`
}

// Recorded is a desync of a real game that was recorded before: its bug, and the folder of the peers' files.
type Recorded struct{ Bug, Dir string }

// Mix writes sessions into one folder, each in a subfolder with a name that does not reveal its bug, and the truth next
// to them as truth.json. Sessions in which the mistake never appeared are omitted. Recordings are copied without the
// pages that describe them.
func Mix(dir string, strikes []Strike, view View, recorded []Recorded) (list []Planted, err error) {
	defer try.Catch(&err)
	list = []Planted{}
	for _, r := range recorded {
		h := sha256.Sum256([]byte(filepath.ToSlash(r.Dir)))
		name := hex.EncodeToString(h[:8])
		try.Check(os.CopyFS(filepath.Join(dir, name), unsaid{os.DirFS(r.Dir)}))
		list = append(list, Planted{name, r.Bug, Complete})
	}
	for _, s := range strikes {
		name := fmt.Sprintf("%016x", s.Seed*0x9e3779b97f4a7c15) // unique for each seed
		to := filepath.Join(dir, name)
		shown := try.Get(s.Leave(to+".played", []View{view}, func(_ View, dirs []string) error {
			return os.Rename(filepath.Dir(dirs[0]), to)
		}))
		if shown {
			list = append(list, Planted{name, s.Bug.Name, view})
		}
	}
	slices.SortFunc(list, func(a, b Planted) int { return strings.Compare(a.Bundle, b.Bundle) })
	text := try.Get(json.MarshalIndent(list, "", "  "))
	return list, os.WriteFile(filepath.Join(dir, session.TruthName), append(text, '\n'), 0o666)
}

// unsaid is a folder without the pages that describe it.
type unsaid struct{ fs.FS }

// ReadDir implements fs.ReadDirFS.
func (f unsaid) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(f.FS, name)
	return slices.DeleteFunc(list, func(e fs.DirEntry) bool { return filepath.Ext(e.Name()) == ".md" }), err
}
