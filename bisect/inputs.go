package bisect

import "slices"

// inputs notes where the replay of a peer's own orders differs from the reference replay because the orders differ. If
// the peer's states differ from the replay of its own orders before that, its log does not contain the orders that it
// was given, and shows nothing about its inputs. A simulator that is not deterministic proves nothing.
func (rep *Replay) inputs(runs []run, parted []*uint64) {
	lender := slices.IndexFunc(runs, func(r run) bool { return r.peer == rep.lender })
	for i := range runs {
		rep.Unsteady = rep.Unsteady || runs[i].unsteady != ""
		p := parted[i]
		if p == nil || runs[i].departsBy(*p) || lender >= 0 && runs[lender].departsBy(*p) {
			continue
		}
		if rep.InputsDiffer == nil || *p < *rep.InputsDiffer {
			rep.InputsDiffer = p
		}
	}
	if !rep.Unsteady {
		return
	}
	rep.InputsDiffer = nil
	for i := range runs {
		runs[i].out = ReplayedPeer{}
	}
}

// departsBy reports whether the peer is known to have had another state than its orders give,
// at a point or before it.
func (r *run) departsBy(point uint64) bool { return r.out.Departs != nil && *r.out.Departs <= point }

// unused notes why there is no replay, after the simulator has been started once: a simulator that cannot replay the
// session is a failure even if no replay is needed.
func (r *Result) unused(sim *Sim, peers []*peer, why string) {
	if sim == nil {
		return
	}
	r.note("no replay: %s", why)
	i := slices.IndexFunc(peers, func(p *peer) bool {
		return p.log != nil && p.log.Open != nil && p.log.Header.FirstPoint == 0 // the log of a late joiner also needs its state
	})
	if i < 0 {
		return
	}
	s, err := sim.Start(&peers[i].log.Header)
	if err == nil {
		err = Close(s)
	}
	if err != nil {
		r.SimFailed = sim.Name + " cannot replay " + peers[i].log.Name + ": " + err.Error()
	}
}
