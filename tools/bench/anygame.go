//go:build unix

package main

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// anygame compares the readers of ordinary notations with general tools: JSON states with jq and diff, raw memory with
// cmp. For logs and folders it prints how many bytes one core reads in a second.
func (b *bench) anygame() {
	dir := filepath.Join(b.dir, "anygame")
	defer os.RemoveAll(dir)
	for _, measure := range []func(string){b.jsonPair, b.rawPair, b.hashLogs, b.jsonFolders} {
		measure(dir)
		try.Check(os.RemoveAll(dir))
	}
}

// cpuRow prints the processor time of two commands that run alternately, and desynctool's peak memory. It uses the
// minimum of each time, because disturbances only add to it.
func (b *bench) cpuRow(what, goal string, rounds int, ours, peer []string) {
	var least [2]float64
	var most int64
	for round := range rounds {
		for i, args := range [][]string{ours, peer} {
			cpu, rss := cpuOf(0, args[0], args[1:]...)
			if round == 0 || cpu < least[i] {
				least[i] = cpu
			}
			if i == 0 {
				most = max(most, rss)
			}
		}
	}
	fmt.Printf("| %s; %d MiB | %s | %s | **%.2f** | %s |\n", what, most>>20, seconds(least[0]), seconds(least[1]), least[0]/least[1], goal)
}

// rateRow prints how many bytes in files a command reads per second of processor time.
func (b *bench) rateRow(what, goal string, bytes int64, args ...string) {
	least, most := leastOf(max(3, b.rounds/2), b.tool, args...)
	fmt.Printf("| %s: %d MiB; %d MiB | %s | | **%.0f MB/s** | %s |\n", what, bytes>>20, most>>20, seconds(least), float64(bytes)/1e6/least, goal)
}

// leastOf runs a program several times and returns the least processor time in seconds, and the largest peak memory.
func leastOf(rounds int, name string, args ...string) (least float64, most int64) {
	for round := range rounds {
		cpu, rss := cpuOf(0, name, args...)
		if round == 0 || cpu < least {
			least = cpu
		}
		most = max(most, rss)
	}
	return least, most
}

// jsonPair measures two JSON states with one different value.
func (b *bench) jsonPair(dir string) {
	paths := [2]string{filepath.Join(dir, "a", "state.json"), filepath.Join(dir, "b", "state.json")}
	rows := 7000 * b.mib / 10
	for peer, path := range paths {
		writeJSON(path, jsonShape{rows: rows, fields: 6, changed: peer})
	}
	script := fmt.Sprintf("jq -S . '%s' > '%s/x' && jq -S . '%s' > '%s/y' && ! diff '%s/x' '%s/y'", paths[0], dir, paths[1], dir, dir, dir)
	what := fmt.Sprintf("diff of two states of %d MiB as JSON, one value differs, against jq -S and diff, CPU", size(paths[0])>>20)
	b.cpuRow(what, "≤ 0.2", max(3, b.rounds/2), []string{b.tool, "diff", paths[0], paths[1]}, []string{"sh", "-c", script})
}

// rawPair measures two equal files without a known format.
func (b *bench) rawPair(dir string) {
	paths := [2]string{filepath.Join(dir, "a.bin"), filepath.Join(dir, "b.bin")}
	for _, path := range paths {
		random := rand.New(rand.NewSource(1))
		writeTo(path, func(w *bufio.Writer) {
			block := make([]byte, 1<<20)
			for range b.mib {
				random.Read(block)
				w.Write(block)
			}
		})
	}
	b.cpuRow(fmt.Sprintf("diff of %d MiB of equal raw bytes, against cmp, CPU", b.mib), "≤ 1.2", max(3, b.rounds/2),
		[]string{b.tool, "diff", paths[0], paths[1]}, []string{"cmp", paths[0], paths[1]})
}

// hashLogs measures logs with a tick and a checksum in every line, in every second one and in every tenth.
func (b *bench) hashLogs(dir string) {
	for i, clock := range []clock{sameClock, noClock, sameClock, otherClock} {
		each := []int{1, 2, 10, 10}[i]
		var bytes int64
		logs := filepath.Join(dir, fmt.Sprint("logs", i))
		for peer, name := range []string{"alice", "bob"} {
			path := filepath.Join(logs, name, "game.log")
			ticks := b.mib * 4000 / each
			writeTo(path, func(w *bufio.Writer) { writeLog(w, ticks, each, peer, clock) })
			bytes += size(path)
		}
		what := fmt.Sprintf("logs with a checksum on each %sline, %s", map[int]string{2: "second ", 10: "tenth "}[each], clock)
		for _, command := range []string{"tracediff", "triage"} {
			b.rateRow(command+" of "+what, "≥ 300 MB/s", bytes, command, logs)
		}
	}
}

