package mutate_test

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/mutate"
)

// The second value of [1, "two"] becomes nil, and then the first the largest number.
func Example() {
	b := append([]byte{0x92, 1, 0xa3}, "two"...)
	fmt.Println(mutate.Spans(b))
	fmt.Printf("% x\n", mutate.Change(b, []byte{2, 0, 4, 0, 1, 0, 0, 21}))
	// Output:
	// [{0 6} {1 2} {2 6}]
	// 92 cf ff ff ff ff ff ff ff ff c0
}
