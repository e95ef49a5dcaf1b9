package bundle

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
)

// AloneError means that there is nothing to compare the evidence with. It is a frame.ErrLacking unless nothing of a
// known format was found at all.
type AloneError struct {
	Paths []string // that were given
	Found []string // the evidence, such as "8 OpenTTD savegames"
	Have  string   // what there is not enough of, such as "1 order log, at least 2 are needed"
	Lost  []string // why there may be no more
	Hint  string
	Other []string // paths of all files

	Checkup *document.Checkup // by which the peers were counted, nil if they were not
}

func (e *AloneError) Error() string {
	var out strings.Builder
	out.WriteString(strings.Join(e.Paths, ", ") + ": ")
	if len(e.Found) == 0 {
		out.WriteString("no file of a known format" + others(e.Other) + "; desynctool formats lists the formats of states, order logs, traces and logs that are looked for")
	} else {
		fmt.Fprintf(&out, "%s: %s", strings.Join(e.Found, ", "), e.Have)
	}
	if e.Hint != "" {
		out.WriteString("; " + e.Hint)
	}
	for i, lost := range e.Lost {
		switch left := len(e.Lost) - maxLost; {
		case left <= 0 || i < maxLost-1 || i == len(e.Lost)-1: // losses of an archive itself come last
			out.WriteString("; " + lost)
		case i == maxLost-1:
			out.WriteString("; " + prose.Count(left, "more loss", "more losses"))
		}
	}
	return out.String()
}

// maxKinds and maxOthers are how many kinds of unknown files, and how many names, a message has; maxLost how many losses.
const maxKinds, maxOthers, maxLost = 4, 3, 4

// others lists the files by the ends of their names: "; 3 files: 2 .md, 1 .png, such as a.md".
func others(paths []string) string {
	if len(paths) == 0 {
		return "; there is no file"
	}
	count := map[string]int{}
	for _, path := range paths {
		count[strings.ToLower(filepath.Ext(path))]++
	}
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b string) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a, b))
	})
	var parts []string
	for i, kind := range kinds {
		if i == maxKinds {
			parts = append(parts, prose.Count(len(kinds)-i, "more kind", "more kinds"))
			break
		}
		parts = append(parts, fmt.Sprintf("%d %s", count[kind], cmp.Or(kind, "without an ending")))
	}
	return fmt.Sprintf("; %s: %s, such as %s", prose.Count(len(paths), "file", "files"), strings.Join(parts, ", "), strings.Join(paths[:min(len(paths), maxOthers)], ", "))
}

// Is reports whether evidence is missing, as opposed to no evidence at all.
func (e *AloneError) Is(target error) bool { return target == frame.ErrLacking && len(e.Found) > 0 }

// Alone returns the error for evidence of fewer than two peers, and of more of which nothing can be compared.
func (s *Session) Alone() *AloneError {
	n := 0
	c, err := Examine(s, nil)
	if err == nil {
		n = len(c.Own())
	}
	e := s.alone("evidence of " + prose.Count(n, "peer", "peers"))
	if e.Checkup = c; n > 1 {
		e.Have = fmt.Sprintf("the evidence of %d peers has nothing in common", n)
	}
	for _, p := range s.Peers() {
		e.Lost = slices.Concat(e.Lost, p.States.Warnings.Texts(), p.Lost)
	}
	for _, path := range s.paths {
		if len(s.paths) > 1 && IsDir(s.tree, path) && !s.holdsPeer(path) {
			e.Lost = append(e.Lost, path+": no snapshots and no "+LogName)
		}
	}
	return e
}

// holdsPeer reports whether a folder, or one below it, has what one peer leaves.
func (s *Session) holdsPeer(path string) bool {
	below := path + string(filepath.Separator)
	return slices.ContainsFunc(s.places, func(p *place) bool {
		return (p.path == path || strings.HasPrefix(p.path, below)) && p.own()
	})
}

// aloneLogs returns the error for fewer than two order logs.
func (s *Session) aloneLogs() *AloneError {
	logs, missing := s.logFiles()
	e := s.alone(prose.Count(len(logs), "order log", "order logs"))
	e.Lost = append(missing, e.Lost...)
	if len(logs) == 1 && logs[0].engineTrace() && logs[0].Format.Trace.Peers != nil {
		e.Hint = "tracediff compares the checksums of all peers in it"
	}
	return e
}

// aloneTraces returns the error for traces if no two can be compared.
func (s *Session) aloneTraces() *AloneError {
	n := 0
	for _, f := range s.files {
		if f.opened != nil {
			n += len(f.opened.ours) + len(f.opened.foreign)
		}
	}
	return s.alone(prose.Count(n, "trace", "traces") + " that can be compared")
}

