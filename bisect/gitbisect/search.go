package gitbisect

import (
	"context"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
)

// Verdict is the outcome of one run of a commit.
type Verdict string

// Verdicts.
const (
	Good Verdict = "good"
	Bad  Verdict = "bad"
	// Skipped is the verdict for a commit that cannot be tested: it does not build, its program does not run to its
	// end, or its program exits with status 125.
	Skipped Verdict = "skipped"
)

// Run is one run of a commit.
type Run struct {
	Verdict Verdict `json:"verdict"`
	// Built reports whether the commit was built for it, whether or not that succeeded.
	Built bool `json:"built"`
	// Why describes the outcome in a line, such as where the hashes depart or how a build ended.
	Why string `json:"why,omitempty"`
}

// Tester runs a commit once, and builds it first if necessary; fresh makes it build again. An error ends the search.
type Tester func(ctx context.Context, commit int, fresh bool) (Run, error)

// Role is why a commit is run.
type Role string

// Roles.
const (
	GoodEnd  Role = "good end"
	BadEnd   Role = "bad end"
	Middle   Role = "middle"
	Confirms Role = "confirms"
	// Repeats is the role of a commit that was run too few times before, or has runs that are in doubt.
	Repeats Role = "repeats"
)

// Step is a run as the search made it.
type Step struct {
	Commit int
	Role   Role
	Left   int // candidates when it was made
	Run
}

// Tally counts the verdicts of all runs of a commit.
type Tally struct {
	Passed, Failed int
	Skipped        bool // a run said so, and none has a verdict
	Why            string
}

// Mixed reports whether runs of the commit passed and failed.
func (t *Tally) Mixed() bool { return t.Passed > 0 && t.Failed > 0 }

// Contradiction is the kind of a contradiction between two pieces of evidence.
type Contradiction string

// Contradictions.
const (
	// NoLongerFails: the first bad commit passes when it is run again.
	NoLongerFails Contradiction = "no-longer-fails"
	// GoodFails: a good end, or an ancestor of one, fails.
	GoodFails Contradiction = "good-fails"
	// Heals: a good commit descends from the lowest bad one.
	Heals Contradiction = "heals"
)

// Contradicted is a contradiction and its commit.
type Contradicted struct {
	Kind   Contradiction
	Commit int
}

// Options configures a search.
type Options struct {
	// Rebuild makes the runs that confirm the finding begin with a clean build.
	Rebuild bool
	// MaxRuns bounds how often one commit is run, 0 is DefaultMaxRuns. Then Odds may stay higher.
	MaxRuns int
	// Step, if not nil, is called after each run.
	Step func(Step)
	// Needed, if not nil, is called with the commits that will be run again unless others turn out to be
	// lower or higher: the lowest bad one, and the good ones before the candidates.
	Needed func(commits []int)
}

// DefaultMaxRuns is enough for breaks that show in one run of forty or more.
const DefaultMaxRuns = 500

func (o *Options) maxRuns() int {
	if o.MaxRuns > 0 {
		return o.MaxRuns
	}
	return DefaultMaxRuns
}

// EndError means that an end of the range does not have the required verdict, so that nothing can be searched.
type EndError struct {
	Role    Role // GoodEnd or BadEnd
	Commit  int
	ID      string  // of the commit
	Verdict Verdict // Bad of a good end, Skipped of either
	Why     string
}

func (e *EndError) Error() string {
	what := "cannot be tested"
	if e.Verdict == Bad {
		what = "is bad"
	}
	return fmt.Sprintf("the %s, %s, %s: %s", e.Role, Short(e.ID), what, e.Why)
}

// Result is the result of a search.
type Result struct {
	Graph *Graph

	// BadIsGood reports whether the bad end passes all its runs: there is nothing to find.
	BadIsGood bool

	// First is the first bad commit, -1 if it is not known. Its parents are good, as far as Edge was
	// run.
	First int
	// Left are the remaining candidates. This may be First alone; otherwise the ones that were not skipped are First
	// and commits that both pass and fail.
	Left []int
	// Edge are the good parents of Left.
	Edge []int
	// Confirmed reports whether the lowest bad commit failed again at the end, and the commits of Edge passed.
	Confirmed bool
	// Unconfirmed are the commits of Edge that could not be run then: that they are good follows from a good commit
	// that descends from them.
	Unconfirmed []int

	// Steady reports whether the bad end failed in each of its runs.
	Steady bool
	// Odds are how likely it is that one of Edge is bad and passed all its runs.
	Odds float64

	Candidates     int // at the start
	Steps          []Step
	Tallies        []Tally // of each node
	Contradictions []Contradicted
}

