package statements

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/tracediff"
)

// readDiff makes a statement of the first change in a diff of two dumps. Their names show the peers, and a line nearby
// shows that they are states. Used is how many bytes of the rest belong to it.
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
	isRemoved := func(line string) bool { return strings.HasPrefix(line, "-") }
	i := slices.IndexFunc(lines, isRemoved)
	k := i + slices.IndexFunc(lines[max(i, 0):], func(line string) bool { return !isRemoved(line) })
	if i < 0 || k < i || !strings.HasPrefix(lines[k], "+") || !strings.HasSuffix(lines[k], "\n") {
		return nil, 0
	}
	from, to := strings.Fields(lines[i][1:]), strings.Fields(lines[k][1:])
	same := len(from) - 1
	if same < 1 || len(to) != same+1 || !slices.Equal(from[:same], to[:same]) || from[same] == to[same] {
		return nil, 0
	}
	of := strings.Trim(strings.Join(from[:same], " "), " :=")
	if len(of) > maxThing || parse(of, true).has(stored|elsewhere) {
		return nil, 0
	}
	values := []tracediff.ClaimedValue{{Peer: a, Value: from[same]}, {Peer: b, Value: to[same]}}
	text := strings.Join([]string{of + ":", a, from[same], b, to[same]}, " ")
	return &statement{text: text, values: values, of: of, quoted: !strong}, len(next) + 1 + len(strings.Join(lines[:k+1], ""))
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
