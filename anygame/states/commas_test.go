package states_test

import (
	"cmp"
	"testing"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// TestDecimalCommas: numbers with commas are the same numbers with points where other files of the session have points, and
// texts where none has.
func TestDecimalCommas(t *testing.T) {
	const point, comma = `<save turn="5"><unit id="u1" hp="34.465"/><unit id="u2" hp="-1.5"/></save>`, `<save turn="5"><unit id="u1" hp="34,465"/><unit id="u2" hp="-1,5"/></save>`
	xml := notation.Of("a.xml", []byte(point), true)
	for _, c := range []struct {
		other string
		same  bool
	}{{point, true}, {comma, false}} {
		var schema states.Schema
		var held []snapshot.State
		for _, text := range []string{c.other, comma} {
			if err := schema.Learn(xml, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		for _, text := range []string{point, comma} {
			worlds, err := schema.Decode(xml, []byte(text))
			if err != nil || len(worlds) != 1 {
				t.Fatal(len(worlds), err)
			}
			s, err := snapshot.Hold(worlds[0])
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, s)
		}
		d, err := snapshot.Compare(held[0], held[1], snapshot.DiffOptions{Limit: 8})
		if err != nil {
			t.Fatal(err)
		}
		if same := len(d.Tables) == 0; same != c.same {
			t.Errorf("with %s: equal is %t, expected %t", c.other, same, c.same)
		}
	}
}

// TestSeparated: in a table with other separators, a number with a comma is one number. Places are two, and so are texts of other
// tables.
func TestSeparated(t *testing.T) {
	for _, c := range []struct {
		text   string
		number bool
	}{
		{"Nr;hp;name\n7;8,0;Ute\n9;12,5;Ida\n", true},
		{"Nr;hp;name\n7;8,25;Ute\n9;12,5;Ida\n", true},
		{"Nr;hp;name\n7;8;Ute\n9;12,5;Ida\n", true},
		{"Nr\thp\tname\n7\t-8,0\tUte\n9\t12,5\tIda\n", true},
		{"Nr;hp;name\n7;8,7;Ute\n9;12,70;Ida\n", false},
		{"Nr;hp;name\n7;8,5,1;Ute\n9;1,5;Ida\n", false},
		{"Nr;hp;name\n7;-;Ute\n9;1,5;Ida\n", false},
		{"Nr;cell;name\n7;8,7;Ute\n9;2,5;Ida\n", false},
		{"Nr,hp,name\n7,\"8,0\",Ute\n9,\"2,5\",Ida\n", false},
	} {
		var schema states.Schema
		worlds, err := schema.Decode(notation.Of("x.csv", []byte(c.text), true), []byte(c.text))
		if err != nil || len(worlds) != 1 {
			t.Fatal(len(worlds), err)
		}
		table := worlds[0].Tables[0]
		column := cmp.Or(table.Column("rows", "hp"), table.Column("rows", "cell"))
		if number := column != nil && column.At(0).Raw[0] != '"'; number != c.number {
			t.Errorf("%q: a number is %t, expected %t", c.text, number, c.number)
		}
	}
}
