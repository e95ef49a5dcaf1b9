package evidence

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/evidence/archive"
	"github.com/desynctool/desynctool/report/formats"
)

// Triage looks at all evidence below some paths and reports what happened. With a simulator
// it says who is wrong. Where evidence is lacking it also says what to ask the players for;
// evidence of one peer alone is inconclusive.
func Triage(tree *archive.Tree, paths []string, sim *bisect.Sim, progress func(done, total int64)) (*report.Report, error) {
	r, err := formats.Triage(tree, paths, sim, progress)
	if errors.Is(err, formats.ErrFewPeers) {
		if within, beside := folders(tree, paths); len(within) > 1 {
			again, errAgain := formats.Triage(tree, within, sim, progress)
			if errAgain == nil {
				r, err = again, nil
				r.Warnings = append(r.Warnings, fmt.Sprintf("left out, since it stands beside the peers' folders and not in one: %s", strings.Join(beside, ", ")))
			}
		}
	}
	if err != nil && !errors.Is(err, formats.ErrFewPeers) {
		return nil, tree.Explain(err)
	}
	if err != nil {
		c, examined := Examine(tree, paths, nil)
		if examined != nil || len(c.Peers) == 0 {
			return nil, tree.Explain(err)
		}
		return alone(tree, c), nil
	}
	r.Warnings = append(r.Warnings, tree.Warnings()...)
	for _, lost := range tree.Lost() {
		if !slices.Contains(r.Missing, lost) {
			r.Missing = append(r.Missing, lost)
		}
	}
	if len(r.Missing) == 0 {
		return r, nil
	}
	if r.Status == report.InSync {
		r.Status = report.Inconclusive
	}
	if r.FirstDivergence == nil || r.FirstDivergence.Tick == nil {
		if c, err := Examine(tree, paths, nil); err == nil {
			r.Ask = c.Ask
		}
	}
	return r, nil
}

// folders returns the folders in the only path, and the files beside them, which may make the
// whole look like what one peer left.
func folders(tree *archive.Tree, paths []string) (within, beside []string) {
	if len(paths) != 1 {
		return nil, nil
	}
	names, err := tree.Names(paths[0])
	if err != nil {
		return nil, nil
	}
	slices.Sort(names)
	for _, name := range names {
		path := filepath.Join(paths[0], name)
		if stat, err := tree.Stat(path); err == nil && stat.IsDir() {
			within = append(within, path)
		} else {
			beside = append(beside, path)
		}
	}
	return within, beside
}

// alone reports evidence that cannot be compared with any other.
func alone(tree *archive.Tree, c *report.Checkup) *report.Report {
	r := &report.Report{
		Head:    report.NewHead("triage", report.Inconclusive, append(c.Warnings, tree.Warnings()...)),
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
	r.Missing = append(append(r.Missing, c.Lost...), tree.Lost()...)
	for _, s := range c.Steps {
		state := report.RungOpen
		if s.Can {
			state = report.RungFound
		}
		r.Ladder = append(r.Ladder, report.Rung{Step: s.Step, State: state, Found: map[bool]string{true: "possible", false: "not possible"}[s.Can], Evidence: s.Why})
	}
	return r
}
