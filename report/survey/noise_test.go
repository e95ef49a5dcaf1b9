package survey_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/survey"
)

// TestNoiseByBehaviour: where one player looks, and a text that each machine keeps, are noise, whether something else differs
// later or not, and so are clocks, even if two of them show the same time by chance. What a machine shows, and a value of no entity that is equal again and again, are noise if something does. Values
// that begin to differ and stay different are none, and neither is what blinks on an entity or only after that.
func TestNoiseByBehaviour(t *testing.T) {
	const dumps = 12
	lasting := func(tick, peer int) string { return fmt.Sprint(tick / 5 * peer) }
	blinking := func(tick, peer int) string { return fmt.Sprint(peer * (tick / 2 % 2)) }
	for _, c := range []struct {
		path  string // of the value: a name of no entity, in a map, or of units
		value func(tick, peer int) string
		// is it noise, if something else differs later, and if nothing does?
		later, alone bool
	}{
		{"cameraX", lasting, true, true},
		{"local.target", lasting, true, true},
		{"runtime", func(_, peer int) string { return fmt.Sprintf(`"11.%d"`, peer) }, true, true},
		{"batches", func(tick, peer int) string { return fmt.Sprint(40 + peer*(1-tick%3/2)) }, true, true},
		{"saved_at.nanos", func(tick, peer int) string { return fmt.Sprint(71 + tick + min(tick, 1)*peer*tick) }, true, true},
		{"client.at", func(tick, peer int) string { return fmt.Sprint(1712000020123 + tick*50000 + tick/2*peer*tick) }, true, true},
		{"last_frame", func(tick, peer int) string { return fmt.Sprintf(`"%d.%d79ms"`, 8+peer, tick) }, true, true},
		{"node", func(_, peer int) string { return fmt.Sprintf(`"Node2D#93620388%d"`, peer) }, true, true},
		{"fx.sparks", func(tick, peer int) string { return fmt.Sprint(tick + peer) }, true, true},
		{"os", func(tick, peer int) string { return fmt.Sprintf("%q", []string{"a", "b"}[(tick+1)/2%2*peer]) }, true, true},
		{"elapsed", func(tick, peer int) string { return fmt.Sprint(tick + peer*min(tick, 1)) }, false, false},
		{"speed_ms", func(tick, peer int) string { return fmt.Sprint(71 + tick + min(tick, 1)*peer*tick) }, false, false},
		{"ui.menu", blinking, true, true},
		{"ui.shop", lasting, true, false},
		{"mode", blinking, true, false},
		{"units.visible", func(_, peer int) string { return fmt.Sprint(peer) }, true, false},
		{"units.heat", blinking, false, false},
		{"units.cursor", lasting, false, false},
		{"machine.power", lasting, false, false},
		{"gold", func(tick, peer int) string { return fmt.Sprint(90 + peer*(tick/3%2)*(1-tick/6)) }, false, false},
		{"late", func(tick, peer int) string { return fmt.Sprint(90 + peer*(tick%2)*(tick/9)) }, false, false},
		{"early", func(tick, peer int) string { return fmt.Sprint(90 + peer*(tick%2)*(tick/7)) }, false, false},
	} {
		for bad, want := range map[int]bool{8: c.later, 99: c.alone} {
			texts := map[string]string{}
			for peer, folder := range []string{"host", "guest"} {
				for tick := range dumps {
					hp := 9
					if peer == 1 && tick >= bad {
						hp = 8
					}
					texts[fmt.Sprintf("%s/s_%d.json", folder, tick)] = noisyState(tick, hp, c.path, c.value(tick, peer))
				}
			}
			all, err := survey.For(files.Disk, []string{write(t, texts)})
			if err != nil {
				t.Fatal(err)
			}
			list, compared := all.Noise()
			is := len(list) == 1 && strings.EqualFold(list[0].Field, c.path[1+strings.LastIndexByte(c.path, '.'):]) && !compared
			if is != want {
				t.Errorf("%s, another value differs from dump %d on: %v, compared %t", c.path, bad, list, compared)
			}
		}
	}
}

