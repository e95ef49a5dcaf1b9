package gitbisect

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// FuzzJournal: of any bytes whole lines are taken, up to the first that is none of a journal's, and what is taken
// is written again as it was read.
func FuzzJournal(f *testing.F) {
	const head = `{"schema":"desynctool.gitbisect-journal/1","search":"x"}` + "\n"
	f.Add([]byte(head))
	f.Add([]byte(head + `{"commit":"a","verdict":"good","built":true,"why":"same"}` + "\n" + `{"commit":"a","verd`))
	f.Add([]byte(head + "{}\n[]\n"))
	f.Add([]byte("{}\n"))
	f.Fuzz(func(t *testing.T, b []byte) {
		s := &Store{runs: map[string][]kept{}}
		end := s.read(bytes.NewReader(b), "x")
		if end < 0 || end > int64(len(b)) || end > 0 && b[end-1] != '\n' {
			t.Fatalf("%d of %d bytes", end, len(b))
		}
		if n := bytes.Count(b[:end], []byte("\n")); end > 0 && n != s.resumed+1 || end == 0 && s.resumed > 0 {
			t.Fatalf("%d lines, %d runs", n, s.resumed)
		}
		for _, list := range s.runs {
			for _, k := range list {
				line, err := json.Marshal(k)
				if err != nil {
					t.Fatal(err)
				}
				again := &Store{runs: map[string][]kept{}}
				if again.read(strings.NewReader(head+string(line)+"\n"), "x"); len(again.runs[k.Commit]) != 1 || again.runs[k.Commit][0] != k {
					t.Fatalf("%+v", again.runs)
				}
			}
		}
	})
}

// FuzzRevisions: the names of a range have one bad end and a good one, and none is an option.
func FuzzRevisions(f *testing.F) {
	for _, spec := range []string{"a..b", "b ^a", "..", "a...b", "--all ^a", "^..b", ""} {
		f.Add(spec)
	}
	f.Fuzz(func(t *testing.T, spec string) {
		bad, good, err := revisions(spec)
		if err != nil {
			return
		}
		if bad == "" || len(good) == 0 {
			t.Fatalf("%q: %q, %q", spec, bad, good)
		}
		for word := range strings.FieldsSeq(spec) {
			if strings.HasPrefix(word, "-") || strings.Contains(word, "...") {
				t.Fatalf("%q: %q", spec, word)
			}
		}
	})
}
