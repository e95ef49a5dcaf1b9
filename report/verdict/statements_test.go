package verdict

import (
	"fmt"
	"testing"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/tracediff"
)

// table is a comparison of checksums of whole ticks up to one, which part in a tick if it is
// above 0.
func table(last, parts uint64) *tracediff.Result {
	t := &tracediff.Result{Traces: make([]tracediff.TraceInfo, 2), LastCompared: tracediff.Tick{Number: last}}
	if parts > 0 {
		t.First = &tracediff.Difference{Tick: tracediff.Tick{Number: parts}}
		t.Bracket = &tracediff.Bracket{HasGood: true, Good: tracediff.Tick{Number: parts - 1}, Bad: tracediff.Tick{Number: parts}}
	}
	return t
}

// TestStatements compares a game's statement about a tick with each kind of evidence, and several.
func TestStatements(t *testing.T) {
	const said = 610
	point := func(n uint64) *uint64 { return &n }
	type build func(e *Evidence)
	states := func(good, bad uint64) build {
		return func(e *Evidence) { e.Bisect.Bracket, e.Bisect.Kind = partedIn(good, bad).Bisect.Bracket, "state" }
	}
	sums := func(last, parts uint64) build {
		return func(e *Evidence) { e.Bisect.Traces = append(e.Bisect.Traces, table(last, parts)) }
	}
	ours := func(last, parts uint64) build {
		return func(e *Evidence) { e.Traces = append(e.Traces, table(last, parts)) }
	}
	hashes := func(good, bad uint64) build {
		return func(e *Evidence) {
			e.Orders.State.Good = point(good)
			if bad > 0 {
				e.Orders.State.First = &orderlog.HashDifference{Point: bad}
			}
		}
	}
	equal := func(n uint64) build { return func(e *Evidence) { e.Bisect.Equal = point(n) } }
	for _, test := range []struct {
		name string
		has  []build
		want tracediff.Standing
		at   uint64 // the state point that contradicts it
	}{
		{"nothing", nil, tracediff.Unchecked, 0},
		{"states around it", []build{states(600, 630)}, tracediff.Fits, 0},
		{"states of its tick", []build{states(610, 611)}, tracediff.Borne, 0},
		{"states that part before", []build{states(600, 610)}, tracediff.Late, 0},
		{"states that are equal after", []build{states(611, 630)}, tracediff.Contradicted, 611},
		{"states that never part", []build{equal(611)}, tracediff.Contradicted, 611},
		{"states that end before", []build{equal(610)}, tracediff.Unchecked, 0},
		{"a table that parts in its tick", []build{sums(2000, 610)}, tracediff.Borne, 0},
		{"a table that parts before", []build{sums(2000, 609)}, tracediff.Late, 0},
		{"a table that parts later", []build{sums(2000, 611)}, tracediff.Contradicted, 611},
		{"a table that agrees", []build{sums(2000, 0)}, tracediff.Contradicted, 2001},
		{"a table that ends before", []build{sums(609, 0)}, tracediff.Unchecked, 0},
		{"two tables, the second has it", []build{sums(100, 0), sums(2000, 610)}, tracediff.Borne, 0},
		{"a trace of ours", []build{ours(2000, 610)}, tracediff.Borne, 0},
		{"states around it, a table of its tick", []build{states(600, 630), sums(2000, 610)}, tracediff.Borne, 0},
		{"states around it, a table that parts later", []build{states(600, 630), sums(2000, 620)}, tracediff.Contradicted, 620},
		{"states that part before, a blind table", []build{states(600, 605), sums(2000, 0)}, tracediff.Late, 0},
		{"hashes in logs of its tick", []build{hashes(610, 611)}, tracediff.Borne, 0},
		{"hashes in logs before", []build{hashes(500, 600)}, tracediff.Late, 0},
		{"hashes in logs around", []build{hashes(600, 700)}, tracediff.Fits, 0},
		{"hashes in logs that agree later", []build{hashes(700, 0)}, tracediff.Contradicted, 700},
	} {
		for _, from := range []string{"a log of orders", "a trace"} {
			e := inSync()
			e.Orders = &orderlog.Comparison{Verdict: orderlog.InputsEqual, Window: &orderlog.Window{}, Peers: []orderlog.PeerRange{{Name: "client"}, {Name: "host"}}}
			for _, b := range test.has {
				b(&e)
			}
			if from == "a trace" {
				claim := tracediff.JudgedClaim{Claim: tracediff.Claim{Text: "desync", Tick: said, HasTick: true}, Files: []string{"infolog.txt"}, Standing: tracediff.Unchecked}
				if len(e.Bisect.Traces) == 0 {
					e.Bisect.Traces = []*tracediff.Result{{}}
				}
				for _, t := range e.Bisect.Traces { // as they are given to each comparison
					t.Claims = []tracediff.JudgedClaim{claim}
				}
			} else {
				e.Orders.Claims = []orderlog.PeerClaim{{Peer: "client", Kind: orderlog.ClaimDesync, After: said, Text: "desync"}}
			}
			c := conclude(t, e)
			if len(c.Statements) != 1 {
				t.Fatalf("%s, by %s: %d statements", test.name, from, len(c.Statements))
			}
			s := &c.Statements[0]
			if s.Standing != test.want || (s.Equal != nil) != (test.at > 0) || s.Equal != nil && s.Equal.Number != test.at {
				t.Errorf("%s, by %s: %s, equal at %+v, expected %s, %d", test.name, from, s.Standing, s.Equal, test.want, test.at)
			}
			if s.Wrong() != (test.want == tracediff.Contradicted) {
				t.Errorf("%s, by %s: wrong is %v", test.name, from, s.Wrong())
			}
		}
	}
}

// TestOneOfSix: of six claims one is false, and that one is the one that is quoted.
func TestOneOfSix(t *testing.T) {
	for false := range 6 {
		c := &Conclusion{}
		for i := range 6 {
			tick := uint64(600 + i)
			s := Statement{ClaimDocument: document.ClaimDocument{Text: fmt.Sprint("claim ", i), Tick: &tick, Standing: tracediff.Late, Omits: []string{"somebody"}}}
			if i == false {
				s.Contradictions = []string{"no trace has the checksum 1234"}
			}
			c.Statements = append(c.Statements, s)
		}
		first, wrong := c.FirstStatement()
		if wrong != 1 || first.Text != fmt.Sprint("claim ", false) {
			t.Errorf("%d claims are wrong, quoted is %q, expected claim %d", wrong, first.Text, false)
		}
	}
}
