//go:build unix

package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// start measures the start of the process.
func (b *bench) start() {
	b.cpuRow("start-up, against hello world", "≤ 3", 20*b.rounds, []string{b.tool, "version"}, []string{b.hello})
}

// bisect measures a search over a long session.
func (b *bench) bisect() {
	dirs := [2]string{filepath.Join(b.dir, "pairs", "host"), filepath.Join(b.dir, "pairs", "client")}
	for peer, dir := range dirs {
		try.Check(os.MkdirAll(dir, 0o777))
		for i := range b.pairs {
			c := snapshot.NewColumn("Health", "hp", snapshot.I32, 0)
			value := int64(100)
			w := &snapshot.World{Head: snapshot.Head{Seed: 7, Point: snapshot.Point{Tick: uint64(300 * i)}}}
			w.History[0] = 1
			if peer == 1 && i >= b.pairs*2/3 {
				value, w.History[0] = 99, 2
			}
			c.AppendInt(value)
			w.Tables = []snapshot.Table{{Label: "Infantry", Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{c}}}
			raw := try.Get(snapshot.Encode(w, snapshot.WriteOptions{Plain: true}))
			try.Check(os.WriteFile(filepath.Join(dir, snapshot.Name(7, w.Point.Tick)), raw, 0o666))
		}
	}
	defer os.RemoveAll(filepath.Join(b.dir, "pairs"))
	b.cpuRow(fmt.Sprintf("bisect over %d pairs, against ls -U of both folders", b.pairs), "≤ 2", 2*b.rounds,
		[]string{b.tool, "bisect", dirs[0], dirs[1]}, []string{"ls", "-U", dirs[0], dirs[1]})
}

// bigWorld returns a state of about mib MiB in 31 archetypes. Values of archetype 7 differ in every every-th row, or in
// none if every is 0.
func bigWorld(mib, every int) *snapshot.World {
	const archetypes, rowBytes = 31, 8 + 8 + 8 + 4 + 8
	rows := mib << 20 / archetypes / rowBytes
	w := &snapshot.World{Head: snapshot.Head{Seed: 9, RNG: []byte{1}}}
	for n := range archetypes {
		t := snapshot.Table{Label: fmt.Sprintf("Archetype%02d", n), Keys: snapshot.Keys{A: make([]uint64, rows)}}
		x, y := make([]int64, rows), make([]int64, rows)
		hp, morale := make([]int32, rows), make([]float64, rows)
		for i := range rows {
			t.Keys.A[i] = uint64(3*i + n)
			x[i], y[i] = int64(i)*31337%(512<<16), int64(i)*7919%(512<<16)
			hp[i], morale[i] = int32(100+i%37), float64(i%1000)/3
			if n == 7 && every > 0 && i%every == 0 {
				x[i]++
			}
		}
		column := func(component, field string, typ snapshot.Type, scale uint32, data []byte) {
			c := snapshot.NewColumn(component, field, typ, scale)
			c.Data = data
			t.Columns = append(t.Columns, c)
		}
		column("Health", "hp", snapshot.I32, 0, snapshot.LittleEndianBytes(hp))
		column("Morale", "value", snapshot.F64, 0, snapshot.LittleEndianBytes(morale))
		column("Position", "x", snapshot.Fixed, 65536, snapshot.LittleEndianBytes(x))
		column("Position", "y", snapshot.Fixed, 65536, snapshot.LittleEndianBytes(y))
		w.Tables = append(w.Tables, t)
	}
	return w
}

// hashing compares the state hash of a World in memory with openssl's SHA-256 of a file of the same size.
func (b *bench) hashing() {
	w := bigWorld(b.mib/4, 0)
	path := filepath.Join(b.dir, "canonical")
	defer os.Remove(path)
	raw := try.Get(snapshot.Encode(w, snapshot.WriteOptions{Plain: true}))
	try.Check(os.WriteFile(path, raw, 0o666))
	what := fmt.Sprintf("state hash of %d MiB, against openssl dgst -sha256", b.mib/4)
	b.compare(what, "≤ 0.92", b.rounds,
		func() { _ = try.Get(snapshot.Hold(w)).Info() }, // computes the digests
		func() { process("openssl", "dgst", "-sha256", path) })
}

