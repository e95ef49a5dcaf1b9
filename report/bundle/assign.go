package bundle

import (
	"cmp"
	"maps"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
)

// assign finds the peer of each file: by the name in it, where the files of one folder name several peers, else by its
// folder.
func (d *doctor) assign() {
	said := map[string]map[string]bool{} // the names in a group
	var groups []string
	for _, x := range d.files {
		if x.group == "" {
			continue
		}
		if said[x.group] == nil {
			said[x.group] = map[string]bool{}
			groups = append(groups, x.group)
		}
		if x.Peer != "" {
			said[x.group][x.Peer] = true
		}
		for name := range x.peers {
			if name != "" && x.format.Snapshot != nil {
				said[x.group][name] = true
			}
		}
	}
	// A folder with the files of one peer belongs to that peer. Loose files, and files in folders with several peers,
	// belong to the peers that they name.
	var names, paths []string
	loose := map[string]bool{}
	for _, g := range groups {
		one := ""
		if len(said[g]) == 1 {
			one = slices.Collect(maps.Keys(said[g]))[0]
		}
		stat, err := d.tree.Stat(g)
		if len(said[g]) > 1 || one != "" && err == nil && !stat.IsDir() {
			loose[g] = true
			continue
		}
		names, paths = append(names, one), append(paths, g)
	}
	byGroup, byName := map[string]*patient{}, map[string]*patient{}
	add := func(name, path string) *patient {
		p := &patient{CheckedPeer: document.CheckedPeer{Name: name, Path: path}, points: map[uint64]bool{}}
		d.peers = append(d.peers, p)
		byName[name] = p
		return p
	}
	for i, name := range d.s.names.peers(names, paths) {
		byGroup[paths[i]] = add(name, paths[i])
	}
	for _, x := range d.files {
		if p := byGroup[x.group]; p != nil {
			x.Peer = p.Name
			p.files = append(p.files, x)
			continue
		}
		of := slices.Sorted(maps.Keys(x.peers))
		if x.Peer != "" && !slices.Contains(of, x.Peer) {
			of = append(of, x.Peer)
		}
		for _, name := range of {
			if name == "" {
				continue
			}
			p := byName[name]
			if p == nil && (loose[x.group] || len(byGroup) < 2) {
				p = add(name, cmp.Or(x.group, x.Path))
			}
			if p != nil {
				p.files = append(p.files, x)
			}
		}
	}
	lists.SortStable(d.peers, func(a, b *patient) int { return cmp.Compare(a.Name, b.Name) })
}

// session finds the match that most of the evidence belongs to, and the files of other matches.
func (d *doctor) session() {
	peersOf, filesOf := map[uint64]int{}, map[uint64]int{}
	for _, p := range d.peers {
		own := map[uint64]bool{}
		for _, x := range p.files {
			if x.seed != nil {
				own[*x.seed] = true
				filesOf[*x.seed]++
			}
		}
		for seed := range own {
			peersOf[seed]++
		}
	}
	best := uint64(0)
	for i, seed := range slices.Sorted(maps.Keys(peersOf)) {
		if i == 0 || peersOf[seed] > peersOf[best] || peersOf[seed] == peersOf[best] && filesOf[seed] > filesOf[best] {
			best = seed
		}
	}
	matches := map[string]string{} // of each format, the first file's
	for _, x := range d.files {
		if x.seed != nil && *x.seed != best && len(peersOf) > 0 {
			x.trouble("stale", "of the match with seed %016x, the others are of %016x", *x.seed, best)
		}
		if x.session == "" {
			continue
		}
		if first, seen := matches[x.Format]; !seen {
			matches[x.Format] = x.session
		} else if first != x.session {
			x.trouble("stale", "of match %s, the others are of %s", x.session, first)
		}
	}
}
