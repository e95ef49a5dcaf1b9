package sums

import (
	"bytes"
	"cmp"
	"io"
	"maps"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// Values are the lines of logs without checksums that have the same values in all logs for long: tick 100 Random(0) = 4711.
// A tick on a line also belongs to the lines below.
type Values struct {
	lines map[string]*valued // by their texts without values
	ticks ticks              // how ticks are found
	table *records           // the names of columns, nil if lines have none
	word  string             // for a tick
	whole bool               // no value differs of the lines that all logs have at the same ticks, except on machines
	apart []string           // values that count and differ in several ticks or at the end, and since when
}

// Sampled reports that the logs have more than was learned from.
func (v *Values) Sampled() { v.whole = false }

// Apart returns the values that count and differ in several ticks or at the end, and since when.
func (v *Values) Apart() []string { return v.apart }

// Equal reports whether the checksums of logs are always equal.
func Equal(logs []Sample) bool {
	return !slices.ContainsFunc(logs, func(log Sample) bool {
		return slices.ContainsFunc(log.Pattern.templates, func(t template) bool {
			first, other := logs[0].Pattern.valuesOf(&t, logs[0].Text, nil), log.Pattern.valuesOf(&t, log.Text, nil)
			for tick, value := range other {
				if mine, ok := first[tick]; ok && mine != value {
					return true
				}
			}
			return false
		})
	})
}

// ticks is how lines without a word for a tick show it.
type ticks struct {
	short  bool            // a letter is the word, t=30: no line has another one
	word   string          // a name that the checksums of the logs show to be a tick, hb 12
	places map[string]int  // of the ticks on lines that have no word for them, by their texts without values
	passes map[string]bool // of lines of which some are for good, as a word shows, by their texts without values
}

// valued is a kind of lines, of one log until all are known.
type valued struct {
	scope  string
	names  []string // of the values, empty for those that do not count
	thing  int      // the place of the value that shows which thing of a tick a line is about, -1 if none does
	ticks  []uint64 // of each line
	values [][][]byte
}

const (
	fewestEqual    = 16 // ticks with a value that is new and equal in two logs, before it counts
	manyEqual      = 32 // such ticks before a value counts that differs and is equal again
	fewestDistinct = 8  // such values
	fewestNews     = 5  // such ticks of a value on a line with another one that counts
	fewestThing    = 4  // lines about each thing
	fewestColumns  = 3  // values of a line that is a row
	fewestLasting  = 3  // ticks in which a value differs that was hardly new before
	maxScope       = 48 // bytes of the names of values that are the name of a line
)

// LearnValues returns the lines of the beginnings of logs, nil if there are none. Named are the logs with checksums among them. A value counts in a place in which it
// changes often, not only up as counters do, and is equal in all logs until it differs again and again; and so does
// another value of such a line, also one that hardly changes, if it differs to the end. Ticks that go back, as in a game with
// rollback, show no values, unless a word shows which lines are for good.
func LearnValues(logs [][]byte, named ...Sample) *Values {
	var all []map[string]*valued
	others := 0 // lines without values
	cadences := make([]cadence, len(logs))
	v := &Values{lines: map[string]*valued{}, ticks: ticksOf(logs, named)}
	v.ticks.passes = findPasses(logs, v.ticks)
	for n, text := range logs {
		l, lines := valuedLines{ticks: v.ticks}, map[string]*valued{}
		for _, line := range linesOf(text) {
			if !l.take(line) {
				others++
				continue
			} else if l.again(line) {
				continue
			}
			cadences[n].see(l.tick)
			one := lines[string(l.key)]
			if one == nil {
				one = &valued{names: slices.Clone(l.names)}
				lines[string(l.key)] = one
			}
			one.ticks, one.values = append(one.ticks, l.tick), append(one.values, slices.Clone(l.values))
		}
		if v.table == nil {
			v.table = l.table
		}
		if v.word = cmp.Or(v.word, l.word); l.back || len(lines) > maxGroups {
			return nil
		}
		all = append(all, lines)
	}
	scopes := map[string]bool{}
	v.whole = areWhole(all, cadences, others > 0)
	for _, key := range slices.Sorted(maps.Keys(all[0])) {
		one, counts := all[0][key], false
		one.thing = one.thingIn(key, all)
		named, thing := slices.Clone(one.names), ""
		if one.thing >= 0 {
			thing, named[one.thing] = one.names[one.thing], ""
		}
		scope := scopeOf(named)
		for place, name := range one.names {
			least, most := simulation, unrelated // of the pairs of logs that show it
			for _, other := range all[1:] {
				if role := one.role(other[key], place); role != undecided {
					least, most = min(least, role), max(most, role)
				}
			}
			if least = min(least, most); name == "" || place == one.thing {
				least = unrelated
			} else if least == together { // the logs of other peers show it where one has few lines
				least = most
			}
			for _, lines := range all[1:] {
				if least == simulation && one.differs(lines[key], place) {
					v.apart = append(v.apart, one.since(lines[key], place, name, thing, messages.TickName(cmp.Or(strings.ToLower(v.word), "tick"))))
					break
				}
			}
			if one.names[place] = ""; least > unrelated {
				one.names[place] = unused(name, func(name string) bool { return slices.Contains(one.names[:place], name) })
			}
			counts = counts || least == simulation
		}
		if counts {
			one.scope = unused(strings.ToValidUTF8(scope[:min(len(scope), maxScope)], ""), func(name string) bool { return scopes[name] })
			scopes[one.scope], v.lines[key] = true, one
			one.ticks, one.values = nil, nil
		}
	}
	if len(v.lines) == 0 {
		return nil
	}
	for _, one := range v.lines {
		few := lists.Count(one.names, func(name string) bool { return name != "" }) < fewestColumns
		if len(v.lines) == 1 && one.thing < 0 && !few { // the names of all values tell nothing
			one.scope = ""
		}
	}
	return v
}

// areWhole reports whether all values are equal of the lines that all logs have at the same ticks, and these are several values
// or all that the logs have. Where logs have half of some lines at the same ticks, the others may be missing because the states differ.
func areWhole(all []map[string]*valued, cadences []cadence, more bool) bool {
	fewest := 1
	if more { // they have other lines
		fewest = 3
	}
	from, to := commonTicks(all)
	values := 0
	for key, one := range all[0] {
		for n, other := range all[1:] {
			if other[key] == nil {
				continue
			}
			a, b := one, other[key]
			if mine, theirs := &cadences[0], &cadences[n+1]; mine.regular() && theirs.regular() {
				a, b = a.of(theirs), b.of(mine)
			}
			switch together, equal := a.compare(b, from, to); {
			case together && equal:
				values += lists.Count(one.names, func(name string) bool { return name != "" && name != "text" })
			case together || equal:
				return false
			}
		}
	}
	return values >= fewest*(len(all)-1)
}

// cadence is the ticks of a log's lines.
type cadence struct {
	ticks   map[uint64]bool
	last    uint64
	strides map[uint64]int
}

// see adds the tick of a line.
func (c *cadence) see(tick uint64) {
	if c.ticks == nil {
		c.ticks, c.strides = map[uint64]bool{}, map[uint64]int{}
	} else if stride := tick - c.last; stride > 0 && len(c.strides) < maxGroups {
		c.strides[stride]++
	}
	c.ticks[tick], c.last = true, tick
}

// regular reports whether most ticks have the same distance: a log that has nothing of others was not written then.
func (c *cadence) regular() bool {
	return len(c.ticks) > fewestEqual && 8*slices.Max(slices.Collect(maps.Values(c.strides))) >= 7*(len(c.ticks)-1)
}

// of returns the lines of the ticks that a log has.
func (v *valued) of(log *cadence) *valued {
	out := &valued{names: v.names}
	for i, tick := range v.ticks {
		if log.ticks[tick] {
			out.ticks, out.values = append(out.ticks, tick), append(out.values, v.values[i])
		}
	}
	return out
}

// commonTicks returns the first and the last tick that all logs may have.
func commonTicks(all []map[string]*valued) (from, to uint64) {
	to = math.MaxUint64
	for _, lines := range all {
		first, last := uint64(math.MaxUint64), uint64(0)
		for _, one := range lines {
			first, last = min(first, one.ticks[0]), max(last, one.ticks[len(one.ticks)-1])
		}
		from, to = max(from, first), min(to, last)
	}
	return from, to
}

// compare reports whether two logs have lines at the same of some ticks, and the same values on them. If they have only some at
// the same ticks, it reports whether these are half of them.
func (v *valued) compare(other *valued, from, to uint64) (together, equal bool) {
	a, b := v.within(from, to), other.within(from, to)
	fewer := min(a[1]-a[0], b[1]-b[0])
	if fewer == 0 {
		return false, false
	}
	if slices.Equal(v.ticks[a[0]:a[1]], other.ticks[b[0]:b[1]]) {
		for i := range fewer {
			for place, name := range v.names {
				if name != "" && !bytes.Equal(v.values[a[0]+i][place], other.values[b[0]+i][place]) {
					return true, false
				}
			}
		}
		return true, true
	}
	at := map[uint64]bool{}
	for _, tick := range v.ticks[a[0]:a[1]] {
		at[tick] = true
	}
	same := lists.Count(other.ticks[b[0]:b[1]], func(tick uint64) bool { return at[tick] })
	return false, 2*same >= fewer
}

// differs reports whether the values in a place of two logs' lines differ in several ticks, or at the last one that both have.
func (v *valued) differs(other *valued, place int) bool {
	differing, last := 0, uint64(0)
	for i, k := 0, 0; i < len(v.ticks) && k < len(other.ticks); {
		switch a, b := v.ticks[i], other.ticks[k]; {
		case a < b:
			i++
		case a > b:
			k++
		default:
			if !bytes.Equal(v.values[i][place], other.values[k][place]) && (differing == 0 || a != last) {
				differing, last = differing+1, a
			}
			i, k = i+1, k+1
		}
	}
	if differing >= fewestDistinct {
		return true
	}
	from, to := max(v.ticks[0], other.ticks[0]), min(v.ticks[len(v.ticks)-1], other.ticks[len(other.ticks)-1])
	a, b := v.within(from, to), other.within(from, to)
	n := min(a[1]-a[0], b[1]-b[0])
	for i := 1; i <= n && v.ticks[a[1]-i] == v.ticks[a[1]-1] && other.ticks[b[1]-i] == v.ticks[a[1]-1]; i++ {
		if !bytes.Equal(v.values[a[1]-i][place], other.values[b[1]-i][place]) {
			return true
		}
	}
	return false
}

// since names what differs first in a place of two logs' lines, and the tick: hp of unit 7 from turn 90 on
func (v *valued) since(other *valued, place int, name, thing string, tickName func(uint64) string) string {
	for i, k := 0, 0; i < len(v.ticks) && k < len(other.ticks); i, k = i+1, k+1 {
		switch tick := v.ticks[i]; {
		case tick < other.ticks[k]:
			k--
		case tick > other.ticks[k]:
			i--
		case !bytes.Equal(v.values[i][place], other.values[k][place]):
			if v.thing >= 0 {
				name += " of " + valid([]string{thing, string(v.values[i][v.thing])})
			}
			return name + " from " + tickName(tick) + " on"
		}
	}
	return name
}

// within returns where the lines of some ticks begin and end.
func (v *valued) within(from, to uint64) [2]int {
	a, _ := slices.BinarySearch(v.ticks, from)
	b := sort.Search(len(v.ticks), func(i int) bool { return v.ticks[i] > to })
	return [2]int{a, max(a, b)}
}

// thingIn returns the first place in which the lines of a tick have different values that come again in other ticks: the number
// or the name of a thing, cog 2 of lines about several cogs. It is -1 if no place in all logs is so.
func (v *valued) thingIn(key string, all []map[string]*valued) int {
	for place, name := range v.names {
		if name != "" && !slices.ContainsFunc(all, func(lines map[string]*valued) bool { return lines[key] != nil && !lines[key].tells(place) }) {
			return place
		}
	}
	return -1
}

// tells reports whether the values in a place show which thing a line is about.
func (v *valued) tells(place int) bool {
	all, shared := map[string]bool{}, 0 // lines of ticks that have several
	for i := 0; i < len(v.ticks); {
		of, from := map[string]bool{}, i
		for ; i < len(v.ticks) && v.ticks[i] == v.ticks[from]; i++ {
			value := v.values[i][place]
			if of[string(value)] || bytes.IndexByte(value, '.') >= 0 {
				return false
			}
			of[string(value)], all[string(value)] = true, true
		}
		if len(of) > 1 {
			shared += len(of)
		}
	}
	return 2*shared >= len(v.ticks) && len(all) > 1 && fewestThing*len(all) <= len(v.ticks)
}

// scopeOf returns the name of a line by the names of its values: Random value of Random(0) = 4711, hp0 hp1 of hp0=3 hp1=4.
func scopeOf(names []string) string {
	var kept []string
	for i, name := range names {
		part := slices.ContainsFunc(names, func(other string) bool { // hp of hp0
			return len(other) > len(name) && strings.HasPrefix(other, name) && isDigit(other[len(name)])
		})
		if name != "" && name != "text" && !part && (i == 0 || names[i-1] != name) {
			kept = append(kept, name)
		}
	}
	return strings.Join(kept, " ")
}

// valueRole is what the values in one place of lines belong to, as far as two logs show.
type valueRole int

const (
	unrelated  valueRole = iota // perhaps to something else
	together                    // to the simulation if another value of the lines does
	simulation                  // to the simulation
	undecided                   // these logs do not show it, since the values are equal and change in no way that does
)

// role returns the role of the values in one place of the lines of two logs.
func (v *valued) role(other *valued, place int) valueRole {
	var before [2][]byte
	distinct := map[string]bool{}
	equal, differ, healed, rises, falls, least := 0, 0, 0, 0, 0, fewestNews
	calm, ends, rare := 0, false, false // ticks before the first difference, it lasts to the end, and values before it were rarely new
	for i, k := 0, 0; other != nil && i < len(v.ticks) && k < len(other.ticks); {
		tick, same, news := v.ticks[i], true, false
		if with := other.ticks[k]; with != tick {
			if with < tick {
				k++
			} else {
				i++
			}
			continue
		}
		for ; i < len(v.ticks) && v.ticks[i] == tick && k < len(other.ticks) && other.ticks[k] == tick; i, k = i+1, k+1 {
			old := before[0]
			before = [2][]byte{v.values[i][place], other.values[k][place]}
			same = same && bytes.Equal(before[0], before[1])
			if !same || old == nil || bytes.Equal(before[0], old) {
				continue
			}
			distinct[string(before[0])], news = true, true
			x, _ := strconv.ParseFloat(string(before[0]), 64)
			if y, _ := strconv.ParseFloat(string(old), 64); x > y && bytes.IndexByte(before[0], '.') < 0 {
				rises++ // perhaps what a counter of the network does
			} else {
				falls++
			}
		}
		if isLetter(before[0][0]) {
			least = 2 // of a word fewer are enough
		}
		switch over := i == len(v.ticks) || k == len(other.ticks); {
		case !same || !over && (v.ticks[i] == tick || other.ticks[k] == tick):
			if differ++; equal < least && calm < fewestEqual {
				return unrelated
			}
			ends, rare = true, rare || equal < least
		case differ > 0:
			if ends = false; news {
				healed++
			}
		default:
			if calm++; news {
				equal++
			}
		}
	}
	switch {
	case (rare || calm >= fewestEqual && falls*8 < rises+falls) && ends && differ >= fewestLasting && healed == 0:
		return together
	case differ == 0 && other != nil && (falls*8 < rises+falls || equal < least || len(distinct) < min(3, least)):
		return undecided
	case falls*8 < rises+falls, equal < least, len(distinct) < min(3, least), healed > 6*differ && healed > fewestNews && differ > 0:
		return unrelated
	case (equal >= manyEqual || equal >= fewestEqual && healed == 0) && len(distinct) >= fewestDistinct:
		return simulation
	case differ == 1 && healed > 0:
		return unrelated
	}
	return together
}

// Format returns the format of logs with the values.
func (v *Values) Format() tracediff.Format {
	f := engine.Lines{
		Name: "values", Title: "log with values of ticks", Sniff: func([]byte) bool { return false },
		Dialect: func(int) tracediff.Dialect {
			return tracediff.Dialect{
				Engine: "any game", File: "log with values", TickName: messages.TickName(cmp.Or(strings.ToLower(v.word), "tick")), Values: true, Partial: !v.whole, Endless: true, Lossy: true, Detail: tracediff.Path,
				Covers: "values that change often and are equal in all logs for long; the first line that differs is no cause, and no checksum was found",
			}
		},
		Parser: func(int) func([]byte, *tracediff.Checkpoint) bool {
			l := &valuedLines{ticks: v.ticks}
			return func(line []byte, to *tracediff.Checkpoint) bool {
				takes := l.take(plain(line))
				one := v.lines[string(l.key)]
				if !takes || l.again(line) || l.back || one == nil {
					return false
				}
				*to = tracediff.Checkpoint{Tick: l.tick, Scope: one.scope, Sums: to.Sums[:0]}
				if thing := l.thing(one.thing); thing != "" {
					to.Scope = strings.TrimPrefix(to.Scope+" of "+thing, " of ")
				}
				for i, name := range one.names {
					if name != "" {
						to.Sums = append(to.Sums, tracediff.Sum{Name: name, Value: l.values[i]})
					}
				}
				return true
			}
		},
	}.Format()
	f.Narrow = v.narrow
	return f
}

// differ reports whether the values of one place differ between lines of one kind.
func differ(lines []valuedLines, place int) bool {
	return slices.ContainsFunc(lines, func(l valuedLines) bool { return !bytes.Equal(l.values[place], lines[0].values[place]) })
}

// thingOf returns what a line is about, empty if nothing shows it.
func (v *Values) thingOf(l *valuedLines) string {
	if one := v.lines[string(l.key)]; one != nil {
		return l.thing(one.thing)
	}
	return l.thing(-1)
}

func valid(words []string) string { return strings.ToValidUTF8(strings.Join(words, " "), "\uFFFD") }

// sharedOf returns the words that some lines have and that are no names of values: they show what the program did. Without
// words it is the first value, if it is equal: it may be the number of a thing.
func sharedOf(lines []valuedLines) (out []string) {
	first := &lines[0]
	for place, value := range first.values {
		if name := first.names[place]; isLetter(value[0]) && (name == "text" || name == "") && !differ(lines, place) {
			out = append(out, string(value))
		}
	}
	if len(out) == 0 && first.table == nil && len(first.names) > 1 && first.names[0] != "" && !differ(lines, 0) {
		out = append(out, first.names[0], string(first.values[0]))
	}
	return out
}

// narrow adds to the first difference what its lines share, "A_Chase", and then the values that differ, "mobj 1".
func (v *Values) narrow(sides []tracediff.Side) ([][]tracediff.Detail, error) {
	lines := make([]valuedLines, len(sides))
	for i := range sides {
		if err := sides[i].SkipTo(sides[i].Value.Pos.Offset); err != nil {
			return nil, err
		}
		text, err := io.ReadAll(io.LimitReader(sides[i].In, maxLine))
		if err != nil {
			return nil, err
		}
		line, _, _ := bytes.Cut(text, []byte("\n"))
		lines[i].ticks, lines[i].table, lines[i].begun = v.ticks, v.table, true
		lines[i].take(plain(bytes.TrimRight(line, "\r")))
		if i > 0 && !bytes.Equal(lines[i].key, lines[0].key) {
			return nil, nil
		}
	}
	shared := sharedOf(lines)
	if thing := v.thingOf(&lines[0]); thing != "" && !slices.ContainsFunc(lines, func(l valuedLines) bool { return v.thingOf(&l) != thing }) {
		shared = []string{thing}
	}
	if len(shared) == 0 && v.table == nil {
		return nil, nil
	}
	out := make([][]tracediff.Detail, len(sides))
	for i := range lines {
		var text []string
		for place, name := range lines[i].names {
			if name != "" && differ(lines, place) {
				text = append(text, name, string(lines[i].values[place]))
			}
		}
		if out[i] = []tracediff.Detail{{Text: valid(text)}}; len(shared) > 0 {
			out[i] = slices.Insert(out[i], 0, tracediff.Detail{Text: valid(shared)})
		}
	}
	return out, nil
}
