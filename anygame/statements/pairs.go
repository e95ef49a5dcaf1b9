package statements

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// pair makes a statement of a message with one tick and the sums of two peers or more, and nothing else but words that
// belong to these. It needs no word for a desync. The sums may be equal: then the statement shows that the program
// writes such lines of all ticks.
func (m *message) pair() *statement {
	if len(m.ticks) != 1 || m.ticks[0].weak || oneOf(m.ticks[0].word, "time|round|loop") {
		return nil
	}
	hashed := false
	for i, u := range m.units {
		if u.kind == other || u.kind == word && !m.used[i] && !(nouns|roles|outcomes|pairing).has(u.text) {
			return nil
		}
		hashed = hashed || nouns.has(u.text) && !oneOf(u.text, "state|states|seed|seeds")
	}
	list := m.stated(0, len(m.units))
	numbered, judged := false, true // by numbers, by expected values
	for i, v := range list {
		alike := func(o stated) bool { return o.peer == v.peer }
		if v.peer == "" || slices.ContainsFunc(list[:i], alike) {
			return nil
		}
		numbered = numbered || v.role == ""
		judged = judged && outcomes.has(v.role)
	}
	values := claimed(list)
	if len(list) < 2 || !areSums(values, hashed) || judged && !hashed && m.ticks[0].word == "step" {
		return nil
	}
	s := &statement{text: m.text, tick: m.ticks[0].number, tickWord: m.ticks[0].word, values: values, by: writer(list...), pair: true}
	s.quoted = m.lead.chat || numbered // the sums of players may cover the things that each of them owns
	return s
}

// areSums reports whether values look like sums, all of one kind: long, and not numbers unless the message has a word
// for a sum.
func areSums(values []tracediff.ClaimedValue, hashed bool) bool {
	short, long := 1<<10, 0
	for _, v := range values {
		digits := strings.TrimPrefix(strings.TrimLeft(v.Value, "-"), "0x")
		if len(digits) < minSum || strings.Contains(digits, ".") || !hashed && digitsOnly(v.Value) {
			return false
		}
		short, long = min(short, len(digits)), max(long, len(digits))
	}
	return long-short < 4
}

// pairs are the statements of pairs in a text.
type pairs struct {
	equal bool // a pair of equal sums was read
	taken []taken
}

// taken is a pair that is a claim.
type taken struct {
	claim  int
	tick   uint64
	values []tracediff.ClaimedValue
}

const (
	// maxPairs is how many pairs become claims.
	maxPairs = 256
	// fewPairs is how many unequal pairs are believed where no pair is equal.
	fewPairs = 2
)

// take takes a pair, and reports whether it is a claim.
func (p *pairs) take(s *statement, claim int) bool {
	differ := func(v tracediff.ClaimedValue) bool { return !tracediff.EqualSums(v.Value, s.values[0].Value) }
	if !slices.ContainsFunc(s.values, differ) {
		p.equal = true
		return false
	}
	if len(p.taken) == maxPairs {
		return false
	}
	p.taken = append(p.taken, taken{claim, s.tick, s.values})
	return true
}

// judge decides about the claims of pairs. There is none if a sum of one peer is the sum of another peer on a line with
// another tick: then the sums on one line are of different ticks. Where all pairs of many differ, they may be of such
// sums, or of different things, and are only quoted.
func (p *pairs) judge(log *tracediff.ClaimLog) {
	late := false
	seen := map[string]taken{}
	for _, one := range p.taken {
		for i, v := range one.values {
			sum := strings.ToLower(v.Value)
			before, ok := seen[sum]
			late = late || ok && before.tick != one.tick && before.values[0].Peer != v.Peer
			seen[sum] = taken{tick: one.tick, values: one.values[i : i+1]}
		}
	}
	drop := map[int]bool{}
	for _, one := range p.taken {
		drop[one.claim] = late
		if !p.equal && len(p.taken) > fewPairs && one.claim < len(log.Claims) {
			log.Claims[one.claim].Quoted = true
		}
	}
	if !late {
		return
	}
	kept := log.Claims[:0]
	for i, c := range log.Claims {
		if !drop[i] {
			kept = append(kept, c)
		}
	}
	log.Claims = kept
}
