package bundle

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Traces are opened traces of several peers, and the engines' claims next to them.
type Traces struct {
	// Groups are the traces that can be compared with each other: traces in our format, and traces of each engine's
	// format.
	Groups [][]*tracediff.Trace
	// Claims are the engines' own statements, from logs next to the traces.
	Claims []*tracediff.ClaimLog
	// Missing lists evidence that was lost or is missing: folders with files but no trace, files that are damaged or
	// contradict others, formats that only one peer has.
	Missing []string
	// Damaged are the entries of Missing about files that cannot be read.
	Damaged []string
	// Notes list what was checked, Copies the files that are copies of others or contain the same.
	Notes, Copies []string

	s          *Session
	distrusted map[string]bool    // files that contradict their peer's own hashes
	lone       []*tracediff.Trace // with which nothing can be compared
	besides    int                // of Claims, those from order logs: there is something else to compare
}

// TraceOptions selects which traces are opened, and how. The zero value opens all.
type TraceOptions struct {
	tracediff.ReadOptions
	// Stdin is read where - is among the paths.
	Stdin io.Reader
	// Force takes files of different matches anyway.
	Force bool
	// Which are those to be opened.
	Which Which
	// Logs means that files without a trace may be among the paths, such as games' own logs: [Session.Unknown] reports them.
	Logs bool
}

// Which selects the traces that are opened.
type Which int

// Traces that are opened.
const (
	AllTraces Which = iota
	// Beside selects engines' traces, and tables, next to states: a file that cannot be read is missing, not an error.
	Beside
	// Rest selects the traces that Beside leaves out: traces in our format, and states that are also checkpoints.
	Rest
)

// wanted reports whether a file is to be opened.
func (w Which) wanted(f *File, tree files.Tree, opts *TraceOptions) bool {
	beside := !f.ownTrace() && !f.isTracedState()
	switch {
	case w == Beside && !beside || w == Rest && beside:
		return false
	case opts.Logs && f.Format == nil:
	case f.given && w == AllTraces && (!f.isEvidence() || opts.Pattern != nil):
		return true // else it would not be known why it cannot be used
	}
	return f.hasTrace(tree)
}

// opened is what was opened of a file, once.
type opened struct {
	ours, foreign []*tracediff.Trace
	claims        *tracediff.ClaimLog
	note          string
	misfit        *tracediff.MisfitError
	lost          error // of the check
	err           error
}

// Traces opens the traces and the engines' claims. Peers have the names in their traces, else names from their paths.
// If there are too few to compare, it returns an [AloneError] together with the traces that there are.
func (s *Session) Traces(opts TraceOptions) (*Traces, error) {
	t := &Traces{s: s, distrusted: map[string]bool{}}
	var ours []*tracediff.Trace
	foreign := map[string][]*tracediff.Trace{} // by format
	if s.stdin && opts.Stdin != nil {
		found, err := tracediff.Read(opts.Stdin, "stdin", opts.ReadOptions)
		if err != nil {
			return nil, err
		}
		ours = append(ours, found...)
	}
	var sessions []match
	var without []string
	for _, p := range s.places {
		any := false
		for _, f := range slices.Concat(p.files, p.traced) {
			if !opts.Which.wanted(f, s.tree, &opts) {
				continue
			}
			any = true
			o := s.openTrace(f, opts)
			if o.err != nil && f.given && opts.Which == AllTraces {
				return nil, o.err
			}
			if o.err != nil {
				t.Missing, t.Damaged = append(t.Missing, o.err.Error()), append(t.Damaged, o.err.Error())
			}
			ours = append(ours, cloned(o.ours)...)
			if len(o.foreign) > 0 {
				foreign[f.Format.Name] = append(foreign[f.Format.Name], cloned(o.foreign)...)
			}
			t.took(o)
			if o.claims != nil && f.IsLog() {
				t.besides++
			}
			sessions = append(sessions, o.matches(f)...)
		}
		if !any && p.loose() == nil && len(p.files) > 0 && !s.holdsTest(p.path) && opts.Which == AllTraces && !s.showsReplay() {
			without = append(without, p.path)
		}
	}
	if opts.Which != Rest {
		t.Claims = append(t.Claims, s.tests()...)
	}
	if err := oneMatch(sessions); err != nil && !opts.Force {
		return nil, err
	}
	if err := t.group(ours, foreign); err != nil {
		return nil, err
	}
	ofPeer := func(one *tracediff.Trace) bool { return !snapshot.IsRun(one.Name) }
	if all := slices.Concat(t.Groups...); len(all) == 0 || slices.ContainsFunc(all, ofPeer) { // else peers need none
		names := lists.Map(all, func(one *tracediff.Trace) string { return s.names.plain(one.Name) })
		bases := lists.Map(without, filepath.Base)
		for i, of := range sameNames(bases, names) {
			if of < 0 && !slices.Contains(names, bases[i]) { // no log has its checksums
				t.Missing = append(t.Missing, without[i]+": no trace")
			}
		}
	}
	if t.enough(); len(t.Groups)+len(t.Claims) == t.besides && opts.Which != Beside {
		err := error(s.aloneTraces())
		if len(t.Missing) > 0 {
			err = fmt.Errorf("%w; %s", err, prose.Few(t.Missing, maxReasons))
		}
		return t, err
	}
	return t, nil
}

