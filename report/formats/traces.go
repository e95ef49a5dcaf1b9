package formats

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/orderlog/packed"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
	"github.com/desynctool/desynctool/tracediff/loglines"
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

// unpackedName returns a file's name without what says how it is compressed.
func unpackedName(file string) string {
	switch filepath.Ext(file) {
	case ".gz", ".zst", ".xz":
		return strings.TrimSuffix(file, filepath.Ext(file))
	}
	return file
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

// traceFile is a file that may be a trace, with the engine's format if it is known.
type traceFile struct {
	path   string
	format *Format
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

// scanLog reads the claims that stand anywhere in a log, nil if there are none.
func scanLog(file string, opts tracediff.ReadOptions) (*tracediff.ClaimLog, error) {
	log, err := tracediff.ReadClaims(file, &tracediff.Format{Claims: loglines.Scan}, opts)
	if err != nil || len(log.Claims) == 0 {
		return nil, err
	}
	return log, nil
}

// traceFormat returns the engine's format of a file that holds checkpoints or
// claims, nil if it is none.
func traceFormat(path string) (*Format, error) { return traceFormatOf(path, All()) }

func traceFormatOf(path string, list []Format) (*Format, error) {
	head, err := headOf(path, tracediff.SniffLen)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if f := &list[i]; f.Sniff(head) {
			if f.Trace == nil {
				return nil, nil
			}
			return f, nil
		}
	}
	return nil, nil
}

// headOf returns the leading bytes of what is in a file.
func headOf(path string, n int) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, _, err := packed.Unpack(bufio.NewReaderSize(f, n), 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	head := make([]byte, n)
	got, err := io.ReadFull(content, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return head[:got], nil
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

// toldName returns whose trace it is if its content says so.
func toldName(t *tracediff.Trace) string {
	if t.Grammar == tracediff.Table || t.Shared {
		return t.Name
	}
	return t.Header.Peer
}

// merge leaves one trace for each peer that engines' files name: files of other
// ticks are joined, and copies left out after they were compared.
func (t *Traces) merge(list []*tracediff.Trace) ([]*tracediff.Trace, error) {
	var out []*tracediff.Trace
	index := map[string]int{}
	var parts [][]*tracediff.Trace
	for _, one := range list {
		name := toldName(one)
		i, ok := index[name]
		if !ok || name == "" {
			i = len(parts)
			index[name] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], one)
	}
	for _, same := range parts {
		kept, err := t.distinct(same)
		if err != nil {
			return nil, err
		}
		if len(kept) > 1 {
			joined, err := tracediff.Join(kept)
			if err != nil {
				return nil, err
			}
			kept = []*tracediff.Trace{joined}
		}
		out = append(out, kept...)
	}
	return out, nil
}

// distinct returns the traces of one peer that are of different ticks. Of those
// that overlap, or that are in files of several peers, it keeps the longest and
// compares the others with it.
func (t *Traces) distinct(same []*tracediff.Trace) ([]*tracediff.Trace, error) {
	if len(same) == 1 {
		return same, nil
	}
	type span struct {
		trace       *tracediff.Trace
		first, last uint64
	}
	var spans []span
	for _, one := range same {
		first, last, ok, err := one.Ticks()
		if err != nil {
			return nil, err
		}
		if ok {
			spans = append(spans, span{one, first, last})
		}
	}
	// Where two overlap, the one with more ticks comes first.
	slices.SortStableFunc(spans, func(a, b span) int { return cmp.Compare(b.last-b.first, a.last-a.first) })
	var kept []span
	for _, s := range spans {
		i := slices.IndexFunc(kept, func(k span) bool { return s.trace.Shared || s.first <= k.last && k.first <= s.last })
		if i < 0 {
			kept = append(kept, s)
		} else if err := t.compareTwin(kept[i].trace, s.trace); err != nil {
			return nil, err
		}
	}
	out := make([]*tracediff.Trace, 0, len(kept))
	for _, k := range kept {
		out = append(out, k.trace)
	}
	if len(out) == 0 {
		return same[:1], nil
	}
	return out, nil
}

// compareTwin compares two files that say to be of the same peer.
func (t *Traces) compareTwin(kept, twin *tracediff.Trace) error {
	a, err := digest(kept.File)
	if err != nil {
		return err
	}
	b, err := digest(twin.File)
	if err != nil {
		return err
	}
	if a == b {
		t.note("%s is a copy of %s", twin.File, kept.File)
		return nil
	}
	r, err := tracediff.Compare([]*tracediff.Trace{kept, twin}, tracediff.Options{FirstOnly: true, Context: -1})
	switch {
	case err != nil:
		t.Warnings = append(t.Warnings, fmt.Sprintf("%s was left out: %v", twin.File, err))
	case r.First != nil:
		t.Warnings = append(t.Warnings, fmt.Sprintf("%s and %s contradict each other about %s, at tick %s; the latter was left out",
			kept.File, twin.File, toldName(kept), r.TickName(r.First.Tick)))
	default:
		t.note("%s says the same of %s as %s", twin.File, toldName(kept), kept.File)
	}
	return nil
}

func (t *Traces) note(format string, args ...any) {
	t.Notes = append(t.Notes, fmt.Sprintf(format, args...))
}

func digest(file string) (sum [sha256.Size]byte, err error) {
	f, err := os.Open(file)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	return [sha256.Size]byte(h.Sum(nil)), nil
}

// traceFiles returns path if it is a file, else the traces in the folder, or
// in its folders, and which of these hold files and no trace.
func traceFiles(path string) (files []traceFile, missing []string, err error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !stat.IsDir() {
		return []traceFile{{path: path}}, nil, nil
	}
	list := All()
	here, err := tracesIn(path, list)
	if err != nil {
		return nil, nil, err
	}
	files = here.files
	if !here.own { // what is of several peers may stand beside their folders
		for _, folder := range here.folders {
			found, err := tracesIn(folder, list)
			if err != nil {
				return nil, nil, err
			}
			if len(found.files) == 0 && found.others {
				missing = append(missing, folder+": no trace")
			}
			files = append(files, found.files...)
		}
	}
	if len(files) == 0 {
		return nil, nil, errors.New(path + ": no trace (*.trace, or a file of an engine with checksums)")
	}
	return files, missing, nil
}

// traceFolder is what is in a folder.
type traceFolder struct {
	files   []traceFile // and logs with claims
	own     bool        // one of them at least is the trace of one peer
	folders []string
	others  bool // there are files besides
}

func tracesIn(dir string, formats []Format) (t traceFolder, err error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return t, err
	}
	for _, entry := range list {
		path := filepath.Join(dir, entry.Name())
		stat, err := os.Stat(path)
		if entry.Name()[0] == '.' || err != nil {
			continue
		}
		if stat.IsDir() {
			t.folders = append(t.folders, path)
			continue
		}
		found, own := false, false
		var format *Format
		if stat.Mode().IsRegular() {
			found, format, own = isTrace(path, formats)
		}
		if found {
			t.files = append(t.files, traceFile{path, format})
			t.own = t.own || own
		} else {
			t.others = true
		}
	}
	return t, nil
}

// isTrace reports whether a file is a trace of ours or a table by its name, or
// one of an engine, whose format it returns, or a log with an engine's claims, by
// its content; own says that it is the trace of one peer.
func isTrace(path string, formats []Format) (found bool, format *Format, own bool) {
	ext := filepath.Ext(unpackedName(path))
	if ext == ".trace" {
		return true, nil, true
	}
	format, err := traceFormatOf(path, formats)
	if err != nil {
		return false, nil, false
	}
	if format != nil {
		return true, format, format.Trace.Read != nil && format.Trace.Peers == nil
	}
	switch ext {
	case ".csv":
		head, err := headOf(path, tracediff.SniffLen)
		return err == nil && tracediff.Sniff(head) == tracediff.Table, nil, false
	case ".log", ".txt":
		log, err := scanLog(path, tracediff.ReadOptions{})
		return err == nil && log != nil, nil, false
	}
	return false, nil, false
}
