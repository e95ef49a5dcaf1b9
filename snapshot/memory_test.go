package snapshot

import (
	"strings"
	"testing"
)

// TestSetOf: states in memory are a set like states in files.
func TestSetOf(t *testing.T) {
	state := func(tick, value uint64) State {
		c := NewColumn("Health", "hp", U64, 0)
		c.AppendUint(value)
		s, err := Hold(&World{
			Head:   Head{Seed: 7, Point: Point{Tick: tick}, Peer: "host"},
			Tables: []Table{{Label: "Soldier", Keys: Keys{A: []uint64{1}}, Columns: []Column{c}}},
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	set, err := SetOf("host", state(20, 1), state(10, 2))
	if err != nil {
		t.Fatal(err)
	}
	e := set.At(Point{Tick: 20})
	if e == nil || len(set.Entries) != 2 || set.Entries[0].Point.Tick != 10 || e.Path() != "host@20" {
		t.Fatalf("%+v", set.Entries)
	}
	if info, err := e.Info(); err != nil || info.Peer != "host" || !e.Read() {
		t.Errorf("%+v, %v", info, err)
	}
	for range 2 {
		s, err := e.Open()
		if err != nil {
			t.Fatal(err)
		}
		if w, err := Load(s); err != nil || len(w.Tables) != 1 {
			t.Errorf("%v, %v", w, err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := SetOf("host", state(20, 1), state(20, 2)); err == nil || !strings.Contains(err.Error(), "host: two states of state point 20") {
		t.Errorf("%v", err)
	}
	c := set.Clone()
	c.Session(8)
	if len(c.Entries) != 0 || len(c.Warnings) != 2 || len(set.Entries) != 2 || len(set.Warnings) != 0 {
		t.Errorf("%d and %d entries, %q", len(c.Entries), len(set.Entries), set.Warnings.Texts())
	}
	if n := (*Set)(nil).Clone(); len(n.Entries) != 0 {
		t.Errorf("%+v", n)
	}
}

// TestMoments: the words of a native name and its relation lead back to them.
func TestMoments(t *testing.T) {
	for _, c := range []struct {
		words, native string
		relation      Relation
	}{
		{"", "", At}, {"000ade40", "000ade40", At}, {"after turn 22", "turn 22", After}, {"end of frame 480", "frame 480", EndOf},
		{"after ", "after ", At}, {"end of ", "end of ", At}, {"after end of frame 4", "end of frame 4", After}, {"afternoon", "afternoon", At},
	} {
		p := Point{Tick: 5}.Named(c.words)
		if p.Native != c.native || p.Relation != c.relation || p.Words() != c.words || p.Tick != 5 {
			t.Errorf("%q: %+v, words %q", c.words, p, p.Words())
		}
	}
	for words, want := range map[string]string{"": "at 5", "000ade40": "at 000ade40", "after turn 22": "after turn 22", "end of frame 480": "at the end of frame 480"} {
		if got := (Point{Tick: 5}).Named(words).When(); got != want {
			t.Errorf("%q: %q, want %q", words, got, want)
		}
	}
}
