package playbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/tracediff"
)

// Report concludes, and tells all of it: the narrowing step by step, what differs, what may
// have caused it, and what to do next.
func Report(e Evidence) (*report.Report, error) {
	v, err := Conclude(e)
	if err != nil {
		return nil, err
	}
	if v.Bracket == nil && e.Orders != nil && e.Orders.Verdict == orderlog.InputsDiffer {
		v.Inputs = true
	}
	crossCheck(&e, v)
	rec := recordedOf(e, v)
	b := e.Bisect
	claimed := claims(e, v)
	if len(b.Traces) > 0 {
		claimed = append(report.Claims(b.Traces[0]), claimed...)
	}
	r := &report.Report{
		Head: report.NewHead("triage", report.InSync, warnings(e)),
		Kind: v.Kind, Session: e.Session, Cascade: []report.CascadeDocument{}, Locus: []report.LocusField{},
		Contradictions: append(slices.Clone(b.Contradictions), e.Contradictions...),
		Notes:          slices.Clone(b.Notes), Claims: claimed, Facts: e.Facts, Heat: e.Heat, Map: e.Map,
		Orders: []report.TriagedOrder{},
	}
	for _, lost := range slices.Concat(b.Lost, e.Lost) {
		if !slices.Contains(r.Missing, lost) {
			r.Missing = append(r.Missing, lost)
		}
	}
	if e.Orders != nil {
		for _, lost := range e.Orders.Trouble() {
			if !slices.Contains(r.Missing, lost) {
				r.Missing = append(r.Missing, lost)
			}
		}
		if m := e.Orders.InputHashCount; m > 0 {
			h := e.Orders.InputHashes[0]
			r.Contradictions = append(r.Contradictions, fmt.Sprintf("%s: the recorded input hash of tick %d is not that of its orders (%d such ticks)", h.Peer, h.Tick, m))
		}
		if e.Orders.MisplacedCount > 0 {
			r.Notes = append(r.Notes, count(e.Orders.MisplacedCount, "order was", "orders were")+" applied out of order")
		}
	}
	r.Missing, r.Contradictions, r.Notes = full(r.Missing), full(r.Contradictions), full(r.Notes)
	if !statesCompared(e) {
		r.Missing = append(r.Missing, "states of two peers, or hashes of them: without these nothing tells whether the states agree")
	}
	r.Status = status(e, r)
	r.Kind = kind(e, v, r)
	r.Inputs = inputs(e)
	r.Peers = peers(e)
	r.FirstDivergence = divergence(e, v, b, rec)
	if r.Timeline = timeline(e); r.Timeline != nil {
		r.Session.First, r.Session.Last = r.Timeline.From, r.Timeline.To
	}
	if e.Parted != nil {
		locus(r, e, v)
		r.Tree = tree(e.Parted)
	}
	r.Cascade = cascade(e)
	around(r, e)
	f := observe(e, v)
	r.Causes = rank(f)
	if r.Kind == bisect.StaleCache {
		r.Causes = []report.Cause{{Class: StaleCache, Title: classOf(StaleCache).title, Score: 1, Group: 1, Evidence: []string{fmt.Sprintf("%s's game computed derived data anew and found it wrong: “%s”", staleCache(e).Peer, staleCache(e).Text)}}}
	}
	if r.Compared != nil && !valuesDiffer(r) {
		r.Causes = []report.Cause{}
	}
	r.Ladder = ladder(e, v, r, rec)
	r.Verdict = verdict(e, v, r, rec)
	r.Next = next(e, v, r)
	fingerprint(r, f)
	return r, nil
}

// kind names the divergence: where states or checksums tell nothing of it, what the order
// logs tell.
func kind(e Evidence, v *Verdict, r *report.Report) bisect.Kind {
	switch {
	case r.Kind != "" || r.Status != report.Diverged:
		return r.Kind
	case v.Inputs:
		return bisect.InputsDiffer
	case staleCache(e) != nil:
		return bisect.StaleCache
	}
	return bisect.StateDiffers
}

// full returns an empty list instead of nil.
func full[T any](l []T) []T {
	if l == nil {
		return []T{}
	}
	return l
}

