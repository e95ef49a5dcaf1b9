package openttd

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/confine"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// Lines that command replay writes into the log.
const ending = "End of commands.log"

var (
	mismatch = lazyregexp.New(`^Sync check: [0-9a-f]{8}; [0-9a-f]{2}; mismatch expected `)
	pause    = lazyregexp.New(`^cmd: .*\((?:CmdPause|CMD_PAUSE)\)$`)
)

// computed is what the game wrote while it played.
type computed struct {
	lines  []replayLine
	ended  bool // it reached the end of the log
	parted bool // it gave up at a state that is not as recorded
	last   string
}

// collect leaves the log and the saves that the game wrote, up to the last tick that was recorded.
func collect(ended *confine.Ended, r *recorded, dirs engine.Dirs) error {
	c, err := readComputed(filepath.Join(dirs.Home, filepath.FromSlash(ownLog)), r)
	if err != nil {
		return err
	}
	if !c.ended && !c.parted {
		failed := engine.Ended(ended)
		var f *engine.Failure
		if errors.As(failed, &f) {
			if c.last != "" {
				f.Said = c.last
			}
			return f
		}
		return &engine.Failure{Why: "it ended before the log did", Said: c.last}
	}
	return engine.WriteFile(filepath.Join(dirs.Out, "commands-out.log"), func(w io.Writer) error {
		fmt.Fprintf(w, "new_map: %s\n", r.seed)
		for i := range c.lines {
			l := &c.lines[i]
			if l.word == "save" {
				if err := keepSave(l.rest, r, dirs); errors.Is(err, fs.ErrNotExist) {
					continue
				} else if err != nil {
					return err
				}
			}
			fmt.Fprintln(w, l.text)
		}
		return nil
	})
}

// keepSave moves one of the game's saves into Out: the error for a name that is not a save is fs.ErrNotExist.
func keepSave(name string, r *recorded, dirs engine.Dirs) error {
	parsed, ok := ParseName(name)
	if !ok || parsed.NoEvidence || fmt.Sprintf("%08x", parsed.Seed) != r.seed || name != filepath.Base(name) {
		return fs.ErrNotExist
	}
	return os.Rename(filepath.Join(dirs.Home, filepath.FromSlash(autosave), name), filepath.Join(dirs.Out, name))
}

// readComputed reads the log that the game wrote.
func readComputed(file string, r *recorded) (*computed, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return new(computed), nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	pauses := map[string]int{} // how often each was recorded
	for i := range r.lines {
		if text := r.lines[i].text; pause.MatchString(text) {
			pauses[text]++
		}
	}
	c := new(computed)
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, lineLen)
	for lines.Scan() {
		l := replayParse(lines.Text())
		if l.text != "" {
			c.last = l.text
		}
		switch {
		case l.text == ending:
			c.ended = true
		case mismatch.MatchString(l.text):
			c.parted = true
			return c, nil // the rest belongs to the crash
		case l.word == "" || l.tick < r.start || l.tick > r.last:
		case l.tick == r.start && l.word == "sync" && !r.ownSync:
			// The state after the commands of that tick; logs have the one before.
		case pause.MatchString(l.text) && pauses[l.text] == 0:
			// A server ends its pause by itself when it has loaded a save, and when no client is joining: the latter
			// was also recorded, and has been played.
		default:
			if pauses[l.text] > 0 {
				pauses[l.text]--
			}
			c.lines = append(c.lines, l)
		}
	}
	if err := lines.Err(); err != nil && err != bufio.ErrTooLong {
		return nil, err
	}
	return c, nil
}
