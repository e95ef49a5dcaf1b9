package openttd

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// Limits on reading a log, and limits of the game on reading a command.
const (
	lineLen = 8 << 20
	argsLen = 255
)

// line is a line of a log without the date before it.
type replayLine struct {
	text string
	word string // "cmd", "cmdf", "sync" or "save"; empty for all others
	tick uint64
	rest string // the text after the stamp
}

var (
	dated   = lazyregexp.New(`^\[\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\] `)
	stamped = lazyregexp.New(`^(cmdf?|sync|save): ([0-9a-f]{8}); ([0-9a-f]{2}); (.*)$`)
)

func replayParse(text string) replayLine {
	text = strings.TrimSuffix(text, "\r")
	l := replayLine{text: text[len(dated.FindString(text)):]}
	if m := stamped.FindStringSubmatch(l.text); m != nil {
		date, _ := strconv.ParseUint(m[2], 16, 32)
		fract, _ := strconv.ParseUint(m[3], 16, 8)
		l.word, l.tick, l.rest = m[1], date*DayTicks+fract, m[4]
	}
	return l
}

// recorded is what is played of a log.
type recorded struct {
	name, save string       // of the save that it continues from, and the copy of it
	seed       string       // as the save's name has it
	start      uint64       // the tick of the save
	lines      []replayLine // commands, failed ones, and states of the random number generator after it
	ownSync    bool         // the log has such a state of that tick
	last       uint64       // the last tick of the log
}

var (
	// since14 and in13 match what follows the stamp of a command.
	in13    = lazyregexp.New(`^[0-9a-f]{2}; [0-9a-f]{8}; [0-9a-f]{8}; [0-9a-f]{6,8}; (.*)$`)
	since14 = lazyregexp.New(`^[0-9a-f]{2}; [0-9a-f]{8}; [0-9a-f]{8}; ([^;]*)$`)
	whole   = lazyregexp.New(`^((?:[0-9A-Fa-f]{2})*) \([A-Za-z0-9_]+\)$`)
)

// readRecorded reads a log from the first save in it that the peer left. Its error is a *gamereplay.Refusal if
// nothing can be played.
func readRecorded(rec *engine.Recording) (*recorded, error) {
	refuse := func(format string, args ...any) (*recorded, error) {
		return nil, &engine.Refusal{Path: rec.Path, Why: fmt.Sprintf(format, args...)}
	}
	saves := map[string]string{}
	for _, file := range rec.Beside {
		saves[filepath.Base(file)] = file
	}
	f, err := os.Open(rec.File)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var r *recorded
	wanted := ""
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, lineLen)
	for lines.Scan() {
		l := replayParse(lines.Text())
		if r != nil && l.word != "" {
			r.last = max(r.last, l.tick)
		}
		switch {
		case r != nil && (strings.HasPrefix(l.text, "new_map: ") || strings.HasPrefix(l.text, "load: ") || strings.HasPrefix(l.text, "sync_err: ")):
			return r, nil // the rest is another game, or the game after the peer was thrown out
		case l.word == "save" && r == nil:
			name, ok := ParseName(l.rest)
			if !ok || name.NoEvidence {
				break
			}
			wanted = cmp.Or(wanted, l.rest)
			if file := saves[l.rest]; file != "" {
				r = &recorded{name: l.rest, save: file, seed: fmt.Sprintf("%08x", name.Seed), start: l.tick}
			}
		case r == nil:
		case l.word == "cmd" || l.word == "cmdf":
			if why := lacks(&l); why != "" {
				return refuse("%s", why)
			}
			r.lines = append(r.lines, l)
		case l.word == "sync":
			r.lines = append(r.lines, l)
			r.ownSync = r.ownSync || l.tick == r.start
		}
	}
	switch err := lines.Err(); {
	case err == bufio.ErrTooLong:
		return refuse("it has a line of more than %d bytes", lineLen)
	case err != nil && err != io.EOF:
		return nil, err
	case r == nil && wanted == "":
		return refuse("it names no save that it goes on from: -d desync=3 writes them")
	case r == nil:
		return refuse("%s is not there, the save that it goes on from, nor any other that it names", wanted)
	}
	return r, nil
}

// lacks returns what a command lacks to be run again, empty if nothing.
func lacks(l *replayLine) string {
	args := ""
	if m := in13.FindStringSubmatch(l.rest); m != nil {
		args = m[1]
	} else if m := since14.FindStringSubmatch(l.rest); m != nil {
		args = m[1]
	} else {
		return "" // before 13: all is there
	}
	m := whole.FindStringSubmatch(args)
	if m == nil {
		return fmt.Sprintf("its command at %s has no whole arguments: OpenTTD 13 writes them raw and cuts them at the first zero byte, so that nothing can play its logs", nameOf(l.tick))
	}
	if len(m[1]) > argsLen {
		return fmt.Sprintf("its command at %s has %d bytes of arguments, and command replay reads %d", nameOf(l.tick), len(m[1])/2, argsLen/2)
	}
	return ""
}

// nameOf returns a tick as logs write it.
func nameOf(tick uint64) string {
	return fmt.Sprintf("%08x;%02x", tick/DayTicks, tick%DayTicks)
}

// cut leaves out what is after a tick.
func (r *recorded) cut(until uint64) {
	r.last = min(r.last, until)
	if i := slices.IndexFunc(r.lines, func(l replayLine) bool { return l.tick > until }); i >= 0 {
		r.lines = r.lines[:i]
	}
}

// text returns the log that the game is given.
func (r *recorded) text() string {
	var b strings.Builder
	for i := range r.lines {
		b.WriteString(r.lines[i].text + "\n")
	}
	return b.String()
}
