package history

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/notation"
)

// series is a map or list with the checksums of many ticks.
type series struct {
	name    string
	word    string // for a tick, empty if there is none
	counted bool   // ticks are places
	rows    []row  // by their ticks

	columns []string // those that no word names as checksums
	sums    bool     // a word names some
	small   bool     // all but these have only numbers below most
}

// row has the checksums of a tick.
type row struct {
	tick  uint64
	at    int
	cells []cell
}

// cell is a named value of a row; the only one has no name.
type cell struct {
	name  string
	value []byte
}

// shorter reports whether a row lacks something that another one has.
func (r row) shorter(than row) bool {
	n := len(r.cells) - 1
	return n < 0 || n+1 != len(than.cells) || len(r.cells[n].value) < len(than.cells[n].value)
}

// search looks for series in a document.
type search struct {
	series []*series
	others map[string]string // numbers that belong to none, by their names
	scalar int               // how many scalars belong to none
	failed bool
	fault  *notation.Error // where the text is cut or broken
}

// searchIn finds all series of a document, none if it has much else.
func searchIn(n *notation.Notation, text []byte) *search {
	t, s := &tree{text: text}, &search{others: map[string]string{}}
	if err := n.Parse(text, t); err != nil && !errors.As(err, &s.fault) {
		return s
	}
	root, ok := t.close(s.fault != nil, n.Lines && !bytes.HasSuffix(text, []byte("\n")))
	if !ok {
		return s
	}
	s.in(&root, 0)
	if s.failed || s.scalar > mostOther || len(s.series) > mostSeries {
		s.series = nil
	}
	return s
}

func (s *search) in(v *value, depth int) {
	if one := v.series(); one != nil {
		s.series = append(s.series, one.byPeer()...)
		return
	}
	if s.failed = s.failed || depth > deepest || v.list && len(v.members) > 0; s.failed {
		return
	}
	for i := range v.members {
		m := &v.members[i]
		if m.open {
			s.in(m, depth+1)
			continue
		}
		s.scalar++
		s.failed = s.failed || isOwnTick(m.name)
		meaning := vocabulary.Of(m.name)
		if _, _, ok := digitsOf(m.text); ok && m.kind != notation.Text && (meaning == vocabulary.Other || meaning == vocabulary.WeakSum) {
			s.others[m.name] = string(m.text)
		}
	}
}

// byPeer returns a series for each column if these are peers.
func (s *series) byPeer() []*series {
	names := lists.Map(s.rows[0].cells, func(c cell) string { return c.name })
	if len(names) < 2 || slices.ContainsFunc(names, func(name string) bool { return !isPeer(name) }) {
		return []*series{s}
	}
	var out []*series
	for _, name := range names {
		one := &series{name: name, word: s.word}
		for _, r := range s.rows {
			if i := slices.IndexFunc(r.cells, func(c cell) bool { return c.name == name }); i >= 0 {
				one.rows = append(one.rows, row{r.tick, r.at, []cell{{value: r.cells[i].value}}})
			}
		}
		out = append(out, one)
	}
	return out
}

// isOwnTick reports whether a name means the tick of a whole document, which then is a state: not a count, and not the
// step from one checksum to the next.
func isOwnTick(name string) bool {
	about := func(part string) bool {
		return strings.Contains(" count total interval every rate per max last first start end number hz ", " "+part+" ")
	}
	return vocabulary.Of(name) == vocabulary.Tick && !slices.ContainsFunc(vocabulary.Parts(name), about)
}

// series returns the checksums of a map or list by their ticks, nil if it has other values.
func (v *value) series() *series {
	if v.cut {
		short := *v
		short.members, short.cut = v.members[:max(0, len(v.members)-1)], false
		v = &short
	}
	if len(v.members) == 0 {
		return nil
	}
	s := &series{name: v.name}
	switch first := &v.members[0]; {
	case !v.list:
		if !v.byNames(s) {
			return nil
		}
	case !first.open:
		s.counted = true
		for i := range v.members {
			v.members[i].addTo(s, uint64(i))
		}
	case !v.inRows(s):
		return nil
	}
	if n := len(s.rows) - 1; n > 0 && v.torn && s.rows[n].shorter(s.rows[n-1]) {
		s.rows = s.rows[:n]
	}
	if len(s.rows) == 0 {
		return nil
	}
	if vocabulary.Of(s.word) != vocabulary.Tick && vocabulary.Of(v.name) == vocabulary.Tick {
		s.word = v.name // <turn n="7">
	}
	named := vocabulary.Of(v.name) == vocabulary.Sum
	lists.SortStable(s.rows, func(a, b row) int { return cmp.Compare(a.tick, b.tick) })
	if !s.paced(named || vocabulary.Of(s.word) == vocabulary.Tick) || !s.clean(named) {
		return nil
	}
	return s
}

