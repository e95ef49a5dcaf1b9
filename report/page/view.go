package page

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
)

// view is a report as the page shows it.
type view struct {
	*document.Report

	Title    string
	Word     string // the status
	Headline string
	More     []string // further sentences of the verdict
	Sections []section
	Tiles    []tile
	Next     []step
	Groups   []group
	Who      []peerRow
	Ladder   []rung
	First    *firstView
	Locus    *locusView
	Time     *timeView
	Tree     *treeView
	Map      *mapView
	Measured string // how often a likeness was right
	Orders   []orderRow
	Changes  []difference
	Facts    []factRow
	Claims   []claim
	Ask      []string // lines
	Absent   []string // pictures that this report has not, and what they need
}

// section is an entry of the table of contents.
type section struct{ ID, Title string }

// tile is one of the key facts.
type tile struct {
	Name, Value, More string
	Mono              bool
}

// group are peers that have the same state where they diverged.
type group struct {
	Number   int
	Majority bool
	Peers    []peer
}

type peerRow struct {
	Peer peer
	document.TriagedPeer
	Reference string
}

type rung struct {
	document.Rung
	Name string
	Sign string
	Word string
}

type orderRow struct {
	document.TriagedOrder
	Who []peer
}

type difference struct {
	orderlog.Difference
	Who, Than peer
	Where     []string
	Content   string
	Printed   string // the text that the content is, empty if it is none
}

type factRow struct {
	document.Fact
	Values []factValue
}

type factValue struct {
	Who  peer
	Text string
}

type claim struct {
	document.ClaimDocument
	From    string
	When    string
	Accused []peer
}

func newView(r *document.Report, ids ids) *view {
	peers := newPeers(r)
	v := &view{
		Report: r, Word: statusWord(r.Status), Next: steps(r.Next),
		First: newFirst(r, peers), Locus: newLocus(r, peers, ids), Time: newTime(r, peers), Tree: newTree(r, peers), Map: newMap(r, peers),
		Tiles: tiles(r), Groups: groups(r, peers),
	}
	v.Headline = v.Word
	if len(r.Verdict) > 0 {
		v.Headline, v.More = r.Verdict[0], r.Verdict[1:]
	}
	v.Title = "Desync report: " + r.Headline().Text(document.Safe)
	for _, p := range r.Peers {
		v.Who = append(v.Who, peerRow{peers.of(p.Name), p, reference(p.MatchesReference)})
	}
	for _, step := range r.Ladder {
		sign, word := rungSign(step.State)
		v.Ladder = append(v.Ladder, rung{step, strings.ReplaceAll(step.Step, "-", " "), sign, word})
	}
	if len(r.Causes) > 0 {
		v.Measured = r.Causes[0].Measured()
	}
	v.Orders = lists.Map(r.Orders, func(o document.TriagedOrder) orderRow { return orderRow{o, peers.all(o.Peers)} })
	if r.Inputs != nil {
		v.Changes = differences(r.Inputs, peers)
	}
	v.Facts = facts(r, peers)
	v.Claims = claims(r, peers)
	if r.Ask != "" {
		v.Ask = strings.Split(strings.TrimRight(r.Ask, "\n"), "\n")
	}
	v.Absent = v.absent()
	v.Sections = v.contents()
	return v
}

func statusWord(s document.Status) string {
	word := s.Words()
	return strings.ToUpper(word[:1]) + word[1:]
}

// reference describes whether a peer is right.
func reference(matches *bool) string {
	switch {
	case matches == nil:
		return "not asked"
	case *matches:
		return "matches"
	}
	return "departs"
}

func rungSign(s document.RungState) (sign, word string) {
	switch s {
	case document.RungFound:
		return "✓", "found"
	case document.RungEqual:
		return "=", "equal"
	case document.RungTrouble:
		return "!", "trouble"
	}
	return "?", "open"
}

