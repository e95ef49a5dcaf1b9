package tracediff_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"regexp"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

func Example() {
	host := "tick=7 system=Move sum=1a\ntick=7 system=Fight sum=2b\ntick=8 system=Move sum=3c\ntick=8 system=Fight sum=4d\n"
	client := strings.Replace(host, "4d", "4e", 1)

	var list []*tracediff.Trace
	for name, text := range map[string]string{"host": host, "client": client} {
		traces, err := tracediff.Read(strings.NewReader(text), name, tracediff.ReadOptions{})
		if err != nil {
			fmt.Println(err)
			return
		}
		list = append(list, traces...)
	}
	res, err := tracediff.Compare(list, tracediff.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Printf("tick %s, system %s, %s\n", res.First.Tick, res.First.System, res.First.Values[0].Pos)
	fmt.Println("exact:", res.Bracket.Exact())
	// Output:
	// tick 8, system Fight, line 4
	// exact: true
}

func ExampleNewTextWriter() {
	var text strings.Builder
	w, err := tracediff.NewTextWriter(&text, tracediff.Header{Peer: "host", Seed: 7, HasSeed: true})
	if err != nil {
		fmt.Println(err)
		return
	}
	w.WriteCheckpoint(&tracediff.Checkpoint{
		Tick: 100, System: "Combat", Scope: "Infantry", Count: 250, HasCount: true,
		Sums: []tracediff.Sum{tracediff.BytesSum("", []byte{0x6a, 0x09})},
	})
	w.Close()
	fmt.Print(text.String())
	// Output:
	// %desynctool trace 1
	// %seed 7
	// %peer "host"
	// tick=100 system=Combat scope=Infantry n=250 sum=0x6a09
	// %end
}

// Log lines of a game, with a pattern that finds the tick and the checksum.
func ExampleNewReader() {
	text := `[12:00:01] Frame 616 checksum: 577090037
[12:00:01] player 2 has joined
[12:00:02] Frame 617 checksum: 577090038
`
	r, err := tracediff.NewReader(strings.NewReader(text), "game.log", tracediff.ReadOptions{
		Pattern: regexp.MustCompile(`Frame (?P<tick>\d+) checksum: (?P<sum>\d+)`),
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer r.Close()
	for {
		rec, err := r.Next()
		if err == io.EOF {
			break
		} else if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("%s: tick %d, %s\n", rec.Pos, rec.Tick(), rec.Checkpoint.Sums[0].Value)
	}
	// Output:
	// line 1: tick 616, 577090037
	// line 3: tick 617, 577090038
}

// A game writes a checkpoint after each system, and compares two runs of itself.
func ExampleNewWriter() {
	run := func(peer string, fire byte) *tracediff.Trace {
		var file bytes.Buffer
		w, err := tracediff.NewWriter(&file, tracediff.Header{Peer: peer})
		if err != nil {
			log.Fatal(err)
		}
		for tick := range uint64(3) {
			for i, system := range []string{"Move", "Fire"} {
				sum := []byte{byte(tick), byte(i)}
				if tick == 2 && system == "Fire" {
					sum[1] = fire
				}
				if err := w.WriteCheckpoint(&tracediff.Checkpoint{Tick: tick, System: system, Sums: []tracediff.Sum{tracediff.BytesSum("", sum)}}); err != nil {
					log.Fatal(err)
				}
			}
		}
		if err := w.Close(); err != nil {
			log.Fatal(err)
		}
		traces, err := tracediff.Read(&file, peer, tracediff.ReadOptions{})
		if err != nil {
			log.Fatal(err)
		}
		return traces[0]
	}
	r, err := tracediff.Compare([]*tracediff.Trace{run("run 1", 7), run("run 2", 8)}, tracediff.Options{})
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("tick %s, after %s: %s against %s\n", r.First.Tick, r.First.System, r.First.Values[0].Sum(""), r.First.Values[1].Sum(""))
	// Output: tick 2, after Fire: 0x0207 against 0x0208
}
