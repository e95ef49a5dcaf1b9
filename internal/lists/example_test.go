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
