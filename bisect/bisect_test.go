package bisect

import (
	"fmt"
	"math/bits"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// state is what one peer's snapshot of one point holds in these tests.
type state struct {
	value   uint64
	history byte // 0 for none
	epoch   uint32
}

func (s state) world(seed, tick uint64, peer string) *snapshot.World {
	c := snapshot.NewColumn("Health", "hp", snapshot.U64, 0)
	c.AppendUint(s.value)
	w := &snapshot.World{
		Head:   snapshot.Head{Seed: seed, Point: snapshot.Point{Tick: tick}, Peer: peer, Epoch: s.epoch},
		Tables: []snapshot.Table{{Label: "Infantry", Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{c}}},
	}
	w.History[0] = s.history
	return w
}

const testSeed = 7

// fataler is what *testing.T and *rapid.T have in common.
type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func write(t fataler, dir string, tick uint64, s state, peer string) string {
	t.Helper()
	path := filepath.Join(dir, snapshot.Name(testSeed, tick))
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatalf("%v", err)
	}
	if err := snapshot.WriteFile(path, s.world(testSeed, tick, peer), snapshot.WriteOptions{Plain: true}); err != nil {
		t.Fatalf("%v", err)
	}
	return path
}

// peersOf writes two peers' snapshots; a nil entry is missing.
func peersOf(t fataler, dir string, a, b []*state) []string {
	t.Helper()
	dirs := []string{filepath.Join(dir, "host"), filepath.Join(dir, "client")}
	for i, list := range [][]*state{a, b} {
		if err := os.MkdirAll(dirs[i], 0o777); err != nil {
			t.Fatalf("%v", err)
		}
		for tick, s := range list {
			if s != nil {
				write(t, dirs[i], uint64(tick*100), *s, "")
			}
		}
	}
	return dirs
}

func run1(t fataler, dirs []string, opts Options) *Result {
	t.Helper()
	r, err := Run(gather(t, dirs), opts)
	if err != nil {
		t.Fatalf("%v", err)
	}
	return r
}

// gather returns the peers that have snapshots and order logs in folders, or in the folders in them.
func gather(t fataler, dirs []string) (peers []*Peer) {
	t.Helper()
	for _, dir := range dirs {
		sets, err := snapshot.Find(files.Disk, dir, []snapshot.Format{snapshot.SnapFormat()})
		if err != nil {
			t.Fatalf("%v", err)
		}
		for _, set := range sets {
			p, err := OpenFolder(set.Path)
			if err != nil {
				t.Fatalf("%v", err)
			}
			peers = append(peers, p)
		}
	}
	return peers
}

// span prints a bracket: "(good,bad]", good "-" if there is none.
func span(r *Result) string {
	if r.Bracket == nil {
		return "in sync"
	}
	good := "-"
	if r.Bracket.Good != nil {
		good = r.Bracket.Good.String()
	}
	return "(" + good + "," + r.Bracket.Bad.String() + "]"
}

func list(s ...state) []*state {
	out := make([]*state, len(s))
	for i := range s {
		out[i] = &s[i]
	}
	return out
}

