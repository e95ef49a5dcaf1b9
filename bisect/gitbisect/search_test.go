package gitbisect

import (
	"context"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// history is a graph with a truth: what each commit does in a run.
type history struct {
	g       *Graph
	rates   []float64 // at which runs fail
	skipped []bool
	random  *rand.Rand
	builds  map[int]int
}

func (h *history) test(_ context.Context, n int, fresh bool) (Run, error) {
	run := Run{Verdict: Good}
	if fresh || h.builds[n] == 0 {
		h.builds[n]++
		run.Built = true
	}
	switch {
	case h.skipped[n]:
		run.Verdict, run.Why = Skipped, "does not build"
	case h.random.Float64() < h.rates[n]:
		run.Verdict, run.Why = Bad, "departs"
	}
	return run, nil
}

// line returns a history of n commits after a good one, in a line; those from the break on fail at a rate.
func line(n, broken int, rate float64, seed uint64) *history {
	g := &Graph{Good: []int{0}, Bad: n, Nodes: []Node{{ID: "0", Before: true}}}
	for i := range n {
		g.Nodes = append(g.Nodes, Node{Parents: []int{i}})
	}
	return settled(g, broken, rate, seed)
}

func settled(g *Graph, broken int, rate float64, seed uint64) *history {
	h := &history{g: g, rates: make([]float64, len(g.Nodes)), skipped: make([]bool, len(g.Nodes)), random: rand.New(rand.NewPCG(seed, 7)), builds: map[int]int{}}
	for n := range g.Nodes {
		if g.ancestors(n)[broken] {
			h.rates[n] = rate
		}
	}
	return h
}

func (h *history) search(t testing.TB) *Result {
	t.Helper()
	r, err := Search(t.Context(), h.g, h.test, Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func log2(n int) int { return bits.Len(uint(n - 1)) }

// TestLine: of every place in lines of all lengths the break is found with at most ⌈log2 n⌉ + 2 builds.
func TestLine(t *testing.T) {
	most := 0
	for _, n := range []int{1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 64, 100, 200, 1000} {
		for broken := 1; broken <= n; broken += 1 + n/effort.Of(60, 1000) {
			h := line(n, broken, 1, 1)
			r := h.search(t)
			if r.First != broken || !r.Diverged() || !r.Confirmed || len(r.Left) != 1 {
				t.Fatalf("%d commits: found %d, it is %d", n, r.First, broken)
			}
			builds, _, confirming := r.Builds()
			if builds > log2(n)+2 || confirming != 0 || builds != len(h.builds) {
				t.Fatalf("%d commits, %d: %d builds, %d of them to confirm", n, broken, builds, confirming)
			}
			if n == 1000 {
				most = max(most, builds)
			}
		}
	}
	if most != 12 {
		t.Errorf("1000 commits: at most %d builds, expected 12", most)
	}
}

// randomGraph draws a history with branches and merges. All nodes are ancestors of the last.
func randomGraph(t *rapid.T) *Graph {
	n := rapid.IntRange(1, 60).Draw(t, "commits")
	g := &Graph{Good: []int{0}, Nodes: []Node{{Before: true}}}
	heads := []int{0}
	for i := 1; i <= n; i++ {
		k := rapid.IntRange(0, len(heads)-1).Draw(t, "head")
		parents := []int{heads[k]}
		switch rapid.IntRange(0, 5).Draw(t, "kind") {
		case 0: // a branch
			heads = append(heads, i)
		case 1: // a merge
			if other := rapid.IntRange(0, len(heads)-1).Draw(t, "other"); other != k {
				parents = append(parents, heads[other])
				heads[k] = i
				heads = slices.Delete(heads, other, other+1)
				break
			}
			heads[k] = i
		default:
			heads[k] = i
		}
		slices.Sort(parents)
		g.Nodes = append(g.Nodes, Node{Parents: parents})
	}
	if len(heads) > 1 {
		slices.Sort(heads)
		g.Nodes = append(g.Nodes, Node{Parents: slices.Compact(heads)})
	}
	g.Bad = len(g.Nodes) - 1
	return g
}

// TestWeights compares the weights with counting.
func TestWeights(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		list := g.Candidates()
		for i, w := range g.weights(list) {
			count := 0
			for n, is := range g.ancestors(list[i]) {
				if is && !g.Nodes[n].Before {
					count++
				}
			}
			if w != count {
				t.Fatalf("node %d has weight %d, expected %d", list[i], w, count)
			}
		}
	})
}

// TestMerges: whatever the history and whatever cannot be tested, the break is the commit that is found, or one of the
// commits that are left; all others of these were skipped.
func TestMerges(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := randomGraph(t)
		broken := rapid.IntRange(1, g.Bad).Draw(t, "break")
		h := settled(g, broken, 1, 1)
		for n := 1; n < g.Bad; n++ {
			h.skipped[n] = rapid.IntRange(0, 4).Draw(t, "skip") == 0
		}
		r, err := Search(context.Background(), g, h.test, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Contradictions) > 0 || !r.Confirmed || !r.Steady {
			t.Fatalf("%+v", r)
		}
		if !slices.Contains(r.Left, broken) {
			t.Fatalf("left are %d, the break is %d", r.Left, broken)
		}
		tested := 0
		for _, n := range r.Left {
			if !h.skipped[n] {
				tested++
			}
			if h.skipped[n] && h.builds[n] == 0 {
				t.Fatalf("%d was never tried", n)
			}
		}
		if tested != 1 {
			t.Fatalf("left are %d, of which %d can be tested", r.Left, tested)
		}
		if found := r.First >= 0; found != (len(r.Left) == 1) || found && r.First != broken || found != r.Diverged() || found == r.Incomplete() {
			t.Fatalf("found %d of %d, the break is %d", r.First, r.Left, broken)
		}
	})
}

