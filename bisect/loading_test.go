package bisect

import (
	"testing"

	"github.com/desynctool/desynctool/orderlog"
)

// TestLoadWithoutGap: one or all peers load a saved game and play on. A peer diverged by loading if its orders had led it to the
// state of the others, and the load replaced that state; else it diverged by playing.
func TestLoadWithoutGap(t *testing.T) {
	const loads, end = 5, 9
	log := func(peer int, load bool, state func(epoch int, point uint64) byte) *Log {
		h := NewHashes(orderlog.Header{Seed: 1, Peer: []string{"a", "b"}[peer], Peers: []string{"a", "b"}})
		for epoch := range 2 {
			for point := []uint64{0, loads}[epoch]; point < []uint64{loads, end}[epoch]; point++ {
				tick := orderlog.Tick{Number: point}
				seen := func(at uint64) []orderlog.Observed {
					return []orderlog.Observed{{Point: at, Peer: uint32(peer), Kind: orderlog.SyncHash, Bytes: []byte{state(epoch, at), byte(at), 0, 0, 0, 0, 0, 0}}}
				}
				if tick.Hashes = seen(point); load && epoch == 1 && point == loads {
					tick.Markers = []orderlog.Marker{{Kind: orderlog.Load, Peer: uint32(peer), Point: loads, NewEpoch: true}}
				}
				number := uint32(epoch)
				if !load {
					number = 0
				}
				h.Add(&orderlog.Record{Kind: orderlog.TickRecord, Epoch: number, Tick: &tick})
				if load && epoch == 0 && point == loads-1 {
					h.Add(&orderlog.Record{Kind: orderlog.ObservedRecord, Observed: seen(loads)})
				}
			}
		}
		return h.Log()
	}
	right := func(int, uint64) byte { return 0 }
	for name, c := range map[string]struct {
		state  func(epoch int, point uint64) byte
		loaded bool
	}{
		"a load loses something":    {func(epoch int, _ uint64) byte { return byte(epoch) }, true},
		"the tick before the load":  {func(epoch int, point uint64) byte { return min(byte(point/loads), 1) }, false},
		"that tick, and the load":   {func(epoch int, point uint64) byte { return byte(epoch) + min(byte(point/loads), 1) }, false},
		"the tick after the load":   {func(_ int, point uint64) byte { return min(byte(point/(loads+1)), 1) }, false},
		"a tick long before it":     {func(_ int, point uint64) byte { return min(byte(point/2), 1) }, false},
		"the load puts it right":    {func(epoch int, point uint64) byte { return byte(1-epoch) * min(byte(point/2), 1) }, false},
		"it diverges, load or none": {func(epoch int, point uint64) byte { return min(byte(point/2), 1) * byte(1+epoch) }, false},
	} {
		for _, both := range []bool{true, false} {
			r, err := Run([]*Peer{{Name: "a", Path: "a", Log: log(0, both, right)}, {Name: "b", Path: "b", Log: log(1, true, c.state)}}, Options{})
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if got := r.Loaded != nil && r.Loaded.Peer == "b" && r.Loaded.Began == BeganLoad && r.Loaded.After == nil && !r.Exact && r.Bracket.Bad.Tick == loads; got != c.loaded || r.Loaded != nil != c.loaded {
				t.Errorf("%s, both load: %v: %+v in %+v, exact: %v", name, both, r.Loaded, r.Bracket, r.Exact)
			}
		}
	}
}
