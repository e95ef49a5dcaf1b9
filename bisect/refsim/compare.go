package refsim

import (
	"bytes"
	"slices"

	"github.com/desynctool/desynctool/snapshot"
)

// Difference is a component in which two sims differ.
type Difference struct {
	Archetype string // empty for the RNG
	Component string // "RNG" for the RNG

	// Keys are the entities that differ in it, ascending; none for the RNG. An
	// entity that only one of the sims has differs in every component.
	Keys []snapshot.Key
}

// Equal reports whether two sims have the same authoritative state, byte by
// byte. It uses no hash, and may be called between the systems of a step.
func Equal(a, b *Sim) bool {
	if a.rng != b.rng {
		return false
	}
	for i := range a.tables {
		if !a.tables[i].equal(b.tables[i]) {
			return false
		}
	}
	return true
}

func (t *table) equal(u *table) bool {
	if !slices.Equal(t.id, u.id) || !slices.Equal(t.index, u.index) {
		return false
	}
	for i := range t.fields {
		if !t.fields[i].equal(&u.fields[i]) {
			return false
		}
	}
	return true
}

// equal compares two columns of tables with the same keys.
func (f *field) equal(g *field) bool {
	f.view(&f.Column)
	g.view(&g.Column)
	return bytes.Equal(f.Data, g.Data) && slices.Equal(f.Ends, g.Ends)
}

// Differences lists how two sims differ, the RNG first, then by label and component. It compares the typed columns
// themselves.
func Differences(a, b *Sim) []Difference {
	var list []Difference
	if a.rng != b.rng {
		list = append(list, Difference{Component: snapshot.RNG})
	}
	for i, t := range a.byLabel {
		if u := b.byLabel[i]; !t.equal(u) {
			list = append(list, t.differences(u)...)
		}
	}
	return list
}

func (t *table) differences(u *table) []Difference {
	var list []Difference
	for from := 0; from < len(t.fields); {
		to := from + 1
		for to < len(t.fields) && t.fields[to].Component == t.fields[from].Component {
			to++
		}
		if keys := t.differingRows(u, from, to); keys != nil {
			list = append(list, Difference{Archetype: t.label, Component: t.fields[from].Component, Keys: keys})
		}
		from = to
	}
	return list
}

// differingRows returns the keys of rows that differ in the fields from…to-1,
// or that only one table has.
func (t *table) differingRows(u *table, from, to int) []snapshot.Key {
	for i := from; i < to; i++ {
		t.fields[i].view(&t.fields[i].Column)
		u.fields[i].view(&u.fields[i].Column)
	}
	var keys []snapshot.Key
	tk, uk := t.keys(), u.keys()
	i, j := 0, 0
	for i < t.rows() || j < u.rows() {
		switch {
		case j == u.rows() || i < t.rows() && tk.At(i).Compare(uk.At(j)) < 0:
			keys = append(keys, tk.At(i))
			i++
		case i == t.rows() || tk.At(i).Compare(uk.At(j)) > 0:
			keys = append(keys, uk.At(j))
			j++
		default:
			for f := from; f < to; f++ {
				if !bytes.Equal(t.fields[f].Raw(i), u.fields[f].Raw(j)) {
					keys = append(keys, tk.At(i))
					break
				}
			}
			i++
			j++
		}
	}
	return keys
}
