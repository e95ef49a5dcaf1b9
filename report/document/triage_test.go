package document

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// TestCauses checks that the text shows what a cause rests on, and the experiments.
func TestCauses(t *testing.T) {
	likeness := Cause{Class: "rng-leak", Title: "The RNG leaks", Standing: "looks-like", Right: 49, Of: 50, Confirm: "desynctool replay", Refute: "a value"}
	shown := Cause{Class: "rng-leak", Title: "The RNG leaks", Standing: "shown", Score: 1, Confirm: "desynctool replay"}
	for _, test := range []struct {
		r        *Report
		all      bool
		has, not []string
	}{
		{&Report{Causes: []Cause{likeness}}, false, []string{"looks like it: right in 49 of 50", "The RNG leaks", "confirm: desynctool replay", "refuted by: a value"}, []string{"not told apart"}},
		{&Report{Causes: []Cause{shown, shown}}, false, []string{"shown by experiments; these are not told apart"}, []string{"confirm:"}},
		{&Report{Experiments: []Experiment{{Mode: "runs", Result: "agrees", Text: "six replays: nothing departs"}}, Excluded: map[string]string{"stale-cache": "because"}}, false,
			[]string{"six replays: nothing departs", "1 class is excluded"}, []string{"because"}},
		{&Report{Excluded: map[string]string{"stale-cache": "because"}}, true, []string{"not stale-cache", "because"}, nil},
	} {
		var out bytes.Buffer
		if err := test.r.Text(&out, NewStyle(false), test.all); err != nil {
			t.Fatal(err)
		}
		for _, text := range test.has {
			if !strings.Contains(out.String(), text) {
				t.Errorf("%q is not in\n%s", text, &out)
			}
		}
		for _, text := range test.not {
			if strings.Contains(out.String(), text) {
				t.Errorf("%q is in\n%s", text, &out)
			}
		}
	}
}

// TestLocusPeers pins the one order of peers next to values: the compared ones, then the session's.
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

// TestFirstFacts: text and comment begin with the same facts: a value of each entity before more of them, and the orders
// that differ before others.
func TestFirstFacts(t *testing.T) {
	r := &Report{Head: Head{Status: Diverged}, Compared: &Compared{Peers: [2]string{"host", "client"}, Values: 31}}
	add := func(entity int, field string) {
		r.Locus = append(r.Locus, LocusField{Archetype: "Unit", Entity: &entity, FieldDocument: FieldDocument{Key: strconv.Itoa(entity), Component: "C", Field: field, Kind: snapshot.KindInteger,
			Values: map[string]string{"host": strconv.Itoa(len(r.Locus)), "client": "-1"}}})
	}
	for n := range 30 {
		add(0, fmt.Sprintf("many%d", n))
	}
	add(1, "one")
	for n := range 2 {
		r.Compared.Entities = append(r.Compared.Entities, Entity{Kind: "Unit", Key: strconv.Itoa(n)})
	}
	for n := range uint64(20) {
		o := TriagedOrder{ReportedOrder: ReportedOrder{Tick: n, Kind: "move"}, Peers: []string{"host"}, Names: "Unit 0"}
		if n == 19 {
			o.Difference, o.On = orderlog.Missing, []string{"client"}
		}
		r.Orders = append(r.Orders, o)
	}
	r.Inputs = &Inputs{Count: 1, Differences: []orderlog.Difference{{Kind: orderlog.Missing, Tick: 19, Order: "move", Peer: "client"}}}
	var text, comment bytes.Buffer
	if err := errors.Join(r.Text(&text, NewStyle(false), false), r.Comment(&comment)); err != nil {
		t.Fatal(err)
	}
	for name, out := range map[string]string{"text": text.String(), "comment": comment.String()} {
		for _, fact := range []string{"C.many0", "C.one", "missing on"} {
			if !strings.Contains(out, fact) {
				t.Errorf("the %s does not have %q:\n%s", name, fact, out)
			}
		}
	}
}
