package sums_test

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/tracediff"
)

// nearbyForms write the values of one tick of a log with checksums. The first value belongs to the machine.
var nearbyForms = []func(tick, own int, sum uint32, hp [3]int) string{
	func(tick, own int, sum uint32, hp [3]int) string {
		return fmt.Sprintf("turn=%d checksum=%08x load=%d hp0=%d hp1=%d hp2=%d\n", tick, sum, own, hp[0], hp[1], hp[2])
	},
	func(tick, own int, sum uint32, hp [3]int) string {
		return fmt.Sprintf(`{"ts":%d.%03d,"tick":%d,"crc":"%08x","load":%d,"hp0":%d,"hp1":%d,"hp2":%d}`+"\n", 1700000000+tick, own, tick, sum, own, hp[0], hp[1], hp[2])
	},
	func(tick, own int, sum uint32, hp [3]int) string {
		head := ""
		if tick == 0 {
			head = "tick;crc;load;hp0;hp1;hp2\n"
		}
		return head + fmt.Sprintf("%d;%08x;%d;%d;%d;%d\n", tick, sum, own, hp[0], hp[1], hp[2])
	},
	func(tick, own int, sum uint32, hp [3]int) string {
		text := fmt.Sprintf("[sync] frame %d hash %08x\n", tick, sum)
		if tick%4 > 0 { // checksums are rarer than values
			text = fmt.Sprintf("[net] frame %d load %d\n", tick, own)
		}
		for i, value := range hp {
			text = fmt.Sprintf("[sim] frame %d unit #%d hp%d %d\n", tick, i, i, value) + text
		}
		return text
	},
	func(tick, own int, sum uint32, hp [3]int) string { // members of a document below the checksum
		text := fmt.Sprintf("--- frame %d  hash=%d\n\"load\": %d,\n", tick, sum, own)
		for i, value := range hp {
			text += fmt.Sprintf("\"hp%d\": Vec2(%d, 5),\n", i, value)
		}
		return text
	},
}

// TestNearby: of the values near checksums, those are found that begin to differ where the checksums do, in their first tick.
// Values of the machine are not, nor is anything if only the checksums differ.
func TestNearby(t *testing.T) {
	folders := [2]string{t.TempDir(), t.TempDir()}
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.IntRange(0, len(nearbyForms)-1).Draw(t, "form")
		n := rapid.IntRange(60, 200).Draw(t, "ticks")
		bad := rapid.IntRange(16, n-8).Draw(t, "bad tick")
		unit := rapid.IntRange(-1, 2).Draw(t, "unit that differs")
		seed := rapid.Uint64().Draw(t, "seed")
		var traces []*tracediff.Trace
		for peer := range 2 {
			game, own := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, uint64(peer+1)))
			hp := [3]int{100, 200, 300}
			var log strings.Builder
			for tick := range n {
				if i := game.IntN(24); i < 3 {
					hp[i] -= 1 + game.IntN(5)
				}
				shown, sum := hp, uint32(game.Uint64())
				if peer == 1 && tick >= bad {
					sum ^= 0x5a5a0101
					if unit >= 0 {
						shown[unit] += 7
					}
				}
				load := own.IntN(900)
				if tick < 8 {
					load = 1
				}
				if tick == bad {
					fmt.Fprintf(&log, "[gc] frame %d swept %d\n", tick, load)
				}
				log.WriteString(nearbyForms[form](tick, load, sum, shown))
			}
			p := sums.Learn([]byte(log.String()), "")
			if p == nil {
				t.Fatalf("not learned:\n%s", log.String())
			}
			traces = append(traces, openLog(t, folders[peer], []byte(log.String()), p.Format()))
		}
		r, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if r.First == nil {
			t.Fatalf("no difference, expected one in tick %d", bad)
		}
		var values [2]int
		for peer := range values {
			var got []string
			for _, d := range r.First.Values[peer].Detail {
				got = append(got, strings.TrimSpace(d.Text+" "+d.Aside))
			}
			if unit < 0 && len(got) > 0 {
				t.Fatalf("only checksums differ, got %q", got)
			}
			if unit < 0 {
				continue
			}
			if len(got) != 2 || !strings.HasPrefix(got[0], fmt.Sprintf("hp%d", unit)) {
				t.Fatalf("hp%d differs from tick %d on, got %q", unit, bad, got)
			}
			late := r.First.Tick.Number > uint64(bad)
			if since := fmt.Sprintf("from frame %d on", bad); strings.HasSuffix(got[0], since) != late {
				t.Fatalf("the checksums differ in tick %d, got %q, expected %q", r.First.Tick.Number, got, since)
			}
			fmt.Sscan(got[1], &values[peer])
		}
		if unit >= 0 && values[0]+7 != values[1] {
			t.Fatalf("got %d, expected the second to be 7 more", values)
		}
	})
}

