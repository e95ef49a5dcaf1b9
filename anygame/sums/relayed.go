package sums

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/desynctool/desynctool/anygame/vocabulary"
)

// relayed is the form of the only log of a session in which all peers report their checksums, in any order. A field, a word in
// brackets or a word with a mark, anywhere on the line, names the peer:
//
//	relay[2217]: msg="state report" conn=6268 peer=kofi step=64 sum=68dc7b7ba772 rtt=157
//	03:14:15 node=zone_a@10.0.0.4 [debug] beat=12 phash2=96927923
//	kofi-1  | 03:14:15 frame 12 checksum 96927923
//	frame 12 checksum 96927923 from kofi
//	kofi/game.log:frame 12 checksum 96927923
//
// Each checksum of such a line becomes a line that a roster makes.
type relayed struct {
	lines  *Pattern // without peers
	key    string   // of the field
	scoped bool     // there are checksums of parts of the state
	read   *reader
}

// report is a checksum of a line.
type report struct {
	tick       uint64
	scope, sum string
	form       int // of the line
}

// reports returns the checksums of a line.
func (j *relayed) reports(line []byte) (out []report) {
	if j.read == nil {
		j.read = newReader(j.lines, bytes.NewReader(nil), "", 0)
	}
	r := j.read
	text := r.text(line)
	for i := range j.lines.templates {
		t := &j.lines.templates[i]
		if !t.text.match(text, r.matched) || complains(r.matched.before) == differs || complains(r.matched.after) == differs {
			continue
		}
		tick, ok := t.roles.tickOf(r.matched.values[t.roles.tick])
		if !ok {
			continue
		}
		for _, p := range t.roles.points {
			for _, s := range p.sums {
				if _, _, whole := integer(r.matched.values[s.slot]); whole {
					scope := strings.Join(strings.Fields(p.scope+" "+s.name), "_")
					if t.roles.scope >= 0 {
						scope = strings.Trim(string(r.matched.values[t.roles.scope])+"."+scope, ".")
					}
					out = append(out, report{tick, scope, string(r.matched.values[s.slot]), i})
				}
			}
		}
		break
	}
	return out
}

// roster returns the lines of the peer's checksums, as a roster makes them.
func (j *relayed) roster(line []byte) (out [][]byte) {
	peer := ""
	list := j.reports(line)
	if len(list) == 0 {
		return nil
	}
	j.names(line, func(key, value string) {
		if key == j.key {
			peer = value
		}
	})
	for _, one := range list {
		if peer == "" {
			return nil
		}
		text := fmt.Appendf(nil, "tick=%d peer=%s sum=%s", one.tick, peer, one.sum)
		if j.scoped {
			text = fmt.Appendf(text, " of=%s", cmp.Or(one.scope, "all"))
		}
		out = append(out, text)
	}
	return out
}

// names gives what may name the peer on a line with checksums.
func (j *relayed) names(line []byte, do func(key, value string)) {
	fields(line, do)
	e, codes := j.lines.form.(*encoded) // the text around the checksums is as it was
	if j.lines.form == nil || codes && e.inner == nil {
		marked(j.read.matched.before, j.read.matched.after, do)
	}
}

// marked gives the words with a letter around a message that have a mark, by their places: those before it that end with a mark,
// and those next to a word for the source.
func marked(before, after []byte, do func(key, value string)) {
	const most, marks, sources = 8, ":|>])", " from by for of client peer player user node conn "
	words := bytes.Fields(before)
	words = words[max(0, len(words)-most):]
	begin := len(words)
	words = append(words, bytes.Fields(after[:min(len(after), most*maxLabel)])...)
	if file, _, ok := bytes.Cut(bytes.TrimLeft(before, " "), []byte(":")); ok && bytes.IndexByte(file, '.') > 0 && !bytes.ContainsAny(file, " \t") && addressEnd(file, 0) == 0 { // of grep: ann.log:[12] tick 5
		do("file", string(file))
	}
	for i, word := range words {
		name := bytes.TrimFunc(word, func(c rune) bool { return c < 0x80 && !isLetter(byte(c)) && !isDigit(byte(c)) })
		mark := i < begin && (strings.IndexByte(marks, word[len(word)-1]) >= 0 || i+1 < begin && strings.Contains(" | -> => ", " "+string(words[i+1])+" "))
		number := !slices.ContainsFunc(name, isLetter)
		if len(name) == 0 || len(name) > maxLabel || number && (!mark || bytes.IndexByte(name, '.') >= 0 && addressEnd(name, 0) == 0) || i >= begin+most {
			continue
		}
		if mark || i > 0 && i != begin && strings.Contains(sources, " "+string(bytes.ToLower(words[i-1]))+" ") {
			do(fmt.Sprint("#", i-begin), string(name))
		}
	}
}

