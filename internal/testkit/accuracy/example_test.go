package accuracy_test

import (
	"fmt"

	"github.com/desynctool/desynctool/internal/testkit/accuracy"
)

// Some of the sessions that are played, and how marks are counted.
func ExampleCount() {
	var scores []*accuracy.Score
	for i, s := range accuracy.Faulty(accuracy.Reference{}, 3) {
		fmt.Println(s)
		mark := accuracy.Exact
		if i == 2 {
			mark = accuracy.Wrong
		}
		scores = append(scores, &accuracy.Score{Session: s, Bit: true, Marks: map[accuracy.Question]accuracy.Mark{accuracy.WhichKind: mark}})
	}
	tally := accuracy.Count(scores, func(*accuracy.Score) bool { return true })
	fmt.Println(tally.Bit, "of", tally.Sessions, "showed;", tally.Marks[accuracy.WhichKind][accuracy.Exact], "kinds are exact")
	// Output:
	// refsim, seed 1, rng-leak/Movement@20, 6 peers, 200 entities, trace column
	// refsim, seed 2, map-order/Combat@25, 4 peers, 700 entities, trace none, no snapshots, shuffled names
	// refsim, seed 3, unsorted-merge/Combat@30, 2 peers, 200 entities, trace system, no snapshots where the peers first differ
	// 3 of 3 showed; 2 kinds are exact
}
