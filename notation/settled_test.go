package notation

import (
	"fmt"
	"strings"
	"testing"
)

// TestSettled: of the records of a game that predicts, the last of each tick counts, or those that a mark confirms. Other
// records of one tick are all read: rows of things, and those of a second match.
func TestSettled(t *testing.T) {
	const ticks = 60
	for name, c := range map[string]struct {
		begin, record, between, end string
		guess, sure                 string
		until                       int // the last tick that counts
	}{
		"marks":          {"", `{"tick": %d, "predicted": %s, "units": {"hp": %d}}`, "\n", "\n", "true", "false", ticks},
		"marks, a list":  {"[", `{"tick": %d, "isPredicted": %s, "units": {"hp": %d}}`, ",", "]", "true", "false", ticks},
		"confirmed":      {"", `{"frame": %d, "inputs_confirmed": %s, "units": {"hp": %d}}`, "\n", "\n", "false", "true", ticks},
		"a phase":        {"", `{"tick": %d, "phase": "%s", "units": {"hp": %d}}`, "\n", "\n", "predicted", "confirmed", ticks},
		"no marks":       {"", `{"tick": %d, "note": "%s", "units": {"hp": %d}}`, "\n", "\n", "x", "x", ticks - 16},
		"no marks, yaml": {"", "tick: %d\nnote: %s\nunits:\n  hp: %d\n", "---\n", "", "x", "x", ticks - 16},
	} {
		write := func(depth int) string {
			var list []string
			one := func(stage string, tick, hp int) { list = append(list, fmt.Sprintf(c.record, tick, stage, hp)) }
			for tick := 1; tick <= ticks; {
				if tick%depth == 0 && tick+depth <= ticks {
					for i := range depth {
						one(c.guess, tick+i, 99)
					}
					for range depth {
						one(c.sure, tick, 100+tick)
						tick++
					}
				}
				one(c.sure, tick, 100+tick)
				tick++
			}
			return c.begin + strings.Join(list, c.between) + c.end
		}
		two, three := write(2), write(3)
		n := Of("", []byte(two), true)
		if n != nil {
			n = Settled(n, []byte(two), []byte(three))
		}
		if n == nil {
			t.Errorf("%s: not of a game that predicts:\n%.300s", name, two)
			continue
		}
		one, other := scalarsOf(t, n, two), scalarsOf(t, n, three)
		if one != other || strings.Contains(one, "hp=99\n") || strings.Count(one, "hp=") != c.until || !strings.Contains(one, fmt.Sprintf("hp=%d\n", 100+c.until)) {
			t.Errorf("%s: %d records, expected %d:\n%.600s\n%.600s", name, strings.Count(one, "hp="), c.until, one, other)
		}
	}
	for name, record := range map[string]func(i int) string{
		"rows of things": func(i int) string { return fmt.Sprintf(`{"tick": %d, "id": %d, "hp": 5}`, i/3, i%3) },
		"rows of things of ticks that are played again": func(i int) string { return fmt.Sprintf(`{"tick": %d, "id": %d, "hp": 5}`, i/6+i%6/2, i%2) },
		"ids":                       func(i int) string { return fmt.Sprintf(`{"turn": %d, "hp": %d}`, i%4, i) },
		"two matches":               func(i int) string { return fmt.Sprintf(`{"tick": %d, "hp": 5}`, i%20) },
		"a mark that is never set":  func(i int) string { return fmt.Sprintf(`{"tick": %d, "predicted": false, "hp": 5}`, i) },
		"things that are predicted": func(i int) string { return fmt.Sprintf(`{"tick": %d, "unit": {"predicted": true}}`, i/2) },
	} {
		var log strings.Builder
		for i := range 40 {
			log.WriteString(record(i) + "\n")
		}
		n := Of("", []byte(log.String()), true)
		if Settled(n, []byte(log.String())) != nil {
			t.Errorf("%s: of a game that predicts", name)
		}
	}
	n := Of("", []byte("{\"peer\": 3}\n{\"tick\": 1, \"predicted\": true}\n{\"tick\": 1, \"predicted\": false}\n"), true)
	if got := scalarsOf(t, Settled(n, []byte("{\"tick\": 1, \"predicted\": true}\n{\"tick\": 2, \"predicted\": true}\n")), "{\"peer\": 3}\n{\"tick\": 1, \"predicted\": true}\n{\"tick\": 1, \"predicted\": false}\n"); got != "document\npeer=3\ndocument\ntick=1\npredicted=false\n" {
		t.Errorf("%q", got)
	}
	if Settled(n, []byte("{\"tick\": 1, \"predicted\": true}\n")) != nil {
		t.Error("a single record that is predicted does not count")
	}
}
