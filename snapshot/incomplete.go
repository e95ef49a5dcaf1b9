package snapshot

import "cmp"

// Properties of an incomplete state. They are in Head.Meta, so that every copy of the state keeps them.
const (
	incompleteKey = "incomplete" // describes the missing parts
	pasteKey      = "paste"      // identifies the diff that contains this side
)

// SetIncomplete marks a state as known only in part. text describes the missing parts: "lines 8–1882 are not in it".
// paste identifies the diff that contains the state as one side. It is empty for another kind of excerpt: see
// partial.Head.
func (h *Head) SetIncomplete(text, paste string) {
	text = cmp.Or(text, "it is an excerpt")
	if h.Meta == nil {
		h.Meta = map[string]string{}
	}
	h.Meta[incompleteKey] = text
	if paste != "" {
		h.Meta[pasteKey] = paste
	}
}

// Incomplete describes the missing parts of the state, "" for a whole state. The root and all other hashes of an
// incomplete state cover only the known part, so they are never compared with hashes that were recorded elsewhere.
func (h *Head) Incomplete() string { return h.Meta[incompleteKey] }

// Alike reports whether two states are known to the same extent: both are whole, or they are the two sides of one diff.
// Data that only one of them has is then a difference. For other incomplete states, only data in both can be compared.
func Alike(a, b *Head) bool {
	if a.Incomplete() == "" && b.Incomplete() == "" {
		return true
	}
	return a.Meta[pasteKey] != "" && a.Meta[pasteKey] == b.Meta[pasteKey]
}

// Common returns two states without data that only one of them can show: every table, row, column and value that an
// incomplete state lacks is removed from the other state. States that are [Alike] are returned unchanged. Other states
// are loaded completely, and may be closed when Common returns.
func Common(a, b State) (State, State, error) {
	ha, hb := &a.Info().Head, &b.Info().Head
	if Alike(ha, hb) {
		return a, b, nil
	}
	wa, err := Load(a)
	if err != nil {
		return nil, nil, err
	}
	wb, err := Load(b)
	if err != nil {
		return nil, nil, err
	}
	ta, tb := wa, wb
	if hb.Incomplete() != "" {
		ta = trimmed(wa, wb)
	}
	if ha.Incomplete() != "" {
		tb = trimmed(wb, wa)
	}
	ca, err := Hold(ta)
	if err != nil {
		return nil, nil, err
	}
	cb, err := Hold(tb)
	return ca, cb, err
}

// trimmed returns a state without the data that other, an incomplete state, lacks.
func trimmed(w, other *World) *World {
	out := &World{Head: w.Head}
	if other.RNG == nil {
		out.RNG = nil
	}
	for i := range w.Tables {
		t := &w.Tables[i]
		if o := other.Table(t.Class, t.Label); o != nil && o.Keys.Parts() == t.Keys.Parts() {
			out.Tables = append(out.Tables, trimmedTable(t, o))
		}
	}
	return out
}

// trimmedTable returns a table without the rows, columns and values that the other one lacks.
func trimmedTable(t, o *Table) Table {
	out := Table{Label: t.Label, Class: t.Class}
	out.Keys = newKeys(t.Keys.Parts(), 0)
	var rows [][2]int // in t and in o
	for i, k := range pairUp(t.Rows(), o.Rows(), func(i, k int) int { return t.Keys.At(i).Compare(o.Keys.At(k)) }) {
		if i >= 0 && k >= 0 {
			rows = append(rows, [2]int{i, k})
			out.Keys.add(t.Keys.At(i))
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		known := o.Column(c.Component, c.Field)
		if known == nil || known.Schema != c.Schema {
			continue // an excerpt does not show types
		}
		cut := Column{Schema: c.Schema}
		for _, r := range rows {
			if known.Has(r[1]) {
				cut.appendRow(c, r[0])
			} else {
				cut.AppendAbsent()
			}
		}
		out.Columns = append(out.Columns, cut)
	}
	return out
}
