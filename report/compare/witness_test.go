package compare_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/simulators"
	"github.com/desynctool/desynctool/snapshot"
)

// TestAsGame is no test: it is the game that plays a recording again, in a separate process. Its arguments are what it
// is (a specification of the reference sim, or a way to fail), the log, the folder, until and dump.
func TestAsGame(t *testing.T) {
	args := flag.Args()
	if len(args) < 3 {
		t.Skip("it is called as a game")
	}
	if err := playAsGame(args); err != nil {
		fmt.Println(err)
		os.Exit(3)
	}
	os.Exit(0)
}

func playAsGame(args []string) error {
	spec, out := args[0], args[2]
	switch spec {
	case "silent":
		return nil
	case "crash":
		fmt.Println("assertion failed: units >= 0")
		os.Exit(134)
	case "hang":
		time.Sleep(time.Hour)
	case "garbage":
		return os.WriteFile(filepath.Join(out, "order-log.bin"), []byte("no log at all"), 0o644)
	case "random":
		spec = "builtin:fault=wall-clock@20"
	}
	spec, lacks := strings.CutPrefix(spec, "lacks-column:")
	if table, ok := strings.CutPrefix(spec, "table="); ok {
		return playTable(table, args[1], out)
	}
	log, err := orderlog.ReadFile(args[1])
	if err != nil {
		return err
	}
	until, dump := uint64(1<<62), map[uint64]bool{}
	for _, arg := range args[3:] {
		name, value, _ := strings.Cut(arg, "=")
		for number := range strings.SplitSeq(value, ",") {
			n, err := strconv.ParseUint(number, 10, 64)
			if err != nil {
				return err
			}
			if name == "until" {
				until = n
			} else {
				dump[n] = true
			}
		}
	}
	sim, err := refsim.ParseSimulator(spec)
	if err != nil {
		return err
	}
	s, err := sim.Start(&log.Header)
	if err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(out, "order-log.bin"))
	if err != nil {
		return err
	}
	w, err := orderlog.NewWriter(f, log.Header, orderlog.WriterOptions{})
	if err != nil {
		return err
	}
	for i := range log.Ticks {
		tick := orderlog.Tick{Number: log.Ticks[i].Number, InputHash: log.Ticks[i].InputHash, Orders: log.Ticks[i].Orders}
		hash := s.SyncHash()
		tick.Hashes = []orderlog.Observed{{Peer: uint32(max(0, slices.Index(log.Header.Peers, log.Header.Peer))), Point: s.Point(), Kind: orderlog.SyncHash, Bytes: hash[:]}}
		if err := w.WriteTick(&tick); err != nil {
			return err
		}
		if dump[s.Point()] {
			world, err := s.(bisect.Saver).World()
			if err != nil {
				return err
			}
			if t := &world.Tables[0]; lacks {
				t.Columns = t.Columns[1:]
			}
			if err := snapshot.WriteFile(filepath.Join(out, snapshot.Name(log.Header.Seed, s.Point())), world, snapshot.WriteOptions{}); err != nil {
				return err
			}
		}
		if tick.Number > until {
			break
		}
		if err := s.Step(tick.Orders); err != nil {
			return err
		}
		fmt.Println("tick", s.Point())
	}
	return errors.Join(w.Close(), f.Close())
}

// asGame returns this test as a game.
func asGame(t *testing.T, spec string) *compare.Witness {
	t.Helper()
	w, err := simulators.Witness(fmt.Sprintf("run:'%s' -test.run=^TestAsGame$ -test.count=1 -- %s {log} {out} until={until} dump={dump}", os.Args[0], spec))
	if err != nil {
		t.Fatal(err)
	}
	w.Time = time.Minute
	return &compare.Witness{Witness: w, Context: t.Context()}
}

