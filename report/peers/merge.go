package peers

import (
	"cmp"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Limits on what a Merged lists.
const (
	mergedValues = 100 // values of each archetype
	mergedOrders = 100
	mergedTexts  = 100 // contradictions
)

// Merge combines the reports of a session's peers. The names are the files' names. Reports of different sessions are an
// error.
func Merge(reports []*Report, names []string) (*Merged, error) {
	m := &merger{doc: &Merged{Peers: []Peer{}, Points: []Point{}, Orders: []Order{}}}
	for i, r := range reports {
		if r.Seed != reports[0].Seed {
			return nil, fmt.Errorf("%s has seed %s, %s has seed %s: reports of different sessions", names[0], reports[0].Seed, names[i], r.Seed)
		}
		if err := r.open(names[i]); err != nil {
			return nil, err
		}
	}
	if len(reports) > 0 {
		m.doc.Seed = reports[0].Seed
	}
	m.take(reports, names)
	if err := m.points(); err != nil {
		return nil, err
	}
	m.orders()
	m.finish()
	return m.doc, nil
}

// merger makes a Merged.
type merger struct {
	doc     *Merged
	reports []*Report
	names   []string // the peer of each, several times where it reported several points

	warnings, contradictions, missing, notes []string
}

// take names the peers and leaves out reports that are given twice. Reports belong to one peer if they have the same
// name and player, unless they have two states of one point.
func (m *merger) take(reports []*Report, files []string) {
	type identity struct {
		peer   string
		player int
		other  int // 0, or how many peers before it give the same name and player
		file   string
	}
	type moment struct {
		identity
		tick  uint64
		phase string
	}
	states := map[moment]string{}
	var order, kept []identity
	var said, paths []string
	for i, r := range reports {
		who := identity{peer: r.Peer, player: r.Player}
		if r.Peer == "" {
			who = identity{file: files[i]}
		}
		state, seen := states[moment{who, r.Tick, r.Phase}]
		for ; seen && !sameHash(state, r.StateHash); state, seen = states[moment{who, r.Tick, r.Phase}] {
			who.other++
		}
		if seen {
			m.warnings = append(m.warnings, fmt.Sprintf("%s: the report of %s at state point %s is there twice", prose.Path(files[i]), prose.Name(r.Peer), named(r.Point())))
			continue
		}
		if who.other > 0 {
			m.warnings = append(m.warnings, fmt.Sprintf("%s: another report is also of %s, player %d, and has another state: taken for another peer", prose.Path(files[i]), prose.Name(r.Peer), r.Player))
		}
		states[moment{who, r.Tick, r.Phase}] = r.StateHash
		if !slices.Contains(order, who) {
			order, said, paths = append(order, who), append(said, r.Peer), append(paths, files[i])
		}
		kept, m.reports = append(kept, who), append(m.reports, r)
		m.doc.Peers = append(m.doc.Peers, Peer{Player: r.Player, File: files[i], Point: r.Tick, Phase: r.Phase, Native: r.Native, StateHash: r.StateHash})
	}
	names := snapshot.PeerNames(said, paths)
	for i, who := range kept {
		name := names[slices.Index(order, who)]
		m.names = append(m.names, name)
		m.doc.Peers[i].Name = name
		for _, text := range m.reports[i].Contradictions() {
			m.contradictions = append(m.contradictions, name+": "+text)
		}
	}
}

// points compares the reports of each state point.
func (m *merger) points() error {
	var points []snapshot.Point
	at := map[snapshot.Point][]int{}
	for i, r := range m.reports {
		p := snapshot.Point{Tick: r.Tick, Phase: r.Phase}
		if at[p] == nil {
			points = append(points, p)
		}
		at[p] = append(at[p], i)
	}
	lists.SortStable(points, snapshot.Point.Compare)
	for _, p := range points {
		list := at[p]
		if len(list) > 1 {
			if err := m.point(list); err != nil {
				return err
			}
			continue
		}
		if len(m.reports) > 1 {
			m.notes = append(m.notes, fmt.Sprintf("%s reports state point %s, no other peer does: its state is not compared", prose.Name(m.names[list[0]]), named(m.reports[list[0]].Point())))
		}
	}
	return nil
}

// groups returns which of some reports have the same hash, given by hash; those without one are in no group. A sync
// hash belongs to the state hash that it begins, the first one if there are several; shared reports that case.
func groups(list []int, hash func(i int) (string, bool)) (out [][]int, shared bool) {
	type group struct {
		hash string
		list []int
	}
	var found []group
	// Long hashes first: they are unambiguous.
	for _, short := range []bool{false, true} {
		for _, i := range list {
			h, ok := hash(i)
			if !ok || (len(h) == 2*merkle.ShortSize) != short {
				continue
			}
			fits := 0
			for k := range found {
				if sameHash(found[k].hash, h) {
					if fits++; fits == 1 {
						found[k].list = append(found[k].list, i)
					}
				}
			}
			if fits == 0 {
				found = append(found, group{h, []int{i}})
			}
		}
	}
	for i := range found {
		for k := range i {
			shared = shared || found[i].hash[:2*merkle.ShortSize] == found[k].hash[:2*merkle.ShortSize]
		}
		slices.Sort(found[i].list)
		out = append(out, found[i].list)
	}
	lists.SortStable(out, func(a, b []int) int { return cmp.Compare(a[0], b[0]) })
	return out, shared
}

// named returns the names of the peers of reports.
func (m *merger) named(list []int) []string {
	out := make([]string, len(list))
	for i, r := range list {
		out[i] = m.names[r]
	}
	return out
}

func (m *merger) namedGroups(list [][]int) [][]string {
	out := make([][]string, len(list))
	for i, g := range list {
		out[i] = m.named(g)
	}
	return out
}

// majority returns the number of the largest group, from 1, or 0.
func majority(groups [][]int) int {
	best, most := 0, 0
	for i, g := range groups {
		switch {
		case len(g) > most:
			best, most = i+1, len(g)
		case len(g) == most:
			best = 0
		}
	}
	return best
}

// leaf returns the hash of an archetype in a report: the hash of its node or, if the report has no tree, of the content
// that it includes.
func (m *merger) leaf(i int, label string) (string, bool) {
	r := m.reports[i]
	if len(r.Nodes) > 0 {
		return r.node(label)
	}
	if label == "" {
		state, err := hex.DecodeString(r.RNGState)
		return merkle.RNGLeaf(state).String(), err == nil && len(state) > 0
	}
	w, ok := r.worlds[label]
	if !ok {
		return "", false
	}
	return w.info.Tables[0].Hash.String(), true
}

// point compares the reports of one state point.
func (m *merger) point(list []int) error {
	first := m.reports[list[0]]
	byState, shared := groups(list, func(i int) (string, bool) { return m.reports[i].StateHash, true })
	p := Point{
		Point: first.Tick, Phase: first.Phase, Native: first.Native, Groups: m.namedGroups(byState), Majority: majority(byState),
		Archetypes: []Leaf{}, Differences: []Difference{},
	}
	for g, members := range byState {
		for _, i := range members {
			m.doc.Peers[i].Group = g + 1
		}
	}
	if shared {
		m.contradictions = append(m.contradictions, fmt.Sprintf("state point %s: different state hashes begin with the same 8 bytes, so that a sync hash would not tell them apart", named(first.Point())))
	}
	labels := map[string]bool{}
	for _, i := range list {
		r := m.reports[i]
		for _, n := range r.Nodes {
			labels[n[0]] = true
		}
		if len(r.Nodes) > 0 {
			continue
		}
		m.missing = append(m.missing, fmt.Sprintf("%s reports no Merkle nodes of state point %s: which of its archetypes differ is not known", prose.Name(m.names[i]), named(first.Point())))
		for label := range r.worlds {
			labels[label] = true
		}
		if r.RNGState != "" {
			labels[""] = true
		}
	}
	d := &differ{merger: m, pairs: map[[2]int]*snapshot.Diff{}}
	for _, label := range slices.Sorted(maps.Keys(labels)) {
		if err := m.archetype(&p, d, list, label); err != nil {
			return err
		}
	}
	m.judge(list, first.Point(), p.Archetypes)
	p.Differences = d.documents()
	if len(d.lacking) > 0 {
		m.missing = append(m.missing, fmt.Sprintf("no two reports that differ include the content of %s", snapshot.LabelNames(prose.Names(d.lacking))))
	}
	m.doc.Points = append(m.doc.Points, p)
	return nil
}

// archetype compares one archetype of the reports of a point.
func (m *merger) archetype(p *Point, d *differ, list []int, label string) error {
	byLeaf, _ := groups(list, func(i int) (string, bool) { return m.leaf(i, label) })
	a := Leaf{Label: label, Groups: m.namedGroups(byLeaf), Lack: []string{}}
	for _, i := range list {
		if _, ok := m.leaf(i, label); !ok && len(m.reports[i].Nodes) > 0 {
			a.Lack = append(a.Lack, m.names[i])
		}
	}
	if len(byLeaf) < 2 && len(a.Lack) == 0 {
		return nil
	}
	p.Archetypes = append(p.Archetypes, a)
	return d.compare(label, byLeaf)
}

// judge compares the state hashes of one point with the leaves.
func (m *merger) judge(list []int, point snapshot.Point, diverged []Leaf) {
	apart := func(a, b int) string {
		for _, d := range diverged {
			x, hasX := m.leaf(a, d.Label)
			y, hasY := m.leaf(b, d.Label)
			if hasX != hasY || hasX && !sameHash(x, y) {
				return leafName(d.Label)
			}
		}
		return ""
	}
	for n, i := range list {
		for _, k := range list[n+1:] {
			if len(m.reports[i].Nodes) == 0 || len(m.reports[k].Nodes) == 0 {
				continue
			}
			equal := m.doc.Peers[i].Group == m.doc.Peers[k].Group
			where := apart(i, k)
			switch {
			case equal && where != "":
				m.contradictions = append(m.contradictions, fmt.Sprintf("state point %s: %s and %s have the same state hash, and different nodes of %s", named(point), prose.Name(m.names[i]), prose.Name(m.names[k]), prose.Name(where)))
			case !equal && where == "":
				m.contradictions = append(m.contradictions, fmt.Sprintf("state point %s: %s and %s have different state hashes, and the same nodes", named(point), prose.Name(m.names[i]), prose.Name(m.names[k])))
			}
		}
	}
}

// covers returns the ticks whose orders a report has: the ticks that it states, else from its first to its last order.
func (r *Report) covers() *Window {
	if r.Window != nil || len(r.Excerpt) == 0 {
		return r.Window
	}
	w := Window{From: r.Excerpt[0].Tick, To: r.Excerpt[0].Tick}
	for _, o := range r.Excerpt {
		w.From, w.To = min(w.From, o.Tick), max(w.To, o.Tick)
	}
	return &w
}

// orders compares the excerpts of each peer's last report.
func (m *merger) orders() {
	type excerpt struct {
		name   string
		window Window
		count  map[document.ReportedOrder]int
	}
	latest := map[string]int{}
	local := map[string]bool{}
	for i, r := range m.reports {
		if k, ok := latest[m.names[i]]; !ok || r.Point().Compare(m.reports[k].Point()) > 0 {
			latest[m.names[i]] = i
		}
		for _, o := range r.Excerpt {
			local[o.Kind] = local[o.Kind] || o.Local
		}
	}
	var list []excerpt
	most := map[document.ReportedOrder]int{}
	for i, r := range m.reports {
		window := r.covers()
		if latest[m.names[i]] != i || window == nil {
			continue
		}
		x := excerpt{m.names[i], *window, map[document.ReportedOrder]int{}}
		for _, o := range r.Excerpt {
			if local[o.Kind] || o.Tick < window.From || o.Tick > window.To {
				continue
			}
			x.count[o]++
			most[o] = max(most[o], x.count[o])
		}
		list = append(list, x)
	}
	m.doc.OrderWindow = overlap(list, func(x excerpt) Window { return x.window })
	for o, n := range most {
		diff := Order{ReportedOrder: o, Peers: []string{}, Lack: []string{}}
		for _, x := range list {
			switch {
			case o.Tick < x.window.From || o.Tick > x.window.To:
			case x.count[o] == n:
				diff.Peers = append(diff.Peers, x.name)
			default:
				diff.Lack = append(diff.Lack, x.name)
			}
		}
		if len(diff.Peers) > 0 && len(diff.Lack) > 0 {
			m.doc.Orders = append(m.doc.Orders, diff)
		}
	}
	lists.SortStable(m.doc.Orders, func(a, b Order) int {
		return cmp.Or(cmp.Compare(a.Tick, b.Tick), cmp.Compare(a.SubTick, b.SubTick), cmp.Compare(a.Player, b.Player),
			cmp.Compare(a.Sequence, b.Sequence), strings.Compare(a.Kind, b.Kind), strings.Compare(a.Payload, b.Payload))
	})
	if m.doc.OrderCount = len(m.doc.Orders); m.doc.OrderCount > mergedOrders {
		m.doc.Orders = m.doc.Orders[:mergedOrders]
	}
	if m.doc.OrderWindow == nil && len(m.reports) > 1 {
		m.missing = append(m.missing, "no two excerpts of the order logs overlap: whether the inputs differ is not known")
	}
}

// overlap returns from where to where at least two of some windows reach.
func overlap[T any](list []T, window func(T) Window) *Window {
	if len(list) < 2 {
		return nil
	}
	var from, to []uint64
	for _, x := range list {
		w := window(x)
		from, to = append(from, w.From), append(to, w.To)
	}
	slices.Sort(from)
	slices.Sort(to)
	w := Window{from[1], to[len(to)-2]}
	if w.From > w.To {
		return nil
	}
	return &w
}

// finish gives the document its status.
func (m *merger) finish() {
	status := document.Inconclusive
	if len(m.doc.Points) > 0 {
		status = document.InSync
	}
	if m.doc.OrderCount > 0 || slices.ContainsFunc(m.doc.Points, func(p Point) bool { return len(p.Groups) > 1 }) {
		status = document.Diverged
	}
	if status == document.InSync && slices.ContainsFunc(m.reports, func(r *Report) bool { return r.Status == document.Diverged }) {
		status = document.Inconclusive
		m.missing = append(m.missing, "all reports of the same state point agree: the report of a peer with another state is missing")
	}
	peers := map[string]bool{}
	for _, name := range m.names {
		peers[name] = true
	}
	switch {
	case len(peers) < 2:
		m.missing = append(m.missing, "the reports of other peers: there is nothing to compare with")
	case len(m.doc.Points) == 0:
		m.missing = append(m.missing, "reports of the same state point from two peers")
	}
	if n := len(m.contradictions); n > mergedTexts {
		m.contradictions = append(m.contradictions[:mergedTexts], fmt.Sprintf("… and %d more", n-mergedTexts))
	}
	m.doc.Head = document.NewHead("report", status, m.warnings)
	m.doc.Contradictions, m.doc.Missing, m.doc.Notes = list(m.contradictions), list(m.missing), list(m.notes)
}

// named returns the name of a state point for a sentence.
func named(p snapshot.Point) string {
	p.Native = prose.Moment(p.Native)
	return p.String()
}
