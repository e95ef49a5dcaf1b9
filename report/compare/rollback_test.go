package compare_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// regatta is a rollback game of four boats. They drift in each tick; an order casts a net, and
// the RNG decides how much is in it. No other order touches the RNG. Its mistake is in the save
// to which a rollback returns; the dumps of the state are whole.
type regatta struct {
	lacks string // the field that a save lacks: "rng", "catch", "" for none
	wind  uint64 // moves the boats; no dump of the state has it where it blows
	tick  uint64
	rng   uint64
	place [4]uint64
	catch [4]uint64
}

func (g *regatta) Point() uint64 { return g.tick }

func (g *regatta) Step(orders []orderlog.Order) error {
	for i := range g.place {
		g.place[i] += uint64(i+1) + g.wind/4
	}
	if g.wind > 0 {
		g.wind++
	}
	for _, o := range orders {
		g.rng = g.rng*6364136223846793005 + 1442695040888963407
		g.catch[o.Player] += g.rng >> 60
	}
	g.tick++
	return nil
}

func (g *regatta) World() (*snapshot.World, error) {
	place, catch := snapshot.NewColumn("Boat", "place", snapshot.U64, 0), snapshot.NewColumn("Net", "catch", snapshot.U64, 0)
	for i := range g.place {
		place.AppendUint(g.place[i])
		catch.AppendUint(g.catch[i])
	}
	return &snapshot.World{
		Head:   snapshot.Head{Seed: 5, Point: snapshot.Point{Tick: g.tick}, RNG: binary.LittleEndian.AppendUint64(nil, g.rng)},
		Tables: []snapshot.Table{{Label: "Boats", Keys: snapshot.Keys{A: []uint64{1, 2, 3, 4}}, Columns: []snapshot.Column{place, catch}}},
	}, nil
}

func (g *regatta) root() merkle.Hash {
	w, _ := g.World()
	s, err := snapshot.Hold(w)
	if err != nil {
		panic(err)
	}
	return s.Info().Root
}

func (g *regatta) SyncHash() merkle.Short { return g.root().Short() }

func (g *regatta) Save() ([]byte, error) {
	b := binary.LittleEndian.AppendUint64(nil, g.tick)
	for i := range g.place {
		b = binary.LittleEndian.AppendUint64(b, g.place[i])
		b = binary.LittleEndian.AppendUint64(b, g.catch[i])
	}
	return binary.LittleEndian.AppendUint64(b, g.rng), nil
}

func (g *regatta) Restore(save []byte) error {
	next := func() (v uint64) { v, save = binary.LittleEndian.Uint64(save), save[8:]; return v }
	g.tick = next()
	for i := range g.place {
		g.place[i] = next()
		if v := next(); g.lacks != "catch" {
			g.catch[i] = v
		}
	}
	if v := next(); g.lacks != "rng" {
		g.rng = v
	}
	return nil
}

func (g *regatta) Predict(_ uint32, orders []orderlog.Order) error {
	save, _ := g.Save()
	g.Step(orders)
	return g.Restore(save)
}

func regattaSim(name, lacks string) *bisect.Sim {
	return &bisect.Sim{
		Name:  name,
		Can:   []bisect.Capability{bisect.CanState, bisect.CanLoad, bisect.CanSave, bisect.CanPredict},
		Start: func(*orderlog.Header) (bisect.Simulator, error) { return &regatta{lacks: lacks, rng: 9}, nil },
		Resume: func(w *snapshot.World, _ *orderlog.Header) (bisect.Simulator, error) {
			g := &regatta{lacks: lacks, tick: w.Point.Tick, rng: binary.LittleEndian.Uint64(w.RNG)}
			t := w.Table(snapshot.Archetype, "Boats")
			for i := range g.place {
				g.place[i], g.catch[i] = t.Columns[0].Uint(i), t.Columns[1].Uint(i)
			}
			return g, nil
		},
	}
}

// regattaPlay is a session: who casts in which ticks, and in which tick the client, before it
// plays it, predicts how many ticks, and takes them back.
type regattaPlay struct {
	ticks, every   uint64 // every: ticks from snapshot to snapshot, 0 for none
	casts          map[uint64]uint32
	predicts, upTo uint64
	wind           uint64
	traced         bool   // both leave a trace, in which the rollback is
	written        uint64 // tick before which something outside of the game writes into the client's catch, 0 for none
}