// fields gives the fields of a line, node=zone_a, and its words in brackets.
func fields(line []byte, do func(key, value string)) {
	brackets := 0
	line = line[:min(len(line), maxLine)]
	part := func(c byte) bool { return isLetter(c) || isDigit(c) || strings.IndexByte("-.@#", c) >= 0 }
	for i, c := range line {
		begin, end := i, i+1
		switch {
		case c == '=' || c == ':':
			if c == ':' && begin > 0 && line[begin-1] == '"' {
				begin--
				i--
			}
			for begin > 0 && (isLetter(line[begin-1]) || isDigit(line[begin-1])) {
				begin--
			}
			if begin == i || isDigit(line[begin]) {
				continue
			}
			for end < len(line) && strings.IndexByte(`" '`, line[end]) >= 0 {
				end++
			}
		case strings.IndexByte("[<(", c) < 0:
			continue
		}
		from := end
		for end < len(line) && (part(line[end]) || end > from && line[end] == ':' && addressEnd(line, from) > end) {
			end++
		}
		if end == from || end-from > maxLabel {
			continue
		}
		if begin < i {
			do(string(line[begin:i]), string(line[from:end]))
		} else if end < len(line) && strings.IndexByte("]>)", line[end]) >= 0 {
			brackets++
			do(fmt.Sprint("[", brackets), string(line[from:end]))
		}
	}
}

// learnRelayed returns the pattern of such a log, nil if the text is none. It has the lines of a pattern without peers.
func learnRelayed(text []byte, lines *Pattern) *Pattern {
	j := &relayed{lines: lines}
	type row struct {
		reports []report
		of      map[string]string
	}
	var rows []row
	count := map[string]int{}
	for _, line := range linesOf(text) {
		one := row{reports: j.reports(line), of: map[string]string{}}
		if len(one.reports) == 0 || len(rows) == 4*maxRows {
			continue
		}
		j.names(line, func(key, value string) {
			if _, ok := one.of[key]; !ok {
				count[key]++
			}
			one.of[key] = value
		})
		j.scoped = j.scoped || slices.ContainsFunc(one.reports, func(r report) bool { return r.scope != "" })
		rows = append(rows, one)
	}
	best := 0
	for _, key := range slices.Sorted(maps.Keys(count)) {
		rank := rankOf(key)
		if rank == 2 && !strings.ContainsFunc(rows[0].of[key], unicode.IsLetter) { // a name is better
			rank = 1
		}
		if rank <= best || count[key] < len(rows) || count[key] < 2*fewestAlike {
			continue
		}
		if rank < 4 && key != "file" && slices.ContainsFunc(rows, func(r row) bool { return hasPart(r.of[key], modules) }) {
			continue
		}
		peers := map[string]*reporter{}
		clashes, again := 0, 0
		for _, one := range rows {
			peer := peers[one.of[key]]
			if peer == nil {
				peer = &reporter{map[string]string{}, map[int]bool{}}
				peers[one.of[key]] = peer
			}
			for _, x := range one.reports {
				peer.forms[x.form] = true
				at := fmt.Sprint(x.scope, "\x00", fmt.Sprintf("%020d", x.tick))
				if old, ok := peer.sums[at]; ok && old != x.sum {
					clashes++
				} else if ok {
					again++
				}
				peer.sums[at] = x.sum
			}
		}
		// Threads and parts of a program are no peers, though they report equal checksums.
		if rank < 3 && (16*again > len(rows) || !areAlike(peers)) {
			continue
		}
		if 16*clashes <= len(rows) && arePeers(peers, rank < 3) {
			best, j.key = rank, key
		}
	}
	if best == 0 {
		return nil
	}
	r := &roster{relayed: j, scoped: j.scoped}
	t := r.template()
	t.roles.tickWord = lines.templates[0].roles.tickWord
	t.roles.points[0].sums[0].hex = lines.templates[0].roles.points[0].sums[0].hex
	return &Pattern{form: r, templates: []template{t}, peers: true}
}

