package compare_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"

	"pgregory.net/rapid"
)

// rollbackTrace writes the trace of a game that predicts some ticks, goes back, and confirms some of them. From tick wrong on,
// after system from of that tick, its states are others; wrong is -1 for none. Predictions are right or wrong by chance.
func rollbackTrace(t *rapid.T, peer string, ticks, wrong, from int) (lines []string) {
	systems := []string{"Input", "Move", "Combat"}
	lines = append(lines, "%desynctool trace 1", "%seed 7", fmt.Sprintf("%%peer %q", peer))
	sum := func(tick, system int, apart bool) string {
		return fmt.Sprintf("sum=0x%016x", uint64(tick*10+system+1)*0x9e3779b97f4a7c15+map[bool]uint64{true: 1}[apart])
	}
	for confirmed := 0; confirmed < ticks; {
		ahead := rapid.IntRange(1, 5).Draw(t, "ahead")
		for tick := confirmed; tick < confirmed+ahead; tick++ {
			missed := rapid.IntRange(0, 3).Draw(t, "missed") == 0
			for i, s := range systems {
				lines = append(lines, fmt.Sprintf("tick=%d system=%s phase=predicted %s", tick, s, sum(tick, i, missed)))
			}
			lines = append(lines, fmt.Sprintf("tick=%d phase=predicted %s", tick, sum(tick, 3, missed)))
		}
		lines = append(lines, fmt.Sprintf("event=restore tick=%d at=%d", confirmed, confirmed+ahead))
		for range rapid.IntRange(1, ahead).Draw(t, "confirmed") {
			for i, s := range systems {
				lines = append(lines, fmt.Sprintf("tick=%d system=%s %s", confirmed, s, sum(confirmed, i, wrong >= 0 && (confirmed > wrong || confirmed == wrong && i >= from))))
			}
			lines = append(lines, fmt.Sprintf("tick=%d %s", confirmed, sum(confirmed, 3, wrong >= 0 && confirmed >= wrong)))
			confirmed++
		}
	}
	return append(lines, "%end")
}

// TestPredictedIsNotConfirmed: predictions are neither a tick's end nor missing where they are not confirmed. A machine that
// drops out at any line of its trace does not make a clean session diverge, nor another tick or system the first.
func TestPredictedIsNotConfirmed(t *testing.T) {
	effort.Checks(t, 8)
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		const ticks = 24
		wrong, from := rapid.IntRange(-6, ticks-2).Draw(t, "wrong"), rapid.IntRange(0, 2).Draw(t, "from")
		if wrong = max(wrong, -1); wrong == 0 {
			wrong = 1 // of the state before tick 0 nothing is known
		}
		var paths []string
		for i, peer := range []string{"anna", "bert", "cato"} {
			of := -1
			if i == 1 {
				of = wrong
			}
			lines := rollbackTrace(t, peer, ticks, of, from)
			if i == 2 {
				lines = lines[:rapid.IntRange(8, len(lines)).Draw(t, "lines before it drops out")]
			}
			path := filepath.Join(dir, peer, "checkpoints.trace")
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
			paths = append(paths, filepath.Dir(path))
		}
		r := judged(t, compare.Builds{}, paths...)
		if wrong < 0 {
			if r.Status == document.Diverged {
				t.Fatalf("a clean session: %v, %+v", r.Verdict, r.FirstDivergence)
			}
			return
		}
		system := []string{"Input", "Move", "Combat"}[from]
		if d := r.FirstDivergence; r.Status != document.Diverged || d.Tick == nil || *d.Tick != uint64(wrong) || d.System != system {
			t.Fatalf("%s, %+v, expected tick %d, %s: %v", r.Status, d, wrong, system, r.Verdict)
		}
		if strings.Contains(strings.Join(r.Verdict, " "), "again") {
			t.Fatalf("the states never are equal again: %v", r.Verdict)
		}
	})
}

