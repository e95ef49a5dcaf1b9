package bundle

import (
	"slices"

	"github.com/desynctool/desynctool/report/document"
)

// usable reports whether what a file covers counts.
func (x *examined) usable() bool {
	return !x.copied && !slices.ContainsFunc(x.Trouble, func(t document.FileTrouble) bool { return t.Kind == "stale" || t.Kind == "duplicate" })
}

// usable reports whether the peer left anything that counts.
func (p *patient) usable() bool { return slices.ContainsFunc(p.files, (*examined).usable) }

// cover adds up what the files of each peer cover.
func (d *doctor) cover() {
	for _, p := range d.peers {
		sums := map[string]*document.Coverage{}
		for _, x := range p.files {
			if !x.usable() {
				continue
			}
			own := x.peers[p.Name]
			if own == nil && x.Peer == p.Name {
				for name, c := range x.peers {
					if name == "" || len(x.peers) == 1 {
						own = append(own, c...)
					}
				}
			}
			for _, c := range own {
				sum := sums[c.What]
				if sum == nil {
					one := c
					sums[c.What] = &one
					continue
				}
				sum.First, sum.Last, sum.Count = min(sum.First, c.First), max(sum.Last, c.Last), sum.Count+c.Count
			}
			for _, point := range x.points {
				p.points[point] = true
			}
			p.first = p.first || x.start
			p.systems = p.systems || x.systems
		}
		for _, what := range []string{"states", "orders", "hashes", "checkpoints", "claims", "signatures"} {
			if sum := sums[what]; sum != nil {
				p.Covers = append(p.Covers, *sum)
			}
		}
		d.checkup.Peers = append(d.checkup.Peers, p.CheckedPeer)
	}
}

// with returns which peers have something of a kind, and those that lack it.
func (d *doctor) with(what string) (have []*patient, lack []string) {
	for _, p := range d.peers {
		if slices.ContainsFunc(p.Covers, func(c document.Coverage) bool { return c.What == what }) {
			have = append(have, p)
		} else {
			lack = append(lack, p.Name)
		}
	}
	return have, lack
}

func coverage(p *patient, what string) document.Coverage {
	return p.Covers[slices.IndexFunc(p.Covers, func(c document.Coverage) bool { return c.What == what })]
}
