package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/peers"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/report/words"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Triage looks at all that the peers of a session left and reports what happened. With a simulator it finds who is
// wrong, and makes experiments that show the cause. Progress, if not nil, is called with the bytes that are read of
// order logs and traces, and of all.
func Triage(s *bundle.Session, builds Builds, progress func(done, total int64)) (*document.Report, error) {
	c, err := Conclude(s, builds, progress)
	if err != nil {
		return alone(s, err)
	}
	return words.Report(c), nil
}

// Conclude is Triage before it is put into words. An error of evidence that is of fewer than
// two peers is an bundle.AloneError.
func Conclude(s *bundle.Session, builds Builds, progress func(done, total int64)) (*verdict.Conclusion, error) {
	g := &gatherer{s: s, builds: builds, progress: progress, spread: true}
	g.e.Ask = func() string {
		c, err := bundle.Examine(s, nil)
		if err != nil {
			return ""
		}
		return c.Ask
	}
	g.e.Given = s.Given()
	g.e.Engine, g.e.Replayer = s.Engine(), s.Replayer()
	defer g.Close()
	err := g.compare()
	if errors.As(err, new(*bundle.AloneError)) && (builds.Witness != nil || builds.Sim != nil) {
		play := g.withReplay
		if builds.Sim != nil {
			play = g.withComputed
		}
		pair, err := play(err)
		if err != nil {
			return nil, err
		}
		defer pair.Close()
		return pair.rest()
	}
	if err != nil {
		return nil, err
	}
	if err := g.witnessed(); err != nil {
		return nil, err
	}
	pair, err := g.departing()
	if err != nil {
		return nil, err
	}
	if pair != nil {
		defer pair.Close()
		return pair.rest()
	}
	return g.rest()
}

// rest gathers what a report shows in addition to the comparisons, and concludes.
func (g *gatherer) rest() (*verdict.Conclusion, error) {
	if err := g.before(); err != nil {
		return nil, err
	}
	g.check()
	g.ends()
	g.left()
	g.names()
	names := map[string]string{}
	for _, p := range g.s.Peers() {
		for _, info := range g.e.Bisect.Peers {
			for _, f := range p.Files {
				if info.Path == p.Path {
					names[f.Path] = info.Name
				}
			}
		}
	}
	hear(&g.e, g.s, names)
	g.gameLogs()
	g.stated()
	g.heat()
	if err := g.positions(); err != nil {
		g.e.Lost = append(g.e.Lost, err.Error())
	}
	return verdict.Conclude(g.e)
}

// hear takes what games wrote of desyncs; names are the owners of the files, by path, if they are known.
func hear(e *verdict.Evidence, s *bundle.Session, names map[string]string) {
	if e.Accounts = s.Accounts(names); len(e.Accounts) > 0 {
		e.Leaves, e.More = s.Leaves(e.Accounts[0].Engine)
	}
}

// before compares the states of the two peers at the good end of the bracket: their caches may differ already.
func (g *gatherer) before() error {
	p := g.e.Parted
	if p == nil || g.e.Bisect.Bracket == nil || g.e.Bisect.Bracket.Good == nil {
		return nil
	}
	var at *snapshot.Point // the last at or before the good end that both have
	for _, e := range g.of(p.Names[0]).Entries {
		if e.Point.Compare(*g.e.Bisect.Bracket.Good) <= 0 && g.of(p.Names[1]).At(e.Point) != nil {
			at = &e.Point
		}
	}
	if at == nil {
		return nil
	}
	entries := [2]*snapshot.Entry{g.of(p.Names[0]).At(*at), g.of(p.Names[1]).At(*at)}
	a, errA := entries[0].Open()
	b, errB := entries[1].OpenLike(entries[0])
	for _, s := range []snapshot.State{a, b} {
		if s != nil {
			defer s.Close()
		}
	}
	if errA != nil || errB != nil {
		return nil // bisect has reported that they are lost
	}
	g.verify(entries[:]...)
	d, err := snapshot.Compare(a, b, snapshot.DiffOptions{Limit: 16})
	if err != nil {
		g.e.Lost = append(g.e.Lost, err.Error())
		return nil
	}
	g.e.Before = d
	return nil
}

// of returns the snapshots of a peer.
func (g *gatherer) of(name string) *snapshot.Set {
	for _, p := range g.e.Bisect.Peers {
		if p.Name == name && p.States != nil {
			return p.States
		}
	}
	return &snapshot.Set{}
}

