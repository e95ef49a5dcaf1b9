package compare_test

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// moment is the state of a small game after a tick.
type moment struct {
	tick int
	x    [4]int // of the units
	hp   [4]int
	gold int
}

// sum is the game's checksum of a state.
func (m moment) sum() uint32 {
	b := binary.LittleEndian.AppendUint32(nil, uint32(m.gold))
	for i := range m.x {
		b = binary.LittleEndian.AppendUint32(binary.LittleEndian.AppendUint32(b, uint32(m.x[i])), uint32(m.hp[i]))
	}
	return crc32.ChecksumIEEE(b)
}

// moments plays the game. From a tick on, a unit has one point less if the game is wrong.
func moments(seed uint64, ticks, wrong, unit int) (out []moment) {
	r := rand.New(rand.NewPCG(seed, 1))
	m := moment{hp: [4]int{900, 800, 700, 600}}
	for m.tick = range ticks {
		for i := range m.x {
			m.x[i] += r.IntN(7) - 3
			m.hp[i] -= r.IntN(3)
		}
		m.gold += r.IntN(9)
		at := m
		if wrong >= 0 && m.tick >= wrong {
			at.hp[unit]--
		}
		out = append(out, at)
	}
	return out
}

// shape is how a program that nobody described leaves what it did. Noise belongs to the machine.
type shape struct {
	name  string
	write func(file func(name, text string), all []moment, noise *rand.Rand)
}

// lined returns a shape of one file with a text for each tick.
func lined(name, file string, line func(m moment, noise *rand.Rand) string) shape {
	return shape{name, func(to func(name, text string), all []moment, noise *rand.Rand) {
		var text strings.Builder
		for _, m := range all {
			text.WriteString(line(m, noise))
		}
		to(file, text.String())
	}}
}

// dumps returns a shape of a file for each tenth tick.
func dumps(name, file string, text func(m moment) string) shape {
	return shape{name, func(to func(name, text string), all []moment, _ *rand.Rand) {
		for _, m := range all {
			if m.tick%10 == 0 {
				to(fmt.Sprintf(file, m.tick), text(m))
			}
		}
	}}
}

// each returns a text for each unit.
func (m moment) each(text func(i int) string) string {
	var out strings.Builder
	for i := range m.x {
		out.WriteString(text(i))
	}
	return out.String()
}

// kinds are the kinds of units.
var kinds = [...]string{"orc", "elf"}