// TestTimes: a value of no entity with the name of a time that alone differs, in most dumps and not in all, is probably noise,
// and compared.
func TestTimes(t *testing.T) {
	for name, probable := range map[string]bool{"weather_ms": true, "wave.at": true, "weather": false} {
		texts := map[string]string{}
		for peer, folder := range []string{"host", "guest"} {
			for tick := range 8 {
				texts[fmt.Sprintf("%s/s_%d.json", folder, tick)] = noisyState(tick, 9, name, fmt.Sprint(30+7*tick%5+peer*min(tick, 1)*(tick-3)))
			}
		}
		all, err := survey.For(files.Disk, []string{write(t, texts)})
		if err != nil {
			t.Fatal(err)
		}
		if list, compared := all.Noise(); compared != probable {
			t.Errorf("%s: %v, compared %t", name, list, compared)
		}
	}
}

// TestRestless: small numbers that go up and down on each peer by other steps are noise beside values that look like it, if nothing
// else differs. They are not without such a value, nor are others: those a fixed number apart, those that only grow, large ones.
func TestRestless(t *testing.T) {
	jitter := func(tick, peer int) int { return (tick*tick*5 + peer*(tick*7+3)) % 23 }
	for _, c := range []struct {
		beside string // the name of another value
		value  func(tick, peer int) int
		noise  bool
	}{
		{"heap_mb", func(tick, peer int) int { return 2*jitter(tick, peer) + peer }, true},
		{"heapy", func(tick, peer int) int { return 2*jitter(tick, peer) + peer }, false},
		{"heap_mb", func(tick, peer int) int { return jitter(tick, 0) + 5*peer }, false},
		{"heap_mb", func(tick, peer int) int { return 100*tick + 2*jitter(tick, peer) + peer }, false},
		{"heap_mb", func(tick, peer int) int { return 1<<25 + 2*jitter(tick, peer) + peer }, false},
	} {
		texts := map[string]string{}
		for peer, folder := range []string{"host", "guest"} {
			for tick := range 9 {
				texts[fmt.Sprintf("%s/s_%d.json", folder, tick)] = fmt.Sprintf(`{"tick": %d, %q: %d, "workers": %d, "gold": 5, "wave": 2, "units": [{"id": 1, "hp": 9, "x": 4}]}`,
					tick, c.beside, 2*jitter(tick+3, peer)+peer, c.value(tick, peer))
			}
		}
		all, err := survey.For(files.Disk, []string{write(t, texts)})
		if err != nil {
			t.Fatal(err)
		}
		if list, compared := all.Noise(); compared == c.noise || len(list) != 2 {
			t.Errorf("beside %s: %v, compared %t", c.beside, list, compared)
		}
	}
}

// noisyState returns a state with a value at a path.
func noisyState(tick, hp int, path, value string) string {
	in, name, found := strings.Cut(path, ".")
	switch {
	case in == "units":
		return fmt.Sprintf(`{"tick": %d, "units": [{"id": 1, "hp": %d, %q: %s}]}`, tick, hp, name, value)
	case found:
		value, path = fmt.Sprintf(`{%q: %s}`, name, value), in
	}
	return fmt.Sprintf(`{"tick": %d, %q: %s, "units": [{"id": 1, "hp": %d}]}`, tick, path, value, hp)
}

// TestDates: three numbers of the names that are a date of the game's calendar are the tick; other numbers that vary, and times
// of the machine, are not.
func TestDates(t *testing.T) {
	for _, c := range []struct {
		names [3]string
		want  string // of the first file
	}{
		{[3]string{"oos_1871.9.28.json", "oos_1871.10.12.json", "oos_1872.1.4.json"}, " 1871.9.28 host/oos_1871.9.28.json"},
		{[3]string{"d-1444-11-11.json", "d-1444-11-12.json", "d-1444-12-01.json"}, " 1444-11-11 host/d-1444-11-11.json"},
		{[3]string{"s_2024-05-01_100.json", "s_2024-05-01_200.json", "s_2024-05-02_300.json"}, " 100 host/s_2024-05-01_100.json"},
	} {
		texts := map[string]string{}
		for _, folder := range []string{"host", "guest"} {
			for i, name := range c.names {
				texts[folder+"/"+name] = fmt.Sprintf(`{"units": [{"id": 1, "hp": %d}, {"id": 2, "hp": 7}]}`, i)
			}
		}
		if list := found(t, write(t, texts)); len(list) != 6 || !slices.Contains(list, c.want) {
			t.Errorf("%q, expected %q among them", list, c.want)
		}
	}
}
