package sdk_test

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The hashes of docs/exchange.md, written from that page alone.

func mix64(x uint64) uint64 {
	x ^= x >> 32
	x *= 0xd6e8feb86659fd93
	x ^= x >> 29
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>32
}

func bytes64(b []byte) uint64 {
	h := mix64(uint64(len(b)) + 0x5bd1e995)
	for ; len(b) >= 8; b = b[8:] {
		h = mix64(h^binary.LittleEndian.Uint64(b)) + 0x2545f4914f6cdd1d
	}
	var rest [8]byte
	copy(rest[:], b)
	return mix64(h ^ binary.LittleEndian.Uint64(rest[:]))
}

// cell64 is a cell with the value v of a row without a second key.
func cell64(key, v uint64) uint64 { return mix64(row64(key) + mix64(v+0x8ebc6af09c88c6e3)) }
func row64(key uint64) uint64     { return mix64(mix64(key + 0x632be59bd9b4e019)) }

func leaf64(sums ...uint64) (h uint64) {
	for _, sum := range sums {
		h = mix64(h+sum) + 1
	}
	return h
}

// TestExchangePage: the example of docs/exchange.md follows from its text, and is what the recorder in C writes.
func TestExchangePage(t *testing.T) {
	schema := uint64(0)
	named := func(name string) { schema = mix64(schema ^ bytes64([]byte(name))) }
	column := func(component, field string, kind uint64) {
		named(component)
		named(field)
		schema = mix64(schema + kind)
	}
	schema++
	named("")
	column("RNG", "state", 14)
	schema++
	named("Soldier")
	column("Health", "points", 4)
	column("Name", "text", 13)
	column("Weapon", "target", 15)
	root := func(points uint64) uint64 {
		rng := leaf64(mix64(row64(0)+1), cell64(0, bytes64([]byte{1, 2, 3, 4})))
		soldiers := leaf64(mix64(row64(9)+1)+mix64(row64(7)+1), cell64(9, 0xffffffff)+cell64(7, points),
			cell64(9, bytes64([]byte("bob")))+cell64(7, bytes64([]byte("ann"))), cell64(9, 7))
		return mix64(mix64(schema+rng)+1+soldiers) + 1
	}
	first := mix64(mix64(0)+root(50)) + 1
	inputs := mix64(0)
	for _, n := range []uint64{250, 1, 3, 0} {
		inputs = mix64(inputs+n) + 1
	}
	inputs = mix64(inputs ^ bytes64([]byte{0xab, 0xcd}))
	beat := binary.LittleEndian.AppendUint64([]byte{'D', 'F', 1, 1}, 7)
	beat = binary.LittleEndian.AppendUint32(beat, uint32(schema))
	beat = binary.LittleEndian.AppendUint32(beat, 0)
	beat = binary.LittleEndian.AppendUint64(beat, 0)
	beat = binary.LittleEndian.AppendUint64(beat, first)
	beat = binary.LittleEndian.AppendUint32(beat, crc32.Checksum(beat, crc32.MakeTable(crc32.Castagnoli)))
	before := fmt.Sprintf("schema %016x\nroot %016x\nhistory %016x\nbeat %s\n", schema, root(50), first, hex.EncodeToString(beat))
	after := fmt.Sprintf("inputs %016x\nroot %016x\nhistory %016x\n", inputs, root(49), mix64(first+root(49))+1)

	page, err := os.ReadFile(filepath.Join("..", "exchange.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{before, after} {
		if !strings.Contains(string(page), "```\n"+part+"```\n") {
			t.Errorf("the page lacks\n%s", part)
		}
	}
	if out, stderr, exit := execute(t, nil, flights(t), "example"); exit != 0 || out != before+after {
		t.Errorf("exit status %d: the recorder has\n%s%sexpected\n%s%s", exit, out, stderr, before, after)
	}
}
