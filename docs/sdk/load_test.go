package sdk_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// loads checks what load makes possible, with sessions that a game recorded: two in sync, the second with another seed,
// and one with a client that departs in a tick.
func loads(t *testing.T, sim, clean, other, faulty, tick string) {
	t.Helper()
	client := filepath.Join(clean, "client")
	from := func(dir string) string { return filesOf(t, dir, "host/desync_*_0000000200.snap", 1)[0] }
	wants(t, run(t, 0, "replay", client, "--sim", sim, "--from-each-snapshot"), "IN SYNC  from-each-snapshot", " snapshots resumed")
	wants(t, run(t, 0, "replay", client, "--sim", sim, "--from", from(clean)), "IN SYNC", "state points 200 to ")
	wants(t, run(t, 0, "replay", client, "--sim", sim, "--predict", "0,1"), "IN SYNC  predict")
	wants(t, run(t, 0, "replay", client, "--sim", sim, "--predict", "1"), "IN SYNC  predict")

	wants(t, run(t, 1, "replay", filepath.Join(faulty, "client"), "--sim", sim, "--from-each-snapshot"),
		"DIVERGED  from-each-snapshot: departs in tick "+tick+"\n")
	wants(t, run(t, 1, "bisect", filepath.Join(faulty, "host"), filepath.Join(faulty, "client"), "--sim", sim),
		"DIVERGED  in tick "+tick+"\n", "from the snapshots at 100 to state point ")

	path, err := desynctool()
	if err != nil {
		t.Fatal(err)
	}
	_, stderr, exit := execute(t, nil, path, "replay", client, "--sim", sim, "--force", "--from", from(other))
	if exit != 2 || strings.Count(stderr, "\n") != 1 || !strings.Contains(stderr, "the target refuses: ") || !strings.Contains(stderr, "the state is of another session: its seed is ") {
		t.Errorf("a state of another seed: exit status %d, %q", exit, stderr)
	}
	// The snapshots name their game.
	wants(t, run(t, 0, "dump", from(clean)), "%meta \"build\" \"1.0\"\n", "\"plain\"\n")
}

// A mender makes the checksums of a .snap right again after bytes were changed, at the same places as in the .snap that
// it was made from.
type mender struct {
	header, root int // the length of the header; where the root is
	rng          []byte
	tables       []mendedTable
}

type mendedTable struct {
	class, parts     byte
	rows             uint64
	label            string
	leaf             int // where it is
	cells            []int
	index, end       int // after the index
	blocks           int
	keys             int   // where the digest of the keys is
	columns          []int // where the digests of the columns are
	heads            [][]byte
	names            []string
	digests, crcs    int
	firstCell, width int // width: cells of a block
}

func number(v any) int {
	var n int
	fmt.Sscan(fmt.Sprint(v), &n)
	return n
}

func newMender(t *testing.T, file []byte) *mender {
	t.Helper()
	m := &mender{header: int(binary.LittleEndian.Uint32(file[12:]))}
	decode := func(b []byte) (list []any) {
		if err := msgpack.Unmarshal(b, &list); err != nil {
			t.Fatal(err)
		}
		return list
	}
	at := func(from, to int, what any) int {
		i := bytes.Index(file[from:to], what.([]byte))
		if i < 0 {
			t.Fatalf("%x is not between %d and %d", what, from, to)
		}
		return from + i
	}
	head := decode(file[32 : 32+m.header])
	m.rng, _ = head[6].([]byte)
	m.root = at(32, 32+m.header, head[8])
	leaf := m.root + 32
	for _, v := range head[10].([]any) {
		row := v.([]any)
		table := mendedTable{class: byte(number(row[0])), label: row[1].(string), rows: uint64(number(row[2])), parts: byte(number(row[3])), index: number(row[5])}
		table.end = table.index + number(row[6])
		table.leaf = at(leaf, 32+m.header, row[4])
		leaf = table.leaf + 32
		index := decode(file[table.index : table.end-4])
		table.firstCell = number(index[0])
		table.keys = at(table.index, table.end, index[1])
		columns, bins := index[2].([]any), index[3].([]any)
		for _, v := range columns {
			column := v.([]any)
			component, field := column[0].(string), column[1].(string)
			head := binary.LittleEndian.AppendUint32([]byte{6, byte(number(column[2])), 0, 0}, uint32(number(column[3])))
			head = binary.LittleEndian.AppendUint32(head, uint32(len(component)))
			table.heads = append(table.heads, binary.LittleEndian.AppendUint32(head, uint32(len(field))))
			table.names = append(table.names, component+field)
			table.columns = append(table.columns, at(table.keys+32, table.end, column[4]))
		}
		table.width = 1 + len(columns)
		table.blocks = len(bins[2].([]byte)) / 4
		for b := bins[5].([]byte); len(b) > 0; b = b[4:] {
			table.cells = append(table.cells, int(binary.LittleEndian.Uint32(b)))
		}
		table.digests = at(table.keys+32, table.end, bins[3])
		table.crcs = table.end - 4 - 4*len(table.cells)
		m.tables = append(m.tables, table)
	}
	return m
}

