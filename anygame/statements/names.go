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
		if end := m.bracketed(i); end > 0 {
			m.named = append(m.named, named{m.text[u.start:m.units[end-1].end], i, end})
			for k := i; k < end; k++ {
				m.used[k] = true
			}
			continue
		}
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

// bracketed returns where the name of a replica with an address between brackets ends that begins at a unit, 0 if there is none:
// replica [15:43:12290]: checksum 5f3a.
func (m *message) bracketed(i int) int {
	if w := m.units[i]; w.kind != word || w.joined || !oneOf(w.text, replicas) || i+3 >= len(m.units) || m.units[i+1].text != "[" {
		return 0
	}
	for k := i + 2; k < min(len(m.units)-1, i+maxLabel); k++ {
		switch u := m.units[k]; {
		case u.text == "]" && k > i+2 && m.units[k+1].text == ":":
			return k + 1
		case u.kind == word || u.text == "]":
			return 0
		}
	}
	return 0
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
	if len(w) == 1 && isUpper(m.text[m.units[k].start]) && w != "i" {
		return true // client A
	}
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

// findTicks finds numbers after words for a tick. With the checksum of a block, its number is the tick, if it has one.
func (m *message) findTicks() {
	if m.chained() && m.findBlocks() {
		return
	}
	for i, u := range m.units {
		name := tickWords()[u.text]
		if u.text == "f" && i+2 < len(m.units) && oneOf(m.units[i+1].text, ":|=") {
			name = "frame"
		}
		if name == "" && i > 0 && m.units[i-1].text == "at" && oneOf(u.text, places) {
			name = u.text
		}
		if u.kind == word && name != "" && !(name == "round" && m.chained()) {
			m.tickAfter(i, name)
		}
	}
}

// places are words that have the number of a step behind them after the word at: diverged at event 45583.
const places = "event|move|action|command|input|order|instruction|message|boundary|checkpoint|snapshot|iteration|index"

// blockWords are words for the number of a block, which is the tick of a chain of blocks. Other things have blocks and slots,
// too, and blocks have rounds.
const blockWords = "block|blocks|height|heights|slot|slots|ledger|ledgers"

// findBlocks finds the numbers of blocks, and reports whether there is one. The rounds of a block are no ticks then.
func (m *message) findBlocks() bool {
	before := m.ticks
	m.ticks = nil
	for i, u := range m.units {
		switch {
		case u.kind == word && oneOf(u.text, blockWords):
			m.tickAfter(i, strings.TrimSuffix(u.text, "s"))
		case u.kind == word && u.text == "number" && m.near(elsewhere, i-8, i):
			m.tickAfter(i, "block")
		}
	}
	if len(m.ticks) == 0 {
		m.ticks = before
	}
	return len(m.ticks) > len(before)
}

// blocked finds the number of a block in a message with sums that has no other tick, nor is about data that is stored.
func (m *message) blocked() bool {
	isTick := func(k tickAt) bool { return !k.weak && k.word != "round" }
	if slices.ContainsFunc(m.ticks, isTick) {
		return false
	}
	for _, u := range m.units {
		if u.kind == word && ((elsewhere|stored).has(u.text) && !oneOf(u.text, blockWords+"|header") || oneOf(u.text, "crc|checksum") && m.wordAt("block|blocks") >= 0) {
			return false
		}
	}
	return m.findBlocks()
}

// wordAt returns the first unit that is one of some words, -1 if there is none.
func (m *message) wordAt(alternatives string) int {
	return slices.IndexFunc(m.units, func(u unit) bool { return u.kind == word && oneOf(u.text, alternatives) })
}

// tickAfter takes the number after a word for a tick, if there is one.
func (m *message) tickAfter(i int, name string) {
	u := m.units[i]
	if i > 1 && plural.has(u.text) && m.units[i-1].kind == number && m.units[i-2].text == "after" && len(m.units[i-1].text) <= maxTick {
		n, _ := strconv.ParseUint(m.units[i-1].text, 10, 63)
		m.ticks = append(m.ticks, tickAt{n, name, i, false})
		m.used[i-1], m.used[i] = true, true
		return
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
		return
	}
	n, end, ok := numberAt(m.text, m.units[k])
	next := k
	for next < len(m.units) && m.units[next].start < end {
		next++
	}
	if ok && name != "frame" && strings.HasPrefix(m.text[end:], "/") { // step 12/20 of a build
		return
	}
	if !ok || next < len(m.units) && oneOf(m.units[next].text, "%|seconds|minutes|hours|percent|fps") {
		return
	}
	weak := i > 0 && (settled.has(m.units[i-1].text) || u.joined && oneOf(m.units[i-1].text, "other|their|remote|target|highest|best|peer")) ||
		i > 1 && settled.has(m.units[i-2].text) && m.units[i-1].kind == word
	if weak && u.joined && m.units[i-1].text == "current" && oneOf(u.text, blockWords) { // next to otherHeight
		weak = false
	}
	m.ticks = append(m.ticks, tickAt{n, name, i, weak})
	for k = i; k < next; k++ {
		m.used[k] = true
	}
}

// maxTick is how many digits a tick has at most.
const maxTick = 18

// separators are those between the groups of three digits of a number. Those with a blank separate words, too, and
// those with a point and a comma other numbers.
var separators = [...]string{",", "'", "_", ".", "\u2009", "\u202f", " "}

// numberAt reads the number that begins with a unit, perhaps in groups of digits: 30,488,260. End is where it ends in the
// text. One point, or one blank, is none between groups.
func numberAt(text string, u unit) (n uint64, end int, ok bool) {
	size := func(from int) (n int) {
		for from+n < len(text) && isDigit(text[from+n]) {
			n++
		}
		return n
	}
	end = u.start + size(u.start)
	digits := text[u.start:end]
	for _, sep := range separators {
		at, all, groups := end, digits, 0
		for strings.HasPrefix(text[at:], sep) && size(at+len(sep)) == 3 {
			at += len(sep)
			all += text[at : at+3]
			at, groups = at+3, groups+1
		}
		if groups > 1 || groups > 0 && sep != "." && sep != " " {
			if len(digits) <= 3 && digits != "0" && !(at < len(text) && isLetter(text[at])) {
				end, digits = at, all
			}
			break
		}
	}
	ofSome := u.kind == other && strings.HasPrefix(text[end:], "/") && size(end+1) == u.end-end-1 // frame 227/300
	if digits == "" || len(digits) > maxTick || end == u.start+len(digits) && u.kind != number && !ofSome {
		return 0, 0, false
	}
	n, err := strconv.ParseUint(digits, 10, 63)
	return n, end, err == nil
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
