package bisect

import (
	"strings"
	"testing"
)

// TestManyPeers: every two peers are compared, so that their number is bounded.
func TestManyPeers(t *testing.T) {
	list := make([]*Peer, 1000)
	for i := range list {
		list[i] = &Peer{}
	}
	if _, err := Run(list, Options{}); err == nil || !strings.Contains(err.Error(), "1000 peers, at most 256") {
		t.Error(err)
	}
}
