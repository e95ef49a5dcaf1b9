package gitbisect_test

import (
	"context"
	"fmt"

	"github.com/desynctool/desynctool/bisect/gitbisect"
)

// A history of a hundred commits. The 42nd broke something.
func ExampleSearch() {
	g := &gitbisect.Graph{Good: []int{0}, Bad: 100, Nodes: []gitbisect.Node{{Before: true}}}
	for n := range 100 {
		g.Nodes = append(g.Nodes, gitbisect.Node{Parents: []int{n}})
	}
	built := map[int]bool{}
	test := func(_ context.Context, commit int, fresh bool) (gitbisect.Run, error) {
		run := gitbisect.Run{Verdict: gitbisect.Good, Built: !built[commit]}
		if built[commit] = true; commit >= 42 {
			run.Verdict = gitbisect.Bad
		}
		return run, nil
	}
	r, err := gitbisect.Search(context.Background(), g, test, gitbisect.Options{})
	builds, _, _ := r.Builds()
	fmt.Println(r.First, builds, r.Diverged(), err)
	// Output: 42 9 true <nil>
}
