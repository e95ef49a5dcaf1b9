package bisect

import (
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// maxSurvey is how many pairs of snapshots are opened after the search if reading a head means reading the whole file.
const maxSurvey = 16

// survey opens the pairs that the search skipped and that may show more: the pairs after the first split, for its
// healing and later ones, and without histories also those before it. Points that two logs cover need not be opened.
func (p *pair) survey() {
	roots := !p.ownSums && (!p.a.notRoots() || !p.b.notRoots())
	begin := p.bad + 1
	if !p.historical(p.bad) {
		begin = 0
	}
	opened, left := 0, 0
	for i := begin; i < len(p.points) && !p.moved; i++ {
		if p.pairs[i].read || roots && p.logged(p.points[i]) {
			continue
		}
		light := isLight(p.a.set.At(p.points[i])) && isLight(p.b.set.At(p.points[i]))
		if !light && opened >= maxSurvey {
			left++
			continue
		}
		if !light {
			opened++
		}
		p.surveying = true
		p.probe(i)
		p.surveying = false
	}
	if left > 0 && !p.moved {
		p.result.note("%s of states not opened: a healing or another divergence between them would not show", prose.Count(left, "pair", "pairs"))
	}
}

// isLight reports whether a further state costs little: its head can be read by itself, or its file was read for others.
func isLight(e *snapshot.Entry) bool { return e.Format.Light || e.Numbered() }

// logged reports whether both logs have a hash of the state at a point.
func (p *pair) logged(at snapshot.Point) bool {
	if at.Phase != "" {
		return false
	}
	_, okA := p.a.log.at(at.Tick)
	_, okB := p.b.log.at(at.Tick)
	return okA && okB
}

// allSplits finds all splits of the pair, once its first one is known as far as the search
// and the logs' sync hashes show it. Other evidence may show an earlier one, or any at all.
func (p *pair) allSplits() {
	if p.kind == ChecksumOnly {
		return
	}
	if p.doubtful {
		p.splits = []Split{splitOf(p.bracket, p.healed)}
		p.splits[0].passed = !p.rootsDiffer()
		return
	}
	var found *Split
	if p.bracket != nil {
		s := splitOf(p.bracket, nil)
		s.passed = len(s.BadFiles) > 0 && len(p.filesAt(s.Bad, true)) > 0
		found = &s
	}
	if p.splits = splitsOf(p.marks(), found); len(p.splits) == 0 {
		return
	}
	first := &p.splits[0]
	if b := p.bracket; b == nil || first.Bad.Compare(b.Bad) < 0 {
		p.bracket = &Bracket{Good: first.Good, Bad: first.Bad, By: first.By, GoodFiles: first.GoodFiles, BadFiles: first.BadFiles}
	}
	p.healed = first.Healed
	if b := p.bracket; len(b.BadFiles) == 0 && p.probeAt(b.Bad) {
		b.BadFiles = p.filesAt(b.Bad, false)
	}
	for i := range p.splits {
		s := &p.splits[i]
		if len(s.BadFiles) == 0 {
			s.BadFiles = p.filesAt(s.Bad, false)
		}
		if s.Good != nil && len(s.GoodFiles) == 0 {
			s.GoodFiles = p.filesAt(*s.Good, true)
		}
		if s.Healed != nil && len(s.HealedFiles) == 0 {
			s.HealedFiles = p.filesAt(*s.Healed, true)
		}
	}
}

// probeAt opens the pair of a point beyond the search, and reports whether there is one that could be read.
func (p *pair) probeAt(at snapshot.Point) bool {
	i := slices.IndexFunc(p.points, at.Same)
	if i < 0 {
		return false
	}
	p.surveying = true
	defer func() { p.surveying = false }()
	return p.probe(i)
}

// filesAt returns the snapshots of a point if they were read, and are equal, or differ, as is wanted.
func (p *pair) filesAt(at snapshot.Point, same bool) []string {
	i := slices.IndexFunc(p.points, at.Same)
	if i < 0 || !p.pairs[i].ok || (p.pairs[i].a.Root == p.pairs[i].b.Root) != same {
		return nil
	}
	return p.files(i)
}

// splitOf returns the split that a bracket is of.
func splitOf(b *Bracket, healed *snapshot.Point) Split {
	return Split{Good: b.Good, Bad: b.Bad, Healed: healed, By: b.By, GoodFiles: b.GoodFiles, BadFiles: b.BadFiles}
}

// unite makes one list of the splits of several pairs of peers: peers have diverged while any two have.
func unite(splits ...[]Split) (out []Split) {
	all := slices.Concat(splits...)
	lists.SortStable(all, func(a, b Split) int { return a.Bad.Compare(b.Bad) })
	for _, s := range all {
		n := len(out)
		if n == 0 || out[n-1].Healed != nil && out[n-1].Healed.Compare(s.Bad) <= 0 && out[n-1].Bad.Compare(s.Bad) < 0 {
			out = append(out, s)
			continue
		}
		if last := &out[n-1]; last.Healed != nil && (s.Healed == nil || s.Healed.Compare(*last.Healed) > 0) {
			last.Healed, last.HealedFiles = s.Healed, s.HealedFiles
		}
	}
	return out
}
