package witness

import (
	"errors"
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/confine"
	"github.com/desynctool/desynctool/internal/prose"
)

// Refusal says why a recording is not played: nothing was started.
type Refusal struct {
	Path string // of the recording
	Why  string // "it was recorded with 0.0.25, and pyrogenesis is 0.0.26"
	// Version says that only the version is another one: with --force it is played all the same.
	Version bool
}

func (r *Refusal) Error() string {
	text := prose.Path(r.Path) + ": " + r.Why
	if r.Version {
		text += "; --force plays it all the same"
	}
	return text
}

// ErrFailed is what a *Failure is.
var ErrFailed = errors.New("the game did not play the recording")

// Failure says why a run of a game is no replay.
type Failure struct {
	Title string // of the game
	Path  string // of the recording
	Why   string // "it crashed: segmentation fault", "it left nothing that is recognised"
	Said  string // the end of its own log, one line; may be empty
}

func (f *Failure) Error() string {
	text := fmt.Sprintf("%s playing %s: %s", f.Title, prose.Path(f.Path), f.Why)
	if f.Said != "" {
		text += "; it said last: " + prose.Quote(f.Said)
	}
	return text
}

// Is reports that it is ErrFailed.
func (f *Failure) Is(target error) bool { return target == ErrFailed }

// Ended returns why a program's end is no end of a replay, nil if it exited with status 0. What a game that
// ends otherwise has left is not evidence of its state.
func Ended(e *confine.Ended) error {
	f := &Failure{Said: last(e.Tail)}
	switch {
	case e.Why != "":
		f.Why = "it was ended: it " + e.Why
	case e.Signal != "":
		f.Why = "it crashed: " + e.Signal
	case e.Code != 0:
		f.Why = fmt.Sprintf("it ended with status %d", e.Code)
	default:
		return nil
	}
	return f
}

// last returns the last line that says anything.
func last(lines []string) string {
	for i := len(lines) - 1; i >= 0; i-- {
		if s := strings.TrimSpace(lines[i]); s != "" {
			return s
		}
	}
	return ""
}
