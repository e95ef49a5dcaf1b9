package sums_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/tracediff"
)

// TestConfirmedTail: the ticks after the last one that a log names as confirmed are predictions, and no lost evidence. Where
// nothing names it, or in a tick before it, a difference near the end may be one of the states.
func TestConfirmedTail(t *testing.T) {
	const last = 120
	sum := func(tick, other int) uint32 { return uint32(tick+7)*2654435761 ^ uint32(other)*40503*uint32(tick+3) }
	// each peer guesses two ticks, and simulates them again later, but the last ones
	play := func(peer, apart int, confirmed bool, line func(pass string, tick int, sum uint32) string) string {
		var log strings.Builder
		for tick := 1; tick <= last; tick++ {
			real := func(at int) uint32 {
				if apart > 0 && at >= apart {
					return sum(at, peer+10)
				}
				return sum(at, 0)
			}
			again := (tick-1)/3%4 != 3 // this tick and those before it are simulated again
			guess := tick%3 != 0 && again || tick > last-3
			if guess {
				log.WriteString(line("advance", tick, sum(tick, peer+1+tick%2)))
			} else {
				if tick%3 == 0 && again {
					fmt.Fprintf(&log, "net: rollback to %d\n", tick-3)
					log.WriteString(line("resim", tick-2, real(tick-2)) + line("resim", tick-1, real(tick-1)))
				}
				log.WriteString(line("advance", tick, real(tick)))
			}
			if tick%6 == 0 && tick < last && confirmed {
				fmt.Fprintf(&log, "net: confirmed_frame=%d ahead=%d\n", tick-1, peer)
			}
			if confirmed && tick == last {
				fmt.Fprintf(&log, "net: confirmed_frame=%d ahead=0\n", last-3)
			}
			if strings.HasPrefix(line("confirm", 1, 1), "ggpo") && !guess && confirmed {
				for at := max(1, tick-2); at <= tick; at++ {
					if tick%3 == 0 && again || at == tick {
						log.WriteString(line("confirm", at, real(at)))
					}
				}
			}
		}
		return log.String()
	}
	plain := func(_ string, tick int, sum uint32) string {
		return fmt.Sprintf("save frame=%d checksum=%08x\n", tick, sum)
	}
	passes := func(pass string, tick int, sum uint32) string {
		return fmt.Sprintf("ggpo: %s frame %d cs %08x\n", pass, tick, sum)
	}
	for _, c := range []struct {
		name       string
		line       func(string, int, uint32) string
		confirmed  bool
		apart      int
		first      int // -1 for none
		incomplete bool
	}{
		{"named", plain, true, 0, -1, false},
		{"named, and apart", plain, true, 50, 50, false},
		{"named, and apart before the last confirmed tick", plain, true, 115, -1, true},
		{"not named", plain, false, 0, -1, true},
		{"passes", passes, true, 0, -1, false},
		{"passes, and apart", passes, true, 50, 50, false},
		{"passes, and apart in the last confirmed ticks", passes, true, 115, 115, false},
	} {
		var traces []*tracediff.Trace
		folder := t.TempDir()
		for peer := range 2 {
			apart := 0
			if peer == 1 {
				apart = c.apart
			}
			traces = append(traces, open(t, filepath.Join(folder, fmt.Sprintf("peer%d.log", peer)), play(peer, apart, c.confirmed, c.line)))
		}
		result, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		first := -1
		if result.First != nil {
			first = int(result.First.Tick.Number)
		}
		if first != c.first || result.Incomplete() != c.incomplete {
			t.Errorf("%s: first difference in tick %d, want %d; incomplete %t, want %t; %+v", c.name, first, c.first, result.Incomplete(), c.incomplete, result.Traces[0].Gaps)
		}
		if ahead := result.Traces[0].Ahead; c.first < 0 && !c.incomplete && (ahead.Ticks != 3 || ahead.First.Number != last-2) {
			t.Errorf("%s: ahead %+v", c.name, ahead)
		}
	}
}
