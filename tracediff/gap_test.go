package tracediff

import "testing"

// TestGap: a tick is one, however many of its checkpoints are missing.
func TestGap(t *testing.T) {
	var info TraceInfo
	for range 4 {
		info.gap(Tick{Number: 345}, Tick{Number: 340}, 0)
	}
	if len(info.Gaps) != 1 || info.Gaps[0].Ticks != 1 || !info.Gaps[0].Brief() {
		t.Errorf("%+v", info.Gaps)
	}
	for _, tick := range []uint64{350, 355} {
		info.gap(Tick{Number: tick}, Tick{Number: 340}, 0)
	}
	if g := info.Gaps[0]; g.Ticks != 3 || g.Brief() {
		t.Errorf("%+v", g)
	}
	for ticks, framed := range map[int64]bool{7: false, 8: true} {
		if info.frame(ticks); info.Gaps[0].Brief() != framed {
			t.Errorf("%d ticks after 3: %+v", ticks, info.Gaps[0])
		}
	}
}
