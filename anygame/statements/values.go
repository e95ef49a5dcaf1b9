package statements

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// stated is a value in a message.
type stated struct {
	at    int
	text  string
	peer  string // that has the value, as the text names it; or empty
	role  string // in lower case, empty for a name
	noun  string // "hash", "seed", …
	name  string // an unknown word before a mark
	paren string // the one word between parentheses behind it
	kind  kind

	other   bool // it belongs to another word than a peer or a sum: gold=500
	outside bool // the peer is named before the parenthesis around the value
}

// maxLabel is how many units before a value may name its peer.
const maxLabel = 8

// values returns two sums or more that are not all the same, and who wrote the message by them.
func (m *message) values(from, to int) (out []tracediff.ClaimedValue, by string) {
	list := m.structs(m.stated(from, to))
	if long := slices.DeleteFunc(slices.Clone(list), func(v stated) bool { return len(v.text) < minChained }); len(long) > 1 { // the others are not of a block
		list = long
	}
	if len(list) == 2 && (list[0].peer == "") != (list[1].peer == "") {
		for i := range list {
			if list[1-i].peer == "expected" && m.wordAt("unexpected") >= 0 { // unexpected thing (7), expected: other (8)
				list[i].name = "actual"
			}
			list[i].peer = cmp.Or(list[i].peer, list[i].name)
		}
	}
	if out = m.byMap(list); out != nil {
		return out, ""
	}
	if out = m.byIndex(); out != nil {
		return out, ""
	}
	if out = m.byMember(list); out != nil {
		return out, ""
	}
	if !m.has(stored | elsewhere) {
		if out = m.byKeys(); out != nil {
			return out, ""
		}
	}
	if out, by = byRole(list); out != nil {
		return out, by
	}
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		op, alike := m.operator(a.at+1, b.at), isFraction(a.text) == isFraction(b.text) && !m.ofOthers(a.at, b.at)
		if op != "" && alike && !tracediff.EqualSums(a.text, b.text) {
			if op == "be" || op == "of" || op == "have" {
				a.peer, b.peer = "actual", "expected"
			}
			if op == "instead" { // of the one before
				a.peer, b.peer = "expected", "actual"
			}
			if op == b.role && b.peer == "expected" {
				a.peer = cmp.Or(a.peer, "actual")
			}
			for _, v := range []*stated{&a, &b} {
				if v.peer == "" || v.outside && b.peer == "" {
					v.peer = v.paren
				}
			}
			if first, second := m.sidesBehind(); first != "" {
				a.peer, b.peer = first, second
				if a.at > 0 && m.units[a.at-1].kind <= sum && !oneOf(m.units[a.at-1].text, "mismatch") {
					m.ofSides = m.token(a.at - 1)
				}
			}
			if a.peer == b.peer {
				a.peer, b.peer = "", ""
			}
			a.peer, b.peer = cmp.Or(a.peer, tracediff.OneSide), cmp.Or(b.peer, tracediff.OtherSide)
			return []tracediff.ClaimedValue{{Peer: a.peer, Value: a.text}, {Peer: b.peer, Value: b.text}}, writer(a, b)
		}
	}
	if out, by = byName(list, m.thing() != ""); out == nil && len(list) == 2 {
		if t, _ := m.trigger(0); t.strong {
			out, by = byHalf(list)
		}
	}
	if out == nil {
		out = m.inTurn(list)
	}
	return out, by
}

// ofOthers reports whether the names of two values are about two things: tx_digest=5f3a expected_effects_digest=77e0.
func (m *message) ofOthers(a, b int) bool {
	about := func(i int) []string {
		return slices.DeleteFunc(m.keyOf(i), func(w string) bool { return (nouns | roles | outcomes).has(w) })
	}
	x, y := about(a), about(b)
	return len(x) > 0 && len(y) > 0 && !slices.Equal(x, y)
}

