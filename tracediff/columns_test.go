package tracediff

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Columns of one name are numbered, each by the first number from 2 on that is free.
func TestColumnsOfOneName(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cells := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "a#2", "a#3", "b", "a#2#2"}), 1, 12).Draw(t, "cells")
		line := []byte("tick")
		var want []string
		for _, cell := range cells {
			line = append(append(line, ','), cell...)
			name := cell
			for n := 2; slices.Contains(want, name); n++ {
				name = fmt.Sprintf("%s#%d", cell, n)
			}
			want = append(want, name)
		}
		if g, _, _ := sniffTable([][]byte{line}, ','); !slices.Equal(g.columns, want) {
			t.Errorf("%s: %q, expected %q", line, g.columns, want)
		}
	})
}

// A line of thousands of equal words is looked at as quickly as any other.
func TestManyColumnsOfOneName(t *testing.T) {
	const n = 200_000
	g, _, _ := sniffTable([][]byte{bytes.Repeat([]byte("> "), n)}, ' ')
	if last := g.columns[len(g.columns)-1]; last != fmt.Sprintf(">#%d", n-1) {
		t.Errorf("column %s of %d", last, len(g.columns))
	}
}
