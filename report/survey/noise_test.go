package survey_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/survey"
)

// TestNoiseByBehaviour: what a player looks at, a text that stays the same, and a value that is equal again and again are
// noise, whether something else differs later or not. A value that heals once, one that blinks after something else began
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
			if is != c.noise {
				t.Errorf("%s, another value differs from dump %d on: %v, compared %t", c.name, bad, list, compared)
			}
		}
	}
}
