package sums

import (
	"bytes"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// roster is the form of logs that have the checksums of all peers on one line, in any order:
//
//	tick 120 sums: alice=9f3c5d1c bob=9f3c5d1c
//	[120] P2:ab12 P1:ab12
//	{"turn":120,"sums":[{"hash":"9f3c5d1c","peer":"bob"},{"hash":"9f3c5d1c","peer":"alice"}]}
//	turn 120 alice(units=9f3c5d1c map=77e01f3b) bob(units=9f3c5d1c map=77e01f3b)
//
// It reads such a line as one line for each peer and part: "tick=120 peer=alice sum=9f3c5d1c of=units".
type roster struct {
	relayed *relayed // nil if each line has the checksums of all peers
	inner   lineForm // or nil
	tick    string   // the key of ticks
	peers   map[string]bool
	after   bool // the name of a peer follows its checksum
	places  bool // peers have no names, only places
	hex     bool // some checksums have letters
	sure    bool // all have letters or many digits
	scoped  bool // a tick has lines for parts of the state, with the names before the peers
	nested  nesting

	atoms []atom
	found []entry
	parts []part
	lines [][]byte
}

// nesting is how a line has the checksums of parts of the state.
type nesting int

const (
	flat    nesting = iota
	byPeer          // each peer has all parts
	byScope         // each part has all peers
)

// part is what a line has of one part of the state.
type part struct {
	scope string
	list  []entry
}

// atom is a name or number of a line.
type atom struct {
	text   []byte
	number bool
	framed bool // in brackets of its own
	joined bool // to the name before it, by a colon or a sign of equality
}

// entry is a number with its key: the name next to it.
type entry struct {
	key   string
	value []byte
}

// fewestAlike is how many different checksums must be equal between two peers of a roster.
const fewestAlike = 3

func (r *roster) fork() lineForm {
	if r.relayed != nil {
		return &roster{relayed: &relayed{lines: r.relayed.lines, key: r.relayed.key, scoped: r.relayed.scoped}}
	}
	one := &roster{tick: r.tick, peers: r.peers, after: r.after, places: r.places, scoped: r.scoped, nested: r.nested}
	if r.inner != nil {
		one.inner = r.inner.fork()
	}
	return one
}

// line returns the line of the first peer, and [roster.more] those of the others.
func (r *roster) line(line []byte) []byte {
	if r.relayed != nil {
		r.lines = r.relayed.roster(line)
		return r.more()
	}
	tick, parts := r.sections(line)
	if r.lines = r.lines[:0]; len(tick) == 0 {
		return nil
	}
	for _, one := range parts {
		list := slices.DeleteFunc(one.list, func(e entry) bool { return !r.peers[e.key] })
		if len(list) < 2 {
			continue
		}
		rest := ""
		if r.scoped {
			rest = " of=" + one.scope
		}
		if phaseIn(line) == tracediff.Predicted {
			rest += " predicted"
		}
		for _, e := range list {
			r.lines = append(r.lines, []byte("tick="+string(tick)+" peer="+bare(e.key)+" sum="+string(e.value)+rest))
		}
	}
	return r.more()
}

// sections returns the tick of a line and what it has of each part of the state: one part unless they are nested.
func (r *roster) sections(line []byte) (tick []byte, parts []part) {
	tick, list := r.read(line)
	r.parts = r.parts[:0]
	if r.nested == flat {
		return tick, append(r.parts, part{r.scope(), list})
	}
	head := ""
	for i, a := range r.atoms {
		if !a.number || i == 0 || r.atoms[i-1].number || r.keyOf(i, -1) == r.tick {
			continue
		}
		if i > 1 && !r.atoms[i-2].number {
			head = string(r.atoms[i-2].text)
		}
		peer, scope := head, string(r.atoms[i-1].text)
		if r.nested == byScope {
			peer, scope = scope, peer
		}
		n := slices.IndexFunc(r.parts, func(p part) bool { return p.scope == scope })
		if n < 0 {
			n = len(r.parts)
			r.parts = append(r.parts, part{scope: scope})
		}
		if of := &r.parts[n]; head != "" && !slices.ContainsFunc(of.list, func(e entry) bool { return e.key == peer }) {
			of.list = append(of.list, entry{peer, a.text})
		}
	}
	parts = slices.DeleteFunc(r.parts, func(p part) bool { return len(p.list) < 2 })
	if len(parts) < 2 {
		return tick, nil
	}
	return tick, parts
}

// scope returns the word before the peers of the line that was read.
func (r *roster) scope() string {
	i := slices.IndexFunc(r.atoms, func(a atom) bool { return r.peers[string(a.text)] })
	if i <= 0 || r.atoms[i-1].number {
		return "all"
	}
	return string(r.atoms[i-1].text)
}

// more returns the next line of the last line, nil if there is none.
func (r *roster) more() []byte {
	if len(r.lines) == 0 {
		return nil
	}
	line := r.lines[0]
	r.lines = r.lines[1:]
	return line
}

// bare returns the name of a peer without words for checksums: hash_alice.
func bare(key string) string {
	if i := strings.IndexFunc(key, func(c rune) bool { return strings.ContainsRune("_-.", c) }); i >= 0 {
		if isSumWord(key[:i]) {
			return key[i+1:]
		}
		if i = strings.LastIndexAny(key, "_-."); isSumWord(key[i+1:]) {
			return key[:i]
		}
	}
	return key
}

func isSumWord(text string) bool {
	meaning := vocabulary.Of(text)
	return meaning == vocabulary.Sum || meaning == vocabulary.WeakSum
}

// roster's template matches the lines that it makes.
func (r *roster) template() template {
	literals := func(text string) element { return element{kind: literal, text: []byte(text), slot: -1} }
	t := &text{slots: 3, anchor: []byte("tick="), elements: []element{
		literals("tick="), {kind: number, slot: 0, exact: true}, literals(" peer="), {kind: label, slot: 1}, literals(" sum="), {kind: number, slot: 2, exact: true},
	}}
	out := template{text: t, roles: roles{tick: 0, peer: 1, scope: -1, phase: -1, points: []point{{sums: []sum{{slot: 2, word: "sum", hex: r.hex}}}}}}
	if r.scoped {
		out.roles.scope, t.slots = 3, 4
		t.elements = append(t.elements, literals(" of="), element{kind: label, slot: 3})
	}
	if vocabulary.Of(r.tick) == vocabulary.Tick {
		out.roles.tickWord = r.tick
	}
	return out
}

// read returns the tick of a line and one other number of each key, the longest.
func (r *roster) read(line []byte) (tick []byte, list []entry) {
	r.scan(line)
	r.found = r.found[:0]
	last := -1
	for i, a := range r.atoms {
		if !a.number {
			continue
		}
		key := r.keyOf(i, -1)
		if key == r.tick && tick == nil {
			tick = a.text
			continue
		}
		if r.after {
			key = r.keyOf(i, 1)
		} else if r.places {
			if !isValue(a.text) || len(r.found) > 0 && last != i-1 {
				continue
			}
			last, key = i, strconv.Itoa(len(r.found)+1)
		}
		if k := slices.IndexFunc(r.found, func(e entry) bool { return e.key == key }); k < 0 && (isValue(a.text) || !isDigit(key[0])) {
			r.found = append(r.found, entry{key, a.text})
		} else if k >= 0 && len(a.text) > len(r.found[k].value) {
			r.found[k].value = a.text
		}
	}
	return tick, r.found
}

// scan finds the atoms of a line.
func (r *roster) scan(line []byte) {
	if r.inner != nil {
		line = r.inner.line(line)
	}
	line = line[:min(len(line), maxLine)]
	r.atoms = r.atoms[:0]
	for i := 0; i < len(line) && len(r.atoms) < 4*maxSlots; {
		if !isLetter(line[i]) && !isDigit(line[i]) {
			i++
			continue
		}
		end := i
		for end < len(line) && (isLetter(line[end]) || isDigit(line[end]) || strings.IndexByte("-.", line[end]) >= 0) {
			end++
		}
		for line[end-1] == '.' || line[end-1] == '-' {
			end--
		}
		one := line[i:end]
		if name := one[:1]; len(one) > 1 && (name[0]|0x20 == 't' || len(r.atoms) == 0 && shortTick(string(name))) && isDigit(one[1]) && !bytes.ContainsFunc(one[1:], func(c rune) bool { return c < '0' || c > '9' }) { // T00053
			r.atoms = append(r.atoms, atom{text: name})
			one = one[1:]
		}
		_, _, whole := integer(one)
		framed := i > 0 && end < len(line) && strings.Contains("[] () <>", string([]byte{line[i-1], line[end]}))
		before := bytes.TrimRight(line[:i], ` "'`)
		joined := len(r.atoms) > 0 && len(before) > 0 && strings.IndexByte("=:", before[len(before)-1]) >= 0
		r.atoms = append(r.atoms, atom{one, whole && (isDigit(one[0]) || len(one) >= 3), framed, joined})
		i = end
	}
}

// passedOver are words between a number and its name, in addition to words for checksums.
const passedOver = " id name value is of for the "

// keyOf returns the name of a number, before it or after it.
func (r *roster) keyOf(i, step int) string {
	if r.atoms[i].framed && step < 0 {
		return "["
	}
	for k := i + step; k >= 0 && k < len(r.atoms); k += step {
		a := &r.atoms[k]
		word := " " + string(bytes.ToLower(a.text)) + " "
		if !a.number && (isSumWord(string(a.text)) && len(vocabulary.Parts(string(a.text))) == 1 || strings.Contains(passedOver, word) ||
			step > 0 && vocabulary.Of(string(a.text)) == vocabulary.Player && !bytes.ContainsAny(a.text, "0123456789")) {
			continue
		}
		return string(a.text)
	}
	return "^"
}

// isValue reports whether a number has the form of a checksum.
func isValue(text []byte) bool {
	digits, _, ok := integer(text)
	return ok && len(digits) >= 4
}

// notPeers are parts of names of two values of one peer that may be equal.
const notPeers = " prev previous last before after old new next cur current begin start end first second "

// learnRoster finds the form of a log with the checksums of all peers on one line: two numbers of a line with different
// names are equal for several different values, as only the checksums of two peers are. They differ from one tick on, if at
// all.
func learnRoster(lines [][]byte, how choice) (lineForm, []template) {
	lines = lines[:min(len(lines), maxRows)]
	inner := []lineForm{nil}
	header := false // of a table: its columns have names
	for _, f := range formsOf(lines) {
		header = header || f.json == nil && len(f.names) > 2 && f.names[0] != "h" && f.names[0] != "t" && strings.IndexByte(",;\t|", f.separator) >= 0
		if f.json == nil && f.names[0] != "h" && f.names[0] != "t" && f.learn(lines[1:]) {
			inner = append(inner, f)
		}
	}
	var best *roster
	most := 0
	for _, form := range inner {
		probe := &roster{inner: form}
		if probe.twins(lines) < fewestAlike-1 {
			continue
		}
		tick := probe.findTick(lines)
		if tick == "" {
			continue
		}
		for _, one := range []roster{{nested: byPeer}, {nested: byScope}, {}, {after: true}, {places: true}} {
			if one.inner, one.tick = form, tick; one.places && (header || len(lines) < 8) { // an excerpt may have lost its header
				continue
			}
			n := one.learn(lines, how.alone)
			if n > 0 && (best == nil || best.places && !one.places || n > most && best.places == one.places) {
				best, most = &one, n
			}
			if n > 0 && one.nested != flat {
				break
			}
		}
	}
	if best == nil {
		return nil, nil
	}
	return best, []template{best.template()}
}

// manyDigits is how many digits a checksum has at least that is clear without letters.
const manyDigits = 8

// IsRoster reports whether each line of a text has the checksums of all peers, clear ones. It is a log, although each line may
// also be a state with a table of peers.
func IsRoster(sample []byte) bool {
	lines := linesOf(sample)
	form, _ := learnEncoded(lines, choice{})
	if form == nil {
		form, _ = learnRoster(lines, choice{})
	}
	r := rosterOf(form)
	return r != nil && r.sure
}

// rosterOf returns the roster in a form, nil if it has none.
func rosterOf(form lineForm) *roster {
	if e, ok := form.(*encoded); ok {
		form = e.inner
	}
	r, _ := form.(*roster)
	return r
}

// twins returns how many different checksums are on a line twice.
func (r *roster) twins(lines [][]byte) int {
	found := map[string]bool{}
	for _, line := range lines {
		r.scan(line)
		for i, a := range r.atoms {
			if a.number && isValue(a.text) && slices.ContainsFunc(r.atoms[:i], func(o atom) bool { return bytes.Equal(o.text, a.text) }) {
				found[string(a.text)] = true
			}
		}
	}
	return len(found)
}

// findTick returns the key of ticks, empty if there is none.
func (r *roster) findTick(lines [][]byte) string {
	values := map[string][][]byte{}
	var order []string
	for _, line := range lines {
		_, list := r.read(line)
		if len(list) < 3 {
			continue
		}
		for _, e := range list {
			if values[e.key] != nil || len(values) < maxGroups {
				if values[e.key] == nil {
					order = append(order, e.key)
				}
				values[e.key] = append(values[e.key], bytes.Clone(e.value))
			}
		}
	}
	best, rank := "", 0
	for _, key := range order {
		f := figuresOf(values[key])
		if len(values[key]) < fewestAlike || !f.isTick(len(values[key])) || f.letters > 0 || !f.regular || hasPart(key, numberedNames) {
			continue
		}
		n := 1
		switch {
		case vocabulary.Of(key) == vocabulary.Tick:
			n = 4
		case shortTick(key):
			n = 3
		case key == "[" || key == "^":
			n = 2
		}
		if n > rank {
			best, rank = key, n
		}
	}
	return best
}

// learn finds the peers, and returns how well they fit, 0 if there are no peers.
func (r *roster) learn(lines [][]byte, alone bool) int {
	var rows [][]entry
	columns := map[string][][]byte{}
	again, last := 0, ""
	ticked := 0
	joined, free := 0, 0 // values
	for _, line := range lines {
		tick, parts := r.sections(line)
		if tick == nil || len(parts) == 0 {
			continue
		}
		for _, a := range r.atoms {
			if a.number && a.joined && isValue(a.text) {
				joined++
			} else if a.number && isValue(a.text) {
				free++
			}
		}
		if ticked++; string(tick) == last {
			again++
		}
		last = string(tick)
		for _, one := range parts {
			list := slices.DeleteFunc(one.list, func(e entry) bool { return !isValue(e.value) })
			for i, e := range list {
				if list[i].value = bytes.Clone(e.value); columns[e.key] != nil || len(columns) < maxGroups {
					columns[e.key] = append(columns[e.key], list[i].value)
				}
			}
			if len(list) > 0 {
				rows = append(rows, slices.Clone(list))
			}
		}
	}
	if r.after && joined > free {
		return 0
	}
	r.scoped = r.nested != flat || 2*again > ticked
	maps.DeleteFunc(columns, func(key string, values [][]byte) bool {
		f := figuresOf(values)
		side := sideOf(key)
		unnamed := vocabulary.Of(key) == vocabulary.Player && side == "" && !strings.ContainsAny(key, "0123456789")
		other := unnamed || key == "^" || key == "[" || hasPart(key, notPeers) || phaseWord(key) != "" || oneSided(key) && (!alone || side == "")
		return other || len(values) < fewestAlike || !f.scattered(len(values), len(values)/2, 4, 4) || f.letters == 0 && 2*f.far < f.rises+f.falls
	})
	names := slices.Sorted(maps.Keys(columns))
	if len(names) < 2 || len(names) > maxSlots {
		return 0
	}
	r.peers, r.sure = map[string]bool{}, true
	order := make([][2]int, len(names)) // how often a name precedes and follows another one
	guessed, sure := 0, false           // pairs of names in which one may be a guess of the other, and whether there are other pairs
	places := make([][]int, len(names)) // of the names in each row, -1 where it has none
	for i, name := range names {
		for _, row := range rows {
			places[i] = append(places[i], slices.IndexFunc(row, func(e entry) bool { return e.key == name }))
		}
	}
	for i, a := range names {
		for k, b := range names[:i] {
			equal, differing, heals, differ := map[string]bool{}, 0, 0, false
			for n, row := range rows {
				x, y := places[i][n], places[k][n]
				if x < 0 || y < 0 {
					continue
				}
				first, second := i, k
				if y < x {
					first, second = k, i
				}
				order[first][0]++
				order[second][1]++
				same := bytes.Equal(row[x].value, row[y].value)
				if same {
					equal[string(row[x].value)] = true
				}
				if same && differ {
					heals++
				}
				if differ = !same; differ {
					differing++
				}
			}
			if n := len(equal); n < fewestAlike && (n < fewestAlike-1 || sideOf(a) == "" || sideOf(b) == "") { // a role is a word for a peer
				continue
			}
			r.peers[a], r.peers[b] = true, true
			if guesses(differing, heals) && !r.scoped {
				guessed++
			} else {
				sure = true
			}
		}
	}
	if len(r.peers) < 2 || guessed > 0 && !sure {
		return 0
	}
	for i, name := range names { // a peer that was never equal, or another checksum
		if r.peers[name] {
			continue
		}
		alike := slices.ContainsFunc(names, func(o string) bool { return r.peers[o] && alikeNames(name, o) })
		if among := order[i]; !alike && min(among[0], among[1]) < fewestAlike {
			return 0
		}
		r.peers[name] = true
	}
	for name := range r.peers {
		r.hex = r.hex || slices.ContainsFunc(columns[name], hasLetters)
		r.sure = r.sure && (slices.ContainsFunc(columns[name], hasLetters) || r.nested != flat && figuresOf(columns[name]).median >= manyDigits)
	}
	fits, misfits := 0, 0
	for _, line := range lines {
		_, parts := r.sections(line)
		var list []entry
		shared := 0 // parts of several peers
		for _, one := range parts {
			list = append(list, one.list...)
			if lists.Count(one.list, func(e entry) bool { return r.peers[e.key] && isValue(e.value) }) > 1 {
				shared++
			}
		}
		if r.nested != flat && shared == 1 {
			misfits += len(r.peers)
		}
		if !slices.ContainsFunc(list, func(e entry) bool { return r.peers[e.key] && isValue(e.value) }) {
			continue // a chat or another message of a peer
		}
		for name := range r.peers {
			if slices.ContainsFunc(list, func(e entry) bool { return e.key == name }) {
				fits++
			} else if slices.ContainsFunc(r.atoms, func(a atom) bool { return string(a.text) == name }) { // its value is on the other side
				misfits++
			}
		}
	}
	if 8*misfits > fits && !r.places {
		return 0
	}
	return fits - misfits + 1
}

// alikeNames reports whether two names differ in digits only.
func alikeNames(a, b string) bool {
	return strings.Trim(a, "0123456789") == strings.Trim(b, "0123456789")
}
