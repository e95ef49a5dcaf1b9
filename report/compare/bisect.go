// Package compare runs the comparisons that the evidence of a session allows, and narrows a desync down with them: the
// bracket of state points, the tick, the differences there.
package compare

import (
	"errors"
	"slices"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/tracediff"
)

// BisectOptions selects what Bisect does in addition to its search.
type BisectOptions struct {
	// Drill replays peers that depart from Builds.Sim system by system, and compares them with the traces that they
	// left.
	Drill bool
	// Write is a folder for the states at the point at which the peers first differ, as the builds compute them; "" for
	// none.
	Write string
}

// Bisect finds when the peers of a session diverged. It compares their states, and the checksums that engines recorded
// with them; or only the checksums, where no two peers left states. Evidence of fewer than two peers is an
// bundle.AloneError.
func Bisect(s *bundle.Session, builds Builds, opts BisectOptions) (*bisect.Result, error) {
	if opts.Write != "" {
		if err := claim(opts.Write, nil); err != nil {
			return nil, err
		}
	}
	if err := s.Unknown(); err != nil {
		return nil, err
	}
	g := &gatherer{s: s, builds: builds}
	defer g.Close()
	r, err := g.bisectBy(opts)
	if err == nil && !r.Diverged() { // chains show no tick, but damage and contradictions in them are never behind "in sync"
		texts, _, lost := s.Contradictions()
		lost = append(lost, s.LogErrors()...)
		lost = slices.DeleteFunc(lost, func(text string) bool { return slices.Contains(r.Lost, text) })
		r.Contradictions, r.Lost = append(r.Contradictions, texts...), append(r.Lost, lost...)
		if r.Snapshots+r.Recorded+len(r.Traces) == 0 && !slices.ContainsFunc(g.own, (*tracediff.Result).Compares) && r.Prefix == nil && builds.Sim == nil && builds.Witness == nil && !r.Incomplete() {
			r.Lost = append(r.Lost, bisect.LostStates)
		}
	}
	return r, err
}

func (g *gatherer) bisectBy(opts BisectOptions) (*bisect.Result, error) {
	s, builds := g.s, g.builds
	r, err := g.bisected(opts.Drill)
	alone := errors.As(err, new(*bundle.AloneError))
	if alone && !s.Untraced() {
		r, err = byLogs(s, err)
	}
	if err != nil && alone && builds.Sim != nil {
		pair, err := g.withComputed(err)
		if err != nil {
			return nil, err
		}
		defer pair.Close()
		return pair.e.Bisect, pair.write(opts.Write)
	}
	if g.e.Bisect = r; err == nil {
		err = g.write(opts.Write)
	}
	if err != nil && !alone || builds.Witness == nil {
		return r, err
	}
	if other := g.readLogs(); other != nil {
		return nil, other
	}
	if err != nil {
		pair, err := g.withReplay(err)
		if err != nil {
			return nil, err
		}
		defer pair.Close()
		return pair.e.Bisect, nil
	}
	err = g.witnessed()
	r.Warnings = append(r.Warnings, g.e.Warnings...)
	return r, err
}

// byLogs bisects by only the hashes in order logs; why is the reason that nothing else can be used.
func byLogs(s *bundle.Session, why error) (*bisect.Result, error) {
	logs, err := s.Logs(nil)
	if err != nil {
		return nil, why
	}
	defer logs.Close()
	c, err := orderlog.Compare(logs.Named, orderlog.CompareOptions{})
	if err != nil {
		return nil, err
	}
	r := bisect.RunLogs(c)
	r.Lost = slices.Concat(r.Lost, c.Trouble(), logs.Missing, s.Lost())
	if len(r.Lost) == 0 && c.State.First == nil && !hashesCompared(c) {
		r.Lost = append(r.Lost, "no hash of the same state point in two order logs")
	}
	return r, nil
}

// foreignHashes returns the comparison of the logs of engines, in addition to the peers' states, nil if there are none.
// Hashes in our own logs are compared as roots of the states.
func (g *gatherer) foreignHashes() *orderlog.Comparison {
	foreign := slices.ContainsFunc(g.s.LogFiles(), func(f *bundle.File) bool { return f.Format.Name != "order-log" })
	if !foreign {
		return nil
	}
	if g.e.Orders != nil || len(g.logs) > 0 {
		return g.e.Orders
	}
	logs, err := g.s.Logs(nil)
	if err != nil {
		return nil // the code that needs them reports it
	}
	defer logs.Close()
	c, err := orderlog.Compare(logs.Named, orderlog.CompareOptions{})
	if err != nil {
		return nil
	}
	return c
}

// hashesCompared reports whether two logs have a hash of one state point.
func hashesCompared(c *orderlog.Comparison) bool {
	return slices.ContainsFunc(c.State.Hashes, func(h orderlog.HashSummary) bool { return h.Equal+h.Differ > 0 })
}