// TestSkippedRun: a run of skipped commits in the middle is left in ever longer strides.
func TestSkippedRun(t *testing.T) {
	h := line(1000, 700, 1, 1)
	for n := 400; n < 600; n++ {
		h.skipped[n] = true
	}
	r := h.search(t)
	builds, skipped, _ := r.Builds()
	if r.First != 700 || skipped > 9 || builds > log2(1000)+2+skipped {
		t.Errorf("found %d with %d builds, %d of them skipped", r.First, builds, skipped)
	}
}

// TestSometimes: a break that shows only in some runs is found, whatever its rate, and the odds that are
// said are those that hold.
func TestSometimes(t *testing.T) {
	for _, rate := range []float64{0.9, 0.5, 0.2, 0.1} {
		wrong, most := 0, 0
		all := effort.Of(12, 300)
		for seed := range all {
			h := line(200, 1+seed*7%200, rate, uint64(seed))
			r := h.search(t)
			if r.BadIsGood {
				if rate > 0.2 {
					wrong++
				}
				continue // ten runs that pass, as they may
			}
			if r.First != 1+seed*7%200 {
				if r.Diverged() {
					wrong++
				}
				continue
			}
			if r.Odds >= MaxOdds || !r.Confirmed {
				t.Errorf("rate %v: odds %v, confirmed %v", rate, r.Odds, r.Confirmed)
			}
			if builds, _, _ := r.Builds(); builds > 8*log2(200) {
				t.Errorf("rate %v: %d builds", rate, builds)
			}
			most = max(most, len(r.Steps))
		}
		// Each of about eight good verdicts may be wrong with odds of 1 in 1000.
		if float64(wrong) > 3+float64(all)*8*MaxOdds {
			t.Errorf("rate %v: %d of %d wrong", rate, wrong, all)
		}
		t.Logf("rate %v: %d of %d wrong, at most %d runs", rate, wrong, all, most)
	}
}

// TestOneUnsure: a single commit that fails in half of its runs misleads nobody, be it before the break
// or after it, unless it is what comes first.
func TestOneUnsure(t *testing.T) {
	for at := 1; at < 200; at += effort.Of(3, 1) {
		if at == 120 {
			continue
		}
		for seed := range effort.Of(3, 60) {
			h := line(200, 120, 1, uint64(seed))
			h.rates[at] = 0.5
			r := h.search(t)
			if r.First != 120 && !(at == 119 && r.First == 119) || !r.Diverged() {
				t.Errorf("commit %d is unsure, seed %d: found %d of %v, %+v", at, seed, r.First, r.Left, r.Contradictions)
			}
			if at == 119 && r.First == 119 && r.Tallies[119].Passed+r.Tallies[119].Failed == 0 {
				t.Error("119 was not run")
			}
		}
	}
}

// TestEnds: ends that are not what they have to be.
func TestEnds(t *testing.T) {
	end := func(h *history) *EndError {
		_, err := Search(t.Context(), h.g, h.test, Options{})
		e, ok := err.(*EndError)
		if !ok {
			t.Fatalf("%v", err)
		}
		return e
	}
	h := line(9, 3, 1, 1)
	h.rates[0] = 1
	if e := end(h); e.Role != GoodEnd || e.Verdict != Bad || e.Commit != 0 {
		t.Error(e)
	}
	h.rates[0], h.skipped[0] = 0, true
	if e := end(h); e.Role != GoodEnd || e.Verdict != Skipped {
		t.Error(e)
	}
	h.skipped[0], h.skipped[9] = false, true
	if e := end(h); e.Role != BadEnd || e.Verdict != Skipped || e.Why != "does not build" {
		t.Error(e)
	}
	h = line(9, 3, 0, 1)
	r := h.search(t)
	if !r.BadIsGood || r.Diverged() || r.Incomplete() || len(h.builds) != 2 {
		t.Errorf("%+v", r)
	}
	if OddsAlone(r.Tallies[9].Passed) >= MaxOdds {
		t.Errorf("%d runs", r.Tallies[9].Passed)
	}
}

