package survey

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// part is a part of a name: digits, or the text between digits.
type part struct {
	text   string
	digits bool
}

// partsOf splits a name into runs of digits and words.
func partsOf(base string) (out []part) {
	kind := func(c byte) int {
		switch {
		case c >= '0' && c <= '9':
			return 0
		case c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80:
			return 1
		}
		return 2
	}
	begin := 0
	for i := 1; i <= len(base); i++ {
		if i == len(base) || kind(base[i]) != kind(base[begin]) {
			out = append(out, part{base[begin:i], kind(base[begin]) == 0})
			begin = i
		}
	}
	return out
}

// shapeOf returns a name with # for each run of digits.
func shapeOf(base string) string {
	var out strings.Builder
	for _, p := range partsOf(base) {
		if p.digits {
			out.WriteByte('#')
		} else {
			out.WriteString(p.text)
		}
	}
	return out.String()
}

// plainName returns a name without how it is compressed, and without a tick that the page describes.
func plainName(d *description.Description, base string) string {
	base = compression.PlainName(base)
	if _, at, ok := inName(d, base, "tick"); ok {
		return base[:at[0]] + base[at[1]:]
	}
	return base
}

// pieces returns the parts of a name.
func (g *group) pieces(base string) []part { return partsOf(plainName(g.page, base)) }

// number returns a part as a number.
func (p part) number() (uint64, bool) {
	n, err := strconv.ParseUint(p.text, 10, 63)
	return n, p.digits && err == nil
}

// name decides for each group which parts of its names are the tick and the peer.
func (s *Survey) name() {
	for _, g := range s.order {
		g.findTick()
	}
	for _, folder := range s.byFolder() {
		inside := slices.ContainsFunc(folder, func(g *group) bool { return g.table != "" && g.tick < 0 && g.timed() })
		for _, g := range folder {
			if inside && g.table != "" {
				g.tick = -1 // the numbers in the names of the parts of one state are not ticks
			}
		}
		for len(folder) > 0 {
			table := folder[0].table
			var rest, same []*group
			for _, g := range folder {
				if g.table == table {
					same = append(same, g)
				} else {
					rest = append(rest, g)
				}
			}
			s.findPeers(same)
			folder = rest
		}
	}
	s.supposed()
}

// supposed adds a note if nothing but the names of given files shows ticks, and no two have the same one: then none are
// compared, and the numbers may be numbers of players or parts.
func (s *Survey) supposed() {
	of := map[uint64]string{} // the file of a tick
	for _, g := range s.order {
		if !g.given || g.tick < 0 || slices.ContainsFunc(g.samples, func(p sample) bool { return len(p.ticks) > 0 }) {
			return
		}
		for _, base := range g.bases {
			n, ok := g.tickOf(base)
			if !ok || of[n] != "" {
				return
			}
			of[n] = base
		}
	}
	if len(of) > 1 {
		ticks := slices.Sorted(maps.Keys(of))
		s.notes = append(s.notes, fmt.Sprintf("the numbers in the names are taken for ticks (%s is tick %d, %s tick %d), so these files are not compared; if they are of one tick, give names without numbers, or describe the names in a desynctool.toml",
			of[ticks[0]], ticks[0], of[ticks[1]], ticks[1]))
	}
}

// byFolder returns the groups of each folder that may belong together: those of one notation, or with the same numbers
// in their names.
func (s *Survey) byFolder() (out [][]*group) {
	for _, g := range s.order {
		i := slices.IndexFunc(out, func(list []*group) bool {
			return list[0].dir == g.dir && (list[0].notation.Name == g.notation.Name || list[0].sameNumbers(g))
		})
		if i < 0 {
			out = append(out, nil)
			i = len(out) - 1
		}
		out[i] = append(out[i], g)
	}
	return out
}

// sameNumbers reports whether several files of two groups have the same numbers in their names: globals-020.json, ents-020.csv
func (g *group) sameNumbers(other *group) bool {
	numbers := func(g *group) map[string]bool {
		out := map[string]bool{}
		for _, base := range g.bases {
			text := ""
			for _, p := range g.pieces(base) {
				if p.digits {
					text += p.text + " "
				}
			}
			out[text] = true
		}
		return out
	}
	if len(g.bases) < 2 || len(g.bases) != len(other.bases) {
		return false
	}
	mine := numbers(g)
	return len(mine) == len(g.bases) && maps.Equal(mine, numbers(other))
}

