package verdict

import (
	"bytes"
	"encoding/hex"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// maxLocus is how many values a report lists, maxLocusTable of how many of one table, and
// maxLocusKeys how many entities that only one side has.
const (
	maxLocus      = 120
	maxLocusTable = 24
	maxLocusKeys  = 16
)

// locus lists the values that differ: first the root, then other archetypes, then caches.
func (c *Conclusion) locus(p *Parted) {
	d := p.Diff
	k := &document.Compared{Peers: p.Names, Point: d.A.Point.Tick, Native: d.A.Point.Words(), Rows: []document.LocusRows{}, Columns: []document.LocusColumn{}}
	c.Compared, c.ComparedAt, c.Files = k, MomentOf(d.A.Point), p.Files
	entities := newGrouping(p)
	var of []*grouped // each value of the locus
	var rows uint64
	c.RNGEqual = d.A.RNG != nil && bytes.Equal(d.A.RNG, d.B.RNG)
	if d.RNG != nil {
		k.Values++
		if n := d.Draws(); n > 0 {
			k.Drawn = &document.Drawn{Peer: p.Names[1], More: uint64(n)}
		} else if n < 0 {
			k.Drawn = &document.Drawn{Peer: p.Names[0], More: uint64(-n)}
		}
		f := document.LocusField{FieldDocument: document.Field(d.RNG, "", p.Names)}
		f.Component, f.Field = snapshot.RNG, "state"
		c.Locus = append(c.Locus, f)
		rng := &grouped{id: entityID{Entity: snapshot.Entity{Kind: snapshot.RNG}}, values: 1, place: -1, rng: true}
		of = append(of, rng)
		k.Columns = append(k.Columns, document.LocusColumn{ColumnDocument: document.ColumnDocument{Component: snapshot.RNG, Field: "state", Changed: 1}})
	}
	tables := make([]*snapshot.TableDiff, 0, len(d.Tables))
	for i := range d.Tables {
		if d.Tables[i].Class != snapshot.Noise {
			tables = append(tables, &d.Tables[i])
		}
	}
	lists.SortStable(tables, func(a, b *snapshot.TableDiff) int { return c.place(a) - c.place(b) })
	for _, t := range tables {
		cache := t.Class == snapshot.Cache
		entities.table(t)
		rows += t.OnlyACount + t.OnlyBCount
		for i := range t.Columns {
			k.Values += t.Columns[i].Rows
			k.Columns = append(k.Columns, document.LocusColumn{Archetype: t.Label, Cache: cache, ColumnDocument: document.Column(&t.Columns[i], p.Names)})
		}
		k.Schema = append(k.Schema, schemaOf(t, p.Names)...)
		if t.Reordered {
			k.Reordered = append(k.Reordered, t.Label)
		}
		for side, keys := range [][]snapshot.Key{t.OnlyA, t.OnlyB} {
			if count := []uint64{t.OnlyACount, t.OnlyBCount}[side]; count > 0 {
				k.Rows = append(k.Rows, document.LocusRows{Archetype: t.Label, Cache: cache, Peer: p.Names[side], Keys: names(keys), Count: count})
			}
		}
		changes := slices.Clone(t.Changes)
		if root, known := c.Root(); known && root == t.Label && c.Component != "" { // what diverged first
			lists.SortStable(changes, func(a, b snapshot.Change) int {
				return btoi(a.Component != c.Component) - btoi(b.Component != c.Component)
			})
		}
		for i := range changes[:min(len(changes), maxLocusTable)] {
			if len(c.Locus) == maxLocus {
				break
			}
			ch := &changes[i]
			f := document.LocusField{Archetype: t.Label, Cache: cache, FieldDocument: document.Field(ch, ch.Key.String(), p.Names)}
			if a, b := raw(ch.A), raw(ch.B); a != "" || b != "" {
				f.Raw = map[string]string{p.Names[0]: a, p.Names[1]: b}
			}
			c.Locus = append(c.Locus, f)
			of = append(of, entities.of(0, t, ch.Key))
		}
	}
	c.list(tables)
	c.entities(entities, of, rows)
	k.Summary, c.tables, c.grouped = document.Summarize(tables, p.Names), tables, entities.list
}

// Fields sums up the fields that differ in some archetypes, without caches: the field with most values first. If the
// component that diverged first is known, it has only the fields of this component. Names are as they are, or fit for a
// sentence.
func (c *Conclusion) Fields(archetypes []string) []document.FieldSummary {
	var tables []*snapshot.TableDiff
	if c.Compared == nil {
		return nil
	}
	for _, t := range c.tables {
		if t.Class == snapshot.Archetype && (slices.Contains(archetypes, t.Label) || slices.Contains(archetypes, prose.Name(t.Label))) {
			tables = append(tables, t)
		}
	}
	list := document.Summarize(tables, c.Compared.Peers)
	if c.Component != "" {
		list = slices.DeleteFunc(list, func(f document.FieldSummary) bool {
			return f.Component != c.Component && prose.Name(f.Component) != c.Component
		})
	}
	return list
}

// schemaOf returns the columns of a table that only one side has, or that have another type.
func schemaOf(t *snapshot.TableDiff, names [2]string) (list []document.LocusSchema) {
	for i := range t.Schema {
		s := &t.Schema[i]
		if s.Column == "" {
			continue
		}
		out := document.LocusSchema{Archetype: t.Label, Cache: t.Class == snapshot.Cache, Types: map[string]string{}}
		out.Component, out.Field, _ = strings.Cut(s.Column, ".")
		for side, c := range []*snapshot.ColumnType{s.A, s.B} {
			if c == nil {
				continue
			}
			text := c.Type.String()
			if c.Scale > 0 {
				text += "/" + strconv.FormatUint(uint64(c.Scale), 10)
			}
			out.Types[names[side]] = text
		}
		list = append(list, out)
	}
	return list
}

// place orders tables: the root, other archetypes that may be, the rest, caches.
func (c *Conclusion) place(t *snapshot.TableDiff) int {
	i := slices.Index(c.Archetypes, t.Label)
	switch {
	case t.Class == snapshot.Cache:
		return 1 << 20
	case i >= 0:
		return i
	}
	return 1 << 16
}

func names(keys []snapshot.Key) []string {
	list := []string{}
	for _, k := range keys[:min(len(keys), maxLocusKeys)] {
		list = append(list, k.String())
	}
	return list
}

// raw returns the bits of a number, the most significant first, empty for other values.
func raw(v snapshot.Value) string {
	if v.Absent || v.Type.Width() == 0 {
		return ""
	}
	b := slices.Clone(v.Raw)
	slices.Reverse(b)
	return hex.EncodeToString(b)
}
