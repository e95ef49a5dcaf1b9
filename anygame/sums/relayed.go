package sums

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
)

// relayed is the form of the only log of a session in which all peers report their checksums, in any order. A field or a word in
// brackets, anywhere on the line, names the peer:
//
//	relay[2217]: msg="state report" conn=6268 peer=kofi step=64 sum=68dc7b7ba772 rtt=157
//	03:14:15 node=zone_a@10.0.0.4 [debug] beat=12 phash2=96927923
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
	hex        bool
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
					out = append(out, report{tick, scope, string(r.matched.values[s.slot]), s.hex})
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
	fields(line, func(key, value string) {
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

// fields gives the fields of a line, node=zone_a, and its words in brackets.
func fields(line []byte, do func(key, value string)) {
	brackets := 0
	line = line[:min(len(line), maxLine)]
	part := func(c byte) bool { return isLetter(c) || isDigit(c) || strings.IndexByte("-.@#", c) >= 0 }
	for i, c := range line {
		begin, end := i, i+1
		switch {
		case c == '=' || c == ':':
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
		for end < len(line) && part(line[end]) {
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
		fields(line, func(key, value string) {
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
		if count[key] < len(rows) || count[key] < 2*fewestAlike {
			continue
		}
		if rankOf(key) < 4 && slices.ContainsFunc(rows, func(r row) bool { return hasPart(r.of[key], modules) }) {
			continue
		}
		peers := map[string]map[string]string{} // of each value the checksums by their ticks and scopes
		clashes := 0
		for _, one := range rows {
			value := one.of[key]
			if peers[value] == nil {
				peers[value] = map[string]string{}
			}
			for _, x := range one.reports {
				at := fmt.Sprint(x.scope, "\x00", fmt.Sprintf("%020d", x.tick))
				if old, ok := peers[value][at]; ok && old != x.sum {
					clashes++
				}
				peers[value][at] = x.sum
			}
		}
		if rank := rankOf(key); rank > best && 16*clashes <= len(rows) && arePeers(peers) {
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

// arePeers reports whether the values of a field may be peers: each has its own checksums for ticks of the others, and several
// are equal, until they differ for good.
func arePeers(peers map[string]map[string]string) bool {
	if len(peers) < 2 || len(peers) > mostRelayed {
		return false
	}
	names := slices.Sorted(maps.Keys(peers))
	alike := map[string]bool{}
	for i, a := range names {
		if isPhase(a) {
			return false
		}
		for _, b := range names[:i] {
			equal, common, differing, heals, differ := map[string]bool{}, 0, 0, 0, false
			for _, at := range slices.Sorted(maps.Keys(peers[a])) {
				other, ok := peers[b][at]
				if !ok {
					continue
				}
				common++
				same := peers[a][at] == other
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
				return false
			}
			if len(equal) >= fewestAlike && 8*common >= min(len(peers[a]), len(peers[b])) {
				alike[a], alike[b] = true, true
			}
		}
	}
	return len(alike) == len(peers)
}