// keyed returns the two long sums under short names that a message of a program ends with, right behind a phrase: checksum mismatch:
// e = 5f3a91c7…, v = 77e01f3b…
func (m *message) keyed(t trigger) []tracediff.ClaimedValue {
	rest := m.units[t.to:]
	if !m.lead.level || !t.noun || len(rest) < 8 || rest[0].text != ":" || rest[4].text != "," || slices.ContainsFunc(rest[8:], func(u unit) bool { return u.kind != mark }) {
		return nil
	}
	var list []stated
	for _, of := range [][]unit{rest[1:4], rest[5:8]} {
		if of[0].kind != word || !oneOf(of[1].text, ":|=") || of[2].kind != sum || len(of[2].text) < minKeyed {
			return nil
		}
		list = append(list, stated{name: of[0].text, text: of[2].text})
	}
	a, b := &list[0], &list[1]
	if a.name == b.name || sameStart(a.text, b.text) {
		return nil
	}
	if a.peer, b.peer = called(a.name), called(b.name); !(roles | outcomes).has(a.name) || !(roles | outcomes).has(b.name) { // short names of variables
		a.peer, b.peer = tracediff.OneSide, tracediff.OtherSide
	}
	return claimed(list)
}

// minKeyed is how many digits each of them has at least.
const minKeyed = 16

// inTurn returns two sums of one kind that follow each other after a word for one: failed to match hash 5f3a91c7 77e01f3b.
func (m *message) inTurn(list []stated) []tracediff.ClaimedValue {
	var found []tracediff.ClaimedValue
	for i := 1; i < len(list); i++ {
		a, b := list[i-1], list[i]
		length := max(len(a.text), len(b.text)) - min(len(a.text), len(b.text))
		if a.kind != sum || b.kind != sum || b.at != a.at+1 || a.noun == "" || a.peer != "" || len(a.text) < minSum || length > 1 {
			continue
		}
		if found != nil || tracediff.EqualSums(a.text, b.text) {
			return nil
		}
		found = []tracediff.ClaimedValue{{Peer: tracediff.OneSide, Value: a.text}, {Peer: tracediff.OtherSide, Value: b.text}}
	}
	return found
}

// byHalf returns two long values of one kind. Only one of them has its peer: sync value 18841232, local 18841231.
func byHalf(list []stated) ([]tracediff.ClaimedValue, string) {
	a, b := list[0], list[1]
	if a.kind != b.kind || len(a.text) < minSum || len(a.text) != len(b.text) || (a.role == "") == (b.role == "") || tracediff.EqualSums(a.text, b.text) {
		return nil, ""
	}
	by := writer(a, b)
	a.peer, b.peer = cmp.Or(a.peer, tracediff.OtherSide), cmp.Or(b.peer, tracediff.OtherSide)
	return claimed([]stated{a, b}), by
}

// byMap returns the sums in a map from peers to sums within a message: {"ada":"5f01ac33","bob":"77a0be12"}.
func (m *message) byMap(list []stated) []tracediff.ClaimedValue {
	open := strings.LastIndexByte(m.text, '{')
	if open <= 0 {
		return nil
	}
	end := strings.IndexByte(m.text[open:], '}')
	if end < 0 || !m.namesPeers(open) {
		return nil
	}
	var of []stated
	for _, v := range list {
		if at := m.units[v.at].start; at < open || at > open+end {
			continue
		}
		if v.name = m.key(v.at); v.name == "" {
			return nil
		}
		of = append(of, v)
	}
	out, _ := byName(of, false)
	return out
}

// byMember returns the values of one member of two things or more: A.pos=(12,7) B.pos=(12,8).
func (m *message) byMember(list []stated) []tracediff.ClaimedValue {
	var of []stated
	for _, v := range list {
		if v.at < 2 || m.units[v.at-1].text != "=" || m.units[v.at-2].kind != other {
			continue
		}
		thing, member, ok := strings.Cut(m.units[v.at-2].text, ".")
		if !ok || m.member != "" && m.member != member {
			continue
		}
		v.name, m.member = thing, member
		of = append(of, v)
	}
	out, _ := byName(of, true)
	if out == nil {
		m.member = ""
	}
	return out
}

// namesPeers reports whether the words before a place in the text name the sums of peers.
func (m *message) namesPeers(at int) bool {
	k := 0
	for k < len(m.units) && m.units[k].start < at {
		k++
	}
	if m.near(stored|elsewhere, k-5, k) {
		return false
	}
	return slices.ContainsFunc(m.units[max(0, k-6):k], func(u unit) bool { return u.kind == word && oneOf(u.text, ofPeers) })
}

// key returns the key before a value in a map, "" if there is none.
func (m *message) key(i int) string {
	text := strings.TrimRight(m.text[:m.units[i].start], ` "'`)
	if text == "" || text[len(text)-1] != ':' && text[len(text)-1] != '=' {
		return ""
	}
	text = strings.TrimRight(text[:len(text)-1], ` "'`)
	name := text[strings.LastIndexAny(text, ` {,"'`)+1:]
	if low := strings.ToLower(name); nouns.has(low) || tickWords()[low] != "" || stored.has(low) {
		return ""
	}
	return name
}