// rankOf returns how well the name of a field fits a peer.
func rankOf(key string) int {
	switch meaning := vocabulary.Of(key); {
	case key == "file":
		return 2
	case meaning == vocabulary.Player:
		return 4
	case isWho(key):
		return 3
	case key[0] == '[':
		return 2
	case meaning == vocabulary.Other:
		return 1
	}
	return 0
}

// modules are words in brackets for parts of a program and levels of messages: two of them may report one checksum of a machine.
const modules = " trace debug info notice warn warning error verbose log main sim simulation net network sync game core engine lockstep " +
	"replay server client render thread worker rollback session relay state send recv "

// mostRelayed is how many peers such a log has at most.
const mostRelayed = 64

// reporter is what one value of a field reports: checksums by their ticks and scopes, and the forms of its lines.
type reporter struct {
	sums  map[string]string
	forms map[int]bool
}

// areAlike reports whether all reporters have lines of the same forms.
func areAlike(list map[string]*reporter) bool {
	for _, one := range list {
		for _, other := range list {
			if !maps.Equal(one.forms, other.forms) {
				return false
			}
		}
	}
	return true
}

// arePeers reports whether the values of a field may be peers: each has its own checksums for ticks of the others, and several
// are equal, until they differ for good. One of three may never be equal to another one. If often is set, each has half of the ticks that another one has while it reports.
func arePeers(peers map[string]*reporter, often bool) bool {
	if len(peers) < 2 || len(peers) > mostRelayed {
		return false
	}
	names := slices.Sorted(maps.Keys(peers))
	alike := map[string]bool{}
	ticks := map[string][]string{}
	guessed, sure := 0, false // pairs
	for i, a := range names {
		if isPhase(a) {
			return false
		}
		ticks[a] = slices.Sorted(maps.Keys(peers[a].sums))
		for _, b := range names[:i] {
			equal, common, differing, heals, differ := map[string]bool{}, 0, 0, 0, false
			for _, at := range ticks[a] {
				other, ok := peers[b].sums[at]
				if !ok {
					continue
				}
				common++
				same := peers[a].sums[at] == other
				if same {
					equal[other] = true
				}
				if same && differ {
					heals++
				}
				if differ = !same; differ {
					differing++
				}
			}
			if guesses(differing, heals) {
				guessed++
			} else if len(equal) >= fewestAlike {
				sure = true
			}
			enough := 8*common >= min(len(ticks[a]), len(ticks[b]))
			if often {
				enough = meet(ticks[a], ticks[b])
			}
			if len(equal) >= fewestAlike && enough {
				alike[a], alike[b] = true, true
			}
		}
	}
	if guessed > 0 && !sure { // each value is a guess of another one
		return false
	}
	return len(alike) == len(peers) || len(alike) > 1 && len(alike) == len(peers)-1 // one has other checksums from the start
}

// meet reports whether one of two sorted lists has half of the other's elements that are within its own.
func meet(a, b []string) bool {
	common := 0
	for _, at := range a {
		if _, ok := slices.BinarySearch(b, at); ok {
			common++
		}
	}
	return common > 0 && 2*common >= min(within(a, b), within(b, a))
}

// within returns how many elements of a sorted list are not outside of another one.
func within(list, other []string) int {
	from, _ := slices.BinarySearch(list, other[0])
	to, found := slices.BinarySearch(list, other[len(other)-1])
	if found {
		to++
	}
	return to - from
}
