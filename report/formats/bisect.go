package formats

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/orderlog/packed"
	"github.com/desynctool/desynctool/tracediff"
)

// Bisect finds when the peers below some paths parted: by their states, with the
// checksums that engines recorded beside them, or, where no two peers left states,
// by these alone. A path is the folder of one peer, a folder that holds a folder for
// each, or a file. With drill, peers that depart from sim are replayed system by
// system beside the traces that they left.
func Bisect(tree files.Tree, paths []string, sim *bisect.Sim, drill bool) (*bisect.Result, error) {
	r, _, err := bisected(tree, paths, sim, drill)
	return r, err
}

// ErrFewPeers says that there is no evidence of two peers that could be compared.
var ErrFewPeers = errors.New("at least 2 are needed")

// bisected is Bisect, and returns what it knows of the peers, too.
func bisected(tree files.Tree, paths []string, sim *bisect.Sim, drill bool) (*bisect.Result, []*bisect.Peer, error) {
	if err := Distinct(tree, paths); err != nil {
		return nil, nil, err
	}
	states, others, err := splitPaths(tree, paths)
	if err != nil {
		return nil, nil, err
	}
	peers, err := bisect.Gather(tree, states, Snapshots())
	if err == nil && len(peers) < 2 {
		if several, beside := scattered(tree, states); len(several) > 1 {
			peers, others = several, append(others, beside...)
		}
	}
	if err == nil && len(peers) < 2 {
		word := "peers"
		if len(peers) == 1 {
			word = "peer"
		}
		err = fmt.Errorf("%s: evidence of %d %s, %w", strings.Join(paths, ", "), len(peers), word, ErrFewPeers)
		for _, trouble := range bisect.Trouble(peers) {
			err = fmt.Errorf("%w; %s", err, trouble)
		}
	}
	if err != nil {
		r, err := byTraces(tree, paths, peers, err)
		return r, peers, err
	}
	files := append(bisect.Others(peers), others...)
	traces, err := EngineTraces(tree, files)
	if err != nil {
		return nil, nil, err
	}
	opts := bisect.Options{Sim: sim}
	if drill {
		opts.Traced = func(files []string) (bisect.Traced, error) { return tracedAmong(tree, files) }
	}
	if len(traces.Groups)+len(traces.Claims) > 0 {
		if opts.Traces, err = traces.Compare(tracediff.Options{Context: -1}); err != nil {
			traces.Missing = append(traces.Missing, err.Error())
		}
	}
	r, err := bisect.Run(peers, opts)
	if err != nil {
		return nil, nil, err
	}
	if b := r.Bracket; b != nil {
		r.Notes = append(r.Notes, Unchecked(tree, slices.Concat(b.GoodFiles, b.BadFiles))...)
	}
	r.Lost = append(r.Lost, traces.Missing...)
	r.Lost = append(r.Lost, idle(tree, files, paths, traces)...)
	r.Lost = append(r.Lost, empty(tree, files)...)
	r.Warnings = append(r.Warnings, misnamed(tree, files)...)
	for _, folder := range bisect.Unlooked(peers) {
		if holdsEvidence(tree, folder, All(), maxDeeper) {
			r.Lost = append(r.Lost, folder+": holds evidence too, and was not looked into; name it")
		}
	}
	return r, peers, nil
}

// scattered returns the peers whose files lie beside each other in folders, by what the
// files say, and the other files there.
func scattered(tree files.Tree, folders []string) (peers []*bisect.Peer, others []string) {
	list := All()
	var loose []string
	for _, folder := range folders {
		names, err := namesIn(tree, folder)
		if err != nil {
			return nil, nil
		}
		for _, name := range names {
			path := filepath.Join(folder, name)
			stat, err := tree.Stat(path)
			if err != nil || name[0] == '.' || !stat.Mode().IsRegular() {
				continue
			}
			head, err := headOf(tree, path, tracediff.SniffLen)
			if f := Recognize(head); err == nil && f != nil && f.Native && (f.Snapshot != nil || f.Log != nil) {
				loose = append(loose, path)
			} else if found, _, _ := isTrace(tree, path, list); found {
				others = append(others, path)
			}
		}
	}
	peers, err := bisect.Gather(tree, loose, Snapshots())
	if err != nil {
		return nil, nil
	}
	return peers, others
}

// splitPaths tells folders and files that hold states from other files.
func splitPaths(tree files.Tree, paths []string) (states, others []string, err error) {
	list := All()
	for _, path := range paths {
		stat, err := tree.Stat(path)
		if err != nil {
			return nil, nil, err
		}
		if !stat.Mode().IsRegular() {
			states = append(states, path)
			continue
		}
		f, err := traceFormatOf(tree, path, list)
		if err != nil {
			return nil, nil, err
		}
		found, _, _ := isTrace(tree, path, list)
		if found && (f == nil || f.Snapshot == nil) {
			others = append(others, path)
		} else {
			states = append(states, path)
		}
	}
	return states, others, nil
}