// ends verifies the snapshots that were read whole, since the answer rests on them.
func (g *gatherer) ends() {
	for _, at := range g.e.Bisect.Content {
		for _, s := range g.sets() {
			if e := s.set.At(at); e != nil {
				g.verify(e)
			}
		}
	}
}

// verify computes the hashes of our own snapshots again from their content, unless that was done.
func (g *gatherer) verify(entries ...*snapshot.Entry) {
	for i, e := range entries {
		if e == nil || !e.Checksummed() || slices.Contains(g.e.Checked, e.Path()) {
			continue
		}
		if err := e.Check(entries[max(i-1, 0)]); err != nil {
			g.e.Contradictions = append(g.e.Contradictions, fmt.Sprintf("the hashes of %s do not match its content: %v", e.Path(), err))
			continue
		}
		g.e.Checked = append(g.e.Checked, e.Path())
	}
}

// check compares the hashes of the states that differ, and of the peers' own reports, with their content.
func (g *gatherer) check() {
	if p := g.e.Parted; p != nil {
		for i, name := range p.Names {
			p.Paths[i] = g.of(name).Path
		}
		g.verify(g.of(p.Names[0]).At(p.States[0].Info().Point), g.of(p.Names[1]).At(p.States[1].Info().Point))
	}
	texts, held, lost := g.s.Contradictions()
	g.e.Contradictions, g.e.Chains, g.e.Lost = append(g.e.Contradictions, texts...), held, append(g.e.Lost, lost...)
	for _, path := range g.s.PeerReports() {
		saved, err := g.s.ReadReport(path)
		if err != nil {
			g.e.Lost = append(g.e.Lost, err.Error())
			continue
		}
		r, ok := saved.(*peers.Report)
		if !ok {
			continue
		}
		if g.e.Detected == nil || r.Tick < *g.e.Detected {
			g.e.Detected = &r.Tick
		}
		for _, c := range r.Contradictions() {
			g.e.Contradictions = append(g.e.Contradictions, path+": "+c)
		}
		g.checkReport(path, r)
	}
}

// checkReport compares a peer's report with the state that the peer left.
func (g *gatherer) checkReport(path string, r *peers.Report) {
	e := g.of(r.Peer).At(r.Point())
	if e == nil {
		return
	}
	s, err := e.Open()
	if s != nil {
		defer s.Close()
	}
	if err != nil {
		return // bisect has said that it is lost
	}
	for _, c := range r.Check(s.Info()) {
		g.e.Contradictions = append(g.e.Contradictions, path+": "+c)
	}
	g.e.Checked = append(g.e.Checked, path)
}

// left gathers the files and facts of each peer.
func (g *gatherer) left() {
	facts := map[string]map[string]string{}
	for _, info := range g.e.Bisect.Peers {
		l := verdict.Left{TimelinePeer: document.TimelinePeer{Name: info.Name, Snapshots: []uint64{}}, Log: info.Log}
		set := g.of(info.Name)
		for _, e := range set.Entries {
			l.Snapshots = append(l.Snapshots, e.Point.Tick)
			if e.Seed != 0 || e.Format == nil || e.Format.Name == "snap" {
				g.e.Session.Seed = fmt.Sprintf("%016x", e.Seed)
			}
		}
		l.Snapshots, l.Thinned = thin(l.Snapshots)
		if s := g.logOf(info.Name); s != nil {
			l.Log = true
			l.Hashes, l.Marks = s.logSummary.hashes(), s.marks
			addFacts(facts, info.Name, s.header.Build, s.header.Params)
			addFact(facts, info.Name, bundle.TickRate, s.header.TickRate.String())
			g.about(&s.header, s.dialect)
		}
		for _, t := range slices.Concat(g.e.Bisect.Traces, g.e.Traces) {
			for _, i := range t.Traces {
				if i.Name == info.Name && !i.Empty {
					addFacts(facts, info.Name, i.Header.Build, i.Header.Meta)
					addFact(facts, info.Name, bundle.TickRate, orderlog.Rate{Num: i.Header.RateNum, Den: i.Header.RateDen}.String())
					l.Trace = &document.TimelineSpan{First: i.First.Number, Last: i.Last.Number, Count: i.Last.Number - i.First.Number + 1}
				}
			}
		}
		if meta := g.meta(info.Name, set); meta != nil {
			addFacts(facts, info.Name, "", meta)
		}
		g.e.Peers = append(g.e.Peers, l)
	}
	if g.e.Session.Game == "" {
		g.e.Session.Game = g.s.Game()
	}
	g.e.LikelyNoise, g.e.OnlyNoise = g.s.LikelyNoise(), g.s.OnlyNoise()
	g.e.Session.Tables, g.e.Session.KnownBy = g.s.Tables(), g.s.KnownBy()
	g.sameBins()
	g.around()
	g.facts(facts)
}

