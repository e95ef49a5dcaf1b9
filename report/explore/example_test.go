package explore_test

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/explore"
)

// The tree of a report is data, with a command for each line; Run shows it in a terminal.
func Example() {
	r := &document.Report{
		Head:    document.NewHead("triage", document.Diverged, nil),
		Verdict: []string{"host and client diverged in tick 1234, in Combat."},
		Session: document.Session{Game: "My Game", Last: 3000},
		Ladder:  []document.Rung{{Step: "tick", State: document.RungFound, Found: "1234", Evidence: "the bracket is one tick wide"}},
	}
	var print func(n *explore.Node, depth int)
	print = func(n *explore.Node, depth int) {
		fmt.Printf("%s%s: %s  (%s)\n", strings.Repeat("  ", depth), n.Title, n.Aside, n.Command)
		for _, c := range n.Children {
			print(c, depth+1)
		}
	}
	print(explore.Build([]*document.Report{r}, explore.Given{Paths: []string{"host", "my client"}}), 0)
	// Output:
	// session: My Game  (desynctool doctor host 'my client')
	//   verdict: diverged  (desynctool triage host 'my client')
	//   narrowing:   (desynctool triage host 'my client')
	//     tick: 1234  (desynctool bisect host 'my client')
}