// stated returns the values between two units, with their labels.
func (m *message) stated(from, to int) (list []stated) {
	for i := from; i < to; i++ {
		if m.isValue(i) && !m.isListed(i) && !m.isCount(i, to) && !m.isTickAgain(i) {
			list = append(list, m.label(i, from, to))
		}
	}
	if slices.ContainsFunc(list, func(v stated) bool { return v.peer == "expected" }) {
		for i := range list {
			if list[i].role == "your" { // correctHash, yourHash
				list[i].peer = "actual"
			}
		}
	}
	return list
}

// writer returns the name of the value that belongs to the writer of the message.
func writer(list ...stated) string {
	for _, v := range list {
		if writers.has(v.role) {
			return v.peer
		}
	}
	return ""
}

// byRole returns the values of two peers or more of one thing that differs.
func byRole(list []stated) ([]tracediff.ClaimedValue, string) {
	var things []string
	last := ""
	for i := range list {
		if list[i].noun == "" {
			list[i].noun = last
		}
		last = list[i].noun
		known := false
		for _, t := range things {
			known = known || t == last
		}
		if !known {
			things = append(things, last)
		}
	}
	for _, thing := range things {
		var of []stated
		seen := map[string]bool{}
		differ := false
		for _, v := range list {
			if v.noun != thing || v.peer == "" || seen[v.peer] || thing == "" && v.other && v.kind != sum && len(v.text) < 6 {
				continue
			}
			seen[v.peer] = true
			of = append(of, v)
			differ = differ || !tracediff.EqualSums(v.text, of[0].text)
		}
		if of, differ = alike(of, differ); len(of) > 1 && differ {
			return claimed(of), writer(of...)
		}
	}
	return nil, ""
}

// alike leaves out values of another kind than two others, such as the number of a client, and those that were where
// none was to be.
func alike(list []stated, differ bool) ([]stated, bool) {
	sums := 0
	wanted := slices.ContainsFunc(list, func(v stated) bool { return v.peer == "expected" })
	for _, v := range list {
		if v.kind == sum || len(v.text) > 3 {
			sums++
		}
	}
	long := 0 // values that are too long to be an address or a number of a peer
	for _, v := range list {
		long += min(len(v.text)/8, 1)
	}
	of := slices.DeleteFunc(slices.Clone(list), func(v stated) bool {
		return long > 1 && len(v.text) < 6 || sums > 1 && v.kind == number && len(v.text) < 4 || !wanted && (v.role == "was" || v.role == "have")
	})
	if len(of) == len(list) {
		return list, differ
	}
	return of, slices.ContainsFunc(of, func(v stated) bool { return !tracediff.EqualSums(v.text, of[0].text) })
}

// byName returns the values of two peers or more that have their names before a mark. They may be short if the message
// names what they are.
func byName(list []stated, short bool) ([]tracediff.ClaimedValue, string) {
	var of []stated
	differ := false
	for _, v := range list {
		if v.name == "" || v.kind != sum && len(v.text) < minSum && !short || v.name == "x" || v.name == "y" || v.name == "z" {
			return nil, ""
		}
		v.peer = v.name
		for _, o := range of {
			if o.name == v.name || len(o.text) > len(v.text)+2 || len(v.text) > len(o.text)+2 {
				return nil, ""
			}
		}
		of = append(of, v)
		differ = differ || !tracediff.EqualSums(v.text, of[0].text)
	}
	if len(of) < 2 || !differ {
		return nil, ""
	}
	return claimed(of), ""
}

func isFraction(text string) bool { return strings.IndexByte(text, '.') >= 0 }

func claimed(list []stated) (out []tracediff.ClaimedValue) {
	for _, v := range list {
		out = append(out, tracediff.ClaimedValue{Peer: v.peer, Value: v.text})
	}
	return out
}

// isNone reports whether a sum of zeros alone is no sum: programs write it where they have none.
func isNone(text string) bool { return len(text) >= 8 && strings.Trim(text, "0x") == "" }

