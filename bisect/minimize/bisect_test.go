package minimize

import (
	"context"
	"math/bits"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/snapshot"
)

// skipping is a Test that diverges from a point on and has no verdict on some points.
type skipping struct {
	from    uint64
	unknown map[uint64]bool
}

func (s *skipping) Name() string { return "skipping" }

func (s *skipping) Run(_ context.Context, c *Candidate, _ *snapshot.World) (Outcome, error) {
	switch until := c.Until(); {
	case s.unknown[until]:
		return Outcome{Verdict: Unknown, Why: "no idea"}, nil
	case until >= s.from:
		return Outcome{Verdict: Diverges}, nil
	}
	return Outcome{Verdict: InSync}, nil
}

// TestBisectSteps compares the bracket with what the test knows: its ends were judged, and it
// is one tick wide unless points in between have no verdict.
func TestBisectSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 200).Draw(t, "ticks")
		from := uint64(rapid.IntRange(0, n).Draw(t, "from"))
		test := &skipping{from: from, unknown: map[uint64]bool{}}
		for _, p := range rapid.SliceOfN(rapid.IntRange(0, n-1), 0, 30).Draw(t, "unknown") {
			test.unknown[uint64(p)] = true
		}
		in, err := NewInput(session(n), nil)
		if err != nil {
			t.Fatal(err)
		}
		r, err := Bisect(context.Background(), in, test)
		if err != nil || r.Bracket == nil {
			t.Fatalf("%+v, %v", r, err)
		}
		b := r.Bracket
		if b.Bad.Tick < from || test.unknown[b.Bad.Tick] || b.Good != nil && (b.Good.Tick >= from || test.unknown[b.Good.Tick]) {
			t.Fatalf("bracket %v, it diverges from %d on", b, from)
		}
		if b.Good == nil && from > 0 && !test.unknown[0] {
			t.Fatalf("no good end, although 0 is known")
		}
		if len(test.unknown) > 0 {
			return
		}
		if b.Bad.Tick != from || r.Exact != (from > 0) || r.InitialState != (from == 0) {
			t.Fatalf("%+v, %+v, it diverges from %d on", r, b, from)
		}
		if most := 4 + bits.Len(uint(n)); r.Probes > most {
			t.Fatalf("%d probes of %d ticks, expected %d at most", r.Probes, n, most)
		}
	})
}
