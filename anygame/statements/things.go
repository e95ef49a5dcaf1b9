package statements

import (
	"fmt"
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
		rest := strings.TrimLeft(m.text[u.end:], " ")
		if marked := strings.TrimLeft(rest, "\"' "); marked != "" && (marked[0] == ':' || marked[0] == '=') {
			rest = strings.TrimLeft(marked[1:], " ")
		} else if name := firstWord(rest); words != fields || !isIdentifier(strings.TrimRight(strings.Trim(name, "\"'"), ":,.;)")) {
			continue // field pos.x, component "Spin::rate"
		}
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
		if rest = strings.TrimRight(rest, ":."); rest != "" && len(rest) <= maxThing {
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

// add takes a line that begins with the name of a peer, a role, or the same kind of word as the line before, and has
// fields. It reports whether the line is one.
func (s *sides) add(m *message) bool {
	if len(m.units) < 3 {
		return false
	}
	one, k := side{}, 1
	switch n := m.nameAt(0); {
	case n != nil:
		one.peer, k = n.name, n.to
	case roles.has(m.units[0].text):
		one.peer, one.role = called(m.units[0].text), m.units[0].text
	case m.units[0].kind == word && len(*s) > 0:
		one.peer = m.token(0)
	default:
		return false
	}
	if k == len(m.units) || m.units[k].text != ":" {
		return false
	}
	if value := m.text[m.units[k].end:]; len(m.units) == k+2 && one.role != "" && len(m.units[k+1].text) < minSum && (len(*s) == 0 || len((*s)[0].names) == 1) {
		one.names, one.values = []string{""}, []string{strings.Trim(value, ` "'`)} // Host: 9
		*s = append(*s, one)
		return true
	}
	for _, field := range strings.FieldsFunc(keyed.Replace(m.text[m.units[k].end:]), func(r rune) bool { return strings.ContainsRune(" ,;{}", r) }) {
		name, value, ok := strings.Cut(field, "=")
		if name = strings.Trim(name, `"'`); !ok || name == "" || value == "" {
			return false
		}
		one.names, one.values = append(one.names, name), append(one.values, strings.Trim(value, `"'`))
	}
	if len(one.names) < 2 || len(*s) > 0 && !slices.Equal(one.names, (*s)[0].names) {
		return false
	}
	*s = append(*s, one)
	return true
}

// keyed writes fields of JSON as others are written.
var keyed = strings.NewReplacer(`": `, `"=`, `":`, `"=`)

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
	if len(s.peers) != 1 || len(s.values) != 2 {
		return
	}
	for i := range s.values {
		v, other := &s.values[i], s.values[1-i].Peer
		switch {
		case other == s.peers[0]:
		case other == "expected" && (v.Peer == "actual" || v.Peer == "received") && m.comesFrom(s.peers[0]),
			v.Peer == tracediff.OtherSide && !tracediff.IsSide(other):
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

// ofPeers are names of parts of a document with the sums of peers. Other parts have sums of other things, such as mods.
const ofPeers = "players|peers|clients|users|machines|nodes|hosts|slots|checksums|hashes|sums|crcs|values|states|desync|desyncs"

// isFrame reports whether a line only opens or closes a part of a document that may have the sums of peers, perhaps with its
// name: "players": [
func (m *message) isFrame() bool {
	brackets, words := 0, 0
	for _, u := range m.units {
		switch {
		case u.kind == word && (u.joined || !oneOf(u.text, ofPeers)):
			return false
		case u.kind == word:
			words++
		case u.kind != mark || !strings.Contains("\"'{}[],:", u.text):
			return false
		case strings.Contains("{}[]", u.text):
			brackets++
		}
	}
	n := len(m.units)
	return n > 0 && (brackets > 0 && words < 2 || words == 1 && n == 2 && m.units[1].text == ":")
}

// isAlike reports whether a line is a name and a number like the name and the sum on the line before.
func (m *message) isAlike(before *message) bool {
	n, k := len(m.units), len(before.units)
	if n < 3 || k < 3 || m.units[n-2].kind != mark || before.units[k-2].kind != mark || m.units[0].kind != word || n > 4 {
		return false
	}
	v, of := m.units[n-1], before.units[k-1]
	return (v.kind == number || v.kind == sum) && (of.kind == sum || of.kind == number) && len(v.text) >= minSum && len(v.text) == len(of.text)
}

// byKeys returns the sums of peers in maps that name both: {"name": "ann", "hash": "77aa12ff"}.
func (m *message) byKeys() (out []tracediff.ClaimedValue) {
	peer, differ := "", false
	for i := 0; i+2 < len(m.units); i++ {
		if u := m.units[i]; u.kind != word || m.units[i].joined {
			continue
		}
		k := i + 1
		for k < len(m.units) && m.units[k].joined {
			k++
		}
		key := m.units[k-1].text
		marks := 0
		for k < len(m.units) && m.units[k].kind == mark && strings.Contains("\"':=", m.units[k].text) {
			marks += strings.Count(":=", m.units[k].text)
			k++
		}
		if k == len(m.units) || marks != 1 {
			continue
		}
		switch v := m.units[k]; {
		case peerNouns.has(key) || key == "name":
			peer = m.token(k)
		case nouns.has(key) && (v.kind == sum || v.kind == number && len(v.text) >= minSum) && peer != "":
			if slices.ContainsFunc(out, func(o tracediff.ClaimedValue) bool { return o.Peer == peer }) {
				return nil
			}
			out = append(out, tracediff.ClaimedValue{Peer: peer, Value: v.text})
			differ = differ || !tracediff.EqualSums(v.text, out[0].Value)
			peer = ""
		}
	}
	if len(out) < 2 || !differ {
		return nil
	}
	return out
}

// columns are the rows of a table below a message, with a column for each side, perhaps in Markdown:
//
//	field         local   remote        | Field | Local value | Remote value |
//	player[0].vx  0.5     0.4999999     |-------|-------------|--------------|
type columns struct {
	width int
	peers []stated // at is the column
	of    string   // the first row that differs
}

// row takes the title or a row, and reports whether a line is one.
func (c *columns) row(m *message) bool {
	line := m.head + m.text
	cells := strings.Fields(line)
	if strings.IndexByte(line, '|') > 0 {
		cells = strings.Split(line, "|")
	}
	if c.peers == nil {
		var peers []stated
		for i, cell := range cells {
			if name := strings.TrimSpace(cell); strings.IndexByte(line, '|') > 0 && oneOf(strings.ToLower(name), platforms) {
				peers = append(peers, stated{at: i, peer: name})
			}
			for _, w := range strings.Fields(strings.ToLower(cell)) {
				if roles.has(w) || outcomes.has(w) {
					peers = append(peers, stated{at: i, peer: called(w), role: w})
					break
				}
			}
		}
		if len(cells) < 3 || len(cells) > 3 && strings.IndexByte(line, '|') < 0 || len(peers) != 2 || peers[0].at == 0 || peers[0].peer == peers[1].peer || m.has(stored|elsewhere) {
			return false
		}
		c.width, c.peers = len(cells), peers
		return true
	}
	if len(cells) != c.width {
		return false
	}
	a, b := strings.TrimSpace(cells[c.peers[0].at]), strings.TrimSpace(cells[c.peers[1].at])
	if c.of == "" && strings.Trim(a, ":-") != "" && !tracediff.EqualSums(a, b) {
		c.of, c.peers[0].text, c.peers[1].text = strings.TrimSpace(cells[0]), a, b
	}
	return true
}

// values returns the values of the first row that differs, and its name.
func (c *columns) values() (out []tracediff.ClaimedValue, by, of string) {
	if c.of == "" {
		return nil, "", ""
	}
	return claimed(c.peers), writer(c.peers...), c.of
}

// isKey reports whether a line only names a peer: player: ann.
func (m *message) isKey() bool {
	n := len(m.units)
	return n > 2 && n < 6 && (peerNouns.has(m.units[0].text) || m.units[0].text == "name") && m.units[1].text == ":" && m.units[n-1].kind != mark
}

// byIndex returns the sums in a list after a word for them, each under its place: checksums=[0x1af3, 0x77b0].
func (m *message) byIndex() (out []tracediff.ClaimedValue) {
	open := -1
	for i := 1; i+1 < len(m.units); i++ {
		if m.units[i].text == "[" && (nouns.has(m.units[i-1].text) || i > 1 && m.units[i-1].kind == mark && nouns.has(m.units[i-2].text)) {
			open = i
			break
		}
	}
	if open < 0 || m.near(stored|elsewhere, open-5, open) {
		return nil
	}
	differ := false
	for _, u := range m.units[open+1:] {
		switch {
		case u.text == "]":
			if len(out) < 2 || !differ {
				return nil
			}
			return out
		case u.kind == sum || u.kind == number && len(u.text) >= minSum:
			out = append(out, tracediff.ClaimedValue{Peer: fmt.Sprintf("[%d]", len(out)), Value: u.text})
			differ = differ || !tracediff.EqualSums(u.text, out[0].Value)
		case u.kind != mark || !strings.Contains(`,"'`, u.text):
			return nil
		}
	}
	return nil
}
