package compare_test

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// largeLogs are games' logs with one message at the end: a line for each number.
var largeLogs = map[string]struct{ line, last string }{
	"forged-alliance": {
		"info: beat %[1]d: command %[2]d for unit %[3]d handled by module '/lua/sim/unit.lua'\n",
		"warning: Checksum for beat 1950 mismatched: 11112222333344445555666677778888 (sim) != aaaabbbbccccddddeeeeffff00001111 (Birch).\n",
	},
	"stratagus": {
		"2026-03-01 12:00:00.%03[2]d [info] path of unit %[3]d at cycle %[1]d: %[2]d steps\n",
		"Network out of sync seed: 4711!=4711 , hash: 1A2B3C4D!=5E6F7081 Cycle 145\n",
	},
	"infolog": {
		"[t=00:00:22.184280][f=%07[1]d] [Path] unit %[3]d takes %[2]d nodes\n",
		"[t=00:00:22.184280][f=0000716] Sync error for Birch in frame 712 (got 21f149fb, correct is b5ba46e3)\n",
	},
}

// BenchmarkLargeLog draws a verdict from one log of 256 MiB.
func BenchmarkLargeLog(b *testing.B) {
	const size = 256 << 20
	for _, name := range slices.Sorted(maps.Keys(largeLogs)) {
		log := largeLogs[name]
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			f, err := os.Create(filepath.Join(dir, name+".log"))
			if err != nil {
				b.Fatal(err)
			}
			out := bufio.NewWriterSize(f, 1<<20)
			for n, i := 0, 0; n < size; i++ {
				k, err := fmt.Fprintf(out, log.line, i, i*7%1000, i*13%5000)
				if err != nil {
					b.Fatal(err)
				}
				n += k
			}
			fmt.Fprint(out, log.last)
			if err := out.Flush(); err != nil {
				b.Fatal(err)
			}
			if err := f.Close(); err != nil {
				b.Fatal(err)
			}
			b.SetBytes(size)
			for b.Loop() {
				triage(b, dir)
			}
		})
	}
}
