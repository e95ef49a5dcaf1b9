package states_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/notation"
)

// A state that a game wrote as JSON.
func Example() {
	text := []byte(`{"tick": 300, "units": [{"id": 7, "pos": {"x": 1.5, "y": 2}}, {"id": 9, "pos": {"x": 4, "y": 0}}]}`)
	n := notation.Of("state.json", text, true)
	var schema states.Schema
	if err := schema.Learn(n, text); err != nil {
		log.Fatal(err)
	}
	list, err := schema.Decode(n, text)
	if err != nil {
		log.Fatal(err)
	}
	units := list[0].Table(0, "units")
	fmt.Println("state point", list[0].Point)
	for row := range units.Rows() {
		fmt.Println("unit", units.Keys.At(row), "x", units.Column("pos", "x").At(row))
	}
	// Output:
	// state point 300
	// unit 7 x 1.5
	// unit 9 x 4
}
