package sums_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/tracediff"
)

// passes are the lines of games that compute ticks again, with the words for a guess, for another one and for the last pass.
var passes = []struct {
	line  string // of the pass, the tick and the checksum
	words [3]string
}{
	{"2025-01-19T20:14:00.02Z DEBUG ThreadId(01) net: frame=%[2]d status=%[1]s crc=%[3]s", [3]string{"Predicted", "Resim", "Confirmed"}},
	{"DEBUG net: frame %[2]d phase=%[1]s checksum=%[3]s", [3]string{"speculative", "replay", "final"}},
	{"tick %[2]d (%[1]s) hash 0x%[3]s", [3]string{"geschätzt", "nochmal", "endgültig"}}, // in words that nobody knows
	{"frame=%[2]d attempt=%[1]s crc=%[3]s", [3]string{"1", "2", "3"}},
	{"[%[1]s] frame %[2]d hash %[3]s", [3]string{"predicted", "resim", "confirmed"}},
	{"[20.11.43:016][ 20]NetRollback: %[1]s Frame=%[2]d Checksum=0x%[3]s", [3]string{"Verbose: Predict", "Verbose:   Resim", "Confirm"}},
}

// rollback writes the log of a peer that guesses, of ticks from 1 to 200. From a tick on its final checksums are others.
func rollback(random *rand.Rand, line string, words [3]string, from int) string {
	var out strings.Builder
	write := func(pass, tick int) {
		value := uint32(tick) * 2654435761
		if tick >= from {
			value ^= 0x5bd1e995
		}
		if pass < 2 && random.IntN(3) == 0 { // the guess is wrong
			value = random.Uint32()
		}
		fmt.Fprintf(&out, line+"\n", words[pass], tick, fmt.Sprintf("%08x", value))
	}
	for next, confirmed := 1, 0; next <= 200; {
		for range 1 + random.IntN(4) {
			write(0, next)
			next++
		}
		for last := next - 1 - random.IntN(2); confirmed < last; {
			confirmed++
			write(2, confirmed)
		}
		for tick := confirmed + 1; tick < next; tick++ {
			write(1, tick)
		}
	}
	return out.String()
}

// TestPasses: the words for passes over the ticks are no peers and no parts of the state, and only the last pass counts.
func TestPasses(t *testing.T) {
	for _, c := range passes {
		for _, from := range []int{1 << 20, 120} {
			random := rand.New(rand.NewPCG(3, uint64(from)))
			logs := []string{rollback(random, c.line, c.words, 1<<20), rollback(random, c.line, c.words, from)}
			var confirmed [2]map[uint64]string
			for i, log := range logs {
				p := sums.Learn([]byte(log), "log")
				if p == nil || p.Format().Peers != nil {
					t.Fatalf("%s: not the log of one peer: %v\n%.300s", c.line, p, log)
				}
				source, _ := p.Format().Read(strings.NewReader(log), "log", 0)
				confirmed[i] = map[uint64]string{}
				for record, err := source.Next(); err == nil; record, err = source.Next() {
					if c := record.Checkpoint; c != nil && c.Phase == tracediff.Confirmed {
						if confirmed[i][c.Tick] != "" || strings.Contains(c.Scope, "#") {
							t.Fatalf("tick %d is confirmed twice, scope %q", c.Tick, c.Scope)
						}
						confirmed[i][c.Tick] = string(c.Sums[0].Value)
					}
				}
			}
			common := 0
			for tick, value := range confirmed[0] {
				if other := confirmed[1][tick]; other != "" {
					if common++; (other != value) != (int(tick) >= from) {
						t.Fatalf("%s: tick %d: %s, %s", c.line, tick, value, other)
					}
				}
			}
			if common < 150 {
				t.Fatalf("%s: %d ticks", c.line, common)
			}
		}
	}
}

// TestCrowded: one of many values of a line does not show that the others are equal.
func TestCrowded(t *testing.T) {
	var state, parts strings.Builder
	for i := 1; i < 20; i++ {
		sum := func(n int) uint32 { return uint32(i*100+n) * 2654435761 }
		fmt.Fprintf(&state, "World tick=%d gen=SMGen %d hp=%d mana=%d x=%d y=%d gold=%d wood=%d ore=%d food=%d\n", i, sum(0), i, i, i%3, 1, i, 7, 2, 1)
		fmt.Fprintf(&parts, "tick %d", i)
		for n, name := range strings.Fields("physics units map ai paths shots orders effects script") {
			fmt.Fprintf(&parts, " %s=%08x", name, sum(n)|0xa0000000)
		}
		parts.WriteByte('\n')
	}
	for log, want := range map[string]bool{state.String(): true, parts.String(): false} {
		if p := sums.Learn([]byte(log), "log"); p == nil || p.Seeds() != want {
			t.Errorf("%v, want %v: %.200s", p, want, log)
		}
	}
}

// TestOneTickBack: a rollback by one tick simulates that tick again, and is no second checksum of it. Confirmed checksums that
// always differ from a tick on are never equal again.
func TestOneTickBack(t *testing.T) {
	log := func(machine uint32, every int) string {
		var out strings.Builder
		for tick := 1; tick <= 120; tick++ {
			sum := uint32(tick*tick*7919) * 2654435761
			if tick >= 40 {
				sum ^= machine
			}
			if tick%every == 0 {
				fmt.Fprintf(&out, "sim: step{tick=%d} predicted=true crc=%08x\nnet: wrong guess, rollback to %d\nsim: again{tick=%d} crc=%08x\n", tick, sum^77, tick-1, tick, sum)
			} else {
				fmt.Fprintf(&out, "sim: step{tick=%d} predicted=true crc=%08x\n", tick, sum)
			}
			fmt.Fprintf(&out, "sync: confirmed tick=%d crc=%08x\n", tick, sum)
		}
		return out.String()
	}
	var traces []*tracediff.Trace
	for machine, every := range []int{5, 7} {
		text := []byte(log(uint32(machine)<<9, every))
		p := sums.Learn(text, "x")
		if p == nil {
			t.Fatal("nothing is learned")
		}
		traces = append(traces, openLog(t, t.TempDir(), text, p.Format()))
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.First == nil || r.First.Tick.Number != 40 || len(r.Partings) != 1 || r.Partings[0].HasAgain {
		t.Errorf("%v, %+v", r.First, r.Partings)
	}
}
