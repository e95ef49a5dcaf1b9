package sums_test

import (
	"encoding/json"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
)

// pair is a peer with its checksum.
type pair struct{ Peer, Hash string }

// join writes pairs.
func join(list []pair, form, between string) string {
	var out []string
	for _, one := range list {
		out = append(out, fmt.Sprintf(form, one.Peer, one.Hash))
	}
	return strings.Join(out, between)
}

// inJSON is a line with the checksums of a list of peers in JSON.
func inJSON(value any) string {
	text, _ := json.Marshal(value)
	return string(text)
}

// rosters are lines with the checksums of all peers.
var rosters = []struct {
	name  string
	peers string
	fixed bool // the peers have the same order on each line
	line  func(tick int, list []pair) string
}{
	{"words", "alice bob", false, func(t int, l []pair) string { return fmt.Sprint("tick ", t, " sums: ", join(l, "%s=%s", " ")) }},
	{"in their order", "alice bob", true, func(t int, l []pair) string { return fmt.Sprint("tick ", t, " sums: ", join(l, "%s=%s", " ")) }},
	{"brackets", "P1 P2 P3", false, func(t int, l []pair) string { return fmt.Sprintf("[%d] %s", t, join(l, "%s:%.4s", " ")) }},
	{"a map in JSON", "alice bob carol", false, func(t int, l []pair) string {
		members := join(l, "%q:%q", ",")
		return fmt.Sprintf(`{"turn":%d,"sums":{%s}}`, t, members)
	}},
	{"a list in JSON", "alice bob", false, func(t int, l []pair) string { return inJSON(map[string]any{"tick": t, "sums": l}) }},
	{"names behind", "alice bob carol", false, func(t int, l []pair) string {
		return fmt.Sprint("frame ", t, " hashes ", join(l, "%[2]s (%[1]s)", " "))
	}},
	{"at signs", "north-pc south-pc", false, func(t int, l []pair) string { return fmt.Sprint("step ", t, ": ", join(l, "%[2]s@%[1]s", " ")) }},
	{"numbers", "1 2 3", false, func(t int, l []pair) string { return fmt.Sprintf("checksums(%d): {%s}", t, join(l, "%s: 0x%s", ", ")) }},
	{"times", "player1 player2", false, func(t int, l []pair) string {
		return fmt.Sprintf("12:%02d:%02d.123 INFO sync t=%d %s", t/60, t%60, t, join(l, "%s: %s", ", "))
	}},
	{"a verdict", "alice bob", false, func(t int, l []pair) string {
		return fmt.Sprint("tick ", t, ": ", join(l, "%s=%s", " "), map[bool]string{true: " OK", false: " MISMATCH"}[l[0].Hash == l[1].Hash])
	}},
	{"no names", "1 2", true, func(t int, l []pair) string { return fmt.Sprint("tick ", t, ": ", l[0].Hash, " ", l[1].Hash) }},
	{"a table", "alice bob", true, func(t int, l []pair) string {
		return strings.Repeat("tick,alice,bob\n", max(0, 2-t)) + fmt.Sprint(t, ",", l[0].Hash, ",", l[1].Hash)
	}},
	{"elements", "ann ben", false, func(t int, l []pair) string {
		return fmt.Sprintf(`<tick n="%d">%s</tick>`, t, join(l, `<p id="%s" sum="%s"/>`, ""))
	}},
}

// checkpointsOf returns the checksums of each peer of a log by their ticks.
func checkpointsOf(t *testing.T, p *sums.Pattern, log string) map[string]map[uint64]string {
	t.Helper()
	format := p.Format()
	if format.Peers == nil {
		return nil
	}
	peers, err := format.Peers(strings.NewReader(log), "log")
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]map[uint64]string{}
	for i, name := range peers {
		source, err := format.Read(strings.NewReader(log), "log", i)
		if err != nil {
			t.Fatal(err)
		}
		out[name] = map[uint64]string{}
		for {
			record, err := source.Next()
			if err != nil {
				break
			}
			if c := record.Checkpoint; c != nil {
				out[name][c.Tick] += string(c.Sums[0].Value)
			}
		}
	}
	return out
}

// TestRoster writes logs with the checksums of all peers on a line and chats between them, and looks for the first difference:
// the last peer diverges at a tick, if at all.
func TestRoster(t *testing.T) {
	const last = 80
	for _, c := range rosters {
		for _, from := range []uint64{last + 1, 53, 12} {
			t.Run(fmt.Sprint(c.name, " from ", from), func(t *testing.T) {
				random := rand.New(rand.NewPCG(from, 7))
				names := strings.Fields(c.peers)
				var log strings.Builder
				for tick := range uint64(last) {
					tick++
					var list []pair
					for i, name := range names {
						value := uint32(tick) * 2654435761
						if tick >= from && i == len(names)-1 {
							value ^= 0x5bd1e995
						}
						list = append(list, pair{name, fmt.Sprintf("%08x", value)})
					}
					if !c.fixed {
						random.Shuffle(len(list), func(i, k int) { list[i], list[k] = list[k], list[i] })
					}
					log.WriteString(c.line(int(tick), list) + "\n")
					if !c.fixed {
						fmt.Fprintf(&log, "chat at %d, %s to %s: well played\n", tick, names[tick%2], names[0])
					}
				}
				p := sums.Learn([]byte(log.String()), "log")
				if p == nil {
					t.Fatalf("not read: %.200s", log.String())
				}
				found := checkpointsOf(t, p, log.String())
				if len(found) != len(names) {
					t.Fatalf("%d peers: %v", len(found), found)
				}
				odd := strings.TrimSpace("peer " + names[len(names)-1])
				for name, values := range found {
					for tick := range uint64(last) {
						tick++
						differs := tick >= from && (name == odd || "peer "+name == odd)
						one := fmt.Sprintf("0x%08x", uint32(tick)*2654435761)
						if same := strings.HasPrefix(one, values[tick]) && values[tick] != ""; same == differs {
							t.Fatalf("%s at %d: %q, without a divergence %s", name, tick, values[tick], one)
						}
					}
				}
			})
		}
	}
}

