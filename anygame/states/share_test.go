package states

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// TestShared: a state that is read after another one is the state that a schema without the other one reads, and columns
// that are equal in both have the same memory.
func TestShared(t *testing.T) {
	const rows = 2 * sharedRows
	text := func(change func(row int, line string) string) []byte {
		var out strings.Builder
		out.WriteString(`{"tick": 1, "units": [`)
		for i := range rows {
			line := change(i, fmt.Sprintf(`{"id": %d, "hp": %d, "x": %d.5}`, i, i%7, i))
			if i > 0 && line != "" {
				out.WriteString(",\n")
			}
			out.WriteString(line)
		}
		return []byte(out.String() + "]}")
	}
	json := &notation.All()[0]
	if json.Name != "json" {
		t.Fatal(json.Name)
	}
	random := rand.New(rand.NewPCG(1, 2))
	at := random.IntN(rows-1) + 1
	for name, c := range map[string]struct {
		change func(row int, line string) string
		shared string // columns
	}{
		"equal": {func(_ int, line string) string { return line }, "hp id x"},
		"one value": {func(i int, line string) string {
			return strings.Replace(line, `"hp": `, `"hp": `+map[bool]string{true: "1"}[i == at], 1)
		}, "id x"},
		"other text": {func(_ int, line string) string { return strings.Replace(line, ".5", ".50", 1) }, "hp id x"},
		"a row less": {func(i int, line string) string { return map[bool]string{false: line}[i == at] }, ""},
		"a value less": {func(i int, line string) string {
			if i == at {
				return strings.Replace(line, `"hp"`, `"mp"`, 1)
			}
			return line
		}, "id x"},
		"twice": {func(i int, line string) string {
			if i == at {
				return strings.Replace(line, `"hp": `, `"hp": 9, "hp": `, 1)
			}
			return line
		}, "id x"},
	} {
		t.Run(name, func(t *testing.T) {
			first, second := text(func(_ int, line string) string { return line }), text(c.change)
			read := func(before bool) (worlds []*snapshot.World) {
				var s Schema
				for _, text := range [][]byte{first, second} {
					if err := s.Learn(json, text); err != nil {
						t.Fatal(err)
					}
				}
				for _, text := range [][]byte{first, second} {
					if !before {
						s.before = new(lately)
					}
					list, err := s.Decode(json, text)
					if err != nil || len(list) != 1 {
						t.Fatal(list, err)
					}
					worlds = append(worlds, list...)
				}
				return worlds
			}
			got, want := read(true), read(false)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%v, expected %v", got, want)
			}
			var shared []string
			for i := range got[0].Tables {
				a, b := &got[0].Tables[i], &got[1].Tables[i]
				for k := range a.Columns {
					x := &a.Columns[k]
					for l := range b.Columns {
						if y := &b.Columns[l]; x.Rows() == rows && x.Schema == y.Schema && &x.Data[0] == &y.Data[0] && &x.Ends[0] == &y.Ends[0] {
							shared = append(shared, x.Field)
						}
					}
				}
			}
			if got := strings.Join(shared, " "); got != c.shared {
				t.Errorf("columns %q are shared, expected %q", got, c.shared)
			}
		})
	}
}
