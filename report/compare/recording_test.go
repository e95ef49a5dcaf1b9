package compare_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/peers"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// The pieces of docs/recording.md: the files that a peer may leave.
const (
	pieceOrders     = "orders"
	pieceSync       = "sync"
	pieceState      = "state"
	pieceHistory    = "history"
	pieceSystems    = "systems"
	pieceArchetypes = "archetypes"
	pieceColumns    = "columns"
	piecePeriodic   = "periodic"
	pieceSplit      = "split"
	pieceLate       = "late"
	pieceReport     = "report"
)

// mistaken are the sessions that the page was measured on, with the mistake in each and its class. The first ones
// belong to a small sample.
var mistaken = []struct {
	fault string
	seed  uint64
	class string
}{
	{"unstable-sort/Movement@41", 5, verdict.UnstableSort}, {"order-dropped/Movement@33", 9, verdict.InputDropped},
	{"float-fma/Morale@33", 1, verdict.Float}, {"order-altered/Combat@37", 10, verdict.InputAltered},
	{"map-order/Combat@31", 4, verdict.IterationOrder}, {"uninitialized/Combat@36", 8, verdict.Uninitialized},
	{"bit-flip/Movement@37", 11, verdict.BitFlip}, {"save-omits-field/Movement@37", 12, verdict.SaveForgets},
}

// The points of the snapshots of these sessions: each periodic one is also one of the often ones.
const (
	often    = 10
	seldom   = 50
	lateness = 10 // ticks at least between the split and a late snapshot
)

// known is a session and where its mistake showed.
type known struct {
	*session.Recording
	fault   string
	class   string
	network bool              // the mistake is made on the way of an order
	traces  map[string]string // paths of traces of less detail, by path and detail
}

// playMistaken plays a session and writes everything of it.
func playMistaken(t *testing.T, fault string, seed uint64, class string) known {
	t.Helper()
	f, err := session.ParseFault(fault + ":client")
	if err != nil {
		t.Fatal(err)
	}
	o := session.Options{Config: refsim.Config{Seed: seed, Entities: 150}, Ticks: 80, SnapshotEvery: often, Faults: []session.Fault{f}}
	r, err := session.RecordTo(filepath.Join(t.TempDir(), "s"), o, session.TraceColumn)
	if err != nil {
		t.Fatal(err)
	}
	if r.Truth.Bracket == nil || r.Truth.Bracket.Bad%often == 0 || r.Truth.Bracket.Bad+2*often > o.Ticks {
		t.Fatalf("%s, seed %d: the truth is %+v, of no use here", fault, seed, r.Truth.Bracket)
	}
	return known{r, fault, class, strings.HasPrefix(fault, "order-"), map[string]string{}}
}

