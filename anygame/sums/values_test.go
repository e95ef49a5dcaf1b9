package sums_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/tracediff"
)

// chatter writes what a log has besides the simulation. Each game has some of these lines. The first random numbers are
// of the machine, the second ones of the game.
var chatters = []func(own, game *rand.Rand, tick int) string{
	func(own, _ *rand.Rand, tick int) string {
		return fmt.Sprintf("[net] tick %d rtt %d ms loss %.1f", tick, 20+own.IntN(4), own.Float64())
	},
	func(own, _ *rand.Rand, tick int) string {
		return fmt.Sprintf("frame %d acked %d sent %d queue %d", tick, tick-1-own.IntN(40)/39, tick*40, own.IntN(9)/8)
	},
	func(own, _ *rand.Rand, tick int) string {
		return fmt.Sprintf("tick=%d dt=%d fps=%d", tick, []int{16, 17}[(tick+own.IntN(30)/29)%2], 60-own.IntN(3))
	},
	func(own, _ *rand.Rand, tick int) string {
		if own.IntN(20) > 0 {
			return ""
		}
		return fmt.Sprintf("loaded sound %d at step %d", own.IntN(50), tick)
	},
	func(own, _ *rand.Rand, tick int) string {
		return fmt.Sprintf("tick %d camera %d,%d zoom %.2f", tick, tick/40*own.IntN(3), 5, 1+float64(own.IntN(40)/38))
	},
	func(own, game *rand.Rand, tick int) string {
		return fmt.Sprintf("tick %d heap %d worker %d jobs %d", tick, 4000+own.IntN(200), own.IntN(4), game.IntN(5))
	},
	func(own, _ *rand.Rand, tick int) string {
		return fmt.Sprintf("tick %d players 2 state Playing errors %d", tick, own.IntN(100)/99)
	},
	func(own, game *rand.Rand, tick int) string {
		return fmt.Sprintf("tick %d interpolated %.3f of %d", tick, own.Float64(), game.IntN(100))
	},
	func(own, _ *rand.Rand, tick int) string {
		return fmt.Sprintf("tick %d autosave %d kB in %d ms", tick, tick*12, 3+own.IntN(9))
	},
	func(own, game *rand.Rand, tick int) string {
		if own.IntN(3) > 0 { // only what is on the screen
			return ""
		}
		return fmt.Sprintf("step %d draw unit %d hp %d", tick, game.IntN(9), game.IntN(100))
	},
	func(own, _ *rand.Rand, _ int) string { return fmt.Sprintf("GC %d us", own.IntN(900)) },
	func(own, _ *rand.Rand, tick int) string {
		return fmt.Sprintf("turn %d arrived %d early", tick, []int{0, 0, 0, 1, 2}[own.IntN(5)])
	},
	func(own, _ *rand.Rand, tick int) string {
		return fmt.Sprintf("tick %d seconds %d", tick, (tick/3+own.IntN(60)/59)%60)
	},
	func(own, game *rand.Rand, tick int) string {
		return fmt.Sprintf("tick %d shown %d", tick, game.IntN(100)+own.IntN(3)/2)
	},
	func(own, game *rand.Rand, tick int) string {
		return fmt.Sprintf("tick %d chosen %d", tick, game.IntN(100)+own.IntN(12)/11)
	},
}

// forms are the lines of a simulation: with the tick on each, below it, and in a literal.
var forms = []func(tick int, r *rand.Rand, wrong int) string{
	func(tick int, r *rand.Rand, wrong int) string {
		return fmt.Sprintf("tick %d Random(%d) = %d", tick, tick%3, r.IntN(5000)+wrong)
	},
	func(tick int, r *rand.Rand, wrong int) string {
		out := fmt.Sprintf("=== turn %d ===\n", tick)
		for unit := range 4 {
			out += fmt.Sprintf("  unit[%d] hp=%3d x=%8.3f\n", unit, 30+r.IntN(60)+wrong, r.Float64()*50)
		}
		return strings.TrimSuffix(out, "\n")
	},
	func(tick int, r *rand.Rand, wrong int) string { // the value that differs hardly changes
		return fmt.Sprintf("beat %d roll %d gold %d", tick, r.IntN(5000), 300-tick/40*7+wrong)
	},
	func(tick int, r *rand.Rand, wrong int) string {
		return fmt.Sprintf("sim.go:88: tick=%d state={Seed:%d Units:[{ID:7 Pos:{X:%.4f Y:%.4f} State:%s}]}", tick, r.Uint32(), r.Float64()*9, float64(wrong)+r.Float64()*9, []string{"Idle", "Walk", "Hit"}[r.IntN(3)])
	},
}

