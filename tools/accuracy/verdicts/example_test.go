package verdicts_test

import (
	"fmt"

	"github.com/desynctool/desynctool/tools/accuracy/verdicts"
)

// Some of the sessions that are played, and how marks are counted.
func ExampleCount() {
	var scores []*verdicts.Score
	for i, s := range verdicts.Faulty(verdicts.Reference{}, 3) {
		fmt.Println(s)
		mark := verdicts.Exact
		if i == 2 {
			mark = verdicts.Wrong
		}
		scores = append(scores, &verdicts.Score{Session: s, Bit: true, Marks: map[verdicts.Question]verdicts.Mark{verdicts.WhichKind: mark}})
	}
	tally := verdicts.Count(scores, func(*verdicts.Score) bool { return true })
	fmt.Println(tally.Bit, "of", tally.Sessions, "showed;", tally.Marks[verdicts.WhichKind][verdicts.Exact], "kinds are exact")
	// Output:
	// refsim, seed 1, rng-leak/Movement@20, 6 peers, 200 entities, trace column
	// refsim, seed 2, map-order/Combat@25, 4 peers, 700 entities, trace none, no snapshots, shuffled names
	// refsim, seed 3, unsorted-merge/Combat@30, 2 peers, 200 entities, trace system, no snapshots where the peers first differ
	// 3 of 3 showed; 2 kinds are exact
}
