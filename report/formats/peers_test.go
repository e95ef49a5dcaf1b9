package formats

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/orderlog/files"
)

// TestGatherNothing: a folder without evidence is no peer.
func TestGatherNothing(t *testing.T) {
	dir := t.TempDir()
	if peers, err := Gather(files.Disk, []string{dir}, Snapshots()); err == nil || !strings.Contains(err.Error(), "no snapshots and no order-log.bin") {
		t.Errorf("%d peers, %v", len(peers), err)
	}
}
