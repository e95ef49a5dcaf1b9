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
	for _, f := range unit.Fields {
		fmt.Println(f.Offset, f.Path)
	}
	for _, p := range unit.Padding {
		fmt.Println(p.Size, "bytes after", p.After)
	}
	// Output:
	// 0 id
	// 4 alive
	// 8 hp
	// 3 bytes after alive
}

// Two dumps of a struct that differ only where it has no member.
func ExampleLayout_Findings() {
	unit, err := memory.Parse("struct Unit { u32 id; bool alive; f32 hp; };", "")
	if err != nil {
		fmt.Println(err)
		return
	}
	a := []byte("\x07\x00\x00\x00\x01\x00\x00\x00\x00\x00\xc0\x3f")
	b := []byte("\x07\x00\x00\x00\x01\xcd\xcd\xcd\x00\x00\xc0\x3f")
	w, err := unit.Decode(a, "a.bin", memory.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, c := range w.Table(0, memory.StateLabel).Columns {
		fmt.Println(c.Name(), c.At(0))
	}
	for _, sentence := range unit.Findings(a, b, memory.Options{}) {
		fmt.Println(sentence)
	}
	// Output:
	// Unit.alive 1
	// Unit.hp 1.5
	// Unit.id 7
	// padding differs: 3 bytes after Unit.alive: uninitialised memory in what was compared
	// nothing else differs: the values of the game are equal
}
