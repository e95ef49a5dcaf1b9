package prose_test

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
)

// A character of Chinese takes two columns, and is one character all the same.
func Example() {
	fmt.Println(prose.Count(1, "peer", "peers"), prose.Count(0, "peer", "peers"))
	fmt.Println(prose.Columns("Fußvolk"), prose.Columns("步兵"))
	fmt.Println(prose.Shorten("步兵步兵步兵", 7), prose.Cut("步兵步兵步兵", 5))
	// Output:
	// 1 peer 0 peers
	// 7 4
	// 步兵步… 步兵步兵…
}

// The first of what may be many.
func ExampleFirstOf() {
	fmt.Println(prose.FirstOf([]string{"a", "b"}, 2))
	fmt.Println(prose.FirstOf([]string{"a", "b", "c", "d"}, 2))
	// Output:
	// a, b
	// a, b and 2 more
}

func ExampleFew() {
	fmt.Println(prose.Few([]string{"a", "b"}, 2))
	fmt.Println(prose.Few([]string{"a", "b", "c", "d"}, 2))
	// Output:
	// a; b
	// a; b; and 2 more
}