func (play *regattaPlay) orders(tick uint64) []orderlog.Order {
	who, ok := play.casts[tick]
	if !ok {
		return nil
	}
	return []orderlog.Order{{Tick: tick, Player: who, Sequence: uint32(tick)}}
}

// record writes the files of two peers. The saves of their build lack a field.
func (play *regattaPlay) record(t *testing.T, lacks string) (dirs []string) {
	t.Helper()
	must := func(err error) {
		if err != nil {
			t.Fatal(err)
		}
	}
	root := t.TempDir()
	for number, peer := range []string{"host", "client"} {
		dir := filepath.Join(root, peer)
		must(os.MkdirAll(dir, 0o777))
		dirs = append(dirs, dir)
		s, _ := regattaSim("", lacks).Start(nil)
		g := s.(*regatta)
		g.wind = play.wind
		var out bytes.Buffer
		kinds := []orderlog.OrderKind{{Name: "cast"}}
		w, err := orderlog.NewWriter(&out, orderlog.Header{Seed: 5, Peer: peer, Peers: []string{"host", "client"}, Kinds: kinds}, orderlog.WriterOptions{})
		must(err)
		hashes := func() []orderlog.Observed {
			h := g.SyncHash()
			return []orderlog.Observed{{Point: g.tick, Peer: uint32(number), Kind: orderlog.SyncHash, Bytes: h[:]}}
		}
		trace := bytes.NewBufferString("%desynctool trace 1\n%seed 5\n%peer \"" + peer + "\"\n")
		for tick := range play.ticks {
			if play.every > 0 && tick%play.every == 0 {
				world, _ := g.World()
				world.Peer = peer
				must(snapshot.WriteFile(filepath.Join(dir, snapshot.Name(5, tick)), world, snapshot.WriteOptions{}))
			}
			record := orderlog.Tick{Number: tick, Hashes: hashes(), Orders: play.orders(tick)}
			record.InputHash = orderlog.InputHash(kinds, record.Orders)
			must(w.WriteTick(&record))
			if number == 1 && tick == play.predicts {
				save, _ := g.Save()
				fmt.Fprintf(trace, "event=save tick=%d\n", tick)
				for ahead := tick; ahead < play.upTo; ahead++ {
					must(g.Step(play.orders(ahead)))
					fmt.Fprintf(trace, "tick=%d phase=predicted sum=0x%s\n", ahead, g.SyncHash())
				}
				must(g.Restore(save))
				fmt.Fprintf(trace, "event=restore tick=%d at=%d\nevent=resimulate tick=%d to=%d\n", tick, play.upTo, tick, play.upTo-1)
			}
			if number == 1 && tick == play.written && tick > 0 {
				g.catch[2] = 999
			}
			must(g.Step(record.Orders))
			fmt.Fprintf(trace, "tick=%d sum=0x%s\n", tick, g.SyncHash())
		}
		if play.traced {
			must(os.WriteFile(filepath.Join(dir, "checkpoints.trace"), append(trace.Bytes(), "%end\n"...), 0o666))
		}
		must(w.WriteObserved(hashes()))
		must(w.Close())
		must(os.WriteFile(filepath.Join(dir, bisect.LogName), out.Bytes(), 0o666))
	}
	return dirs
}