func TestBrackets(t *testing.T) {
	same := state{value: 1, history: 1}
	parted := state{value: 2, history: 2}
	healed := state{value: 1, history: 2}
	bare, bareParted := state{value: 1}, state{value: 2}
	for name, c := range map[string]struct {
		a, b    []*state
		want    string
		initial bool
		probes  int
		healed  string
		say     string // in notes, contradictions or lost
	}{
		"in sync, by both ends":       {a: list(same, same, same, same), b: list(same, same, same, same), want: "in sync", probes: 2},
		"diverged in the middle":      {a: list(same, same, same, same), b: list(same, same, parted, parted), want: "(100,200]", probes: 4},
		"diverged at the start":       {a: list(same, same), b: list(parted, parted), want: "(-,0]", initial: true, probes: 2},
		"healed at once":              {a: list(same, same, same), b: list(same, healed, healed), want: "(0,100]", probes: 3, healed: "100"},
		"healed later":                {a: list(same, same, same, same), b: list(same, parted, healed, healed), want: "(0,100]", probes: 3, healed: "200"},
		"without history":             {a: list(bare, bare, bare), b: list(bare, bareParted, bareParted), want: "(0,100]", probes: 3},
		"healed without history":      {a: list(bare, bare, bare, bare), b: list(bare, bareParted, bare, bare), want: "(0,100]", probes: 3, healed: "200"},
		"equal without history":       {a: list(bare, bare, bare, bare), b: list(bare, bare, bare, bare), want: "in sync", probes: 4},
		"one pair":                    {a: list(same), b: list(same), want: "in sync", probes: 1},
		"a point is missing":          {a: []*state{&same, nil, &same, &same}, b: list(same, same, parted, parted), want: "(0,200]", probes: 3},
		"equal histories lie":         {a: list(same, same, same), b: list(same, state{value: 9, history: 1}, state{value: 9, history: 1}), want: "(0,100]", probes: 3, say: "history hashes"},
		"resync between two desyncs":  {a: list(same, same, same, same), b: list(same, parted, state{1, 1, 1}, state{2, 2, 1}), want: "(0,100]", probes: 4},
		"desync after a resync":       {a: list(same, same, same, same), b: list(same, same, state{1, 1, 1}, state{2, 2, 1}), want: "(200,300]", probes: 4},
		"bad resync":                  {a: list(same, same, same, same), b: list(same, same, state{2, 2, 1}, state{2, 2, 1}), want: "(100,200]", probes: 4},
		"another chain after a load":  {a: list(same, same, same, same), b: list(same, state{1, 7, 1}, state{1, 8, 1}, state{1, 9, 1}), want: "in sync", probes: 4},
		"desync in another chain":     {a: list(same, same, same, same), b: list(same, state{1, 7, 1}, state{2, 8, 1}, state{1, 9, 1}), want: "(100,200]", probes: 4},
		"bad load, adopted history":   {a: list(same, same, same), b: list(same, state{2, 1, 1}, state{2, 2, 1}), want: "(0,100]", probes: 3},
		"in sync through many epochs": {a: list(same, same, same, same), b: list(same, state{1, 1, 1}, state{1, 1, 2}, state{1, 1, 3}), want: "in sync", probes: 4},
	} {
		t.Run(name, func(t *testing.T) {
			r := run1(t, peersOf(t, t.TempDir(), c.a, c.b), Options{})
			if got := span(r); got != c.want || r.InitialState != c.initial || r.Probes != c.probes {
				t.Errorf("%s, initial %v, %d probes; want %s, %v, %d", got, r.InitialState, r.Probes, c.want, c.initial, c.probes)
			}
			if c.healed != "" && (r.Healed == nil || r.Healed.String() != c.healed) {
				t.Errorf("healed at %v, want %s", r.Healed, c.healed)
			}
			if all := strings.Join(slices.Concat(r.Notes, r.Contradictions, r.Lost), "\n"); !strings.Contains(all, c.say) {
				t.Errorf("%q does not say %q", all, c.say)
			}
			if r.Diverged() && len(r.Groups) != 2 {
				t.Errorf("groups %v", r.Groups)
			}
		})
	}
}

