package survey_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/survey"
)

// TestNoiseByBehaviour: what a player looks at, and a text that stays the same, are noise, whether something else differs later
// or not. A value that is equal again and again is noise if something does. A value that heals once, one that blinks after something else began
// to differ, and one of an entity, are not.
func TestNoiseByBehaviour(t *testing.T) {
	const dumps = 12
	for _, c := range []struct {
		name  string
		value func(tick, peer int) string // of the member with that name
		noise bool
	}{
		{"cameraX", func(tick, peer int) string { return fmt.Sprint(tick / 5 * peer) }, true},
		{"runtime", func(_, peer int) string { return fmt.Sprintf(`"11.%d"`, peer) }, true},
		{"mode", func(tick, peer int) string { return fmt.Sprint(peer * (tick / 2 % 2)) }, true},
		{"batches", func(tick, peer int) string { return fmt.Sprint(40 + peer*(1-tick%3/2)) }, true},
		{"gold", func(tick, peer int) string { return fmt.Sprint(90 + peer*(tick/3%2)*(1-tick/6)) }, false},
		{"heat", func(tick, peer int) string { return fmt.Sprint(90 + peer*(tick/2%2)) }, false},
		{"late", func(tick, peer int) string { return fmt.Sprint(90 + peer*(tick%2)*(tick/9)) }, false},
	} {
		for _, bad := range []int{8, 99} {
			texts := map[string]string{}
			for peer, folder := range []string{"host", "guest"} {
				for tick := range dumps {
					hp := 9
					if peer == 1 && tick >= bad {
						hp = 8
					}
					mine, unit := fmt.Sprintf("%q: %s, ", c.name, c.value(tick, peer)), ""
					if c.name == "heat" {
						mine, unit = "", fmt.Sprintf(`, "heat": %s`, c.value(tick, peer))
					}
					texts[fmt.Sprintf("%s/s_%d.json", folder, tick)] = fmt.Sprintf(`{"tick": %d, %s"units": [{"id": 1, "hp": %d%s}]}`, tick, mine, hp, unit)
				}
			}
			all, err := survey.For(files.Disk, []string{write(t, texts)})
			if err != nil {
				t.Fatal(err)
			}
			list, compared := all.Noise()
			is := len(list) == 1 && strings.EqualFold(list[0].Field, c.name) && !compared
			if is != (c.noise && (bad < dumps || c.name != "mode")) {
				t.Errorf("%s, another value differs from dump %d on: %v, compared %t", c.name, bad, list, compared)
			}
		}
	}
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
