package statements

import (
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/tracediff"
)

// readDiff makes a statement of the first change in a diff of two dumps whose names say whose they are. A line nearby says
// that they are states. Used is how many bytes of the rest belong to it.
//
//	--- _remote  2026-07-14 20:29:51
//	+++ _local   2026-07-14 20:29:39
//	@@ -23,7 +23,7 @@
//	     Power STRENGTH
//	-    Amount: 4
//	+    Amount: 3
func readDiff(above, first, rest []byte) (s *statement, used int) {
	one, ok := strings.CutPrefix(string(first), "--- ")
	next, body, _ := strings.Cut(string(rest[:min(len(rest), maxBlock)]), "\n")
	other, both := strings.CutPrefix(next, "+++ ")
	if !ok || !both || !strings.HasPrefix(body, "@@ ") {
		return nil, 0
	}
	a, b := sideOf(one), sideOf(other)
	strong, states := false, strings.Contains(strings.ToLower(one), "state")
	for _, line := range linesAbove(above) {
		m := parse(line, false)
		t, found := m.trigger(0)
		strong = strong || found && t.strong && !m.excluded(t)
		states = states || strong || m.near(nouns, 0, len(m.units))
	}
	if a == "" || b == "" || a == b || !states {
		return nil, 0
	}
	lines := strings.SplitAfter(body, "\n")
	for i, line := range lines[:len(lines)-1] {
		if line[0] != '-' {
			continue
		}
		k := i
		for k < len(lines) && strings.HasPrefix(lines[k], "-") {
			k++
		}
		if k == len(lines) || lines[k] == "" || lines[k][0] != '+' || !strings.HasSuffix(lines[k], "\n") {
			return nil, 0
		}
		from, to := strings.Fields(line[1:]), strings.Fields(lines[k][1:])
		same := 0
		for same < min(len(from), len(to)) && from[same] == to[same] {
			same++
		}
		of := strings.Trim(strings.Join(from[:same], " "), " :=")
		if same == 0 || len(from) != same+1 || len(to) != same+1 || len(of) > maxThing || parse(of, true).has(stored|elsewhere) {
			return nil, 0
		}
		values := []tracediff.ClaimedValue{{Peer: a, Value: from[same]}, {Peer: b, Value: to[same]}}
		text := strings.Join([]string{of + ":", a, from[same], b, to[same]}, " ")
		return &statement{text: text, values: values, of: of, quoted: !strong}, len(next) + 1 + len(strings.Join(lines[:k+1], ""))
	}
	return nil, 0
}

// sideOf returns the role in the name of a file, "" if there is none.
func sideOf(name string) string {
	for _, part := range vocabulary.Parts(name) {
		if roles.has(part) && !outcomes.has(part) {
			return called(part)
		}
	}
	return ""
}