// byNames takes the members of a map with ticks as names.
func (v *value) byNames(s *series) bool {
	for i := range v.members {
		m := &v.members[i]
		word := strings.TrimRight(m.name, "0123456789")
		tick, err := strconv.ParseUint(m.name[len(word):], 10, 63)
		if err != nil || word != "" && vocabulary.Of(word) != vocabulary.Tick || i > 0 && word != s.word || !m.addTo(s, tick) {
			return false
		}
		s.word = word
	}
	if s.word != "" {
		s.word = strings.ToLower(strings.Trim(s.word, "_- .#"))
	}
	return true
}

// inRows takes the elements of a list that have a tick each.
func (v *value) inRows(s *series) bool {
	v = v.headed()
	at := v.tickOf()
	if at < 0 {
		return false
	}
	first := &v.members[0]
	s.word = first.members[at].name
	for i := range v.members {
		r := &v.members[i]
		if r.list != first.list || at >= len(r.members) || r.members[at].name != s.word {
			return false
		}
		tick, ok := r.members[at].tick()
		if !ok || !r.without(at).addTo(s, tick) {
			return false
		}
	}
	return true
}

// headed gives the cells of a table the names in its first row. Other values stay as they are.
func (v *value) headed() *value {
	head := v.members[0].members
	if !v.members[0].list || len(v.members) < 2 || slices.ContainsFunc(head, func(m value) bool { return m.open || bytes.ContainsAny(m.text, "0123456789") }) {
		return v
	}
	out := *v
	out.members = lists.Map(v.members[1:], func(r value) value {
		if r.list = false; len(r.members) == len(head) {
			r.members = slices.Clone(r.members)
			for i := range head {
				r.members[i].name = string(head[i].text)
			}
		}
		return r
	})
	return &out
}

// tickOf returns the place of the tick in the elements of a list: a member with a word for it, or a number that grows from the first
// element to the second; -1 if there is none.
func (v *value) tickOf() int {
	grows := -1
	first, second := &v.members[0], &v.members[min(1, len(v.members)-1)]
	for i := range first.members {
		m := &first.members[i]
		a, ok := m.tick()
		if !ok || vocabulary.Of(m.name) == vocabulary.Sum || i >= len(second.members) {
			continue
		}
		if vocabulary.Of(m.name) == vocabulary.Tick {
			return i
		}
		b, ok := second.members[i].tick()
		if grows < 0 && ok && b > a && vocabulary.Of(m.name) != vocabulary.Measure {
			grows = i
		}
	}
	return grows
}

// without returns a value without one of its members.
func (v *value) without(at int) *value {
	out := *v
	out.members = slices.Delete(slices.Clone(v.members), at, at+1)
	return &out
}

// longest is how many digits a checksum may have.
const longest = 128

// addTo adds the row that a value is, a scalar or a few of them. One that is null is none.
func (v *value) addTo(s *series, tick uint64) bool {
	r := row{tick: tick, at: v.at}
	switch {
	case !v.open && v.kind == notation.Null:
		return true
	case !v.open:
		r.cells = []cell{{value: v.sum()}}
	case len(v.members) > mostSeries:
		return false
	}
	for i := range v.members {
		m := &v.members[i]
		if m.open {
			return false
		}
		name := m.name
		if v.list {
			name = strconv.Itoa(i)
		}
		r.cells = append(r.cells, cell{name, m.sum()})
	}
	s.rows = append(s.rows, r)
	return true
}

// paced reports whether the ticks are all different and grow by one step, or sometimes a multiple of it. If words show that
// they are ticks, they may grow as they like.
func (s *series) paced(sure bool) bool {
	step, odd := uint64(0), 0
	for i := 1; i < len(s.rows); i++ {
		grown := s.rows[i].tick - s.rows[i-1].tick
		if grown == 0 {
			return false
		}
		if step == 0 || grown < step {
			step = grown
		}
	}
	for i := 1; i < len(s.rows); i++ {
		if grown := s.rows[i].tick - s.rows[i-1].tick; grown != step {
			odd++
		}
	}
	return sure || 8*odd <= len(s.rows)
}

