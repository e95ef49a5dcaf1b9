package statements

import (
	"slices"
	"strconv"
	"strings"
)

// named is the name of a peer, and the units that it has.
type named struct {
	name     string
	from, to int
}

// findNames finds peers that have a number or a name: player 2, client "Bob".
func (m *message) findNames() {
	m.findNumbered()
	for i, u := range m.units {
		if u.kind != word || !(peerNouns.has(u.text) || u.text == "p" && i+1 < len(m.units) && m.units[i+1].joined) {
			continue
		}
		k := i + 1
		for k < len(m.units) && m.units[k].kind == mark && (strings.Contains("#-", m.units[k].text) || m.units[k].text == "(" && k+1 < len(m.units) && m.units[k+1].kind == number) {
			k++
		}
		if k >= len(m.units) {
			continue
		}
		if end := m.index(i); end > 0 {
			m.named = append(m.named, named{u.text + " " + m.units[end-2].text, i, end})
			for k := i; k < end; k++ {
				m.used[k] = true
			}
			continue
		}
		switch n := m.units[k]; {
		case n.kind == number && len(n.text) < 3 && (n.joined || n.start-u.end < 3) && !(k+1 < len(m.units) && m.units[k+1].joined && n.joined): // not p2p
			name := m.text[u.start:n.end]
			if !n.joined {
				name = u.text + " " + n.text
			}
			m.named = append(m.named, named{name, i, k + 1})
			for ; k >= i; k-- {
				m.used[k] = true
			}
		case n.kind == mark && (n.text == `"` || n.text == "'") && n.start > u.end && k+1 < len(m.units):
			if end := strings.Index(m.text[n.end:], n.text); end > 0 && end < 64 {
				to := k + 1
				for to < len(m.units) && m.units[to].start < n.end+end {
					m.used[to] = true
					to++
				}
				m.named = append(m.named, named{m.text[n.end : n.end+end], i, to})
			}
		case n.kind == word && k == i+1 && !n.joined && m.isName(k):
			m.named = append(m.named, named{m.token(k), i, k + 1})
			m.used[k] = true
		}
	}
}

// findNumbered finds peers that two parts of a message or more begin with, under one word with a number each:
// Actor 1: 5f3a; Actor 2: 77a0.
func (m *message) findNumbered() {
	var found []named
	for i := 0; i+3 < len(m.units); i++ {
		w, n, after, v := m.units[i], m.units[i+1], m.units[i+2], m.units[i+3]
		if i > 0 && m.units[i-1].text != ";" || w.kind != word || n.kind != number || len(n.text) > 2 || after.text != ":" && after.text != "=" ||
			v.kind != number && v.kind != sum || len(v.text) < minSum || (nouns | outcomes | stored | peerNouns).has(w.text) || tickWords()[w.text] != "" {
			continue
		}
		if len(found) > 0 && w.text != m.units[found[0].from].text {
			return
		}
		found = append(found, named{m.text[w.start:n.end], i, i + 2})
	}
	if len(found) < 2 {
		return
	}
	m.named = append(m.named, found...)
	for _, f := range found {
		m.used[f.from], m.used[f.from+1] = true, true
	}
}

// index returns where a name with an index ends that begins at a unit, such as playerCRC[1], 0 if there is none.
func (m *message) index(i int) int {
	for i++; i < len(m.units) && m.units[i].joined; i++ {
	}
	if i+2 >= len(m.units) || m.units[i].text != "[" || m.units[i+2].text != "]" {
		return 0
	}
	if n := m.units[i+1]; n.kind != number || len(n.text) > 3 {
		return 0
	}
	return i + 3
}

// isName reports whether a word after one for a peer is its name: none that messages have there.
func (m *message) isName(k int) bool {
	w := m.units[k].text
	const usual = subjects | programs | prosaic | nouns | outcomes | roles | connecting | conditional | harmless | peerNouns
	if len(w) < 2 || usual.has(w) || tickWords()[w] != "" || hasStem(w) {
		return false
	}
	if capital(m.text[m.units[k].start:]) {
		return true
	}
	return k+1 < len(m.units) && (nouns.has(m.units[k+1].text) || oneOf(m.units[k+1].text, "is|has"))
}

// minChained is how many digits the checksum of a block has at least. The blocks of such logs are their ticks, which may have
// several rounds.
const minChained = 40

// chained reports whether a message has the checksum of a block.
func (m *message) chained() bool {
	return slices.ContainsFunc(m.units, func(u unit) bool { return u.kind == sum && len(u.text) >= minChained })
}

// findTicks finds numbers after words for a tick.
func (m *message) findTicks() {
	chained := m.chained()
	for i, u := range m.units {
		name := tickWords()[u.text]
		if chained {
			if name = ""; oneOf(u.text, "block|height|slot") || u.text == "number" && m.near(elsewhere, i-8, i) {
				name = strings.ReplaceAll(u.text, "number", "block")
			}
		}
		if u.text == "f" && i+2 < len(m.units) && oneOf(m.units[i+1].text, ":|=") {
			name = "frame"
		}
		if u.kind != word || name == "" {
			continue
		}
		if i > 1 && plural.has(u.text) && m.units[i-1].kind == number && m.units[i-2].text == "after" && len(m.units[i-1].text) <= 18 {
			n, _ := strconv.ParseUint(m.units[i-1].text, 10, 63)
			m.ticks = append(m.ticks, tickAt{n, name, i, false})
			m.used[i-1], m.used[i] = true, true
			continue
		}
		k, marks := i+1, 0
		for k < len(m.units) && marks < 5 {
			n := m.units[k]
			if n.kind == mark && strings.Contains(`:=#("~[-'=>`, n.text) || n.kind == word && numbering.has(n.text) {
				k, marks = k+1, marks+1
				continue
			}
			break
		}
		if k >= len(m.units) || m.used[k] || plural.has(u.text) && marks == 0 {
			continue
		}
		if m.units[k].kind != number || len(m.units[k].text) > 18 {
			continue
		}
		if k+1 < len(m.units) && (m.units[k+1].text == "%" || oneOf(m.units[k+1].text, "seconds|minutes|hours|percent|fps")) {
			continue
		}
		n, _ := strconv.ParseUint(m.units[k].text, 10, 63)
		weak := i > 0 && settled.has(m.units[i-1].text) ||
			i > 1 && settled.has(m.units[i-2].text) && m.units[i-1].kind == word
		m.ticks = append(m.ticks, tickAt{n, name, i, weak})
		for ; k >= i; k-- {
			m.used[k] = true
		}
	}
}

// tickNear returns the tick that a phrase names: the first one after it, else the last one before it.
func (m *message) tickNear(t, in trigger) (n uint64, name string) {
	for _, k := range m.ticks {
		if k.weak || k.at < in.from || k.at >= in.to {
			continue
		}
		if n, name = k.number, k.word; k.at >= t.from {
			break
		}
	}
	return n, name
}

// adjacent reports whether a tick is next to a phrase.
func (m *message) adjacent(t trigger) bool {
	return slices.ContainsFunc(m.ticks, func(k tickAt) bool {
		return !k.weak && (k.at >= t.to && k.at <= t.to+2 || k.at < t.from && t.from-k.at < 5)
	})
}