func warnings(e Evidence) []string {
	list := slices.Clone(e.Bisect.Warnings)
	if e.Orders != nil {
		for _, w := range e.Orders.Warnings {
			if !slices.Contains(list, w) {
				list = append(list, w)
			}
		}
	}
	return full(list)
}

// status returns the outcome: a divergence that is proven counts whatever else is lost.
func status(e Evidence, r *report.Report) report.Status {
	switch {
	case e.Bisect.Diverged() || e.Orders != nil && e.Orders.Diverged():
		return report.Diverged
	case slices.ContainsFunc(e.Bisect.Traces, diverged) || slices.ContainsFunc(e.Traces, diverged):
		return report.Diverged
	case len(r.Missing)+len(r.Contradictions) > 0 || e.Orders != nil && e.Orders.Incomplete():
		return report.Inconclusive
	}
	return report.InSync
}

// maxInputs is how many differences of orders a report lists.
const maxInputs = 20

func inputs(e Evidence) *report.Inputs {
	o := e.Orders
	if o == nil {
		return nil
	}
	return &report.Inputs{Line: o.Line(), Count: o.DifferenceCount, Differences: full(o.Differences[:min(len(o.Differences), maxInputs)])}
}

// peers tells of each peer with whom it agrees where they parted.
func peers(e Evidence) []report.TriagedPeer {
	list := []report.TriagedPeer{}
	for _, info := range e.Bisect.Peers {
		p := report.TriagedPeer{Name: info.Name, Snapshots: info.Snapshots, OrderLog: info.Log}
		for i, group := range e.Bisect.Groups {
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
		list = append(list, p)
	}
	return list
}

func divergence(e Evidence, v *Verdict, b *bisect.Result, rec recorded) *report.FirstDivergence {
	if v.Bracket == nil {
		return nil
	}
	_, root := v.Root()
	d := &report.FirstDivergence{
		Tick: v.Tick, Exact: v.Tick != nil, Bracket: report.Bracket(b.Bracket), InitialState: v.InitialState, System: v.System,
		Archetypes: full(suspects(e, v)), Root: root, Component: v.Component, Checkpoint: rec.checkpoint, Checksums: rec.parting,
	}
	if b.Healed != nil {
		d.Healed = &b.Healed.Tick
	}
	if c := rec.checkpoint; c != nil && d.System == "" {
		d.System = c.System
	}
	if c := rec.checkpoint; c != nil && d.Tick == nil && rec.sure {
		d.Tick = &c.Tick
	}
	native := report.Native{State: v.Bracket.Bad.Words()}
	if v.Tick != nil {
		native.Step = nameOf(e.TickName, *v.Tick)
	} else if rec.sure {
		native.Step = rec.checkpoint.Native
	}
	if native != (report.Native{}) {
		d.Native = &native
	}
	most, ties := 0, 0
	for i, group := range e.Bisect.Groups {
		switch {
		case len(group) > most:
			most, ties, d.Majority = len(group), 1, i+1
		case len(group) == most:
			ties++
		}
	}
	if ties != 1 {
		d.Majority = 0
	}
	d.Detected = detected(e)
	return d
}

// suspects returns the archetypes that may have diverged first, else those that differ at the
// bad end of the bracket.
func suspects(e Evidence, v *Verdict) []string {
	if len(v.Archetypes) > 0 {
		return v.Archetypes
	}
	return changed(e.Diff)
}

// detected returns when the first peer noticed: the first tick that an engine's own claim
// names, or the state point of a peer's own report.
func detected(e Evidence) (first *uint64) {
	first = e.Detected
	if e.Orders != nil {
		for i := range e.Orders.Claims {
			if c := &e.Orders.Claims[i]; c.Kind == orderlog.ClaimDesync && c.NativeAfter != "" && (first == nil || c.After < *first) {
				first = &c.After
			}
		}
	}
	for _, t := range e.Bisect.Traces {
		for i := range t.Claims {
			if c := &t.Claims[i]; c.HasTick && (first == nil || c.Tick < *first) {
				first = &c.Tick
			}
		}
	}
	return first
}

func timeline(e Evidence) *report.Timeline {
	t := &report.Timeline{From: e.BinFrom, Bin: e.Bin, Peers: []report.TimelinePeer{}, Detected: detected(e)}
	any := e.Bin > 0
	reach := func(from, to uint64) {
		if !any || from < t.From {
			t.From = from
		}
		t.To, any = max(t.To, to), true
	}
	for i := range e.Peers {
		p := e.Peers[i].TimelinePeer
		if n := len(p.Snapshots); n > 0 {
			reach(p.Snapshots[0], p.Snapshots[n-1])
		}
		for _, s := range []*report.TimelineSpan{p.Hashes, p.Trace} {
			if s != nil {
				reach(s.First, s.Last)
			}
		}
		if len(p.Orders) > 0 {
			reach(e.BinFrom, e.BinFrom+uint64(len(p.Orders))*e.Bin)
		}
		t.Peers = append(t.Peers, p)
	}
	if e.Bin == 0 {
		t.Bin = 1
	}
	if len(t.Peers) == 0 {
		return nil
	}
	return t
}

// tree returns the leaves of both states.
func tree(p *Parted) *report.HashTree {
	a, b := p.States[0].Info(), p.States[1].Info()
	t := &report.HashTree{Peers: p.Names, Point: a.Point.Tick, Roots: [2]string{a.Root.String(), b.Root.String()}}
	index := map[string]int{}
	for side, info := range []struct {
		leaves []leaf
	}{{leaves(p, 0)}, {leaves(p, 1)}} {
		for _, l := range info.leaves {
			i, ok := index[l.label]
			if !ok {
				i = len(t.Leaves)
				index[l.label] = i
				t.Leaves = append(t.Leaves, report.TreeLeaf{Label: l.label})
			}
			t.Leaves[i].Hashes[side], t.Leaves[i].Rows[side] = l.hash, l.rows
		}
	}
	slices.SortStableFunc(t.Leaves, func(x, y report.TreeLeaf) int { return cmp.Compare(x.Label, y.Label) })
	return t
}

type leaf struct {
	label, hash string
	rows        uint64
}

func leaves(p *Parted, side int) (list []leaf) {
	info := p.States[side].Info()
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

// cascade returns where parts of the state first differed: by traces where they go on behind
// the divergence, else by snapshots.
func cascade(e Evidence) []report.CascadeDocument {
	list := []report.CascadeDocument{}
	for _, t := range e.Traces {
		if len(t.Cascade) <= len(list) {
			continue
		}
		list = list[:0]
		for _, c := range t.Cascade {
			list = append(list, report.CascadeDocument{
				Scope: c.Scope, Tick: c.Tick.Number, Native: t.NativeName(tracediff.Tick{Number: c.Tick.Number}), System: c.System, Count: c.Count, Last: c.Last.Number,
			})
		}
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
		name := cmp.Or(row.Label, RNG)
		list = append(list, report.CascadeDocument{
			Scope: name, Tick: e.Heat.Points[first], Native: nameOf(e.PointName, e.Heat.Points[first]), Count: int64(strings.Count(row.Differs, "1")), Last: e.Heat.Points[strings.LastIndexByte(row.Differs, '1')],
		})
	}
	slices.SortStableFunc(list, func(a, b report.CascadeDocument) int { return cmp.Compare(a.Tick, b.Tick) })
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

func differences(in *report.Inputs) []orderlog.Difference {
	if in == nil {
		return nil
	}
	return in.Differences
}

func diverged(t *tracediff.Result) bool { return t.Diverged() }

// around adds the orders, with what is known of each.
func around(r *report.Report, e Evidence) {
	for _, o := range e.Around {
		o.Native = nameOf(e.TickName, o.Tick)
		for i := range differences(r.Inputs) {
			d := &r.Inputs.Differences[i]
			if !d.Marker && d.Tick == o.Tick && d.Player == o.Player && d.Order == o.Kind && (d.Sequence == o.Sequence || len(o.Peers) < len(e.Peers)) {
				o.Difference = d.Kind
			}
		}
		for _, key := range numbers(o.Payload) {
			for i := range r.Locus {
				if f := &r.Locus[i]; f.Key == key && !f.Cache && o.Names == "" {
					o.Names = cmp.Or(f.Archetype, RNG) + " " + key
				}
			}
		}
		r.Orders = append(r.Orders, o)
	}
}
