package bisect

import (
	"bytes"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// TestHashesAgainstMaps draws records of several epochs, in any order of points, and
// compares with the plain definition: a map in which later epochs overwrite earlier ones,
// and a map of an epoch's hashes by all that they are of.
func TestHashesAgainstMaps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := NewHashes(orderlog.Header{Peer: "b", Peers: []string{"a", "b"}})
		type place struct {
			point uint64
			kind  orderlog.HashKind
		}
		sums, epoch := map[uint64]byte{}, map[place]byte{}
		conflicts := map[uint64]bool{}
		number := uint32(3)
		for i := range rapid.IntRange(0, 60).Draw(t, "records") {
			if rapid.IntRange(0, 9).Draw(t, "new epoch") == 0 {
				number++
				clear(epoch)
			}
			o := orderlog.Observed{
				Point: uint64(rapid.IntRange(0, 20).Draw(t, "point")), Peer: uint32(rapid.IntRange(0, 1).Draw(t, "peer")),
				Kind: rapid.SampledFrom([]orderlog.HashKind{orderlog.SyncHash, orderlog.HistoryHash}).Draw(t, "kind"),
			}
			value := byte(rapid.IntRange(1, 2).Draw(t, "value"))
			sum := merkle.Short{value}
			o.Bytes = sum[:]
			rec := orderlog.Record{Kind: orderlog.ObservedRecord, Epoch: number, Observed: []orderlog.Observed{o}}
			if i%2 == 0 {
				rec = orderlog.Record{Kind: orderlog.TickRecord, Epoch: number, Tick: &orderlog.Tick{Hashes: []orderlog.Observed{o}}}
			}
			h.Add(&rec)
			if o.Peer != 1 {
				continue
			}
			if old, ok := epoch[place{o.Point, o.Kind}]; !ok {
				epoch[place{o.Point, o.Kind}] = value
			} else if old != value {
				conflicts[o.Point] = true
			}
			if o.Kind == orderlog.SyncHash {
				sums[o.Point] = value
			}
		}
		log := h.Log()
		var got []string
		for _, s := range log.Hashes {
			got = append(got, fmt.Sprint(s.Point, s.Sum[0]))
		}
		var want []string
		for point := range uint64(21) {
			if v, ok := sums[point]; ok {
				want = append(want, fmt.Sprint(point, v))
			}
			if _, ok := log.at(point); ok != (sums[point] > 0) {
				t.Fatalf("at %d: %v", point, ok)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("hashes %q, want %q", got, want)
		}
		slices.Sort(log.Conflicts)
		for point := range uint64(21) {
			if slices.Contains(log.Conflicts, point) != conflicts[point] {
				t.Fatalf("conflicts %d, want %v", log.Conflicts, conflicts)
			}
		}
	})
}

// TestHashesOfAStranger: a peer outside the session has no hashes.
func TestHashesOfAStranger(t *testing.T) {
	h := NewHashes(orderlog.Header{Peer: "c", Peers: []string{"a", "b"}})
	h.Add(&orderlog.Record{Kind: orderlog.ObservedRecord, Observed: []orderlog.Observed{{Kind: orderlog.SyncHash, Bytes: make([]byte, 8)}}})
	if log := h.Log(); len(log.Hashes) != 0 || len(log.lost()) != 1 {
		t.Errorf("%v, lost %q", log.Hashes, log.lost())
	}
}

// TestBlocksAgainstPoints: comparing logs block by block finds what comparing them point
// by point does.
func TestBlocksAgainstPoints(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var peers []*peer
		for range rapid.IntRange(2, 4).Draw(t, "peers") {
			log := &Log{}
			wrong := rapid.IntRange(0, 8).Draw(t, "wrong")
			gap := rapid.SampledFrom([]uint64{1, 300, 2000}).Draw(t, "gap")
			for i := range rapid.IntRange(0, 8).Draw(t, "hashes") {
				sum := merkle.Short{1}
				if i == wrong {
					sum[0]++
				}
				log.Hashes = append(log.Hashes, Hash{uint64(i) * gap, sum})
			}
			peers = append(peers, &peer{log: log, blocks: blocksOf(log.Hashes)})
		}
		counts := map[uint64]int{}
		for _, p := range peers {
			for _, h := range p.log.Hashes {
				counts[h.Point]++
			}
		}
		n := 0
		for _, c := range counts {
			if c > 1 {
				n++
			}
		}
		if got := recordedPoints(peers); got != n {
			t.Fatalf("%d points of two peers, want %d", got, n)
		}
		var want [2]string
		good := "-"
		for a, b := range inCommon(peers[0].log.Hashes, peers[1].log.Hashes, hashPoint) {
			if a.Sum != b.Sum {
				want = [2]string{fmt.Sprint(a.Point), good}
				break
			}
			good = fmt.Sprint(a.Point)
		}
		if want[0] == "" {
			want = [2]string{"-", good}
		}
		bad, equal := split(peers[0].blocks, peers[1].blocks)
		text := func(p *uint64) string {
			if p == nil {
				return "-"
			}
			return fmt.Sprint(*p)
		}
		if got := [2]string{text(bad), text(equal)}; got != want {
			t.Fatalf("%q, want %q", got, want)
		}
	})
}

// BenchmarkReadLog reads a log in which a search keeps a hash for each tick.
func BenchmarkReadLog(b *testing.B) {
	var file bytes.Buffer
	w, err := orderlog.NewWriter(&file, orderlog.Header{Seed: testSeed, Kinds: []orderlog.OrderKind{{Name: "move"}}}, orderlog.WriterOptions{})
	if err != nil {
		b.Fatal(err)
	}
	const ticks = 10_000
	for i := range uint64(ticks) {
		err := w.WriteTick(&orderlog.Tick{
			Number: i, Orders: []orderlog.Order{{Tick: i, Payload: make([]byte, 8)}},
			Hashes: []orderlog.Observed{{Point: i, Kind: orderlog.SyncHash, Bytes: make([]byte, 8)}},
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(file.Len()))
	for b.Loop() {
		source, err := orderlog.NewReader(bytes.NewReader(file.Bytes()), "x")
		if err != nil {
			b.Fatal(err)
		}
		if log, err := ReadLog(source); err != nil || len(log.Hashes) != ticks {
			b.Fatal(len(log.Hashes), err)
		}
	}
	b.ReportMetric(ticks*float64(b.N)/b.Elapsed().Seconds(), "ticks/s")
}