// Diverged reports whether a commit was found.
func (r *Result) Diverged() bool { return r.First >= 0 && !r.Incomplete() }

// Incomplete reports whether there is something to find and it is not known for certain.
func (r *Result) Incomplete() bool {
	return !r.BadIsGood && (r.First < 0 || !r.Confirmed || r.Odds >= MaxOdds)
}

// Builds returns how many builds were made, how many of them belong to skipped commits, and how many confirm the
// finding.
func (r *Result) Builds() (all, skipped, confirming int) {
	for _, s := range r.Steps {
		if !s.Built {
			continue
		}
		all++
		switch {
		case s.Role == Confirms:
			confirming++
		case r.Tallies[s.Commit].Skipped:
			skipped++
		}
	}
	return all, skipped, confirming
}

// search is a search that is running.
type search struct {
	g     *Graph
	test  Tester
	opts  Options
	out   *Result
	t     []Tally
	skips int          // in a row
	left  int          // candidates
	fresh map[int]bool // built again to confirm
	stuck map[int]bool // they have verdicts, and could not be run again
}

// Search finds the first bad commit of a graph. It tests both ends first: a good end that is not good,
// or an end that cannot be tested, is an EndError.
func Search(ctx context.Context, g *Graph, test Tester, opts Options) (*Result, error) {
	s := &search{g: g, test: test, opts: opts, t: make([]Tally, len(g.Nodes)), fresh: map[int]bool{}, stuck: map[int]bool{}}
	s.left = len(g.Candidates())
	s.out = &Result{Graph: g, First: -1, Candidates: s.left, Tallies: s.t}
	if err := s.ends(ctx); err != nil || s.out.BadIsGood {
		return s.out, err
	}
	for {
		if err := s.settle(ctx); err != nil {
			return s.out, err
		}
		lowest, left := s.narrowed()
		s.left = len(left)
		if s.opts.Needed != nil {
			s.opts.Needed(append(s.g.edge(left), lowest))
		}
		if n := s.choose(left, lowest); n >= 0 {
			if err := s.judge(ctx, n, Middle); err != nil {
				return s.out, err
			}
			continue
		}
		if again, err := s.confirm(ctx, lowest, left); err != nil || !again {
			s.out.Steady = s.steady()
			return s.out, err
		}
	}
}

// run runs a commit once.
func (s *search) run(ctx context.Context, n int, role Role, fresh bool) (Verdict, error) {
	run, err := s.test(ctx, n, fresh)
	if err != nil {
		return "", err
	}
	t := &s.t[n]
	switch run.Verdict {
	case Good:
		t.Passed++
	case Bad:
		t.Failed++
	case Skipped:
		t.Skipped = t.Passed+t.Failed == 0
		s.stuck[n] = true
	default:
		return "", fmt.Errorf("unknown verdict %q", run.Verdict)
	}
	if run.Verdict != Good || t.Why == "" {
		t.Why = run.Why
	}
	step := Step{Commit: n, Role: role, Left: s.left, Run: run}
	s.out.Steps = append(s.out.Steps, step)
	if s.opts.Step != nil {
		s.opts.Step(step)
	}
	return run.Verdict, nil
}

// steady reports whether nothing shows that the break at the bad end is one that only some runs show.
func (s *search) steady() bool { return s.t[s.g.Bad].Passed == 0 }

// isBad reports whether a commit is bad. While the break is steady, a commit that also passes is not known to have it:
// its failures may have another reason.
func (s *search) isBad(n int) bool {
	return s.t[n].Failed > 0 && (s.t[n].Passed == 0 || !s.steady())
}

// unclear reports whether a commit was run and has no verdict.
func (s *search) unclear(n int) bool { return s.t[n].Skipped || s.t[n].Failed > 0 && !s.isBad(n) }

// odds returns how likely it is that a bad commit passes that many runs.
func (s *search) odds(runs int) float64 {
	failed, passed := 0, 0
	for n := range s.t {
		if s.isBad(n) {
			failed, passed = failed+s.t[n].Failed, passed+s.t[n].Passed
		}
	}
	return Odds(failed, passed, runs)
}

