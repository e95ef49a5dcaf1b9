package statements

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/tracediff"
)

// The values of a post may be on lines that are apart from each other:
//
//	Expected SHA-256:            worker-1                   Member 2(ada) votes on c0de:419,5f3a91c7
//	5f3a91c7…                    5f3a91c7  disk.img         Member 1(bob) votes on c0de:419,77e01f3b
//	Actual SHA-256:              worker-2
//	77e01f3b…                    77e01f3b  disk.img

// maxApart is how many lines are between two of them at most.
const maxApart = 24

// owned is a value on a line, and its owner.
type owned struct {
	owner string
	of    string // what it is
	value string
	line  int    // in p.lines
	label string // of another line
}

// spread finds values of several owners that are on lines apart from each other.
func (p *post) spread() {
	for _, read := range []func() []owned{p.listed, p.alike, p.headed, p.viewed, p.tables, p.twins} {
		if p.match(read()); len(p.found) > 0 {
			return
		}
	}
}

// match makes claims of values of one thing that differ between owners. An owner with two values of a thing makes none of it.
func (p *post) match(list []owned) {
	var things []string
	for _, v := range list {
		if !slices.Contains(things, v.of) {
			things = append(things, v.of)
		}
	}
	for _, of := range things[:min(len(things), maxContext)] {
		var values []tracediff.ClaimedValue
		var texts []string
		differ, first, last := false, -1, 0
		for _, v := range list {
			if v.of != of || first >= 0 && v.line-last > maxApart {
				continue
			}
			isOwn := func(o tracediff.ClaimedValue) bool { return o.Peer == v.owner }
			if i := slices.IndexFunc(values, isOwn); i >= 0 {
				if !sameStart(values[i].Value, v.value) {
					values = nil
					break
				}
				continue
			}
			if len(values) > 0 {
				differ = differ || !sameStart(values[0].Value, v.value)
			} else {
				first = v.line
			}
			if len(values) == 0 || v.line > last {
				texts = append(texts, strings.TrimSpace(v.label+" "+cmp.Or(p.lines[v.line].text, p.lines[v.line].raw)))
			}
			last = v.line
			values = append(values, tracediff.ClaimedValue{Peer: v.owner, Value: v.value})
		}
		if len(values) < 2 || !differ || len(p.found) == mostTold {
			continue
		}
		s := &statement{text: strings.Join(texts, " "), values: values, of: strings.TrimPrefix(of, " ")}
		if s.of != of { // the words around the value, and no name
			s.of = ""
		}
		if s.tick, s.tickWord = p.tickAbove(first); s.tickWord == "" {
			s.tick, s.tickWord = p.tickAbove(last)
		}
		isTick := func(v tracediff.ClaimedValue) bool { return v.Value == strconv.FormatUint(s.tick, 10) }
		if slices.ContainsFunc(values, isTick) { // that differs
			s.tickWord = ""
		}
		p.claim(&p.found, &p.lines[first], s)
	}
}

// sameStart reports whether two values are equal as far as both are there: one of them may be cut.
func sameStart(a, b string) bool {
	n := min(len(a), len(b))
	return tracediff.EqualSums(a, b) || n >= minSum && strings.EqualFold(a[:n], b[:n])
}

// listed returns the checksums of files in lists below the names of their owners, as tools for checksums write them.
func (p *post) listed() (out []owned) {
	owner := ""
	for i := range p.lines {
		l := &p.lines[i]
		switch n := len(l.units); {
		case n == 0:
		case n > 1 && l.units[0].kind == sum && len(l.units[0].text) >= minListed:
			name := strings.TrimLeft(l.text[l.units[0].end:], " *")
			if owner != "" && name != "" && len(name) <= maxThing && !strings.Contains(name, " ") {
				out = append(out, owned{owner, name, l.units[0].text, i, owner + ":"})
			}
		default:
			if name := strings.TrimSuffix(l.head+l.text, ":"); n <= 4 && isOwner(name) {
				owner = name
			}
		}
	}
	return out
}

// minListed is how many digits a checksum in such a list has at least: CRC-32.
const minListed = 8

// isOwner reports whether a line is only the name of a machine: worker-1, Client A, host.
func isOwner(name string) bool {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return strings.ContainsRune(" -_.#", r) })
	if len(words) == 0 || len(words) > 2 || len(words) == 2 && len(words[1]) > maxNumber {
		return false
	}
	return peerNouns.has(words[0]) || roles.has(words[0]) || oneOf(words[0], replicas)
}

// replicas are other words for one of several machines with the same data.
const replicas = "replica|worker|member|validator|shard|instance|peer|pod|server"