// sim compares the reference sim with and without hashing in every tick.
func (b *bench) sim() {
	play := func(hash bool) func() {
		return func() {
			sim := try.Get(refsim.New(refsim.Config{Seed: 7, Entities: 5000}))
			script := refsim.NewScript(7)
			for range 300 * b.rounds {
				try.Check(sim.Step(script.Orders(sim)))
				if hash {
					sim.SyncHash()
				}
			}
		}
	}
	b.compare(fmt.Sprintf("reference sim unhashed, against hashed each tick (%d ticks, 5000 entities): ticks/s hashed over unhashed", 300*b.rounds), "≥ 0.65", b.rounds, play(false), play(true))
}

// modes prints how many ticks some ways to replay play in a second of processor time.
func (b *bench) modes() {
	const ticks = 600
	dir := filepath.Join(b.dir, "replayed")
	process(b.tool, "record", "-o", dir, "--ticks", fmt.Sprint(ticks), "--entities", "5000")
	defer os.RemoveAll(dir)
	for _, mode := range [][]string{nil, {"--serialize"}, {"--rollback", "4"}, {"--check-caches"}} {
		args := append([]string{"replay", filepath.Join(dir, "client")}, mode...)
		least, most := leastOf(b.rounds, b.tool, args...)
		fmt.Printf("| %s; %d MiB | %s | | **%.0f** ticks/s | ≥ 500 |\n", strings.Join(append([]string{"replay"}, mode...), " "), most>>20, seconds(least), ticks/least)
	}
}

// cases prints the mean processor time of triage of the real games in testdata.
func (b *bench) cases() {
	var folders []string
	for _, game := range []string{"0ad", "openttd", "spring", "warzone2100", "widelands"} {
		found := try.Get(filepath.Glob(filepath.Join("testdata", game, "*")))
		for _, path := range found {
			if stat, err := os.Stat(path); err == nil && stat.IsDir() {
				folders = append(folders, path)
			}
		}
	}
	sum, slowest, where := 0.0, 0.0, ""
	for _, folder := range folders {
		least, _ := leastOf(b.rounds, b.tool, "triage", folder)
		if sum += least; least > slowest {
			slowest, where = least, folder
		}
	}
	fmt.Printf("| triage of %d real cases, mean; at most %s (%s) | %s | | | ≤ 50 ms |\n", len(folders), seconds(slowest), where, seconds(sum/float64(len(folders))))
}

// columnDiff compares the diff of two .snap files with cmp -l of the same files.
func (b *bench) columnDiff() {
	for _, every := range []int{128, 2} {
		var paths [2]string
		for i := range paths {
			paths[i] = filepath.Join(b.dir, fmt.Sprintf("columns%d.snap", i))
			try.Check(snapshot.WriteFile(paths[i], oneColumn(b.mib/8, every*i), snapshot.WriteOptions{Plain: true}))
			defer os.Remove(paths[i])
		}
		goal := "≤ 0.5"
		if every == 2 {
			goal = "≤ 0.10"
		}
		rounds := max(3, b.rounds/2)
		b.compare(fmt.Sprintf("diff of two columns of %d MiB, 1 value in %d differs, against cmp -l", b.mib/8, every), goal, rounds,
			func() {
				var s [2]*snapshot.File
				for i, path := range paths {
					s[i] = try.Get(snapshot.OpenFile(path))
					defer s[i].Close()
				}
				try.Get(snapshot.Compare(s[0], s[1], snapshot.DiffOptions{}))
			},
			func() { process("cmp", "-l", paths[0], paths[1]) })
	}
}