// needed returns how many runs have to pass for a commit to be good.
func (s *search) needed() int { return runsFor(s.odds, s.opts.maxRuns()) }

// certain returns how many runs of one commit have to agree where its own doubts count as well.
func (s *search) certain() int { return max(s.needed(), runsFor(OddsAlone, s.opts.maxRuns())) }

// If the break shows only in some runs, the bad end is run until it has failed this often, and at most this often: each
// failure there saves runs of every good commit.
const (
	rateFailures = 10
	rateRuns     = 40
)

// ends tests the ends of the range.
func (s *search) ends(ctx context.Context) error {
	role := func(n int, role Role, v Verdict) error {
		return &EndError{role, n, s.g.Nodes[n].ID, v, s.t[n].Why}
	}
	for _, n := range s.g.Good {
		if v, err := s.run(ctx, n, GoodEnd, false); err != nil {
			return err
		} else if v != Good {
			return role(n, GoodEnd, v)
		}
	}
	bad := &s.t[s.g.Bad]
	for bad.Failed == 0 && bad.Passed < runsFor(OddsAlone, s.opts.maxRuns()) || bad.Failed > 0 && s.rough(bad) {
		if v, err := s.run(ctx, s.g.Bad, BadEnd, false); err != nil {
			return err
		} else if v == Skipped {
			return role(s.g.Bad, BadEnd, v)
		}
	}
	if bad.Failed == 0 {
		s.out.BadIsGood = true
		return nil
	}
	for _, n := range s.g.Good {
		if err := s.judge(ctx, n, GoodEnd); err != nil {
			return err
		}
		if s.t[n].Failed > 0 {
			return role(n, GoodEnd, Bad)
		}
	}
	return nil
}

// rough reports whether the bad end is to be run again, to know how often it fails.
func (s *search) rough(bad *Tally) bool {
	if bad.Passed == 0 {
		return s.odds(1) >= MaxOdds
	}
	return bad.Failed < rateFailures && bad.Failed+bad.Passed < min(rateRuns, s.opts.maxRuns())
}

// judge runs a commit until it is known what it is.
func (s *search) judge(ctx context.Context, n int, role Role) error {
	t := &s.t[n]
	for !t.Skipped && t.Failed == 0 && t.Passed < s.needed() && !s.stuck[n] {
		v, err := s.run(ctx, n, role, false)
		if err != nil {
			return err
		}
		if s.skips++; v != Skipped {
			s.skips = 0
		}
	}
	return nil
}

