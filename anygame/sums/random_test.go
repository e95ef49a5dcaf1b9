package sums_test

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/tracediff"
)

// TestRandomTemplates: whatever words and signs a program uses, all pairs of a tick and a checksum are read.
func TestRandomTemplates(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pick := func(label string, list ...string) string { return rapid.SampledFrom(list).Draw(t, label) }
		tick := pick("tick word", "tick", "Frame", "TURN", "step", "simFrame", "net_frame", "cycle", "gameTick", "beat", "frame_number", "tickCount")
		tick += pick("sign", " ", "=", ": ", " #", "=#", "(", " is ", " = ", "\": ", "[")
		value := pick("sum word", "checksum", "hash", "CRC", "crc32", "stateHash", "sync_hash", "md5", "digest", "Checksum of state")
		value += pick("second sign", "=", ": ", " ", " is ", " = ", "\":\"", " (", ":")
		between := pick("between", " ", ", ", "; ", " - ", " | ", ") ", "] ", " players=4 ", " in 16ms, ", "\",\"", " with ")
		after := pick("after", "", ".", ")", " players=3", " (12 ms)", "\"}", " end")
		format := pick("format", "0x%08x", "%08x", "%08X", "%d", "0x%X", "%016x")
		first := rapid.Bool().Draw(t, "the sum comes first")
		prefixes := rapid.SampledFrom([][]string{
			{""}, {"[12:00:01] ", "[12:00:02.25] "}, {"2026-01-02T03:04:05.678Z INFO net::sync: ", "2026-01-02T03:04:05.679Z DEBUG main: "},
			{"[ERROR] ", "[Info   :Mod] ", "> "}, {"I/Unity (1234): ", "W/Game  (77): "}, {"12 ", "3400 "}, {"thread-7 ", "main "},
		}).Draw(t, "prefixes")
		from := rapid.Uint64Range(0, 1<<40).Draw(t, "first tick")
		stride := rapid.Uint64Range(1, 600).Draw(t, "stride")
		values := rapid.SliceOfN(rapid.Uint32(), 3, 40).Draw(t, "values")

		var log, want strings.Builder
		for i, v := range values {
			for range rapid.IntRange(0, 2).Draw(t, "noise") {
				log.WriteString(pick("line", "loading map 7\n", "ping 33 ms\n", "[12:00:01] player 3 joined with 5 units\n", "\n", "drew 480123 objects\n", "== 1 ==\n"))
			}
			n := from + uint64(i)*stride
			sum := fmt.Sprintf(format, v)
			a, b := fmt.Sprintf("%s%d", tick, n), value+sum
			if first {
				a, b = b, a
			}
			log.WriteString(prefixes[i%len(prefixes)] + a + between + b + after + "\n")
			fmt.Fprintf(&want, "%d %s\n", n, strings.TrimPrefix(strings.ToLower(sum), "0x"))
		}
		p := sums.Learn([]byte(log.String()), "x")
		if p == nil {
			t.Fatalf("not learned:\n%s", log.String())
		}
		source, err := p.Format().Read(strings.NewReader(log.String()), "x", 0)
		if err != nil {
			t.Fatal(err)
		}
		if got := pairs(source); got != want.String() {
			t.Fatalf("%s\ngot\n%s\nwant\n%s\nof\n%s", p.Title(), got, want.String(), log.String())
		}
	})
}

// pairs returns the tick and the first checksum of each checkpoint.
func pairs(source tracediff.Source) string {
	var out strings.Builder
	for {
		rec, err := source.Next()
		if err != nil {
			return out.String()
		}
		fmt.Fprintf(&out, "%d %s\n", rec.Checkpoint.Tick, strings.TrimPrefix(string(rec.Checkpoint.Sums[0].Value), "0x"))
	}
}

// FuzzLearn: no text makes the package fail, and what it reads are checkpoints that a trace can have.
func FuzzLearn(f *testing.F) {
	for _, one := range logs {
		f.Add(one.log)
	}
	f.Fuzz(func(t *testing.T, log string) {
		p := sums.Learn([]byte(log), "x")
		if p == nil {
			return
		}
		if p.Title() == "" {
			t.Error("no title")
		}
		read(t, log)
	})
}
