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
}

type locusRow struct {
	report.LocusField
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

type locusOnly struct {
	report.LocusRows
	Who   peer
	Label string
	Text  string
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
	for _, f := range r.Locus {
		row := locusRow{LocusField: f, Label: labelName(f.Archetype), Name: joined(f.Component, f.Field), Span: 4 + len(names)}
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
		if len(raw) == 2 {
			row.Sides = [2]peer{v.Peers[raw[0]], v.Peers[raw[1]]}
			row.Bits = newBits(f.Raw[names[raw[0]]], f.Raw[names[raw[1]]], f.Kind)
		}
		if row.Bits != nil {
			tip = append(tip, row.Bits.Tip)
		}
		row.Tip = strings.Join(tip, "; ")
		if len(v.Shown) < shownValues {
			v.Shown = append(v.Shown, row)
		} else {
			v.More = append(v.More, row)
		}
	}
	if r.Compared != nil {
		for _, rows := range r.Compared.Rows {
			v.Rows = append(v.Rows, locusOnly{rows, peers.of(rows.Peer), tableName(rows), list(rows.Keys, 12)})
		}
	}
	return v
}

// tableName returns what entities that one side has are of.
func tableName(rows report.LocusRows) string {
	if rows.Cache {
		return "cache " + rows.Archetype
	}
	return labelName(rows.Archetype)
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