// clean leaves only the checksums of the rows, and reports whether there are any, and the other values are constant or times.
func (s *series) clean(named bool) bool {
	first := s.rows[0].cells
	keep := make([]bool, len(first))
	sums := 0
	s.small = true
	for i := range first {
		f := figures{named: named || vocabulary.Of(first[i].name) == vocabulary.Sum}
		for _, r := range s.rows {
			if len(r.cells) != len(first) || r.cells[i].name != first[i].name {
				return false
			}
			f.add(r.cells[i].value)
		}
		switch meaning := vocabulary.Of(first[i].name); {
		case f.sums():
			keep[i] = true
			sums++
			if f.named {
				s.sums = true
			} else {
				s.columns = append(s.columns, first[i].name)
				s.small = s.small && f.small()
			}
			for _, r := range s.rows {
				r.cells[i].value = f.canonical(r.cells[i].value)
			}
		case len(f.seen) > 1 && meaning != vocabulary.Measure:
			return false
		}
	}
	for n := range s.rows {
		r := &s.rows[n]
		kept := r.cells[:0]
		for i, c := range r.cells {
			if _, _, ok := digitsOf(c.value); keep[i] && ok {
				kept = append(kept, c)
			}
		}
		if r.cells = kept; sums == 1 && len(kept) > 0 {
			kept[0].name = ""
		}
	}
	s.rows = slices.DeleteFunc(s.rows, func(r row) bool { return len(r.cells) == 0 })
	return sums > 0
}

// figures shows whether the values of a column are checksums.
type figures struct {
	named  bool // a word means it
	values int
	odd    int // values that are no whole number
	hex    int // those with letters
	short  int // those with less than 8 digits, and of these with less than 6
	tiny   int
	up     int // how often the next one is larger, and smaller
	down   int
	large  int // values that are large, as half of all checksums of 32 bits are
	last   []byte
	seen   map[string]bool // some
}

func (f *figures) add(value []byte) {
	digits, letters, ok := digitsOf(value)
	f.values++
	if !ok {
		f.odd++
	}
	if letters {
		f.hex++
	}
	if len(digits) < 8 {
		f.short++
	}
	if len(digits) < 6 {
		f.tiny++
	}
	if number, err := strconv.ParseUint(string(digits), 10, 64); err != nil || number >= 1<<30 {
		f.large++
	}
	switch c := cmp.Or(cmp.Compare(len(digits), len(f.last)), bytes.Compare(digits, f.last)); {
	case f.last == nil || c == 0:
	case c > 0:
		f.up++
	default:
		f.down++
	}
	if f.last = digits; len(f.seen) < 1<<10 {
		if f.seen == nil {
			f.seen = map[string]bool{}
		}
		f.seen[string(value)] = true
	}
}

// sums reports whether the values are checksums: numbers of many digits that do not only grow, or any in which a word
// means checksums.
func (f *figures) sums() bool {
	const fewest, fewestNamed = 8, 3
	switch {
	case f.values < fewestNamed || !f.named && f.values < fewest || len(f.seen) < 2:
		return false
	case f.named:
		return 8*f.odd <= f.values && (f.hex > 0 || f.down > 0)
	case f.odd > 0 || 2*len(f.seen) < min(f.values, fewest) || 8*min(f.up, f.down) < f.up+f.down:
		return false
	case f.hex > 0:
		return 2*f.hex > f.values && 8*f.short <= f.values && 100*f.tiny <= f.values
	}
	return 50*f.short <= f.values && 1000*f.tiny <= f.values
}

// small reports whether the values are decimal numbers that are too small for checksums of 32 bits.
func (f *figures) small() bool {
	const fewest = 16
	return f.hex == 0 && f.large == 0 && f.values >= fewest
}

// canonical returns a checksum in one form: hexadecimal digits are in lower case after 0x.
func (f *figures) canonical(value []byte) []byte {
	digits, _, ok := digitsOf(value)
	if !ok || f.hex == 0 || value[0] == '-' {
		return value
	}
	return append([]byte("0x"), bytes.ToLower(digits)...)
}

// digitsOf returns the digits of a whole number, and whether some are letters.
func digitsOf(value []byte) (digits []byte, letters, ok bool) {
	digits = bytes.TrimPrefix(value, []byte("-"))
	prefix := len(digits) > 2 && digits[0] == '0' && digits[1]|0x20 == 'x'
	if prefix {
		digits, letters = digits[2:], true
	}
	for _, c := range digits {
		switch {
		case c >= '0' && c <= '9':
		case c|0x20 >= 'a' && c|0x20 <= 'f':
			letters = true
		default:
			return nil, false, false
		}
	}
	return digits, letters, len(digits) > 0 && len(digits) <= longest
}

// sum returns a scalar as a checksum may be written.
func (v *value) sum() []byte {
	if v.kind == notation.Bytes {
		return hex.AppendEncode([]byte("0x"), v.text)
	}
	return v.text
}

// tick returns a scalar as a tick.
func (v *value) tick() (uint64, bool) {
	if v.open || v.kind == notation.Bytes {
		return 0, false
	}
	tick, err := strconv.ParseUint(string(v.text), 10, 63)
	return tick, err == nil
}