// TestValues: logs of peers in sync show no difference, whatever else is in them, and a value that differs from a tick on
// is found in its tick.
func TestValues(t *testing.T) {
	folder := t.TempDir()
	found := 0
	for session := range uint64(effort.Of(60, 1000)) {
		pick := rand.New(rand.NewPCG(session, 1))
		form, ticks := forms[pick.IntN(len(forms))], 100+pick.IntN(300)
		bad := -1
		if session%2 == 1 {
			bad = 60 + pick.IntN(ticks-70)
		}
		chosen := slices.Clone(chatters)
		pick.Shuffle(len(chosen), func(i, k int) { chosen[i], chosen[k] = chosen[k], chosen[i] })
		chosen = chosen[:pick.IntN(6)]
		alone := session%5 == 4 // no line of the simulation
		var texts [][]byte
		var traces []*tracediff.Trace
		for peer := range 2 {
			var log strings.Builder
			own := rand.New(rand.NewPCG(session, uint64(peer)+7))
			sim, game := rand.New(rand.NewPCG(session, 2)), rand.New(rand.NewPCG(session, 3))
			from, to := own.IntN(9)*own.IntN(2), ticks-own.IntN(9)*own.IntN(2)
			write := func(tick int, line string) {
				if tick < from || tick >= to || line == "" {
					return
				}
				for one := range strings.Lines(line + "\n") {
					fmt.Fprintf(&log, "2026-03-02 14:%02d:%02d.%03d [%d] %s", tick/600, tick/10%60, own.IntN(1000), 100+own.IntN(3), one)
				}
			}
			for tick := range ticks {
				wrong := 0
				if peer == 1 && bad >= 0 && tick >= bad {
					wrong = 3
				}
				if line := form(tick, sim, wrong); !alone {
					write(tick, line)
				}
				for _, c := range chosen {
					write(tick, c(own, game, tick))
				}
			}
			texts = append(texts, []byte(log.String()))
		}
		v := sums.LearnValues(texts)
		if v == nil {
			if bad >= 0 && !alone {
				t.Errorf("session %d: nothing is learned", session)
			}
			continue
		}
		for peer, text := range texts {
			path := filepath.Join(folder, fmt.Sprintf("peer%d.log", peer))
			if err := os.WriteFile(path, text, 0o600); err != nil {
				t.Fatal(err)
			}
			f := v.Format()
			list, err := tracediff.OpenForeign(files.Disk, path, &f, tracediff.ReadOptions{})
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			traces = append(traces, list[0])
		}
		result, err := tracediff.Compare(traces, tracediff.Options{})
		switch first := result.First; {
		case err != nil:
			t.Fatal(err)
		case first == nil && bad >= 0 && !alone:
			t.Errorf("session %d: no difference, expected one in tick %d", session, bad)
		case first != nil && (bad < 0 || alone):
			t.Errorf("session %d: %s %v differs in tick %d", session, first.Scope, first.Values, first.Tick.Number)
		case first != nil && first.Tick.Number != uint64(bad):
			t.Errorf("session %d: tick %d, expected %d", session, first.Tick.Number, bad)
		case first != nil:
			found++
		}
	}
	if found < 20 {
		t.Errorf("%d differences are found", found)
	}
}

