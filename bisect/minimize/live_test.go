package minimize

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// duel is a game of a sum. Its mistake takes two orders: one of kind attack in tick arm arms
// it, and one of kind attack in tick fire adds too much.
type duel struct {
	tick, sum, armed uint64
	mistake          mistake
	resumed          bool
}

type mistake struct {
	arm, fire uint64
	// forgets: a save lacks whether it is armed; wakes: a resumed simulator makes the mistake in tick fire in any case
	forgets, wakes, none bool
}

func (d *duel) Point() uint64 { return d.tick }

func (d *duel) Step(orders []orderlog.Order) error {
	for i := range orders {
		if orders[i].Kind != 1 {
			d.sum++
			continue
		}
		d.sum += 2
		if d.mistake.none {
			continue
		}
		if d.tick == d.mistake.arm {
			d.armed = 1
		}
		if d.tick == d.mistake.fire && d.armed == 1 {
			d.sum += 1000
		}
	}
	if d.mistake.wakes && d.resumed && d.tick == d.mistake.fire {
		d.sum += 1000
	}
	d.tick++
	return nil
}

func (d *duel) World() (*snapshot.World, error) {
	sum := snapshot.NewColumn("Score", "sum", snapshot.U64, 0)
	sum.AppendUint(d.sum)
	w := &snapshot.World{
		Head:   snapshot.Head{Seed: 7, Point: snapshot.Point{Tick: d.tick}},
		Tables: []snapshot.Table{{Label: "Player", Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{sum}}},
	}
	if !d.mistake.forgets {
		armed := snapshot.NewColumn("Score", "armed", snapshot.U64, 0)
		armed.AppendUint(d.armed)
		w.Tables = append(w.Tables, snapshot.Table{Label: "Armed", Class: snapshot.Noise, Keys: snapshot.Keys{A: []uint64{1}}, Columns: []snapshot.Column{armed}})
	}
	return w, nil
}

func (d *duel) SyncHash() merkle.Short {
	w, _ := d.World()
	held, err := snapshot.Hold(w)
	if err != nil {
		panic(err)
	}
	return held.Info().Root.Short()
}

func duelSim(name string, m mistake) *bisect.Sim {
	return &bisect.Sim{
		Name:  name,
		Start: func(*orderlog.Header) (bisect.Simulator, error) { return &duel{mistake: m}, nil },
		Resume: func(w *snapshot.World, _ *orderlog.Header) (bisect.Simulator, error) {
			d := &duel{mistake: m, tick: w.Point.Tick, sum: w.Table(snapshot.Archetype, "Player").Columns[0].Uint(0), resumed: true}
			if t := w.Table(snapshot.Noise, "Armed"); t != nil {
				d.armed = t.Columns[0].Uint(0)
			}
			return d, nil
		},
	}
}

// TestLive finds both orders, whether candidates can begin in the middle or not: what does
// not depart from there as from its start, or does so only from there, is played whole.
func TestLive(t *testing.T) {
	for _, c := range []struct {
		name    string
		mistake mistake
		resumes bool
		notes   int
	}{
		{"plain", mistake{arm: 90, fire: 199}, true, 0},
		{"only its first half", mistake{arm: 2, fire: 199}, true, 0},
		{"a save forgets", mistake{arm: 90, fire: 199, forgets: true}, false, 1},
		{"resuming wakes it", mistake{arm: 90, fire: 199, wakes: true}, true, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			in := input(t, 300) // orders of kind attack in ticks 2, 3, 6, 7, 10, …
			// The good one must save what the bad one has.
			good := c.mistake
			good.none, good.wakes = true, false
			live := &Live{Sim: duelSim("bad", c.mistake), Against: duelSim("good", good), Mode: bisect.Against}
			r, err := Run(context.Background(), in, live, Options{})
			if err != nil {
				t.Fatal(err)
			}
			if !slices.Equal(r.Best.kept, []int{int(c.mistake.arm), int(c.mistake.fire)}) || r.Best.until != c.mistake.fire+1 || *r.Point != c.mistake.fire+1 {
				t.Errorf("left %v up to %d", r.Best.kept, r.Best.until)
			}
			if want := (Signature{Archetype: "Player", Component: "Score", Field: "sum", Kind: "integer"}); r.Signature != want {
				t.Errorf("signature %v", r.Signature)
			}
			if (r.Resumed > 1) != c.resumes || len(r.Notes) != c.notes {
				t.Errorf("%d of %d replays resumed, notes %q", r.Resumed, r.Replays, r.Notes)
			}
		})
	}
}

// TestWrittenSession reads what was written of a result as evidence of two peers.
func TestWrittenSession(t *testing.T) {
	in := input(t, 300)
	dir := filepath.Join(t.TempDir(), "out")
	live := &Live{Sim: duelSim("bad", mistake{arm: 90, fire: 199}), Against: duelSim("good", mistake{none: true}), Mode: bisect.Against}
	file := File{Name: bisect.LogName, Write: orderlog.WriteLog}
	r, err := RunTo(context.Background(), dir, in, live, file, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if !r.Written.Differ || r.Written.File != "" {
		t.Errorf("written %+v", r.Written)
	}
	sets, err := snapshot.Find(files.Disk, dir, []snapshot.Format{snapshot.SnapFormat()})
	if err != nil {
		t.Fatal(err)
	}
	var peers []*bisect.Peer
	for _, set := range sets {
		log, err := orderlog.ReadFile(filepath.Join(set.Path, bisect.LogName))
		if err != nil {
			t.Fatal(err)
		}
		peers = append(peers, &bisect.Peer{Path: set.Path, Snapshots: set, Log: bisect.LogOf(log)})
	}
	b, err := bisect.Run(peers, bisect.Options{})
	if err != nil || !b.Exact || b.Tick != 199 || len(b.Lost)+len(b.Contradictions)+len(b.Warnings) > 0 {
		t.Fatalf("bisect: %+v, %v", b, err)
	}
	for _, side := range r.Written.Sides {
		log, err := orderlog.ReadFile(filepath.Join(dir, side, bisect.LogName))
		if err != nil || len(log.Ticks) != 200 || log.Header.Peer != side || log.Header.Start.IsZero() || log.Hash(200, log.Ticks[0].Hashes[0].Peer, orderlog.HistoryHash, orderlog.Full) == nil {
			t.Errorf("%s: %d ticks, %+v, %v", side, len(log.Ticks), log.Header, err)
		}
		if trial, err := bisect.Try(log, live.Against, bisect.TrialOptions{Mode: bisect.Plain}); err != nil || trial.Departed() != (side == SideA) {
			t.Errorf("%s: replay %+v, %v", side, trial, err)
		}
	}
	left, _ := os.ReadDir(dir)
	if len(left) != 2 {
		t.Errorf("left behind: %v", left)
	}
	if _, err := RunTo(context.Background(), dir, in, live, file, Options{}); err == nil {
		t.Error("a folder that is in use was taken")
	}
}