// tiles are the key facts under the verdict.
func tiles(r *document.Report) []tile {
	var out []tile
	add := func(name, value, more string) {
		if value != "" {
			out = append(out, tile{Name: name, Value: value, More: more})
		}
	}
	if f := r.FirstDivergence; f != nil {
		if f.Tick != nil {
			more := clock(*f.Tick, r.Session.TickRate)
			if f.Native != nil && f.Native.Step != "" {
				more = strings.TrimPrefix(more+" · "+f.Native.Step, " · ")
			}
			add("Divergent tick", strconv.FormatUint(*f.Tick, 10), more)
		}
		if b := f.Bracket; b != nil {
			good := "none known"
			if b.Good != nil {
				good = strconv.FormatUint(*b.Good, 10)
			}
			add("Bracket", fmt.Sprintf("(%s, %d]", good, b.Bad), b.By)
		}
		if f.InitialState {
			add("Initial state", "differs", "before the first tick")
		}
		add("System", f.System, "")
		if len(f.Archetypes) > 0 {
			names := make([]string, len(f.Archetypes))
			for i, a := range f.Archetypes {
				names[i] = labelName(a)
			}
			more := ""
			if !f.Root && len(names) > 1 {
				more = "which was first is not known"
			}
			add("Archetype", prose.FirstOf(names, 3), more)
		}
		add("Component", f.Component, "")
		if f.Detected != nil {
			more := ""
			if f.Bracket != nil && *f.Detected > f.Bracket.Bad {
				more = prose.Count(*f.Detected-f.Bracket.Bad, "tick later", "ticks later")
			}
			add("Detected at", strconv.FormatUint(*f.Detected, 10), more)
		}
		if f.Healed != nil {
			add("Equal again at", strconv.FormatUint(*f.Healed, 10), "")
		}
	}
	if r.Compared != nil && r.Compared.Values > 0 {
		add("Values that differ", strconv.FormatUint(r.Compared.Values, 10), fmt.Sprintf("at state point %d", r.Compared.Point))
	}
	add("Kind", strings.ReplaceAll(string(r.Kind), "-", " "), "")
	add("Game", r.Session.Game, r.Session.Build)
	if add("Seed", r.Session.Seed, ""); r.Session.Seed != "" {
		out[len(out)-1].Mono = true
	}
	more := ""
	if r.Session.Last > r.Session.First {
		if more = clock(r.Session.Last-r.Session.First, r.Session.TickRate); more != "" {
			more += fmt.Sprintf(" at %s ticks/s", num(r.Session.TickRate))
		}
	}
	if r.Session.Last > 0 { // else no tick is known
		add("Session", span(r.Session.First, r.Session.Last), more)
	}
	return out
}

// clock returns how long a number of ticks is.
func clock(ticks uint64, rate float64) string {
	if !(rate > 0) || float64(ticks)/rate > 1e9 {
		return ""
	}
	s := int64(float64(ticks) / rate)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d h", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d min", s/60, s%60)
}

func groups(r *document.Report, peers peers) []group {
	var out []group
	for n := 0; n <= len(r.Peers); n++ {
		g := group{Number: n, Majority: n > 0 && r.FirstDivergence != nil && r.FirstDivergence.Majority == n}
		for _, p := range r.Peers {
			if p.Group == n {
				g.Peers = append(g.Peers, peers.of(p.Name))
			}
		}
		if len(g.Peers) > 0 {
			out = append(out, g)
		}
	}
	if len(out) > 1 && out[0].Number == 0 { // the group with an unknown state comes last
		out = append(out[1:], out[0])
	}
	return out
}

func differences(in *document.Inputs, peers peers) []difference {
	var out []difference
	for _, d := range in.Differences {
		one := difference{Difference: d, Who: peers.of(d.Peer), Than: peers.of(d.Base)}
		for _, at := range d.At {
			one.Where = append(one.Where, fmt.Sprintf("%s: tick %d, place %d", at.Peer, at.Tick, at.Index))
		}
		one.Content = fmt.Sprintf("%x", []byte(d.Payload))
		if one.Printed = bytesText(one.Content); d.PayloadLen > len(d.Payload) {
			one.Content += fmt.Sprintf("… (%d bytes)", d.PayloadLen)
		}
		out = append(out, one)
	}
	return out
}

func facts(r *document.Report, peers peers) []factRow {
	var out []factRow
	for _, f := range r.Facts {
		row := factRow{Fact: f}
		for _, name := range r.FactPeers(&f) {
			row.Values = append(row.Values, factValue{peers.of(name), f.Values[name]})
		}
		out = append(out, row)
	}
	return out
}