// TestOutsideOfSystems: traces that agree after every system of a tick, and differ at its end, show that no system did it.
func TestOutsideOfSystems(t *testing.T) {
	dir := t.TempDir()
	for side, peer := range []string{"anna", "bert"} {
		lines := []string{"%desynctool trace 1", "%seed 7", fmt.Sprintf("%%peer %q", peer)}
		for tick := range 30 {
			apart := map[bool]int{true: side}
			lines = append(lines, fmt.Sprintf("tick=%d system=Move sum=0x%016x", tick, 1000*tick+1+500*apart[tick > 20]),
				fmt.Sprintf("tick=%d system=Combat sum=0x%016x", tick, 1000*tick+2+500*apart[tick > 20]), fmt.Sprintf("tick=%d sum=0x%016x", tick, 1000*tick+3+500*apart[tick >= 20]))
		}
		if err := os.MkdirAll(filepath.Join(dir, peer), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, peer, "checkpoints.trace"), []byte(strings.Join(append(lines, "%end"), "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	r := judged(t, compare.Builds{}, dir)
	if d := r.FirstDivergence; d == nil || d.Tick == nil || *d.Tick != 20 || d.System != "" || !strings.Contains(r.Verdict[0], "in tick 20") || !strings.Contains(r.Verdict[0], "after its last system") {
		t.Errorf("%+v: %v", d, r.Verdict)
	}
}

// TestTracesWithoutWhatDiffers: traces that never differ, with states that do, have no checksum of what differs, and do
// not show that no system wrote it.
func TestTracesWithoutWhatDiffers(t *testing.T) {
	dir := t.TempDir()
	for side, peer := range []string{"anna", "bert"} {
		lines := []string{"%desynctool trace 1", "%seed 7", fmt.Sprintf("%%peer %q", peer)}
		for tick := range 30 {
			lines = append(lines, fmt.Sprintf("tick=%d system=Move sum=0x%016x", tick, 1000*tick+1), fmt.Sprintf("tick=%d system=Combat sum=0x%016x", tick, 1000*tick+2))
		}
		of := filepath.Join(dir, peer)
		if err := os.MkdirAll(of, 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(of, "checkpoints.trace"), []byte(strings.Join(append(lines, "%end"), "\n")+"\n"), 0o666); err != nil {
			t.Fatal(err)
		}
		for point, hp := range map[uint64]uint64{20: 5, 21: 6 + uint64(side)} {
			s := stated{hp: hp, peer: peer}
			if err := snapshot.WriteFile(filepath.Join(of, snapshot.Name(7, point)), s.world(point), snapshot.WriteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
	r := judged(t, compare.Builds{}, dir)
	if d := r.FirstDivergence; d == nil || d.Tick == nil || *d.Tick != 20 || strings.Contains(r.Verdict[0], "last system") {
		t.Errorf("%+v: %v", d, r.Verdict)
	}
}

// TestRestoredOtherState: a restore that does not give back what was saved is the divergence of its tick. One of an earlier tick,
// after which the peers agree, is not.
func TestRestoredOtherState(t *testing.T) {
	for name, mismatch := range map[string]int{"of the divergent tick": 12, "of an earlier tick": 8} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for side, peer := range []string{"anna", "bert"} {
				lines := []string{"%desynctool trace 1", "%seed 7", fmt.Sprintf("%%peer %q", peer)}
				for tick := range 20 {
					apart := 0
					if tick >= 12 {
						apart = 500 * side
					}
					if side == 1 && tick%4 == 0 && tick > 0 {
						lines = append(lines, fmt.Sprintf("event=save tick=%d sum=0x%016x", tick, 7000+tick))
						for predicted := tick; predicted < tick+2; predicted++ {
							lines = append(lines, fmt.Sprintf("tick=%d system=Move phase=predicted sum=0x%016x", predicted, 9000+predicted),
								fmt.Sprintf("tick=%d system=Combat phase=predicted sum=0x%016x", predicted, 9100+predicted))
						}
						restored := 7000 + tick
						if tick == mismatch {
							restored++
						}
						lines = append(lines, fmt.Sprintf("event=restore tick=%d at=%d sum=0x%016x", tick, tick+2, restored))
					}
					lines = append(lines, fmt.Sprintf("tick=%d system=Move sum=0x%016x", tick, 1000*tick+1), fmt.Sprintf("tick=%d system=Combat sum=0x%016x", tick, 1000*tick+2+apart))
				}
				if err := os.MkdirAll(filepath.Join(dir, peer), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(filepath.Join(dir, peer, "checkpoints.trace"), []byte(strings.Join(append(lines, "%end"), "\n")+"\n"), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			r := judged(t, compare.Builds{}, dir)
			said := strings.Join(r.Verdict, " ")
			restored := strings.Contains(said, "that bert restored before tick 12 is not the state that it had saved there (expected 0x0000000000001b64, got 0x0000000000001b65)")
			d := r.FirstDivergence
			if d == nil || d.Tick == nil || *d.Tick != 12 || len(r.Contradictions) > 0 {
				t.Fatalf("%+v, contradictions %q", d, r.Contradictions)
			}
			if restored != (mismatch == 12) || restored == (d.System == "Combat") || restored != (len(r.Causes) == 3 && r.Causes[0].Class == verdict.SaveForgets) {
				t.Errorf("system %q, causes %v: %s", d.System, r.Causes, said)
			}
		})
	}
}

// TestKeptGuess: a wrong guess for the divergent tick, to which no restore leads back, is the cause. It is not if the peer
// went back, or if the other peer keeps such guesses too and nothing comes of it: then sums of inputs cover more than the
// games compare.
func TestKeptGuess(t *testing.T) {
	for name, test := range map[string]struct {
		kept [2][]int // ticks of each peer
		want bool
	}{
		"of the divergent tick":              {[2][]int{nil, {12}}, true},
		"of earlier ticks too":               {[2][]int{nil, {4, 8, 12}}, true},
		"of an earlier tick":                 {[2][]int{nil, {8}}, false},
		"corrected":                          {[2][]int{}, false},
		"of both peers":                      {[2][]int{{8}, {12}}, false},
		"of both peers, the other one later": {[2][]int{{16}, {12}}, true},
	} {
		dir := t.TempDir()
		for side, peer := range []string{"anna", "bert"} {
			lines := []string{"%desynctool trace 1", "%seed 7", fmt.Sprintf("%%peer %q", peer)}
			for tick := range 20 {
				if tick%4 == 0 && tick > 0 {
					lines = append(lines, fmt.Sprintf("event=save tick=%d sum=0x%016x", tick, 7000+tick),
						fmt.Sprintf("event=input tick=%d player=3 phase=predicted sum=0xaa", tick),
						fmt.Sprintf("tick=%d system=Move phase=predicted sum=0x%016x", tick, 9000+tick),
						fmt.Sprintf("event=input tick=%d player=3 sum=0xbb", tick))
					if !slices.Contains(test.kept[side], tick) {
						lines = append(lines, fmt.Sprintf("event=restore tick=%d at=%d sum=0x%016x", tick, tick+1, 7000+tick))
					}
				}
				sum := 1000 * tick
				if tick >= 12 {
					sum += 500 * side
				}
				lines = append(lines, fmt.Sprintf("tick=%d system=Move sum=0x%016x", tick, sum))
			}
			if err := os.MkdirAll(filepath.Join(dir, peer), 0o777); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, peer, "checkpoints.trace"), []byte(strings.Join(append(lines, "%end"), "\n")+"\n"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r := judged(t, compare.Builds{}, dir)
		if d := r.FirstDivergence; d == nil || d.Tick == nil || *d.Tick != 12 || len(r.Contradictions) > 0 {
			t.Fatalf("%s: %+v, contradictions %q", name, d, r.Contradictions)
		}
		seen := len(r.Causes) == 1 && r.Causes[0].Class == verdict.PredictionLeak && r.Causes[0].Standing == string(verdict.Seen) &&
			strings.Contains(strings.Join(r.Causes[0].Evidence, " "), "bert guessed the input of player 3 in the tick (0xaa), another one came (0xbb)")
		if seen != test.want || !seen && len(r.Causes) > 0 {
			t.Errorf("%s: causes %+v", name, r.Causes)
		}
	}
}
