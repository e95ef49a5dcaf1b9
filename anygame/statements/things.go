package statements

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// thing returns what the values of a message are, if it names a part of the state: "velocity.y of Ball#3".
func (m *message) thing() string {
	field, row := m.valueAfter(fields), m.valueAfter(entities)
	switch {
	case field == "":
		return ""
	case row == "":
		return field
	}
	return field + " of " + row
}

// valueAfter returns the value after one of some words: field=velocity.y, entity: "Ball 3".
func (m *message) valueAfter(words class) string {
	for i, u := range m.units {
		if u.kind != word || !words.has(u.text) || i+1 == len(m.units) || m.units[i+1].joined {
			continue
		}
		rest := strings.TrimLeft(m.text[u.end:], " \"'")
		if rest == "" || rest[0] != ':' && rest[0] != '=' {
			continue
		}
		rest = strings.TrimLeft(rest[1:], " ")
		if rest == "" {
			continue
		}
		stops := " ,;|)]}"
		if quote := rest[0]; quote == '"' || quote == '\'' {
			rest, stops = rest[1:], string(quote)
		}
		if end := strings.IndexAny(rest, stops); end >= 0 {
			rest = rest[:end]
		}
		if rest != "" && len(rest) <= maxThing {
			return rest
		}
	}
	return ""
}

// maxThing is how many bytes the name of a part of the state has at most.
const maxThing = 80

// sides are lines that each have the same fields of one side:
//
//	mine   : units=5021 rnd=881203 map=771
//	theirs : units=5021 rnd=881204 map=771
type sides []side

// side is one of these lines.
type side struct {
	peer, role string
	names      []string
	values     []string
}

// add takes a line that begins with the name of a peer or a role, and has fields.
func (s *sides) add(m *message) {
	if len(m.units) < 3 {
		return
	}
	one, k := side{}, 1
	switch n := m.nameAt(0); {
	case n != nil:
		one.peer, k = n.name, n.to
	case roles.has(m.units[0].text):
		one.peer, one.role = called(m.units[0].text), m.units[0].text
	default:
		return
	}
	if k == len(m.units) || m.units[k].text != ":" {
		return
	}
	for _, field := range strings.FieldsFunc(m.text[m.units[k].end:], func(r rune) bool { return strings.ContainsRune(" ,;", r) }) {
		name, value, ok := strings.Cut(field, "=")
		if !ok || name == "" || value == "" {
			return
		}
		one.names, one.values = append(one.names, name), append(one.values, value)
	}
	if len(one.names) > 1 {
		*s = append(*s, one)
	}
}

// values returns the first field that is a sum and differs between the sides, else the first that differs, and its name
// unless it is a sum of the whole state.
func (s sides) values() (out []tracediff.ClaimedValue, by, of string) {
	if len(s) < 2 {
		return nil, "", ""
	}
	differs := -1
	for i, name := range s[0].names {
		same := true
		for _, other := range s[1:] {
			if !slices.Equal(other.names, s[0].names) {
				return nil, "", ""
			}
			same = same && tracediff.EqualSums(other.values[i], s[0].values[i])
		}
		if sum := nouns.has(strings.ToLower(name)); !same && (differs < 0 || sum && !nouns.has(strings.ToLower(s[0].names[differs]))) {
			differs = i
		}
	}
	if differs < 0 {
		return nil, "", ""
	}
	for _, one := range s {
		out = append(out, tracediff.ClaimedValue{Peer: one.peer, Value: one.values[differs]})
		if writers.has(one.role) {
			by = one.peer
		}
	}
	return out, by, s[0].names[differs]
}

// assign gives the value that came from the one accused peer to that peer: sync error for Bob (got 5f3a, correct is 77a0).
func (m *message) assign(s *statement) {
	if len(s.peers) != 1 || !slices.ContainsFunc(s.values, func(v tracediff.ClaimedValue) bool { return v.Peer == "expected" }) {
		return
	}
	for i := range s.values {
		if v := &s.values[i]; (v.Peer == "actual" || v.Peer == "received") && m.comesFrom(s.peers[0]) {
			v.Peer = s.peers[0]
		}
	}
}

// comesFrom reports whether a message is about something of a peer: "for Bob", "from=player_2".
func (m *message) comesFrom(name string) bool {
	for i, u := range m.units {
		if u.kind != word || !oneOf(u.text, "for|from|of") {
			continue
		}
		for k := i + 1; k < len(m.units) && k < i+4; k++ {
			if strings.HasPrefix(m.text[m.units[k].start:], name) {
				return true
			}
			if w := m.units[k]; w.kind != mark && !oneOf(w.text, "the|player|client|peer|user") {
				break
			}
		}
	}
	return false
}