func put(b []byte, at int, digest [32]byte) { copy(b[at:], digest[:]) }

// mend makes CRCs right, and with digests also the digests up to the root.
func (m *mender) mend(b []byte, digests bool) {
	castagnoli := crc32.MakeTable(crc32.Castagnoli)
	crc := func(from, to, at int) { binary.LittleEndian.PutUint32(b[at:], crc32.Checksum(b[from:to], castagnoli)) }
	var leaves []merkle.Hash
	if m.rng != nil {
		leaf := append(binary.LittleEndian.AppendUint32([]byte{1}, uint32(len(m.rng))), 0, 0, 0, 0)
		leaf = append(append(leaf, m.rng...), make([]byte, -len(m.rng)&7)...)
		leaves = append(leaves, sha256.Sum256(leaf))
	}
	for _, t := range m.tables {
		at := t.firstCell
		for i, n := range t.cells {
			crc(at, at+n, t.crcs+4*i)
			if digests {
				put(b, t.digests+32*i, sha256.Sum256(b[at:at+n]))
			}
			at += n
		}
		if digests {
			whole := make([][]byte, t.width)
			whole[0] = binary.LittleEndian.AppendUint32([]byte{5, t.parts, 0, 0}, uint32(t.blocks))
			for k, head := range t.heads {
				whole[1+k] = append(binary.LittleEndian.AppendUint32(bytes.Clone(head), uint32(t.blocks)), t.names[k]...)
			}
			for i := range t.cells {
				k := i % t.width
				whole[k] = append(whole[k], b[t.digests+32*i:][:32]...)
			}
			leaf := binary.LittleEndian.AppendUint32([]byte{2}, uint32(len(t.label)))
			leaf = binary.LittleEndian.AppendUint32(leaf, uint32(t.width))
			leaf = binary.LittleEndian.AppendUint64(leaf, t.rows)
			leaf = append(append(leaf, t.label...), make([]byte, -len(t.label)&7)...)
			for k, w := range whole {
				digest, place := sha256.Sum256(w), t.keys
				if k > 0 {
					place = t.columns[k-1]
				}
				put(b, place, digest)
				leaf = append(leaf, digest[:]...)
			}
			hash := sha256.Sum256(leaf)
			put(b, t.leaf, hash)
			if t.class == 0 {
				leaves = append(leaves, hash)
			}
		}
		crc(t.index, t.end-4, t.end-4)
	}
	if digests {
		put(b, m.root, rootOf(leaves))
	}
	crc(32, 32+m.header, 16)
	crc(0, 28, 28)
}

func rootOf(level []merkle.Hash) merkle.Hash {
	for len(level) > 1 {
		var above []merkle.Hash
		for ; len(level) > 1; level = level[2:] {
			above = append(above, sha256.Sum256(append(bytes.Clone(level[0][:]), level[1][:]...)))
		}
		level = append(above, level...)
	}
	if len(level) == 0 {
		return sha256.Sum256(nil)
	}
	return level[0]
}

// A mutant is a damaged .snap, and what has to be said of it.
type mutant struct {
	how     string
	file    []byte
	refused bool // whatever else holds
	judged  bool // as the reader in Go judges
}

