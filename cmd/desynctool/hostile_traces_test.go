package main

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/tracediff"
)

var traceCommands = []string{"triage", "tracediff", "bisect", "doctor", "tracediff --format json"}

// twoTexts returns a case of one text of each of two peers.
func twoTexts(name, file string, size int, write func(out *bufio.Writer, peer, n int)) hostile {
	return hostile{name: "trace/" + name, size: size, commands: traceCommands, make: func(t testing.TB, dir string, n int) {
		for peer, who := range []string{"host", "client"} {
			create(t, filepath.Join(dir, who, file), func(out *bufio.Writer) error {
				write(out, peer, n)
				return nil
			})
		}
	}}
}

// twoTraces returns a case of a binary trace of each of two peers, of n checkpoints.
func twoTraces(name string, size int, checkpoint func(peer, i, n int) *tracediff.Checkpoint) hostile {
	return hostile{name: "trace/binary-" + name, size: size, commands: traceCommands, make: func(t testing.TB, dir string, n int) {
		for peer, who := range []string{"host", "client"} {
			create(t, filepath.Join(dir, who, "a.trace"), func(out *bufio.Writer) error {
				w, err := tracediff.NewWriter(out, tracediff.Header{Peer: who})
				for i := 0; i < n && err == nil; i++ {
					if c := checkpoint(peer, i, n); c != nil {
						err = w.WriteCheckpoint(c)
					}
				}
				if err != nil {
					return err
				}
				return w.Close()
			})
		}
	}}
}

// sum is the main checksum of a checkpoint.
func sum(k int) []tracediff.Sum {
	return []tracediff.Sum{tracediff.BytesSum("", fmt.Appendf(nil, "%08d", k%100_000_000))}
}

