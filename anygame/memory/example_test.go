package memory_test

import (
	"fmt"

	"github.com/desynctool/desynctool/anygame/memory"
)

// What lies where in a struct.
func ExampleParse() {
	unit, err := memory.Parse("struct Unit { u32 id; bool alive; f32 hp; };", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(unit.Explain(4))
	fmt.Println(unit.Explain(6))
	// Output:
	// Unit.alive
	// padding after Unit.alive (3 bytes at offset 5 of Unit)
}
