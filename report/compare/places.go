package compare

import (
	"cmp"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
)

// places are words in the name of a component or field for where an entity is, rather than where it heads.
var places = []string{"position", "pos", "location", "globalposition", "fixedposition"}

// PlaceColumns returns the columns of a position by their names, where no format declares it, and
// which axes they are: "xy", "xz", "xyz"; "" if there are none. The first that fit count.
func PlaceColumns(columns []snapshot.ColumnInfo) (axes string, names []string) {
	for i := range columns {
		c := &columns[i]
		before, after, ok := axisOf(c.Field, "x")
		if !ok || !numeric(c.Type) && c.Type != snapshot.Scalar || !placed(c.Component, before+after) {
			continue
		}
		axes, names = "x", []string{columnName(c)}
		for _, axis := range []string{"y", "z"} {
			if k := slices.IndexFunc(columns, func(d snapshot.ColumnInfo) bool {
				return d.Component == c.Component && d.Field == before+axis+after && d.Type == c.Type
			}); k >= 0 {
				axes, names = axes+axis, append(names, columnName(&columns[k]))
			}
		}
		if len(axes) > 1 {
			return axes, names
		}
	}
	return "", nil
}

// axisOf cuts the name of an axis out of the name of a field: "x", "pos.x", "x_pos".
func axisOf(field, axis string) (before, after string, ok bool) {
	switch {
	case field == axis:
		return "", "", true
	case strings.HasSuffix(field, "."+axis), strings.HasSuffix(field, "_"+axis):
		return field[:len(field)-1], "", true
	case strings.HasPrefix(field, axis+"_"), strings.HasPrefix(field, axis+"."):
		return "", field[1:], true
	}
	return "", "", false
}

// placed reports whether a name is for where an entity is. The name is the field without its axis, or the component
// where nothing is left of the field.
func placed(component, rest string) bool {
	rest = cmp.Or(rest, component)
	rest = strings.NewReplacer("_", "", ".", "").Replace(strings.ToLower(rest))
	return slices.Contains(places, rest)
}

func numeric(t snapshot.Type) bool { return t.Width() >= 2 && t != snapshot.Ref }

func columnName(c *snapshot.ColumnInfo) string { return c.Component + "." + c.Field }

// eachRow calls f with some columns of each row. row is the row's number in the columns. A table that lacks one of the
// columns has no rows.
func eachRow(s snapshot.State, table int, columns []string, f func(key snapshot.Key, of []snapshot.Column, row int)) error {
	index, err := s.Index(table)
	if err != nil {
		return err
	}
	at := make([]int, len(columns))
	for i, name := range columns {
		if at[i] = slices.IndexFunc(index.Columns, func(c snapshot.ColumnInfo) bool { return columnName(&c) == name }); at[i] < 0 {
			return nil
		}
	}
	for block := range index.Blocks {
		keys, err := s.LoadKeys(table, block)
		if err != nil {
			return err
		}
		list := make([]snapshot.Column, len(columns))
		for i, column := range at {
			c, err := s.LoadBlock(table, block, column)
			if err != nil {
				return err
			}
			list[i] = c.Clone()
		}
		for row := range list[0].Rows() {
			f(keys.At(row), list, row)
		}
	}
	return nil
}

// number returns the value of a row as a number, NaN if it is none.
func number(c *snapshot.Column, row int) float64 {
	switch {
	case c.Has(row) && c.Type == snapshot.Scalar:
		if x, err := strconv.ParseFloat(string(c.Raw(row)), 64); err == nil {
			return x
		}
		return math.NaN()
	case !c.Has(row) || !numeric(c.Type):
		return math.NaN()
	case c.Type.Float():
		return c.Float(row)
	case c.Type == snapshot.Fixed:
		return float64(c.Int(row)) / float64(c.Scale)
	case c.Type.Signed():
		return float64(c.Int(row))
	}
	return float64(c.Uint(row))
}

// twoNumbers returns the first two numbers of a text with commas between them: "8761,67072,0".
func twoNumbers(text string) (x, y float64, ok bool) {
	first, rest, ok := strings.Cut(strings.Trim(text, "() "), ",")
	if !ok {
		return 0, 0, false
	}
	second, _, _ := strings.Cut(rest, ",")
	x, errX := strconv.ParseFloat(strings.TrimSpace(first), 64)
	y, errY := strconv.ParseFloat(strings.TrimSpace(second), 64)
	return x, y, errX == nil && errY == nil
}