// TestNearbyGenerator: a state of random numbers beside the checksum is named, after other values.
func TestNearbyGenerator(t *testing.T) {
	log := func(from, gold int) (out string) {
		for turn := 1; turn <= 60; turn++ {
			rng, coins := uint32(turn*turn)*2654435761, 7+turn/9
			if turn >= from {
				rng, coins = rng+5, coins+gold
			}
			out += fmt.Sprintf("turn %d simhash=0x%08x rng=0x%08x gold=%d wait=4.%dms\n", turn, rng*31, rng, coins, turn%7)
		}
		return out
	}
	for gold, want := range map[int]string{0: "rng", 3: "gold"} {
		var traces []*tracediff.Trace
		for i, text := range []string{log(99, 0), log(40, gold)} {
			traces = append(traces, open(t, filepath.Join(t.TempDir(), fmt.Sprintf("peer%d.log", i)), text))
		}
		r, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil || r.First == nil {
			t.Fatal(r, err)
		}
		if got := r.First.Values[0].Detail; len(got) == 0 || got[0].Text != want {
			t.Errorf("gold differs by %d: %+v, want %s", gold, got, want)
		}
	}
}

// TestNearbyShorter: a log that became shorter, or whose line there is another one, has no values near its checksum.
func TestNearbyShorter(t *testing.T) {
	var log strings.Builder
	for tick := range 400 {
		log.WriteString(nearbyForms[0](tick, 1, uint32(tick+1)*2654435761, [3]int{tick, 5, 7}))
	}
	f := sums.Learn([]byte(log.String()), "").Format()
	for _, offset := range []int64{0, 1, 700, int64(log.Len()) - 1, int64(log.Len()), int64(log.Len()) + 9000} {
		var sides []tracediff.Side
		for range 2 {
			sides = append(sides, tracediff.Side{Name: "a.log", In: strings.NewReader(log.String()), Value: &tracediff.Value{Pos: tracediff.Position{Offset: offset}}})
		}
		if list, _ := f.Narrow(sides); len(slices.Concat(list...)) > 0 {
			t.Errorf("offset %d: %q", offset, list)
		}
	}
}

// TestNearbyThings: a value near checksums is named with what its line is about, though other things come and go.
func TestNearbyThings(t *testing.T) {
	log := func(mule, store int) (out string) {
		for turn := 1; turn <= 40; turn++ {
			out += fmt.Sprintf("[Dump] turn %d begin (9 things)\n", turn)
			sum := uint32(turn*turn) * 2654435761
			for i, name := range []string{"east", "west"} {
				oats := 90 + turn/7
				if turn >= store && i == 1 {
					oats, sum = oats+3, sum^0x5a5a0101
				}
				out += fmt.Sprintf("  store %s: oats=%d rye=4\n", name, oats)
			}
			for id := 300; id < 308; id++ {
				load := id%5 + turn/9
				if id == 302 && turn > 20 || id == 305 && turn < 9 {
					continue
				}
				if turn >= mule && id == 306 {
					load, sum = load+2, sum^0x1010505a
				}
				out += fmt.Sprintf("  #%d %s: pos=(%d.50, 7.00) load=%d\n", id, []string{"Mule", "Cart"}[id%2], id%7, load)
			}
			out += fmt.Sprintf("[Dump] turn %d end hash=%d\n", turn, sum)
		}
		return out
	}
	for want, text := range map[string]string{"load of #306 Mule": log(31, 99), "oats of store west": log(99, 31)} {
		var traces []*tracediff.Trace
		for _, one := range []string{log(99, 99), text} {
			p := sums.Learn([]byte(one), "")
			if p == nil {
				t.Fatal("not learned")
			}
			traces = append(traces, openLog(t, t.TempDir(), []byte(one), p.Format()))
		}
		r, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil || r.First == nil || r.First.Tick.Number != 31 {
			t.Fatal(r, err)
		}
		if d := r.First.Values[0].Detail; len(d) < 2 || d[0].Text != want {
			t.Errorf("%q, expected %s", d, want)
		}
	}
}
