package verdict_test

import (
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
)

// TestGameLogs: lines of games' own logs are kept unless something was compared and agrees. They
// make no cause, and only a line about data that a single peer has is one to look at first.
func TestGameLogs(t *testing.T) {
	logs := &document.GameLogs{Lines: []document.GameLogLine{
		{Text: "near", Have: []document.GameLogPlace{{Peer: "b"}}, Lack: []string{"a"}},
		{Text: "more often", Data: true, Have: []document.GameLogPlace{{Peer: "b"}}},
		{Text: "both of three", Data: true, Have: []document.GameLogPlace{{Peer: "a"}, {Peer: "b"}}, Lack: []string{"c"}},
		{Text: "no def", Data: true, Have: []document.GameLogPlace{{Peer: "b"}}, Lack: []string{"a"}},
	}}
	c, err := verdict.Conclude(verdict.Evidence{GameLogs: logs})
	if err != nil || c.GameLogs != logs || len(c.Causes) > 0 {
		t.Fatalf("alone: %v %+v", err, c)
	}
	if l := c.LackedData(); l == nil || l.Text != "no def" {
		t.Errorf("%+v", l)
	}
	inSync := &bisect.Result{Peers: []bisect.PeerInfo{{Name: "a"}, {Name: "b"}}, Probes: 3, Snapshots: 4}
	c, err = verdict.Conclude(verdict.Evidence{Bisect: inSync, GameLogs: logs})
	if err != nil || c.Search.Compares() == (c.GameLogs != nil) {
		t.Errorf("compared %v: %v %+v", c.Search.Compares(), err, c.GameLogs)
	}
}