func oneColumn(mib, every int) *snapshot.World {
	rows := mib << 20 / 8
	t := snapshot.Table{Label: "Infantry", Keys: snapshot.Keys{A: make([]uint64, rows)}}
	x := make([]int64, rows)
	for i := range x {
		t.Keys.A[i] = uint64(i)
		x[i] = int64(i) * 31337
		if every > 0 && i%every == 0 {
			x[i] ^= 0x5a5a
		}
	}
	c := snapshot.NewColumn("Position", "x", snapshot.Fixed, 65536)
	c.Data = snapshot.LittleEndianBytes(x)
	t.Columns = []snapshot.Column{c}
	return &snapshot.World{Tables: []snapshot.Table{t}}
}

// cells compares writing and reading a .snap, with shuffled and compressed cells, with plain zstd of the same bytes.
func (b *bench) cells() {
	w := bigWorld(b.mib/8, 0)
	plain := try.Get(snapshot.Encode(w, snapshot.WriteOptions{Plain: true}))
	enc := try.Get(zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithEncoderConcurrency(1)))
	dec := try.Get(zstd.NewReader(nil, zstd.WithDecoderConcurrency(1)))
	var packed, snap []byte
	size := fmt.Sprintf("%d MiB", b.mib/8)
	b.compare("writing a .snap of "+size+" (hashing included), against plain zstd fastest", "≤ 0.40 without hashing", b.rounds,
		func() { snap = try.Get(snapshot.Encode(w, snapshot.WriteOptions{})) },
		func() { packed = enc.EncodeAll(plain, packed[:0]) })
	var unpacked []byte
	b.compare("loading it (checks included), against plain zstd", "≤ 0.65 without checks", b.rounds,
		func() {
			try.Get(snapshot.Load(try.Get(snapshot.Open(bytes.NewReader(snap), int64(len(snap)), "bench"))))
		},
		func() { unpacked = try.Get(dec.DecodeAll(packed, unpacked[:0])) })
	fmt.Printf("| its size, against plain zstd | %d | %d | **%.2f** | ≤ 1.03 |\n", len(snap), len(packed), float64(len(snap))/float64(len(packed)))
}

// generate writes the state of bigWorld to a file, in another process.
func (b *bench) generate(path string, mib, every int) {
	self := try.Get(os.Executable())
	process(self, "-generate", fmt.Sprintf("%d,%d,%s", mib, every, path))
}

// writeBig does the work of generate in that process.
func writeBig(what string) error {
	var mib, every int
	var path string
	if _, err := fmt.Sscanf(what, "%d,%d,%s", &mib, &every, &path); err != nil {
		return err
	}
	return snapshot.WriteFile(path, bigWorld(mib, every), snapshot.WriteOptions{Plain: true})
}

// bytesRead measures how much of two large snapshots a diff reads if one of 31 archetypes differs, and its memory.
func (b *bench) bytesRead() {
	var paths [2]string
	for i := range paths {
		paths[i] = filepath.Join(b.dir, fmt.Sprintf("big%d.snap", i))
		b.generate(paths[i], b.mib, 100_000*i)
		defer os.Remove(paths[i])
	}
	var read, size int64
	var differing uint64
	var s [2]*snapshot.File
	for i, path := range paths {
		f := try.Get(snapshot.OpenFile(path))
		defer f.Close()
		stat := try.Get(os.Stat(path))
		s[i], size = f, size+stat.Size()
	}
	d := try.Get(snapshot.Compare(s[0], s[1], snapshot.DiffOptions{}))
	for _, t := range d.Tables {
		differing += t.Changed()
	}
	read = s[0].BytesRead() + s[1].BytesRead()
	fmt.Printf("| bytes read of 2 × %d MiB, %d values of one archetype differ | %d | %d | **%.2f %%** | ≤ 1 %% + differing blocks |\n",
		b.mib, differing, read, size, 100*float64(read)/float64(size))
	rss := process(b.tool, "diff", paths[0], paths[1])
	fmt.Printf("| peak memory of that diff | %d MiB | | | ≤ 256 MiB |\n", rss>>20)
	for i := range paths {
		b.generate(paths[i], b.mib, 2*i)
	}
	rss = process(b.tool, "diff", paths[0], paths[1], "--format", "json")
	fmt.Printf("| the same where every second value of an archetype differs, as JSON | %d MiB | | | ≤ 256 MiB |\n", rss>>20)
}
