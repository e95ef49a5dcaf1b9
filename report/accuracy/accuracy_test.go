package accuracy_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/sample"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/accuracy"
	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/report/narrow"
	"github.com/desynctool/desynctool/report/playbook"
)

func narrowed(dirs []string) (*playbook.Conclusion, error) {
	s, err := evidence.OpenPaths(dirs...)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return narrow.Narrow(s, refsim.Simulator())
}

// triage reports only from what the sessions left, without a simulator.
func triage(dirs []string) (*report.Report, error) {
	s, err := evidence.OpenPaths(dirs...)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return narrow.Triage(s, nil, nil)
}

// cheap makes sessions small that are what few of the sample are: with more than three
// peers, with traces of columns, with many entities.
func cheap(list []accuracy.Session) []accuracy.Session {
	for i := range list {
		s := &list[i]
		s.Peers, s.Entities = min(s.Peers, 3), min(s.Entities, 300)
		if s.Trace == session.TraceColumn && i > 0 {
			s.Trace = session.TraceSystem
		}
	}
	return list
}

// TestSample measures some sessions of every fault, and some clean ones. The command in
// docs/accuracy.md measures many more. Of the causes that the evidence shows nine of ten have
// to be in the first group; everything else has to be right.
func TestSample(t *testing.T) {
	faults := len(refsim.Faults())
	faulty := accuracy.Faulty(2 * faults)
	clean := accuracy.Clean(sample.Of(4, 12))
	if !sample.Full() {
		faulty = cheap(faulty[:faults])
		clean = cheap(clean)
	}
	scores, err := accuracy.Run(append(faulty, clean...), func(int) string { return t.TempDir() }, accuracy.Measured{Narrow: narrowed, Triage: triage}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range accuracy.Short(scores) {
		if !strings.Contains(line, ": cause is ") {
			t.Error(line)
		}
	}
	n := accuracy.Count(scores[:len(faulty)], func(*accuracy.Score) bool { return true })
	causes := n.Marks[accuracy.WhichCause]
	if right, wrong := causes[accuracy.Exact], causes[accuracy.Wrong]+causes[accuracy.Missed]; right < 9*wrong || right < len(faulty)/3 {
		t.Errorf("the cause is in the first group of %d reports, and not in that of %d", right, wrong)
	}
	if n.Bit*10 < n.Sessions*9 {
		t.Errorf("%d of %d mistakes showed", n.Bit, n.Sessions)
	}
	for _, q := range accuracy.Questions() {
		if n.Marks[q][accuracy.Exact] < n.Sessions/4 {
			t.Errorf("%s: %v: the sample asks too little", q, n.Marks[q])
		}
	}
}

// TestShuffledNames checks that nothing is known by its name: in sessions where names are
// swapped, traced to the archetypes or columns, logs, snapshots, traces and replays give the same names
// as the truth does.
func TestShuffledNames(t *testing.T) {
	faults := len(refsim.Faults())
	list := accuracy.Faulty(2 * faults)
	if !sample.Full() { // half of the faults; TestSample shuffles the names of others
		list = list[faults/2 : faults]
	}
	for i := range list {
		list[i].Shuffled, list[i].Peers, list[i].Entities = true, 2, 200
		list[i].Trace, list[i].Lack = session.TraceArchetype, accuracy.Nothing
		if i%sample.Of(12, 6) == 0 { // these take long to write and to read
			list[i].Trace = session.TraceColumn
		}
	}
	scores, err := accuracy.Run(list, func(int) string { return t.TempDir() }, accuracy.Measured{Narrow: narrowed}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range accuracy.Short(scores) {
		t.Error(line)
	}
	n := accuracy.Count(scores, func(*accuracy.Score) bool { return true })
	for _, q := range accuracy.Questions() {
		if n.Marks[q][accuracy.Exact] < n.Bit/2 {
			t.Errorf("%s: of %d sessions %v: the sample asks too little", q, n.Bit, n.Marks[q])
		}
	}
}

// TestCauses compares made-up reports on real sessions with what happened.
func TestCauses(t *testing.T) {
	causes := func(groups ...int) func([]string) (*report.Report, error) {
		names := []string{"bit-flip", "stale-cache", "float", "locale"}
		return func([]string) (*report.Report, error) {
			r := new(report.Report)
			for i, g := range groups {
				r.Causes = append(r.Causes, report.Cause{Class: names[i], Group: g})
			}
			return r, nil
		}
	}
	flip := accuracy.Session{Seed: 3, Fault: "bit-flip/Combat@40", Peers: 2, Entities: 200, Trace: session.TraceSystem, Shuffled: true}
	stale := flip
	stale.Fault = "stale-cache/PathCost@40"
	blurred := flip
	blurred.Lack = accuracy.StateGone
	for _, c := range []struct {
		of   accuracy.Session
		says func([]string) (*report.Report, error)
		mark accuracy.Mark
		want accuracy.CauseScore
	}{
		{flip, causes(1, 2), accuracy.Exact, accuracy.CauseScore{Truth: "bit-flip", First: []string{"bit-flip"}, Right: true, Held: true}},
		{flip, causes(1, 1, 1), accuracy.Exact, accuracy.CauseScore{Truth: "bit-flip", First: []string{"bit-flip", "stale-cache", "float"}, Right: true, Held: true}},
		{flip, causes(1, 1, 1, 1), accuracy.Wrong, accuracy.CauseScore{Truth: "bit-flip", First: []string{"bit-flip", "stale-cache", "float", "locale"}, Held: true}},
		{flip, causes(), accuracy.Missed, accuracy.CauseScore{Truth: "bit-flip", Held: true}},
		{stale, causes(1, 2), accuracy.Wrong, accuracy.CauseScore{Truth: "stale-cache", First: []string{"bit-flip"}, Held: true}},
		{blurred, causes(1), accuracy.Unknown, accuracy.CauseScore{Truth: "bit-flip", First: []string{"bit-flip"}, Right: true}},
	} {
		score, err := accuracy.Measure(c.of, t.TempDir(), accuracy.Measured{Narrow: narrowed, Triage: c.says})
		if err != nil {
			t.Fatal(err)
		}
		if !score.Bit || score.Cause == nil {
			t.Fatalf("%s: the mistake did not show", c.of)
		}
		if !reflect.DeepEqual(*score.Cause, c.want) || score.Marks[accuracy.WhichCause] != c.mark {
			t.Errorf("%s: scored %+v, %s, expected %+v, %s", c.of, *score.Cause, score.Marks[accuracy.WhichCause], c.want, c.mark)
		}
		if score.Marks[accuracy.WhichLocus] != accuracy.Missed {
			t.Errorf("%s: a report without a place is %s", c.of, score.Marks[accuracy.WhichLocus])
		}
	}
}
