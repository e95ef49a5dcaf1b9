package tracediff_test

import (
	"fmt"
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
