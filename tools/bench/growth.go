//go:build unix

package main

import (
	"bufio"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// A curve is the growth of a command's cost with one quantity of a session.
type curve struct {
	command, by string
	sizes       []int
	goal        string
}

// growth measures curves: CPU time and peak memory for sessions of growing size, and the exponent between the last two
// sizes, 1 for linear growth.
func (b *bench) growth() {
	fmt.Println("\n| Command | By | Size | CPU | Peak memory | Exponent | Goal |")
	fmt.Println("|---|---|---|---|---|---|---|")
	ticks := []int{54_000, 216_000, 864_000}
	orders := []int{1_000_000, 10_000_000, 30_000_000}
	peers := []int{8, 16, 32, 64}
	snapshots, files := []int{2_500, 5_000, 10_000}, []int{1_000, 2_000, 4_000}
	values := []int{250_000, 500_000, 1_000_000}
	if b.quick {
		ticks, orders, peers = []int{13_500, 54_000}, []int{250_000, 1_000_000}, []int{4, 16}
		snapshots, files, values = []int{1_000, 2_000}, []int{250, 500}, []int{50_000, 100_000}
	}
	for _, c := range []curve{
		{"bisect", "ticks", ticks, "6 s, 128 MiB"}, {"orders", "ticks", ticks, "6 s, 128 MiB"}, {"triage", "ticks", ticks, "6 s, 128 MiB"},
		{"bisect", "orders", orders, "8 s, 128 MiB"}, {"orders", "orders", orders, "8 s, 128 MiB"}, {"triage", "orders", orders, "8 s, 128 MiB"},
		{"bisect", "peers", peers, ""}, {"orders", "peers", peers, ""}, {"triage", "peers", peers, ""},
		{"bisect", "snapshots", snapshots, ""}, {"triage", "snapshots", snapshots, ""},
		{"bisect", "files", files, ""}, {"triage", "files", files, ""},
		{"diff --format json", "values", values, ""}, {"diff --all", "values", values, ""},
	} {
		b.curve(c)
	}
	b.anygameCurves()
}

// anygameGrowth measures only the curves for files of any game.
func (b *bench) anygameGrowth() {
	fmt.Println("\n| Command | By | Size | CPU | Peak memory | Exponent | Goal |")
	fmt.Println("|---|---|---|---|---|---|---|")
	b.anygameCurves()
}

func (b *bench) anygameCurves() {
	rows, fields, depth, files := []int{100_000, 200_000, 400_000}, []int{1000, 2000, 4000}, []int{60, 120, 240}, []int{1000, 2000, 4000}
	if b.quick {
		rows, fields, depth, files = []int{20_000, 40_000}, []int{250, 500}, []int{30, 60}, []int{250, 500}
	}
	for _, c := range []curve{
		{"triage", "json rows", rows, ""}, {"triage", "json fields", fields, ""},
		{"triage", "json depth", depth, ""}, {"triage", "json files", files, ""},
	} {
		b.curve(c)
	}
}

func (b *bench) curve(c curve) {
	var last float64
	for i, n := range c.sizes {
		dir := filepath.Join(b.dir, fmt.Sprintf("%s-%d", strings.ReplaceAll(c.by, " ", "-"), n))
		if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
			writeSession(c.by, n, dir)
		}
		release()
		var cpu float64 // minimum of several runs, because disturbances only add to it
		var rss int64
		for k := range 3 {
			args := strings.Fields(c.command)
			if args[0] == "diff" {
				args = append(args, filepath.Join(dir, "peer00"), filepath.Join(dir, "peer01"))
			} else {
				args = append(args, dir)
			}
			once, most := cpuOf(0, b.tool, args...)
			if k == 0 || once < cpu {
				cpu = once
			}
			rss = max(rss, most)
		}
		exponent, goal := "", ""
		if i > 0 {
			exponent = fmt.Sprintf("**%.2f**", math.Log(cpu/last)/math.Log(float64(n)/float64(c.sizes[i-1])))
		}
		if i == len(c.sizes)-1 {
			goal = "≤ 1.05"
			if c.goal != "" {
				goal += ", " + c.goal
			}
		}
		fmt.Printf("| %s | %s | %d | %s | %d MiB | %s | %s |\n", c.command, c.by, n, seconds(cpu), rss>>20, exponent, goal)
		last = cpu
	}
}

