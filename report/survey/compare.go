package survey

import (
	"bytes"
	"cmp"
	"errors"
	"maps"
	"math"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// findNoise compares states of peers, to find out what is noise. If what differs in some may be noise, more are read, and if
// nothing else differs, all are.
func (s *Survey) findNoise(left int64) {
	pairs := map[pair]*compared{} // of all tables
	var lacks map[column]string
	var own map[column]bool
	single, alone := "", false
	for _, most := range []int{mostMatched, mostDoubted, math.MaxInt} {
		left = s.match(pairs, left, most)
		s.compare(pairs)
		list := complete(pairs)
		lacks = lacking(list)
		own, alone = ownNames(list), once(list)
		if s.noisy, s.quiet = noise(list); !s.quiet && (most >= mostDoubted || !doubtful(list)) {
			break
		}
		if most == math.MaxInt {
			is, certain := believed(s.noisy, list)
			if s.quiet = !is; is && !certain {
				single = noiseNote(s.noisy, perhapsOnly)
			}
		}
	}
	for col := range own {
		if !s.quiet {
			s.noisy = append(s.noisy, NoisyColumn{Table: col.label, Component: col.component, Field: col.field, Looks: true})
		}
	}
	end := isNoise
	if s.quiet {
		end = probablyOnly
	} else if alone {
		end = isNoiseOnce
	}
	if note := noiseNote(s.noisy, end); note != "" && single == "" {
		s.notes = append(s.notes, note)
	}
	if s.lacking = append(s.lacking, lackingNotes(lacks)...); single != "" {
		s.lacking = append(s.lacking, single)
	}
	s.noise = own
	for col := range lacks {
		s.noise[col] = true
	}
	for i := range s.noisy {
		n := &s.noisy[i]
		n.Path = s.seen.PathOf(n.Table, n.Component, n.Field)
		if !s.quiet {
			s.noise[n.column()] = true
		}
	}
}

// match reads the files of so many ticks that two peers have, as far as these were not compared and the samples lack one.
func (s *Survey) match(pairs map[pair]*compared, left int64, most int) int64 {
	done := map[uint64]bool{}
	for who := range pairs {
		done[who.tick] = true
	}
	peers := map[uint64]map[string]bool{}
	each := func(do func(g *group, base string, tick uint64)) {
		for _, g := range s.order {
			for _, base := range g.bases {
				if n, ok := g.tickOf(base); ok && !done[n] {
					do(g, base, n)
				}
			}
		}
	}
	each(func(g *group, base string, tick uint64) {
		if peers[tick] == nil {
			peers[tick] = map[string]bool{}
		}
		peers[tick][g.dir+"\x00"+g.peerOf(base)] = true
	})
	maps.DeleteFunc(peers, func(_ uint64, of map[string]bool) bool { return len(of) < 2 })
	ticks := map[uint64]bool{}
	for _, tick := range Picks(slices.Sorted(maps.Keys(peers)), most) {
		ticks[tick] = true
	}
	each(func(g *group, base string, tick uint64) {
		read := func(p sample) bool { return p.base == base && p.worlds != nil }
		if !ticks[tick] || left <= 0 || slices.ContainsFunc(g.samples, read) {
			return
		}
		text, err := s.read(filepath.Join(g.dir, base), min(left, sampleText))
		if left -= int64(len(text)); err != nil || left <= 0 {
			return
		}
		p := sample{base: base, text: text, cut: len(text) == sampleText}
		g.look(&p)
		p.text = nil
		g.samples = append(g.samples, p)
	})
	return left
}

// look finds out what the heads of the states in a file contain.
func (g *group) look(p *sample) {
	if g.layout != nil {
		p.worlds, _ = layOutState(g.layout, p.text, p.base)
		return
	}
	worlds, found, err := g.schema.Read(g.notation, p.text)
	if whole := untorn(p.text); isCut(err) && !p.cut && whole != nil {
		if some, of, fault := g.schema.Read(g.notation, whole); fault == nil && len(some) > 1 {
			worlds, found, err = some, of, nil
			if g.torn == nil {
				g.torn = map[string]bool{}
			}
			g.torn[p.base] = true
		}
	}
	p.ticks, p.peers, p.peer = nil, false, ""
	if p.damaged = err != nil && !p.cut; p.damaged {
		return
	}
	if found != nil {
		g.found.Merge(found)
	}
	if found != nil && !g.notation.Repeats {
		p.lists = map[string]bool{}
		for i := range found.Tables {
			p.lists[found.Tables[i].Label] = true
		}
	}
	p.states = len(worlds)
	worlds = withTicks(worlds)
	if !p.cut {
		p.worlds = worlds
	}
	for _, w := range worlds {
		if w.Point.Known() {
			p.ticks = append(p.ticks, w.Point.Tick)
		}
		p.peers, p.peer = p.peers || w.Peer != "", cmp.Or(p.peer, w.Peer)
	}
}

// isCut reports whether a text ends too early.
func isCut(err error) bool {
	e := (*notation.Error)(nil)
	return errors.As(err, &e) && e.Cut
}

// untorn returns the lines of a text before the last one, nil if there is only one. An editor may have ended a line that was cut.
func untorn(text []byte) []byte {
	if end := bytes.LastIndexByte(bytes.TrimRight(text, "\r\n"), '\n') + 1; end > 0 {
		return text[:end]
	}
	return nil
}

// pair is two peers at one tick.
type pair struct {
	tick          uint64
	first, second string
}

// compare compares the states of peers that were read.
func (s *Survey) compare(pairs map[pair]*compared) {
	byTick := map[moment][]seen{}
	for _, g := range s.order {
		for i := range g.samples {
			p := &g.samples[i]
			for _, w := range p.worlds {
				if n, ok := g.tickOf(p.base); ok && !w.Point.Known() {
					w.Point = snapshot.Point{Tick: n}
				}
				g.named(w, p.base)
				at := moment{w.Point.Tick, g.table}
				byTick[at] = append(byTick[at], seen{g.dir + "\x00" + cmp.Or(w.Peer, g.peerOf(p.base)), w, p.lists})
			}
			p.worlds = nil
		}
	}
	for at, states := range byTick {
		first := states[0]
		for _, other := range states[1:] {
			if other.peer == first.peer {
				continue
			}
			if c := compareStates(first, other); c != nil {
				who := pair{at.tick, first.peer, other.peer}
				if pairs[who] == nil {
					pairs[who] = c
				} else {
					pairs[who].add(c)
				}
			}
		}
	}
}

// complete returns the pairs with all tables compared, in the order of their ticks.
func complete(pairs map[pair]*compared) (list []compared) {
	most := 0
	for _, c := range pairs {
		most = max(most, c.tables)
	}
	for _, who := range slices.SortedStableFunc(maps.Keys(pairs), func(a, b pair) int {
		return cmp.Or(cmp.Compare(a.tick, b.tick), cmp.Compare(a.first, b.first), cmp.Compare(a.second, b.second))
	}) {
		if pairs[who].tables == most {
			list = append(list, *pairs[who])
		}
	}
	return list
}

// moment is a state point of the files with one table, or with all.
type moment struct {
	tick  uint64
	table string
}

// seen is a state that was read, and its peer.
type seen struct {
	peer  string
	world *snapshot.World
	lists map[string]bool // see sample
}

// lacks reports whether the state lacks a table, and not only its rows.
func (s *seen) lacks(label string) bool { return s.lists != nil && !s.lists[label] }
