package lists_test

import (
	"fmt"
	"strconv"

	"github.com/desynctool/desynctool/internal/lists"
)

func ExampleMap() {
	fmt.Printf("%q\n", lists.Map([]int{7, 12}, strconv.Itoa))
	fmt.Println(lists.Map(nil, strconv.Itoa) == nil)
	// Output:
	// ["7" "12"]
	// true
}