// mutants damages a .snap: cut at each length, each byte changed, and then with
// checksums, or these and hashes, that are right again.
func mutants(t *testing.T, file []byte) []mutant {
	t.Helper()
	list := []mutant{{how: "as it is", file: file, judged: true}, {how: "with a byte behind it", file: append(bytes.Clone(file), 0), refused: true}}
	m := newMender(t, file)
	same := bytes.Clone(file)
	if m.mend(same, true); !bytes.Equal(same, file) {
		t.Fatal("mending what is right changes it")
	}
	random := rand.New(rand.NewPCG(3, 4))
	inCells := func(i int) bool {
		for _, table := range m.tables {
			if i >= table.firstCell && i < table.index {
				return true
			}
		}
		return false
	}
	for i := range file {
		list = append(list, mutant{how: fmt.Sprintf("cut at %d", i), file: file[:i], refused: true})
		for _, x := range []byte{1, 0x80, 0xff, byte(1 + random.IntN(255))} {
			changed := bytes.Clone(file)
			changed[i] ^= x
			how := fmt.Sprintf("byte %d xor %#x", i, x)
			list = append(list, mutant{how: how, file: changed, refused: true})
			crcs := bytes.Clone(changed)
			m.mend(crcs, false)
			// Names that are not UTF-8 and the like are not judged alike.
			list = append(list, mutant{how: how + ", CRCs mended", file: crcs, refused: inCells(i)})
			if inCells(i) {
				hashes := bytes.Clone(changed)
				m.mend(hashes, true)
				list = append(list, mutant{how: how + ", hashes mended", file: hashes, judged: true})
			}
		}
		wide := bytes.Clone(file)
		copy(wide[i:], "\xff\xff\xff\xff")
		m.mend(wide, false)
		list = append(list, mutant{how: fmt.Sprintf("bytes %d to %d set, CRCs mended", i, i+3), file: wide, refused: inCells(i) && !bytes.Equal(wide, file)})
	}
	return list
}

// good reports whether the reader in Go finds nothing wrong.
func good(file []byte) bool {
	f, err := snapshot.Open(bytes.NewReader(file), int64(len(file)), "it")
	return err == nil && snapshot.Check(f) == nil
}

// judges lets a program read mutants, and checks its verdicts.
func judges(t *testing.T, list []mutant, program string, args ...string) {
	t.Helper()
	var stdin bytes.Buffer
	for _, m := range list {
		stdin.Write(frameOf(m.file))
	}
	stdout, stderr, exit := execute(t, stdin.Bytes(), program, args...)
	said := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if exit != 0 || stderr != "" || len(said) != len(list) {
		t.Fatalf("exit status %d, %d answers to %d files, the last %q, stderr %s", exit, len(said), len(list), said[len(said)-1], stderr)
	}
	accepted, wrong := 0, 0
	for i, m := range list {
		ok := said[i] == "ok"
		if ok {
			accepted++
		}
		if m.refused && ok || m.judged && ok != good(m.file) {
			if wrong++; wrong < 10 {
				t.Errorf("%s: %s, the reader in Go says %v", m.how, said[i], good(m.file))
			}
		}
	}
	if accepted == 0 || accepted > len(list)/2 {
		t.Errorf("%d of %d are accepted", accepted, len(list))
	}
}

// readable are the snapshots that readers are tried with: the example of the
// documentation, and one with everything in it.
func readable(t *testing.T) [][]byte {
	t.Helper()
	file := filepath.Join(t.TempDir(), "all.snap")
	if err := os.WriteFile(file+".txt", []byte(`%desynctool snapshot 1
%seed 5
%tick 9
%native "frame 9"
%peer "host"
%epoch 3
%rng 0x010203
%meta "build" "1.0"
%table archetype "Empty" 1
%column "A" "b" u8
%table archetype "Pair" 2
%column "T" "bool" bool
%column "T" "bytes" bytes
%column "T" "f32" f32
%column "T" "i16" i16
%column "T" "text" string
%table cache "Grid" 1
%column "C" "d" fixed 10
%table noise "Clock" 1
Pair[1:0].T.bool = true
Pair[1:0].T.bytes = 0x00ff
Pair[1:0].T.f32 = nan(0x7fc00001)
Pair[1:0].T.i16 = -3
Pair[1:0].T.text = "größe"
Pair[1:7].T.bool = absent
Pair[1:7].T.bytes = absent
Pair[1:7].T.f32 = absent
Pair[1:7].T.i16 = absent
Pair[1:7].T.text = ""
cache Grid[5].C.d = 0.5
cache Grid[6].C.d = 1.5
noise Clock[1]
`), 0o644); err != nil {
		t.Fatal(err)
	}
	run(t, 0, "dump", "--reverse", file+".txt", "-o", file)
	return [][]byte{bytesIn(t, "../snapshot.md", "<!-- example hex -->\n```\n"), plain(t, file)}
}