// findTick finds the number that is the tick: the one that is the tick in the files, or if these have none the one that
// has the most values.
func (g *group) findTick() {
	names := make([][]part, len(g.bases))
	for i, base := range g.bases {
		names[i] = g.pieces(base)
	}
	inside, several := false, false
	for _, p := range g.samples {
		inside = inside || len(p.ticks) > 0
		several = several || p.states > 1
	}
	if g.several = several; several || g.page != nil && g.page.Names("tick") {
		return
	}
	most := 0
	for i, p := range names[0] {
		if !p.digits {
			continue
		}
		if inside {
			if g.samplesAgree(i) {
				g.tick = i
				return
			}
			continue
		}
		values := map[uint64]bool{}
		for _, name := range names {
			if n, ok := name[i].number(); ok {
				values[n] = true
			}
		}
		if len(values) >= most {
			most, g.tick = len(values), i
		}
	}
	if i := dateIn(names); i >= 0 && !inside {
		g.tick, g.dated = i, true
	}
}

// findRows finds out whether all files are logs with the values of every tick, or tables with a row of them: a program writes them
// at the end of the tick. Others may be of the moment before a tick.
func (s *Survey) findRows() {
	hasRows := func(t states.FoundTable) bool { return t.HasRows() }
	skips := func(p sample) bool {
		return len(p.ticks) < 2 || 9*(p.ticks[len(p.ticks)-1]-p.ticks[0]) > 10*uint64(len(p.ticks))
	}
	if slices.ContainsFunc(s.order, func(g *group) bool {
		table := g.notation.Name == "csv" && g.several && !slices.ContainsFunc(g.found.Tables, hasRows)
		return !table && g.notation.Name != notation.OfSections || slices.ContainsFunc(g.samples, skips)
	}) {
		return
	}
	for _, g := range s.order {
		g.rows = true
	}
}

// dateIn returns where all names have a date of the game's calendar, 1871.10.12, if no other number of them varies; -1 if they
// have none. Numbers that do not vary are no date.
func dateIn(names [][]part) int {
	vary := func(i int) bool {
		return slices.ContainsFunc(names, func(name []part) bool { return i < len(name) && name[i].text != names[0][i].text })
	}
	for i := 0; i+4 < len(names[0]); i++ {
		mark := names[0][i+1].text
		is := func(name []part) bool {
			if len(name) <= i+4 || name[i+1].text != mark || name[i+3].text != mark {
				return false
			}
			year, a := name[i].number()
			month, b := name[i+2].number()
			day, c := name[i+4].number()
			return a && b && c && year > 0 && year < 1e4 && month-1 < 12 && day-1 < 31
		}
		if len(mark) != 1 || !strings.Contains(".-_", mark) || slices.ContainsFunc(names, func(name []part) bool { return !is(name) }) {
			continue
		}
		for k, p := range names[0] {
			if other := k < i || k > i+4; other && p.digits && vary(k) {
				return -1
			}
		}
		if vary(i) && vary(i+2) || vary(i+2) && vary(i+4) {
			return i
		}
	}
	return -1
}

// inTick reports whether a part of the names belongs to the tick.
func (g *group) inTick(i int) bool {
	return g.tick >= 0 && (i == g.tick || g.dated && (i == g.tick+2 || i == g.tick+4))
}

// samplesAgree reports whether a number in the names is the tick in all files that could be read.
func (g *group) samplesAgree(i int) bool {
	return !slices.ContainsFunc(g.samples, func(p sample) bool {
		n, ok := g.pieces(p.base)[i].number()
		return !p.damaged && (!ok || len(p.ticks) != 1 || p.ticks[0] != n)
	})
}

// onlyTable returns the table of all files from their names, for files that are one list of rows: the words that do not
// vary and are not words for ticks and states. It is empty if there is none, or folders show different ones.
func (s *Survey) onlyTable() (name string) {
	for _, folder := range s.byFolder() {
		own := ""
		for i, word := range folder[0].words(folder[0].bases[0]) {
			number := strings.TrimLeft(word, "0123456789") != word
			if word == "" || number || varies(folder, i) || generic(word) || i == len(folder[0].words(folder[0].bases[0]))-1 { // the extension
				continue
			}
			own = strings.TrimPrefix(own+"_"+word, "_")
		}
		if own == "" || name != "" && own != name {
			return ""
		}
		name = own
	}
	return name
}

