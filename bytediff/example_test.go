package bytediff_test

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/bytediff"
)

// Two dumps that differ in one byte.
func ExampleCompare() {
	dump := func(text string) bytediff.File {
		return bytediff.File{Name: "dump", ReaderAt: strings.NewReader(text), Size: int64(len(text))}
	}
	r, err := bytediff.Compare(dump("hp\x00\x0a\x00unit"), dump("hp\x00\x0b\x00unit"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, g := range r.Ranges {
		fmt.Printf("offset %d: %x | %x\n", g.Offset, g.Raw[0], g.Raw[1])
	}
	// Output: offset 3: 0a | 0b
}