// writeSession writes a session that grows in one quantity:
//
//	ticks      2 peers, an order of 8 bytes in every tick
//	orders     2 peers, 54,000 ticks; so many orders in each log
//	peers      3,600 ticks, four orders in each
//	snapshots  2 peers, no logs; so many small snapshots of each
//	files      the same, with names that say nothing, so that each is opened
//	values     2 peers, one snapshot each, which differ in so many values
//	json …     see writeJSONSession
//
// Each log has the sync hash of every tick and the state hash of every 30th tick. The last peer has a different state
// in the second half.
func writeSession(by string, n int, dir string) {
	if strings.HasPrefix(by, "json ") {
		writeJSONSession(by, n, dir)
		return
	}
	switch by {
	case "snapshots", "files":
		writeStates(by == "snapshots", n, 16, dir)
		return
	case "values":
		writeStates(true, 1, n, dir)
		return
	}
	peers, ticks, orders := 2, 0, 0 // in all ticks together
	switch by {
	case "ticks":
		ticks, orders = n, n
	case "orders":
		ticks, orders = 54_000, n
	case "peers":
		peers, ticks, orders = n, 3_600, 4*3_600
	default:
		panic(try.Failed("%q: no such session", by))
	}
	header := orderlog.Header{Seed: 7, Build: "bench", TickRate: orderlog.Rate{Num: 15, Den: 1}, Kinds: []orderlog.OrderKind{{Name: "move"}, {Name: "attack"}}}
	for i := range peers {
		header.Peers = append(header.Peers, fmt.Sprintf("peer%02d", i))
	}
	for i, name := range header.Peers {
		header.Peer = name
		writeOne(filepath.Join(dir, name), header, uint32(i), ticks, orders)
	}
}

// writeStates writes count snapshots for each of two peers, with a table of rows rows. All values differ in the second
// half of the snapshots, or in the only one.
func writeStates(named bool, count, rows int, dir string) {
	for peer := range 2 {
		name := fmt.Sprintf("peer%02d", peer)
		folder := filepath.Join(dir, name)
		try.Check(os.MkdirAll(folder, 0o777))
		for i := range count {
			hp := snapshot.NewColumn("Health", "hp", snapshot.I32, 0)
			var keys []uint64
			for row := range rows {
				value := int64(row + i)
				if peer == 1 && i >= count/2 {
					value++
				}
				hp.AppendInt(value)
				keys = append(keys, uint64(row))
			}
			w := &snapshot.World{
				Head:   snapshot.Head{Seed: 7, Point: snapshot.Point{Tick: uint64(i) * 30}, Peer: name},
				Tables: []snapshot.Table{{Label: "Infantry", Keys: snapshot.Keys{A: keys}, Columns: []snapshot.Column{hp}}},
			}
			file := fmt.Sprintf("state%06d", i)
			if named {
				file = snapshot.Name(w.Seed, w.Point.Tick)
			}
			try.Check(snapshot.WriteFile(filepath.Join(folder, file), w, snapshot.WriteOptions{}))
		}
	}
}

func writeOne(dir string, h orderlog.Header, own uint32, ticks, orders int) {
	try.Check(os.MkdirAll(dir, 0o777))
	f := try.Get(os.Create(filepath.Join(dir, bisect.LogName)))
	out := bufio.NewWriterSize(f, 1<<20)
	w := try.Get(orderlog.NewWriter(out, h, orderlog.WriterOptions{}))
	var t orderlog.Tick
	payload := make([]byte, 8*(orders/ticks+1))
	sequence := uint32(0)
	for tick := range ticks {
		t.Number = uint64(tick)
		t.Orders = t.Orders[:0]
		for k := range orders*(tick+1)/ticks - orders*tick/ticks {
			p := payload[8*k : 8*k+8]
			binary.LittleEndian.PutUint64(p, uint64(sequence)*0x9e3779b97f4a7c15)
			t.Orders = append(t.Orders, orderlog.Order{Tick: t.Number, SubTick: uint32(k), Player: sequence & 3, Sequence: sequence, Kind: sequence & 1, Payload: p})
			sequence++
		}
		t.InputHash = orderlog.InputHash(h.Kinds, t.Orders)
		seed := binary.LittleEndian.AppendUint64(nil, t.Number)
		if int(own) == len(h.Peers)-1 && tick >= ticks/2 {
			seed = append(seed, 1)
		}
		root := sha256.Sum256(seed)
		t.Hashes = append(t.Hashes[:0], orderlog.Observed{Point: t.Number, Peer: own, Kind: orderlog.SyncHash, Bytes: root[:8]})
		if tick%30 == 0 {
			t.Hashes = append(t.Hashes, orderlog.Observed{Point: t.Number, Peer: own, Kind: orderlog.StateHash, Bytes: root[:]})
		}
		try.Check(w.WriteTick(&t))
	}
	try.Check(errors.Join(w.Close(), out.Flush(), f.Close()))
}
