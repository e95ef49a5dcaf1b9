package playbook

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

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
	b := report.Bisect(e.Bisect)
	r := &report.Report{
		Head: report.NewHead("triage", report.InSync, warnings(e)),
		Kind: v.Kind, Session: e.Session, Cascade: []report.CascadeDocument{}, Locus: []report.LocusField{},
		Contradictions: append(slices.Clone(b.Contradictions), e.Contradictions...),
		Notes:          slices.Clone(b.Notes), Claims: b.Claims, Facts: e.Facts, Heat: e.Heat, Map: e.Map,
		Orders: []report.TriagedOrder{},
	}
	for _, lost := range slices.Concat(b.Missing, e.Lost) {
		if !slices.Contains(r.Missing, lost) {
			r.Missing = append(r.Missing, lost)
		}
	}
	if e.Orders != nil {
		for _, lost := range report.LogTrouble(e.Orders) {
			if !slices.Contains(r.Missing, lost) {
				r.Missing = append(r.Missing, lost)
			}
		}
		if m := e.Orders.InputHashCount; m > 0 {
			h := e.Orders.InputHashes[0]
			r.Contradictions = append(r.Contradictions, fmt.Sprintf("%s: the recorded input hash of tick %d is not that of its orders (%d such ticks)", h.Peer, h.Tick, m))
		}
		if e.Orders.MisplacedCount > 0 {
			r.Notes = append(r.Notes, fmt.Sprintf("%d orders were applied out of their order", e.Orders.MisplacedCount))
		}
	}
	r.Missing, r.Contradictions, r.Notes = full(r.Missing), full(r.Contradictions), full(r.Notes)
	r.Status = status(e, r)
	r.Inputs = inputs(e)
	r.Peers = peers(e)
	r.FirstDivergence = divergence(e, v, b)
	r.Timeline = timeline(e)
	if e.Parted != nil {
		locus(r, e, v)
		r.Tree = tree(e.Parted)
	}
	r.Cascade = cascade(e)
	around(r, e)
	f := observe(e, v)
	r.Causes = rank(f)
	r.Ladder = ladder(e, v, r)
	r.Verdict = verdict(e, v, r)
	r.Next = next(e, v, r)
	fingerprint(r, f)
	return r, nil
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

func divergence(e Evidence, v *Verdict, b *report.BisectDocument) *report.FirstDivergence {
	if v.Bracket == nil {
		return nil
	}
	_, root := v.Root()
	d := &report.FirstDivergence{
		Tick: v.Tick, Exact: v.Tick != nil, Bracket: b.Bracket, InitialState: v.InitialState, System: v.System,
		Archetypes: full(v.Archetypes), Root: root, Component: v.Component, Healed: b.Healed,
	}
	if n := v.Bracket.Bad.Native; n != "" {
		d.Native = &report.Native{State: n}
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

// detected returns the first tick that an engine's own claim names.
func detected(e Evidence) (first *uint64) {
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
			list = append(list, report.CascadeDocument{Scope: c.Scope, Tick: c.Tick.Number, System: c.System, Count: c.Count, Last: c.Last.Number})
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
			Scope: name, Tick: e.Heat.Points[first], Count: int64(strings.Count(row.Differs, "1")), Last: e.Heat.Points[strings.LastIndexByte(row.Differs, '1')],
		})
	}
	slices.SortStableFunc(list, func(a, b report.CascadeDocument) int { return cmp.Compare(a.Tick, b.Tick) })
	return list
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
		for i := range differences(r.Inputs) {
			d := &r.Inputs.Differences[i]
			if !d.Marker && d.Tick == o.Tick && d.Player == o.Player && d.Order == o.Kind && (d.Sequence == o.Sequence || len(o.Peers) < len(e.Peers)) {
				o.Difference = d.Kind
			}
		}
		for _, key := range numbers(o.Payload) {
			for i := range r.Locus {
				if f := &r.Locus[i]; f.Key == key && !f.Cache {
					o.Names = cmp.Or(f.Archetype, RNG) + " " + key
				}
			}
		}
		r.Orders = append(r.Orders, o)
	}
}
