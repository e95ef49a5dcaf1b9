package bundle

import (
	"cmp"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Naming replaces the names of peers in their files. Both functions are called from several goroutines. They return the
// same for the same text, different results for different texts, and their own results unchanged.
type Naming struct {
	// Peer returns the name for a peer that a file names.
	Peer func(name string) string
	// Path returns the name for a peer that no file names, and that would be named by the end of its path: elements
	// with / between them.
	Path func(end string) string
}

// OpenRenamed is OpenMatches with other names of the peers: a session replaces every name that it learns, so users of
// the session do not see the name itself; in a message it also replaces the names of the accused peers. Other text in
// messages, orders, values and paths is as it is in the files.
func OpenRenamed(tree *archive.Tree, paths []string, names Naming) (*Matches, error) {
	return openMatches(tree, paths, &naming{Naming: names, known: map[string]string{}})
}

// naming is the Naming of a session. The nil naming leaves all names as they are.
type naming struct {
	Naming
	mu    sync.Mutex
	known map[string]string // new names, by old ones in lower case
}

// peer returns the name for a peer that a file names; a peer without a name gets none.
func (n *naming) peer(name string) string {
	if n == nil || name == "" {
		return name
	}
	out := n.Peer(name)
	n.mu.Lock()
	defer n.mu.Unlock()
	n.known[strings.ToLower(name)] = out
	return out
}

// called returns the new name of a peer from its old name in lower case, "" if no peer has it.
func (n *naming) called(word string) string {
	if n == nil {
		return ""
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.known[word]
}

// peers is snapshot.PeerNames where said are names that were replaced already.
func (n *naming) peers(said, paths []string) []string {
	names := snapshot.PeerNames(said, paths)
	if n == nil {
		return names
	}
	for i := range names {
		if said[i] == "" {
			end := names[i]
			names[i] = n.Path(end)
			n.mu.Lock()
			n.known[strings.ToLower(end)] = names[i]
			n.mu.Unlock()
		}
	}
	n.above(paths)
	return snapshot.PeerNames(names, paths)
}

// above makes the names of the folders of peers known where each has one, since their files may have other names.
func (n *naming) above(paths []string) {
	dirs, depths := map[string]bool{}, map[int]bool{}
	for _, path := range paths {
		dirs[filepath.Dir(path)], depths[strings.Count(filepath.ToSlash(path), "/")] = true, true
	}
	if len(dirs) < max(2, len(paths)) || len(depths) > 1 {
		return
	}
	for _, end := range snapshot.PeerNames(make([]string, len(dirs)), slices.Sorted(maps.Keys(dirs))) {
		n.Path(end)
	}
}

// folders makes the names of peers' folders known where the files name the peers otherwise: a folder may have the name
// of a player whose files have a role. A path may be empty.
func (n *naming) folders(said, paths []string) {
	for i, end := range snapshot.PeerNames(make([]string, len(paths)), paths) {
		if said[i] != "" {
			n.Path(end)
		}
	}
}

// compared returns the names of peers as a comparison of their states would find them.
func (n *naming) compared(peers []*Peer) []string {
	said, paths := make([]string, len(peers)), make([]string, len(peers))
	for i, p := range peers {
		said[i], paths[i] = p.Name, p.Path
		if n != nil && said[i] == "" && len(p.States.Entries) > 0 {
			said[i] = nameIn(p.States.Entries[0])
		}
	}
	if n == nil {
		return said
	}
	n.folders(said, paths)
	names := n.peers(said, paths)
	for i := range names {
		if said[i] != "" {
			names[i] = said[i] // the comparison makes them distinct, and reports which it did
		}
	}
	return names
}

// each replaces names in a list, which is not changed itself.
func (n *naming) each(list []string) []string {
	if n == nil || len(list) == 0 {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		list[i] = n.peer(list[i])
	}
	return list
}

// formats returns the formats with readers that replace the names that they find. Traces have their names replaced once
// they are open, see traces: their readers select one of several peers by its number.
func (n *naming) formats(list []engine.Format) []engine.Format {
	if n == nil {
		return list
	}
	list = slices.Clone(list)
	for i := range list {
		f := &list[i]
		if f.Snapshot != nil {
			f.Snapshot = n.snapshot(*f.Snapshot)
		}
		if read := f.Log; read != nil {
			f.Log = func(r io.Reader, name string) (orderlog.Source, error) {
				source, err := read(r, name)
				if err != nil {
					return nil, err
				}
				return n.log(source), nil
			}
		}
		if f.Trace != nil && f.Trace.Claims != nil {
			own, read := *f.Trace, f.Trace.Claims
			own.Claims = func(r io.Reader, name string) (*tracediff.ClaimLog, error) {
				log, err := read(r, name)
				n.claims(log)
				return log, err
			}
			f.Trace = &own
		}
		if read := f.SelfTest; read != nil {
			f.SelfTest = func(tree files.Tree, folder string) (*tracediff.ClaimLog, error) {
				log, err := read(tree, folder)
				n.claims(log)
				return log, err
			}
		}
	}
	return list
}

func (n *naming) snapshot(f snapshot.Format) *snapshot.Format {
	if parse := f.ParseName; parse != nil {
		f.ParseName = func(base string) (snapshot.FileName, bool) {
			name, ok := parse(base)
			name.Peer = n.peer(name.Peer)
			return name, ok
		}
	}
	if open := f.Open; open != nil {
		f.Open = func(r io.ReaderAt, size int64, name string) (snapshot.State, error) {
			state, err := open(r, size, name)
			if state != nil && err == nil {
				snapshot.RenamePeer(state, n.peer)
			}
			return state, err
		}
	}
	if parts := f.Parts; parts != nil {
		f.Parts = func(r io.ReaderAt, size int64, name string) ([]snapshot.Part, error) {
			list, err := parts(r, size, name)
			for i := range list {
				list[i].Peer = n.peer(list[i].Peer)
			}
			return list, err
		}
	}
	return &f
}

// claims replaces the names in a game's claims about desyncs, except in the text itself.
func (n *naming) claims(log *tracediff.ClaimLog) {
	if n == nil || log == nil {
		return
	}
	log.Peer = n.peer(log.Peer)
	for i := range log.Claims {
		c := &log.Claims[i]
		named := append(slices.Clone(c.Peers), c.By)
		named = append(named, lists.Map(c.Values, func(v tracediff.ClaimedValue) string { return v.Peer })...)
		c.Text = n.message(c.Text, named)
		c.By, c.Peers = n.peer(c.By), n.each(c.Peers)
		c.Values = slices.Clone(c.Values)
		for k := range c.Values {
			c.Values[k].Peer = n.peer(c.Values[k].Peer)
		}
	}
	for number, name := range log.Players {
		log.Players[number] = n.peer(name)
	}
	if log.Start != nil {
		start := map[string]map[string]string{}
		for name, values := range log.Start {
			start[n.peer(name)] = values
		}
		log.Start = start
	}
}

// message replaces names in a message that is known to contain them; the rest of the message stays the same.
func (n *naming) message(text string, named []string) string {
	slices.SortFunc(named, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) // a name may be part of another
	for _, name := range slices.Compact(named) {
		text = verdict.ReplaceName(text, name, n.peer(name))
	}
	return text
}

// messages replaces the names in the results of formats.ReadMessages: all shares no claim with each.
func (n *naming) messages(all *tracediff.ClaimLog, each map[string]*tracediff.ClaimLog) {
	n.claims(all)
	for _, log := range each {
		n.claims(log)
	}
}

// traces replaces the names of traces that were just opened. A trace without a name is named after its path, which
// stays.
func (n *naming) traces(list []*tracediff.Trace) []*tracediff.Trace {
	if n == nil {
		return list
	}
	for _, t := range list {
		if t.Shared || t.Grammar == tracediff.Table || t.Name != t.File {
			t.Name = n.peer(t.Name)
		}
		t.Header = n.traceHeader(t.Header)
	}
	return list
}

// recordedBy is the header key that names the recorder of a file with the traces of several peers.
const recordedBy = "recorded by"

func (n *naming) traceHeader(h tracediff.Header) tracediff.Header {
	h.Peer = n.peer(h.Peer)
	if by := h.Meta[recordedBy]; n != nil && by != "" {
		meta := map[string]string{}
		maps.Copy(meta, h.Meta)
		meta[recordedBy] = n.peer(by)
		h.Meta = meta
	}
	return h
}

// log replaces the names in an order log.
func (n *naming) log(source orderlog.Source) orderlog.Source {
	renamed := renamedLog{source, n}
	foreign, ok := source.(orderlog.Foreign)
	if !ok {
		return renamed
	}
	return renamedForeign{renamed, foreign}
}

// renamedLog is an order log with other names of the peers.
type renamedLog struct {
	orderlog.Source
	names *naming
}

// Header implements orderlog.Source.
func (l renamedLog) Header() orderlog.Header {
	h := l.Source.Header()
	h.Peer, h.Peers = l.names.peer(h.Peer), l.names.each(h.Peers)
	return h
}

// Next implements orderlog.Source.
func (l renamedLog) Next() (orderlog.Record, error) {
	rec, err := l.Source.Next()
	if len(rec.Claims) > 0 {
		rec.Claims = slices.Clone(rec.Claims)
		for i := range rec.Claims {
			c := &rec.Claims[i]
			c.Text = l.names.message(c.Text, slices.Clone(c.Peers))
			c.Peers = l.names.each(c.Peers)
		}
	}
	return rec, err
}

// Unknown implements orderlog.Lossy.
func (l renamedLog) Unknown() (lines, first int64) {
	if lossy, ok := l.Source.(orderlog.Lossy); ok {
		return lossy.Unknown()
	}
	return 0, 0
}

// Mixed implements orderlog.MixedEnds.
func (l renamedLog) Mixed() (line int64) {
	if mixed, ok := l.Source.(orderlog.MixedEnds); ok {
		return mixed.Mixed()
	}
	return 0
}

// renamedForeign is a renamedLog of an engine's log.
type renamedForeign struct {
	renamedLog
	foreign orderlog.Foreign
}

// Dialect implements orderlog.Foreign.
func (l renamedForeign) Dialect() orderlog.Dialect { return l.foreign.Dialect() }