// byTraces bisects by traces alone; why says why the peers' states will not do.
func byTraces(tree files.Tree, paths []string, peers []*bisect.Peer, why error) (*bisect.Result, error) {
	traces, err := OpenTraces(tree, paths, nil, tracediff.ReadOptions{}, false)
	if err != nil {
		if traces != nil && len(traces.Missing) > 0 && len(peers) == 0 {
			return nil, err // it knows more
		}
		return nil, why
	}
	results, err := traces.Compare(tracediff.Options{Context: -1})
	if err != nil {
		return nil, err
	}
	r := bisect.RunTraces(results)
	r.Notes, r.Lost = append(r.Notes, traces.Notes...), append(r.Lost, traces.Missing...)
	r.Lost = append(r.Lost, bisect.Trouble(peers)...)
	r.Lost = append(r.Lost, empty(tree, bisect.Others(peers))...)
	r.Warnings = append(r.Warnings, misnamed(tree, filesBelow(tree, paths, 1))...)
	if n := len(traces.Copies); n > 0 {
		r.Notes = append(r.Notes, fmt.Sprintf("%d file(s) are left out, since others say the same", n))
	}
	return r, nil
}

// empty names the files without content that are evidence by their names.
func empty(tree files.Tree, files []string) (lost []string) {
	for _, file := range files {
		stat, err := tree.Stat(file)
		if err != nil || stat.Size() > 0 {
			continue
		}
		base := filepath.Base(file)
		if ownExtension(base) {
			lost = append(lost, file+": empty file")
			continue
		}
		for _, f := range Snapshots() {
			if f.Usual != nil && f.Usual(base) {
				lost = append(lost, file+": empty file")
				break
			}
		}
	}
	return lost
}

// ownExtension reports whether a name ends as those of one format alone do.
func ownExtension(base string) bool {
	switch filepath.Ext(packed.PlainName(base)) {
	case ".snap", ".sav", ".sdfz", ".wzrp", ".wrpl", ".wss", ".wse":
		return true
	}
	return false
}

// misnamed warns of files that are evidence by their names, and by their content of
// no format at all. Of empty ones, empty tells.
func misnamed(tree files.Tree, files []string) (warnings []string) {
	for _, file := range files {
		if !ownExtension(filepath.Base(file)) {
			continue
		}
		head, err := headOf(tree, file, tracediff.SniffLen)
		if err == nil && len(head) > 0 && Recognize(head) == nil {
			warnings = append(warnings, file+": its content is of no known format, whatever its name says")
		}
	}
	return warnings
}

// filesBelow returns the files among paths and in the folders among them, and so
// many levels deeper.
func filesBelow(tree files.Tree, paths []string, levels int) (list []string) {
	for _, path := range paths {
		stat, err := tree.Stat(path)
		switch {
		case err != nil:
		case stat.Mode().IsRegular():
			list = append(list, path)
		case stat.IsDir() && levels >= 0:
			names, err := namesIn(tree, path)
			if err != nil {
				continue
			}
			for i, name := range names {
				names[i] = filepath.Join(path, name)
			}
			list = append(list, filesBelow(tree, names, levels-1)...)
		}
	}
	return list
}

// idle returns the folders, but for those that were given, of whose files none was
// of use.
func idle(tree files.Tree, files, given []string, traces *Traces) (lost []string) {
	inUse := map[string]bool{}
	for _, path := range given {
		inUse[filepath.Clean(path)] = true
	}
	var dirs []string
	for _, file := range files {
		dir := filepath.Dir(file)
		if used, seen := inUse[dir]; !seen {
			dirs = append(dirs, dir)
			inUse[dir] = traces.Used(file) || hasLog(file)
		} else if !used {
			inUse[dir] = traces.Used(file) || hasLog(file)
		}
	}
	for _, dir := range dirs {
		if !inUse[dir] && !holdsEvidence(tree, dir, All(), 0) {
			lost = append(lost, dir+": holds files, and nothing that is known")
		}
	}
	return lost
}

func hasLog(file string) bool { return filepath.Base(file) == bisect.LogName }

// maxDeeper is how many levels deeper folders are looked into for evidence that was
// left out, and maxLook how many files.
const (
	maxDeeper = 3
	maxLook   = 1000
)

// namesIn returns the names in a folder, in order.
func namesIn(tree files.Tree, dir string) ([]string, error) {
	names, err := tree.Names(dir)
	slices.Sort(names)
	return names, err
}

// holdsEvidence reports whether there is a file in a folder, or in folders in it, that
// is evidence by its name or content. It reads the start of some files at most.
func holdsEvidence(tree files.Tree, dir string, list []Format, deeper int) bool {
	names, err := namesIn(tree, dir)
	if err != nil {
		return false
	}
	for _, name := range names[:min(len(names), maxLook)] {
		path := filepath.Join(dir, name)
		stat, err := tree.Stat(path)
		switch {
		case name[0] == '.' || err != nil:
		case stat.IsDir():
			if deeper > 0 && holdsEvidence(tree, path, list, deeper-1) {
				return true
			}
		case stat.Mode().IsRegular() && isEvidence(tree, path, list):
			return true
		}
	}
	return false
}

func isEvidence(tree files.Tree, path string, list []Format) bool {
	head, err := headOf(tree, path, tracediff.SniffLen)
	if err != nil {
		return false
	}
	for i := range list {
		if f := &list[i]; f.Sniff(head) {
			return f.Snapshot != nil || f.Log != nil || f.Native || f.Trace != nil
		}
	}
	return false
}