// TestSearchAgainstLinearScan draws sessions with epochs and missing or corrupt
// snapshots and compares with a scan over every pair.
func TestSearchAgainstLinearScan(t *testing.T) {
	effort.Checks(t, 15)
	dir := t.TempDir()
	session := 0
	rapid.Check(t, func(t *rapid.T) {
		session++
		n := rapid.IntRange(1, 40).Draw(t, "points")
		a, b := make([]*state, n), make([]*state, n)
		broken := make([]bool, n)
		epoch, apart := uint32(0), false
		for i := range n {
			switch rapid.IntRange(0, 19).Draw(t, "event") {
			case 0:
				epoch++
				apart = rapid.IntRange(0, 3).Draw(t, "bad resync") == 0
			case 1:
				apart = true
			}
			a[i] = &state{value: 1, history: 1}
			b[i] = &state{value: 1, history: 1, epoch: epoch}
			if apart {
				b[i].history = 2
				b[i].value = uint64(rapid.IntRange(1, 2).Draw(t, "healed"))
			}
			if rapid.IntRange(0, 9).Draw(t, "missing") == 0 {
				b[i] = nil
			}
			broken[i] = b[i] != nil && rapid.IntRange(0, 9).Draw(t, "broken") == 0
		}
		base := filepath.Join(dir, fmt.Sprint(session))
		dirs := peersOf(t, base, a, b)
		defer os.RemoveAll(base)
		good, want, points := -1, "in sync", 0
		any := false
		seen, joined := uint32(0), true // the epoch, and whether its histories go on from a's
		for i := range n {
			if b[i] == nil {
				continue
			}
			points++
			if broken[i] {
				any = true
				if err := os.Truncate(filepath.Join(dirs[1], snapshot.Name(testSeed, uint64(i*100))), 50); err != nil {
					t.Fatalf("%v", err)
				}
				continue
			}
			if b[i].epoch != seen {
				seen, joined = b[i].epoch, b[i].history == a[i].history
			}
			if want == "in sync" && (b[i].value != a[i].value || joined && b[i].history != a[i].history) {
				if want = fmt.Sprintf("(-,%d]", i*100); good >= 0 {
					want = fmt.Sprintf("(%d,%d]", good*100, i*100)
				}
			}
			good = i
		}
		if points == 0 {
			return
		}
		r := run1(t, dirs, Options{})
		if got := span(r); got != want {
			t.Fatalf("%s, a scan finds %s", got, want)
		}
		if got, want := splitsText(r.Splits), scanSplits(a, b, broken); got != want {
			t.Fatalf("splits %s, a scan finds %s", got, want)
		}
		if r.Snapshots != points {
			t.Fatalf("%d common points, want %d", r.Snapshots, points)
		}
		if !any && epoch == 0 {
			if most := bits.Len(uint(points-1)) + 2; r.Probes > most {
				t.Fatalf("%d probes of %d points, at most %d", r.Probes, points, most)
			}
		}
	})
}

// splitsText prints splits as "(good,bad] healed; …".
func splitsText(list []Split) string {
	var parts []string
	for _, s := range list {
		good, healed := "-", "never"
		if s.Good != nil {
			good = s.Good.String()
		}
		if s.Healed != nil {
			healed = s.Healed.String()
		}
		parts = append(parts, fmt.Sprintf("(%s,%s] %s", good, s.Bad, healed))
	}
	return strings.Join(parts, "; ")
}

// scanSplits finds the splits by one scan over every pair that can be read: a pair has diverged if its values differ,
// or if its histories do and nothing has shown it in that epoch since they were last equal.
func scanSplits(a, b []*state, broken []bool) string {
	var parts []string
	good, apart, told := "-", false, false // told: the histories of this epoch are known to have diverged
	epoch := uint32(0)
	for i := range a {
		if b[i] == nil || broken[i] {
			continue
		}
		point := fmt.Sprint(i * 100)
		sameValue, sameHistory := a[i].value == b[i].value, a[i].history == b[i].history
		if b[i].epoch != epoch {
			epoch, told = b[i].epoch, !sameHistory // histories that do not go on from the same one show nothing
		}
		if sameHistory {
			told = false
		}
		if !apart && (!sameValue || !sameHistory && !told) {
			parts, apart = append(parts, fmt.Sprintf("(%s,%s]", good, point)), true
		}
		told = told || !sameHistory
		if sameValue {
			if apart {
				parts[len(parts)-1] += " " + point
			}
			good, apart = point, false
		}
	}
	if apart {
		parts[len(parts)-1] += " never"
	}
	return strings.Join(parts, "; ")
}

