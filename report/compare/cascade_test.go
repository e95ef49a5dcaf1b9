package compare_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
)

// TestCascadeOfMatch: what differs in the second match of a log is named as the second match's.
func TestCascadeOfMatch(t *testing.T) {
	dir := t.TempDir()
	for peer, name := range []string{"ann", "bob"} {
		var log strings.Builder
		for match, ticks := range []int{60, 80} {
			fmt.Fprintf(&log, "lobby: match #%d starting\n", match+1)
			for i, m := range moments(uint64(match+3), ticks, -1, 0) {
				sum := m.sum()
				wrong := func(from int) uint32 {
					if peer == 1 && match == 1 && i >= from {
						return 1
					}
					return 0
				}
				fmt.Fprintf(&log, "sim: tick=%d units=%08x map=%08x\n", i, sum^wrong(40), sum*31^wrong(50))
			}
		}
		if err := os.WriteFile(filepath.Join(dir, name+".log"), []byte(log.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	r, fault := triaged(t, archive.Options{}, dir)
	if r == nil {
		t.Fatal(fault)
	}
	if text := textOf(t, r); !strings.Contains(text, "tick 40 of match 2") || strings.Contains(text, "of match 1") {
		t.Error(text)
	}
}
