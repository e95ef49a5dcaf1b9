package survey

import "testing"

// TestIsMeasured: a column of checksums next to columns of anything else belongs to one peer. The columns of several peers have
// the names of these.
func TestIsMeasured(t *testing.T) {
	for header, want := range map[string]bool{
		"frame,crc,rtt": true, "tick,hash,units,gold": true, "turn;checksum;rng": true, "tick,units,hash": true,
		"tick,hash": false, "tick,ann,bob": false, "tick,crc_a,crc_b": false, "units,gold": false, "tick,turn,hash,ms": false,
	} {
		if got := isMeasured([]byte(header + "\n1,2,3,4\n")); got != want {
			t.Errorf("%s: %v", header, got)
		}
	}
}