func hostileTraces() []hostile {
	lines := func(name string, size int, line func(peer, i, n int) string) hostile {
		return twoTexts(name, "a.trace", size, func(out *bufio.Writer, peer, n int) {
			fmt.Fprintf(out, "%%desynctool trace 1\n%%seed 7\n%%peer %q\n", []string{"host", "client"}[peer])
			for i := range n {
				out.WriteString(line(peer, i, n))
			}
			out.WriteString("%end\n")
		})
	}
	return []hostile{
		twoTraces("systems", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			return &tracediff.Checkpoint{Tick: 1, System: fmt.Sprint("s", i), Sums: sum(i + peer)}
		}),
		twoTraces("scopes", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			return &tracediff.Checkpoint{Tick: uint64(i / 100), System: "s", Scope: fmt.Sprint("c", i), Sums: sum(i + peer)}
		}),
		twoTraces("own-systems", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			return &tracediff.Checkpoint{Tick: 1, System: fmt.Sprint(peer, "s", i), Sums: sum(i)}
		}),
		twoTraces("all-differ", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			return &tracediff.Checkpoint{Tick: uint64(i), System: "s", Sums: sum(i + peer)}
		}),
		twoTraces("one-tick-differ", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			return &tracediff.Checkpoint{Tick: 1, System: "s", Sums: sum(i + peer)}
		}),
		twoTraces("reversed", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			if peer == 1 {
				i = n - 1 - i
			}
			return &tracediff.Checkpoint{Tick: 1, System: fmt.Sprint("s", i), Sums: sum(i)}
		}),
		twoTraces("periodic-shifted", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			return &tracediff.Checkpoint{Tick: 1, System: fmt.Sprint("s", (i+peer)%2), Sums: sum((i + peer) % 2)}
		}),
		twoTraces("periodic-systems", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			return &tracediff.Checkpoint{Tick: uint64(i / 1000), System: fmt.Sprint("s", (i*(7+peer))%101), Sums: sum(i % 3)}
		}),
		twoTraces("random-systems", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			return &tracediff.Checkpoint{Tick: 1, System: fmt.Sprint("s", uint32((i+peer*77)*2654435761)>>22), Sums: sum(i)}
		}),
		twoTraces("ticks-back", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			return &tracediff.Checkpoint{Tick: uint64(n - i), System: "s", Sums: sum(i + peer)}
		}),
		twoTraces("predicted", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			return &tracediff.Checkpoint{Tick: uint64(i / 2 % 50), System: "s", Phase: tracediff.Phase(i % 2), Sums: sum(i + peer)}
		}),
		twoTraces("every-other", 12_500, func(peer, i, n int) *tracediff.Checkpoint {
			if i%2 == peer {
				return nil
			}
			return &tracediff.Checkpoint{Tick: uint64(i), System: "s", Sums: sum(i)}
		}),
		twoTraces("sums", 64, func(peer, i, n int) *tracediff.Checkpoint {
			c := &tracediff.Checkpoint{Tick: uint64(i), System: "s"}
			for k := range 256 {
				c.Sums = append(c.Sums, tracediff.BytesSum(fmt.Sprint("n", i, "_", k), []byte{byte(peer), 1}))
			}
			return c
		}),
		lines("rollbacks", 12_500, func(peer, i, n int) string {
			return fmt.Sprintf("tick=%d system=s phase=predicted sum=0x%04x\nevent=save tick=%d sum=0x%04x\nevent=restore tick=%d at=%d sum=0x%04x\n", i/8+1, (i+peer)%65536, i/8+1, i%65536, i/8, i/8+1, (i+peer)%65536)
		}),
		lines("rollbacks-deep", 12_500, func(peer, i, n int) string {
			if i < n/2 {
				return fmt.Sprintf("tick=%d system=s phase=predicted sum=0x%04x\nevent=save tick=%d sum=0x%04x\n", i+1, (i+peer)%65536, i+1, i%65536)
			}
			return fmt.Sprintf("event=restore tick=%d at=%d sum=0x%04x\n", n-i, n-i+1, i%65536)
		}),
		lines("long-lines", 2, func(peer, i, n int) string {
			return fmt.Sprintf("tick=%d system=s sum=0x01 note=%s%d\n", i, strings.Repeat("ab", 1<<19), peer)
		}),
		lines("long-system", 8, func(peer, i, n int) string {
			return fmt.Sprintf("tick=%d system=%s%d sum=0x0%d\n", i, strings.Repeat("ab", 30_000), i, peer)
		}),
		lines("context", 12_500, func(peer, i, n int) string {
			return fmt.Sprintf("tick=1 system=s%d sum=0x%02x%02x%02x\n", i, peer, byte(i), byte(i>>8))
		}),
		twoTexts("log-lines", "game.log", 12_500, func(out *bufio.Writer, peer, n int) {
			for i := range n {
				fmt.Fprintf(out, "[12:00:%02d] WARNING %d: player %d desync detected in tick %d (peer %d)\n", i%60, i*7, i, i+peer, peer)
			}
		}),
		twoTexts("log-periodic", "game.log", 12_500, func(out *bufio.Writer, peer, n int) {
			for i := range n {
				fmt.Fprintf(out, "ERROR line %c\n", 'a'+(i+peer)%2)
			}
		}),
		twoTexts("log-one-line", "game.log", 125_000, func(out *bufio.Writer, peer, n int) {
			out.WriteString("ERROR ")
			for i := range n {
				fmt.Fprintf(out, "%d ", i+peer)
			}
		}),
		twoTexts("table", "t.csv", 12_500, func(out *bufio.Writer, peer, n int) {
			out.WriteString("tick,host,client\n")
			for i := range n {
				fmt.Fprintf(out, "%d,%08x,%08x\n", i, i, i+peer)
			}
		}),
		twoTexts("table-columns", "t.csv", 60, func(out *bufio.Writer, peer, n int) {
			for i := range 100 {
				fmt.Fprint(out, i)
				for k := range n {
					fmt.Fprintf(out, ",%08x", k*i+peer)
				}
				out.WriteString("\n")
			}
		}),
		twoTexts("ggrs", "game.log", 6_250, func(out *bufio.Writer, peer, n int) {
			for i := range n {
				fmt.Fprintf(out, "Desync detected at frame %d: local checksum %d, remote checksum %d from player %d\nDesyncDetected { frame: %d, local_checksum: %d, remote_checksum: %d, addr: %d }\n", i, i, i+1, i, i, i, i+1, i)
			}
		}),
		twoTexts("generals", "crcDebug.txt", 12_500, func(out *bufio.Writer, peer, n int) {
			for i := range n {
				fmt.Fprintf(out, "200:%05d CRC after s%d for frame 200 is 0x%08X\r\n", i%99999, i, i+peer)
			}
		}),
		twoTexts("openra", "syncreport-2023-11-05T181503Z-0.log", 6_250, func(out *bufio.Writer, peer, n int) {
			fmt.Fprintf(out, "Player: %d\nGame ID: g\nSync for net frame 10 -------------\nSharedRandom: 1 (#1)\nSynced Traits:\n", peer)
			for i := range n {
				fmt.Fprintf(out, "\t%d (%d) e%d Health (%d)\n\t\tF%d: %d\n", i, i, i, i+peer, i, i)
			}
		}),
	}
}
