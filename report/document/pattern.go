package document

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// Pattern is what the differing values of a column have in common: snapshot.Pattern with the names of the peers.
type Pattern struct {
	Kind snapshot.PatternKind `json:"kind"`
	// Rows counts the values for which the pattern holds.
	Rows uint64 `json:"rows"`
	// Peer is the peer that an absent, same or zero pattern is about.
	Peer string `json:"peer,omitempty"`
	// Values are the values of the peers that have the same value in all rows.
	Values map[string]string `json:"values,omitempty"`
	// Range is the lowest and the highest value of each peer, if all values are numbers.
	Range map[string][2]string `json:"range,omitempty"`
	// Differences are the lowest and the highest difference of the second peer's value to the first peer's.
	Differences *[2]string `json:"differences,omitempty"`
	// Factor is the second peer's value divided by the first peer's.
	Factor string     `json:"factor,omitempty"`
	Bit    *int       `json:"bit,omitempty"`
	ULP    *[2]uint64 `json:"ulp,omitempty"`
}

// PatternOf returns the pattern of a column, nil for a single value; names are the peers' names.
func PatternOf(t *snapshot.Tally, names [2]string) *Pattern {
	if t.Rows < 2 {
		return nil
	}
	p := t.Pattern()
	out := &Pattern{Kind: p.Kind, Rows: p.Rows, Factor: p.Factor}
	for i, name := range names {
		if p.Values[i] != "" {
			out.Values = set(out.Values, name, p.Values[i])
		}
		if p.Low[i] != "" {
			out.Range = set(out.Range, name, [2]string{p.Low[i], p.High[i]})
		}
	}
	switch p.Kind {
	case snapshot.PatternAbsent, snapshot.PatternSame, snapshot.PatternZero, snapshot.PatternStale:
		out.Peer = names[p.Side]
	case snapshot.PatternBit:
		out.Bit = &p.Bit
	}
	if p.Least != "" && p.Most != "" {
		out.Differences = &[2]string{p.Least, p.Most}
	}
	if p.ULP != [2]uint64{} {
		out.ULP = &p.ULP
	}
	return out
}

func set[V any](m map[string]V, key string, value V) map[string]V {
	if m == nil {
		m = map[string]V{}
	}
	m[key] = value
	return m
}

// Text describes a pattern of a number of values: "0 on client in all, 1 to 221 on host". It is empty if there is no
// pattern.
func (p *Pattern) Text(peers [2]string, values uint64) string {
	if p == nil {
		return ""
	}
	all := fmt.Sprintf(" in %d of %d", p.Rows, values)
	if p.Rows == values {
		all = " in all"
	}
	b := " on " + prose.Name(peers[1])
	switch p.Kind {
	case snapshot.PatternAbsent:
		return "missing on " + prose.Name(p.Peer) + all
	case snapshot.PatternSame, snapshot.PatternZero:
		text, other := p.constant(peers)
		if other != "" {
			all += ", " + other
		}
		return text + all
	case snapshot.PatternStale:
		return "stale by one tick on " + prose.Name(p.Peer) + all
	case snapshot.PatternOffset:
		return moreOrLess(p.Differences[0]) + b + all
	case snapshot.PatternNegated:
		return "the other sign" + b + all
	case snapshot.PatternFactor:
		return p.times(peers) + all
	case snapshot.PatternSwapped:
		return "swapped in pairs"
	case snapshot.PatternPermuted:
		return "the same values, in other rows"
	case snapshot.PatternBit:
		return fmt.Sprintf("bit %d differs%s", *p.Bit, all)
	case snapshot.PatternOneBit:
		return "one bit differs in each"
	case snapshot.PatternULP:
		return p.ulps() + " apart" + all
	case snapshot.PatternTotal:
		return "the same total, " + p.bothWays(peers)
	case snapshot.PatternHigher:
		return "higher" + b + all + p.by()
	case snapshot.PatternLower:
		return "lower" + b + all + p.by()
	}
	return p.bothWays(peers)
}

// bothWays describes the differences of values that differ up and down, "" if they are not numbers.
func (p *Pattern) bothWays(peers [2]string) string {
	if d := p.Differences; d != nil {
		return moreOrLess(d[0]) + " to " + moreOrLess(d[1]) + " on " + prose.Name(peers[1])
	}
	return ""
}