// generic reports whether a word of a name does not show what is in a file.
func generic(word string) bool {
	return vocabulary.Of(word) == vocabulary.Tick || states.NamesState(word)
}

// findPeers finds the parts of the names of one folder that show the peer, if there are two files of one tick, or of none.
func (s *Survey) findPeers(groups []*group) {
	if p := groups[0].page; p != nil && p.Names("peer") {
		return
	}
	if slices.ContainsFunc(groups, func(g *group) bool {
		return slices.ContainsFunc(g.samples, func(p sample) bool { return p.peers })
	}) {
		inside := map[string]bool{}
		for _, g := range groups {
			for _, p := range g.samples {
				inside[p.peer] = true
			}
		}
		for _, g := range groups {
			g.mixed = len(inside) > 1
		}
		return
	}
	seen := map[string]bool{}
	twice := false
	for _, g := range groups {
		// Where other folders have such files, only ticks that were seen show that one has those of several peers.
		known := g.showsTicks() && slices.ContainsFunc(s.order, func(o *group) bool { return o.dir != g.dir && o.shape == g.shape })
		for _, base := range g.bases {
			at := ""
			if n, ok := g.tickOf(base); ok {
				at = strconv.FormatUint(n, 10)
			} else if i := slices.IndexFunc(g.samples, func(p sample) bool { return p.base == base && len(p.ticks) == 1 }); i >= 0 {
				at = strconv.FormatUint(g.samples[i].ticks[0], 10)
			} else if known {
				continue
			}
			twice = twice || seen[at]
			seen[at] = true
		}
	}
	if !twice {
		return
	}
	var names [][]string
	for _, g := range groups {
		for _, base := range g.bases {
			names = append(names, g.words(base))
		}
	}
	most, fewest, ends := lengths(names)
	var varying []int
	for i := range most {
		if varies(groups, i) {
			varying = append(varying, i)
		}
	}
	named := varying // without words that end some name
	if i := slices.IndexFunc(varying, func(i int) bool { return i >= fewest-ends }); i > 0 {
		named = varying[:i]
	}
	if one := onePart(groups, named); one >= 0 {
		varying = wholeName(groups, varying, one)
	}
	for _, g := range groups {
		g.peer = g.withRole(varying)
		if end := len(g.words(g.bases[0])) - ends; len(varying) > 0 && varying[0] < end {
			g.peer = slices.DeleteFunc(slices.Clone(g.peer), func(i int) bool { return i >= end })
		}
	}
}

// lengths returns how many words names have, and how many words at their ends do not belong to peers if some names have more
// words than others: those that all names have, and the extension.
func lengths(names [][]string) (most, fewest, ends int) {
	fewest = len(names[0])
	for _, name := range names {
		most, fewest = max(most, len(name)), min(fewest, len(name))
	}
	if most == fewest {
		return most, fewest, 0
	}
	word := func(name []string) string { return name[len(name)-1-ends] }
	for ends < fewest && !slices.ContainsFunc(names, func(name []string) bool { return word(name) != word(names[0]) }) {
		ends++
	}
	return most, fewest, max(ends, 1)
}

// wholeName returns the word that shows the peer and those of the words right after it that vary with it, without digits: Dave
// in Big_Dave.yml, next to Tor.yml.
func wholeName(groups []*group, varying []int, one int) []int {
	out := []int{one}
	for next := one + 1; slices.Contains(varying, next); next++ {
		of := map[string]string{}
		for _, g := range groups {
			for _, base := range g.bases {
				first, word := g.word(base, one), g.word(base, next)
				if before, known := of[first]; known && before != word || strings.ContainsAny(word, "0123456789") {
					return out
				}
				of[first] = word
			}
		}
		out = append(out, next)
	}
	return out
}

