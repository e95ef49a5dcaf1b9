package states

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/notation"
)

// repeated joins n pieces that a number is put into.
func repeated(n int, piece, between string) string {
	var out strings.Builder
	for i := range n {
		if i > 0 {
			out.WriteString(between)
		}
		out.WriteString(strings.ReplaceAll(piece, "#", fmt.Sprint(i)))
	}
	return out.String()
}

// TestLinear: memory, and with it the work, grows as the file does, whatever is in it.
func TestLinear(t *testing.T) {
	for _, c := range []struct {
		name string
		text func(n int) string
	}{
		{"equal names", func(n int) string { return `{"tick": 1, "u": {` + repeated(n, `"a": #`, ",") + `}}` }},
		{"equal names of a row", func(n int) string {
			return `{"tick": 1, "u": [{"id": 1, ` + repeated(n, `"a": #`, ",") + `}, {"id": 2, "b": 1}]}`
		}},
		{"equal names of rows", func(n int) string { return `{"tick": 1, "u": {` + repeated(n, `"7": {"hp": #}`, ",") + `}}` }},
		{"names", func(n int) string { return `{"tick": 1, "u": {` + repeated(n, `"k#x": #`, ",") + `}}` }},
		{"names below a long one", func(n int) string {
			return `{"tick": 1, "` + strings.Repeat("n", 60*n) + `": {"a": {` + repeated(60, `"k#x": {"b": [{"c": 1}]}`, ",") + `}}}`
		}},
		{"kinds", func(n int) string { return `[` + repeated(n, `{"tick": 1, "kind": "k#", "id": #}`, ",") + `]` }},
		{"tables", func(n int) string {
			return `[` + repeated(n, `{"tick": 1, "kind": "k#", "id": #, "u": [{"id": 3}]}`, ",") + `]`
		}},
	} {
		var before, after runtime.MemStats
		var used [2]uint64
		for i, n := range []int{200, 1600} {
			text := []byte(c.text(n))
			json := notation.Of("x.json", text, true)
			runtime.ReadMemStats(&before)
			if _, err := new(Schema).Decode(json, text); err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			runtime.ReadMemStats(&after)
			used[i] = after.TotalAlloc - before.TotalAlloc
		}
		if used[1] > 12*used[0] {
			t.Errorf("%s: %d bytes for a file, %d for one that is 8 times as long", c.name, used[0], used[1])
		}
	}
}

// TestSparse: if each row has a separate column, the cells are rows times columns. They are refused, as one document
// and as many.
func TestSparse(t *testing.T) {
	learned := []byte(`{"tick": 1, "u": [{"id": 1}]}`)
	json := notation.Of("x.json", learned, true)
	for _, text := range []string{
		`{"tick": 1, "u": [` + repeated(2000, `{"id": #, "f#": 1}`, ",") + `]}`,
		repeated(20, `{"tick": 1, "u": [`+repeated(400, `{"id": #, "f#": 1}`, ",")+`]}`, "\n"),
	} {
		var s Schema
		if err := s.Learn(json, learned); err != nil {
			t.Fatal(err)
		}
		_, err := s.Decode(json, []byte(text))
		if e := (*limits.Error)(nil); !errors.As(err, &e) || e.Limit != limits.Sparse {
			t.Errorf("%.60s: %v", text, err)
		}
	}
}

// TestNoState: a file without any value in it, and one that is a value by itself, are no states.
func TestNoState(t *testing.T) {
	learned := []byte("tick: 1\nu:\n  - id: 1\n")
	yaml := notation.Of("x.yaml", learned, true)
	for text, want := range map[string]string{
		"# a dump\n": "line 2: nothing but blanks and comments",
		"rain\n":     "line 2: a value by itself, expected a map or list",
	} {
		var s Schema
		if err := s.Learn(yaml, learned); err != nil {
			t.Fatal(err)
		}
		worlds, err := s.Decode(yaml, []byte(text))
		var fault *notation.Error
		if worlds != nil || !errors.As(err, &fault) {
			t.Errorf("%q: %v, %v", text, worlds, err)
			continue
		}
		var told *frame.Error
		if errors.As(fault.In("x.yaml", []byte(text)), &told) && told.Msg != want {
			t.Errorf("%q: %s", text, told.Msg)
		}
	}
}