// Clause describes a pattern of several values as the predicate of their field: "is 0 on client for 634 entities (1 to
// 221 on host)". Of is what the field belongs to.
func (p *Pattern) Clause(peers [2]string, values uint64, of string) string {
	if p == nil {
		return "differs for " + of
	}
	all := " for " + of
	if p.Rows < values {
		all = fmt.Sprintf(" for %d of %s", p.Rows, of)
	}
	b := " on " + prose.Name(peers[1])
	switch p.Kind {
	case snapshot.PatternAbsent:
		return "is missing on " + prose.Name(p.Peer) + all
	case snapshot.PatternSame, snapshot.PatternZero:
		text, other := p.constant(peers)
		if other != "" {
			all += " (" + other + ")"
		}
		return "is " + text + all
	case snapshot.PatternStale:
		return "is stale by one tick on " + prose.Name(p.Peer) + all
	case snapshot.PatternOffset:
		return "is " + moreOrLess(p.Differences[0]) + b + all
	case snapshot.PatternNegated:
		return "has the other sign" + b + all
	case snapshot.PatternFactor:
		return "is " + p.times(peers) + all
	case snapshot.PatternSwapped:
		return "is swapped in pairs among " + of
	case snapshot.PatternPermuted:
		return "has the same values, in other rows," + all
	case snapshot.PatternBit:
		return fmt.Sprintf("differs in bit %d%s", *p.Bit, all)
	case snapshot.PatternOneBit:
		return "differs in one bit each" + all
	case snapshot.PatternULP:
		return "differs by " + p.ulps() + all
	case snapshot.PatternTotal:
		return "differs" + all + ", with the same total on both"
	case snapshot.PatternHigher:
		return "is higher" + b + all + p.by()
	case snapshot.PatternLower:
		return "is lower" + b + all + p.by()
	}
	if text := p.bothWays(peers); text != "" {
		all += " (" + text + ")"
	}
	return "differs" + all
}

// times describes a factor.
func (p *Pattern) times(peers [2]string) string {
	factor := p.Factor
	if !strings.Contains(factor, "/") {
		factor += " times"
	}
	return factor + " as much on " + prose.Name(peers[1]) + " as on " + prose.Name(peers[0])
}

func (p *Pattern) ulps() string {
	if p.ULP[1] == 1 {
		return "1 ulp"
	}
	return span(fmt.Sprint(p.ULP[0]), fmt.Sprint(p.ULP[1])) + " ulps"
}

// constant describes the value that one peer has in all or most rows, and the values of the other peer. Other is part of
// the first text if both have one value each.
func (p *Pattern) constant(peers [2]string) (text, other string) {
	value := func(peer string) string {
		if v, ok := p.Values[peer]; ok {
			return prose.Shorten(Safe(v), 28)
		}
		return "0"
	}
	rest := peers[0]
	if p.Peer == rest {
		rest = peers[1]
	}
	text = value(p.Peer) + " on " + prose.Name(p.Peer)
	if p.Values[rest] != "" {
		return text + " and " + value(rest) + " on " + prose.Name(rest), ""
	}
	if r, ok := p.Range[rest]; ok {
		other = span(rounded(r[0]), rounded(r[1])) + " on " + prose.Name(rest)
	}
	return text, other
}

// by describes the differences, the smaller first.
func (p *Pattern) by() string {
	if p.Differences == nil {
		return ""
	}
	least, most := strings.TrimLeft(p.Differences[0], "+-"), strings.TrimLeft(p.Differences[1], "+-")
	if p.Kind == snapshot.PatternLower {
		least, most = most, least
	}
	return ", by " + span(rounded(least), rounded(most))
}

// rounded returns a number with at most six digits if it is longer.
func rounded(number string) string {
	if len(number) <= 12 {
		return number
	}
	f, err := strconv.ParseFloat(number, 64)
	if err != nil {
		return number
	}
	return strconv.FormatFloat(f, 'g', 6, 64)
}

// moreOrLess turns a difference into words: "+7" into "7 more".
func moreOrLess(difference string) string {
	if n, ok := strings.CutPrefix(difference, "-"); ok {
		return rounded(n) + " less"
	}
	return rounded(strings.TrimPrefix(difference, "+")) + " more"
}

func span(low, high string) string {
	if low == high {
		return low
	}
	return low + " to " + high
}

