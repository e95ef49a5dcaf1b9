package compare_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
)

// TestSumsWithinStates: the checksums of a log narrow the bracket of the states, also where the log has a difference before it that
// healed, where the last equal checksum is before the last equal state, and where no checksum is equal.
func TestSumsWithinStates(t *testing.T) {
	for name, c := range map[string]struct {
		wrong  int            // from this tick on
		every  int            // ticks between checksums
		states []int          // ticks
		sums   func(int) bool // ticks with another checksum
		joins  int            // the first tick of the second peer
		want   string
	}{
		"a difference before it": {66, 1, []int{20, 40, 60, 80}, func(tick int) bool { return tick == 33 || tick == 34 || tick >= 66 }, 0, "65 66"},
		"seldom checksums":       {68, 10, []int{66, 74}, func(tick int) bool { return tick >= 68 }, 0, "66 70"},
		"a late joiner":          {50, 10, []int{80}, func(tick int) bool { return tick >= 50 }, 70, "70"},
	} {
		dir := t.TempDir()
		for peer, folder := range []string{"ann", "bob"} {
			if err := os.MkdirAll(filepath.Join(dir, folder), 0o755); err != nil {
				t.Fatal(err)
			}
			all := moments(3, 100, c.wrong+100*(1-peer), 1)
			log := ""
			for _, m := range all {
				sum := m.sum()
				if m.tick >= c.wrong {
					sum = uint32(m.tick+7) * 2654435761
				}
				if peer == 1 && c.sums(m.tick) {
					sum ^= 0x5a3c17
				}
				if m.tick%c.every == 0 && m.tick >= c.joins*peer {
					log += fmt.Sprintf("[sync] tick %d hash %08x\n", m.tick, sum)
				}
			}
			write := func(name, text string) {
				if err := os.WriteFile(filepath.Join(dir, folder, name), []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			write("game.log", log)
			for _, tick := range c.states {
				m := all[tick]
				write(fmt.Sprintf("state_%d.json", tick), fmt.Sprintf(`{"tick":%d,"gold":%d,"x":%d,"hp":[%d,%d,%d,%d]}`, tick, m.gold, m.x[0], m.hp[0], m.hp[1], m.hp[2], m.hp[3]))
			}
		}
		r, fault := triaged(t, archive.Options{}, dir)
		if r == nil {
			t.Fatal(fault)
		}
		first, _, _ := strings.Cut(textOf(t, r), "\n")
		if numbers := strings.Join(wholes.FindAllString(first, 2), " "); !strings.HasPrefix(numbers+" ", c.want+" ") {
			t.Errorf("%s: %s, want %s", name, first, c.want)
		}
	}
}