// alike returns the sums on lines that are equal except for their owner and their sum: votes, reports.
func (p *post) alike() (out []owned) {
	for i := range p.lines {
		l := &p.lines[i]
		k := slices.IndexFunc(l.units, func(u unit) bool { return u.kind == word && (peerNouns.has(u.text) || oneOf(u.text, replicas)) })
		if k < 0 || k > maxLabel {
			continue
		}
		owner, end := l.numbered(k)
		at := 0
		isSum := func(u unit) bool {
			return u.start >= end && (u.kind == sum && len(u.text) >= minListed || u.kind == number && len(u.text) >= minKeyed)
		}
		for at < len(l.units) && !(isSum(l.units[at]) && l.isValue(at)) {
			at++
		}
		if owner == "" || at == len(l.units) {
			continue
		}
		ofState := l.near(nouns, k, at) || l.wordAt("vote|votes") > k
		if words := strings.TrimSpace(aside.ReplaceAllString(l.text[end:l.units[at].start], "")); len(strings.Fields(words)) > 1 && ofState && !l.near(stored|elsewhere, k, at) {
			out = append(out, owned{owner, " " + words, l.units[at].text, i, ""})
		}
	}
	return out
}

// aside finds the parentheses right behind the name of an owner: Replica 2 (view=31) commits.
var aside = lazyregexp.New(`^ *\([^()]*\)`)

// votes keeps the sums of things if three owners or more have one, and some of them the same.
func votes(list []owned) (out []owned) {
	for _, v := range list {
		owners, values := map[string]bool{}, map[string]bool{}
		for _, o := range list {
			if o.of == v.of {
				owners[o.owner], values[o.value] = true, true
			}
		}
		if len(owners) > 2 && len(values) > 1 && len(values) < len(owners) {
			out = append(out, v)
		}
	}
	return out
}

// numbered returns the owner that a word and a number name, and the place behind it: Member 2(ada) is ada.
func (m *message) numbered(k int) (owner string, end int) {
	if k+1 >= len(m.units) || m.units[k+1].kind != number {
		return "", 0
	}
	end = m.units[k+1].end
	owner = m.text[m.units[k].start:end]
	if rest := m.text[end:]; strings.HasPrefix(rest, "(") {
		if name, _, ok := strings.Cut(rest[1:], ")"); ok && name != "" && len(name) < 64 && !strings.Contains(name, " ") {
			return name, end + len(name) + 2
		}
	}
	return owner, end
}

// headed returns the sums that have a line for themselves, below or behind a label for one of two values.
func (p *post) headed() (out []owned) {
	isDownload := func(l postLine) bool {
		return l.wordAt("download|downloads|downloading|downloaded|tarball|installer|pip|npm|homebrew") >= 0
	}
	if slices.ContainsFunc(p.lines, isDownload) {
		return nil
	}
	label, at := "", 0
	for i := range p.lines {
		l := &p.lines[i]
		switch n := len(l.units); {
		case n == 0:
		case label != "" && i-at < 4 && l.units[0].kind == sum && len(l.units[0].text) >= minListed && l.isCut(1):
			out, label = append(out, owned{called(label), " sum", l.units[0].text, i, p.lines[at].text}), ""
		default:
			label, at = "", i
			w := l.units[0]
			digested := l.has(nouns) || l.wordAt("sha|sha256|sha512|fingerprint") >= 0
			colon := slices.IndexFunc(l.units, func(u unit) bool { return u.text == ":" && u.kind == mark })
			if text := strings.TrimSpace(l.text[w.end:]); w.kind == word && outcomes.has(w.text) && isQuoted(strings.TrimLeft(text, " :")) && text[0] == ':' {
				out = append(out, owned{called(w.text), " text", strings.Trim(text, " :\""), i, ""}) // that a test compared
				continue
			}
			if w.kind != word || !outcomes.has(w.text) || !digested || l.wordAt("commit|version|revision") >= 0 || colon < 0 || colon > maxNaming {
				continue
			}
			if v := colon + 1; v == n {
				label = w.text
			} else if u := l.units[v]; u.kind == sum && len(u.text) >= minListed && l.isCut(v+1) {
				out = append(out, owned{called(w.text), " sum", u.text, i, ""})
			}
		}
	}
	return out
}

// isQuoted reports whether a text is between quotes, and long enough to be a state.
func isQuoted(text string) bool {
	return len(text) >= minQuoted && len(text) <= maxCompared && text[0] == '"' && text[len(text)-1] == '"'
}

// minQuoted is how many bytes such a text has at least, with its quotes.
const minQuoted = 8

// isCut reports whether nothing but marks is behind a unit, as behind a checksum that a person cut.
func (m *message) isCut(from int) bool {
	return !slices.ContainsFunc(m.units[from:], func(u unit) bool { return u.kind != mark && u.text != "\u2026" })
}

// friends are words for the other player.
const friends = "friend|opponent|partner|host|client|server|brother|teammate|guest"