// TestNoLongerFails: a bad commit that passes when it is built again is a contradiction.
func TestNoLongerFails(t *testing.T) {
	h := line(30, 11, 1, 1)
	healed := false
	r, err := Search(t.Context(), h.g, func(ctx context.Context, n int, fresh bool) (Run, error) {
		healed = healed || fresh && n == 11
		if n == 11 && healed {
			return Run{Verdict: Good, Built: fresh}, nil
		}
		return h.test(ctx, n, fresh)
	}, Options{Rebuild: true})
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(r.Contradictions, []Contradicted{{NoLongerFails, 11}}) || r.Diverged() || !r.Incomplete() {
		t.Errorf("%+v", r)
	}
	if _, _, confirming := r.Builds(); confirming != 1 {
		t.Errorf("%d builds to confirm", confirming)
	}
}

// TestGoodFails: a good end that fails later, and a parent that lies before the range and is bad.
func TestGoodFails(t *testing.T) {
	h := line(30, 1, 1, 1)
	runs := 0
	r, err := Search(t.Context(), h.g, func(ctx context.Context, n int, fresh bool) (Run, error) {
		if n == 0 {
			if runs++; runs == 6 {
				return Run{Verdict: Bad}, nil
			}
		}
		return h.test(ctx, n, fresh)
	}, Options{})
	if err != nil || !slices.Equal(r.Contradictions, []Contradicted{{GoodFails, 0}}) || r.Diverged() {
		t.Errorf("%v %+v", err, r)
	}
}

// TestHeals: a good commit that descends from a bad one. The first bad commit below it is found, and it is said.
func TestHeals(t *testing.T) {
	// 0 - 1 - 2 - 3 - 7, and 1 - 4 - 5 - 6 - 7: 2 breaks, 3 repairs, 6 breaks again and 5 has 2 as its parent too.
	g := &Graph{Good: []int{0}, Bad: 7, Nodes: []Node{{Before: true}, {Parents: []int{0}}, {Parents: []int{1}}, {Parents: []int{2}}, {Parents: []int{1}}, {Parents: []int{2, 4}}, {Parents: []int{5}}, {Parents: []int{3, 6}}}}
	h := settled(g, 2, 1, 1)
	h.rates[3] = 0
	r := h.search(t)
	if r.First != 2 && r.First != 5 {
		t.Errorf("found %d, %+v", r.First, r)
	}
	if h.builds[3] > 0 && !slices.Contains(r.Contradictions, Contradicted{Heals, 3}) {
		t.Errorf("%+v", r.Contradictions)
	}
}

// TestOdds compares the odds with integrals over all rates.
func TestOdds(t *testing.T) {
	const steps = 1 << 16
	integral := func(f func(rate float64) float64) (sum float64) {
		for i := range steps {
			sum += f((float64(i)+0.5)/steps) / steps
		}
		return sum
	}
	for _, c := range [][3]int{{0, 0, 1}, {1, 0, 1}, {2, 0, 1}, {5, 0, 4}, {3, 4, 7}, {1, 1, 20}, {40, 2, 3}} {
		failed, passed, runs := float64(c[0]), float64(c[1]), float64(c[2])
		seen := integral(func(r float64) float64 { return math.Pow(r, failed) * math.Pow(1-r, passed) })
		missed := integral(func(r float64) float64 { return math.Pow(r, failed) * math.Pow(1-r, passed+runs) })
		want := missed / seen
		if passed == 0 {
			want = Prior * missed / (1 - Prior + Prior*seen)
		}
		if got := Odds(c[0], c[1], c[2]); math.Abs(got-want) > 1e-4*want+1e-12 {
			t.Errorf("%v: %v, expected %v", c, got, want)
		}
	}
	if n := runsFor(OddsAlone, 100); n != 10 {
		t.Errorf("%d runs of one commit, docs say 10", n)
	}
	if Odds(1, 0, 1) < MaxOdds || Odds(2, 0, 1) >= MaxOdds {
		t.Error("docs say that two failures of the bad end make one run of good ones enough")
	}
}
