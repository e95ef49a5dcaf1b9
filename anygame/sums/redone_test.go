package sums_test

import (
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/tracediff"
)

// redone are the lines of games that simulate ticks again: of a tick, whether it comes again, the last tick with all inputs,
// and the checksum.
var redone = map[string]func(tick int, again bool, confirmed int, sum uint32) string{
	"a letter": func(tick int, again bool, confirmed int, sum uint32) string {
		mark := "P"
		if again && tick <= confirmed {
			mark = "C"
		}
		return fmt.Sprintf("SIM f=%06d %s in=00/0a sum=%08x hp=5331", tick, mark, sum)
	},
	"a star, ticks in hexadecimal": func(tick int, again bool, _ int, sum uint32) string {
		mark := " "
		if again {
			mark = "*"
		}
		return fmt.Sprintf("t=%04x saved%s sum=%08x av1=%08x av2=%08x", tick, mark, sum, sum*7919, sum^0x5bd1e995)
	},
	"a word at the end": func(tick int, again bool, _ int, sum uint32) string {
		word := ""
		if again {
			word = " again"
		}
		return fmt.Sprintf("  %4d p %5d %08x%s", tick*17, tick, sum, word)
	},
	"a word before the tick": func(tick int, again bool, _ int, sum uint32) string {
		return fmt.Sprintf("[%d.25] %s %05d %08X", tick/60, map[bool]string{false: "PRED", true: "RESIM"}[again], tick, sum)
	},
	"a letter alone": func(tick int, again bool, _ int, sum uint32) string {
		return fmt.Sprintf("%s %d %08x", map[bool]string{false: "P", true: "R"}[again], tick, sum)
	},
	"an attribute": func(tick int, again bool, _ int, sum uint32) string {
		return fmt.Sprintf(`<frame n="%d" kind="%s" crc="%08x"/>`, tick, map[bool]string{false: "predicted", true: "resim"}[again], sum)
	},
	"inputs that recur": func(tick int, again bool, _ int, sum uint32) string {
		input := tick / 5 % 3
		if again {
			input = (tick/5 + 1) % 3
		}
		return fmt.Sprintf("[rb] %s frame=%d in=0%d/04 cs=%08x", map[bool]string{false: "advance", true: "resim"}[again], tick, input, sum)
	},
	"a truth value": func(tick int, again bool, _ int, sum uint32) string {
		return fmt.Sprintf("DEBUG session: advance frame=%d resim=%v inputs=[3, 1] checksum=0x%08x", tick, again, sum)
	},
	"the last tick with all inputs": func(tick int, _ bool, confirmed int, sum uint32) string {
		return fmt.Sprintf(`{"ev": "step", "f": %d, "conf": %d, "h": "%08x%08x"}`, tick, confirmed, sum, sum*31)
	},
}

// redo writes the log of a peer that goes back by up to four ticks where it guessed wrongly: one time of so many. From a tick on its checksums are others.
func redo(random *rand.Rand, often int, line func(int, bool, int, uint32) string, from int) string {
	var out strings.Builder
	sum := func(tick int) uint32 { return crc32.ChecksumIEEE(fmt.Append(nil, tick, tick >= from)) }
	for tick := 0; tick < 240; tick++ {
		if tick > 200 || random.IntN(often) > 0 {
			fmt.Fprintln(&out, line(tick, false, tick-1, sum(tick)))
			continue
		}
		last := tick + random.IntN(4)
		for t := tick; t <= last; t++ {
			fmt.Fprintln(&out, line(t, false, tick-1, random.Uint32()))
		}
		for t := tick; t <= last; t++ {
			fmt.Fprintln(&out, line(t, true, tick, sum(t)))
		}
		tick = last
	}
	return out.String()
}

// TestRedone: whatever marks the passes over a tick, its last value counts.
func TestRedone(t *testing.T) {
	for name, line := range redone {
		for seed := range uint64(8) {
			for _, from := range []int{1 << 20, 120} {
				var logs []sums.Sample
				var traces []*tracediff.Trace
				for peer := range uint64(2) {
					at := 1 << 20
					if peer == 1 {
						at = from
					}
					text := []byte(redo(rand.New(rand.NewPCG(seed, peer)), 3+int(seed%3), line, at))
					p := sums.Learn(text, "a.log")
					if p == nil {
						t.Fatalf("%s: nothing is learned of %.200s", name, text)
					}
					logs = append(logs, sums.Sample{Pattern: p, Text: text})
				}
				sums.Confirm(logs)
				for _, log := range logs {
					traces = append(traces, openLog(t, t.TempDir(), log.Text, log.Pattern.Format()))
				}
				r, err := tracediff.Compare(traces, tracediff.Options{})
				if err != nil {
					t.Fatal(err)
				}
				if from > 240 && r.First != nil || from < 240 && (r.First == nil || r.First.Tick.Number != uint64(from)) {
					t.Errorf("%s, seed %d, from %d: %+v", name, seed, from, r.First)
				}
			}
		}
	}
}

// TestInputsOfPasses: an input that another pass over a tick has is no pass, though its checksums are equal now and then.
func TestInputsOfPasses(t *testing.T) {
	log := func(peer uint64, from int) []byte {
		random := rand.New(rand.NewPCG(peer, 3))
		var out strings.Builder
		sum := func(tick int) uint32 { return crc32.ChecksumIEEE(fmt.Append(nil, tick, tick >= from)) }
		for tick := 0; tick < 240; {
			last := min(tick+random.IntN(4), 239)
			if random.IntN(3) > 0 {
				last = tick
				fmt.Fprintf(&out, "advance frame=%d in=0%d/04 cs=%08x\n", tick, tick/4%3, sum(tick))
			} else {
				right := random.IntN(2) == 0
				for at := tick; at <= last; at++ {
					guess := sum(at)
					if !right {
						guess = random.Uint32()
					}
					fmt.Fprintf(&out, "advance frame=%d in=0%d/04 cs=%08x\n", at, at/4%3, guess)
				}
				for at := tick; at <= last; at++ {
					fmt.Fprintf(&out, "resim frame=%d in=0%d/04 cs=%08x\n", at, (at/4+random.IntN(3))%3, sum(at))
				}
			}
			tick = last + 1
		}
		return []byte(out.String())
	}
	var traces []*tracediff.Trace
	for peer := range uint64(2) {
		text := log(peer, 1000-881*int(peer)) // from 119 on
		p := sums.Learn(text, "a.log")
		if p == nil {
			t.Fatal("not learned")
		}
		traces = append(traces, openLog(t, t.TempDir(), text, p.Format()))
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.Bracket == nil || r.Bracket.Good.Number != 118 || r.Bracket.Bad.Number != 119 {
		t.Errorf("diverged in %+v, not from 118 to 119", r.Bracket)
	}
}