// withRole adds the word before the number of a peer if it is one for peers, peer_1, and before a letter if it has a meaning:
// seller_a.
func (g *group) withRole(peer []int) []int {
	if len(peer) != 1 || peer[0] == 0 {
		return peer
	}
	name, before := g.word(g.bases[0], peer[0]), g.word(g.bases[0], peer[0]-1)
	number := strings.Trim(name, "0123456789") == ""
	if number && vocabulary.Of(before) == vocabulary.Player || !number && len(name) == 1 && len(before) > 2 && !generic(before) && !strings.ContainsAny(before, "0123456789") {
		return []int{peer[0] - 1, peer[0]}
	}
	return peer
}

// words returns the words of a name, which may have digits, without the number that is the tick.
func (g *group) words(base string) (out []string) {
	parts := g.pieces(base)
	for i, word := range numbered(parts) {
		if word == len(out) {
			out = append(out, "")
		}
		if word >= 0 && !g.inTick(i) {
			out[word] += parts[i].text
		}
	}
	return out
}

// numbered returns for each part of a name the number of its word, -1 for text between words.
func numbered(parts []part) []int {
	out, word, open := make([]int, len(parts)), -1, false
	for i, p := range parts {
		if !p.digits && !isWord(p.text) {
			out[i], open = -1, false
			continue
		}
		if !open {
			word++
			open = true
		}
		out[i] = word
	}
	return out
}

func isWord(text string) bool {
	c := text[0]
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
}

// word returns a word of a name, empty if it has fewer.
func (g *group) word(base string, i int) string {
	if words := g.words(base); i < len(words) {
		return words[i]
	}
	return ""
}

// onePart returns the word of the names that shows the peer by itself, -1 if none does: no two files with the same word
// belong to one tick. If several words do, it returns the one with the fewest values.
func onePart(groups []*group, varying []int) int {
	best, fewest := -1, 0
	for _, i := range varying {
		ticks := map[string]map[uint64]bool{}
		twice := false
		for _, g := range groups {
			for _, p := range g.samples {
				tick, ok := g.tickOf(p.base)
				if !ok && len(p.ticks) == 1 {
					tick = p.ticks[0]
				}
				word := g.word(p.base, i)
				if ticks[word] == nil {
					ticks[word] = map[uint64]bool{}
				}
				twice = twice || ticks[word][tick]
				ticks[word][tick] = true
			}
		}
		if !twice && len(ticks) > 1 && (best < 0 || len(ticks) < fewest) {
			best, fewest = i, len(ticks)
		}
	}
	return best
}

// varies reports whether a word of the names in a folder has several values.
func varies(groups []*group, i int) bool {
	first := groups[0].word(groups[0].bases[0], i)
	return slices.ContainsFunc(groups, func(g *group) bool {
		return slices.ContainsFunc(g.bases, func(base string) bool { return g.word(base, i) != first })
	})
}

// peerOf returns the peer that a name shows, empty if it shows none: the words that vary.
func (g *group) peerOf(base string) string {
	if peer, _, ok := inName(g.page, compression.PlainName(base), "peer"); ok {
		return peer
	}
	out, gap := "", "" // between two words
	parts := g.pieces(base)
	for i, word := range numbered(parts) {
		switch {
		case word >= 0 && slices.Contains(g.peer, word) && !g.inTick(i):
			out, gap = out+gap+parts[i].text, ""
		case out != "" && gap == "" && word < 0:
			gap = parts[i].text
		case out != "":
			gap = "_"
		}
	}
	return out
}

// tickOf returns the tick that a name shows.
func (g *group) tickOf(base string) (uint64, bool) {
	if tick, _, ok := inName(g.page, compression.PlainName(base), "tick"); ok && !g.several {
		return description.TickOf([]byte(tick))
	}
	if g.tick < 0 {
		return 0, false
	}
	parts := g.pieces(base)
	n, ok := parts[g.tick].number()
	if !g.dated || !ok {
		return n, ok
	}
	month, a := parts[g.tick+2].number()
	day, b := parts[g.tick+4].number()
	return (12*n+month-1)*31 + day - 1, a && b // months of games may have any number of days
}

// pointOf returns the state point that a name shows.
func (g *group) pointOf(base string) (p snapshot.Point, ok bool) {
	if p.Tick, ok = g.tickOf(base); ok && g.dated {
		for _, part := range g.pieces(base)[g.tick : g.tick+5] {
			p.Native += part.text
		}
	}
	return p, ok
}