// FieldSummary sums up a field over all archetypes.
type FieldSummary struct {
	Component string `json:"component"`
	Field     string `json:"field"`
	Cache     bool   `json:"cache,omitempty"`
	// Archetypes are those in which it differs, in the order of Compared.Columns.
	Archetypes []string `json:"archetypes"`
	// Values counts the values that differ. Lists is set if some of them are in lists, so that several may belong to one
	// entity.
	Values uint64 `json:"values"`
	// Of counts the rows of these archetypes that both sides have; 0 if a state is known only in part.
	Of      uint64   `json:"of,omitempty"`
	Lists   bool     `json:"lists,omitempty"`
	Pattern *Pattern `json:"pattern,omitempty"`
}

// Summarize sums up each field over all archetypes: the field with most values first, after all others
// checksums, those of which one side has no values, and caches.
func Summarize(tables []*snapshot.TableDiff, names [2]string) []FieldSummary {
	type field struct {
		component, field string
		cache            bool
	}
	index := map[field]int{}
	out := []FieldSummary{}
	var tallies []snapshot.Tally
	for _, t := range tables {
		for i := range t.Columns {
			col := &t.Columns[i]
			f := field{col.Component, col.Field, t.Class == snapshot.Cache}
			n, ok := index[f]
			if !ok {
				n = len(out)
				index[f] = n
				out = append(out, FieldSummary{Component: f.component, Field: f.field, Cache: f.cache})
				tallies = append(tallies, snapshot.Tally{})
			}
			out[n].Archetypes = append(out[n].Archetypes, t.Label)
			out[n].Values += col.Rows
			out[n].Of += col.Both
			out[n].Lists = out[n].Lists || len(t.Changes) > 0 && t.Changes[0].Key.Two
			tallies[n].Merge(&col.Tally)
		}
	}
	for i := range out {
		out[i].Pattern = PatternOf(&tallies[i], names)
	}
	last := func(f FieldSummary) int {
		switch {
		case f.Cache:
			return 3
		case f.Lacking():
			return 2
		case vocabulary.Of(f.Field) == vocabulary.Sum:
			return 1
		}
		return 0
	}
	lists.SortStable(out, func(a, b FieldSummary) int {
		return cmp.Or(last(a)-last(b), cmp.Compare(b.Values, a.Values))
	})
	return out
}

// Summed returns the fields, none if each has only one value that differs.
func (k *Compared) Summed() []FieldSummary {
	if slices.ContainsFunc(k.Summary, func(f FieldSummary) bool { return f.Values > 1 }) {
		return k.Summary
	}
	return nil
}

// Name returns Component.Field as shown to people.
func (s *FieldSummary) Name() string {
	component := s.Component
	if len(s.Archetypes) == 1 && strings.HasSuffix(s.Archetypes[0], "."+component) {
		component = s.Archetypes[0]
	}
	name := prose.Name(strings.Trim(component+"."+s.Field, "."))
	if s.Cache {
		name = "cache " + name
	}
	return name
}

// Clause describes how the field differs, as a part of a sentence: "Weapon.ready is 0 on client for 634 entities of 20
// archetypes (1 to 221 on host)". Kind is the kind of all entities, empty if they have several kinds.
func (s *FieldSummary) Clause(peers [2]string, kind string) string {
	if kind == "" && len(s.Archetypes) == 1 {
		kind = LabelName(s.Archetypes[0])
	}
	n, some := s.Values, ""
	if s.Of >= n && (s.Pattern == nil || s.Pattern.Rows == n) {
		if n, some = s.Of, fmt.Sprintf("%d of ", n); s.Of == s.Values && n > 1 {
			some = "all "
		}
	}
	var of string
	switch {
	case s.Lists && kind != "":
		of = prose.Count(n, "value", "values") + " of " + kind
	case kind != "":
		of = CountEntities(kind, n)
	case s.Lists:
		of = fmt.Sprintf("%d values of %d archetypes", n, len(s.Archetypes))
	default:
		of = fmt.Sprintf("%d entities of %d archetypes", n, len(s.Archetypes))
	}
	of = some + of
	return s.Name() + " " + s.Pattern.Clause(peers, s.Values, of)
}

// Lacking reports whether one side has no values.
func (s *FieldSummary) Lacking() bool {
	return s.Pattern != nil && s.Pattern.Kind == snapshot.PatternAbsent
}

// Where names the archetypes: the first, and how many more there are.
func (s *FieldSummary) Where(most int) string {
	return prose.FirstOf(lists.Map(s.Archetypes, LabelName), most)
}