// TestNoRoster: two checksums of one peer are no checksums of two peers.
func TestNoRoster(t *testing.T) {
	for name, line := range map[string]func(tick, value, other int) string{
		"parts of the state": func(tick, value, other int) string {
			return fmt.Sprintf("tick %d physics=%08x ai=%08x", tick, value, other)
		},
		"the state before": func(tick, value, _ int) string { return fmt.Sprintf("tick %d prev=%08x cur=%08x", tick, value, value) },
		"guesses": func(tick, value, other int) string {
			return fmt.Sprintf("tick %d guess=%08x real=%08x", tick, []int{value, other}[tick%3/2], value)
		},
		"another peer's": func(tick, value, _ int) string {
			return fmt.Sprintf("tick %d local=%08x remote=%08x", tick, value, value)
		},
		"predicted": func(tick, value, _ int) string {
			return fmt.Sprintf("tick %d predicted %08x confirmed %08x", tick, value, value)
		},
	} {
		var log strings.Builder
		for tick := 1; tick < 90; tick++ {
			log.WriteString(line(tick, tick*2654435761&0xffffffff, tick*2246822519&0xffffffff) + "\n")
		}
		if p := sums.Learn([]byte(log.String()), "log"); p != nil && p.Format().Peers != nil {
			t.Errorf("%s: %s", name, p.Title())
		}
	}
	if !sums.IsRoster([]byte(strings.Repeat("tick 1 a=9f3c0001 b=9f3c0001\ntick 2 a=8f3c0002 b=8f3c0002\ntick 3 a=1f3c0003 b=1f3c0003\ntick 4 a=2f3c0004 b=3f3c0004\n", 1))) {
		t.Error("not a roster")
	}
}

// TestHealing: peers that are equal again by chance some times are peers, also where cells lack a checksum.
func TestHealing(t *testing.T) {
	var log strings.Builder
	for tick := 1; tick < 120; tick++ {
		other := fmt.Sprintf("%08X", uint32(tick)*2654435761)
		odd := other
		if tick >= 40 && tick != 55 && tick != 66 && tick != 91 {
			odd = fmt.Sprintf("%08X", uint32(tick)*2246822519)
		}
		if tick%17 == 0 {
			other = "?"
		}
		fmt.Fprintf(&log, "[20:00:03] Ход %d: Иван=%s  Olga=%s  Max=%s\n%s", tick, other, odd, other, strings.Repeat("<Max> ход 5\n", tick%20/19))
	}
	p := sums.Learn([]byte(log.String()), "log")
	if p == nil {
		t.Fatal("not read")
	}
	found := checkpointsOf(t, p, log.String())
	if len(found) != 3 || found["Olga"][39] != found["Иван"][39] || found["Olga"][40] == found["Иван"][40] || found["Max"][40] != found["Иван"][40] {
		t.Fatalf("%v", found)
	}
}

// TestSeldomWrong: a peer whose checksums differ now and then, beside two whose checksums never do, is no guess of them, whatever
// the form of the log; nor is one that differs from the start. On one line that may be another checksum of all peers.
func TestSeldomWrong(t *testing.T) {
	names := []string{"ann", "bob", "cat", "dan"}
	forms := map[string]func(tick int, sum func(peer string) uint32) string{
		"all on a line": func(tick int, sum func(string) uint32) string {
			out := fmt.Sprintf("{\"tick\":%d,\"sums\":{", tick)
			for i, name := range names {
				out += fmt.Sprintf("%s%q:%d", strings.Repeat(",", min(i, 1)), name, sum(name))
			}
			return out + "}}\n"
		},
		"a line each": func(tick int, sum func(string) uint32) (out string) {
			for _, name := range names {
				out += fmt.Sprintf("%s: tick %d hash %08x\n", name, tick, sum(name))
			}
			return out
		},
	}
	for form, line := range forms {
		for wrong, is := range map[string]func(tick int) bool{
			"seldom":         func(tick int) bool { return tick%20 == 13 },
			"from the start": func(int) bool { return true },
		} {
			var log strings.Builder
			for tick := range 120 {
				log.WriteString(line(tick, func(name string) uint32 {
					sum := crc32.ChecksumIEEE([]byte{byte(tick)})
					if name == "dan" && is(tick) {
						sum ^= 0x5a3c17
					}
					return sum
				}))
			}
			p := sums.LearnAlone([]byte(log.String()))
			if p == nil {
				if form != "all on a line" || wrong == "seldom" {
					t.Errorf("%s, %s: not read", form, wrong)
				}
				continue
			}
			list, err := p.Format().Peers(strings.NewReader(log.String()), "a.log")
			if err != nil || !slices.Equal(list, names) {
				t.Errorf("%s, %s: %q, %v", form, wrong, list, err)
			}
		}
	}
}