func claims(r *document.Report, peers peers) []claim {
	var out []claim
	for _, c := range r.Claims {
		one := claim{ClaimDocument: c, Accused: peers.all(c.Peers), From: prose.FirstOf(c.Files, 2), When: c.Native}
		if c.Line > 0 && len(c.Files) == 1 {
			one.From += fmt.Sprintf(":%d", c.Line)
		}
		if one.When == "" && c.Tick != nil {
			one.When = fmt.Sprintf("tick %d", *c.Tick)
		}
		out = append(out, one)
	}
	return out
}

// absent lists the parts that a report lacks, if the report of a divergence could have them.
func (v *view) absent() []string {
	if v.Status != document.Diverged && v.Status != document.Inconclusive {
		return nil
	}
	var out []string
	for _, p := range []struct {
		has  bool
		text string
	}{
		{v.Locus != nil, "values that differ: they need states of two peers at one state point at which they differ"},
		{v.Time.has("timeline"), "a timeline: it needs peers with snapshots, logs or traces"},
		{v.Time.has("heat"), "a heat map: it needs snapshots, or traces, of two peers at the same state points"},
		{v.Tree != nil, "a hash tree: it needs snapshots of two peers at one state point at which they differ"},
		{v.Map != nil, lacksMap(v.Report)},
		{len(v.Causes) > 0, "a cause: nothing shows one, and nothing that differs looks enough like a class of mistakes"},
		{v.Time.has("cascade"), "a cascade: it needs traces, or several snapshots, of two peers after they diverged"},
		{v.Inputs != nil, "a comparison of inputs: it needs the order logs of two peers"},
	} {
		if !p.has {
			out = append(out, p.text)
		}
	}
	return out
}

// lacksMap describes why there is no map.
func lacksMap(r *document.Report) string {
	if r.Compared == nil || len(r.Compared.Entities) == 0 {
		return "a map: it needs states of two peers in which something differs that has a position"
	}
	e := &r.Compared.Entities[0]
	if len(r.Compared.Entities) == 1 {
		return fmt.Sprintf("a map: %s is what differs, and the states give no position of it", e.Title())
	}
	return fmt.Sprintf("a map: the states give no position of what differs (%s and %d more)", e.Title(), len(r.Compared.Entities)-1)
}

// contents lists the sections that the page has.
func (v *view) contents() []section {
	var out []section
	add := func(has bool, id, title string) {
		if has {
			out = append(out, section{id, title})
		}
	}
	add(true, "verdict", "Verdict")
	add(v.GameLogs != nil && len(v.GameLogs.Lines) > 0, "gamelogs", "Games' own logs")
	add(len(v.Ladder) > 0, "ladder", "Narrowing")
	add(v.Code != nil, "code", "Line of code")
	add(v.First != nil, "first", "First difference")
	add(v.Locus != nil, "locus", "What differs")
	add(v.Time != nil, "timeline", "Timeline")
	add(v.Time.has("heat"), "heat", "Heat map")
	add(v.Time.has("cascade"), "cascade", "Cascade")
	add(v.Tree != nil, "tree", "Hash tree")
	add(v.Map != nil, "map", "Map")
	add(len(v.Causes)+len(v.Experiments) > 0, "causes", "Cause")
	add(v.Inputs != nil || len(v.Orders) > 0, "inputs", "Inputs and orders")
	add(len(v.Who) > 0, "peers", "Peers")
	add(v.evidence(), "evidence", "Evidence")
	add(len(v.Next) > 0 || len(v.Ask) > 0, "next", "Next steps")
	add(len(v.Fingerprints) > 0, "fingerprint", "Fingerprint")
	return out
}

func (v *view) evidence() bool {
	return len(v.Contradictions)+len(v.Missing)+len(v.Notes)+len(v.Warnings)+len(v.Claims)+len(v.Facts)+len(v.Absent) > 0
}

// lit reports whether an order differs, or names what does.
func (o orderRow) lit() bool { return o.Difference != "" || o.Names != "" }

// litOrders reports whether an order around the divergence differs, or names what does.
func (v *view) litOrders() bool { return slices.ContainsFunc(v.Orders, orderRow.lit) }

// has reports whether the page has a section.
func (v *view) has(id string) bool {
	return slices.ContainsFunc(v.Sections, func(s section) bool { return s.ID == id })
}
