package peers

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// merged merges reports of host, client, client2, … and returns the document and its text.
func merged(t *testing.T, reports ...*Report) (*Merged, string) {
	t.Helper()
	var files []string
	for i := range reports {
		files = append(files, fmt.Sprintf("peer%d/r.json", i))
	}
	m, err := Merge(reports, files)
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := m.Text(&text, document.NewStyle(false), false); err != nil {
		t.Fatal(err)
	}
	return m, text.String()
}

func TestMerge(t *testing.T) {
	host, client, third := reported(t, peerWorld("host", 50), nil), reported(t, peerWorld("client", 75), nil), reported(t, peerWorld("client2", 50), nil)
	m, text := merged(t, host, client, third)
	const want = `DIVERGED  at state point 20: 2 states among 3 peers
  peer     host     player 0  state point 20  HASH0…  group 1
  peer     client   player 0  state point 20  HASH1…  group 2
  peer     client2  player 0  state point 20  HASH0…  group 1
  groups   at 20: host = client2  ≠  client
           most, 2 of 3, are in group 1; that does not make them right
  leaf     Infantry  host = client2  ≠  client
differs  host | client
  Infantry  1 value differs
    4  Health.hp  50 | 75  integer, 5 bits
  orders   of ticks 10 to 19: alike
`
	got := strings.NewReplacer(host.StateHash[:16], "HASH0", client.StateHash[:16], "HASH1").Replace(text)
	if got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
	if p := m.Points[0]; len(m.Points) != 1 || p.Majority != 1 || m.Status != document.Diverged || len(m.Contradictions)+len(m.Missing)+len(m.Warnings) > 0 {
		t.Errorf("%+v", m)
	}
	// The saved report has the same content.
	var saved, again bytes.Buffer
	if err := document.WriteJSON(&saved, m); err != nil {
		t.Fatal(err)
	}
	back, err := ReadMerged(bytes.NewReader(saved.Bytes()), "m.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := back.Text(&again, document.NewStyle(false), false); err != nil || again.String() != text {
		t.Errorf("%v, a saved one shows\n%s", err, &again)
	}
}

// contains reports whether one of some texts contains another.
func contains(texts []string, part string) bool {
	return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, part) })
}

func TestMergeContradictions(t *testing.T) {
	world := func(peer string, hp uint64) *snapshot.World { return peerWorld(peer, hp) }
	host := reported(t, world("host", 50), nil)
	other := reported(t, world("client", 75), nil)

	m, _ := merged(t, host, reported(t, world("client", 75), func(r *Report) { r.StateHash = host.StateHash }))
	if !contains(m.Contradictions, "host and client have the same state hash, and different nodes of Infantry") || !contains(m.Contradictions, "client: the state hash is") {
		t.Errorf("same hash: %q", m.Contradictions)
	}
	m, _ = merged(t, host, reported(t, world("client", 50), func(r *Report) { r.StateHash = other.StateHash }))
	if !contains(m.Contradictions, "different state hashes, and the same nodes") || m.Status != document.Diverged {
		t.Errorf("same nodes: %q", m.Contradictions)
	}
	// A sync hash is the beginning of the state hash; two states that share it are reported.
	m, _ = merged(t, host, reported(t, world("client", 50), func(r *Report) { r.StateHash = r.StateHash[:16] }))
	if len(m.Points[0].Groups) != 1 || m.Status != document.Inconclusive || !contains(m.Missing, "the report of a peer with another state is missing") {
		t.Errorf("sync hash: %+v", m)
	}
	m, _ = merged(t, host,
		reported(t, world("client", 75), func(r *Report) { r.StateHash = host.StateHash[:16] + r.StateHash[16:] }),
		reported(t, world("client2", 50), func(r *Report) { r.StateHash = r.StateHash[:16] }))
	if !contains(m.Contradictions, "begin with the same 8 bytes") || len(m.Points[0].Groups) != 2 {
		t.Errorf("collision: %+v", m)
	}
}

func TestMergeOfOtherMoments(t *testing.T) {
	host := reported(t, peerWorld("host", 50), nil)
	later := peerWorld("client", 75)
	later.Point.Tick = 30
	client := reported(t, later, func(r *Report) {
		r.Window = &Window{13, 29}
		r.Excerpt = []document.ReportedOrder{{Tick: 25, Player: 1, Sequence: 5, Kind: "move", Payload: "92cd1b"}}
	})
	m, text := merged(t, host, client)
	if m.Status != document.Inconclusive || len(m.Points) != 0 || !contains(m.Notes, "client reports state point 30, no other peer does") || !contains(m.Missing, "reports of the same state point from two peers") {
		t.Errorf("%s", text)
	}
	if w := m.OrderWindow; w == nil || *w != (Window{13, 19}) || m.OrderCount != 0 {
		t.Errorf("orders of %v: %+v", w, m.Orders)
	}
	// The same peer reports twice, and another peer calls itself the same.
	m, _ = merged(t, host, host, client, reported(t, peerWorld("host", 51), nil), reported(t, later, nil))
	var names []string
	for _, p := range m.Peers {
		names = append(names, p.Name)
	}
	if !slices.Equal(names, []string{"host", "client", "host#2"}) || !contains(m.Warnings, "is there twice") || !contains(m.Warnings, "taken for another peer") {
		t.Errorf("%q, %q", names, m.Warnings)
	}
	if _, err := Merge([]*Report{host, reported(t, peerWorld("x", 1), func(r *Report) { r.Seed = "9" })}, []string{"a", "b"}); err == nil || !strings.Contains(err.Error(), "reports of different sessions") {
		t.Errorf("two seeds: %v", err)
	}
	if m, _ := merged(t, host); m.Status != document.Inconclusive || !contains(m.Missing, "nothing to compare with") {
		t.Errorf("one report: %+v", m)
	}
	if m, _ := merged(t); m.Status != document.Inconclusive {
		t.Errorf("none: %+v", m)
	}
}