// maxReasons is how many files an error names of those that have no trace.
const maxReasons = 20

// cloned returns copies with names that may be changed.
func cloned(list []*tracediff.Trace) (out []*tracediff.Trace) {
	for _, t := range list {
		c := *t
		out = append(out, &c)
	}
	return out
}

// took adds what a file contains in addition to checkpoints.
func (t *Traces) took(o *opened) {
	if o.claims != nil {
		c := *o.claims
		c.Claims = slices.Clone(c.Claims)
		t.Claims = append(t.Claims, &c)
		if c.Lost != "" {
			t.Missing = append(t.Missing, c.Lost)
		}
	}
	switch {
	case o.misfit != nil:
		t.distrusted[filepath.Clean(o.misfit.Beside)] = true
		t.Missing = append(t.Missing, fmt.Sprintf("%v; %s was left out", o.misfit, o.misfit.Beside))
	case o.lost != nil:
		t.Missing = append(t.Missing, o.lost.Error())
	case o.note != "":
		t.Notes = append(t.Notes, o.note)
	}
}

// matches returns the matches that a file names.
func (o *opened) matches(f *File) (list []match) {
	if o.claims != nil && o.claims.Dialect.Session != "" {
		list = append(list, match{o.claims.Dialect.Session, f.Path})
	}
	for _, t := range o.foreign {
		if t.Dialect.Session != "" {
			list = append(list, match{t.Dialect.Session, f.Path})
		}
	}
	return list
}

// openTrace opens the traces and reads the claims in a file, the first time that it is called.
func (s *Session) openTrace(f *File, opts TraceOptions) *opened {
	if opts.Pattern != nil {
		own, err := tracediff.Open(s.tree, f.Path, opts.ReadOptions)
		return &opened{ours: s.names.traces(own), err: err}
	}
	if f.opened == nil {
		f.opened = s.readTrace(f, opts.ReadOptions)
	}
	return f.opened
}

func (s *Session) readTrace(f *File, opts tracediff.ReadOptions) *opened {
	o := &opened{}
	if f.Err != nil {
		o.err = f.Err
		return o
	}
	if !f.engineTrace() {
		o.ours, o.err = tracediff.Open(s.tree, f.Path, opts)
		o.ours = s.ofReplay(f, s.names.traces(o.ours))
		if errors.Is(o.err, tracediff.ErrUnrecognized) && !f.other {
			if log, err := f.scan(s.tree, opts); err != nil || log != nil {
				o.ours, o.claims, o.err = nil, log, err
			}
		}
		return o
	}
	if o.err = checkPacking(s.tree, f.Path, opts.MaxUnpacked); o.err != nil {
		return o
	}
	format := f.Format.Trace
	if log := f.each[format.Name]; log != nil && opts.MaxUnpacked == 0 {
		o.claims, f.each = log, nil
	} else if format.Claims != nil {
		if o.claims, o.err = tracediff.ReadClaims(s.tree, f.Path, format, opts); o.err != nil {
			return o
		}
	}
	if format.Check != nil {
		note, err := format.Check(s.tree, f.Path)
		switch {
		case errors.As(err, &o.misfit):
		case err != nil:
			o.lost = err
		case note != "":
			o.note = f.Path + ": " + note
		}
	}
	o.foreign, o.err = tracediff.OpenForeign(s.tree, f.Path, format, opts)
	o.foreign = s.ofReplay(f, s.ofOne(f, s.names.traces(o.foreign)))
	if len(o.foreign) == 1 && (o.claims == nil || len(o.claims.Claims) == 0) && slices.Contains(documents, strings.ToLower(f.ext())) {
		o.claims = s.besideLog(f, opts)
	} else if len(o.foreign) == 0 && f.single && o.err == nil && (o.claims == nil || len(o.claims.Claims) == 0) {
		isSaid := func(c tracediff.Claim) bool { return c.Told }
		if log, err := formats.ReadTold(s.tree, f.Path); err == nil && slices.ContainsFunc(log.Claims, isSaid) { // around lines of the log
			o.claims = log
		}
	}
	if s.traced != nil && o.claims != nil && o.claims.Dialect.Arbiter {
		o.claims = nil // a server's claim is not something that a peer computed
	}
	return o
}

