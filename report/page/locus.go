package page

import (
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report"
)

// locusView are the values that differ where the peers parted.
type locusView struct {
	Compared *report.Compared
	Peers    []peer // of the columns
	Shown    []locusRow
	More     []locusRow // behind a fold
	Rows     []locusOnly
	Left     uint64 // values that are not listed
	RowsLeft int    // kinds of rows that are not
}

type locusRow struct {
	report.LocusField
	Entity string // its title, in the first of its rows
	Apart  string // how far the values are apart
	Name   string // of the field
	Label  string
	Values []locusValue
	Bits   *bitsView
	Sides  [2]peer // of the bits
	Tip    string
	Span   int // columns of the table
}

type locusValue struct {
	Text string
	Has  bool
}

// locusOnly is what only one of the peers has.
type locusOnly struct {
	Who   peer
	Label string // of the entities
	Rest  string
}

// shownValues is how many values stand before the fold.
const shownValues = 12

func newLocus(r *report.Report, peers peers) *locusView {
	if len(r.Locus) == 0 && r.Compared == nil {
		return nil
	}
	v := &locusView{Compared: r.Compared}
	names := report.LocusPeers(r)
	for _, name := range names {
		v.Peers = append(v.Peers, peers.of(name))
	}
	gathered := r.Gather()
	var only []locusOnly
	for i := range gathered.Absent {
		a := &gathered.Absent[i]
		only = append(only, locusOnly{peers.of(a.Peer), a.Title(shownValues), a.Rest()})
	}
	for i := range gathered.Entities {
		e := &gathered.Entities[i]
		title := e.Title()
		for _, line := range e.Each() {
			v.add(newRow(line.LocusField, title, names, v))
			title = ""
		}
		for k := range e.Rows {
			only = append(only, locusOnly{peers.of(e.Rows[k].Peer), e.Title(), prose.Count(e.Rows[k].Count, "row", "rows") + " of " + labelName(e.Rows[k].Archetype)})
		}
	}
	v.Rows = only[:min(len(only), shownValues)]
	v.RowsLeft = len(only) - len(v.Rows)
	if v.Compared != nil {
		v.Left = v.Compared.Values - min(v.Compared.Values, uint64(len(v.Shown)+len(v.More)))
	}
	return v
}

// add appends a row, behind the fold if enough stand before it.
func (v *locusView) add(row locusRow) {
	if len(v.Shown) < shownValues {
		v.Shown = append(v.Shown, row)
	} else {
		v.More = append(v.More, row)
	}
}

// newRow returns the row of one value of an entity.
func newRow(f *report.LocusField, entity string, names []string, v *locusView) locusRow {
	row := locusRow{LocusField: *f, Entity: entity, Label: labelName(f.Archetype), Name: joined(f.Component, f.Field), Span: 4 + len(names)}
	tip := []string{row.Label + " " + f.Key + " " + row.Name}
	var raw []int
	for i, name := range names {
		text, has := f.Values[name]
		row.Values = append(row.Values, locusValue{text, has})
		if has {
			tip = append(tip, name+" "+prose.Shorten(text, 40))
		}
		if f.Raw[name] != "" {
			raw = append(raw, i)
		}
	}
	row.Apart = string(f.Kind)
	if v.Compared != nil {
		row.Apart = f.Apart(v.Compared.Peers)
	}
	if len(raw) == 2 {
		row.Sides = [2]peer{v.Peers[raw[0]], v.Peers[raw[1]]}
		row.Bits = newBits(f.Raw[names[raw[0]]], f.Raw[names[raw[1]]], f.Kind)
	}
	if row.Bits != nil {
		tip = append(tip, row.Bits.Tip)
	}
	row.Tip = strings.Join(tip, "; ")
	return row
}

func joined(component, field string) string {
	switch {
	case component == "":
		return field
	case field == "":
		return component
	}
	return component + "." + field
}