// alone returns the error for having too little of something.
func (s *Session) alone(have string) *AloneError {
	e := &AloneError{Paths: s.paths, Found: s.holdings(), Have: have + ", at least 2 are needed", Lost: s.AllLost(nil)}
	e.Other = lists.Map(s.files, func(f *File) string { return f.Path })
	if i := slices.IndexFunc(s.files, func(f *File) bool { return f.sqlite }); i >= 0 {
		base := filepath.Base(s.files[i].Path)
		e.Hint = fmt.Sprintf("a database of SQLite is compared as text, of each player: sqlite3 %s .dump > %s.sql", base, strings.TrimSuffix(base, filepath.Ext(base)))
	}
	return e
}

// holdings lists what was found, by format.
func (s *Session) holdings() (list []string) {
	var names []string
	number := map[string]int{}
	add := func(title string) {
		if number[title] == 0 {
			names = append(names, title)
		}
		number[title]++
	}
	for _, p := range s.places {
		if p.set != nil {
			for _, e := range p.set.Entries {
				add(e.Format.Title)
			}
		}
		for _, f := range p.files {
			if f.Format != nil && (f.isEvidence() || f.given) {
				add(f.Format.Title)
			} else if f.claims != nil {
				add("log with an engine's message")
			} else if f.ownLog {
				add("game's own log")
			}
		}
	}
	for _, name := range names {
		if n := number[name]; n > 1 {
			name = fmt.Sprintf("%d × %s", n, name)
		}
		list = append(list, name)
	}
	return list
}

// UnknownError means that no given file can be used, with the reason for each file.
type UnknownError struct{ Files []error }

func (e *UnknownError) Error() string { return errors.Join(e.Files...).Error() }

// Unwrap returns the errors of the files.
func (e *UnknownError) Unwrap() []error { return e.Files }

// Unknown returns an error if no given file has a known format. If some have, Lost lists the others.
func (s *Session) Unknown() error {
	var bad []error
	used := false
	for _, p := range s.places {
		f := p.loose()
		if f == nil || !f.given {
			used = true
			continue
		}
		if err := s.unknown(f); err != nil {
			bad = append(bad, err)
		} else {
			used = true
		}
	}
	switch {
	case len(bad) == 0:
		return nil
	case used:
		for _, err := range bad {
			if text := err.Error(); !slices.Contains(s.lost.Texts(), text) {
				s.lose("", "%s", text)
			}
		}
		return nil
	case len(bad) == 1:
		return bad[0]
	}
	return &UnknownError{bad}
}

// unknown returns why a file that was given cannot be used, nil if it can.
func (s *Session) unknown(f *File) error {
	if f.hasTrace(s.tree) || f.Format != nil || f.ownLog {
		return nil
	}
	switch {
	case f.Err != nil:
		return f.Err
	case f.other:
		return files.NotRegular(f.Path)
	case f.Size == 0:
		return &frame.Error{Name: f.Path, Msg: "empty file", Err: frame.ErrUnrecognized}
	case f.isReport():
		return &frame.Error{Name: f.Path, Msg: "a peer's own report, which holds no states or logs; desynctool report reads and merges these", Err: frame.ErrUnrecognized}
	}
	return &frame.Error{Name: f.Path, Msg: formats.UnrecognizedFile(s.tree, f.Path) + "; see desynctool formats", Err: frame.ErrUnrecognized}
}

// Damaged lists the files of the session that cannot be read, or are not what their names promise. It lists files that
// no comparison needs too, since nobody knows what was in them. It warns about files that may belong to another program.
func (s *Session) Damaged() (lost, warnings []string) {
	for _, f := range s.files {
		if text := f.lost(); text != "" {
			lost = append(lost, text)
		} else if text, isLost := s.misnamed(f); isLost {
			lost = append(lost, text)
		} else if text != "" {
			warnings = append(warnings, text)
		}
		if err := s.unpacks(f); err != nil {
			lost = append(lost, err.Error())
		}
	}
	return lost, warnings
}

// LogErrors reads the order logs of games to their ends, and returns the errors that they end with. Nothing else reads
// them if only states are compared.
func (s *Session) LogErrors() (lost []string) {
	for _, f := range s.LogFiles() {
		if f.isOwnLog() {
			continue
		}
		if f.read == nil {
			f.read = readLog(s.tree, f)
		}
		if err := f.read.Err; err != nil {
			lost = append(lost, err.Error())
		}
	}
	return lost
}

// AllLost is Lost with the files of Damaged, without those that are known already.
func (s *Session) AllLost(known []string) []string {
	damaged, _ := s.Damaged()
	return slices.DeleteFunc(slices.Concat(damaged, s.Lost()), func(text string) bool { return slices.Contains(known, text) })
}

// Unused is Damaged, and lists also the folders that contain files but none of a known kind.
func (s *Session) Unused() (lost, warnings []string) {
	lost, warnings = s.Damaged()
	for _, p := range s.places {
		if p.set == nil || len(p.set.Entries) > 0 || len(p.files) == 0 || slices.Contains(s.paths, p.path) || s.holdsTest(p.path) {
			continue
		}
		if !slices.ContainsFunc(p.files, func(f *File) bool { return f.isEvidence() || f.ownLog || f.hasTrace(s.tree) }) {
			lost = append(lost, p.path+": holds files, and nothing that is known")
		}
	}
	return lost, warnings
}
