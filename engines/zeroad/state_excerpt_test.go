package zeroad

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/snapshot"
)

func realDump(t testing.TB) []byte {
	t.Helper()
	f, err := os.Open("../../testdata/0ad/mp_orders_walkspeed/client/ooslog/00017.txt.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func shown(t testing.TB, text []byte) *snapshot.World {
	t.Helper()
	w, err := Read(bytes.NewReader(text), int64(len(text)), "x.txt")
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Validate(); err != nil {
		t.Fatal(err)
	}
	return w
}

// TestExcerptRows reads a real dump as an excerpt without gaps: entities and components equal the whole reader's, and
// no line makes no sense.
func TestExcerptRows(t *testing.T) {
	text := realDump(t)
	whole := shown(t, text)
	w := shown(t, append(partial.Head{Format: formatName, Paste: "p"}.Line(), text...))
	if strings.Contains(w.Incomplete(), "no sense") {
		t.Errorf("incomplete: %s", w.Incomplete())
	}
	tables := 0
	for i := range whole.Tables {
		table := &whole.Tables[i]
		if table.Keys.Parts() > 1 {
			continue // lists
		}
		tables++
		got := w.Table(table.Class, table.Label)
		if got == nil || got.Rows() != table.Rows() {
			t.Errorf("%s: %v, want %d rows", table.Label, got, table.Rows())
		}
	}
	if tables < 20 {
		t.Errorf("%d tables", tables)
	}
}

// TestExcerptGap: after a gap a value has no name, and then the name of its component.
func TestExcerptGap(t *testing.T) {
	text := string(partial.Head{Format: formatName}.Line()) + "rng: \"5\"\nentities:\n- id: 7\n  Position:\n    x: 1.5\n" +
		string(partial.Gap{First: 6, Last: 99, Next: 100}.Line()) +
		"    z: 2\n  Health:\n    comp: {\n      \"hitpoints\": 50,\n      \"regen\": {\n        \"rate\": 1\n      }\n    }\n\n- id: 9\n  Position:\n    x: 3\n"
	w := shown(t, []byte(text))
	for _, c := range []struct {
		label string
		key   uint64
		name  string
		want  string
	}{
		{"Position", 7, "Position.x", `"1.5"`}, {"(unnamed)", 100, "unnamed component.z", `"2"`}, {"(unnamed) Health", 101, "Health.hitpoints", `"50"`},
		{"(unnamed) Health", 101, "Health.regen.rate", `"1"`}, {"Position", 9, "Position.x", `"3"`},
	} {
		table := w.Table(snapshot.Archetype, c.label)
		component, field, _ := strings.Cut(c.name, ".")
		got := ""
		if table != nil {
			for row := range table.Rows() {
				if column := table.Column(component, field); column != nil && table.Keys.A[row] == c.key && column.Has(row) {
					got = column.At(row).String()
				}
			}
		}
		if got != c.want {
			t.Errorf("%s %d %s: %s, want %s", c.label, c.key, c.name, got, c.want)
		}
	}
	if w.Incomplete() != "lines 6–99 are not in it" || w.Point.Relation != snapshot.Some {
		t.Errorf("%q, %+v", w.Incomplete(), w.Point)
	}
}

func FuzzExcerpt(f *testing.F) {
	f.Add([]byte("- id: 7\n  Position:\n    x: 1.5\n\x1dgap 4 9 10\n    z: 2\n"))
	f.Add(realDump(f)[:4096])
	f.Fuzz(func(t *testing.T, text []byte) {
		text = append(partial.Head{Format: formatName}.Line(), text...)
		w, err := Read(bytes.NewReader(text), int64(len(text)), "x.txt")
		if err != nil {
			return
		}
		if err := w.Validate(); err != nil {
			t.Fatal(err)
		}
		if w.Incomplete() == "" {
			t.Fatal("taken for whole")
		}
	})
}
