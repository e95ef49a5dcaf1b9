package statements

import (
	"cmp"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// subjectOf returns the word for a field or an entity that a phrase has as its subject, "" if it has another: Variable out of
// sync. The words before it are the levels of a log.
func (m *message) subjectOf(t trigger) string {
	k := t.from - 1
	for k >= 0 && m.units[k].kind == word && oneOf(m.units[k].text, "is|was|has|gone|went") {
		k--
	}
	if k != 0 || m.units[0].kind != word || !(fields | entities).has(m.units[0].text) || m.units[0].text == "actor" {
		return ""
	}
	return m.units[0].text
}

// fieldAfter returns the name behind a phrase with a field as its subject, and behind a tick and a mark: Variable out of sync at
// turn 88: m_iFaith.
func (m *message) fieldAfter(t trigger) string {
	if !fields.has(m.subjectOf(t)) {
		return ""
	}
	for k := t.to; k < len(m.units); k++ {
		u := m.units[k]
		switch {
		case m.used[k] || u.kind == mark && oneOf(u.text, ":|-|=|(") || u.kind == word && oneOf(u.text, "at|in|on"):
		case u.kind == word || u.kind == other:
			name, _, _ := strings.Cut(m.text[u.start:], " ")
			if name = strings.TrimRight(name, ",;.:)"); isIdentifier(name) {
				return name
			}
			return ""
		default:
			return ""
		}
	}
	return ""
}

// isIdentifier reports whether a word is the name of a thing in a program, and no word of a language.
func isIdentifier(t string) bool {
	if len(t) < 2 || len(t) > maxThing || !isLetter(t[0]) && t[0] != '_' {
		return false
	}
	if strings.ContainsAny(t, "_.[") || strings.Contains(t, "::") {
		return true
	}
	for i := 1; i < len(t); i++ {
		if isUpper(t[i]) && isSmall(t[i-1]) {
			return true
		}
	}
	return false
}

// roleValues frees numbers that were taken for numbers of peers, if the message is about a field with a value on each of two peers:
// host 12, client 13.
func (m *message) roleValues() {
	if len(m.named) < 2 {
		return
	}
	t, ok := m.trigger(0)
	if !ok || m.thing() == "" && m.fieldAfter(t) == "" {
		return
	}
	for i, n := range m.named {
		same := func(o named) bool { return m.units[o.from].text == m.units[n.from].text }
		if n.to != n.from+2 || !roles.has(m.units[n.from].text) || slices.ContainsFunc(m.named[:i], same) {
			return
		}
	}
	for _, n := range m.named {
		m.used[n.from], m.used[n.from+1] = false, false
	}
	m.named = nil
}

// changed are fields with two values each: hp 12/13, rng: 17/18.
type changed struct {
	of     string
	values [2]string
}

// changesIn returns the fields with two values each at the end of a text: hp 12/13 rng 17/18. A cut end is left out. Whole reports that
// there is nothing else, except for the words for the two sides: (recorded/replayed).
func changesIn(text string) (list []changed, whole bool) {
	of := ""
	for _, part := range strings.Fields(text) {
		a, b, two := strings.Cut(strings.Trim(part, ",;"), "/")
		switch {
		case two && of != "" && isNumeric(a) && isNumeric(b):
			list = append(list, changed{of, [2]string{a, b}})
			of = ""
		case !two && of == "" && isLetter(part[0]):
			of = strings.TrimRight(part, ":=,")
		default:
			return list, of == "" && part[0] == '(' && strings.HasSuffix(text, part)
		}
	}
	return list, of == ""
}

// isNumeric reports whether a text is a number, or digits in base 16.
func isNumeric(t string) bool {
	return t != "" && strings.Trim(t, "0123456789abcdefABCDEFx.-") == "" && strings.ContainsAny(t, "0123456789")
}

// ofChanges returns the values of the first field with two values that differ, and its name: tick 0 state differs: hp 12/13 rng 17/18.
// Lines below may have more fields, and then the words for the two sides. More are these lines.
func (m *message) ofChanges(t trigger, next []string) (values []tracediff.ClaimedValue, of string, more []string) {
	_, rest, ok := strings.Cut(m.text[m.units[t.to-1].end:], ":")
	if !ok {
		return nil, "", nil
	}
	list, whole := changesIn(rest)
	sides := m
	for _, line := range next {
		l := parse(line, true)
		others, all := changesIn(l.text)
		if len(list) == 0 || !whole || !all || len(others) == 0 {
			break
		}
		list, more, sides = append(list, others...), append(more, l.text), l
	}
	for _, c := range list {
		if c.values[0] == c.values[1] {
			continue
		}
		a, b := sides.sidesBehind()
		return []tracediff.ClaimedValue{{Peer: cmp.Or(a, tracediff.OneSide), Value: c.values[0]}, {Peer: cmp.Or(b, tracediff.OtherSide), Value: c.values[1]}}, c.of, more
	}
	return nil, "", nil
}

// sidesBehind returns the words for the two sides of values, between the parentheses that a message ends with: 5 != 6 (replayed
// vs. recorded).
func (m *message) sidesBehind() (a, b string) {
	n := len(m.units)
	if n < 8 || m.units[n-1].text != ")" {
		return "", ""
	}
	var inside []string
	for k := n - 2; k > 0 && m.units[k].text != "("; k-- {
		if u := m.units[k]; u.kind == word || u.text == "/" {
			inside = append(inside, u.text)
		} else if u.text != "." {
			return "", ""
		}
	}
	if len(inside) != 3 || !oneOf(inside[1], "vs|versus|/") {
		return "", ""
	}
	a, b = called(inside[2]), called(inside[0])
	if isSide := func(w string) bool { return roles.has(w) || outcomes.has(w) }; a == b || !isSide(inside[0]) || !isSide(inside[2]) {
		return "", ""
	}
	return a, b
}

// ofReplay reports whether the sides behind the values of a message are a replay and what it was recorded from.
func (m *message) ofReplay() bool {
	a, b := m.sidesBehind()
	return a == "replay" && b == "recorded" || a == "recorded" && b == "replay"
}

// partBehind returns the path of a part of the state behind two unequal values: 55 != 190 memory/:maincpu/0/ram. It is empty for
// the path of a file.
func (m *message) partBehind() string {
	op := slices.IndexFunc(m.units, func(u unit) bool { return u.text == "!=" && u.kind == mark })
	if op < 1 || op+2 >= len(m.units) || !m.isValue(op-1) || !m.isValue(op+1) {
		return ""
	}
	path := strings.TrimLeft(m.text[m.units[op+1].end:], " ")
	if end := strings.LastIndex(path, " ("); end > 0 && strings.HasSuffix(path, ")") {
		path = path[:end]
	}
	if strings.Count(path, "/") < 2 || strings.Count(path, " ") > 2 || len(path) > maxThing || !isLetter(path[0]) || elsewhereName(path[strings.LastIndexByte(path, '/'):]) {
		return ""
	}
	return path
}

// isReplay reports whether two values come from a recording and from its replay, and returns the name of the replay's value. An error
// about determinism has such values.
func (m *message) isReplay(t trigger, values []tracediff.ClaimedValue) (by string, ok bool) {
	if len(values) != 2 {
		return "", false
	}
	thrown := m.thrown(t.from) > 0
	for i, v := range values {
		if other := values[1-i].Peer; v.Peer == "recorded" && oneOf(other, "replay|computed|calculated|actual|live") || thrown && v.Peer == "expected" && other == "actual" {
			return other, true
		}
	}
	return "", false
}
