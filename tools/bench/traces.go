//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// measurement is one row of the table.
type measurement struct {
	name  string
	what  change
	peer  string // program
	procs int    // for the comparison; 0 means all
	first bool
	ratio float64 // goal
	rss   int64   // goal in MiB; 0 if there is none
}

var measurements = []measurement{
	{"identical, 1 core", identical, "cmp", 1, false, 0.20, 32},
	{"identical, 2 cores", identical, "cmp", 2, false, 0.11, 32},
	{"first divergence with line, tick and system", lastLine, "cmp", 0, true, 0.28, 32},
	{"all differences: 1 changed, 1 inserted line", two, "diff", 0, false, 0.06, 64},
	{"all differences: 1000 scattered", scattered, "diff", 0, false, 0.02, 64},
	{"everything differs after the middle", half, "diff", 0, false, 0.10, 0},
}

// change is the difference of the second trace in a pair from the first.
type change int

const (
	identical change = iota
	lastLine         // one sum near the end
	two              // one sum at a third, one inserted line at two thirds
	scattered        // 1000 sums
	half             // all sums of the second half
)

// tracesOf has the sizes of a measurement of traces.
type tracesOf struct {
	mib, rounds int    // size of each trace
	tool        string // command and arguments that compare two traces named after it; empty for the built one
}

// traces compares tracediff with cmp and GNU diff.
func (b *bench) traces(of tracesOf) {
	tool := strings.Fields(of.tool)
	if of.tool == "" {
		tool = []string{b.tool, "tracediff"}
	}
	fmt.Printf("Traces of %d MiB; medians of %d rounds, each a run of both programs.\n\n", of.mib, of.rounds)
	fmt.Println("| Job | Ours | Peer | Ratio | Goal | RSS | Goal |")
	fmt.Println("|---|---|---|---|---|---|---|")
	one, other := filepath.Join(b.dir, "a.trace"), filepath.Join(b.dir, "b.trace")
	defer os.Remove(one)
	defer os.Remove(other)
	writeTrace(one, of.mib, identical)
	written := change(-1)
	for _, m := range measurements {
		if m.what != written {
			writeTrace(other, of.mib, m.what)
			written = m.what
		}
		m.run(tool, one, other, of.rounds)
	}
}

func (m *measurement) run(tool []string, a, b string, rounds int) {
	args := slices.Clone(tool)
	if m.first {
		args = append(args, "--first")
	}
	var ours, peers, ratios []float64
	peak := int64(0)
	for i := range rounds + 1 {
		t, rss := cpuOf(m.procs, args[0], append(args[1:], a, b)...)
		p, _ := cpuOf(0, m.peer, a, b)
		if i == 0 {
			continue // the files may not be in memory yet
		}
		ours, peers, ratios = append(ours, t), append(peers, p), append(ratios, t/p)
		peak = max(peak, rss)
	}
	goal := ""
	if m.rss > 0 {
		goal = fmt.Sprintf("≤ %d MiB", m.rss)
	}
	fmt.Printf("| %s | %s | %s %s | **%.3f** (%.3f–%.3f) | ≤ %.2f | %d MiB | %s |\n", m.name, seconds(median(ours)), m.peer, seconds(median(peers)),
		median(ratios), slices.Min(ratios), slices.Max(ratios), m.ratio, peak>>20, goal)
}

var systems = []string{"Orders", "Production", "Economy", "PathCost", "Movement", "SpatialGrid", "Combat", "Projectiles", "Fog", "AI", "Morale", "Cleanup"}

var scopes = []string{"Position", "Health", "Weapon", "Owner"}

// writeTrace writes a trace of that size.
func writeTrace(path string, mib int, what change) {
	f := try.Get(os.Create(path))
	// Large writes get large pages in the page cache, which speeds up all readers.
	w := bufio.NewWriterSize(f, 4<<20)
	w.WriteString("%desynctool trace 1\n%seed 7\n")
	size := int64(mib) << 20
	lineLength := int64(62) // approximately
	every := max(1, size/lineLength/1000)
	var buf []byte
	written, lines := int64(0), int64(0)
	inserted := false
	for tick := uint64(0); written < size; tick++ {
		for i, system := range systems {
			for j, scope := range scopes {
				sum := (tick*64 + uint64(i*4+j) + 1) * 0x9e3779b97f4a7c15
				sum ^= sum >> 29
				at := float64(written) / float64(size)
				switch lines++; {
				case what == lastLine && at > 0.99 && !inserted:
					sum++
					inserted = true
				case what == two && at > 0.66 && !inserted:
					inserted = true
					w.Write(traceLine(nil, tick, system, scope, sum))
				case what == two && lines == size/lineLength/3:
					sum++
				case what == scattered && lines%every == every/2:
					sum++
				case what == half && at > 0.5:
					sum++
				}
				buf = traceLine(buf[:0], tick, system, scope, sum)
				written += int64(len(buf))
				try.Get(w.Write(buf))
			}
		}
	}
	w.WriteString("%end\n")
	try.Check(errors.Join(w.Flush(), f.Close()))
}

func traceLine(b []byte, tick uint64, system, scope string, sum uint64) []byte {
	b = strconv.AppendUint(append(b, "tick="...), tick, 10)
	b = append(append(b, " system="...), system...)
	b = append(append(b, " scope="...), scope...)
	b = append(b, " sum=0x"...)
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[sum>>shift&15])
	}
	return append(b, '\n')
}
