package page

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// maxCell is how many columns of text a key or a value takes before the next one is no longer aligned.
const maxCell = 32

// columns fills v with a node for each column of which the report lists values, and returns how many values it lists.
func (t *treeBuilder) columns(v *locusView, k *document.Compared) (listed uint64) {
	for i := range k.Columns[:min(len(k.Columns), maxColumns)] {
		c := &k.Columns[i]
		if c.Listed == nil {
			if c.Archetype == "" { // the RNG: the locus has its only value
				listed++
			}
			continue
		}
		n := &node{Level: "column", Title: joined(c.Component, c.Field)}
		if !strings.HasPrefix(n.Title, c.Archetype+".") {
			n.Title = labelName(c.Archetype) + " › " + n.Title
		}
		if c.Cache {
			n.Title = "cache: " + n.Title
		}
		n.ID = t.ids.unique("column", c.Archetype, c.Component, c.Field)
		n.Count = prose.Count(c.Changed, "value", "values")
		if text := c.Pattern.Text(k.Peers, c.Changed); text != "" {
			n.Count += ": " + text
		}
		rows := uint64(len(c.Listed.Keys))
		if listed += rows; rows < c.Changed {
			n.Notes = []string{fmt.Sprintf("the first %d; %d more are not listed", rows, c.Changed-rows)}
		}
		n.Lines = linesOf(c.Listed, k.Peers)
		v.Columns = append(v.Columns, n)
	}
	return listed
}

// linesOf returns a line for each value, under a line with the names of the peers.
func linesOf(l *document.ListedValues, names [2]string) string {
	table := [3][]string{append([]string{"key"}, l.Keys...)}
	var width [3]int
	for side := range l.Values {
		table[side+1] = append([]string{names[side]}, l.Values[side]...)
	}
	for i, column := range table {
		for j := range column {
			column[j] = document.Safe(column[j])
			width[i] = max(width[i], min(prose.Columns(column[j]), maxCell))
		}
	}
	var b strings.Builder
	for j := range table[0] {
		for i, column := range table {
			text := ""
			if j < len(column) {
				text = column[j]
			}
			b.WriteString(text)
			if i < 2 {
				b.WriteString(strings.Repeat(" ", max(0, width[i]-prose.Columns(text))+2))
			}
		}
		b.WriteByte('\n')
	}
	return b.String()
}