// shapes are forms that programs have without any thought of a tool.
var shapes = []shape{
	lined("tick in brackets", "a.log", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("[%d] x=%d hp=%d gold=%d\n", m.tick, m.x[0], m.hp[0]+m.hp[1]+m.hp[2]+m.hp[3], m.gold)
	}),
	lined("bars without names", "a.txt", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("%d|%d|%d|%d|%d|%d\n", m.tick, m.hp[0], m.hp[1], m.hp[2], m.hp[3], m.gold)
	}),
	{"columns by blanks", func(file func(name, text string), all []moment, _ *rand.Rand) {
		text := "  tick    hp0    hp1    hp2    hp3   gold\n"
		for _, m := range all {
			text += fmt.Sprintf("%6d %6d %6d %6d %6d %6d\n", m.tick, m.hp[0], m.hp[1], m.hp[2], m.hp[3], m.gold)
		}
		file("a.txt", text)
	}},
	lined("floats in hexadecimal", "a.log", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("step %d: pos=%x hp=%d\n", m.tick, float64(m.x[0])/7, m.hp[0]+m.hp[1]+m.hp[2]+m.hp[3])
	}),
	lined("T0012 9f3acc01", "a.log", func(m moment, _ *rand.Rand) string { return fmt.Sprintf("T%04d %08X\n", m.tick, m.sum()) }),
	lined("a checksum a line", "a.txt", func(m moment, _ *rand.Rand) string { return fmt.Sprintf("%d\n", m.sum()) }),
	lined("a checksum a line in hexadecimal", "a.txt", func(m moment, _ *rand.Rand) string { return fmt.Sprintf("%08x\n", m.sum()) }),
	lined("checksums without ticks", "a.log", func(m moment, noise *rand.Rand) string {
		return fmt.Sprintf("[%.3f] net: sent %d bytes\n[%.3f] sim: state hash %08x\n", noise.Float64(), noise.IntN(90), noise.Float64(), m.sum())
	}),
	lined("elements of an array", "a.txt", func(m moment, _ *rand.Rand) string { return fmt.Sprintf("hash[%d]=%d\n", m.tick, m.sum()) }),
	lined("a part that hardly changes", "a.log", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("T=%d rng:%08x units:%08x map:%08x\n", m.tick, uint32(m.tick+1)*2654435761, m.sum(), uint32(m.tick/50+1)*0x9e3779b9)
	}),
	dumps("a line for the tick, a line a unit", "a_%03d.jsonl", func(m moment) string {
		return fmt.Sprintf("{\"turn\":%d,\"gold\":%d}\n", m.tick, m.gold) + m.each(func(i int) string {
			return fmt.Sprintf("{\"uid\":%d,\"hp\":%d,\"x\":%d}\n", 40+i, m.hp[i], m.x[i])
		})
	}),
	dumps("the same as YAML, without ids", "a_%03d.yaml", func(m moment) string {
		return fmt.Sprintf("turn: %d\ngold: %d\n", m.tick, m.gold) + m.each(func(i int) string { return fmt.Sprintf("---\nhp: %d\nx: %d\n", m.hp[i], m.x[i]) })
	}),
	dumps("the same as objects of Python", "a_%03d.txt", func(m moment) string {
		return fmt.Sprintf("World(turn=%d, level='D3')\n", m.tick) + m.each(func(i int) string {
			return fmt.Sprintf("Monster(uid=%d, kind='bat', pos=(%d, 3), hp=%d)\n", 1000+i, m.x[i], m.hp[i])
		})
	}),
	dumps("values by place", "%d.txt", func(m moment) string {
		return fmt.Sprintf("TICK %d\nGOLD %d\nUNITS 4\n", m.tick, m.gold) + m.each(func(i int) string {
			return fmt.Sprintf("%s #%d  %d/900  (%d, 7)\n", kinds[i%2], i, m.hp[i], m.x[i])
		})
	}),
	dumps("tuples", "%d.txt", func(m moment) string {
		return fmt.Sprintf("tick=%d\n", m.tick) + m.each(func(i int) string { return fmt.Sprintf("(%d, '%s', %d, %d)\n", i, kinds[i%2], m.hp[i], m.x[i]) })
	}),
	dumps("tabs without names", "%d.tsv", func(m moment) string {
		return m.each(func(i int) string { return fmt.Sprintf("%d\t%s\t%d\t%d\n", i, kinds[i%2], m.hp[i], m.x[i]) })
	}),
	dumps("bars with a kind", "%d.txt", func(m moment) string {
		return fmt.Sprintf("tick %d\n", m.tick) + m.each(func(i int) string { return fmt.Sprintf("%s|%d|%d|%d|Idle\n", kinds[i%2], i, m.hp[i], m.x[i]) })
	}),
	dumps("blanks without names", "%d.txt", func(m moment) string {
		return fmt.Sprintf("tick %d\n", m.tick) + m.each(func(i int) string { return fmt.Sprintf("%d %s %d %d\n", i, kinds[i%2], m.hp[i], m.x[i]) })
	}),
	lined("names with numbers", "a.txt", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("Turn %d:\n", m.tick) + m.each(func(i int) string { return fmt.Sprintf("    %s%d hp=%d x=%d\n", kinds[i%2], i, m.hp[i], m.x[i]) }) + "\n"
	}),
	dumps("units of measure", "%d.txt", func(m moment) string {
		return fmt.Sprintf("Tick %d\n", m.tick) + m.each(func(i int) string { return fmt.Sprintf("\t%s%d: %d%% %d.5m Idle\n", kinds[i%2], i, m.hp[i], m.x[i]) })
	}),
	dumps("arrows", "%d.txt", func(m moment) string {
		return fmt.Sprintf("step %d\n", m.tick) + m.each(func(i int) string { return fmt.Sprintf("%d -> hp %d, x %d, target nil\n", i, m.hp[i], m.x[i]) })
	}),
	dumps("a table with a line below its names", "%d.txt", func(m moment) string {
		return fmt.Sprintf("TICK %d\nID   KIND   HP    X\n---- ------ ---- ----\n", m.tick) + m.each(func(i int) string {
			return fmt.Sprintf("%-4d %-6s %4d %4d\n", i, kinds[i%2], m.hp[i], m.x[i])
		})
	}),
	dumps("sentences", "%d.txt", func(m moment) string {
		return fmt.Sprintf("tick %d\n", m.tick) + m.each(func(i int) string {
			return fmt.Sprintf("%s %d has %d hp and is at %d, 7\n", kinds[i%2], i, m.hp[i], m.x[i])
		}) + fmt.Sprintf("total gold: %d\n", m.gold)
	}),
	dumps("a drawn map", "%d.txt", func(m moment) string {
		return fmt.Sprintf("tick %d\n", m.tick) + m.each(func(i int) string {
			return strings.Repeat("#", m.hp[i]%19+1) + strings.Repeat(".", 20-m.hp[i]%19) + "\n"
		}) + m.each(func(i int) string { return fmt.Sprintf("%d %d\n", i, m.x[i]) })
	}),
	dumps("a remark with a value", "%d.txt", func(m moment) string {
		return fmt.Sprintf("tick %d\n# life %d\n", m.tick, m.hp[0]+m.hp[1]+m.hp[2]+m.hp[3]) + m.each(func(i int) string { return fmt.Sprintf("unit %d x %d y 3\n", i, m.x[i]) })
	}),
	lined("a second value on the line of the tick", "a.txt", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("tick %d rng %d:%d\n", m.tick, 7919*m.tick%1009, m.hp[0]+m.hp[1]+m.hp[2]+m.hp[3]) + m.each(func(i int) string { return fmt.Sprintf("unit %d x %d y 3\n", i, m.x[i]) })
	}),
	{"settings and frame times beside a log", func(file func(name, text string), all []moment, noise *rand.Rand) {
		log, frames := "", "n,ms\n"
		for i, m := range all {
			log += fmt.Sprintf("[%.3f] sync: frame %d hash %08x\n", noise.Float64(), m.tick, m.sum())
			frames += fmt.Sprintf("%d,%.2f\n", i, 4+9*noise.Float64())
		}
		file("game.log", log)
		file("frametimes.csv", frames)
		file("settings.ini", fmt.Sprintf("[video]\nwidth=1920\ngamma=%d\n", noise.IntN(1000)))
	}},
	{"guesses and values for good", func(file func(name, text string), all []moment, noise *rand.Rand) {
		log := ""
		for _, m := range all {
			line := fmt.Sprintf("f=%d x=(%d,%d) hp=%d gold=%d\n", m.tick, m.x[0], m.x[1], m.hp[0]+m.hp[1]+m.hp[2]+m.hp[3], m.gold)
			if noise.IntN(3) == 0 {
				log += fmt.Sprintf("12:00:01 [sim] predict f=%d x=(%d,%d) hp=%d gold=%d\n", m.tick, m.x[0]+1, m.x[1], m.hp[0], m.gold)
			}
			log += "12:00:02 [sim] final " + line
		}
		file("game.log", log)
	}},
	lined("a sum of values as a checksum", "game.log", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("save f=%d cs=%08x\n", m.tick, 0xadaa0000+977*(m.gold+m.x[0])+131*(m.hp[0]+m.hp[1]+m.hp[2]+m.hp[3]))
	}),
	{"a table whose ticks go back", func(file func(name, text string), all []moment, noise *rand.Rand) {
		text := "tick,crc\n"
		for i, m := range all {
			if noise.IntN(8) == 0 && i+1 < len(all) { // guesses of two ticks
				text += fmt.Sprintf("%d,%08x\n%d,%08x\n", m.tick, noise.Uint32(), m.tick+1, noise.Uint32())
			}
			text += fmt.Sprintf("%d,%08x\n", m.tick, m.sum())
		}
		file("game.csv", text)
	}},
	{"files named by a clock", func(file func(name, text string), all []moment, noise *rand.Rand) {
		clock := 100_000 + noise.IntN(90_000)
		for _, m := range all {
			clock += 1 + noise.IntN(9)
			file(fmt.Sprintf("dump_%d.json", clock), fmt.Sprintf(`{"tick":%d,"gold":%d,"hp":[%d,%d,%d,%d]}`, m.tick, m.gold, m.hp[0], m.hp[1], m.hp[2], m.hp[3]))
		}
	}},
	lined("sides of a message about checksums", "game.log", func(m moment, noise *rand.Rand) string {
		if m.tick%2 > 0 {
			return ""
		}
		return fmt.Sprintf("level=DEBUG msg=\"remote checksum\" frame=%d for_frame=%d remote=%08x local=%08x\n", m.tick+5+noise.IntN(2), m.tick, m.sum(), m.sum())
	}),
	{"two files of one tick in different notations", func(file func(name, text string), all []moment, _ *rand.Rand) {
		for _, m := range all {
			if m.tick%10 == 0 {
				file(fmt.Sprintf("dump/globals-%06d.json", m.tick), fmt.Sprintf(`{"tick": %d, "gold": %d}`, m.tick, m.gold))
				file(fmt.Sprintf("dump/ents-%06d.csv", m.tick), "id,x,hp\n"+m.each(func(i int) string { return fmt.Sprintf("%d,%d,%d\n", 40+i, m.x[i], m.hp[i]) }))
			}
		}
	}},
	{"settings in another folder", func(file func(name, text string), all []moment, noise *rand.Rand) {
		log := ""
		for _, m := range all {
			log += fmt.Sprintf("[2026.01.01-00.00.%02d:%03d][%3d]LogLockstep: Display: Step %d Checksum 0x%08X\n", m.tick%60, noise.IntN(1000), m.tick%1000, m.tick, m.sum())
		}
		file("Saved/Logs/Game.log", log)
		file("Saved/Config/GameUserSettings.ini", fmt.Sprintf("[/Script/Engine.GameUserSettings]\nResolutionSizeX=1920\nFrameRateLimit=%d.000000\n", noise.IntN(1000)))
	}},
	{"inputs in a table beside states in a folder", func(file func(name, text string), all []moment, noise *rand.Rand) {
		inputs := "tick,boat,rudder,sail\n"
		for _, m := range all {
			inputs += fmt.Sprintf("%d,0,%d,1\n%d,1,0,%d\n%d,2,0,1\n", m.tick, m.tick%3-1, m.tick, m.tick%2, m.tick)
			if m.tick%10 == 0 {
				file(fmt.Sprintf("snapshots/step-%d.json", m.tick), m.json(noise.IntN(1e6)))
			}
		}
		file("inputs.csv", inputs)
	}},
	lined("changes in words", "game.log", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("debug(sim): tick %d: state hash changed to %d\n", m.tick, int64(m.sum())*-0x9E3779B97F4A)
	}),
	lined("records of two types in one file", "a.txt", func(m moment, _ *rand.Rand) string {
		if m.tick%10 > 0 {
			return ""
		}
		return fmt.Sprintf("WorldState { Turn = %d, Gold = %d }\n", m.tick, m.gold) + m.each(func(i int) string {
			return fmt.Sprintf("  Ant { Id = %d, Pos = (%d, 3), Hp = %d, Task = Forage }\n", 1+i, m.x[i], m.hp[i])
		})
	}),
	lined("a grid of numbers", "a.txt", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("Turn %d\n", m.tick) + m.each(func(i int) string { return fmt.Sprintf("%d %d 0 3\n", m.x[i], m.hp[i]) })
	}),
	lined("the same in one file", "a.jsonl", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("{\"turn\":%d,\"gold\":%d}\n", m.tick, m.gold) + m.each(func(i int) string {
			return fmt.Sprintf("{\"uid\":%d,\"hp\":%d,\"x\":%d}\n", 40+i, m.hp[i], m.x[i])
		})
	}),
	{"samples of the frame rate beside states", func(file func(name, text string), all []moment, noise *rand.Rand) {
		var samples, states []string
		for _, m := range all {
			samples = append(samples, fmt.Sprintf(`{"t": %d, "fps": %d, "heap": %d}`, m.tick*10, 40+noise.IntN(21), 14000000+noise.IntN(80000000)))
			if m.tick%10 == 0 {
				states = append(states, m.json(noise.IntN(1e6)))
			}
		}
		states[len(states)-1] += "\n" + states[0][:20+noise.IntN(20)] // the program was killed
		file("fps.json", `{"samples": [`+strings.Join(samples, ", ")+"]}")
		file("state.ndjson", strings.Join(states, "\n"))
	}},
	{"samples in lines and tables beside states", func(file func(name, text string), all []moment, noise *rand.Rand) {
		var lines, states, table string
		for _, m := range all {
			fps := 40 + noise.IntN(21)
			lines += fmt.Sprintf(`{"tick": %d, "fps": %d, "heap": %d}`+"\n", m.tick, fps, 14000000+noise.IntN(80000000))
			table += fmt.Sprintf("%d,%d,%.1f\n", m.tick*10, fps, 9*noise.Float64())
			if m.tick%10 == 0 {
				states += m.json(0) + "\n"
			}
		}
		file("perf.ndjson", lines)
		file("frames.csv", "t,fps,frame_ms\n"+table)
		file("state.ndjson", states)
	}},
	{"a table of the frame times beside checksums", func(file func(name, text string), all []moment, noise *rand.Rand) {
		table, log := "frame,sim_ms,draw_ms,tris\n", ""
		for _, m := range all {
			table += fmt.Sprintf("%d,%.2f,%.2f,%d\n", m.tick, 2+6*noise.Float64(), 2+16*noise.Float64(), 2000+noise.IntN(2000))
			log += fmt.Sprintf("net: %d ms\nsim: tick %d hash %08x\n", noise.IntN(90), m.tick, m.sum())
		}
		file("perf.csv", table)
		file("game.log", log)
	}},
	{"slots with predictions", func(file func(name, text string), all []moment, noise *rand.Rand) {
		for _, m := range all {
			guess := m.tick%10 == 5 || m.tick > 110
			if m.tick%10 != 0 && !guess {
				continue
			}
			if guess {
				m.gold += 1 + noise.IntN(90)
			}
			file(fmt.Sprintf("slots/slot_%d.json", m.tick), fmt.Sprintf(`{"frame": %d, "inputs_confirmed": %t, "gold": %d, "units": [%s]}`, m.tick, !guess, m.gold,
				strings.TrimSuffix(m.each(func(i int) string { return fmt.Sprintf(`{"hp": %d, "x": %d},`, m.hp[i], m.x[i]) }), ",")))
		}
	}},
	lined("lines with predictions", "a.jsonl", func(m moment, noise *rand.Rand) string {
		guess := m
		guess.gold += 1 + noise.IntN(90)
		line := func(m moment, guess bool) string {
			return fmt.Sprintf("{\"frame\":%d,\"predicted\":%t,\"gold\":%d,\"units\":[%s]}\n", m.tick, guess, m.gold,
				strings.TrimSuffix(m.each(func(i int) string { return fmt.Sprintf(`{"hp":%d,"x":%d},`, m.hp[i], m.x[i]) }), ","))
		}
		if m.tick > 117 || m.tick%10 == 5 {
			return line(guess, true)
		}
		return line(m, false)
	}),
	{"passes, and predictions at the end", func(file func(name, text string), all []moment, noise *rand.Rand) {
		var log strings.Builder
		for _, m := range all {
			fmt.Fprintf(&log, "sync: advance frame %d cs %08x\n", m.tick, m.sum()^uint32(noise.IntN(2)))
			if m.tick >= 3 {
				fmt.Fprintf(&log, "sync: confirm frame %d cs %08x\n", m.tick-3, all[m.tick-3].sum())
			}
		}
		file("a.log", log.String())
	}},
}