// clock is whether lines begin with times of day.
type clock string

const (
	noClock    clock = "no times of day"
	sameClock  clock = "equal times of day"
	otherClock clock = "times of day that differ"
)

// writeLog writes a log. The second peer has different checksums in the second half.
func writeLog(w *bufio.Writer, ticks, each, peer int, of clock) {
	words := strings.Fields("loading texture units/knight.dds path found player moved to (12.5, 88.1) cache hit ok network ping 34 ms")
	for tick := range ticks {
		sum := uint32(tick) * 2654435761
		if tick > ticks/2 {
			sum += uint32(peer)
		}
		second, clock := tick, ""
		if of == otherClock {
			second += peer
		}
		if of != noClock {
			clock = fmt.Sprintf("[%02d:%02d:%02d] ", second/3600%24, second/60%60, second%60)
		}
		fmt.Fprintf(w, "%sFrame %d checksum: %08x players=2\n", clock, tick, sum)
		for k := 1; k < each; k++ {
			w.WriteString(clock)
			for i := range 10 {
				w.WriteString(words[(7*tick+11*k+3*i)%len(words)])
				w.WriteByte(' ')
			}
			w.WriteByte('\n')
		}
	}
}

// jsonFolders measures two folders of states that differ from some tick on.
func (b *bench) jsonFolders(dir string) {
	files := b.pairs / 10
	var bytes int64
	for peer, name := range []string{"alice", "bob"} {
		for i := range files {
			path := filepath.Join(dir, name, fmt.Sprintf("state_%d.json", 100*i))
			shape := jsonShape{tick: 100 * i, rows: 7000, fields: 6}
			if i >= files*2/3 {
				shape.changed = peer
			}
			writeJSON(path, shape)
			bytes += size(path)
		}
	}
	b.rateRow(fmt.Sprintf("bisect of 2 × %d states of 1 MiB as JSON", files), "a tenth of the bytes is parsed", bytes, "bisect", dir)
}

// jsonShape describes a JSON state.
type jsonShape struct {
	tick, rows, fields int
	depth              int // nested maps in each row
	changed            int // added to a value in the last row
}

// writeJSON writes a state.
func writeJSON(path string, s jsonShape) {
	writeTo(path, func(w *bufio.Writer) {
		random := rand.New(rand.NewSource(int64(s.tick)))
		fmt.Fprintf(w, "{\"tick\": %d, \"seed\": 12345, \"units\": [\n", s.tick)
		for row := range s.rows {
			hp := random.Intn(1000)
			if row == s.rows-1 {
				hp += s.changed
			}
			fmt.Fprintf(w, "  {\"id\": %d, \"kind\": \"unit%d\", \"hp\": %d", 3*row+1, row%17, hp)
			for field := range s.fields {
				fmt.Fprintf(w, ", \"field%d\": %.6f", field, 1000*random.Float64())
			}
			for range s.depth {
				w.WriteString(", \"in\": {\"x\": 1")
			}
			w.WriteString(strings.Repeat("}", s.depth))
			w.WriteString("}")
			if row < s.rows-1 {
				w.WriteString(",")
			}
			w.WriteString("\n")
		}
		w.WriteString("]}\n")
	})
}

// writeTo writes a file, and the folders above it.
func writeTo(path string, write func(*bufio.Writer)) {
	try.Check(os.MkdirAll(filepath.Dir(path), 0o777))
	f := try.Get(os.Create(path))
	w := bufio.NewWriterSize(f, 1<<20)
	write(w)
	try.Check(errors.Join(w.Flush(), f.Close()))
}

func size(path string) int64 {
	stat, err := os.Stat(path)
	if err != nil {
		return 0
	}
	return stat.Size()
}

// writeJSONSession writes two peers with JSON states that grow in one quantity:
//
//	json rows    a state of each; so many rows
//	json fields  a state of each, 200 rows; so many members of each
//	json depth   a state of each, 2,000 rows; so many maps within each other in each
//	json files   so many small states of each
func writeJSONSession(by string, n int, dir string) {
	shape, files := jsonShape{rows: 7000, fields: 3}, 1
	switch by {
	case "json rows":
		shape.rows = n
	case "json fields":
		shape.rows, shape.fields = 200, n
	case "json depth":
		shape.rows, shape.depth = 2000, n
	case "json files":
		shape.rows, files = 20, n
	}
	for peer, name := range []string{"alice", "bob"} {
		for i := range files {
			shape.tick, shape.changed = 100*i, 0
			if i >= files/2 {
				shape.changed = peer
			}
			writeJSON(filepath.Join(dir, name, fmt.Sprintf("state_%d.json", shape.tick)), shape)
		}
	}
}
