//go:build unix

package main

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"syscall"
	"time"
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

func run(dir string, tool []string, mib, rounds int) (err error) {
	if dir == "" {
		if dir, err = os.MkdirTemp("", "benchtraces-*"); err != nil {
			return err
		}
		defer os.RemoveAll(dir)
	}
	fmt.Printf("Traces of %d MiB, %s; medians of %d rounds, each a run of both programs.\n\n", mib, machine(), rounds)
	fmt.Println("| Job | Ours | Peer | Ratio | Goal | RSS | Goal |")
	fmt.Println("|---|---|---|---|---|---|---|")
	a := filepath.Join(dir, "a.trace")
	b := filepath.Join(dir, "b.trace")
	if err := generate(a, mib, identical); err != nil {
		return err
	}
	written := change(-1)
	for _, m := range measurements {
		if m.what != written {
			if err := generate(b, mib, m.what); err != nil {
				return err
			}
			written = m.what
		}
		if err := m.run(tool, a, b, rounds); err != nil {
			return err
		}
	}
	return nil
}

func (m *measurement) run(tool []string, a, b string, rounds int) error {
	args := slices.Clone(tool)
	if m.first {
		args = append(args, "--first")
	}
	var ours, peers, ratios []float64
	peak := int64(0)
	for i := range rounds + 1 {
		t, rss, err := process(m.procs, append(args, a, b)...)
		if err != nil {
			return err
		}
		p, _, err := process(0, m.peer, a, b)
		if err != nil {
			return err
		}
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
	return nil
}

// process runs a program and returns its time in seconds and its peak memory in bytes. Its output goes through a pipe,
// because a program might detect /dev/null and skip the work.
func process(procs int, args ...string) (elapsed float64, rss int64, err error) {
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Stdout, cmd.Stderr = drain{}, os.Stderr
	cmd.Env = os.Environ()
	if procs > 0 {
		cmd.Env = append(cmd.Env, "GOMAXPROCS="+strconv.Itoa(procs))
	}
	start := time.Now()
	err = cmd.Run()
	elapsed = time.Since(start).Seconds()
	if exit, ok := err.(*exec.ExitError); ok && exit.ExitCode() == 1 { // they differ
		err = nil
	}
	if err != nil {
		return 0, 0, fmt.Errorf("%s: %w", args[0], err)
	}
	if usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage); ok {
		rss = usage.Maxrss * 1024
	}
	return elapsed, rss, nil
}

type drain struct{}

func (drain) Write(p []byte) (int, error) { return len(p), nil }

func median(list []float64) float64 {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/2]
}

func seconds(s float64) string {
	if s < 1 {
		return fmt.Sprintf("%.0f ms", s*1000)
	}
	return fmt.Sprintf("%.2f s", s)
}

var systems = []string{"Orders", "Production", "Economy", "PathCost", "Movement", "SpatialGrid", "Combat", "Projectiles", "Fog", "AI", "Morale", "Cleanup"}

var scopes = []string{"Position", "Health", "Weapon", "Owner"}

// generate writes a trace of that size.
func generate(path string, mib int, what change) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
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
					w.Write(line(nil, tick, system, scope, sum))
				case what == two && lines == size/lineLength/3:
					sum++
				case what == scattered && lines%every == every/2:
					sum++
				case what == half && at > 0.5:
					sum++
				}
				buf = line(buf[:0], tick, system, scope, sum)
				written += int64(len(buf))
				if _, err := w.Write(buf); err != nil {
					return err
				}
			}
		}
	}
	w.WriteString("%end\n")
	if err := w.Flush(); err != nil {
		return err
	}
	return f.Close()
}

func line(b []byte, tick uint64, system, scope string, sum uint64) []byte {
	b = strconv.AppendUint(append(b, "tick="...), tick, 10)
	b = append(append(b, " system="...), system...)
	b = append(append(b, " scope="...), scope...)
	b = append(b, " sum=0x"...)
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[sum>>shift&15])
	}
	return append(b, '\n')
}
