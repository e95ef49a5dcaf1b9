package document

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// Differing writes the differences in a table between two peers: the first rows and values, or all in the document.
func (t *Text) Differing(d *TableDocument, peers [2]string, all bool) {
	var parts []string
	if d.Counts.Fields > 0 {
		parts = append(parts, prose.Count(d.Counts.Fields, "value differs", "values differ"))
	}
	for _, peer := range peers {
		if n := d.Counts.Only[peer]; n > 0 {
			parts = append(parts, prose.Count(n, "row", "rows")+" only on "+prose.Name(peer))
		}
	}
	t.put("  ", t.bold.Sprint(LabelName(d.Label)), t.faint.Sprint("  "+strings.Join(parts, ", ")))
	for _, line := range d.Schema {
		t.put("    ", t.warn.Sprint(Safe(line)))
	}
	for _, peer := range peers {
		keys := d.Only[peer]
		if len(keys) == 0 {
			continue
		}
		if len(keys) > 12 && !all {
			keys = keys[:12]
		}
		more := ""
		if n := d.Counts.Only[peer]; n > uint64(len(keys)) {
			more = fmt.Sprintf(" and %d more", n-uint64(len(keys)))
		}
		t.put("    only on ", t.name.Sprint(prose.Name(peer)), ": ", Safe(strings.Join(keys, " ")), more)
	}
	const shown = 5
	fields := d.Fields
	if len(fields) > shown && !all {
		fields = fields[:shown]
	}
	for i := range fields {
		f := &fields[i]
		key := ""
		if f.Key != "" { // the RNG has none
			key = Safe(f.Key) + "  "
		}
		t.put("    ", key, prose.Name(f.Component), ".", prose.Name(f.Field), "  ",
			t.good.Sprint(prose.Shorten(Safe(f.Values[peers[0]]), valueWidth)), t.faint.Sprint(" | "), t.bad.Sprint(prose.Shorten(Safe(f.Values[peers[1]]), valueWidth)),
			"  ", t.faint.Sprint(f.describe(peers)))
	}
	if n := d.Counts.Fields; n > uint64(len(fields)) {
		t.put("    ", t.faint.Sprintf("… and %d more  (--all, --format json)", n-uint64(len(fields))))
	}
}

// describe names the kind of change.
func (f *FieldDocument) describe(peers [2]string) string {
	text := Safe(string(f.Kind))
	if f.Kind == snapshot.KindFloat {
		text = f.float(peers)
	}
	if f.Bits > 0 {
		text += ", " + prose.Count(f.Bits, "bit", "bits")
	}
	return text
}
