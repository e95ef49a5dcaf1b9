//go:build unix

package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// poke is a waiting game's description of the unit to change.
type poke struct {
	unit               int
	pos, speed         [3]float32
	health, experience float32
}

// awaitPoke waits until a game waits for a change.
func awaitPoke(ctx context.Context, dir string) poke {
	var p poke
	for {
		b, err := os.ReadFile(filepath.Join(dir, "poke-ready.txt"))
		if err == nil {
			try.Get(fmt.Sscan(string(b), &p.unit, &p.pos[0], &p.pos[1], &p.pos[2], &p.speed[0], &p.speed[1], &p.speed[2], &p.health, &p.experience))
			return p
		}
		await(ctx, 20*time.Millisecond, dir+": no frame to poke in")
	}
}

// donePoke lets a game continue.
func donePoke(dir string) {
	try.Check(os.WriteFile(filepath.Join(dir, "poke-done.txt"), nil, 0o644))
}

// memory changes a value of a unit in the memory of a running game. It finds the unit by its position, which is
// followed by its velocity.
func (p *poke) memory(pid int, field string, change func(float32) float32) (before, after float32) {
	maps := try.Get(os.Open(fmt.Sprintf("/proc/%d/maps", pid)))
	defer maps.Close()
	mem := try.Get(os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0))
	defer mem.Close()
	var found []int64
	buf := make([]byte, 16<<20+unitSize)
	for lines := bufio.NewScanner(maps); lines.Scan(); {
		from, to, ok := writable(lines.Text())
		for ; ok && from < to; from += int64(len(buf) - unitSize) {
			n, _ := mem.ReadAt(buf[:min(int64(len(buf)), to-from)], from) // missing parts are not read
			for _, at := range p.find(buf[:n], len(buf)-unitSize, field) {
				found = append(found, from+int64(at))
			}
		}
	}
	if len(found) != 1 {
		panic(try.Failed("%s of unit %d is in memory %d times", field, p.unit, len(found)))
	}
	var b [4]byte
	try.Get(mem.ReadAt(b[:], found[0]))
	before = math.Float32frombits(binary.LittleEndian.Uint32(b[:]))
	after = change(before)
	binary.LittleEndian.PutUint32(b[:], math.Float32bits(after))
	try.Get(mem.WriteAt(b[:], found[0]))
	return before, after
}

// unitSize is the minimum distance of the changed value from a unit's position, in bytes.
const unitSize = 4096

// find returns the offsets of a field of the unit in some memory, for units that begin before a limit.
func (p *poke) find(b []byte, limit int, field string) (found []int) {
	var pos []byte
	for _, v := range p.pos {
		pos = binary.LittleEndian.AppendUint32(pos, math.Float32bits(v))
	}
	health := binary.LittleEndian.AppendUint32(nil, math.Float32bits(p.health))
	for at := 0; ; at += len(pos) {
		i := bytes.Index(b[at:], pos)
		if at += i; i < 0 || at >= limit {
			return found
		}
		if !p.moves(b[at+len(pos):]) {
			continue
		}
		switch field {
		case "pos.x":
			found = append(found, at)
		case "speed.z":
			found = append(found, at+20)
		case "health":
			if h := bytes.Index(b[at:min(len(b), at+unitSize)], health); h >= 0 {
				found = append(found, at+h)
			}
		}
	}
}

// moves reports whether memory begins with the velocity, to nine decimals.
func (p *poke) moves(b []byte) bool {
	if len(b) < 12 {
		return false
	}
	for i, v := range p.speed {
		if held := math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:])); !(math.Abs(float64(held-v)) < 1e-8) {
			return false
		}
	}
	return true
}

// writable parses a line of /proc/PID/maps. ok is true for writable memory without a file.
func writable(line string) (from, to int64, ok bool) {
	fields := strings.Fields(line)
	if len(fields) < 5 || !strings.HasPrefix(fields[1], "rw") || len(fields) > 5 && strings.HasPrefix(fields[5], "/") {
		return 0, 0, false
	}
	a, b, _ := strings.Cut(fields[0], "-")
	lo, err := strconv.ParseInt(a, 16, 64)
	hi, err2 := strconv.ParseInt(b, 16, 64)
	return lo, hi, err == nil && err2 == nil
}
