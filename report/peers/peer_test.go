package peers

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// peerWorld returns a state of two archetypes; hp is the health of its second soldier.
func peerWorld(peer string, hp uint64) *snapshot.World {
	column := func(component, field string, values ...uint64) snapshot.Column {
		c := snapshot.NewColumn(component, field, snapshot.U32, 0)
		for _, v := range values {
			c.AppendUint(v)
		}
		return c
	}
	return &snapshot.World{
		Head: snapshot.Head{Seed: 7, Point: snapshot.Point{Tick: 20}, Peer: peer, RNG: []byte{1, 2, 3, 4}},
		Tables: []snapshot.Table{
			{Label: "Infantry", Keys: snapshot.Keys{A: []uint64{3, 4}}, Columns: []snapshot.Column{column("Health", "hp", 75, hp)}},
			{Label: "Player", Keys: snapshot.Keys{A: []uint64{0}}, Columns: []snapshot.Column{column("Bank", "credits", 500)}},
		},
	}
}

// hold returns a world as a state.
func hold(t testing.TB, w *snapshot.World) snapshot.State {
	t.Helper()
	s, err := snapshot.Hold(w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// reported returns what a peer reports of its state, read back, after edit changed it.
func reported(t testing.TB, w *snapshot.World, edit func(r *Report)) *Report {
	t.Helper()
	excerpt := &Excerpt{
		Orders: []document.ReportedOrder{{Tick: 12, Player: 1, Sequence: 5, Kind: "move", Payload: "92cd1b"}, {Tick: 14, Player: 0, Sequence: 6, Kind: "chat", Payload: "a2", Local: true}},
		Window: &Window{10, 19},
	}
	r, err := New(0, document.Diverged, hold(t, w), []string{"Infantry"}, excerpt)
	if err != nil {
		t.Fatal(err)
	}
	if edit != nil {
		edit(r)
	}
	var buf bytes.Buffer
	if err := document.WriteJSON(&buf, r); err != nil {
		t.Fatal(err)
	}
	back, err := Read(&buf, "r.json")
	if err != nil {
		t.Fatal(err)
	}
	return back
}

func TestPeerReportReadsBack(t *testing.T) {
	r := reported(t, peerWorld("host", 50), nil)
	if c := r.Contradictions(); len(c) != 0 {
		t.Errorf("it contradicts itself: %q", c)
	}
	if len(r.Nodes) != 3 || len(r.Excerpt) != 2 || *r.Window != (Window{10, 19}) || !r.Excerpt[1].Local {
		t.Errorf("%+v", r)
	}
	world, err := r.World("Infantry")
	if err != nil || world.Info().Tables[0].Rows != 2 {
		t.Errorf("world %v, %v", world, err)
	}
	if world, err := r.World("Player"); world != nil || err != nil {
		t.Errorf("a world that is not included: %v, %v", world, err)
	}
	var again bytes.Buffer
	if err := document.WriteJSON(&again, r); err != nil {
		t.Fatal(err)
	}
	back, err := Read(bytes.NewReader(again.Bytes()), "r.json")
	if err != nil {
		t.Fatal(err)
	}
	var third bytes.Buffer
	if err := document.WriteJSON(&third, back); err != nil || third.String() != again.String() {
		t.Errorf("%v, read back it is\n%s", err, &third)
	}
}

// TestPeerReportContradictions: what does not agree with the rest of a report is reported.
func TestPeerReportContradictions(t *testing.T) {
	other := strings.Repeat("ab", 32)
	otherWorld := reported(t, peerWorld("host", 51), nil).Archetypes[0].World
	for name, c := range map[string]struct {
		edit func(r *Report)
		want []string
	}{
		"state hash":     {func(r *Report) { r.StateHash = other }, []string{"the state hash is abab"}},
		"sync hash":      {func(r *Report) { r.StateHash = r.StateHash[:16] }, nil},
		"other sync":     {func(r *Report) { r.StateHash = other[:16] }, []string{"the state hash is abababababababab, the nodes give"}},
		"upper case":     {func(r *Report) { r.StateHash = strings.ToUpper(r.StateHash) }, nil},
		"truncated tree": {truncateNodes, nil},
		"no tree":        {func(r *Report) { r.Nodes = [][2]string{} }, nil},
		"RNG":            {func(r *Report) { r.RNGState = "05" }, []string{"the node of the RNG is", "another RNG state"}},
		"node":           {func(r *Report) { r.Nodes[1][1] = other }, []string{"the nodes give", "the node of Infantry is abab"}},
		"world":          {func(r *Report) { r.Archetypes[0].World = otherWorld }, []string{"the node of Infantry is"}},
		"seed":           {func(r *Report) { r.Seed = "8" }, []string{"has seed 0000000000000007, the report has 0000000000000008"}},
		"point":          {func(r *Report) { r.Tick = 21 }, []string{"has state point 20, the report has 21"}},
		"late order":     {func(r *Report) { r.Excerpt[0].Tick = 20 }, []string{"order_log_excerpt[0] is an order of tick 20, which is not before the report's state point 20"}},
		"lacking node":   {func(r *Report) { r.Nodes = r.Nodes[2:] }, []string{"the nodes give", "no node of it", "no node of it"}},
	} {
		got := reported(t, peerWorld("host", 50), c.edit).Contradictions()
		ok := len(got) == len(c.want)
		for i := range c.want {
			ok = ok && strings.Contains(got[i], c.want[i])
		}
		if !ok {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

func truncateNodes(r *Report) {
	for i := range r.Nodes {
		r.Nodes[i][1] = r.Nodes[i][1][:16]
	}
}

func TestPeerReportAgainstSnapshot(t *testing.T) {
	r := reported(t, peerWorld("host", 50), nil)
	if got := r.Check(hold(t, peerWorld("host", 50)).Info()); len(got) != 0 {
		t.Errorf("its own state: %q", got)
	}
	w := peerWorld("host", 51)
	w.RNG = []byte{9}
	w.Tables[1].Label = "Players"
	got := r.Check(hold(t, w).Info())
	for _, want := range []string{"state hash", "RNG state", "node of the RNG", "node of Infantry", "no node of Players", "a node of Player, the snapshot has none"} {
		if !slices.ContainsFunc(got, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("nothing about %s in %q", want, got)
		}
	}
	w.Point.Tick = 21
	if got := r.Check(hold(t, w).Info()); len(got) != 1 || !strings.Contains(got[0], "state point") {
		t.Errorf("%q", got)
	}
	w.Seed = 1
	if got := r.Check(hold(t, w).Info()); len(got) != 1 || !strings.Contains(got[0], "seed") {
		t.Errorf("%q", got)
	}
}

// TestBadPeerReports: a file that is not a report gives one line with the place and what was expected.
func TestBadPeerReports(t *testing.T) {
	const (
		begin = `{"schema":"desynctool.peer-report/1","seed":"7","tick":20,"state_hash":"0011223344556677"`
		hash  = `"0011223344556677"`
	)
	if _, err := Read(strings.NewReader(begin+`,"more":{"a":[null]},"player":-1}`), "r.json"); err != nil {
		t.Errorf("the least report: %v", err)
	}
	twoTables, err := snapshot.Encode(peerWorld("host", 50), snapshot.WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	world := func(b []byte) string {
		return fmt.Sprintf(`,"diverged_archetypes":[{"label":"Infantry","world":%q}]}`, base64.StdEncoding.EncodeToString(b))
	}
	for in, want := range map[string]string{
		"":                               "the text ends, expected a report",
		"[]":                             "at offset 0: expected a report",
		"null":                           "expected a report",
		"{}":                             `its schema is "", expected "desynctool.peer-report/1"`,
		`{"schema":"desynctool.diff/1"}`: `its schema is "desynctool.diff/1"`,
		`{"schema":7}`:                   "at offset 10: schema is a JSON number, expected string",
		`{"schema":"desynctool.peer-report/1","seed":"7","tick":20}`: "state_hash is missing",
		begin:                        "the text ends",
		begin + `} {}`:               "something follows the report",
		begin + `,"seed":"8"}`:       "seed is given twice",
		begin + `,"player":1.5}`:     "player is a JSON number 1.5",
		begin + `,"player":-2}`:      "player is -2, expected -1 or more",
		begin + `,"player":null}`:    "player is null",
		begin + `,"redacted":true}`:  "the report is redacted",
		begin + `,"status":"fine"}`:  `status is "fine", expected in-sync`,
		begin + `,"phase":"later"}`:  `phase is "later"`,
		begin + `,"rng_state":"0g"}`: `rng_state is "0g", expected pairs of hex digits`,
		begin + `,"rng_state":5}`:    "rng_state is a JSON number",
		begin + `,"peer":"` + strings.Repeat("x", 1025) + `"}`:                                   "peer has 1025 bytes, at most 1024 are allowed",
		begin + `,"merkle_nodes":{}}`:                                                            "expected merkle_nodes, a list",
		begin + `,"merkle_nodes":[["a"]]}`:                                                       "merkle_nodes[0] has 1 elements, expected a label and a hash",
		begin + `,"merkle_nodes":[["a",7]]}`:                                                     "merkle_nodes[0] is a JSON number, expected string",
		begin + `,"merkle_nodes":[["a","00"]]}`:                                                  "merkle_nodes[0][1] has 2 characters, expected 16 or 64 hex digits",
		begin + `,"merkle_nodes":[["b",` + hash + `],["a",` + hash + `]]}`:                       `merkle_nodes[1] is "a", which does not follow "b"`,
		begin + `,"merkle_nodes":[["a",` + hash + `],["b","` + strings.Repeat("00", 32) + `"]]}`: "a hash of 64 hex digits, the one before has 16",
		begin + `,"merkle_nodes":[["a",` + hash:                                                  "the text ends, expected merkle_nodes[0]",
		begin + `,"order_log_excerpt":[{"tick":1}]}`:                                             "order_log_excerpt[0]: expected a tick, a player and a kind",
		begin + `,"order_log_excerpt":[{"tick":-1}]}`:                                            "order_log_excerpt[0].tick is a JSON number -1, expected uint64",
		begin + `,"order_log_window":{"from":2,"to":1}}`:                                         "order_log_window: expected the first and the last tick",
		begin + `,"diverged_archetypes":[{"label":"Infantry","world":"?"}]}`:                     "diverged_archetypes[0].world: expected base64",
		begin + world(nil):            "empty file, expected a snapshot",
		begin + world(twoTables[:99]): "diverged_archetypes[0].world: torn",
		begin + world(twoTables):      `expected a snapshot that holds only the archetype "Infantry"`,
		begin + `,"merkle_nodes":[` + strings.Repeat(`[],`, 1<<20) + `[]]}`: "merkle_nodes[0] has 0 elements",
		begin + `,"warnings":[` + strings.Repeat(`"",`, 1<<20) + `""]}`:     "warnings has more than 1000 elements",
		strings.Repeat("[", 1<<20):                                          "expected a report",
		begin + `,"more":` + strings.Repeat("[", 1<<20):                     "more",
	} {
		_, err := Read(strings.NewReader(in), "r.json")
		if err == nil || !strings.HasPrefix(err.Error(), "r.json: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.200s\n gives %v, want %s", in, err, want)
		}
	}
	var bad *frame.Error
	if _, err := Read(strings.NewReader(begin), "r.json"); !errors.As(err, &bad) || !errors.Is(err, frame.ErrTorn) || bad.Offset != int64(len(begin)) {
		t.Errorf("%v is not torn at %d", err, len(begin))
	}
	if _, err := Read(&endless{}, "r.json"); err == nil || !strings.Contains(err.Error(), "at most 64MiB") {
		t.Errorf("endless: %v", err)
	}
}

// endless is a reader without end.
type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// recordedReports plays a short session with a mistake and returns the peers' reports.
func recordedReports(t testing.TB) (reports []*Report, names []string, texts [][]byte) {
	t.Helper()
	fault, err := session.ParseFault("map-order/Combat@60")
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(t.TempDir(), "s")
	recording, err := session.RecordTo(dir, session.Options{
		Config: refsim.Config{Seed: 3, Entities: 200, Players: refsim.DefaultPlayers}, Ticks: 120, Peers: session.PeerNames(3),
		Faults: []session.Fault{fault}, SnapshotEvery: 60, DetectEvery: 1,
	}, session.TraceNone)
	if err != nil {
		t.Fatal(err)
	}
	if err := WriteAll(recording); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(filepath.Join(dir, "*", "desync_report_*.json"))
	if err != nil || len(found) != 3 {
		t.Fatalf("%d reports, %v", len(found), err)
	}
	for _, path := range found {
		text := readTestFile(t, path)
		r, err := Read(bytes.NewReader(text), path)
		if err != nil {
			t.Fatal(err)
		}
		if c := r.Contradictions(); len(c) > 0 || r.Window == nil || r.Window.To != r.Tick-1 {
			t.Errorf("%s: window %v, %q", path, r.Window, c)
		}
		reports, names, texts = append(reports, r), append(names, path), append(texts, text)
	}
	return reports, names, texts
}

// savedReports returns the paths of the reports of two peers, client and host.
func savedReports(t testing.TB) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join("testdata", "*", "desync_report_*.json"))
	if err != nil || len(paths) != 2 {
		t.Fatalf("%d reports, %v", len(paths), err)
	}
	return paths
}

// FuzzPeerReport feeds arbitrary reports. One that is read can be written, and read again, and has the same content; it
// can be merged with another one, shown and redacted.
func FuzzPeerReport(f *testing.F) {
	for _, path := range savedReports(f) {
		f.Add(readTestFile(f, path))
	}
	f.Add([]byte(`{"schema":"desynctool.peer-report/1","seed":"3","tick":62,"state_hash":"0011223344556677"}`))
	other, err := Read(bytes.NewReader(readTestFile(f, savedReports(f)[0])), "other.json")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := Read(bytes.NewReader(b), "r.json")
		if err != nil {
			return
		}
		first, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		back, err := Read(bytes.NewReader(first), "r.json")
		if err != nil {
			t.Fatalf("what was read cannot be read again: %v", err)
		}
		second, err := json.Marshal(back)
		if err != nil || !bytes.Equal(first, second) || !slices.Equal(r.Contradictions(), back.Contradictions()) {
			t.Fatalf("%v: another report when read again", err)
		}
		m, err := Merge([]*Report{other, r}, []string{"other.json", "r.json"})
		if r.Seed != other.Seed {
			if err == nil {
				t.Fatal("reports of two sessions are merged")
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var text bytes.Buffer
		for _, doc := range []*Merged{m, m.Redact()} {
			if err := doc.Text(&text, document.NewStyle(false), true); err != nil {
				t.Fatal(err)
			}
		}
		if strings.ContainsFunc(text.String(), func(r rune) bool { return r != '\n' && !unicode.IsPrint(r) }) {
			t.Fatalf("not printable: %q", &text)
		}
	})
}

func readTestFile(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return b
}
