package notation_test

import (
	"fmt"
	"log"

	"github.com/desynctool/desynctool/notation"
)

// names writes the names of members.
type names struct{}

func (names) BeginMap(int)                 {}
func (names) BeginList(int)                {}
func (names) End(int)                      {}
func (names) Name(name []byte)             { fmt.Printf("%s\n", name) }
func (names) Item(name []byte)             { fmt.Printf("%s\n", name) }
func (names) Scalar(notation.Kind, []byte) {}

// The names of all members of a document.
func Example() {
	text := []byte(`{"tick": 5, "units": [{"id": 7}]}`)
	n := notation.Of("state.json", text, true)
	if err := n.Parse(text, names{}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// tick
	// units
	// id
}
