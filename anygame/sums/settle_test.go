package sums_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
)

// TestSettle: of several numbers that may be the tick, the one at which checksums of two logs are equal is the tick. Each
// line has the tick, a number behind it and one before it by a lag that changes, and one with an offset in each log.
func TestSettle(t *testing.T) {
	for _, line := range []string{
		"sim %[1]d (net %[2]d, confirmed %[3]d) hash=%08[5]x",
		"net frame %[2]d, applied frame %[1]d, digest %08[5]x",
		"render_frame=%[4]d sim_tick=%[1]d checksum=%08[5]x",
		"local tick %[4]d server tick %[1]d crc=%08[5]x",
		"server tick %[1]d local tick %[4]d crc=%08[5]x",
		`{"frame":%[4]d,"tick":%[1]d,"hash":"%08[5]x"}`,
		"net=%[2]d conf=%[3]d gt=%[1]d state_hash=%08[5]x",
		"sim %[1]d (net %[6]d) hash=%08[5]x", // only words show it
		"net frame %[6]d, sim frame %[1]d, hash=%08[5]x",
	} {
		const from = 553
		var logs []sums.Sample
		for machine := range 2 {
			var out strings.Builder
			lag := 5
			for tick := 500; tick < 700; tick++ {
				lag = max(2, min(12, lag+(tick*7+machine*tick%5)%3-1))
				value := uint32(tick) * 2654435761
				if machine == 1 && tick >= from {
					value ^= 0x5bd1e995
				}
				fmt.Fprintf(&out, line+"%.0[7]s\n", tick, tick+lag, tick-lag, tick+900*machine, value, tick+6, "")
			}
			p := sums.Learn([]byte(out.String()), "log")
			if p == nil {
				t.Fatalf("%s: not read", line)
			}
			logs = append(logs, sums.Sample{Pattern: p, Text: []byte(out.String())})
		}
		sums.Settle(logs)
		var found []map[uint64]string
		for _, log := range logs {
			source, err := log.Pattern.Format().Read(strings.NewReader(string(log.Text)), "log", 0)
			if err != nil {
				t.Fatal(err)
			}
			values := map[uint64]string{}
			for {
				record, err := source.Next()
				if err != nil {
					break
				}
				if c := record.Checkpoint; c != nil {
					values[c.Tick] = string(c.Sums[0].Value)
				}
			}
			found = append(found, values)
		}
		for tick := uint64(500); tick < 700; tick++ {
			a, b := found[0][tick], found[1][tick]
			if want := fmt.Sprintf("0x%08x", uint32(tick)*2654435761); a != want || (b == want) != (tick < from) {
				t.Errorf("%s: %s and %s at %d, expected %s", line, a, b, tick, want)
				break
			}
		}
	}
}