// TestTableValues: the columns of a table are named in its first line.
func TestTableValues(t *testing.T) {
	var texts [][]byte
	for peer := range 2 {
		log := "frame,time,ping,hp\n"
		for frame := range 90 {
			log += fmt.Sprintf("%d,12:00:%02d,%d,%d\n", frame, (frame+peer)%60, 20+frame*(peer+3)%7, frame*frame%97-frame/80*peer)
		}
		texts = append(texts, []byte(log))
	}
	v := sums.LearnValues(texts)
	if v == nil {
		t.Fatal("nothing is learned")
	}
	source, err := v.Format().Read(strings.NewReader(string(texts[1])), "x", 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for {
		r, err := source.Next()
		if err != nil {
			break
		}
		if c := r.Checkpoint; c.Tick > 78 && c.Tick < 81 {
			got = append(got, fmt.Sprintf("%d %s %s", c.Tick, c.Sums[0].Name, c.Sums[0].Value))
		}
	}
	if want := []string{"79 hp 33", "80 hp 94"}; !slices.Equal(got, want) {
		t.Errorf("%q, expected %q", got, want)
	}
}

// TestRollbackValues: logs in which ticks go back show no values.
func TestRollbackValues(t *testing.T) {
	var texts [][]byte
	for range 2 {
		var log strings.Builder
		for tick := range 200 {
			fmt.Fprintf(&log, "tick %d roll %d\n", tick-tick%50/49, tick*7919%1000)
		}
		texts = append(texts, []byte(log.String()))
	}
	if sums.LearnValues(texts) == nil {
		t.Error("a tick twice is taken for a rollback")
	}
	if texts[1] = append(texts[1], "tick 180 roll 7\n"...); sums.LearnValues(texts) != nil {
		t.Error("a rollback is not seen")
	}
}

// traced compares logs by their values, and returns where the first values differ and what the peers have there, and whether all
// values that matter were compared.
func traced(t *testing.T, texts ...string) (first string, partial bool) {
	t.Helper()
	var logs [][]byte
	for _, text := range texts {
		logs = append(logs, []byte(text))
	}
	v := sums.LearnValues(logs)
	if v == nil {
		return "nothing", true
	}
	var traces []*tracediff.Trace
	for _, text := range logs {
		traces = append(traces, openLog(t, t.TempDir(), text, v.Format()))
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if partial = r.Dialect().Partial; r.First == nil {
		return "", partial
	}
	first = r.TickName(r.First.Tick)
	for _, value := range r.First.Values {
		for _, d := range value.Detail {
			first += ", " + d.Text
		}
	}
	return first, partial
}

// TestValuesOfTicks: what shows the tick of a line, and what the first difference is.
func TestValuesOfTicks(t *testing.T) {
	// drawn is a log of random numbers with the positions of things at each tenth tick.
	drawn := func(from int) (out string) {
		for tick := 1; tick <= 90; tick++ {
			for call := range 2 {
				thing := tick*3 + call
				if tick >= from && call == 0 {
					thing++
				}
				out += fmt.Sprintf("rnd %5d move idx=%d val=%d Wander thing#%d\n", tick, tick*2+call, tick*7919%251, thing%11)
			}
			if tick%10 == 0 {
				out += fmt.Sprintf("tic %d mover0 x=%08x y=%08x health=%d\n", tick, tick*0x94c00&0xfffffff, tick*0x73400, 100-tick/9)
			}
		}
		return out
	}
	// shown is a log in which a letter names the tick, as one of three browsers writes it.
	shown := func(way, from int) (out string) {
		for tick := 30; tick <= 2400; tick += 30 {
			for cart := range 2 {
				ammo := tick / 300
				if tick >= from && cart == 1 {
					ammo++
				}
				line := fmt.Sprintf(`[step] t=%d cart%d {"x":%d,"ammo":%d}`, tick, cart, tick*7919%800, ammo)
				switch way {
				case 1:
					line = "loop.js:147 " + line
				case 2:
					line = fmt.Sprintf("16:04:%02d.%03d %s loop.js:147:11", tick/30%60, tick%997, line)
				}
				out += line + "\n"
			}
		}
		return out
	}
	journal := func(host, log string) (out string) {
		for line := range strings.Lines(log) {
			out += "Dec 30 23:41:02 " + host + " game[411]: " + line
		}
		return out
	}
	for _, c := range []struct {
		name    string
		logs    []string
		want    string
		partial bool
	}{
		{"no word for the tick", []string{drawn(99), drawn(47)}, "tic 47, move Wander, thing 9, move Wander, thing 10", true},
		{"in sync", []string{drawn(99), drawn(99)}, "", false},
		{"in sync, with news of the machine", []string{drawn(99) + "resend 4 from node 2\n", "resend 9 from node 1\n" + drawn(99)}, "", false},
		{"journals of two hosts", []string{journal("orgel", drawn(99)), journal("vox-humana", drawn(47))}, "tic 47, move Wander, thing 9, move Wander, thing 10", true},
		{"a machine's value at each tick", []string{
			strings.ReplaceAll(drawn(99), " health=", " view=11 health="), strings.ReplaceAll(drawn(99), " health=", " view=12 health="),
		}, "", true},
		{"a letter for the tick", []string{shown(0, 9999), shown(1, 9999), shown(2, 990)}, "tick 990, cart1, ammo 3, cart1, ammo 3, cart1, ammo 4", true},
		{"a letter for the tick, in sync", []string{shown(0, 9999), shown(1, 9999), shown(2, 9999)}, "", false},
	} {
		if got, partial := traced(t, c.logs...); got != c.want || partial != c.partial {
			t.Errorf("%s: %q, partial %v, expected %q, %v", c.name, got, partial, c.want, c.partial)
		}
	}
}

// TestFixedPoint: positions in fixed point are no checksums.
func TestFixedPoint(t *testing.T) {
	for step, want := range map[int]bool{0x94c00: false, 0x94c37: true} {
		log := ""
		for tick := 1; tick <= 40; tick++ {
			log += fmt.Sprintf("tic %d mover0 x=%08x\n", tick, uint32(tick*tick*step*977))
		}
		if p := sums.Learn([]byte(log), "x"); (p != nil) != want {
			t.Errorf("multiples of %x: learned %v, expected %v", step, p != nil, want)
		}
	}
}

// TestDeny: values that differ deny what nothing calls a checksum, if it is always equal.
func TestDeny(t *testing.T) {
	log := func(gold int, sum uint32) (out string) {
		for tick := uint32(1); tick <= 90; tick++ {
			out += fmt.Sprintf("step %d scene %08x\nstep %d roll %d gold %d\n", tick, tick*tick*2654435761+tick/60*sum, tick, tick*7919%1000, tick*613%997+tick/50*uint32(gold))
		}
		return out
	}
	for _, c := range []struct {
		gold int
		sum  uint32
		want bool
	}{{0, 0, false}, {7, 0, true}, {7, 5, false}} {
		texts := [][]byte{[]byte(log(0, 0)), []byte(log(c.gold, c.sum))}
		var samples []sums.Sample
		for _, text := range texts {
			p := sums.Learn(text, "x")
			if p == nil || !p.Nameless() {
				t.Fatalf("%+v: no checksum without a name", c)
			}
			samples = append(samples, sums.Sample{Pattern: p, Text: text})
		}
		v := sums.LearnValues(texts)
		if v == nil || (sums.Equal(samples) && len(v.Apart()) > 0) != c.want {
			t.Errorf("%+v: %v", c, v)
		}
	}
}

// TestQuotedThings: values that differ to the end are found beside a generator whose state is equal, also if only its lines show
// what the tick is. Names of several words are things.
func TestQuotedThings(t *testing.T) {
	names := []string{"the old miller", "Brother Anselm", "a night-watch dog"}
	log := func(own uint64, bad int) string {
		var out strings.Builder
		dice, machine := rand.New(rand.NewPCG(8, 9)), rand.New(rand.NewPCG(own, 1))
		coins := []int{10, 10, 10}
		for pulse := 1; pulse <= 120; pulse++ {
			fmt.Fprintf(&out, "Mar  4 11:%02d:%02d vale%d game[%d]: pu %d dice rolled=%d state=%08x\n", pulse/60, pulse%60, own, 400+own, pulse, pulse*7, dice.Uint32())
			for n, name := range names {
				if coins[n] += dice.IntN(4); pulse == bad && n == 1 {
					coins[n] += 100
				}
				fmt.Fprintf(&out, "Mar  4 11:%02d:%02d vale%d game[%d]: pu %d npc \"%s\" stamina %d coins %d\n", pulse/60, pulse%60, own, 400+own, pulse, name, 30+dice.IntN(9), coins[n])
			}
			if machine.IntN(6) == 0 {
				fmt.Fprintf(&out, "Mar  4 11:%02d:%02d vale%d game[%d]: login from 10.0.0.%d\n", pulse/60, pulse%60, own, 400+own, machine.IntN(200))
			}
		}
		return out.String()
	}
	for bad, want := range map[int]bool{70: true, 999: false} {
		texts := [][]byte{[]byte(log(1, 999)), []byte(log(2, bad)), []byte(log(3, 999))}
		var samples []sums.Sample
		for _, text := range texts {
			samples = append(samples, sums.Sample{Pattern: sums.Learn(text, "x"), Text: text})
		}
		v := sums.LearnValues(texts, samples...)
		if v == nil || (sums.Equal(samples) && len(v.Apart()) > 0) != want {
			t.Fatalf("%d: %+v", bad, v)
		}
		var traces []*tracediff.Trace
		for _, text := range texts {
			traces = append(traces, openLog(t, t.TempDir(), text, v.Format()))
		}
		r, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if (r.First != nil) != want || want && (r.First.Tick.Number != 70 || !strings.HasSuffix(r.First.Scope, "npc Brother Anselm")) {
			t.Errorf("%d: %+v", bad, r.First)
		}
	}
}

// TestLibraryHeads: what logging libraries write before a message, and their members of JSON Lines, are neither values nor things
// of the game.
func TestLibraryHeads(t *testing.T) {
	number := func(r *rand.Rand) int { return 1000 + r.IntN(40000) }
	heads := map[string]func(time string, r *rand.Rand) string{
		"glog": func(time string, r *rand.Rand) string {
			return fmt.Sprintf("I0401 %s456 %5d sim.cc:%d] ", time, number(r), 88)
		},
		"spdlog": func(time string, r *rand.Rand) string {
			return fmt.Sprintf("[2026-04-01 %s] [%d] [info] ", time, number(r))
		},
		"log4j": func(time string, r *rand.Rand) string {
			return fmt.Sprintf("%s [%d] INFO  g.sim.World - ", time, number(r))
		},
		"nlog": func(time string, r *rand.Rand) string {
			return fmt.Sprintf("2026-04-01 %s|%d|INFO|Sim|", time, number(r))
		},
		"logcat": func(time string, r *rand.Rand) string {
			return fmt.Sprintf("04-01 %s %5d %5d D Sim     : ", time, number(r), number(r))
		},
		"python": func(time string, r *rand.Rand) string {
			return fmt.Sprintf("2026-04-01 %s %d INFO sim: ", time, number(r))
		},
		"tracing": func(time string, r *rand.Rand) string {
			return fmt.Sprintf("2026-04-01T%sZ  INFO ThreadId(%02d) game::sim: ", time, r.IntN(9))
		},
		"syslog": func(time string, r *rand.Rand) string {
			return fmt.Sprintf("<14>1 2026-04-01T%sZ box%d game %d - - ", time, r.IntN(9), number(r))
		},
		"unreal": func(time string, r *rand.Rand) string {
			return fmt.Sprintf("[2026.04.01-12.00.00:123][%3d]LogSim: ", r.IntN(999))
		},
		"rcl": func(_ string, r *rand.Rand) string {
			return fmt.Sprintf("[DEBUG] [%d.%06d] [cogs]: ", 1720000000+r.IntN(900), r.IntN(1000000))
		},
		"uptime": func(_ string, r *rand.Rand) string {
			return fmt.Sprintf("[%5d.%06d] cogs: ", r.IntN(900), r.IntN(1000000))
		},
		"milliseconds": func(_ string, r *rand.Rand) string {
			return fmt.Sprintf("%d INFO cogs: ", 1720000000000+r.IntN(90000))
		},
		"json": nil,
	}
	for name, head := range heads {
		for bad, want := range map[int]string{90: "turn 60, cog 2, hull 2316, cog 2, hull 2317", 999: ""} {
			var texts []string
			for peer := range 2 {
				var log strings.Builder
				own, sim := rand.New(rand.NewPCG(uint64(peer), 5)), rand.New(rand.NewPCG(5, 6))
				for turn := range 90 {
					time := fmt.Sprintf("12:%02d:%02d.%03d", turn/60, turn%60, own.IntN(1000))
					for cog := range 3 {
						hull, mast := sim.IntN(4000), sim.Float64()
						if turn >= bad-30 && cog == 2 {
							hull += peer
						}
						if head != nil {
							fmt.Fprintf(&log, "%sturn %d cog %d hull=%d mast=[%.3f %.3f]\n", head(time, own), turn, cog, hull, mast, mast+1)
							continue
						}
						fmt.Fprintf(&log, `{"@t":"2026-04-01T%sZ","@mt":"Cog {Cog} in turn {Turn}","@l":"Debug","Turn":%d,"cog":%d,"hull":%d,"mast":[%.3f,%.3f],"SourceContext":"Sim.Cogs","ThreadId":%d}`+"\n",
							time, turn, cog, hull, mast, mast+1, own.IntN(20))
					}
				}
				texts = append(texts, log.String())
			}
			first, partial := traced(t, texts...)
			if first != want || partial && want == "" {
				t.Errorf("%s: %q, partial %t, expected %q", name, first, partial, want)
			}
		}
	}
}
