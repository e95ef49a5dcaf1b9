package compare_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/report/document"
)

// TestLastingDifference: a difference that is alone, and looks a little like measurements, clocks or predictions, does not make a
// session one in sync.
func TestLastingDifference(t *testing.T) {
	log := func(file func(name, text string), all []moment) {
		var text strings.Builder
		for _, m := range all {
			fmt.Fprintf(&text, "sim: tick %d hash %08x\n", m.tick, m.sum())
		}
		file("game.log", text.String())
	}
	table := func(all []moment, names string, values func(m moment) string) string {
		text := "frame," + names + "\n"
		for _, m := range all {
			text += fmt.Sprintf("%d,%s\n", m.tick, values(m))
		}
		return text
	}
	header := func(line string) func(func(name, text string), []moment, int, *rand.Rand) {
		return func(file func(name, text string), all []moment, peer int, _ *rand.Rand) {
			m := all[60]
			file("dump.txt", fmt.Sprintf("[header]\nturn = %d\nwritten = Tue Apr 14 11:4%d:53 2025\n%s\n\n[world]\ngold = %d\nx = %d\nhp = %d\n",
				m.tick, peer, fmt.Sprintf(line, peer), m.gold, m.x[0], m.hp[0]))
		}
	}
	for name, write := range map[string]func(file func(name, text string), all []moment, peer int, noise *rand.Rand){
		"columns with an offset, and equal checksums": func(file func(name, text string), all []moment, peer int, _ *rand.Rand) {
			log(file, all)
			file("state.csv", table(all, "gold,wood", func(m moment) string { return fmt.Sprintf("%d,%d", m.gold+peer*5, m.x[0]-peer*3) }))
		},
		"two games from the first row on, and equal checksums": func(file func(name, text string), all []moment, peer int, _ *rand.Rand) {
			log(file, all)
			other := moments(uint64(peer+40), 120, -1, 0)
			file("state.csv", table(all, "gold,x,hp", func(m moment) string {
				o := other[m.tick]
				return fmt.Sprintf("%d,%d,%d", o.gold, o.x[0], o.hp[0])
			}))
		},
		"a column that never differs next to one that does": func(file func(name, text string), all []moment, _ int, noise *rand.Rand) {
			log(file, all)
			file("state.csv", table(all, "power,wood", func(m moment) string { return fmt.Sprintf("%d,%d", noise.IntN(90), m.gold) }))
		},
		"scores of a frame": func(file func(name, text string), all []moment, peer int, _ *rand.Rand) {
			log(file, all)
			file("state.csv", table(all, "frame_score,mean_gold", func(m moment) string { return fmt.Sprintf("%d,%d", m.gold+peer*5, m.x[0]-peer*3) }))
		},
		"measurements alone": func(file func(name, text string), all []moment, _ int, noise *rand.Rand) {
			file("perf.csv", table(all, "sim_ms,draw_ms", func(moment) string { return fmt.Sprintf("%.2f,%.2f", 9*noise.Float64(), 9*noise.Float64()) }))
		},
		"samples alone": func(file func(name, text string), all []moment, _ int, noise *rand.Rand) {
			var samples []string
			for _, m := range all {
				samples = append(samples, fmt.Sprintf(`{"t": %d, "fps": %d, "heap": %d}`, m.tick, 40+noise.IntN(20), 14000000+noise.IntN(80000000)))
			}
			file("fps.json", `{"samples": [`+strings.Join(samples, ", ")+"]}")
		},
		"checksums without a name, and equal states": func(file func(name, text string), all []moment, _ int, noise *rand.Rand) {
			var sums, states []string
			for _, m := range all {
				sums = append(sums, fmt.Sprintf(`{"t": %d, "v": %d}`, m.tick, noise.Uint32()))
				if m.tick%10 == 0 {
					states = append(states, m.json(0))
				}
			}
			file("sync.json", `{"samples": [`+strings.Join(sums, ", ")+"]}")
			file("state.ndjson", strings.Join(states, "\n"))
		},
		"a time of day of the game":   header("clock = 12:3%d"),
		"a time of the game":          header("time = 60%d"),
		"a date of the game":          header("date = 1871.10.1%d"),
		"a value with a clock beside": header("morale = %d"),
		"a clock that is all there is": func(file func(name, text string), _ []moment, peer int, _ *rand.Rand) {
			file("dump.txt", fmt.Sprintf("turn = 9\nuptime = 10%d\n", peer))
		},
		"a flag of the game": func(file func(name, text string), all []moment, peer int, _ *rand.Rand) {
			for _, m := range all[100:] {
				file(fmt.Sprintf("slot_%d.json", m.tick), fmt.Sprintf(`{"frame": %d, "order_confirmed": %t, "gold": %d, "units": {"x": %d}}`, m.tick, peer == 0, m.gold, m.x[0]))
			}
		},
	} {
		dir := t.TempDir()
		for peer, of := range []string{"ann", "bob"} {
			write(func(file, text string) {
				path := filepath.Join(dir, of, file)
				if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}, moments(3, 120, -1, 0), peer, rand.New(rand.NewPCG(5, uint64(peer+7))))
		}
		if r, fault := triaged(t, archive.Options{}, dir); r != nil && r.Status == document.InSync {
			first, _, _ := strings.Cut(textOf(t, r), "\n")
			t.Errorf("%s: %s", name, first)
		} else if r == nil && fault == "" {
			t.Errorf("%s: nothing", name)
		}
	}
}
