package words_test

import (
	"fmt"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/report/words"
	"github.com/desynctool/desynctool/snapshot"
)

// From evidence to the printed sentence, without any file.
func ExampleReport() {
	c, err := verdict.Conclude(verdict.Evidence{Bisect: &bisect.Result{
		Peers:   []bisect.PeerInfo{{Name: "client", Log: true}, {Name: "host", Log: true}},
		Kind:    bisect.StateDiffers,
		Bracket: &bisect.Bracket{Good: &snapshot.Point{Tick: 90}, Bad: snapshot.Point{Tick: 91}, By: bisect.ByHashes, A: "client", B: "host"},
		Exact:   true, Tick: 90, Recorded: 201, Groups: [][]string{{"client"}, {"host"}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	r := words.Report(c)
	fmt.Println(r.Status)
	for _, line := range r.Verdict {
		fmt.Println(line)
	}
	// Output:
	// diverged
	// client and host diverged in tick 90.
	// The cause is not known: no states of the moment at which the peers diverged were compared.
	// Which peer is wrong is not known: a replay of the orders would show it (--sim).
}
