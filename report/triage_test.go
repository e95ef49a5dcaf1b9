package report

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"
)

// TestGuesses checks that the text of a report shows guesses only if all is asked for, and what
// would narrow the cause in their place.
func TestGuesses(t *testing.T) {
	r := &Report{
		Ladder: []Rung{{Step: "cause", State: RungOpen, Found: "not known", Evidence: "needs a state", Needs: []string{"a state of the tick"}}},
		Causes: []Cause{{Class: "rng-leak", Title: "The RNG leaks", Score: 1, Group: 1, Later: true}},
	}
	for all, want := range map[bool]string{false: "a state of the tick", true: "The RNG leaks"} {
		var out bytes.Buffer
		if err := r.Text(&out, NewStyle(false), all); err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(out.String(), want) || strings.Contains(out.String(), "The RNG leaks") != all {
			t.Errorf("with all %v the text is\n%s", all, &out)
		}
	}
	r.Causes[0].Later = false
	var out bytes.Buffer
	if err := r.Text(&out, NewStyle(false), false); err != nil || !strings.Contains(out.String(), "The RNG leaks") {
		t.Errorf("a cause is not in\n%s", &out)
	}
}

// TestLocusPeers pins the one order of peers beside values: those compared, then the session's.
func TestLocusPeers(t *testing.T) {
	field := LocusField{FieldDocument: FieldDocument{Values: map[string]string{"z": "1", "a": "2", "host": "3", "client": "4"}}}
	r := &Report{
		Compared: &Compared{Peers: [2]string{"host", "client"}}, Peers: []TriagedPeer{{Name: "client"}, {Name: "z"}, {Name: "b"}}, Locus: []LocusField{field},
	}
	if got, want := LocusPeers(r), []string{"host", "client", "z", "a"}; !slices.Equal(got, want) {
		t.Errorf("the peers are %q, expected %q", got, want)
	}
}

// TestSavedReport reads a saved report and writes it again: nothing may be lost.
func TestSavedReport(t *testing.T) {
	const path = "testdata/triage.json"
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadReport(bytes.NewReader(saved), path)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := WriteJSON(&again, r); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Bytes(), saved) {
		t.Error("a saved report is another one after it was read")
	}
	for _, bad := range []string{"", "{}", "[]", `{"schema":"desynctool.bisect/1"}`, `{"schema":1}`} {
		if _, err := ReadReport(bytes.NewReader([]byte(bad)), "x.json"); err == nil {
			t.Errorf("%q was read as a report", bad)
		}
	}
}