func TestMergeOfOrders(t *testing.T) {
	host := reported(t, peerWorld("host", 50), nil)
	client := reported(t, peerWorld("client", 50), func(r *Report) {
		r.Excerpt = append([]document.ReportedOrder{{Tick: 11, Player: 2, Kind: "build", Payload: "01"}}, r.Excerpt[0], r.Excerpt[0])
	})
	m, text := merged(t, host, client)
	if m.Status != document.Diverged || m.OrderCount != 2 || m.Orders[0].Kind != "build" || m.Orders[1].Kind != "move" || m.Orders[1].Lack[0] != "host" {
		t.Errorf("%s", text)
	}
	if !strings.HasPrefix(text, "DIVERGED  inputs differ: 2 orders\n") || strings.Contains(text, "chat") {
		t.Errorf("%s", text)
	}
}

// TestMergeOfWhatIsLacking: reports without trees, without content, with tables that
// others do not have.
func TestMergeOfWhatIsLacking(t *testing.T) {
	host := reported(t, peerWorld("host", 50), nil)
	m, text := merged(t, host, reported(t, peerWorld("client", 75), func(r *Report) { r.Nodes = [][2]string{} }))
	if p := m.Points[0]; len(p.Archetypes) != 1 || len(p.Differences) != 1 || !contains(m.Missing, "client reports no Merkle nodes") {
		t.Errorf("no tree:\n%s", text)
	}
	m, text = merged(t, host, reported(t, peerWorld("client", 75), func(r *Report) { r.Archetypes = []Archetype{} }))
	if p := m.Points[0]; len(p.Archetypes) != 1 || len(p.Differences) != 0 || !contains(m.Missing, "no two reports that differ include the content of Infantry") {
		t.Errorf("no content:\n%s", text)
	}
	w := peerWorld("client", 50)
	w.RNG = []byte{5, 5, 5, 5}
	w.Tables = w.Tables[:1]
	m, text = merged(t, host, reported(t, w, nil))
	p := m.Points[0]
	if len(p.Archetypes) != 2 || p.Archetypes[1].Lack[0] != "client" || !strings.Contains(text, "RNG.state  0x01020304 | 0x05050505") || !strings.Contains(text, "Player  host  not on client") {
		t.Errorf("other tables:\n%s", text)
	}
}

// TestMergeOfRecorded merges what record writes.
func TestMergeOfRecorded(t *testing.T) {
	reports, names, _ := recordedReports(t)
	m, err := Merge(reports, names)
	if err != nil {
		t.Fatal(err)
	}
	if m.Status != document.Diverged || len(m.Points) != 1 || len(m.Points[0].Differences) == 0 || len(m.Contradictions) > 0 || m.OrderCount > 0 || m.OrderWindow == nil {
		t.Errorf("%+v", m)
	}
}

// TestMergedIsSafe: names that players chose do not reach the terminal as they are.
func TestMergedIsSafe(t *testing.T) {
	const bad = "\x1b[31m\u202eEve\n"
	hostile := func(peer string, hp uint64) *Report {
		w := peerWorld(peer+bad, hp)
		w.Tables[0].Label = bad
		w.Tables[0].Columns[0].Component = bad
		r, err := New(0, document.Diverged, hold(t, w), []string{bad}, &Excerpt{Orders: []document.ReportedOrder{{Tick: hp, Kind: bad}}, Window: &Window{0, 100}})
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	_, text := merged(t, hostile("a", 50), hostile("b", 75))
	if strings.ContainsAny(text, "\x1b\u202e") || strings.Contains(text, "Eve\n") || strings.Count(text, `Eve\n`) < 10 {
		t.Errorf("%q", text)
	}
}

// TestBadSavedReports: a file that is not a saved report gives one line.
func TestBadSavedReports(t *testing.T) {
	many := strings.Repeat("{},", 1<<20) + "{}"
	for in, want := range map[string]string{
		"":                                "empty file, expected",
		"[]":                              "not JSON with a schema, expected",
		`{"schema":"desynctool.diff/1"}`:  `its schema is "desynctool.diff/1", expected`,
		`{"peers":[],"schema":7}`:         "not JSON with a schema",
		`{"schema":"desynctool.report/1"`: "not a saved report: unexpected end",
		`{"schema":"desynctool.report/1","peers":[` + many + `]}`: "values, a saved report has at most",
		`{"schema":"desynctool.triage/1","locus":[` + many + `]}`: "values, a saved report has at most",
		`{"schema":"desynctool.report/1","peers":{}}`:             "not a saved report: json: cannot unmarshal object",
	} {
		_, err := ReadSaved(strings.NewReader(in), "s.json")
		if err == nil || !strings.HasPrefix(err.Error(), "s.json: ") || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.100s\n gives %v, want %s", in, err, want)
		}
	}
	// Quotes, commas and brackets in texts are not values.
	text := strings.Repeat(`\"[{,\\`, 1<<20)
	got, err := ReadSaved(strings.NewReader(`{"schema":"desynctool.report/1","notes":["`+text+`"]}`), "s.json")
	if m, ok := got.(*Merged); err != nil || !ok || len(m.Notes) != 1 {
		t.Errorf("%T, %v", got, err)
	}
}
