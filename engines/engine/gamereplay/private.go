package gamereplay

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
)

// Reads is the option of every recipe that names more folders which the game may read, separated like in PATH.
const Reads = "reads"

// bound makes the user's home and Private private for a game, except what the command line names, the folders of PATH,
// and what the recipe knows. The words of the command are not taken from Args, where values of a recording may be.
func (w *Witness) bound(c *confine.Command) {
	c.Private = append(confine.Home(), w.Private...)
	c.Reads = append(c.Reads, filepath.SplitList(os.Getenv("PATH"))...)
	for _, value := range w.Program.Options {
		_, after, _ := strings.Cut(value, "=")
		c.Reads = append(c.Reads, slices.Concat(filepath.SplitList(value), filepath.SplitList(after))...)
	}
}

// hint adds to the failure of a game in a private folder that it could not read the rest of that.
func (w *Witness) hint(err error) {
	var f *engine.Failure
	if !errors.As(err, &f) || !confine.Within(w.Program.Path, confine.Home()) {
		return
	}
	allows := Reads + "=FOLDER after its name"
	if w.Game.Name == commandName {
		allows = "a folder among its words"
	}
	f.Why += "; of your home it may read only its own folder and what --sim names: " + allows + " allows more"
}
