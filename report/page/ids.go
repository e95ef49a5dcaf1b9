package page

import (
	"fmt"
	"strings"
)

// ids are the ids of a report that links lead to: made of the names of their targets, each once, the same for the same
// report. All begin with the prefix, which differs between the reports of one page.
type ids struct {
	prefix string
	used   map[string]int
}

// newIDs returns the ids of a report, with the ids of its sections taken.
func newIDs(prefix string) ids {
	out := ids{prefix, map[string]int{}}
	for _, id := range []string{
		"content", "theme", "ask", "filter", "differs", "verdict", "gamelogs", "ladder", "first", "code", "locus", "timeline", "heat", "tree", "map", "causes", "cascade", "inputs", "peers", "evidence", "next", "fingerprint",
	} {
		out.used[id] = 1
	}
	return out
}

// of returns the id of a section.
func (s ids) of(name string) string { return s.prefix + name }

// maxID is how long an id may be before its number.
const maxID = 80

// unique returns an id of small letters, digits and hyphens that begins with a letter if the first
// part does.
func (s ids) unique(parts ...string) string {
	var b strings.Builder
	for _, part := range parts {
		for _, r := range strings.ToLower(part) {
			switch {
			case b.Len() >= maxID:
			case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
				b.WriteRune(r)
			case b.Len() > 0 && !strings.HasSuffix(b.String(), "-"):
				b.WriteByte('-')
			}
		}
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "-") {
			b.WriteByte('-')
		}
	}
	id := strings.TrimRight(b.String(), "-")
	for {
		n := s.used[id]
		if s.used[id]++; n == 0 {
			return s.prefix + id
		}
		if numbered := fmt.Sprintf("%s-%d", id, n+1); s.used[numbered] == 0 {
			s.used[numbered] = 1
			return s.prefix + numbered
		}
	}
}