func TestProbesOfManyPoints(t *testing.T) {
	dir := t.TempDir()
	n, first, within, probes := 80, 57, "(5600,5700]", 8
	if effort.Full() {
		n, first, within, probes = 300, 217, "(21600,21700]", 10
	}
	a, b := make([]*state, n), make([]*state, n)
	for i := range n {
		a[i], b[i] = &state{1, 1, 0}, &state{1, 1, 0}
		if i >= first {
			b[i] = &state{2, 2, 0}
		}
	}
	r := run1(t, peersOf(t, dir, a, b), Options{})
	if span(r) != within || r.Probes != probes {
		t.Errorf("%s after %d probes", span(r), r.Probes)
	}
}

func TestCorruptSnapshotsAreLostEvidence(t *testing.T) {
	same := state{1, 1, 0}
	dirs := peersOf(t, t.TempDir(), list(same, same, same), list(same, same, same))
	path := filepath.Join(dirs[1], snapshot.Name(testSeed, 200))
	if err := os.Truncate(path, 60); err != nil {
		t.Fatal(err)
	}
	r := run1(t, dirs, Options{})
	if r.Diverged() || len(r.Lost) != 1 || !strings.Contains(r.Lost[0], path) {
		t.Errorf("%s, lost %q", span(r), r.Lost)
	}
}

