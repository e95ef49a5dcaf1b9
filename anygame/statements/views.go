package statements

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/tracediff"
)

// viewed returns the values that sentences give to two sides, also on lines apart:
//
//	On my machine the toll is 1200, on his it is toll 1210.      The tram of the first run departs at 5.
//	My hash is d9f4, my friend's hash aef6.                      The tram of the second run departs at 8.
func (p *post) viewed() (out []owned) {
	mine := false
	for i := range p.lines {
		l := &p.lines[i]
		side, in, after := "", false, 0
		for k := 0; k < len(l.units) && !l.lead.program; k++ {
			if begin, _ := l.sentence(trigger{from: k, to: k}); begin == k {
				side = ""
			}
			if name, next, seen := l.sideAt(k); name != "" {
				side, in, after, k = name, seen, next, next-1
				mine = mine || name == tracediff.OneSide
				continue
			}
			u, behind := l.units[k], strings.TrimLeft(l.text[l.units[k].end:], " ")
			if side == "" || u.kind < number || u.kind > value || u.joined || u.kind == sum && len(u.text) < 4 || seconds.MatchString(behind) || strings.HasPrefix(behind, "%") {
				continue
			}
			of, digested := l.thingAt(k, after)
			if digested {
				of = " " + of // a word for a sum, and no name
			}
			if of != "" && (in || digested) && !ofClock.MatchString(of) && !ofMachine.MatchString(of) {
				out = append(out, owned{side, of, u.text, i, ""})
			}
		}
	}
	for i := range out {
		if out[i].owner == tracediff.OtherSide && !mine { // your checksum, your friend's checksum
			out[i].owner = tracediff.OneSide
		}
	}
	return out
}

// ofMachine finds words for things that machines or players have, and for what a run is given. No simulation computes those.
var ofMachine = lazyregexp.New(`(?i)\b(?:windows|win|macos|ubuntu|linux|android|ios|[gm]b|[gm]hz|fps|ping|latency|[km]?bps|driver|cores?|rtx|gtx|mods?|levels?|seeds?|threads?|workers?|players?|steps?|iterations?|tick ?rate)\b`)

// sideAt returns the side that units from one on name, the unit behind them, and whether they introduce what the side sees: in run 2,
// on my machine, node 1 contains.
func (m *message) sideAt(k int) (name string, next int, seen bool) {
	text := func(i int) string {
		if i < 0 || i >= len(m.units) {
			return ""
		}
		return m.units[i].text
	}
	u, run := m.units[k], oneOf(m.units[k].text, runs)
	next = k + 1
	switch named := strings.TrimRight(firstWord(m.text[u.end:]), ",:;"); {
	case u.kind != word:
		return "", k, false
	case (run || peerNouns.has(u.text) || oneOf(u.text, replicas)) && next < len(m.units) && (m.units[next].kind == number || len(text(next)) == 1 && isUpper(m.text[m.units[next].start])):
		name, next, seen = m.text[u.start:m.units[next].end], next+1, run
	case oneOf(u.text, "first|second|third|1st|2nd|3rd") && oneOf(text(next), runs):
		name, next, seen = u.text+" "+text(next), next+1, true
	case oneOf(u.text, friends):
		name = u.text
	case oneOf(u.text, "my|our|your|his|her|their") && !oneOf(text(next), friends):
		name = map[bool]string{true: tracediff.OneSide, false: tracediff.OtherSide}[oneOf(u.text, "my|our")]
	case oneOf(u.text, "in|on|with|under") && m.wordAt(opposing) >= 0 && len(named) > 1 && (capital(named) || strings.Contains(named, "-")):
		for name, seen = named, true; next < len(m.units) && m.units[next].end <= u.end+1+len(named); next++ {
		}
	}
	return name, next, seen || oneOf(text(k-1), "in|on|for|to|at") || text(k-1) == "the" && oneOf(text(k-2), "in|on|for|at") || oneOf(text(next), views)
}

// thingAt returns what a value is by the words around it, from a unit on, and whether that is a checksum: the toll is 1200, it has 12 sheep.
func (m *message) thingAt(k, after int) (of string, digested bool) {
	var words []string
	for i := k - 1; i >= max(after, k-maxLabel) && len(words) < 2; i-- {
		u := m.units[i]
		if u.kind == number || u.kind == sum || u.kind == value || oneOf(u.text, ".|,|;|!|?") {
			break
		}
		if t := m.token(i); u.kind != mark && !oneOf(u.text, filling) && !oneOf(u.text, views) && !slices.Contains(words, t) {
			words = slices.Insert(words, 0, t)
			digested = digested || u.kind == word && nouns.has(u.text)
		}
	}
	if k++; k < len(m.units) && m.units[k].kind == word && !(connecting | prosaic | pairing).has(m.units[k].text) && !oneOf(m.units[k].text, filling) {
		words = append(words, m.token(k))
	}
	return strings.Join(words, " "), digested
}

// views are words behind a side for what it shows, filling words between the name of a value and the value.
const (
	views   = "sees|saw|see|shows|showed|contains|computes|computed|reports|reported|gets|got|says|thinks|thought"
	filling = "is|was|are|were|be|has|have|had|at|on|in|for|of|to|the|a|an|it|its|as|by|with|and|but|while|than|only|about|still|here|s|machine|side|screen|pc"
)
