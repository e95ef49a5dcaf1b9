package playbook

import (
	"fmt"
	"slices"
)

// traceEnds holds what the peers' traces have at the end of the divergent tick against the
// states that they left there.
func traceEnds(e Evidence, v *Verdict) (checked, contradictions []string) {
	p := e.Parted
	if p == nil || v.within == nil {
		return nil, nil
	}
	for i, s := range p.States {
		info := s.Info()
		end, ok := v.within.Ends[p.Paths[i]]
		if !ok || info.Point.Phase != "" || info.Point.Tick != v.within.Tick+1 {
			continue
		}
		what := fmt.Sprintf("the trace of %s at the end of tick %d", p.Names[i], v.within.Tick)
		if end != info.Root.Short() {
			contradictions = append(contradictions, fmt.Sprintf("%s has %s, the state that it left there has the root %s", what, end, info.Root.Short()))
			continue
		}
		checked = append(checked, what)
	}
	return checked, contradictions
}

// twins finds states that differ though their sync hashes are the same: the first 8 bytes of
// two roots that are not.
func twins(e Evidence) (contradictions []string) {
	if p := e.Parted; p != nil {
		a, b := p.States[0].Info().Root, p.States[1].Info().Root
		if a != b && a.Short() == b.Short() {
			contradictions = append(contradictions, fmt.Sprintf("the sync hashes of %s and %s at state point %s are equal and their roots are not: a collision of the first 8 bytes", p.Names[0], p.Names[1], p.Diff.A.Point))
		}
	}
	return contradictions
}

// unheard returns the peers that parted from others and of whose orders until then nothing is
// known, so that nobody can say whether they were given the same ones.
func unheard(e Evidence, v *Verdict) (peers []string) {
	if v.Bracket == nil || e.Orders == nil {
		return nil
	}
	reach := map[string]bool{}
	for _, p := range e.Orders.Peers {
		n := len(p.Stretches)
		reach[p.Name] = p.Err == nil || n > 0 && p.Stretches[n-1].To+1 >= v.Bracket.Bad.Tick
	}
	for _, group := range e.Bisect.Groups {
		if !slices.ContainsFunc(group, func(name string) bool { return reach[name] }) {
			peers = append(peers, group...)
		}
	}
	return peers
}

// crossCheck adds what the two find.
func crossCheck(e *Evidence, v *Verdict) {
	checked, contradictions := traceEnds(*e, v)
	e.Checked = append(slices.Clone(e.Checked), checked...)
	e.Contradictions = slices.Concat(e.Contradictions, contradictions, twins(*e))
}