// TestWrongCutsAreLostEvidence: a head gives another root for the same rows if they are
// cut into other blocks, so that the bad end of a bracket is looked at.
func TestWrongCutsAreLostEvidence(t *testing.T) {
	same := state{value: 1}
	for _, c := range []struct {
		after [2]state
		want  string
	}{
		{[2]state{{value: 1}, {value: 1}}, "in sync"},
		{[2]state{{value: 1}, {value: 2}}, "(100,300]"},
	} {
		dirs := peersOf(t, t.TempDir(), list(same, same, same, c.after[0]), list(same, same, same, c.after[1]))
		var path string
		for i, name := range []string{"right", "wrong"} {
			b, err := os.ReadFile("../testdata/cuts/" + name + ".snap")
			if err != nil {
				t.Fatal(err)
			}
			path = filepath.Join(dirs[i], snapshot.Name(testSeed, 200))
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r := run1(t, dirs, Options{})
		if span(r) != c.want || len(r.Lost) != 1 || !strings.HasPrefix(r.Lost[0], path+": corrupt at offset ") {
			t.Errorf("%s, want %s; lost %q", span(r), c.want, r.Lost)
		}
	}
}

func TestNamesAndHeaders(t *testing.T) {
	same, parted := state{1, 1, 0}, state{2, 2, 0}
	dirs := peersOf(t, t.TempDir(), list(same, same, same, same), list(same, same, parted, parted))
	in := func(dir int, name string) string { return filepath.Join(dirs[dir], name) }
	rename := func(from, to string) {
		if err := os.Rename(from, to); err != nil {
			t.Fatal(err)
		}
	}
	rename(in(0, snapshot.Name(testSeed, 100)), in(0, "desync_7_100.snap"))                    // not padded
	rename(in(0, snapshot.Name(testSeed, 200)), in(0, "before the battle.snap"))               // renamed
	rename(in(1, snapshot.Name(testSeed, 300)), in(1, snapshot.Name(testSeed, 7777)))          // of another point
	rename(write(t, in(1, "x"), 400, same, ""), in(1, snapshot.Name(99, 400)))                 // of another session
	rename(write(t, in(0, "x"), 7777, same, ""), filepath.Join(dirs[0], "desync_7_7777.snap")) // makes a pair with the misnamed
	r := run1(t, dirs, Options{})
	if span(r) != "(100,200]" {
		t.Errorf("%s", span(r))
	}
	all := strings.Join(r.Warnings, "\n")
	for _, want := range []string{"stale: of seed 0000000000000063", "the name has seed 0000000000000007, state point 7777; the header has seed 0000000000000007, state point 300"} {
		if !strings.Contains(all, want) {
			t.Errorf("no warning %q in\n%s", want, all)
		}
	}
}

func TestOtherGame(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	for i, d := range []string{a, b} {
		if err := os.MkdirAll(d, 0o777); err != nil {
			t.Fatal(err)
		}
		seed := uint64(i + 1)
		if err := snapshot.WriteFile(filepath.Join(d, snapshot.Name(seed, 0)), state{}.world(seed, 0, ""), snapshot.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := Run(gather(t, []string{a, b}), Options{}); err == nil || !strings.Contains(err.Error(), "nothing of the session") {
		t.Errorf("%v", err)
	}
}

func TestThreePeers(t *testing.T) {
	dir := t.TempDir()
	write3 := func(name string, partedFrom int) string {
		d := filepath.Join(dir, name)
		for i := range 6 {
			s := state{1, 1, 0}
			if i >= partedFrom {
				s = state{uint64(partedFrom) + 5, byte(partedFrom) + 5, 0}
			}
			write(t, d, uint64(i*100), s, name)
		}
		return d
	}
	dirs := []string{write3("host", 99), write3("carol", 4), write3("bob", 2)}
	r := run1(t, dirs, Options{})
	if span(r) != "(100,200]" || fmt.Sprint(r.Groups) != "[[host carol] [bob]]" {
		t.Errorf("%s, groups %v", span(r), r.Groups)
	}
	one := run1(t, []string{dir}, Options{}) // a folder of folders
	if span(one) != "(100,200]" || len(one.Peers) != 3 {
		t.Errorf("%s, peers %v", span(one), one.Peers)
	}
}

// writeLog writes a log with a sync hash for each point of hashes.
func writeLog(t *testing.T, dir, peer string, hashes []byte) {
	t.Helper()
	syncs := make([]merkle.Short, len(hashes))
	for i, h := range hashes {
		syncs[i] = merkle.Short{h}
	}
	writeSyncs(t, dir, peer, syncs)
}

func writeSyncs(t *testing.T, dir, peer string, syncs []merkle.Short) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(filepath.Join(dir, LogName))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := orderlog.NewWriter(f, orderlog.Header{Seed: testSeed, Peer: peer, Peers: []string{"client", "host"}}, orderlog.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	own := uint32(slices.Index([]string{"client", "host"}, peer))
	for i, sync := range syncs {
		err := w.WriteTick(&orderlog.Tick{Number: uint64(i), Hashes: []orderlog.Observed{{Point: uint64(i), Peer: own, Kind: orderlog.SyncHash, Bytes: sync[:]}}})
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestLogsGiveTheTick(t *testing.T) {
	dir := t.TempDir()
	host, client := filepath.Join(dir, "host"), filepath.Join(dir, "client")
	writeLog(t, host, "host", []byte{1, 2, 3, 4, 5, 6, 7, 8})
	writeLog(t, client, "client", []byte{1, 2, 3, 4, 9, 6, 7, 9})
	r := run1(t, []string{host, client}, Options{})
	if span(r) != "(3,4]" || !r.Exact || r.Tick != 3 || r.Healed == nil || r.Healed.Tick != 5 || r.Bracket.By != ByHashes {
		t.Errorf("%s, exact %v, tick %d, healed %v, by %s", span(r), r.Exact, r.Tick, r.Healed, r.Bracket.By)
	}
	if fmt.Sprint(r.Groups) != "[[host] [client]]" {
		t.Errorf("groups %v", r.Groups)
	}
}

func TestLogsAndSnapshotsThatContradict(t *testing.T) {
	dir := t.TempDir()
	host, client := filepath.Join(dir, "host"), filepath.Join(dir, "client")
	// The first is a root, so that the others are meant to be.
	syncs := []merkle.Short{rootAtPoint(t, state{1, 1, 0}, 0), {2}, {3}, {4}, {5}}
	writeSyncs(t, host, "host", syncs)
	writeSyncs(t, client, "client", syncs)
	for _, tick := range []uint64{0, 4} {
		write(t, host, tick, state{1, 1, 0}, "")
		write(t, client, tick, state{1 + tick, 1 + byte(tick), 0}, "")
	}
	r := run1(t, []string{host, client}, Options{})
	all := strings.Join(r.Contradictions, "\n")
	if span(r) != "(3,4]" && span(r) != "(0,4]" {
		t.Errorf("%s", span(r))
	}
	for _, want := range []string{"the snapshots differ, the recorded sync hashes are both", "the log has sync hash"} {
		if !strings.Contains(all, want) {
			t.Errorf("contradictions %q lack %q", all, want)
		}
	}
}

func rootAtPoint(t *testing.T, s state, tick uint64) merkle.Short {
	t.Helper()
	held, err := snapshot.Hold(s.world(testSeed, tick, ""))
	if err != nil {
		t.Fatal(err)
	}
	return held.Info().Root.Short()
}

func TestTornLogIsLostEvidence(t *testing.T) {
	dir := t.TempDir()
	host, client := filepath.Join(dir, "host"), filepath.Join(dir, "client")
	writeLog(t, host, "host", []byte{1, 2, 3})
	writeLog(t, client, "client", []byte{1, 2, 3})
	path := filepath.Join(client, LogName)
	stat, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(path, stat.Size()-30); err != nil {
		t.Fatal(err)
	}
	r := run1(t, []string{host, client}, Options{})
	if r.Diverged() || len(r.Lost) != 1 || !strings.Contains(r.Lost[0], "torn") {
		t.Errorf("%s, lost %q", span(r), r.Lost)
	}
}

// TestSwappedNames: two snapshots with each other's name find their places,
// and so does one that shares its point with a misnamed one.
func TestSwappedNames(t *testing.T) {
	same, parted := state{1, 1, 0}, state{2, 2, 0}
	dirs := peersOf(t, t.TempDir(), list(same, same, same, same, same), list(same, same, parted, parted, parted))
	in := func(name string) string { return filepath.Join(dirs[1], name) }
	move := func(from, to string) {
		if err := os.Rename(in(from), in(to)); err != nil {
			t.Fatal(err)
		}
	}
	move(snapshot.Name(testSeed, 100), "aside")
	move(snapshot.Name(testSeed, 200), snapshot.Name(testSeed, 100))
	move("aside", snapshot.Name(testSeed, 200))
	move(snapshot.Name(testSeed, 400), "desync_7_300.snap")
	r := run1(t, dirs, Options{})
	if span(r) != "(100,200]" || r.Snapshots != 5 || len(r.Warnings) != 3 {
		t.Errorf("%s of %d points, warnings %q", span(r), r.Snapshots, r.Warnings)
	}
}

// TestRunChangesNothing: the caller's input stays as it was, so that it can be searched again.
func TestRunChangesNothing(t *testing.T) {
	same, parted := state{1, 1, 0}, state{2, 2, 0}
	dirs := peersOf(t, t.TempDir(), list(same, same, same, same), list(same, same, parted, parted))
	in := func(name string) string { return filepath.Join(dirs[1], name) }
	if err := os.Rename(in(snapshot.Name(testSeed, 300)), in(snapshot.Name(testSeed, 7777))); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(write(t, in("x"), 400, same, ""), in(snapshot.Name(99, 400))); err != nil {
		t.Fatal(err)
	}
	write(t, dirs[0], 7777, same, "")
	traces, err := tracediff.Compare(nil, tracediff.Options{Claims: []*tracediff.ClaimLog{{Claims: []tracediff.Claim{{Text: "desync", Tick: 250, HasTick: true}}}}})
	if err != nil {
		t.Fatal(err)
	}
	peers := gather(t, dirs)
	entries := func() (text []string) {
		for _, p := range peers {
			text = append(text, fmt.Sprint(p.Name, p.Lost, p.Notes, p.Snapshots.Warnings))
			for _, e := range p.Snapshots.Entries {
				text = append(text, fmt.Sprint(e.Path(), e.Seed, e.Point))
			}
		}
		return append(text, fmt.Sprint(traces.Claims))
	}
	before := entries()
	var first *Result
	for range 2 {
		r, err := Run(peers, Options{Traces: []*tracediff.Result{traces}})
		if err != nil {
			t.Fatal(err)
		}
		if span(r) != "(100,200]" || len(r.Warnings) != 2 || r.Traces[0].Claims[0].Standing != tracediff.Late {
			t.Errorf("%s, warnings %q, claim %s", span(r), r.Warnings, r.Traces[0].Claims[0].Standing)
		}
		if after := entries(); !slices.Equal(before, after) {
			t.Errorf("before %q, after %q", before, after)
		}
		if n := len(r.Peers[1].States.Entries); n != 4 || r.Peers[1].Snapshots != 4 || r.Peers[1].States.Entries[3].Point.Tick != 300 {
			t.Errorf("%d states of %s", n, r.Peers[1].Name)
		}
		if first != nil && !slices.Equal(first.Warnings, r.Warnings) {
			t.Errorf("warnings %q, then %q", first.Warnings, r.Warnings)
		}
		first = r
	}
}

// TestDamageIsNotInSync: whichever bit of a snapshot between the first and the last is flipped, the answer is not that nothing
// differs. The heads of both are equal, and the search believes a head.
func TestDamageIsNotInSync(t *testing.T) {
	states := []*state{{1, 1, 0}, {2, 2, 0}, {3, 3, 0}}
	dirs := peersOf(t, t.TempDir(), states, states)
	if r := run1(t, dirs, Options{}); r.Bracket != nil || len(r.Lost) > 0 || len(r.Content) != 2 {
		t.Fatalf("undamaged: %+v, %v, read whole at %v", r.Bracket, r.Lost, r.Content)
	}
	if r := run1(t, dirs, Options{Verify: true}); len(r.Content) != 3 {
		t.Errorf("with Verify read whole at %v", r.Content)
	}
	path := filepath.Join(dirs[1], snapshot.Name(testSeed, 100))
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(sound); at += effort.Of(61, 1) {
		b := slices.Clone(sound)
		b[at] ^= 1 << (at % 8)
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
		if r := run1(t, dirs, Options{}); r.Bracket != nil || len(r.Lost) == 0 {
			t.Errorf("byte %d of %d is another: %+v, lost %v", at, len(sound), r.Bracket, r.Lost)
		}
	}
}

// TestFolderOfAnother: a peer that calls itself by the name of another's folder does not take that name.
func TestFolderOfAnother(t *testing.T) {
	for _, says := range [][2]string{{"host", "host"}, {"host", "client"}, {"", "host"}, {"alice", "host"}} {
		peers := []*peer{{Peer: &Peer{Path: "s/alice"}, says: says[0]}, {Peer: &Peer{Path: "s/host"}, says: says[1]}}
		r := &Result{}
		r.name(peers)
		want := [2]string{"alice", "host"}
		if says[1] == "client" {
			want[1] = "client" // nobody's folder
		}
		if got := [2]string{peers[0].name, peers[1].name}; got != want {
			t.Errorf("%q: %q, expected %q", says, got, want)
		}
		if told := len(r.notes) > 0; told != (says[0] == says[1]) {
			t.Errorf("%q: %v", says, r.notes)
		}
	}
}
