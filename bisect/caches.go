package bisect

import (
	"slices"

	"github.com/desynctool/desynctool/snapshot"
)

// CacheSplit is where caches began to differ while the authoritative states, which they derive from, are equal.
type CacheSplit struct {
	// Good is the last point before Bad at which both the states and the caches are known
	// to be equal, nil if none is; Bad the first at which only caches differ. Again is the
	// first after it at which the caches are equal again, nil if none is known.
	Good  *snapshot.Point
	Bad   snapshot.Point
	Again *snapshot.Point
	// Labels are the caches that differ at Bad, ascending.
	Labels []string
	Files  [2]string // the snapshots of Bad
	A, B   string    // the two peers
}

// staleCaches returns the labels of caches that both states have and that differ, nil if the states themselves do.
func staleCaches(a, b *snapshot.Info) (labels []string) {
	if a.Root != b.Root {
		return nil
	}
	for i := range a.Tables {
		x := &a.Tables[i]
		if x.Class != snapshot.Cache {
			continue
		}
		j := slices.IndexFunc(b.Tables, func(y snapshot.TableInfo) bool { return y.Class == x.Class && y.Label == x.Label })
		if j >= 0 && (b.Tables[j].Hash != x.Hash || b.Tables[j].Rows != x.Rows) {
			labels = append(labels, x.Label)
		}
	}
	return labels
}

// caches looks for caches that differ under equal states. Where the states never part every pair is read for it, as
// far as heads are read without whole files; else those that the search read.
func (p *pair) caches(all bool) (found *CacheSplit) {
	p.surveying = true
	defer func() { p.surveying = false }()
	var good *snapshot.Point
	for i := 0; i < len(p.points) && !p.moved; i++ {
		if !p.pairs[i].read && (!all || !p.a.set.At(p.points[i]).Format.Light || !p.b.set.At(p.points[i]).Format.Light) {
			continue
		}
		if !p.probe(i) || p.pairs[i].a.Root != p.pairs[i].b.Root {
			continue
		}
		at := p.points[i]
		labels := staleCaches(p.pairs[i].a, p.pairs[i].b)
		switch {
		case found == nil && len(labels) > 0:
			found = &CacheSplit{Good: good, Bad: at, Labels: labels, Files: [2]string(p.files(i))}
		case found != nil && len(labels) == 0:
			found.Again = &at
			return found
		case len(labels) == 0:
			good = &at
		}
	}
	return found
}

// findCaches finds the first caches of any two peers that differ under equal states, and the two.
func (r *Result) findCaches() (first *pair) {
	for _, p := range r.pairs {
		if c := p.caches(r.Bracket == nil && r.Kind == ""); c != nil && (r.Caches == nil || c.Bad.Compare(r.Caches.Bad) < 0) {
			r.Caches, first = c, p
		}
	}
	return first
}
