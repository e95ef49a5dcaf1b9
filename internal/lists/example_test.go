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

func ExampleJoined() {
	groups := [][]string{{"ann", "bob"}, {"cid"}}
	fmt.Println(lists.Joined(groups, [][]string{{"ann", "bob"}, {"ann", "dan"}, {"dan", "cid"}, {"bob", "cid"}}))
	fmt.Println(lists.Joined(groups, [][]string{{"ann", "bob"}, {"cid", "dan"}}))
	// Output:
	// 2
	// -1
}

func ExampleWhere() {
	odd := func(n int) bool { return n%2 == 1 }
	fmt.Println(lists.Where([]int{7, 12, 3}, odd), lists.Where([]int{12}, odd) == nil, lists.Count([]int{7, 12, 3}, odd))
	// Output:
	// [7 3] true 2
}