// json returns the state as a line of JSON with a clock.
func (m moment) json(clock int) string {
	return fmt.Sprintf(`{"tick":%d,"at":%d,"gold":%d,"units":[%s]}`, m.tick, 1755500000000+clock, m.gold,
		strings.TrimSuffix(m.each(func(i int) string { return fmt.Sprintf(`{"id":%d,"hp":%d,"x":%d},`, 40+i, m.hp[i], m.x[i]) }), ","))
}

// session writes what two peers leave.
func (s shape) session(t *testing.T, dir string, seed uint64, wrong, unit int) {
	for peer, name := range []string{"ann", "bob"} {
		at := -1
		if peer == 1 {
			at = wrong
		}
		s.write(func(file, text string) {
			path := filepath.Join(dir, name, file)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}, moments(seed, 120, at, unit), rand.New(rand.NewPCG(seed, uint64(peer+7))))
	}
}

var wholes = regexp.MustCompile(`\d+`)

// TestShapes: in each shape a session in sync is in sync, and a value of any unit that differs from any tick on is found there.
// A state of each tenth tick shows it at the next one. Ticks that are counted begin with 1.
func TestShapes(t *testing.T) {
	for _, s := range shapes {
		t.Run(s.name, func(t *testing.T) {
			for seed := range uint64(effort.Of(2, 12)) {
				wrong, unit := 35+int(seed*31)%60, int(seed)%4
				for _, at := range []int{-1, wrong} {
					dir := t.TempDir()
					s.session(t, dir, seed, at, unit)
					r, fault := triaged(t, archive.Options{}, dir)
					if r == nil {
						t.Fatal(fault)
					}
					first, _, _ := strings.Cut(textOf(t, r), "\n")
					if len(r.Peers) != 2 || r.Peers[0].Name != "ann" || r.Peers[1].Name != "bob" {
						t.Errorf("seed %d, wrong from %d on: the peers are %v", seed, at, r.Peers)
					}
					near := slices.ContainsFunc(wholes.FindAllString(first, -1), func(text string) bool {
						n, err := strconv.Atoi(text)
						return err == nil && (n >= wrong-1 && n <= wrong+1 || n == (wrong+9)/10*10)
					})
					if at < 0 && r.Status != document.InSync || at >= 0 && (r.Status != document.Diverged || !near) {
						t.Errorf("seed %d, wrong from %d on: %s", seed, at, first)
					}
				}
			}
		})
	}
}
