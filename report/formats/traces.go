package formats

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Traces are opened traces of several peers, and what engines claim beside them.
type Traces struct {
	// Groups are the traces that can be compared with each other: ours, and those
	// of each format of an engine.
	Groups [][]*tracediff.Trace
	// Claims are the engines' own words, from logs beside the traces.
	Claims []*tracediff.ClaimLog
	// Missing says which folders beside those of peers with a trace hold files
	// and no trace, and which formats only one peer has.
	Missing []string
	// Warnings name files that contradict each other.
	Warnings []string
	// Notes say which files are copies of others.
	Notes []string
}

// OpenTraces opens the traces below some paths, each a trace or a table, a file
// of an engine with checksums or claims in it, "-" for stdin, the folder of one
// peer, or a folder that holds a folder for each. In folders traces of ours are
// found by their name, *.trace, and files of engines by their content. Peers are
// named by what their traces say, else by their paths.
func OpenTraces(paths []string, stdin io.Reader, opts tracediff.ReadOptions) (*Traces, error) {
	var all Traces
	var ours []*tracediff.Trace
	foreign := map[string][]*tracediff.Trace{} // by format
	for _, path := range paths {
		if path == "-" {
			found, err := tracediff.Read(stdin, "stdin", opts)
			if err != nil {
				return nil, err
			}
			ours = append(ours, found...)
			continue
		}
		files, missing, err := traceFiles(path)
		if err != nil {
			return nil, err
		}
		all.Missing = append(all.Missing, missing...)
		for _, file := range files {
			own, err := all.openFile(file, opts, foreign)
			if err != nil {
				return nil, err
			}
			ours = append(ours, own...)
		}
	}
	if err := all.group(ours, foreign); err != nil {
		return nil, err
	}
	return &all, all.enough(paths)
}

// knowPlayers gives the columns of a table that are called player0, player1, …
// the names that engines' logs have for these players.
func (t *Traces) knowPlayers(list []*tracediff.Trace) {
	for _, one := range list {
		rest, ok := strings.CutPrefix(one.Name, "player")
		n, err := strconv.ParseUint(rest, 10, 32)
		if !ok || err != nil || one.Grammar != tracediff.Table {
			continue
		}
		for _, log := range t.Claims {
			if name := log.Players[uint32(n)]; name != "" {
				one.Name = name
			}
		}
	}
}

// EngineTraces opens the files of engines' formats with checksums or claims among
// some files, and tables of checksums; it leaves traces of ours out. What cannot
// be read gives a warning.
func EngineTraces(files []string) *Traces {
	var all Traces
	var ours []*tracediff.Trace
	foreign := map[string][]*tracediff.Trace{}
	list := All()
	for _, file := range files {
		if filepath.Ext(unpackedName(file)) == ".trace" {
			continue
		}
		found, format, _ := isTrace(file, list)
		if !found {
			continue
		}
		own, err := all.openFile(traceFile{file, format}, tracediff.ReadOptions{}, foreign)
		if err != nil {
			all.Warnings = append(all.Warnings, err.Error())
		}
		ours = append(ours, own...)
	}
	if err := all.group(ours, foreign); err != nil {
		all.Warnings = append(all.Warnings, err.Error())
	}
	_ = all.enough(nil) // nothing to compare is no error here
	all.Missing = nil
	return &all
}

// group puts the traces that can be compared with each other together.
func (t *Traces) group(ours []*tracediff.Trace, foreign map[string][]*tracediff.Trace) error {
	if len(ours) > 0 {
		t.knowPlayers(ours)
		nameTraces(ours)
		t.Groups = append(t.Groups, ours)
	}
	for _, f := range All() {
		if list := foreign[f.Name]; len(list) > 0 {
			list, err := t.merge(list)
			if err != nil {
				return err
			}
			nameTraces(list)
			t.Groups = append(t.Groups, list)
		}
	}
	return nil
}

// enough sets groups of one trace aside, and says if nothing is left to compare.
func (t *Traces) enough(paths []string) error {
	groups := t.Groups
	t.Groups = nil
	single := 0
	for _, g := range groups {
		if len(g) > 1 {
			t.Groups = append(t.Groups, g)
			continue
		}
		single++
		t.Missing = append(t.Missing, fmt.Sprintf("%s: a trace of one peer alone (%s)", g[0].File, kindOf(g[0])))
	}
	if len(t.Groups) == 0 && len(t.Claims) == 0 {
		return fmt.Errorf("%s: %d trace(s) that can be compared with each other, at least 2 are needed", strings.Join(paths, ", "), single)
	}
	return nil
}

func kindOf(t *tracediff.Trace) string {
	if t.Dialect.File != "" {
		return t.Dialect.File
	}
	return t.Grammar.String()
}

// openFile opens one file: it returns traces of ours, and adds others and claims.
func (t *Traces) openFile(f traceFile, opts tracediff.ReadOptions, foreign map[string][]*tracediff.Trace) ([]*tracediff.Trace, error) {
	file, format := f.path, f.format
	if format == nil {
		var err error
		if format, err = traceFormat(file); err != nil {
			return nil, err
		}
	}
	if format == nil || opts.Pattern != nil {
		own, err := tracediff.Open(file, opts)
		if errors.Is(err, tracediff.ErrUnrecognized) && opts.Pattern == nil {
			log, scanned := scanLog(file, opts)
			if scanned != nil {
				return nil, scanned
			}
			if log != nil {
				t.Claims = append(t.Claims, log)
				return nil, nil
			}
		}
		return own, err
	}
	if format.Trace.Claims != nil {
		log, err := tracediff.ReadClaims(file, format.Trace, opts)
		if err != nil {
			return nil, err
		}
		t.Claims = append(t.Claims, log)
	}
	if format.Trace.Check != nil {
		note, err := format.Trace.Check(file)
		if err != nil {
			t.Warnings = append(t.Warnings, "contradiction: "+err.Error())
		} else if note != "" {
			t.Notes = append(t.Notes, file+": "+note)
		}
	}
	list, err := tracediff.OpenForeign(file, format.Trace, opts)
	foreign[format.Name] = append(foreign[format.Name], list...)
	return nil, err
}

// nameTraces gives every trace a distinct name.
func nameTraces(list []*tracediff.Trace) {
	told, files := make([]string, len(list)), make([]string, len(list))
	for i, t := range list {
		told[i], files[i] = toldName(t), t.File
	}
	for i, name := range snapshot.PeerNames(told, files) {
		list[i].Name = name
	}
}

func (t *Traces) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}