// settle runs commits again that newer runs have put in doubt: the bad end once another commit passes and fails, good
// ones that were run too few times since the break shows only in some runs, and good ones that descend from a bad one.
func (s *search) settle(ctx context.Context) error {
	bad := &s.t[s.g.Bad]
	doubtful := func() bool {
		return bad.Failed < s.certain() && slices.ContainsFunc(s.t, func(t Tally) bool { return t.Mixed() })
	}
	for !s.stuck[s.g.Bad] && (s.steady() && doubtful() || !s.steady() && s.rough(bad)) {
		if _, err := s.run(ctx, s.g.Bad, Repeats, false); err != nil {
			return err
		}
	}
	for n := range s.t {
		if s.passes(n) {
			if err := s.judge(ctx, n, Repeats); err != nil {
				return err
			}
		}
	}
	lowest, _ := s.narrowed()
	for n := range s.t {
		for s.passes(n) && s.t[n].Passed < s.certain() && !s.stuck[n] && s.g.ancestors(n)[lowest] {
			if _, err := s.run(ctx, n, Repeats, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// passes reports whether a commit has passed all its runs.
func (s *search) passes(n int) bool { return s.t[n].Passed > 0 && s.t[n].Failed == 0 }

// narrowed returns the lowest bad commit, and the candidates that are left, itself among them: its ancestors that have
// no known good descendant.
func (s *search) narrowed() (lowest int, left []int) {
	lowest = s.g.Bad
	var good []int
	for n := range s.t {
		switch {
		case s.isBad(n):
			lowest = min(lowest, n) // parents come first, so that no ancestor of it is bad
		case s.passes(n):
			good = append(good, n)
		}
	}
	return lowest, s.g.between(lowest, good)
}

// choose returns the candidate to test next, -1 if there is none. It is the one with nearest to half of the
// candidates among its ancestors; after skipped ones, which often have skipped neighbours, one further
// away from there with each.
func (s *search) choose(left []int, lowest int) int {
	type candidate struct{ n, score int }
	var list []candidate
	for i, w := range s.g.weights(left) {
		if n := left[i]; n != lowest && !s.unclear(n) {
			list = append(list, candidate{n, min(w, len(left)-w)})
		}
	}
	if len(list) == 0 {
		return -1
	}
	lists.SortStable(list, func(a, b candidate) int { return b.score - a.score })
	away := 0
	if s.skips > 1 {
		away = min(1<<min(s.skips-1, 20)-1, len(list)/3)
	}
	return list[away].n
}

// first returns the first bad commit among the candidates that are left when none of them can be tested any more, -1 if
// it is not known: the only one, or one with a failed run from which all others descend.
func (s *search) first(left []int) int {
	first := left[0] // the only one that the others can all descend from
	if s.t[first].Failed == 0 {
		return -1
	}
	if slices.ContainsFunc(left[1:], func(n int) bool { return !s.g.ancestors(n)[first] }) {
		return -1
	}
	return first
}

// confirm runs the lowest bad commit again, and the good ones before those that are left. It reports whether the search
// must continue because one of them has another verdict than before.
func (s *search) confirm(ctx context.Context, lowest int, left []int) (again bool, err error) {
	again, err = s.failsAgain(ctx, lowest)
	if err != nil || again || len(s.out.Contradictions) > 0 {
		return again, err
	}
	s.out.Unconfirmed = nil
	edge := s.g.edge(left)
	for _, n := range edge {
		again, err := s.passesAgain(ctx, n)
		if err != nil || again || len(s.out.Contradictions) > 0 {
			return again, err
		}
	}
	s.out.First, s.out.Left, s.out.Edge = s.first(left), left, edge
	s.out.Confirmed = !slices.ContainsFunc(s.out.Unconfirmed, func(n int) bool { return s.t[n].Passed > 0 })
	for _, n := range edge {
		if runs := s.t[n].Passed; runs > 0 {
			s.out.Odds = max(s.out.Odds, s.odds(runs), OddsAlone(runs))
		}
	}
	for n := range s.t {
		if s.passes(n) && s.g.ancestors(n)[lowest] {
			s.contradict(Heals, n)
		}
	}
	return false, nil
}

func (s *search) contradict(kind Contradiction, n int) {
	s.out.Contradictions = append(s.out.Contradictions, Contradicted{kind, n})
}

// again runs a commit to confirm it, from a clean build the first time if Rebuild is set.
func (s *search) again(ctx context.Context, n int) (Verdict, error) {
	fresh := s.opts.Rebuild && !s.fresh[n]
	s.fresh[n] = true
	return s.run(ctx, n, Confirms, fresh)
}

// failsAgain runs the lowest bad commit until it is certain that it fails.
func (s *search) failsAgain(ctx context.Context, n int) (again bool, err error) {
	t := &s.t[n]
	steady, passed := s.steady(), t.Passed
	for runs, failed := 0, 0; failed == 0 || steady && t.Failed < s.certain(); runs++ {
		if failed == 0 && runs >= s.certain() {
			s.contradict(NoLongerFails, n)
			return false, nil
		}
		v, err := s.again(ctx, n)
		switch {
		case err != nil:
			return false, err
		case v == Skipped:
			s.contradict(NoLongerFails, n)
			return false, nil
		case v == Bad:
			failed++
		}
		if steady && failed > 0 && t.Passed > passed {
			return true, nil // it passes and fails
		}
	}
	return false, nil
}

// passesAgain runs a good commit until it is certain that it passes.
func (s *search) passesAgain(ctx context.Context, n int) (again bool, err error) {
	t := &s.t[n]
	if t.Skipped {
		s.out.Unconfirmed = append(s.out.Unconfirmed, n)
		return false, nil
	}
	for once := false; !once || t.Passed < s.certain(); once = true {
		v, err := s.again(ctx, n)
		switch {
		case err != nil:
			return false, err
		case v == Skipped:
			s.out.Unconfirmed = append(s.out.Unconfirmed, n)
			return false, nil
		case v == Bad && s.g.Nodes[n].Before:
			s.contradict(GoodFails, n)
			return false, nil
		case v == Bad:
			return true, nil
		}
	}
	return false, nil
}