// isListed reports whether a number is in a list of numbers.
func (m *message) isListed(i int) bool {
	isNumber := func(k int) bool { return k >= 0 && k < len(m.units) && m.units[k].kind == number }
	isMark := func(k int, text string) bool { return k >= 0 && k < len(m.units) && m.units[k].text == text }
	switch {
	case isMark(i+1, ",") && isNumber(i+2) && m.units[i+2].start-m.units[i].end < 3, isMark(i-1, ",") && isNumber(i-2):
		return true
	}
	return isMark(i-2, ":") && isMark(i-1, "[") && isMark(i+1, "]")
}

// isValue reports whether a unit is a value that may be a sum.
func (m *message) isValue(i int) bool {
	u := m.units[i]
	return (u.kind == number || u.kind == sum || u.kind == value) && !m.used[i] && !u.joined && !isNone(u.text) && !m.isPart(i) && !m.numbersRun(i)
}

// numbersRun reports whether a number is the one of a run, alone or after another one: run 1 vs 3.
func (m *message) numbersRun(i int) bool {
	if m.units[i].kind != number || len(m.units[i].text) > maxNumber {
		return false
	}
	for i--; i > 0 && m.units[i-1].kind == number && oneOf(m.units[i].text, "vs|versus|and|/|&|,"); i -= 2 {
	}
	return i >= 0 && m.units[i].kind == word && oneOf(m.units[i].text, runs)
}

// isPart reports whether a value is a part of a longer name: of a range of numbers, an identifier with hyphens, or a path.
func (m *message) isPart(i int) bool {
	beside := func(sign, next int, signs string) bool {
		if min(sign, next) < 0 || max(sign, next) >= len(m.units) {
			return false
		}
		first, last := m.units[min(i, next)], m.units[max(i, next)]
		return oneOf(m.units[sign].text, signs) && last.start == first.end+1 && m.units[next].kind != mark
	}
	number := func(k int) bool { return k >= 0 && k < len(m.units) && m.units[k].kind != word }
	return number(i+2) && beside(i+1, i+2, "-") || number(i-2) && beside(i-1, i-2, "-") || beside(i-1, i-2, "/")
}

// isTickAgain reports whether a long number is a tick of the message, which has it twice.
func (m *message) isTickAgain(i int) bool {
	again := func(k tickAt) bool { return strconv.FormatUint(k.number, 10) == m.units[i].text }
	return len(m.units[i].text) >= minSum && slices.ContainsFunc(m.ticks, again)
}

// isCount reports whether a number counts what follows it.
func (m *message) isCount(i, to int) bool {
	u := m.units[i]
	if u.kind != number || i+1 >= to || i > 0 && oneOf(m.units[i-1].text, "!=|!==") {
		return false
	}
	n := m.units[i+1]
	if k := i + 2; n.start > u.end { // a field follows
		for k < to && m.units[k].joined {
			k++
		}
		if k < to && m.units[k].text == "=" {
			return false
		}
	}
	return n.text == "%" || n.kind == word && (n.start == u.end || !(connecting|roles|outcomes|nouns).has(n.text))
}