// bisected is Bisect. The contents of the order logs are known if they were read.
func (g *gatherer) bisected(drill bool) (*bisect.Result, error) {
	s := g.s
	if len(s.Peers()) < 2 {
		return g.byTraces()
	}
	peers, err := s.Compared(g.hashes())
	if err != nil {
		return nil, err
	}
	traces, err := s.Traces(bundle.TraceOptions{Which: bundle.Beside})
	if err != nil {
		return nil, err
	}
	opts := bisect.Options{Sim: g.builds.Sim, Verify: g.builds.Verify, Own: func(needed bool) []*tracediff.Result {
		if needed || g.spread {
			g.ownTraces()
		}
		return g.own
	}}
	if report := g.builds.Progress; report != nil {
		opts.Progress = func(done, total int64) { report("replaying the orders", done, total) }
	}
	if drill {
		of := map[*bisect.Peer]*bundle.Peer{}
		for i, p := range peers {
			of[p] = s.Peers()[i]
		}
		opts.Traced = func(p *bisect.Peer) (bisect.Traced, error) { return s.TraceOf(of[p]) }
	}
	if len(traces.Groups)+len(traces.Claims) > 0 {
		if opts.Traces, err = traces.Compare(tracediff.Options{Context: -1}); err != nil {
			traces.Missing = append(traces.Missing, err.Error())
		}
	}
	r, err := bisect.Run(peers, opts)
	if err != nil {
		return nil, err
	}
	if b := r.Bracket; b != nil {
		r.Notes = append(r.Notes, formats.Unchecked(s.Tree(), slices.Concat(b.GoodFiles, b.BadFiles))...)
	}
	if c := g.foreignHashes(); c != nil {
		r.ByLogs(c)
	}
	r.Lost = append(r.Lost, g.ownLost...)
	if r.Diverged() {
		r.Notes = append(r.Notes, g.ownNotes...)
	}
	g.conclude(r, traces)
	return r, nil
}

// maxWhole is how many bytes of our own traces are read to their end, for healings, later splits, and to see how a
// divergence spreads. Larger ones are read up to where they first differ.
const maxWhole = 64 << 20

// ownTraces compares the traces that the peers left by docs/trace.md.
func (g *gatherer) ownTraces() {
	traces, err := g.s.Traces(bundle.TraceOptions{Which: bundle.Rest})
	if traces == nil {
		if err != nil {
			g.ownLost = append(g.ownLost, err.Error())
		}
		return
	}
	g.ownLost = slices.Concat(g.ownLost, traces.Damaged, traces.Torn())
	if err != nil {
		return // they are fewer than two
	}
	var size int64
	for _, group := range traces.Groups {
		for _, t := range group {
			if stat, err := g.s.Tree().Stat(t.File); err == nil {
				size += stat.Size()
			}
		}
	}
	traces.Claims = nil
	if size > maxWhole {
		g.ownNotes = append(g.ownNotes, "the traces were read up to where they first differ: no healing or later divergence is known from them")
	}
	g.own, err = traces.Compare(tracediff.Options{FirstOnly: size > maxWhole, Context: -1, Limit: 100, Progress: g.advance(size)})
	if err != nil {
		g.ownLost = append(g.ownLost, err.Error())
	}
}

// conclude adds what of the session could not be used. Where nothing differs it also reads the states that were compared
// with none.
func (g *gatherer) conclude(r *bisect.Result, traces *bundle.Traces) {
	s := g.s
	lost, warnings := s.Unused()
	for i, p := range s.Peers() {
		set := p.States
		if i < len(r.Peers) && r.Peers[i].States != nil {
			set = r.Peers[i].States // with the known states
		}
		for _, e := range set.Entries {
			if r.Diverged() {
				break
			}
			err := e.Undamaged()
			if err == nil && g.builds.Verify {
				err = e.Check(nil)
			}
			if err != nil && !slices.Contains(r.Lost, err.Error()) {
				lost = append(lost, err.Error())
			}
		}
	}
	r.Lost = append(r.Lost, traces.Missing...)
	lost = slices.DeleteFunc(lost, func(text string) bool { return slices.Contains(r.Lost, text) }) // traces that cannot be read
	r.Lost = slices.Concat(r.Lost, lost, s.Lost())
	r.Warnings = slices.Concat(r.Warnings, warnings, s.Warnings())
}

// byTraces bisects by only the traces, where fewer than two peers left a state or one of our own logs.
func (g *gatherer) byTraces() (*bisect.Result, error) {
	s := g.s
	traces, err := s.Traces(bundle.TraceOptions{Logs: true})
	if errors.As(err, new(*bundle.AloneError)) {
		return nil, s.Alone()
	}
	if err != nil {
		return nil, err
	}
	results, err := traces.Compare(tracediff.Options{Context: -1})
	if err != nil {
		return nil, err
	}
	r := bisect.RunTraces(results)
	r.Notes = append(r.Notes, traces.Notes...)
	for _, t := range results {
		for i := range t.Noise {
			r.Notes = append(r.Notes, document.NoiseText(&t.Noise[i]))
		}
	}
	for _, p := range s.Peers() {
		r.Lost = slices.Concat(r.Lost, p.States.Warnings.Texts(), p.Lost)
	}
	if len(r.Peers) == 0 { // only what games wrote was there to compare
		r.Peers = left(s)
	}
	g.conclude(r, traces)
	compared := slices.ContainsFunc(results, func(t *tracediff.Result) bool { return len(t.Traces) > 1 })
	if !compared && !stated(results) && !r.Diverged() && !r.Incomplete() {
		r.Lost = append(r.Lost, bisect.LostSums)
	}
	if n := len(traces.Copies); n > 0 {
		r.Notes = append(r.Notes, "left out, since others show the same: "+prose.Count(n, "file", "files"))
	}
	return r, nil
}

// stated reports whether a claim has values of two peers.
func stated(results []*tracediff.Result) bool {
	hasTwo := func(c tracediff.JudgedClaim) bool { return len(c.Values) > 1 }
	return slices.ContainsFunc(results, func(t *tracediff.Result) bool { return slices.ContainsFunc(t.Claims, hasTwo) })
}

// left returns the peers who left states or an order log.
func left(s *bundle.Session) (list []bisect.PeerInfo) {
	for i, name := range s.PeerNames() {
		p := s.Peers()[i]
		list = append(list, bisect.PeerInfo{Name: name, Path: p.Path, Snapshots: len(p.States.Entries), Log: p.Log != nil, States: p.States})
	}
	return list
}