// about takes the session's data from a log's header.
func (g *gatherer) about(h *orderlog.Header, d orderlog.Dialect) {
	s := &g.e.Session
	if d.TickName != nil {
		g.tickName = d.TickName
	}
	if d.Engine != "" {
		s.Game = d.Engine
	} else if sim := h.Params["sim"]; sim != "" {
		s.Game = sim
	}
	if s.Build == "" { // the build of the first; where others differ, Facts has them all
		s.Build = h.Build
	}
	if h.TickRate.Den > 0 && s.TickRate == 0 {
		s.TickRate = float64(h.TickRate.Num) / float64(h.TickRate.Den)
	}
	if s.Seed == "" && h.Seed != 0 {
		s.Seed = fmt.Sprintf("%016x", h.Seed)
	}
}

// names finds the engine's own names of state points and ticks: first the names in files, else the names in logs and
// traces.
func (g *gatherer) names() {
	points := map[uint64]string{}
	for _, p := range g.e.Bisect.Peers {
		for _, e := range g.of(p.Name).Entries {
			if e.Point.Native != "" {
				points[e.Point.Tick] = e.Point.Words()
			}
		}
	}
	if b := g.e.Bisect.Bracket; b != nil {
		for _, p := range []*snapshot.Point{b.Good, &b.Bad} {
			if p != nil && p.Native != "" {
				points[p.Tick] = p.Words()
			}
		}
	}
	g.e.PointName = func(n uint64) string { return points[n] }
	g.e.TickName = func(n uint64) string {
		if g.tickName != nil {
			return g.tickName(n)
		}
		for _, t := range g.e.Traces {
			at := tracediff.Tick{Number: n}
			if t.First != nil && t.Dialect().Match != nil {
				at.Epoch = t.First.Tick.Epoch
			}
			if name := t.NativeName(at); name != "" {
				return name
			}
		}
		return ""
	}
}

// meta returns the metadata of a peer in its first state in our format, or in one that is open.
func (g *gatherer) meta(name string, set *snapshot.Set) map[string]string {
	if p := g.e.Parted; p != nil {
		for i, s := range p.States {
			if p.Names[i] == name {
				return s.Info().Meta
			}
		}
	}
	for _, e := range set.Entries {
		if e.Format == nil || !e.Format.Checksummed {
			return nil
		}
		if info, err := e.Info(); err == nil {
			return info.Meta
		}
	}
	return nil
}

// addFacts adds what a file contains about a peer.
func addFacts(facts map[string]map[string]string, peer, build string, meta map[string]string) {
	addFact(facts, peer, "build", build)
	for name, value := range meta {
		if bundle.OfGame(name) || bundle.OfMachine(name) {
			addFact(facts, peer, name, value)
		}
	}
}

// addFact adds one; of a fact that two files state the order log's counts.
func addFact(facts map[string]map[string]string, peer, name, value string) {
	if facts[peer] == nil {
		facts[peer] = map[string]string{}
	}
	if _, known := facts[peer][name]; value != "" && !known {
		facts[peer][name] = value
	}
}

// facts keeps what the peers' files contain about the game and their machines.
func (g *gatherer) facts(all map[string]map[string]string) {
	for peer, list := range all {
		for name, value := range list {
			g.said.Say(peer, name, value, bundle.MustMatch(name))
		}
	}
	for _, f := range g.said.Facts(nil) {
		if len(f.Values) > 1 {
			g.e.Facts = append(g.e.Facts, f)
		}
	}
	lists.SortStable(g.e.Facts, func(a, b document.Fact) int { return cmp.Compare(a.Name, b.Name) })
}

// maxPoints is how many snapshots of a peer a timeline lists.
const maxPoints = 400

// thin leaves at most maxPoints numbers, evenly.
func thin(points []uint64) ([]uint64, bool) {
	if len(points) <= maxPoints {
		return points, false
	}
	out := make([]uint64, 0, maxPoints)
	for i := range maxPoints {
		out = append(out, points[i*(len(points)-1)/(maxPoints-1)])
	}
	return out, true
}