func concluded(t *testing.T, dirs []string, builds compare.Builds) *verdict.Conclusion {
	t.Helper()
	s, err := bundle.OpenPaths(dirs...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := compare.Conclude(s, builds, nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestStateThatSnapshotsLack: where a replay from a snapshot departs from every peer, one from the
// start shows who is wrong.
func TestStateThatSnapshotsLack(t *testing.T) {
	play := regattaPlay{ticks: 200, every: 50, written: 110, wind: 1, casts: map[uint64]uint32{5: 0, 90: 2}}
	dirs := play.record(t, "")
	sim := regattaSim("sound", "")
	start := sim.Start
	sim.Start = func(h *orderlog.Header) (bisect.Simulator, error) {
		s, err := start(h)
		s.(*regatta).wind = 1
		return s, err
	}
	c := concluded(t, dirs, compare.Builds{Sim: sim})
	if !slices.Equal(c.Guilty, []string{"client"}) || !slices.ContainsFunc(c.Notes, func(s string) bool {
		return strings.Contains(s, "agrees with") && strings.Contains(s, "the snapshots lack state")
	}) {
		t.Errorf("guilty are %v, notes %q", c.Guilty, c.Notes)
	}
}

func causesOf(c *verdict.Conclusion) (classes []string) {
	for i := range c.Causes {
		classes = append(classes, c.Causes[i].Class)
	}
	return classes
}

func excludedOf(c *verdict.Conclusion) (classes []string) {
	for i := range c.Excluded {
		classes = append(classes, c.Excluded[i].Class)
	}
	return classes
}

// TestCoverage: an experiment excludes nothing that it could not have shown. In tick 110 the
// client predicts ticks 110 to 117 and takes them back without the RNG. Nobody casts in ticks
// 100 to 112, so that around the divergent tick a save that lacks the RNG lacks nothing.
func TestCoverage(t *testing.T) {
	play := regattaPlay{ticks: 200, casts: map[uint64]uint32{5: 0, 20: 1, 77: 2, 113: 1, 115: 3, 130: 0, 160: 2}, predicts: 110, upTo: 118}
	for _, play.every = range []uint64{0, 10, 50, 37} {
		dirs := play.record(t, "rng")
		for _, builds := range []compare.Builds{
			{Sim: regattaSim("sound", ""), Own: regattaSim("own", "rng")},
			{Sim: regattaSim("own", "rng")},
		} {
			c := concluded(t, dirs, builds)
			if c.Tick == nil || c.Tick.Number != 110 || !slices.Equal(c.Guilty, []string{"client"}) {
				t.Fatalf("snapshots every %d: tick %v, guilty %v", play.every, c.Tick, c.Guilty)
			}
			if got := causesOf(c); !slices.Contains(got, verdict.SaveForgets) || c.Causes[0].Standing != verdict.Shown {
				t.Errorf("snapshots every %d, %s: causes %v; made %s", play.every, builds.Sim.Name, c.Causes, made(c))
			}
			if got := excludedOf(c); slices.Contains(got, verdict.SaveForgets) || slices.Contains(got, verdict.PredictionLeak) {
				t.Errorf("snapshots every %d, %s: excluded are %v", play.every, builds.Sim.Name, got)
			}
		}
	}
}

// TestUncovered: something outside of the game writes into a boat's catch. Experiments show that
// saves contain the catch only if it changes near that tick. The build predicts, and no replay shows what the peer made
// of its guesses.
func TestUncovered(t *testing.T) {
	for _, casts := range []bool{true, false} {
		play := regattaPlay{ticks: 200, every: 37, written: 110, casts: map[uint64]uint32{5: 0, 20: 1, 190: 1}}
		if casts {
			play.casts[120] = 2
		}
		c := concluded(t, play.record(t, ""), compare.Builds{Sim: regattaSim("sound", ""), Own: regattaSim("own", "")})
		want := []string{verdict.ForeignWrite, verdict.ThreadTiming, verdict.Uninitialized, verdict.StaleCache, verdict.ImpureValidation, verdict.PredictionLeak} // caches and tests it does not show
		if !casts {
			want = append(want, verdict.SaveForgets)
		}
		if got := causesOf(c); !slices.Equal(got, want) || c.Causes[0].Standing != verdict.NotExcluded {
			t.Errorf("casts %v: causes %v, expected %v; made %s", casts, got, want, made(c))
		}
	}
}

// TestWindows: experiments reach as far as the peer's trace shows that it rolled back. The client predicts 90 ticks, and what
// its save lacks changes only in the 75th of them.
func TestWindows(t *testing.T) {
	for _, traced := range []bool{false, true} {
		play := regattaPlay{ticks: 220, every: 37, traced: traced, casts: map[uint64]uint32{185: 1}, predicts: 110, upTo: 200}
		c := concluded(t, play.record(t, "rng"), compare.Builds{Sim: regattaSim("sound", ""), Own: regattaSim("own", "rng")})
		back := uint64(0)
		if traced {
			back = 90
		}
		shown := len(c.Causes) > 0 && c.Causes[0].Standing == verdict.Shown && slices.Contains(causesOf(c), verdict.SaveForgets)
		if c.Tick == nil || c.Tick.Number != 110 || shown != traced {
			t.Errorf("traced %v: tick %v, causes %+v; made %s", traced, c.Tick, c.Causes, made(c))
		}
		for _, x := range c.Experiments {
			if x.Wide && x.Back != back {
				t.Errorf("traced %v: %s reaches %d ticks, expected %d", traced, x.Mode, x.Back, back)
			}
		}
	}
}

func made(c *verdict.Conclusion) (text string) {
	for _, x := range c.Experiments {
		text += fmt.Sprintf("\n%s %s, %+v: %v", x.Mode, x.Result, x.Trying, x.Labels)
	}
	return text
}