// besideLog returns the claims with values of two peers in the text that a person wrote around one peer's log, nil if there are none.
func (s *Session) besideLog(f *File, opts tracediff.ReadOptions) *tracediff.ClaimLog {
	log, err := f.scan(s.tree, opts)
	if err != nil || log == nil {
		return nil
	}
	both := *log
	both.Claims = lists.Where(log.Claims, func(c tracediff.Claim) bool { return len(c.Values) > 1 })
	if len(both.Claims) == 0 {
		return nil
	}
	return &both
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

// group puts the traces that can be compared with each other together.
func (t *Traces) group(ours []*tracediff.Trace, foreign map[string][]*tracediff.Trace) error {
	if len(ours) > 0 {
		t.knowPlayers(ours)
		ours, err := t.oneTable(ours)
		if err != nil {
			return err
		}
		t.s.names.nameTraces(ours)
		t.s.joinPeers(ours)
		t.Groups = append(t.Groups, ours)
	}
	for i := range t.s.list {
		list := slices.DeleteFunc(foreign[t.s.list[i].Name], func(one *tracediff.Trace) bool { return t.distrusted[filepath.Clean(one.File)] })
		if list = t.alike(list); len(list) > 0 {
			t.s.names.nameRelative(list)
			list, err := t.merge(list)
			if err != nil {
				return err
			}
			t.s.names.nameTraces(list)
			t.s.joinPeers(list)
			t.Groups = append(t.Groups, list)
		}
	}
	return nil
}

// alike leaves out traces with lines that cannot be compared with the others': excerpts of other pastes than the first
// one, and excerpts next to whole traces.
func (t *Traces) alike(list []*tracediff.Trace) []*tracediff.Trace {
	paste := func(one *tracediff.Trace) string { return one.Header.Meta[tracediff.PasteMeta] }
	if len(list) == 0 {
		return list
	}
	of := paste(list[0])
	if slices.ContainsFunc(list, func(one *tracediff.Trace) bool { return paste(one) == "" }) {
		of = ""
	}
	return slices.DeleteFunc(list, func(one *tracediff.Trace) bool {
		if paste(one) == of {
			return false
		}
		t.Missing = append(t.Missing, fmt.Sprintf("%s: an excerpt: its lines cannot be compared one by one with the lines of other files", one.File))
		return true
	})
}

// oneTable keeps one column for each peer of tables: two tables of the same peers are copies, or belong to different
// matches.
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

// enough sets groups of one trace aside.
func (t *Traces) enough() {
	groups := t.Groups
	t.Groups = nil
	for _, g := range groups {
		if len(g) > 1 {
			t.Groups = append(t.Groups, g)
			continue
		}
		t.lone = append(t.lone, g[0])
		t.Missing = append(t.Missing, fmt.Sprintf("%s: a trace of only one peer (%s)", g[0].File, kindOf(g[0])))
	}
}

// Torn reads the traces that cannot be compared with another one to their ends, and returns which of them break off.
func (t *Traces) Torn() (lost []string) {
	for _, one := range t.lone {
		if text := one.Damage(); text != "" {
			lost = append(lost, fmt.Sprintf("%s: %s", one.File, strings.TrimPrefix(strings.TrimPrefix(text, one.File), ": ")))
		}
	}
	return lost
}

func kindOf(t *tracediff.Trace) string {
	if t.Dialect.File != "" {
		return t.Dialect.File
	}
	return t.Grammar.String()
}

// nameRelative adds the name of the folder or archive to relative peer names, such as local, if there are several:
// "A.zip local".
func (n *naming) nameRelative(list []*tracediff.Trace) {
	var folders []string
	for _, t := range list {
		if folder := filepath.Dir(t.File); t.Dialect.Relative && t.Header.Peer != "" && !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	if len(folders) < 2 {
		return
	}
	names := n.peers(make([]string, len(folders)), folders)
	for _, t := range list {
		if i := slices.Index(folders, filepath.Dir(t.File)); i >= 0 && t.Dialect.Relative && t.Header.Peer != "" {
			t.Header.Peer = names[i] + " " + t.Header.Peer
		}
	}
}

// nameTraces gives every trace a distinct name.
func (n *naming) nameTraces(list []*tracediff.Trace) {
	said, files := make([]string, len(list)), make([]string, len(list))
	for i, t := range list {
		if said[i], files[i] = saidName(t), t.File; folderOf(t) != "" {
			files[i] = folderOf(t)
		}
	}
	for i, name := range n.peers(said, files) {
		list[i].Name = name
	}
}
