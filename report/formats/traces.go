package formats

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/orderlog/packed"
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
	// Missing says what evidence was lost or lacks: folders that hold files and no
	// trace, or were not looked into, files that are damaged or contradict others,
	// formats that only one peer has.
	Missing []string
	// Notes say what was checked, Copies which files are copies of others or say
	// the same.
	Notes, Copies []string

	tree       files.Tree
	used       map[string]bool // files that were opened, by their cleaned paths
	distrusted map[string]bool // files that contradict their peer's own hashes
	sessions   []sessionFile
}

// sessionFile is a file that tells which match it is of.
type sessionFile struct{ session, file string }

// Used reports whether a file was opened as a trace or for its claims.
func (t *Traces) Used(file string) bool { return t.used[filepath.Clean(file)] }

// oneSession returns an error if files are of different matches.
func (t *Traces) oneSession() error {
	for _, f := range t.sessions {
		if first := t.sessions[0]; f.session != first.session {
			return fmt.Errorf("files of two matches: %s is of %s, %s of %s; give those of one", first.file, first.session, f.file, f.session)
		}
	}
	return nil
}

func (t *Traces) of(session, file string) {
	if session != "" {
		t.sessions = append(t.sessions, sessionFile{session, file})
	}
}

// OpenTraces opens the traces below some paths, each a trace or a table, a file
// of an engine with checksums or claims in it, "-" for stdin, the folder of one
// peer, or a folder that holds a folder for each. In folders traces of ours are
// found by their name, *.trace, and files of engines by their content. Peers are
// named by what their traces say, else by their paths.
//
// With force, files of different matches are taken all the same.
func OpenTraces(tree files.Tree, paths []string, stdin io.Reader, opts tracediff.ReadOptions, force bool) (*Traces, error) {
	if i := slices.Index(paths, "-"); i >= 0 && slices.Contains(paths[i+1:], "-") {
		return nil, errors.New("stdin is given twice")
	}
	all := newTraces(tree)
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
		files, missing, err := traceFiles(tree, path)
		if err != nil {
			return nil, err
		}
		all.Missing = append(all.Missing, missing...)
		for _, file := range files {
			own, err := all.openFile(file, opts, foreign)
			if err != nil && file.path == path {
				return nil, err
			}
			if err != nil { // one of many in a folder
				all.Missing = append(all.Missing, err.Error())
			}
			ours = append(ours, own...)
		}
	}
	if err := all.oneSession(); err != nil && !force {
		return nil, err
	}
	if err := all.group(ours, foreign); err != nil {
		return nil, err
	}
	if err := all.enough(paths); err != nil {
		return all, err
	}
	return all, nil
}