// witnessed triages paths with a game.
func witnessed(t *testing.T, w *compare.Witness, paths ...string) *document.Report {
	t.Helper()
	s, err := bundle.Open(archivetest.Open(t, paths...), paths)
	if err != nil {
		t.Fatal(err)
	}
	r, err := compare.Triage(s, compare.Builds{Witness: w}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// wrong are the peers that are wrong according to a report.
func wrong(r *document.Report) []string {
	if r.FirstDivergence == nil {
		return nil
	}
	return r.FirstDivergence.Wrong
}

// TestWitness: a game that plays the recordings again shows who is wrong, for two peers and for one alone, and the
// tick. The truth comes from the recording, which knows nothing of hashes.
func TestWitness(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "s")
	f, err := session.ParseFault("rng-leak@60:client")
	if err != nil {
		t.Fatal(err)
	}
	o := session.Options{Config: refsim.Config{Seed: 7, Entities: 120}, Ticks: 150, SnapshotEvery: 50, Faults: []session.Fault{f}}
	recording, err := session.RecordTo(dir, o, session.TraceSystem)
	if err != nil {
		t.Fatal(err)
	}
	bad := *recording.Truth.Bracket
	host, client := filepath.Join(dir, "host"), filepath.Join(dir, "client")
	for _, c := range []struct {
		what  string
		paths []string
		wrong []string
	}{
		{"both", []string{host, client}, []string{"client"}},
		{"the folder of both", []string{dir}, []string{"client"}},
		{"only who is wrong", []string{client}, []string{"client"}},
		{"only who is right", []string{host}, nil},
	} {
		if c.what == "both" && !effort.Full() {
			continue
		}
		r := witnessed(t, asGame(t, "builtin"), c.paths...)
		if !slices.Equal(wrong(r), c.wrong) {
			t.Errorf("%s: %v is wrong, expected %v: %v", c.what, wrong(r), c.wrong, r.Verdict)
		}
		if r.Witness == nil || r.Witness.Differ != nil || len(r.Witness.Failed) > 0 {
			t.Errorf("%s: %+v", c.what, r.Witness)
		}
		if d := r.FirstDivergence; c.wrong != nil && (d.Tick == nil || *d.Tick+1 != bad.Bad) {
			t.Errorf("%s: diverged at %+v, expected point %d", c.what, d.Bracket, bad.Bad)
		}
		if want := document.InSync; c.wrong == nil && r.Status != want {
			t.Errorf("%s: %s, expected %s: %v %v", c.what, r.Status, want, r.Verdict, r.Missing)
		}
	}
}

// TestWitnessLacks: dumps of a replay that lack a column are not compared with the peers' own states. Checksums are.
func TestWitnessLacks(t *testing.T) {
	for _, c := range []struct {
		fault  string
		wrong  []string
		status document.Status
	}{{"", nil, document.InSync}, {"rng-leak@60:client", []string{"client"}, document.Diverged}} {
		r := witnessed(t, asGame(t, "lacks-column:builtin"), playedWith(t, c.fault))
		if said := strings.Join(r.Verdict, " "); r.Status != c.status || !slices.Equal(wrong(r), c.wrong) || strings.Contains(said, "Yet") || strings.Contains(said, "not the game") {
			t.Errorf("%q: %s, wrong %v: %q", c.fault, r.Status, wrong(r), r.Verdict)
		}
	}
}

// TestWitnessOfOthers: a build other than the peers' build is not taken as proof, and one that does not do the same
// twice is reported.
func TestWitnessOfOthers(t *testing.T) {
	effort.Whole(t)
	dir := playedWith(t, "rng-leak@60:client")
	for spec, says := range map[string]string{
		"builtin:fault=rng-leak@10": "before the peers diverged, so it is not the game that they played",
		"builtin:fault=rng-leak@60": "", // the client's build: it shows the host as wrong, as it has to
		"random":                    "the game does not do the same twice",
	} {
		r := witnessed(t, asGame(t, spec), dir)
		if says == "" {
			if got := wrong(r); !slices.Equal(got, []string{"host"}) {
				t.Errorf("%s: %v is wrong, expected host: %v", spec, got, r.Verdict)
			}
			continue
		}
		if len(wrong(r)) > 0 || !strings.Contains(strings.Join(r.Verdict, " "), says) {
			t.Errorf("%s: %v is wrong: %v", spec, wrong(r), r.Verdict)
		}
	}
}

// TestWitnessFails: a game that fails is one line, and costs nothing else of the report.
func TestWitnessFails(t *testing.T) {
	effort.Whole(t)
	dir := playedWith(t, "rng-leak@60:client")
	for spec, says := range map[string]string{
		"silent":  "left nothing of a format that is read",
		"crash":   "ended with status 134; it said last: “assertion failed: units >= 0”",
		"hang":    "ran longer than 2s",
		"garbage": "left nothing of a format that is read",
	} {
		w := asGame(t, spec)
		if spec == "hang" {
			w.Time = 2 * time.Second
		}
		r := witnessed(t, w, dir)
		if r.Status != document.Diverged || r.FirstDivergence.Tick == nil || len(wrong(r)) > 0 {
			t.Errorf("%s: %s %+v %v", spec, r.Status, r.FirstDivergence, wrong(r))
		}
		if r.Witness == nil || len(r.Witness.Failed) != 2 || !strings.Contains(r.Witness.Failed[0], says) || !strings.Contains(r.Verdict[len(r.Verdict)-1], says) {
			t.Errorf("%s: %+v\n%v", spec, r.Witness, r.Verdict)
		}
	}
}

// TestWitnessInterrupted: a replay that is interrupted leaves the report of what is there.
func TestWitnessInterrupted(t *testing.T) {
	effort.Whole(t)
	dir := playedWith(t, "rng-leak@60:client")
	w := asGame(t, "hang")
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	w.Context = ctx
	r := witnessed(t, w, dir)
	if r.Status != document.Diverged || len(wrong(r)) > 0 || len(r.Witness.Failed) == 0 {
		t.Errorf("%s %v %+v", r.Status, wrong(r), r.Witness)
	}
}

// TestPlays: the ways in which a game plays a recording again.
func TestPlays(t *testing.T) {
	dir := playedWith(t, "rng-leak@60:client")
	play := func(peer, spec string, opts compare.Plays) bisect.Trials {
		path := filepath.Join(dir, peer)
		s, err := bundle.Open(archivetest.Open(t, path), []string{path})
		if err != nil {
			t.Fatal(err)
		}
		trials, _, err := compare.Play(s, *asGame(t, spec), opts)
		if err != nil {
			t.Fatal(err)
		}
		return trials
	}
	plain := play("client", "builtin", compare.Plays{Modes: []bisect.TrialMode{bisect.Plain}})[0]
	if plain.First == nil || plain.First.Diff == nil || plain.Agreed == nil || plain.First.Point != *plain.Agreed+1 {
		t.Errorf("the client departs nowhere: %+v", plain)
	}
	if own := play("host", "builtin", compare.Plays{Modes: []bisect.TrialMode{bisect.Plain}})[0]; own.First != nil || own.Compared == 0 {
		t.Errorf("the host departs: %+v", own)
	}
	if again := play("host", "random", compare.Plays{Modes: []bisect.TrialMode{bisect.Repeat}, Runs: 3})[0]; again.Hits != 2 || again.Runs != 2 || again.First == nil {
		t.Errorf("a clock is not seen: %+v", again)
	}
	against := play("host", "builtin", compare.Plays{Modes: []bisect.TrialMode{bisect.Against}, Against: asGame(t, "builtin:fault=rng-leak@60").Witness})[0]
	if against.First == nil || against.First.Point != plain.First.Point {
		t.Errorf("two builds: %+v, expected the point %d", against.First, plain.First.Point)
	}
}

// TestWitnessForced: if a version was forced to play, nothing follows for a peer alone, and the report names the
// version; a second peer that agrees shows that it computes the same.
func TestWitnessForced(t *testing.T) {
	effort.Whole(t)
	dir := playedWith(t, "rng-leak@60:client")
	forced := func(paths ...string) *document.Report {
		w := asGame(t, "builtin")
		w.Force = true
		w.Game.Check = func(context.Context, *engine.Program, *engine.Recording) error {
			return &engine.Refusal{Why: "it was recorded with 1, and game is 2", Version: true}
		}
		return witnessed(t, w, paths...)
	}
	alone := forced(filepath.Join(dir, "client"))
	if len(wrong(alone)) > 0 || !strings.Contains(strings.Join(alone.Verdict, " "), "it was recorded with 1, and game is 2") || len(alone.Witness.Forced) != 1 {
		t.Errorf("%v is wrong: %v %+v", wrong(alone), alone.Verdict, alone.Witness)
	}
	both := forced(dir)
	if !slices.Equal(wrong(both), []string{"client"}) || !strings.Contains(strings.Join(both.Verdict, " "), "by another version, which was forced to play") {
		t.Errorf("%v is wrong: %v", wrong(both), both.Verdict)
	}
}
