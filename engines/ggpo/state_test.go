package ggpo

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/snapshot"
)

const stateFolder = "../../testdata/ggpo"

func read(t testing.TB, name, text string) *snapshot.World {
	t.Helper()
	w, err := Read(strings.NewReader(text), int64(len(text)), name)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	return w
}

// differences lists what differs between both states of a frame, a line a value.
func differences(t *testing.T, session string, frame int) string {
	t.Helper()
	var states [2]snapshot.State
	for i, run := range []string{original, replay} {
		name := filepath.Join(stateFolder, session, "synclogs", fmt.Sprintf("state-%04d-%s.log", frame, run))
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		w := read(t, name, string(b))
		if w.Point.Tick != uint64(frame) || w.Peer != runs[run] {
			t.Errorf("%s is of %s at %s", name, w.Peer, w.Point)
		}
		if states[i], err = snapshot.Hold(w); err != nil {
			t.Fatal(err)
		}
	}
	d, err := snapshot.Compare(states[0], states[1], snapshot.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for _, table := range d.Tables {
		for _, c := range table.Changes {
			fmt.Fprintln(&out, table.Label, c.Key, c.Component+"."+c.Field, c.A, c.B)
		}
	}
	return out.String()
}

// TestTruth: the planted differences, as in the README of the fixtures.
func TestTruth(t *testing.T) {
	for _, test := range []struct {
		session string
		frame   int
		want    string
	}{
		{"vectorwar", 13, "ship 1 ship.heading \"93\" \"96\"\nship 1 ship.velocity \"0.0522, 0.9986\" \"0.1045, 0.9945\"\n"},
		{"vectorwar", 14, "ship 1 ship.cooldown \"4\" \"8\"\nship 1 ship.heading \"96\" \"99\"\nship 1 ship.velocity \"0.1045, 0.9945\" \"0.1564, 0.9876\"\n" +
			"ship/bullet 1:0 bullet.value \"264.35 320.63 -> 4.25 2.63\" \"264.35 320.63 -> 4.50 2.18\"\n"},
		{"other", 1200, "(line) 0 line.text \"input queue empty\" \"input queue holds 1\"\nPlayer 1 Player.buffs haste \"4\" \"5\"\nstate 0 state.rng \"0x9e3779b9\" \"0x3c6ef372\"\n"},
		{"hidden", 21, ""},
	} {
		if diff := cmp.Diff(test.want, differences(t, test.session, test.frame)); diff != "" {
			t.Errorf("%s, frame %d (-want +got):\n%s", test.session, test.frame, diff)
		}
	}
}

func TestParseName(t *testing.T) {
	for base, want := range map[string]snapshot.FileName{
		"state-0012-original.log":     {Point: snapshot.Point{Tick: 12}, Peer: snapshot.FirstRun},
		"state-0000-replay.log":       {Peer: snapshot.SecondRun},
		"state-12345-replay.log":      {Point: snapshot.Point{Tick: 12345}, Peer: snapshot.SecondRun},
		"state-9999-original.log":     {Point: snapshot.Point{Tick: 9999}, Peer: snapshot.FirstRun},
		"state-012-original.log":      {},
		"state-00012-original.log":    {},
		"state-+012-original.log":     {},
		"state-0012-second.log":       {},
		"state-0012-original.txt":     {},
		"state-0012.log":              {},
		"log-0012-original.log":       {},
		"state-4294967296-replay.log": {},
	} {
		got, ok := ParseName(base)
		if got != want || ok != (want != snapshot.FileName{}) {
			t.Errorf("%s: %+v, %v", base, got, ok)
		}
	}
}

// TestPlace: where the value of a name belongs.
func TestPlace(t *testing.T) {
	for name, want := range map[string]spot{
		"frame":                    {label: "state", component: "state", field: "frame"},
		"ship 0 position":          {"ship", "ship", "position", [2]uint64{0}, 1},
		"ship 3 bullet 29":         {"ship/bullet", "bullet", "value", [2]uint64{3, 29}, 2},
		"ships[2].weapon[1].ammo":  {"ships/weapon", "weapon", "ammo", [2]uint64{2, 1}, 2},
		"3 2 x":                    {"#/#", "#", "x", [2]uint64{3, 2}, 2},
		"team 4 ship 2 bullet 7 x": {"team 4 ship/bullet", "bullet", "x", [2]uint64{2, 7}, 2},
		"player 007 agent":         {label: "state", component: "state", field: "player 007 agent"},
		"12":                       {},
		"":                         {},
	} {
		if got := place(name); got != want {
			t.Errorf("%q: %+v, want %+v", name, got, want)
		}
	}
}

func TestShapes(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		"\r\n \n":                           "",
		"hello\n":                           `(line)[0].line.text = "hello"`,
		"a: 1\r\na: 2\r\n":                  "state[0].state.a = \"1\"\nstate[0].state.a#2 = \"2\"",
		"a = b: c":                          `state[0].state.a = "b: c"`,
		"a: b = c":                          `state[0].state.a = "b = c"`,
		"1: 2\n":                            `(line)[0].line.text = "1: 2"`,
		": 2\n":                             `(line)[0].line.text = ": 2"`,
		"P 1:\n  x: 5\n\tq:\n   y: 6\nz: 7": "P[1].P.\"q y\" = \"6\"\nP[1].P.x = \"5\"\nstate[0].state.z = \"7\"",
	} {
		w := read(t, "state-0001-replay.log", text)
		s, err := snapshot.Hold(w)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if err := snapshot.WriteText(&b, s); err != nil {
			t.Fatal(err)
		}
		var got []string
		for line := range strings.Lines(b.String()) {
			if line[0] != '%' && line[0] != '#' {
				got = append(got, strings.TrimSuffix(line, "\n"))
			}
		}
		if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestBad(t *testing.T) {
	_, err := Read(strings.NewReader("a: 1\nb\x00: 2\n"), 11, "x.log")
	if e := (*engine.LineError)(nil); !errors.As(err, &e) || e.Line != 2 || err.Error() != "x.log: line 2: a zero byte, expected text" {
		t.Errorf("error %v", err)
	}
	if _, err = Read(strings.NewReader(""), limits.State.Max()+1, "x.log"); err == nil {
		t.Error("no error for a file that is too large")
	}
	var wide strings.Builder // few rows and columns each, and their product out of all proportion
	for i := range 8000 {
		fmt.Fprintf(&wide, "row %d a%d: 1\n", i, i)
	}
	if _, err = Read(strings.NewReader(wide.String()), int64(wide.Len()), "x.log"); err == nil || !strings.HasPrefix(err.Error(), "x.log: limit cells is reached: at most 33554432") {
		t.Errorf("error %v", err)
	}
	same := strings.Repeat("a: 1\n", 200) // as many values as there are lines, however named
	w := read(t, "x.log", same)
	if n := len(w.Tables); n != 2 || w.Tables[0].Rows()+len(w.Tables[1].Columns) != 200 {
		t.Errorf("%d tables: %d lines, %d fields", n, w.Tables[0].Rows(), len(w.Tables[1].Columns))
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"vectorwar/synclogs/state-0013-replay.log", "other/synclogs/state-1200-original.log"} {
		b, err := os.ReadFile(filepath.Join(stateFolder, name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(b))
	}
	f.Add("a 1 2 3:\n x[0].y = 4.\n\n#: \n")
	f.Fuzz(func(t *testing.T, text string) {
		w, err := Read(strings.NewReader(text), int64(len(text)), "state-0001-replay.log")
		if err != nil {
			if e := (*engine.LineError)(nil); !errors.As(err, &e) {
				t.Fatal(err)
			}
			return
		}
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
