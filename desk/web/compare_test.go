package web

import (
	"math/bits"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/report/document"
)

// TestApart: the parts of both sides are their texts, unmarked parts are the same on both, and no longer text of words
// could be: all choices of words of the first are tried.
func TestApart(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		words := rapid.SliceOfN(rapid.SampledFrom([]string{"host", "client", "tick", "7"}), 1, 8)
		x, y := words.Draw(r, "a"), words.Draw(r, "b")
		a, b := strings.Join(x, " "), strings.Join(y, " ")
		left, right := apart(a, b)
		text := func(list []part, all bool) string {
			var out strings.Builder
			for _, p := range list {
				if all || !p.Other {
					out.WriteString(p.Text)
				}
			}
			return out.String()
		}
		if text(left, true) != a || text(right, true) != b {
			r.Fatalf("%q and %q became %v and %v", a, b, left, right)
		}
		same := text(left, false)
		if same != text(right, false) {
			r.Fatalf("%v and %v have %q and %q in common", left, right, same, text(right, false))
		}
		p, q, most := strings.SplitAfter(a, " "), strings.SplitAfter(b, " "), 0
		for chosen := range uint(1) << len(p) {
			if bits.OnesCount(chosen) > most && within(p, q, chosen) {
				most = bits.OnesCount(chosen)
			}
		}
		if got := len(strings.Fields(same)); got != most {
			r.Fatalf("%v and %v have %d words in common, expected %d", left, right, got, most)
		}
	})
}

// within reports whether the chosen words of p are in q, in the same order.
func within(p, q []string, chosen uint) bool {
	at := 0
	for i, word := range p {
		if chosen>>i&1 == 0 {
			continue
		}
		for at < len(q) && q[at] != word {
			at++
		}
		if at == len(q) {
			return false
		}
		at++
	}
	return true
}

// TestCompare: a report is the same as itself, in all fields; a change in one field, or a field in one report only,
// differs there and nowhere else.
func TestCompare(t *testing.T) {
	made := func() *document.Report {
		r := document.NoReport(document.Diverged, "host and client diverged")
		r.Session = document.Session{Game: "arena", Build: "1.4.2", Seed: "07"}
		r.Peers = []document.TriagedPeer{{Name: "host", Group: 1}, {Name: "client", Group: 2}}
		tick := uint64(77)
		r.FirstDivergence = &document.FirstDivergence{Tick: &tick, System: "Combat", Archetypes: []string{"Unit"}}
		r.Stated = []document.Fact{{Name: "os", Values: map[string]string{"host": "linux", "client": "linux"}}}
		return r
	}
	differing := func(a, b *document.Report) (list []string) {
		for _, kind := range compare(a, b) {
			for _, row := range kind.Rows {
				if !row.Same {
					list = append(list, kind.ID+"/"+row.Name)
				}
			}
		}
		return list
	}
	if got := differing(made(), made()); len(got) != 0 {
		t.Errorf("a report differs from itself: %q", got)
	}
	for want, change := range map[string]func(*document.Report){
		"session/build":        func(r *document.Report) { r.Session.Build = "1.4.3" },
		"session/seed":         func(r *document.Report) { r.Session.Seed = "" },
		"where/divergent tick": func(r *document.Report) { r.FirstDivergence.Tick = nil },
		"where/system":         func(r *document.Report) { r.FirstDivergence.System = "Movement" },
		"peers/client":         func(r *document.Report) { r.Peers[1].OrderLog = true },
		"facts/os":             func(r *document.Report) { r.Stated[0].Values["client"] = "windows" },
		"facts/cpu": func(r *document.Report) {
			r.Stated = append(r.Stated, document.Fact{Name: "cpu", Values: map[string]string{"host": "arm64"}})
		},
		"causes/float": func(r *document.Report) {
			r.Causes = []document.Cause{{Class: "float", Title: "Floats", Standing: "seen"}}
		},
	} {
		r := made()
		change(r)
		for _, got := range [][]string{differing(made(), r), differing(r, made())} {
			if len(got) != 1 || got[0] != want {
				t.Errorf("%q differs, expected %s", got, want)
			}
		}
	}
}
