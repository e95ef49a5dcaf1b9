package openra

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/snapshot"
)

func shown(t *testing.T, text string) *snapshot.World {
	t.Helper()
	w, err := Read(strings.NewReader(text), int64(len(text)), "x.log")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	return w
}

func cell(t *testing.T, w *snapshot.World, label, column string, key uint64) string {
	t.Helper()
	table := w.Table(snapshot.Archetype, label)
	if table == nil {
		t.Fatalf("no table %s", label)
	}
	component, field, _ := strings.Cut(column, ".")
	for i := range table.Rows() {
		if table.Keys.A[i] == key {
			if c := table.Column(component, field); c != nil {
				return c.At(i).String()
			}
		}
	}
	t.Fatalf("%s has no %s of %d", label, column, key)
	return ""
}

// TestExcerpt reads one side of a diff: a value has no name if its trait is not shown.
func TestExcerpt(t *testing.T) {
	text := string(partial.Head{Format: "openra", Paste: "p"}.Line()) +
		"Player: A B (Linux x)\nSync for net frame 7 -------------\n" +
		string(partial.Gap{First: 3, Last: 99, Next: 100}.Line()) +
		"\t\t hp: 5\n\t 12 e1 A B Mobile (-3)\n\t\t Facing: 1\n" +
		string(partial.Gap{First: 103, Last: 199, Next: 201}.Line()) +
		"\t\t hp: 6\n\t 12 e1 A B Health (4)\n\t\t hp: 7\n" +
		string(partial.Gap{First: 203}.Line())
	w := shown(t, text)
	if want := "lines 3–99 and 103–199 and what follows line 202 are not in it"; w.Incomplete() != want {
		t.Errorf("incomplete: %q, want %q", w.Incomplete(), want)
	}
	if w.Peer != "A B" || w.Point.Tick != 7 {
		t.Errorf("%+v", w.Head)
	}
	for _, c := range []struct {
		label, column string
		key           uint64
		want          string
	}{
		{"(unnamed)", "unnamed trait.hp", 100, `"5"`},
		{"(unnamed)", "unnamed trait.hp", 201, `"6"`},
		{"Mobile", "Mobile.Facing", 12, `"1"`},
		{"Mobile", "sync.hash", 12, "-3"},
		{"Health", "Health.hp", 12, `"7"`},
		{"(actor)", "actor.owner", 12, `"A B"`},
	} {
		if got := cell(t, w, c.label, c.column, c.key); got != c.want {
			t.Errorf("%s %s: %s, want %s", c.label, c.column, got, c.want)
		}
	}
}

// TestSpaces reads reports with spaces in place of tabs, as whole as they were.
func TestSpaces(t *testing.T) {
	for _, width := range []int{0, 1, 2, 4, 8} {
		text := content(t, hostReport)
		whole := shown(t, string(text))
		w := shown(t, strings.ReplaceAll(string(text), "\t", strings.Repeat(" ", width)))
		within(t, w, whole)
		within(t, &snapshot.World{Head: func() snapshot.Head { h := whole.Head; h.SetIncomplete("x", ""); return h }(), Tables: whole.Tables}, w)
	}
}

// TestElided reads a report in which a person left lines out.
func TestElided(t *testing.T) {
	text := content(t, hostReport)
	lines := bytes.SplitAfter(text, []byte("\n"))
	for cut := 8; cut+6 < len(lines); cut++ {
		for _, sign := range []string{"...", "[…]", "(snip)", "\t ..."} {
			short := bytes.Join(lines[:cut], nil)
			short = append(short, sign+"\n"...)
			short = append(short, bytes.Join(lines[cut+3:], nil)...)
			w, err := Read(bytes.NewReader(short), int64(len(short)), "x.log")
			if err != nil {
				continue // within an order, or more
			}
			if !strings.Contains(w.Incomplete(), "not known") {
				t.Fatalf("after line %d %q: %q", cut, sign, w.Incomplete())
			}
		}
	}
}

// TestPieces recognises lines of the middle of reports, and nothing else.
func TestPieces(t *testing.T) {
	lines := bytes.SplitAfter(content(t, hostReport), []byte("\n"))
	found := 0
	for i := 6; i < len(lines) && string(lines[i]) != "Synced Effects:\n"; i++ {
		if IsExcerpt(bytes.Join(lines[i:], nil)) {
			found++
		}
	}
	if found < 10 {
		t.Errorf("%d places recognised", found)
	}
	for _, text := range []string{"", "\n", "1 a b c d (5)\n", "    x: y\n    z: a\n", "func main() {\n\tfmt.Println (5)\n}\n", "  12 apples and pears (3)\n"} {
		if IsExcerpt([]byte(text)) {
			t.Errorf("%q is recognised", text)
		}
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add("Player: A (Linux x)\n\t 1 a o T (5)\n\t\t a: b\n\x1dgap 3 0 9\n\t\t a: c\n")
	f.Add("\x1dgap 0 0 0\nOrders Issued:\n\t ClientId: 1 OrderString: \"a\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		text = fmt.Sprintf("%s%s", partial.Head{Format: "openra"}.Line(), text)
		w, err := Read(strings.NewReader(text), int64(len(text)), "x.log")
		if err != nil {
			return
		}
		if w.Incomplete() == "" {
			t.Fatal("taken for whole")
		}
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
	})
}