// label finds the peer and the noun of a value in the words before it, or behind it: 5f3a (local), 5f3a on host.
func (m *message) label(i, from, to int) stated {
	u := m.units[i]
	v := stated{at: i, text: u.text, kind: u.kind}
	outcome := -1
	stop := max(from, i-maxLabel)
	for k := i - 1; k >= stop; k-- {
		p := m.units[k]
		if n := m.nameAt(k); n != nil {
			if v.peer == "" {
				v.peer = n.name
			}
			k = n.from
			continue
		}
		if open := strings.LastIndexByte(m.text[:p.start], '('); p.text == ")" && open >= 0 && p.start-open < maxThing/2 { // expected (from header): 5f3a
			for k > stop && m.units[k].start > open {
				k--
			}
			continue
		}
		if p.kind == number && m.used[k] && k > stop+1 && tickWords()[m.units[k-1].text] != "" && outcomes.has(m.units[k-2].text) {
			continue // the correct frame 15120 checksum
		}
		if p.kind != mark && p.kind != word || oneOf(p.text, "and|but|vs|versus|not|doesn't|or") ||
			p.kind == mark && !strings.Contains(`:=(["'-#=>/`, p.text) {
			break
		}
		if p.kind == mark && p.text == "(" && v.peer == "" {
			v.outside = true
		}
		if p.kind != word || m.used[k] {
			continue
		}
		if nouns.has(p.text) && v.noun == "" {
			v.noun = strings.TrimSuffix(strings.TrimSuffix(p.text, "s"), "e")
		}
		if roles.has(p.text) && v.peer == "" && !(p.text == "peer" && len(u.text) >= minChained) { // its key
			v.peer, v.role = called(p.text), p.text
		}
		if p.text == "i" && v.peer == "" && k+1 < len(m.units) && oneOf(m.units[k+1].text, "have|had|got") {
			v.peer, v.role = m.self(), "i"
		}
		if p.text == "in" && k+1 < i && m.units[k+1].joined && m.units[k+1].text == "game" && v.peer == "" {
			v.peer, v.role = m.text[p.start:m.units[k+1].end], "ingame"
		}
		if outcomes.has(p.text) && outcome < 0 {
			outcome = k
		}
	}
	if v.peer == "" {
		m.behind(&v, to)
	}
	if v.peer == "" && outcome >= 0 {
		v.peer, v.role = called(m.units[outcome].text), m.units[outcome].text
	}
	if v.noun == "" && i-2 >= from && oneOf(m.units[i-1].text, ":|=|(") {
		before := m.units[i-2]
		switch {
		case before.kind != word || before.text == "root" || len(before.text) > 1 && programs.has(before.text):
		case v.peer == "":
			v.name = m.token(i - 2)
		default:
			v.other = !m.used[i-2] && m.nameAt(i-2) == nil && !roles.has(before.text) && !outcomes.has(before.text) && before.text != v.peer
		}
	}
	return v
}

// self returns what who wrote the message is called.
func (m *message) self() string {
	if m.lead.role != "" && m.lead.role != "replay" {
		return m.lead.role
	}
	return "local"
}

// called returns the name of a value after a role or an outcome.
func called(outcome string) string {
	switch outcome {
	case "expecting", "want", "wanted", "correct":
		return "expected"
	case "our", "ours", "my", "mine", "me", "us", "own", "self", "myself":
		return "local"
	case "their", "theirs", "them", "his", "your", "yours", "you":
		return "remote"
	case "replayed", "replaying":
		return "replay"
	case "recording":
		return "recorded"
	case "was", "have", "got", "found", "observed", "given":
		return "actual"
	}
	return outcome
}

// nameAt returns the name of a peer that ends with a unit.
func (m *message) nameAt(k int) *named {
	for i := range m.named {
		if k >= m.named[i].from && k < m.named[i].to {
			return &m.named[i]
		}
	}
	return nil
}

// behind finds the peer of a value in the units after it.
func (m *message) behind(v *stated, to int) {
	if strings.HasPrefix(strings.TrimLeft(m.text[m.units[v.at].end:], " "), "---") { // of a diff: 5f3a--- leader
		return
	}
	k := v.at + 1
	for k+1 < to && oneOf(m.units[k].text, "<|-|--|->|//|#|\u2190|\u2014") { // 5f3a <- host
		k++
	}
	if k > v.at+1 {
		k--
	} else if k+1 >= to || m.units[k].text != "(" && !oneOf(m.units[k].text, "on|from|at|for|by|of") {
		return
	}
	if m.units[k].text == "(" {
		inside, _, closed := strings.Cut(m.text[m.units[k].end:], ")")
		if closed && len(inside) < 64 && !strings.ContainsAny(inside, " =:") {
			v.paren = inside
		}
	}
	for n := 0; n < 3 && k+1 < to; n++ {
		k++
		u := m.units[k]
		if name := m.nameAt(k); name != nil {
			v.peer = name.name
			return
		}
		if u.kind == word && roles.has(u.text) {
			v.peer, v.role = called(u.text), u.text
			return
		}
		if u.kind != word || n > 0 {
			return
		}
	}
}

// token returns the whole run of letters and digits that a unit is in.
func (m *message) token(k int) string {
	for k > 0 && m.units[k].joined {
		k--
	}
	start := m.units[k].start
	return m.text[start:tokenEnd(m.text, start)]
}

// maxOperator is how many units are between two values at most that a phrase makes differ.
const maxOperator = 13

