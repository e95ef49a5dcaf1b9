package narrow

import (
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/evidence"
)

// alone reports evidence that cannot be compared with any other; why says so.
func alone(s *evidence.Session, why error) (*report.Report, error) {
	if !errors.As(why, new(*evidence.AloneError)) {
		return nil, why
	}
	c, err := evidence.Examine(s, nil)
	if err != nil || len(c.Peers) == 0 {
		return nil, why
	}
	r := &report.Report{
		Head:    report.NewHead("triage", report.Inconclusive, append(c.Warnings, s.Warnings()...)),
		Verdict: []string{"Nothing can be compared: there is evidence of one peer only."}, Ask: c.Ask,
		Peers: []report.TriagedPeer{}, Ladder: []report.Rung{}, Locus: []report.LocusField{}, Causes: []report.Cause{},
		Cascade: []report.CascadeDocument{}, Orders: []report.TriagedOrder{}, Contradictions: []string{}, Missing: []string{}, Notes: []string{},
		Next: []string{"send the text below to the players"}, Of: []report.Trait{},
	}
	if n := len(c.Peers); n > 1 {
		r.Verdict[0] = fmt.Sprintf("Nothing can be compared: the evidence of %d peers has nothing in common.", n)
	}
	if len(c.Peers) == 1 {
		r.Verdict[0] = fmt.Sprintf("Nothing can be compared: there is evidence of one peer only, %s.", c.Peers[0].Name)
	}
	for _, p := range c.Peers {
		t := report.TriagedPeer{Name: p.Name}
		for _, x := range p.Covers {
			switch x.What {
			case "states":
				t.Snapshots = int(x.Count)
			case "orders":
				t.OrderLog = true
			case "checkpoints":
				t.Trace = true
			}
		}
		r.Peers = append(r.Peers, t)
	}
	r.Missing = append(r.Missing, c.Lost...)
	for _, step := range c.Steps {
		state := report.RungOpen
		if step.Can {
			state = report.RungFound
		}
		r.Ladder = append(r.Ladder, report.Rung{Step: step.Step, State: state, Found: map[bool]string{true: "possible", false: "not possible"}[step.Can], Evidence: step.Why})
	}
	return r, nil
}
