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
	lined("a grid of numbers", "a.txt", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("Turn %d\n", m.tick) + m.each(func(i int) string { return fmt.Sprintf("%d %d 0 3\n", m.x[i], m.hp[i]) })
	}),
	lined("the same in one file", "a.jsonl", func(m moment, _ *rand.Rand) string {
		return fmt.Sprintf("{\"turn\":%d,\"gold\":%d}\n", m.tick, m.gold) + m.each(func(i int) string {
			return fmt.Sprintf("{\"uid\":%d,\"hp\":%d,\"x\":%d}\n", 40+i, m.hp[i], m.x[i])
		})
	}),
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