// operator returns the last word of the phrase between two values that makes them differ, "" if there is none.
func (m *message) operator(from, to int) string {
	if to-from > maxOperator {
		return ""
	}
	for i := from; i < to; i++ {
		if m.units[i].kind == mark && (m.units[i].text == ";" || m.units[i].text == ".") {
			return ""
		}
		if m.units[i].text == "/" && to == from+1 && m.units[i].start > m.units[i-1].end && m.units[to].start > m.units[i].end {
			return "/"
		}
		if end := m.longest(known().unequal, i); end > 0 && end <= to {
			if m.units[i].text == "instead" && m.units[end-1].text != "of" {
				return "instead"
			}
			if oneOf(m.units[i].text, adjacent) && m.passes(i, to) {
				return ""
			}
			return m.units[end-1].text
		}
	}
	return ""
}

// adjacent are operators that have one of their values directly next to them.
const adjacent = "!=|!==|<>|==|vs|versus"

// passes reports whether another value is between an operator and a value behind it: 55 != 190 at 0/007e0000.
func (m *message) passes(op, to int) bool {
	return slices.ContainsFunc(m.units[op+1:to], func(u unit) bool { return u.kind != word && u.kind != mark })
}

// accused returns the peers that a message names, by number or by name.
func (m *message) accused(s *statement, t, in trigger) (out []string) {
	add := func(name string) {
		isSide := func(v tracediff.ClaimedValue) bool { return tracediff.IsSide(v.Peer) }
		sides := s.by != "" || slices.ContainsFunc(s.values, isSide)
		if !sides && slices.ContainsFunc(s.values, func(v tracediff.ClaimedValue) bool { return v.Peer == name }) {
			return // one of those that differ
		}
		if slices.Contains(out, name) {
			return
		}
		if name != "" && len(name) < 64 && !strings.ContainsAny(name, `,"{}\`) && strings.Trim(name, " '-:;") != "" {
			out = append(out, name)
		}
	}
	for _, n := range m.named {
		if n.from >= in.from && n.from < in.to {
			add(n.name)
		}
	}
	if len(out) == 0 {
		add(m.object(t, in.to))
	}
	if len(out) == 0 {
		add(m.subject(t, in.from))
	}
	return out
}

// object returns the name after a phrase: out of sync with Bob, sync error for Bob.
func (m *message) object(t trigger, to int) string {
	k := t.to
	for k < to && oneOf(m.units[k].text, "detected|error|occurred|found|reported") {
		k++
	}
	if k+1 >= to || !oneOf(m.units[k].text, "with|for|from|by|of") {
		return ""
	}
	for k++; k < to && oneOf(m.units[k].text, "the|player|client|peer|user"); k++ {
	}
	if k >= to {
		return ""
	}
	switch u := m.units[k]; {
	case u.kind == word && oneOf(u.text, "server|host") && m.units[k-1].text == "from" && oneOf(m.units[t.to-1].text, "desync|error"): // who says it
	case u.kind == word && oneOf(u.text, "server|host|remote|guest"):
		return u.text
	case u.kind == mark && (u.text == `"` || u.text == "'"):
		if end := strings.Index(m.text[u.end:], u.text); end > 0 {
			return m.text[u.end : u.end+end]
		}
	case u.kind == word && !(subjects | programs | prosaic).has(u.text):
		if capital(m.text[u.start:]) || strings.ContainsAny(m.token(k), "_0123456789") {
			return m.token(k)
		}
	}
	return ""
}

// subject returns the name that a sentence begins with: Bob is out of sync.
func (m *message) subject(t trigger, from int) string {
	verb := t.from - 1
	for verb > from && oneOf(m.units[verb].text, "gone|gotten|an|now|been|fallen") {
		verb--
	}
	if verb < from || verb > from && !oneOf(m.units[verb].text, "is|has|went|got|reports|reported|lost|fell|was|had") {
		return ""
	}
	if verb == from && !oneOf(m.units[t.from].text, "desynced|desynchronized|desynchronised|lost") {
		return ""
	}
	last := verb - 1
	if verb == from {
		last = verb
	}
	for from < last && (m.units[from].kind == mark || oneOf(m.units[from].text, "player|client|peer|user|the")) {
		from++
	}
	for k := from; k <= last; k++ {
		u := m.units[k]
		common := (subjects | prosaic).has(u.text) || peerNouns.has(u.text) && len(m.named) == 0
		if u.kind == word && common || u.kind == mark && !oneOf(u.text, "'|\"|-") || k-from > 4 {
			return ""
		}
	}
	name := strings.Trim(m.text[m.units[from].start:tokenEnd(m.text, m.units[last].start)], `"' `)
	if strings.Count(name, " ") > 1 {
		return ""
	}
	return name
}