func newTraces(tree files.Tree) *Traces {
	return &Traces{tree: tree, used: map[string]bool{}, distrusted: map[string]bool{}}
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
// be read is missing. Files of different matches are an error.
func EngineTraces(tree files.Tree, files []string) (*Traces, error) {
	all := newTraces(tree)
	var ours []*tracediff.Trace
	foreign := map[string][]*tracediff.Trace{}
	list := All()
	for _, file := range files {
		if filepath.Ext(packed.PlainName(file)) == ".trace" {
			continue
		}
		found, format, _ := isTrace(tree, file, list)
		if !found {
			continue
		}
		own, err := all.openFile(traceFile{file, format}, tracediff.ReadOptions{}, foreign)
		if err != nil {
			all.Missing = append(all.Missing, err.Error())
		}
		ours = append(ours, own...)
	}
	if err := all.oneSession(); err != nil {
		return nil, err
	}
	if err := all.group(ours, foreign); err != nil {
		return nil, err
	}
	missing := all.Missing
	_ = all.enough(nil) // nothing to compare is no error here, and no loss
	all.Missing = missing
	return all, nil
}

// group puts the traces that can be compared with each other together.
func (t *Traces) group(ours []*tracediff.Trace, foreign map[string][]*tracediff.Trace) error {
	if len(ours) > 0 {
		t.knowPlayers(ours)
		ours, err := t.oneTable(ours)
		if err != nil {
			return err
		}
		nameTraces(ours)
		t.Groups = append(t.Groups, ours)
	}
	for _, f := range All() {
		list := slices.DeleteFunc(foreign[f.Name], func(one *tracediff.Trace) bool { return t.distrusted[filepath.Clean(one.File)] })
		if len(list) > 0 {
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

// oneTable leaves one column for each peer of tables: two that tell of the same
// peers are copies, or of different matches.
func (t *Traces) oneTable(list []*tracediff.Trace) ([]*tracediff.Trace, error) {
	var tables, out []*tracediff.Trace
	for _, one := range list {
		if one.Grammar == tracediff.Table && !strings.HasPrefix(one.Name, "column ") {
			tables = append(tables, one)
		} else {
			out = append(out, one)
		}
	}
	tables, err := t.merge(tables)
	return append(out, tables...), err
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
		err := fmt.Errorf("%s: %d trace(s) that can be compared with each other, at least 2 are needed", strings.Join(paths, ", "), single)
		for _, m := range t.Missing {
			err = fmt.Errorf("%w; %s", err, m)
		}
		return err
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
	regular, err := isRegular(t.tree, file)
	if err != nil {
		return nil, err
	}
	if format == nil && regular {
		if format, err = traceFormat(t.tree, file); err != nil {
			return nil, err
		}
	}
	if format != nil && t.Used(file) {
		return nil, fmt.Errorf("%s: given twice", file)
	}
	t.used[filepath.Clean(file)] = true
	if format == nil || opts.Pattern != nil {
		own, err := tracediff.Open(t.tree, file, opts)
		if errors.Is(err, tracediff.ErrUnrecognized) && opts.Pattern == nil && regular {
			log, scanned := scanLog(t.tree, file, opts)
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
	if err := checkPacking(t.tree, file, opts.MaxUnpacked); err != nil {
		return nil, err
	}
	if format.Trace.Claims != nil {
		log, err := tracediff.ReadClaims(t.tree, file, format.Trace, opts)
		if err != nil {
			return nil, err
		}
		t.Claims = append(t.Claims, log)
		t.of(log.Dialect.Session, file)
	}
	if format.Trace.Check != nil {
		note, err := format.Trace.Check(t.tree, file)
		var misfit *tracediff.MisfitError
		switch {
		case errors.As(err, &misfit):
			t.distrusted[filepath.Clean(misfit.Beside)] = true
			t.Missing = append(t.Missing, fmt.Sprintf("%v; %s was left out", misfit, misfit.Beside))
		case err != nil:
			t.Missing = append(t.Missing, err.Error())
		case note != "":
			t.Notes = append(t.Notes, file+": "+note)
		}
	}
	list, err := tracediff.OpenForeign(t.tree, file, format.Trace, opts)
	for _, one := range list {
		t.of(one.Dialect.Session, file)
	}
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

// checkPacking returns an error if a file is compressed and damaged.
func checkPacking(tree files.Tree, file string, limit int64) error {
	f, err := tree.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := packed.Check(f, limit); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

func isRegular(tree files.Tree, file string) (bool, error) {
	stat, err := tree.Stat(file)
	return err == nil && stat.Mode().IsRegular(), err
}

// Distinct returns an error if a file or folder is given twice.
func Distinct(tree files.Tree, paths []string) error {
	var stats []fs.FileInfo
	for i, path := range paths {
		stat, err := tree.Stat(path)
		if err != nil || path == "-" {
			stats = append(stats, nil)
			continue
		}
		for k, other := range stats {
			if other != nil && os.SameFile(stat, other) && (stat.IsDir() || stat.Mode().IsRegular()) {
				return fmt.Errorf("%s and %s are the same: given twice", paths[k], paths[i])
			}
		}
		stats = append(stats, stat)
	}
	return nil
}
