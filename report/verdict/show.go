package verdict

import (
	"cmp"
	"encoding/hex"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// show takes over what a report draws.
func (c *Conclusion) show(e Evidence) {
	c.search(e)
	c.peers(e)
	c.Heat, c.Map, c.Cascade = e.Heat, e.Map, cascade(e)
	if c.Timeline = timeline(e); c.Timeline != nil {
		c.Session.First, c.Session.Last = c.Timeline.From, c.Timeline.To
		c.Names = engineNames(e, c.Timeline)
	}
	if e.Parted != nil {
		c.locus(e.Parted)
		c.Tree = tree(e.Parted)
		c.later()
	}
	c.around(e)
}

// later counts the ticks from the earliest moment at which the peers may have differed to the
// states that were compared.
func (c *Conclusion) later() {
	point := c.Compared.Point
	from := uint64(0)
	switch {
	case c.Bracket == nil: // caches are compared where they first differ
		return
	case c.Loaded != nil: // while it was away it had no state
		from = c.Bracket.Bad.Tick
	case c.Tick != nil:
		from = c.Tick.Number + 1
	case c.Bracket.Good != nil:
		from = c.Bracket.Good.Tick + 1
	}
	if point > from {
		c.Later = point - from
	}
}

// search counts what was compared.
func (c *Conclusion) search(e Evidence) {
	b := e.Bisect
	s := &c.Search
	*s = Search{Peers: len(b.Peers), Opened: b.Probes, Pairs: b.Pairs, Points: b.Snapshots, Recorded: b.Recorded}
	if b.Bracket == nil {
		s.Opened += b.Surveyed
		s.Content = append(s.Content, lists.Map(b.Content, MomentOf)...)
	}
	if e.Orders != nil {
		for _, h := range e.Orders.State.Hashes {
			s.Hashes += h.Equal + h.Differ
		}
	}
	for _, t := range b.Traces {
		if len(t.Traces) > 1 {
			s.TracePeers = max(s.TracePeers, len(t.Traces))
			if kind := t.Traces[0].Kind(); !slices.Contains(s.Kinds, kind) {
				s.Kinds = append(s.Kinds, kind)
			}
		}
	}
	for _, t := range slices.Concat(b.Traces, e.Traces) {
		partial := t.Dialect().Partial && !t.Diverged()
		s.Traced, s.Partial = s.Traced || t.Compares() && !partial, s.Partial || t.Compares() && partial
	}
}

// peers describes for each peer what it left, and which peers it agrees with where they diverged.
func (c *Conclusion) peers(e Evidence) {
	for _, info := range e.Bisect.Peers {
		p := document.TriagedPeer{Name: info.Name, Snapshots: info.Snapshots, OrderLog: info.Log}
		for i, group := range c.Groups {
			if slices.Contains(group, info.Name) {
				p.Group = i + 1
			}
		}
		for _, left := range e.Peers {
			if left.Name == info.Name {
				p.OrderLog, p.Trace = p.OrderLog || left.Log, left.Trace != nil
			}
		}
		if rep := e.Bisect.Replay; rep != nil {
			for i := range rep.Peers {
				if q := &rep.Peers[i]; q.Name == info.Name && q.Compared > 0 {
					matches := q.MatchesReference()
					p.MatchesReference = &matches
				}
			}
		}
		if w := e.Bisect.Witnessed; w != nil {
			for i := range w.Replays {
				if r := &w.Replays[i]; r.Peer == info.Name && r.Compared() {
					matches := r.Departs == nil
					p.MatchesReference = &matches
				}
			}
		}
		c.Peers = append(c.Peers, p)
		c.Held.States += p.Snapshots
		c.Held.Logs += btoi(p.OrderLog)
		c.Held.Traces += btoi(p.Trace)
	}
	c.Held.Logs = max(c.Held.Logs, c.Inputs.Logs)
	for _, t := range slices.Concat(e.Bisect.Traces, e.Traces) {
		c.Held.Traces = max(c.Held.Traces, len(t.Traces))
	}
}

func timeline(e Evidence) *document.Timeline {
	t := &document.Timeline{Bin: max(e.Bin, 1), Peers: []document.TimelinePeer{}, Detected: detected(e)}
	any := false
	reach := func(from, to uint64) {
		if !any || from < t.From {
			t.From = from
		}
		t.To, any = max(t.To, to), true
	}
	if e.Logged != nil {
		reach(e.Logged.First, e.Logged.Last)
	}
	for i := range e.Peers {
		p := e.Peers[i].TimelinePeer
		if n := len(p.Snapshots); n > 0 {
			reach(p.Snapshots[0], p.Snapshots[n-1])
		}
		for _, s := range []*document.TimelineSpan{p.Hashes, p.Trace} {
			if s != nil {
				reach(s.First, s.Last)
			}
		}
		t.Peers = append(t.Peers, p)
	}
	if len(t.Peers) == 0 {
		return nil
	}
	if e.Bin > 0 && e.BinFrom != t.From {
		t.BinFrom = &e.BinFrom
	}
	return t
}

// engineNames returns the engine's names of the ticks of a timeline, and of its state points with states; nil if the
// engine has no such names.
func engineNames(e Evidence, t *document.Timeline) *document.Names {
	var points []uint64
	for i := range t.Peers {
		points = append(points, t.Peers[i].Snapshots...)
	}
	if e.Heat != nil {
		points = append(points, e.Heat.Points...)
	}
	slices.Sort(points)
	n := &document.Names{Ticks: document.NamesOf(e.TickName, t.From, t.To)}
	for _, p := range slices.Compact(points) {
		if native := nameOf(e.PointName, p); native != "" {
			n.Points = append(n.Points, document.PointWord{Point: p, Native: native})
		}
	}
	n.States = document.NamesAt(n.Points)
	if n.Ticks == nil && n.Points == nil {
		return nil
	}
	return n
}

// tree returns the leaves of both states.
func tree(p *Parted) *document.HashTree {
	a, b := p.Diff.A, p.Diff.B
	t := &document.HashTree{Peers: p.Names, Point: a.Point.Tick, Roots: [2]string{a.Root.String(), b.Root.String()}}
	index := map[string]int{}
	for side, info := range []*snapshot.Info{a, b} {
		for _, l := range leaves(info) {
			i, ok := index[l.label]
			if !ok {
				i = len(t.Leaves)
				index[l.label] = i
				t.Leaves = append(t.Leaves, document.TreeLeaf{Label: l.label})
			}
			t.Leaves[i].Hashes[side], t.Leaves[i].Rows[side] = l.hash, l.rows
		}
	}
	lists.SortStable(t.Leaves, func(x, y document.TreeLeaf) int { return cmp.Compare(x.Label, y.Label) })
	return t
}

type leaf struct {
	label, hash string
	rows        uint64
}

func leaves(info *snapshot.Info) (list []leaf) {
	rows := map[string]uint64{}
	for _, t := range info.Tables {
		if t.Class == 0 {
			rows[t.Label] = t.Rows
		}
	}
	for _, l := range info.Leaves() {
		n := rows[l.Label]
		if l.Label == "" {
			n = 1
		}
		list = append(list, leaf{l.Label, l.Hash.String(), n})
	}
	return list
}

// cascade returns where parts of the state first differed: by traces where they go on after
// the divergence, else by snapshots.
func cascade(e Evidence) []document.CascadeDocument {
	list := []document.CascadeDocument{}
	var longest *tracediff.Result
	for _, t := range e.Traces {
		if longest == nil || len(t.Cascade) > len(longest.Cascade) {
			longest = t
		}
	}
	named := map[[2]string]bool{}
	add := func(t *tracediff.Result) {
		for _, c := range t.Cascade {
			// another kind of file may name parts that this one does not
			if place := [2]string{c.System, c.Scope}; t == longest || c.Scope != "" && !named[place] {
				named[place] = true
				list = append(list, document.CascadeDocument{
					Scope: c.Scope, Tick: c.Tick.Number, Native: t.NativeName(c.Tick), System: c.System, Count: c.Count, Last: c.Last.Number,
				})
			}
		}
	}
	if longest != nil {
		add(longest)
		for _, t := range e.Traces {
			if t != longest && t.Dialect().Engine != "" && t.Dialect().Engine == longest.Dialect().Engine {
				add(t)
			}
		}
		lists.SortStable(list, func(a, b document.CascadeDocument) int { return cmp.Compare(a.Tick, b.Tick) })
	}
	if len(list) > maxCascade {
		list = list[:maxCascade]
	}
	if len(list) > 0 || e.Heat == nil {
		return list
	}
	for _, row := range e.Heat.Rows {
		first := strings.IndexByte(row.Differs, '1')
		if first < 0 {
			continue
		}
		name := cmp.Or(row.Label, snapshot.RNG)
		list = append(list, document.CascadeDocument{
			Scope: name, Tick: e.Heat.Points[first], Native: nameOf(e.PointName, e.Heat.Points[first]), Count: int64(strings.Count(row.Differs, "1")), Last: e.Heat.Points[strings.LastIndexByte(row.Differs, '1')],
		})
	}
	lists.SortStable(list, func(a, b document.CascadeDocument) int { return cmp.Compare(a.Tick, b.Tick) })
	return list
}

func nameOf(name func(uint64) string, n uint64) string {
	if name == nil {
		return ""
	}
	return name(n)
}

// maxCascade is how many parts of the state a report's cascade names.
const maxCascade = 200

// around adds the orders around the divergence, with the known facts about each.
func (c *Conclusion) around(e Evidence) {
	for _, o := range e.Around {
		o.Native = nameOf(e.TickName, o.Tick)
		for i := range c.Inputs.Differences {
			if d := &c.Inputs.Differences[i]; !d.Marker && d.Player == o.Player && d.Order == o.Kind {
				if on := differsOn(d, &o); len(on) > 0 {
					o.Difference, o.On = d.Kind, on
				}
			}
		}
		for i := range c.Locus {
			if f := &c.Locus[i]; !f.Cache && o.Names == "" && mentions(o.Payload, f.Key) {
				o.Names = cmp.Or(f.Archetype, snapshot.RNG) + " " + f.Key
			}
		}
		c.Orders = append(c.Orders, o)
	}
}

// differsOn returns the peers on which an order differs as d describes, none if d describes another order of the player.
func differsOn(d *orderlog.Difference, o *document.TriagedOrder) []string {
	here := slices.ContainsFunc(d.At, func(at orderlog.Place) bool {
		return at.Tick == o.Tick && slices.Contains(o.Peers, at.Peer) && (d.Sequence == o.Sequence || at.Index == int(o.Sequence))
	})
	has := func(name string) bool { return slices.Contains(o.Peers, name) }
	same := strings.HasPrefix(o.Payload, hex.EncodeToString(d.Payload))
	on := []string{d.Peer}
	switch d.Kind {
	case orderlog.Missing, orderlog.Extra:
		if on = d.Lack; slices.ContainsFunc(on, has) {
			return nil
		}
	case orderlog.Late, orderlog.Altered: // on the peer that has it otherwise
		on = slices.DeleteFunc([]string{d.Base, d.Peer}, has)
		same = same || d.Kind == orderlog.Altered
	}
	if !here || !same {
		return nil
	}
	return on
}
