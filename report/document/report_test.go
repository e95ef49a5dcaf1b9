package document

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

func TestSafe(t *testing.T) {
	for in, want := range map[string]string{
		"":                    "",
		"plain / text é":      "plain / text é",
		"\x1b[31mred\x07":     `\x1b[31mred\a`,
		"two\nlines":          `two\nlines`,
		"bad \xff byte":       `bad \xff byte`,
		"right\u202eto left":  `right\u202eto left`,
		`a "quote" and \ too`: `a "quote" and \ too`,
		"\x9b31m":             `\x9b31m`,
	} {
		if got := Safe(in); got != want {
			t.Errorf("Safe(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestEscapeJSON(t *testing.T) {
	var out bytes.Buffer
	in := map[string]string{"name": "a\u009b31m\u007f\u202e\U000e0001é\x1b"}
	if err := WriteJSON(&out, in); err != nil {
		t.Fatal(err)
	}
	if want := "{\n  \"name\": \"a\\u009b31m\\u007f\\u202e\\udb40\\udc01é\\u001b\"\n}\n"; out.String() != want {
		t.Errorf("%q, want %q", out.String(), want)
	}
	var back map[string]string
	if err := json.Unmarshal(out.Bytes(), &back); err != nil || back["name"] != in["name"] {
		t.Errorf("reads back as %q, %v", back, err)
	}
}

func TestMarks(t *testing.T) {
	s := NewStyle(true)
	a, b := s.marked(`"sign 11"`, `"sign 22"`)
	if !strings.Contains(a, s.goodMark.Sprint("11")) || !strings.Contains(b, s.badMark.Sprint("22")) || !strings.Contains(a, s.good.Sprint(`"sign `)) {
		t.Errorf("%q, %q", a, b)
	}
	long := strings.Repeat("x", maxMarked+1)
	if a, _ := s.marked(long, "y"); a != s.good.Sprint(long) {
		t.Error("a long text is compared by characters")
	}
	off := NewStyle(false)
	if a, b := off.marked("abc", "abd"); a != "abc" || b != "abd" {
		t.Errorf("without colour: %q, %q", a, b)
	}
}

// TestDiffFitsAScreen: however many tables and values differ, the default text is about a screenful and shows how much
// it leaves out.
func TestDiffFitsAScreen(t *testing.T) {
	world := func(salt uint64) *snapshot.World {
		w := &snapshot.World{}
		for n := range 40 {
			t := snapshot.Table{Label: string(rune('A'+n/26)) + string(rune('a'+n%26))}
			c := snapshot.NewColumn("Health", "hp", snapshot.U64, 0)
			for i := range uint64(100) {
				t.Keys.A = append(t.Keys.A, i)
				c.AppendUint(i + salt)
			}
			t.Columns = []snapshot.Column{c}
			w.Tables = append(w.Tables, t)
		}
		return w
	}
	a, err := snapshot.Hold(world(0))
	if err != nil {
		t.Fatal(err)
	}
	b, err := snapshot.Hold(world(1))
	if err != nil {
		t.Fatal(err)
	}
	d, err := snapshot.Compare(a, b, snapshot.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var short, all bytes.Buffer
	if err := Diff(d, [2]string{"host", "client"}, nil).Text(&short, NewStyle(false), false); err != nil {
		t.Fatal(err)
	}
	if err := Diff(d, [2]string{"host", "client"}, nil).Text(&all, NewStyle(false), true); err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(short.Bytes(), []byte("\n")); n > 50 || !strings.Contains(short.String(), "and 33 more tables") || !strings.Contains(short.String(), "and 97 more") {
		t.Errorf("%d lines:\n%s", n, &short)
	}
	if n := bytes.Count(all.Bytes(), []byte("\n")); n != 1+4+40*102 { // the summary has 4
		t.Errorf("all of it has %d lines", n)
	}
}

// TestSchemaNames: the words for a difference of schemas leave the names of columns alone.
func TestSchemaNames(t *testing.T) {
	state := func(columns ...snapshot.Column) snapshot.State {
		for i := range columns {
			columns[i].AppendUint(1)
		}
		s, err := snapshot.Hold(&snapshot.World{Tables: []snapshot.Table{{Label: "Ore in A", Keys: snapshot.Keys{A: []uint64{8}}, Columns: columns}}})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	column := func(field string, typ snapshot.Type) snapshot.Column {
		return snapshot.NewColumn("Load", field, typ, 0)
	}
	d, err := snapshot.Compare(
		state(column(" in A", snapshot.U8), column("a in B", snapshot.U8), column("b", snapshot.U8)),
		state(column(" in A", snapshot.U16), column("b", snapshot.U8), column("c in A", snapshot.U8)), snapshot.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"column Load. in A is u8/0 on host, u16/0 on client", "column Load.a in B only on host", "column Load.c in A only on client"}
	tables := Tables(d, [2]string{"host", "client"})
	if len(tables) != 1 || !slices.Equal(tables[0].Schema, want) {
		t.Errorf("%+v, want %q", tables, want)
	}
}

// TestWideText: what takes two columns of a terminal counts as two, and what takes none
// cannot make a line endless.
func TestWideText(t *testing.T) {
	for text, want := range map[string]int{"": 0, "host": 4, "höst": 4, "鉱石": 4, "e\u0301": 1, "…": 1, "≠": 1, "▀": 1} {
		if got := prose.Columns(text); got != want {
			t.Errorf("%q takes %d columns, want %d", text, got, want)
		}
	}
	for _, c := range []struct {
		text, want string
	}{{"host", "host"}, {"hosts", "hos…"}, {"鉱石鉱石", "鉱…"}, {"鉱石", "鉱石"}, {strings.Repeat("\u0301", 20), strings.Repeat("\u0301", 16) + "…"}} {
		if got := prose.Shorten(c.text, 4); got != c.want {
			t.Errorf("%q is cut to %q, want %q", c.text, got, c.want)
		}
	}
	var out bytes.Buffer
	table := NewStyle(false).Text(&out)
	table.Table([][]string{{"NAME", "N"}, {"鉱石", "1"}, {"ore", "2"}})
	if want := "NAME  N\n鉱石  1\nore   2\n"; table.Err() != nil || out.String() != want {
		t.Errorf("%q, %v, want %q", out.String(), table.Err(), want)
	}
}

type outcome struct{ diverged, incomplete bool }

func (o outcome) Diverged() bool   { return o.diverged }
func (o outcome) Incomplete() bool { return o.incomplete }

// TestStatusOf: a divergence counts whatever else is lost.
func TestStatusOf(t *testing.T) {
	for o, want := range map[outcome]int{{}: 0, {diverged: true}: 1, {incomplete: true}: 3, {true, true}: 1} {
		if got := StatusOf(o).ExitCode(); got != want {
			t.Errorf("%+v ends with %d, want %d", o, got, want)
		}
	}
}
