package verdicts_test

import (
	"errors"
	"os"
	"os/exec"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/tools/accuracy/verdicts"
)

// conclude concludes from all that the sessions left. The number of replays is limited, not the time, which depends on the
// machine.
func conclude(dirs []string, sim, own *bisect.Sim) (*verdict.Conclusion, error) {
	s, err := bundle.OpenPaths(dirs...)
	if err != nil {
		return nil, err
	}
	defer s.Close()
	return compare.Conclude(s, compare.Builds{Sim: sim, Own: own, Replays: 1000}, nil)
}

// cheap makes sessions small: with two peers, few entities and ticks, and without traces of columns.
func cheap(list []verdicts.Session) []verdicts.Session {
	for i := range list {
		s := &list[i]
		s.Peers, s.Entities, s.Ticks = min(s.Peers, 2), 100, 250
		if s.Trace == session.TraceColumn {
			s.Trace = []session.TraceLevel{session.TraceArchetype, session.TraceSystem}[min(i, 1)]
		}
	}
	return list
}

// each returns the first of every n sessions.
func each(n int, list []verdicts.Session) (some []verdicts.Session) {
	for i := 0; i < len(list); i += n {
		some = append(some, list[i])
	}
	return some
}

// TestSample measures some sessions of every mistake, and some clean ones. The command in
// docs/accuracy.md measures many more. Where, when and who have to be right; of causes one of
// twelve may be wrong that is shown by experiments in the peer's own build, since threads run as
// they like, and nine of ten have to be found; without a simulator hardly any is said, and none may be wrong.
func TestSample(t *testing.T) {
	var game verdicts.Reference
	faults := len(refsim.Faults())
	faulty := verdicts.Faulty(game, effort.Long(1, 2)*faults)
	clean := verdicts.Clean(game, effort.Of(2, effort.Long(6, 12)))
	if !effort.Full() {
		faulty = cheap(each(14, faulty[:faults]))
		clean = cheap(clean)
	}
	scores, err := verdicts.Run(append(faulty, clean...), func(int) string { return t.TempDir() }, conclude, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range verdicts.Short(scores) {
		t.Error(line)
	}
	count := map[verdicts.Shape]map[verdicts.Outcome]int{}
	for _, s := range scores {
		for _, c := range s.Causes {
			if count[c.Shape] == nil {
				count[c.Shape] = map[verdicts.Outcome]int{}
			}
			count[c.Shape][c.Outcome]++
			if c.Outcome == verdicts.False {
				t.Logf("%s, %s: said %v after %v", s.Session, c.Shape, c.Said, c.Tested)
			}
		}
	}
	for shape, n := range count {
		right, unknown, wrong := n[verdicts.Right]+n[verdicts.Open], n[verdicts.NotKnown], n[verdicts.False]
		switch {
		case shape == verdicts.WithOwn:
			if right < 9*unknown || right < 12*wrong {
				t.Errorf("%s: %d causes are right, %d not known, %d wrong", shape, right, unknown, wrong)
			}
		case wrong > 0:
			t.Errorf("%s: %d causes are wrong", shape, wrong)
		}
	}
	n := verdicts.Count(scores[:len(faulty)], func(*verdicts.Score) bool { return true })
	if n.Bit*10 < n.Sessions*9 {
		t.Errorf("%d of %d mistakes showed", n.Bit, n.Sessions)
	}
	for _, q := range verdicts.Questions() {
		if n.Marks[q][verdicts.Exact] < n.Sessions/4 {
			t.Errorf("%s: %v: the sample asks too little", q, n.Marks[q])
		}
	}
}

// TestOtherGames measures some sessions of the examples of docs/sdk and of other games, which nothing in the tool was
// written against but the rules of docs/accuracy.md. Without its compiler or interpreter a game is skipped; with
// DESYNCTOOL_SDK_TESTS=1 that fails.
func TestOtherGames(t *testing.T) {
	effort.Whole(t)
	for i, name := range []string{"arena", "trade", "tugs", "moles"} {
		if !effort.Turn(i, 3) {
			continue
		}
		t.Run(name, func(t *testing.T) {
			game, err := verdicts.Compile("../../..", name, t.TempDir())
			if errors.Is(err, exec.ErrNotFound) && os.Getenv("DESYNCTOOL_SDK_TESTS") == "" {
				t.Skip(err)
			}
			if err != nil {
				t.Fatal(err)
			}
			n := len(game.Mistakes())
			list := append(verdicts.Faulty(game, effort.Of(1, effort.Long(min(8, n), n))), verdicts.Clean(game, effort.Of(0, effort.Long(4, 12)))...)
			scores, err := verdicts.Run(list, func(int) string { return t.TempDir() }, conclude, nil)
			if err != nil {
				t.Fatal(err)
			}
			for _, line := range verdicts.Short(scores) {
				t.Error(line)
			}
			said, wrong := 0, 0
			for _, s := range scores {
				for _, c := range s.Causes {
					if c.Outcome != verdicts.NotKnown {
						said++
					}
					if c.Outcome == verdicts.False {
						wrong++
						t.Logf("%s, %s: said %v after %v", s.Session, c.Shape, c.Said, c.Tested)
					}
				}
			}
			if said == 0 || wrong > 1 && 20*wrong > said {
				t.Errorf("of %d causes that were said %d are wrong", said, wrong)
			}
		})
	}
}

// TestOutsideOfReplays: mistakes with guesses, and what only the host does, are made by a peer and by no replay. A build
// that is sound in replays does not exclude them.
func TestOutsideOfReplays(t *testing.T) {
	game, err := verdicts.Compile("../../..", "tugs", t.TempDir(), "-Coverflow-checks=off")
	if errors.Is(err, exec.ErrNotFound) && os.Getenv("DESYNCTOOL_SDK_TESTS") == "" {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	for _, fault := range []string{"guess-stays/Helm@7", "host-only/Tide@7", "rollback-short/Restore@7", "smooth-leak/Tug@7"}[:effort.Of(1, 4)] {
		s := verdicts.Session{Game: game, Seed: 7, Fault: fault, Ticks: effort.Of[uint64](18, 120), Trace: effort.Of(session.TraceNone, session.TraceSystem)}
		score, err := verdicts.Measure(s, t.TempDir(), conclude)
		if err != nil {
			t.Fatal(err)
		}
		if !score.Bit || len(score.Answers) > 0 {
			t.Errorf("%s: it showed: %v; %v", s, score.Bit, score.Answers)
		}
		for _, c := range score.Causes {
			if c.Outcome == verdicts.False || c.Shape == verdicts.WithOwn && c.Outcome == verdicts.NotKnown {
				t.Errorf("%s, %s: said %v after %v", s, c.Shape, c.Said, c.Tested)
			}
		}
	}
}

// TestShuffledNames checks that nothing is known by its name: in sessions where names are
// swapped, traced to the archetypes or columns, logs, snapshots, traces and replays give the same names
// as the truth does.
func TestShuffledNames(t *testing.T) {
	effort.Whole(t) // TestSample shuffles the names of some sessions
	faults := len(refsim.Faults())
	list := verdicts.Faulty(verdicts.Reference{}, 2*faults)
	list = each(effort.Long(4, 1), list)
	for i := range list {
		list[i].Shuffled, list[i].Peers, list[i].Entities = true, 2, 200
		list[i].Trace, list[i].Lack = session.TraceArchetype, verdicts.Nothing
		if i%6 == 0 { // these take long to write and to read
			list[i].Trace = session.TraceColumn
		}
	}
	scores, err := verdicts.Run(list, func(int) string { return t.TempDir() }, conclude, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range verdicts.Short(scores) {
		t.Error(line)
	}
	n := verdicts.Count(scores, func(*verdicts.Score) bool { return true })
	for _, q := range verdicts.Questions() {
		if n.Marks[q][verdicts.Exact] < n.Bit/2 {
			t.Errorf("%s: of %d sessions %v: the sample asks too little", q, n.Bit, n.Marks[q])
		}
	}
}

// TestCauses compares made-up conclusions on a real session with what happened.
func TestCauses(t *testing.T) {
	effort.Whole(t)
	says := func(classes ...string) verdicts.Measured {
		return func([]string, *bisect.Sim, *bisect.Sim) (*verdict.Conclusion, error) {
			c := &verdict.Conclusion{Kind: bisect.StateDiffers}
			for _, class := range classes {
				c.Causes = append(c.Causes, verdict.Cause{Class: class})
			}
			return c, nil
		}
	}
	flip := verdicts.Session{
		Game: verdicts.Reference{}, Seed: 3, Fault: "bit-flip/Combat@40", Peers: 2, Entities: effort.Of(100, 200), Trace: session.TraceSystem, Shuffled: true,
	}
	for _, test := range []struct {
		says verdicts.Measured
		want verdicts.Outcome
	}{
		{says("bit-flip"), verdicts.Right},
		{says("float", "stale-cache", "bit-flip"), verdicts.Right},
		{says("float", "stale-cache", "bit-flip", "locale"), verdicts.False},
		{says(), verdicts.NotKnown},
		{says("float"), verdicts.False},
	} {
		score, err := verdicts.Measure(flip, t.TempDir(), test.says)
		if err != nil {
			t.Fatal(err)
		}
		if !score.Bit || len(score.Causes) != 3 {
			t.Fatalf("the mistake showed: %v; %d verdicts on its cause", score.Bit, len(score.Causes))
		}
		for i, shape := range []verdicts.Shape{verdicts.OfTick, verdicts.WithSim, verdicts.WithOwn} {
			if c := score.Causes[i]; c.Shape != shape || c.Outcome != test.want {
				t.Errorf("%s, said %v: %s, expected %s", c.Shape, c.Said, c.Outcome, test.want)
			}
		}
		if score.Marks[verdicts.WhichLocus] != verdicts.Missed {
			t.Errorf("a verdict without a place is %s", score.Marks[verdicts.WhichLocus])
		}
	}
}