// plain returns a snapshot file without compression.
func plain(t *testing.T, path string) []byte {
	t.Helper()
	state, err := snapshot.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer state.Close()
	w, err := snapshot.Load(state)
	if err != nil {
		t.Fatal(err)
	}
	b, err := snapshot.Encode(w, snapshot.WriteOptions{Plain: true})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestCReads(t *testing.T) {
	thorough(t)
	flags := []string{"-O2"}
	if runtime.GOOS == "linux" {
		flags = sanitized
	}
	program := compile(t, "testdata/reads.c", flags...)
	for _, file := range readable(t) {
		judges(t, mutants(t, file), program)
	}
	judges(t, forgeries(t), program)
	packed := filepath.Join(t.TempDir(), "packed")
	run(t, 0, "record", "-o", packed, "--ticks", "1", "--entities", "2000")
	compressed, err := os.ReadFile(filesOf(t, packed, "host/desync_*_0000000000.snap", 1)[0])
	if err != nil {
		t.Fatal(err)
	}
	if said, _, _ := execute(t, frameOf(compressed), program); said != "a cell is compressed with zstd, which is not read here\n" {
		t.Errorf("a compressed snapshot: %q", said)
	}
}

// damagedLoads asks a game to load damaged states of a point, and to play on after each.
func damagedLoads(t *testing.T, n int, dir, program string, args ...string) {
	t.Helper()
	const point = 100
	snap := plain(t, filesOf(t, dir, "host/desync_*_0000000100.snap", 1)[0])
	log, err := orderlog.ReadFile(filepath.Join(dir, "host", "order-log.bin"))
	if err != nil {
		t.Fatal(err)
	}
	header := msgpack.RawMessage(orderlog.AppendHeader(nil, &log.Header))
	m := newMender(t, snap)
	random := rand.New(rand.NewPCG(5, 6))
	in := request(t, 1, "start", []any{header})
	ticks := slices.Repeat([]any{[]any{}}, 32)
	ask := func(file []byte) {
		in = append(in, request(t, 2, "load", []any{file, header})...)
		in = append(in, request(t, 3, "step", []any{point, ticks})...)
	}
	ask([]byte{})
	ask(snap[:len(snap)/2])
	for range n - 2 {
		changed := bytes.Clone(snap)
		table := m.tables[random.IntN(len(m.tables))]
		for range 1 + random.IntN(3) {
			at := random.IntN(len(snap))
			if random.IntN(4) > 0 {
				at = table.firstCell + random.IntN(table.index-table.firstCell)
			}
			if random.IntN(3) == 0 {
				copy(changed[at:], bytes.Repeat([]byte{byte(-random.IntN(2))}, 1+random.IntN(8)))
			} else {
				changed[at] ^= byte(1 << random.IntN(8))
			}
		}
		if random.IntN(8) > 0 {
			m.mend(changed, random.IntN(8) > 0)
		}
		ask(changed)
	}
	// After all that, a correct state is still loaded, also without a header.
	in = append(in, request(t, 4, "load", []any{snap, nil})...)
	in = append(in, request(t, 5, "load", []any{snap, header})...)
	stdout, stderr, exit := execute(t, in, program, args...)
	if exit != 0 || stderr != "" {
		t.Fatalf("exit status %d: %s", exit, stderr)
	}
	refusals := map[string]int{}
	loaded, replies := 0, 0
	var last []any
	for b := []byte(stdout); len(b) > 0; replies++ {
		n := binary.LittleEndian.Uint32(b)
		last = nil
		if err := msgpack.Unmarshal(b[4:4+n], &last); err != nil {
			t.Fatal(err)
		}
		b = b[4+n:]
		if number(last[0]) == 2 {
			if last[1] == nil {
				loaded++
			} else {
				refusals[last[1].(string)]++
			}
		} else if number(last[0]) > 3 && last[1] != nil {
			t.Errorf("what is right is refused: %v", last[1])
		}
	}
	if replies != 1+2*n+2 {
		t.Errorf("%d replies to %d requests", replies, 1+2*n+2)
	}
	sync := log.Ticks[point].Hashes[0].Bytes
	if arrived, ok := last[2].([]any); !ok || number(arrived[0]) != point || !bytes.Equal(arrived[1].([]byte), sync) {
		t.Errorf("it arrives at %v, expected point %d with hash %x", last[2], point, sync)
	}
	if loaded < n/20 || len(refusals) < 5 {
		t.Errorf("%d of %d damaged states are loaded, the others refused as %v", loaded, n, refusals)
	}
}