// leave copies what is to be left of a session's artifacts, and returns the peers' folders.
func (k known) leave(t *testing.T, pieces []string) (dirs []string) {
	t.Helper()
	root := t.TempDir()
	for _, p := range k.Peers {
		dir := filepath.Join(root, p.Name)
		if err := os.Mkdir(dir, 0o777); err != nil {
			t.Fatal(err)
		}
		dirs = append(dirs, dir)
		bad := k.Truth.Bracket.Bad
		for i, point := range p.Points {
			late := point - point%often
			if slices.Contains(pieces, piecePeriodic) && point%seldom == 0 ||
				slices.Contains(pieces, pieceSplit) && point == bad ||
				slices.Contains(pieces, pieceLate) && point == late && late >= bad+lateness && late < bad+lateness+often {
				copyFile(t, p.Snapshots[i], filepath.Join(dir, filepath.Base(p.Snapshots[i])))
			}
		}
		for _, detail := range []string{pieceSystems, pieceArchetypes, pieceColumns} {
			if slices.Contains(pieces, detail) {
				copyFile(t, k.traceOf(t, p.Trace, detail), filepath.Join(dir, filepath.Base(p.Trace)))
			}
		}
		if slices.Contains(pieces, pieceOrders) {
			copyLog(t, p.Log, filepath.Join(dir, filepath.Base(p.Log)), pieces)
		}
	}
	return dirs
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(to, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// copyLog copies an order log with those kinds of hashes that are named.
func copyLog(t *testing.T, from, to string, kinds []string) {
	t.Helper()
	r, err := orderlog.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := orderlog.NewWriter(out, r.Header(), orderlog.WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	gone := func(o orderlog.Observed) bool { return !slices.Contains(kinds, string(o.Kind)) }
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if record.Tick != nil {
			record.Tick.Hashes = slices.DeleteFunc(slices.Clone(record.Tick.Hashes), gone)
			err = w.WriteTick(record.Tick)
		} else if left := slices.DeleteFunc(slices.Clone(record.Observed), gone); len(left) > 0 {
			err = w.WriteObserved(left)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// traceOf returns the path of a trace that has no more detail than is said.
func (k known) traceOf(t *testing.T, from, detail string) string {
	t.Helper()
	if detail == pieceColumns {
		return from
	}
	to := from + "." + detail
	if k.traces[to] == "" {
		copyTrace(t, from, to, detail)
		k.traces[to] = to
	}
	return to
}

// copyTrace copies a trace of columns with no more detail than is said.
func copyTrace(t *testing.T, from, to, detail string) {
	t.Helper()
	in, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r, err := tracediff.NewReader(in, from, tracediff.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close()
	w, err := tracediff.NewWriter(out, r.Header())
	if err != nil {
		t.Fatal(err)
	}
	for {
		record, err := r.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil || record.Checkpoint == nil {
			t.Fatalf("%s: %+v, %v", from, record, err)
		}
		scope := record.Checkpoint.Scope
		if detail == pieceSystems && scope != "" || detail == pieceArchetypes && strings.Contains(scope, "/") {
			continue
		}
		if err := w.WriteCheckpoint(record.Checkpoint); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

// conclude triages folders, with the trusted build, and with the build of the peer that went wrong.
func (k known) conclude(t *testing.T, dirs []string, sim, own bool) *document.Report {
	t.Helper()
	var b compare.Builds
	if sim {
		b.Sim = refsim.Simulator()
	}
	if own {
		b.Own = refsim.Simulator()
		if !k.network && !strings.HasPrefix(k.fault, "bit-flip") { // else the build was sound
			var err error
			if b.Own, err = refsim.ParseSimulator("builtin:fault=" + k.fault); err != nil {
				t.Fatal(err)
			}
		}
	}
	s, err := bundle.OpenPaths(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := compare.Triage(s, b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// The answers that a cell of the page may have for one session.
const (
	told  = "yes"
	later = "late" // values, of a later point
	mute  = "no"
)

// told returns how a report answers the questions of the page that no replay is needed for; a
// wrong answer is an error.
func (k known) told(t *testing.T, r *document.Report) map[string]string {
	t.Helper()
	truth, d := k.Truth, r.FirstDivergence
	answers := map[string]string{}
	say := func(column string, answered bool, right func() bool) {
		answers[column] = mute
		if answered {
			answers[column] = told
			if !right() {
				t.Errorf("%s, %s: wrong:\n%q", k.fault, column, r.Verdict)
			}
		}
	}
	inputs := document.RungOpen
	for _, rung := range r.Ladder {
		if rung.Step == "inputs" {
			inputs = rung.State
		}
	}
	say("inputs", inputs == document.RungEqual || inputs == document.RungFound, func() bool { return (inputs == document.RungFound) == k.network })
	if d == nil {
		d = &document.FirstDivergence{}
	}
	say("bracket", d.Bracket != nil, func() bool {
		return d.Bracket.Bad >= truth.Bracket.Bad && (d.Bracket.Good == nil || *d.Bracket.Good <= *truth.Bracket.Good)
	})
	say("tick", d.Tick != nil, func() bool { return *d.Tick == *truth.Bracket.Good })
	say("system", d.System != "", func() bool { return d.System == *truth.System })
	say("archetype", d.Root, func() bool { return d.Archetypes[0] == *truth.Archetype })
	say("component", d.Component != "", func() bool { return d.Component == *truth.Component })
	say("values", r.Compared != nil, func() bool { return r.Compared.Point >= truth.Bracket.Bad })
	if r.Compared != nil && r.Compared.Point > truth.Bracket.Bad {
		answers["values"] = later
	}
	return answers
}

// blamed returns whether a report names the peer that went wrong.
func (k known) blamed(t *testing.T, r *document.Report) string {
	t.Helper()
	answer := mute
	for _, p := range r.Peers {
		if p.MatchesReference != nil && !*p.MatchesReference {
			answer = told
			if p.Name != "client" || k.network {
				t.Errorf("%s: %s is blamed", k.fault, p.Name)
			}
		}
	}
	return answer
}

// lacking counts the sessions without an answer.
func lacking(answers []string) (n int) {
	for _, answer := range answers {
		if answer == mute {
			n++
		}
	}
	return n
}

// cell makes one cell of the answers of several sessions.
func cell(answers []string) string {
	answers = slices.Sorted(slices.Values(answers))
	switch all := slices.Compact(slices.Clone(answers)); {
	case len(all) == 1:
		return all[0]
	case !slices.Contains(all, mute) && len(all) == 2:
		return later // or at the split, by chance
	}
	return "some"
}

// recordingPage returns the names of the columns of the table below a heading of
// docs/recording.md, and the cells of its rows by them.
func recordingPage(t *testing.T, heading string) (names []string, rows []map[string]string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "recording.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "## "+heading+"\n")
	if !ok {
		t.Fatalf("no heading %q", heading)
	}
	section, _, _ := strings.Cut(rest, "\n## ")
	for line := range strings.Lines(section) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, "|") {
			if names != nil {
				break
			}
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		switch {
		case names == nil:
			names = cells
		case !strings.HasPrefix(cells[0], "---"):
			row := map[string]string{}
			for i, name := range names {
				row[name] = cells[i]
			}
			rows = append(rows, row)
		}
	}
	if len(rows) < 8 {
		t.Fatalf("%s: only %d rows", heading, len(rows))
	}
	return names, rows
}

var coded = regexp.MustCompile("`([^`]+)`")

// codes returns the text in backquotes.
func codes(text string) (list []string) {
	for _, m := range coded.FindAllStringSubmatch(text, -1) {
		list = append(list, m[1])
	}
	return list
}

// TestRecordingTable compares the table of pieces in docs/recording.md with sessions that have a mistake each, and
// leave only these pieces. A small sample of sessions shows what all give and what none does, and no more.
func TestRecordingTable(t *testing.T) {
	effort.Whole(t)
	var sessions []known
	for _, m := range effort.Of(mistaken[:2], mistaken) {
		sessions = append(sessions, playMistaken(t, m.fault, m.seed, m.class))
	}
	names, rows := recordingPage(t, "What gives what")
	for i := 0; i < len(rows); i += effort.Of(14, 1) {
		if !effort.Turn(i, 3) {
			continue
		}
		row, pieces := rows[i], codes(rows[i]["Left"])
		t.Run(strings.Join(pieces, "+"), func(t *testing.T) {
			replays := slices.Contains(pieces, pieceOrders)
			answers := map[string][]string{}
			add := func(column, answer string) { answers[column] = append(answers[column], answer) }
			for _, k := range sessions {
				dirs := k.leave(t, pieces)
				r := k.conclude(t, dirs, false, false)
				for column, answer := range k.told(t, r) {
					add(column, answer)
				}
				if k.blamed(t, r) != mute {
					t.Errorf("%s: a peer is blamed without a replay", k.fault)
				}
				causes(t, k, r, "cause", add)
				if !replays {
					continue
				}
				r = k.conclude(t, dirs, true, false)
				blamed := k.blamed(t, r)
				if k.network { // nobody is to blame, and there is nothing to experiment with
					continue
				}
				add("wrong peer: `--sim`", blamed)
				causes(t, k, r, "cause: `--sim`", add)
				causes(t, k, k.conclude(t, dirs, true, true), "cause: `--sim --own`", add)
			}
			measured := []string{row["Left"]}
			for _, column := range slices.Concat(names[1:], []string{"cause", "cause: `--sim`"}) {
				got, want := "—", row[column]
				if answers[column] != nil {
					got = cell(answers[column])
				}
				if want == "" { // the page has no column for these two: no session has them
					want = map[bool]string{true: "no", false: "—"}[answers[column] != nil]
				}
				if column == "cause: `--sim --own`" && got == "some" && lacking(answers[column]) == 1 {
					got = told // a mistake by chance, as in the order of a map, need not show again
				}
				if got != want && (effort.Full() || want != "some") {
					t.Errorf("%s: %s, the page has %q: %v", column, got, want, answers[column])
				}
				measured = append(measured, got)
			}
			if t.Failed() {
				t.Logf("measured:\n| %s |", strings.Join(measured, " | "))
			}
		})
	}
}

// maxClasses is how many classes of causes a report may leave open.
const maxClasses = 4

// causes adds whether a report has a cause; a wrong one is an error. Orders that differ are one
// by themselves, and not counted.
func causes(t *testing.T, k known, r *document.Report, column string, add func(column, answer string)) {
	t.Helper()
	var classes []string
	for i := range r.Causes {
		classes = append(classes, r.Causes[i].Class)
	}
	most := maxClasses
	if len(r.Causes) > 0 && r.Causes[0].Standing == "not-excluded" { // all that no experiment excludes
		most = 6
	}
	if len(classes) > most || len(classes) > 0 && !slices.Contains(classes, k.class) {
		t.Errorf("%s, %s: said to be %q", k.fault, column, classes)
	}
	if !k.network {
		add(column, map[bool]string{true: told, false: mute}[len(classes) > 0])
	}
}

var cost = regexp.MustCompile(`^([0-9,]+) (a tick|a file)`)

// TestRecordingCosts measures what the pieces of docs/recording.md cost. The sizes there belong to this session, to a
// tenth.
func TestRecordingCosts(t *testing.T) {
	effort.Whole(t)
	f, err := session.ParseFault("unstable-sort/Movement@20:client")
	if err != nil {
		t.Fatal(err)
	}
	const ticks = 60
	o := session.Options{Config: refsim.Config{Seed: 7}, Ticks: ticks, Faults: []session.Fault{f}}
	r, err := session.RecordTo(filepath.Join(t.TempDir(), "s"), o, session.TraceColumn)
	if err != nil {
		t.Fatal(err)
	}
	k, host := known{Recording: r, traces: map[string]string{}}, &r.Peers[0]
	if r.Truth.Bracket == nil {
		t.Fatal("the peers did not part")
	}
	if err := peers.WriteAll(r); err != nil {
		t.Fatal(err)
	}
	size := func(pieces ...string) (n int64) {
		files, err := filepath.Glob(filepath.Join(k.leave(t, pieces)[0], "*"))
		if err != nil || len(files) == 0 {
			t.Fatal(files, err)
		}
		for _, file := range files {
			n += bytesOf(t, file)
		}
		return n
	}
	orders := size(pieceOrders)
	snap := bytesOf(t, host.Snapshots[len(host.Snapshots)-1])
	reports, err := filepath.Glob(filepath.Join(host.Dir, "desync_report_*.json"))
	if err != nil || len(reports) != 1 {
		t.Fatal(reports, err)
	}
	measured := map[string]int64{
		pieceOrders: orders / ticks, pieceSync: (size(pieceOrders, pieceSync) - orders) / ticks,
		pieceState: (size(pieceOrders, pieceState) - orders) / ticks, pieceHistory: (size(pieceOrders, pieceHistory) - orders) / ticks,
		pieceSystems: size(pieceSystems) / ticks, pieceArchetypes: size(pieceArchetypes) / ticks, pieceColumns: size(pieceColumns) / ticks,
		piecePeriodic: snap, pieceSplit: snap, pieceLate: snap, pieceReport: bytesOf(t, reports[0]),
	}
	_, rows := recordingPage(t, "Pieces")
	for _, row := range rows {
		for _, piece := range codes(row["Piece"]) {
			want, known := measured[piece]
			delete(measured, piece)
			m := cost.FindStringSubmatch(row["Bytes"])
			if !known || m == nil {
				t.Errorf("%s: %q", piece, row["Bytes"])
				continue
			}
			said, err := strconv.ParseInt(strings.ReplaceAll(m[1], ",", ""), 10, 64)
			if err != nil || 10*max(said-want, want-said) > max(want, 10) {
				t.Errorf("%s: the page has %s, measured were %d", piece, m[1], want)
			}
		}
	}
	if len(measured) > 0 {
		t.Errorf("not on the page: %v", measured)
	}
	plain := plainSize(t, host.Snapshots[len(host.Snapshots)-1])
	t.Logf("a snapshot has %d bytes, %d uncompressed", snap, plain)
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "recording.md"))
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%d kB", (plain+500)/1000); !strings.Contains(string(b), want) {
		t.Errorf("the page does not say that a snapshot that is not compressed has %s", want)
	}
}

func bytesOf(t *testing.T, file string) int64 {
	t.Helper()
	stat, err := os.Stat(file)
	if err != nil {
		t.Fatal(err)
	}
	return stat.Size()
}

// plainSize returns how large a snapshot is that is not compressed.
func plainSize(t *testing.T, file string) int64 {
	t.Helper()
	f, err := snapshot.OpenFile(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w, err := snapshot.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(t.TempDir(), "plain.snap")
	if err := snapshot.WriteFile(to, w, snapshot.WriteOptions{Plain: true}); err != nil {
		t.Fatal(err)
	}
	return bytesOf(t, to)
}
