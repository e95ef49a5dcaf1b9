package gamelog_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/desynctool/desynctool/report/bundle/gamelog"
)

// What only one of two peers has in its log.
func ExampleCompare() {
	var peers []gamelog.Peer
	for name, text := range map[string]string{
		"host":   "[12:00:01] WARN: pathing took 12 ms\n[12:00:09] ERROR: out of sync\n",
		"client": "[17:31:40] WARN: pathing took 40 ms\n[17:31:41] ERROR: cannot find def giant\n[17:31:50] ERROR: out of sync\n",
	} {
		l, err := gamelog.Read(strings.NewReader(text), "game.log", gamelog.Options{})
		if err != nil {
			log.Fatal(err)
		}
		peers = append(peers, gamelog.Peer{Name: name, Logs: []*gamelog.Log{l}})
	}
	for _, d := range gamelog.Compare(peers, gamelog.Split{}) {
		fmt.Printf("only %s, line %d: %v: %s\n", peers[d.Have[0].Peer].Name, d.Have[0].First, d.Severity, d.Text)
	}
	// Output: only client, line 2: error: cannot find def giant
}
