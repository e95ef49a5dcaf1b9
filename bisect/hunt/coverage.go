package hunt

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// Coverage is what sessions had in them. The zero value is the coverage of no session.
type Coverage struct {
	Sessions uint64 `json:"sessions"`
	// Played are the ticks of the sessions, each once; Ticks those that were stepped, of all
	// instances in all modes.
	Played     uint64         `json:"played"`
	Ticks      uint64         `json:"ticks"`
	Kinds      []KindCoverage `json:"kinds"`
	Archetypes []RowCoverage  `json:"archetypes"` // ascending; none where the state is not known

	number []int // in Kinds, of each kind of the session
}

// KindCoverage counts the orders of a kind.
type KindCoverage struct {
	Kind  string `json:"kind"`
	Local bool   `json:"local,omitempty"`
	Given uint64 `json:"given"`
	// Tested counts the orders that the simulator judged, Possible the ones that it judged possible.
	Tested   uint64 `json:"tested"`
	Possible uint64 `json:"possible"`
}

// RowCoverage is how many rows an archetype had at most when the state was looked at.
type RowCoverage struct {
	Archetype string `json:"archetype"`
	Rows      uint64 `json:"rows"`
}

func newCoverage(kinds []orderlog.OrderKind) (c Coverage) {
	c.number = append(c.number, lists.Map(kinds, func(k orderlog.OrderKind) int { return c.kind(k.Name, k.Local) })...)
	return c
}

// kind returns where a kind is counted.
func (c *Coverage) kind(name string, local bool) int {
	i := slices.IndexFunc(c.Kinds, func(k KindCoverage) bool { return k.Kind == name })
	if i < 0 {
		i = len(c.Kinds)
		c.Kinds = append(c.Kinds, KindCoverage{Kind: name, Local: local})
	}
	return i
}

// row returns where an archetype is counted.
func (c *Coverage) row(label string) *RowCoverage {
	i, found := slices.BinarySearchFunc(c.Archetypes, label, func(r RowCoverage, label string) int { return strings.Compare(r.Archetype, label) })
	if !found {
		c.Archetypes = slices.Insert(c.Archetypes, i, RowCoverage{Archetype: label})
	}
	return &c.Archetypes[i]
}

func (c *Coverage) given(orders []orderlog.Order) {
	for i := range orders {
		c.Kinds[c.number[orders[i].Kind]].Given++
	}
}

func (c *Coverage) judged(o *orderlog.Order, possible bool) {
	k := &c.Kinds[c.number[o.Kind]]
	if k.Tested++; possible {
		k.Possible++
	}
}

func (c *Coverage) look(w *snapshot.World) {
	for i := range w.Tables {
		if t := &w.Tables[i]; t.Class == snapshot.Archetype {
			r := c.row(t.Label)
			r.Rows = max(r.Rows, uint64(t.Rows()))
		}
	}
}

// add adds what another session had.
func (c *Coverage) add(o *Coverage) {
	c.Sessions += o.Sessions
	c.Played += o.Played
	c.Ticks += o.Ticks
	for _, k := range o.Kinds {
		have := &c.Kinds[c.kind(k.Kind, k.Local)]
		have.Given += k.Given
		have.Tested += k.Tested
		have.Possible += k.Possible
	}
	for _, r := range o.Archetypes {
		have := c.row(r.Archetype)
		have.Rows = max(have.Rows, r.Rows)
	}
}

// Never is what no session had in it.
type Never struct {
	// Given are the kinds without an order in any session. Possible are kinds of orders that were given and tested, but
	// were never possible.
	Given    []string `json:"given"`
	Possible []string `json:"possible"`
	// Archetypes never had a row.
	Archetypes []string `json:"archetypes"`
}

// Never returns what no session had in it.
func (c *Coverage) Never() (n Never) {
	for _, k := range c.Kinds {
		switch {
		case k.Given == 0:
			n.Given = append(n.Given, k.Kind)
		case k.Tested > 0 && k.Possible == 0 && !k.Local:
			n.Possible = append(n.Possible, k.Kind)
		}
	}
	for _, r := range c.Archetypes {
		if r.Rows == 0 {
			n.Archetypes = append(n.Archetypes, r.Archetype)
		}
	}
	return n
}

// Orders returns how many orders were given.
func (c *Coverage) Orders() (n uint64) {
	for _, k := range c.Kinds {
		n += k.Given
	}
	return n
}
