package tracediff

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// witness contains the traces' values at a tick that claims name.
type witness struct {
	tick    Tick
	groups  [][]int
	differs bool
	values  [][]byte // by trace, from the first checkpoint; nil if it has none
}

// collectClaims merges the claims of all logs, because engines repeat messages that they received.
func (c *comparer) collectClaims() {
	type same struct{ text, values string }
	index := map[same]int{}
	start := map[string]map[string]string{}
	session, beyond := c.session(), "" // the last file with more claims than are kept
	for _, log := range c.opts.Claims {
		if s := log.Dialect.Session; s != "" && s != session && !c.opts.Force {
			c.warn("%s: of another match, %s, and left out; the others are of %s", prose.Path(log.File), s, session)
			continue
		}
		if c.result.claimed.Engine == "" {
			c.result.claimed = log.Dialect
		}
		if log.Trouble != "" {
			c.warn("%s", log.Trouble)
		}
		for peer, values := range log.Start {
			for name, value := range values {
				if start[name] == nil {
					start[name] = map[string]string{}
				}
				if old, ok := start[name][peer]; ok && old != value {
					c.warn("logs contradict each other: %s of %s is %s and %s", prose.Name(name), prose.Name(peer), prose.Name(old), prose.Name(value))
				}
				start[name][peer] = value
			}
		}
		for _, claim := range log.Claims {
			c.result.ClaimCount++
			k := same{claim.Text, fmt.Sprint(claim.Values)}
			if i, ok := index[k]; ok {
				if j := &c.result.Claims[i]; !slices.Contains(j.Files, claim.File) {
					j.Files = append(j.Files, claim.File)
				}
				continue
			}
			if limits.Claims.Over(int64(len(index)) + 1) { // it is counted nevertheless
				beyond = claim.File
				continue
			}
			index[k] = len(c.result.Claims)
			c.result.Claims = append(c.result.Claims, JudgedClaim{Claim: claim, Files: []string{claim.File}, Standing: Unchecked, dialect: &log.Dialect})
			if claim.HasTick {
				if c.witnesses == nil {
					c.witnesses = map[uint64]*witness{}
				}
				c.witnesses[claim.Tick] = nil
			}
		}
	}
	if beyond != "" {
		c.warn("%v", limits.Claims.Reached(beyond, 0))
	}
	lists.SortStable(c.result.Claims, func(a, b JudgedClaim) int {
		if a.HasTick != b.HasTick { // a claim with a tick contains more
			if a.HasTick {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Tick, b.Tick)
	})
	for _, name := range slices.Sorted(maps.Keys(start)) {
		if values := slices.Sorted(maps.Values(start[name])); values[0] != values[len(values)-1] {
			c.result.Start = append(c.result.Start, Start{name, start[name]})
		}
	}
}

// session returns the match of the traces, else the match of most logs.
func (c *comparer) session() string {
	for _, t := range c.list {
		if t.Dialect.Session != "" {
			return t.Dialect.Session
		}
	}
	count := map[string]int{}
	best := ""
	for _, log := range c.opts.Claims {
		s := log.Dialect.Session
		if s == "" {
			continue
		}
		if count[s]++; best == "" || count[s] > count[best] || count[s] == count[best] && s < best {
			best = s
		}
	}
	return best
}

// testify keeps the traces' values at the current tick, for the claims that name it.
func (c *comparer) testify() {
	if len(c.witnesses) == 0 || bits.OnesCount64(c.inTick) < 2 {
		return
	}
	if w, named := c.witnesses[c.tick.Number]; !named || w != nil {
		return
	}
	c.witnesses[c.tick.Number] = &witness{tick: c.tick, groups: c.groups(), differs: c.differs, values: slices.Clone(c.mainSums)}
}

// keepSums keeps the checksums of the first checkpoint of a tick that claims name.
func (c *comparer) keepSums() {
	if len(c.witnesses) == 0 || len(c.mainSums) > 0 {
		return
	}
	if _, named := c.witnesses[c.tick.Number]; !named {
		return
	}
	for i := range c.cells {
		var v []byte
		if x := c.cells[i].c; x != nil && len(x.Sums) > 0 {
			v = slices.Clone(x.Sums[0].Value)
		}
		c.mainSums = append(c.mainSums, v)
	}
}

// judge compares each claim with the traces, claims about a self-test only with its runs, and other claims only with
// other traces.
func (c *comparer) judge() {
	res, runs := &c.result, c.result.OfRuns()
	for i := range res.Claims {
		j := &res.Claims[i]
		if !j.HasTick || len(res.Traces) > 1 && (j.SelfTest || j.Replay) != runs {
			continue
		}
		w := c.witnesses[j.Tick]
		if j.dialect.Cumulative {
			c.judgeCumulative(j)
			continue
		}
		switch {
		case w == nil && c.passedEqual(j.Tick):
			j.Standing = Contradicted
			j.Contradictions = append(j.Contradictions, fmt.Sprintf("the traces agree at %s", c.result.TickText(Tick{Number: j.Tick})))
		case w == nil && res.First != nil && res.First.Tick.Before(Tick{Number: j.Tick}):
			j.Standing = Late
		case w == nil:
		case !w.differs:
			j.Standing = Contradicted
			j.Contradictions = append(j.Contradictions, fmt.Sprintf("the traces agree at %s", c.result.TickText(w.tick)))
		case res.First != nil && res.First.Tick.compare(w.tick) < 0:
			j.Standing = Late
		default:
			j.Standing = Borne
		}
		if w != nil {
			c.checkBlame(j, w)
			c.checkValues(j, w)
		}
	}
}

// judgeCumulative judges a claim with checksums that cover everything before. The traces' values at the claim's own
// tick do not matter.
func (c *comparer) judgeCumulative(j *JudgedClaim) {
	res, t := &c.result, Tick{Number: j.Tick}
	switch {
	case res.First != nil && res.First.Tick.Before(t):
		j.Standing = Late
	case res.First != nil && res.First.Tick == t:
		j.Standing = Borne
	case len(c.peers) > 1 && !res.LastCompared.Before(t):
		j.Standing = Contradicted
		j.Contradictions = append(j.Contradictions, fmt.Sprintf("the traces agree up to %s", c.result.TickText(res.LastCompared)))
	}
}

// passedEqual reports whether a tick was skipped because the traces are equal byte for byte.
func (c *comparer) passedEqual(tick uint64) bool {
	t := Tick{Number: tick}
	for _, p := range c.peers {
		if !p.started || t.compare(p.info.First) < 0 || p.cadence.ticks == 0 || p.cadence.off(t) {
			return false
		}
	}
	return len(c.peers) > 1 && t.compare(c.result.LastCompared) <= 0
}

// checkBlame compares the peers that a claim accuses with the groups of peers that agree.
func (c *comparer) checkBlame(j *JudgedClaim, w *witness) {
	if !w.differs {
		return
	}
	blame := map[string]bool{} // from all claims about the tick
	for i := range c.result.Claims {
		if other := &c.result.Claims[i]; other.HasTick && other.Tick == j.Tick {
			for _, name := range other.Peers {
				blame[name] = true
			}
		}
	}
	accused := func(i int) bool { return blame[c.list[i].Name] }
	if !slices.ContainsFunc(c.list, func(t *Trace) bool { return slices.Contains(j.Peers, t.Name) }) {
		return
	}
	innocent, most := 0, 0
	for _, group := range w.groups {
		most = max(most, len(group))
	}
	alone := func(group []int) bool { // no other group is as large
		return len(group) == most && !slices.ContainsFunc(w.groups, func(g []int) bool { return len(g) == most && g[0] != group[0] })
	}
	for _, group := range w.groups {
		var blamed, not []string
		for _, i := range group {
			if accused(i) {
				blamed = append(blamed, c.list[i].Name)
			} else {
				not = append(not, c.list[i].Name)
			}
		}
		if len(not) > 0 && len(blamed) == 0 {
			innocent++
		}
		switch names := strings.Join(prose.Names(not), ", "); {
		case len(blamed) == 0 || len(not) == 0:
		case alone(group) && !statesOther(j, w, group):
			j.Contradictions = append(j.Contradictions, fmt.Sprintf("it accuses %s and not %s, which have the same checksum as most", strings.Join(prose.Names(blamed), ", "), names))
		default:
			j.Omits = append(j.Omits, fmt.Sprintf("it does not accuse %s, with the same checksum as %s", names, strings.Join(prose.Names(blamed), ", ")))
		}
	}
	if innocent > 1 {
		j.Omits = append(j.Omits, "the peers that it does not accuse do not agree with each other either")
	}
}

// statesOther reports whether a claim contains the checksum of a peer outside a group. Then the claim itself shows from
// whom the accused peers differ.
func statesOther(j *JudgedClaim, w *witness, group []int) bool {
	for i, have := range w.values {
		if have == nil || slices.Contains(group, i) {
			continue
		}
		if slices.ContainsFunc(j.Values, func(v ClaimedValue) bool { return equalSum(have, []byte(v.Value)) }) {
			return true
		}
	}
	return false
}

// checkValues searches for a claim's checksums among the traces' checksums.
func (c *comparer) checkValues(j *JudgedClaim, w *witness) {
	if c.result.Dialect().Values {
		return // values of the game are not checksums
	}
	for _, v := range j.Values {
		i := slices.IndexFunc(c.list, func(t *Trace) bool { return t.Name == v.Peer && v.Peer != "" })
		if i >= 0 && i < len(w.values) && w.values[i] != nil {
			if !equalSum(w.values[i], []byte(v.Value)) {
				j.Contradictions = append(j.Contradictions, fmt.Sprintf("it reports that %s had %s, its trace has %s", prose.Name(v.Peer), prose.Name(v.Value), prose.Name(string(w.values[i]))))
			}
			continue
		}
		if len(w.values) > 0 && !slices.ContainsFunc(w.values, func(have []byte) bool { return equalSum(have, []byte(v.Value)) }) {
			j.Contradictions = append(j.Contradictions, fmt.Sprintf("no trace has the checksum %s", prose.Name(v.Value)))
		}
	}
}

// claimed returns a Result that contains only claims.
func claimed(list []*Trace, opts Options) *Result {
	c := &comparer{opts: opts, list: list}
	for _, t := range list {
		c.result.Traces = append(c.result.Traces, TraceInfo{Name: t.Name, File: t.File, Header: t.Header, Grammar: t.Grammar, Dialect: t.Dialect, Packing: t.Packing, Empty: true})
	}
	c.collectClaims()
	return &c.result
}
