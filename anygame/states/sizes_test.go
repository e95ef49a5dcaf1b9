package states

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// plainState is a state as a game has it: a tick, and units with an id, a name and numbers.
type plainState struct {
	tick  int
	units []plainUnit
}

type plainUnit struct {
	id     int
	values []int
}

func field(i int) string { return "f" + letters(i) }

// letters returns another word for each number, without digits.
func letters(i int) string {
	out := ""
	for ; i >= 0; i = i/26 - 1 {
		out = string(rune('a'+i%26)) + out
	}
	return out
}

// pairs writes all fields of a unit.
func (u plainUnit) pairs(format, between string) string {
	var out []string
	for i, v := range u.values {
		out = append(out, fmt.Sprintf(format, field(i), v))
	}
	return strings.Join(out, between)
}

// each writes all units.
func (s plainState) each(between string, unit func(i int, u plainUnit) string) string {
	var out []string
	for i, u := range s.units {
		out = append(out, unit(i, u))
	}
	return strings.Join(out, between)
}

// writers write a state in each notation.
var writers = map[string]func(s plainState) string{
	"json": func(s plainState) string {
		return fmt.Sprintf(`{"tick": %d, "units": [`, s.tick) + s.each(", ", func(_ int, u plainUnit) string { return fmt.Sprintf(`{"id": %d, %s}`, u.id, u.pairs(`"%s": %d`, ", ")) }) + "]}\n"
	},
	"json by id": func(s plainState) string {
		return fmt.Sprintf(`{"tick": %d, "units": {`, s.tick) + s.each(", ", func(_ int, u plainUnit) string { return fmt.Sprintf(`"%d": {%s}`, u.id, u.pairs(`"%s": %d`, ", ")) }) + "}}\n"
	},
	"json by name": func(s plainState) string {
		return fmt.Sprintf(`{"tick": %d, "units": {`, s.tick) + s.each(", ", func(_ int, u plainUnit) string {
			return fmt.Sprintf(`"u%s": {%s}`, letters(u.id), u.pairs(`"%s": %d`, ", "))
		}) + "}}\n"
	},
	"json lines": func(s plainState) string {
		return s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("{\"tick\": %d, \"id\": %d, %s}\n", s.tick, u.id, u.pairs(`"%s": %d`, ", "))
		})
	},
	"xml attributes": func(s plainState) string {
		return fmt.Sprintf(`<state tick="%d">`, s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf(`<unit id="%d" %s/>`, u.id, u.pairs(`%s="%d"`, " "))
		}) + "</state>\n"
	},
	"xml elements": func(s plainState) string {
		return fmt.Sprintf("<state><tick>%d</tick>", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("<unit><id>%d</id>%s</unit>\n", u.id, u.pairs("<%[1]s>%[2]d</%[1]s>", ""))
		}) + "</state>\n"
	},
	"yaml": func(s plainState) string {
		return fmt.Sprintf("tick: %d\nunits:\n", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("  - id: %d\n%s\n", u.id, u.pairs("    %s: %d", "\n"))
		})
	},
	"yaml by id": func(s plainState) string {
		return fmt.Sprintf("tick: %d\nunits:\n", s.tick) + s.each("", func(_ int, u plainUnit) string { return fmt.Sprintf("  %d:\n%s\n", u.id, u.pairs("    %s: %d", "\n")) })
	},
	"toml": func(s plainState) string {
		return fmt.Sprintf("tick = %d\n", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("[[units]]\nid = %d\n%s\n", u.id, u.pairs("%s = %d", "\n"))
		})
	},
	"toml by name": func(s plainState) string {
		return fmt.Sprintf("tick = %d\n", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("[units.u%s]\n%s\n", letters(u.id), u.pairs("%s = %d", "\n"))
		})
	},
	"ini": func(s plainState) string {
		return fmt.Sprintf("[world]\ntick=%d\n", s.tick) + s.each("", func(_ int, u plainUnit) string { return fmt.Sprintf("[unit_%d]\n%s\n", u.id, u.pairs("%s=%d", "\n")) })
	},
	"ini by name": func(s plainState) string {
		return fmt.Sprintf("[world]\ntick=%d\n", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("[u%s]\n%s\n", letters(u.id), u.pairs("%s=%d", "\n"))
		})
	},
	"csv": func(s plainState) string {
		var names []string
		for i := range s.units[0].values {
			names = append(names, field(i))
		}
		return "tick,id," + strings.Join(names, ",") + "\n" + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("%d,%d,%s\n", s.tick, u.id, strings.Trim(strings.Join(strings.Fields(fmt.Sprint(u.values)), ","), "[]"))
		})
	},
	"csv by field": func(s plainState) string {
		return "tick,kind,id,field,value\n" + s.each("", func(_ int, u plainUnit) string {
			return u.pairs(fmt.Sprintf("%d,unit,%d,%%s,%%d\n", s.tick, u.id), "")
		})
	},
	"lua": func(s plainState) string {
		return fmt.Sprintf("return {\n  tick = %d,\n  units = {\n", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("    { id = %d, %s },\n", u.id, u.pairs("%s = %d", ", "))
		}) + "  },\n}\n"
	},
	"lua by id": func(s plainState) string {
		return fmt.Sprintf("return {\n  tick = %d,\n  units = {\n", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("    [%d] = { %s },\n", u.id, u.pairs("%s = %d", ", "))
		}) + "  },\n}\n"
	},
	"python": func(s plainState) string {
		return fmt.Sprintf("{'tick': %d, 'units': [", s.tick) + s.each(", ", func(_ int, u plainUnit) string { return fmt.Sprintf("{'id': %d, %s}", u.id, u.pairs("'%s': %d", ", ")) }) + "]}\n"
	},
	"javascript": func(s plainState) string {
		return fmt.Sprintf("{\n  tick: %d,\n  units: [\n", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("    { id: %d, %s },\n", u.id, u.pairs("%s: %d", ", "))
		}) + "  ],\n}\n"
	},
	"textproto": func(s plainState) string {
		return fmt.Sprintf("tick: %d\n", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("units {\n  id: %d\n%s\n}\n", u.id, u.pairs("  %s: %d", "\n"))
		})
	},
	"paths": func(s plainState) string {
		return fmt.Sprintf("tick = %d\n", s.tick) + s.each("", func(i int, u plainUnit) string {
			return fmt.Sprintf("units[%d].id = %d\n%s\n", i, u.id, u.pairs(fmt.Sprintf("units[%d].%%s = %%d", i), "\n"))
		})
	},
	"paths by id": func(s plainState) string {
		return fmt.Sprintf("tick = %d\n", s.tick) + s.each("", func(_ int, u plainUnit) string { return u.pairs(fmt.Sprintf("units.%d.%%s = %%d\n", u.id), "") })
	},
	"paths by name": func(s plainState) string {
		return fmt.Sprintf("tick = %d\n", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return u.pairs(fmt.Sprintf("units.u%s.%%s = %%d\n", letters(u.id)), "")
		})
	},
	"columns": func(s plainState) string {
		return s.each("", func(_ int, u plainUnit) string { return u.pairs(fmt.Sprintf("%d unit %d %%s %%d\n", s.tick, u.id), "") })
	},
	"indented": func(s plainState) string {
		return fmt.Sprintf("tick: %d\n", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("unit #%d\n%s\n", u.id, u.pairs("  %s = %d", "\n"))
		})
	},
	"indented by name": func(s plainState) string {
		return fmt.Sprintf("tick: %d\n", s.tick) + s.each("", func(_ int, u plainUnit) string {
			return fmt.Sprintf("u%s:\n%s\n", letters(u.id), u.pairs("  %s: %d", "\n"))
		})
	},
	"rows": func(s plainState) string {
		return fmt.Sprintf("tick %d\n", s.tick) + s.each("", func(_ int, u plainUnit) string { return fmt.Sprintf("unit %d %s\n", u.id, u.pairs("%s %d", " ")) })
	},
	"rows in brackets": func(s plainState) string {
		return fmt.Sprintf("=== tick %d ===\n", s.tick) + s.each("", func(_ int, u plainUnit) string { return fmt.Sprintf("[%d] Unit (%s)\n", u.id, u.pairs("%s %d", ", ")) })
	},
	"msgpack": func(s plainState) string {
		head := func(fix, long byte, n int) string {
			if n < 16 {
				return string([]byte{fix | byte(n)})
			}
			return string([]byte{long, byte(n >> 8), byte(n)})
		}
		text := func(s string) string { return string([]byte{0xa0 | byte(len(s))}) + s }
		number := func(n int) string { return string([]byte{0xd2, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)}) }
		return "\x82" + text("tick") + number(s.tick) + text("units") + head(0x90, 0xdc, len(s.units)) + s.each("", func(_ int, u plainUnit) string {
			out := head(0x80, 0xde, len(u.values)+1) + text("id") + number(u.id)
			for i, v := range u.values {
				out += text(field(i)) + number(v)
			}
			return out
		})
	},
	"cbor": func(s plainState) string {
		head := func(major byte, n int) string {
			return string([]byte{major<<5 | 26, byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
		}
		text := func(s string) string { return head(3, len(s)) + s }
		return "\xa2" + text("tick") + head(0, s.tick) + text("units") + head(4, len(s.units)) + s.each("", func(_ int, u plainUnit) string {
			out := head(5, len(u.values)+1) + text("id") + head(0, u.id)
			for i, v := range u.values {
				out += text(field(i)) + head(0, v)
			}
			return out
		})
	},
}

// play returns the states of a session at some ticks: units come and go, and their values change.
func play(draw func(label string, low, high int) int, units, fields, ticks int) (out []plainState) {
	next := draw("first id", 1, 500)
	random := uint32(next)
	roll := func(n int) int {
		random = random*1664525 + 1013904223
		return int(random>>8) % n
	}
	var s plainState
	for tick := range ticks {
		s.tick = 100 * (tick + 1)
		if tick > 0 && len(s.units) > 1 && units > 2 {
			s.units = slices.Delete(slices.Clone(s.units), 1, 2)
		}
		for len(s.units) < units {
			s.units = append(s.units, plainUnit{id: next})
			next += 1 + roll(3)
		}
		for i := range s.units {
			u := &s.units[i]
			u.values = slices.Clone(u.values)
			for len(u.values) < fields {
				u.values = append(u.values, roll(5000))
			}
			u.values[roll(fields)] = roll(5000)
		}
		out = append(out, plainState{s.tick, slices.Clone(s.units)})
	}
	return out
}

// TestSizes: whatever the number of units and fields, one value that differs is found in its state, in its unit and field,
// and nothing else differs. No rule may depend on how much there is.
func TestSizes(t *testing.T) {
	for _, name := range slices.Sorted(maps.Keys(writers)) {
		t.Run(name, func(t *testing.T) {
			if effort.Full() {
				rapid.Check(t, func(t *rapid.T) {
					draw := func(label string, low, high int) int { return rapid.IntRange(low, high).Draw(t, label) }
					most := draw("most", 1, 200)
					plant(t, draw, name, draw("units", 1, most), draw("fields", 1, most))
				})
				return
			}
			for _, size := range [][2]int{{1, 3}, {2, 1}, {5, 40}, {66, 4}, {4, 66}, {130, 12}} {
				random := rand.New(rand.NewPCG(uint64(size[0]), uint64(size[1])))
				plant(t, func(_ string, low, high int) int { return low + random.IntN(high-low+1) }, name, size[0], size[1])
			}
		})
	}
}

// plant has one value of one peer differ, and compares the states of both.
func plant(t rapid.TB, draw func(label string, low, high int) int, name string, units, fields int) {
	if name == "csv by field" {
		fields++ // a state with one line is a row with a value
	}
	fields = max(1, min(fields, 4000/units))
	one := play(draw, units, fields, 3)
	other := slices.Clone(one)
	from := draw("tick", 0, len(one))
	unit, at := draw("unit", 0, units-1), draw("field", 0, fields-1)
	var id int
	if from < len(one) {
		other[from].units = slices.Clone(other[from].units)
		u := &other[from].units[unit]
		u.values = slices.Clone(u.values)
		u.values[at] += 10000
		id = u.id
	}
	expect(t, writers[name], name, one, other, from, id, unit, at)
}

// expect compares the states of two peers.
func expect(t rapid.TB, write func(plainState) string, name string, one, other []plainState, from, id, unit, at int) {
	var s Schema
	var texts [2][]string
	var n *notation.Notation
	for i, list := range [][]plainState{one, other} {
		for _, state := range list {
			text := write(state)
			texts[i] = append(texts[i], text)
			if n == nil {
				if n = notation.Of("x.txt", []byte(text), true); n == nil {
					t.Skip("a file of this size shows no notation")
				}
			}
		}
	}
	for k := range one {
		for i := range texts {
			if err := s.Learn(n, []byte(texts[i][k])); err != nil {
				t.Fatal(err)
			}
		}
	}
	for k := range one {
		var worlds [2]*snapshot.World
		for i := range texts {
			list, err := s.Decode(n, []byte(texts[i][k]))
			if err != nil || len(list) != 1 {
				t.Fatalf("%d states, %v\n%s", len(list), err, texts[i][k])
			}
			worlds[i] = list[0]
		}
		if got := worlds[0].Point.Tick; got != uint64(one[k].tick) {
			t.Fatalf("tick %d, expected %d\n%.2000s", got, one[k].tick, texts[0][k])
		}
		a, err := snapshot.Hold(worlds[0])
		if err != nil {
			t.Fatal(err)
		}
		b, err := snapshot.Hold(worlds[1])
		if err != nil {
			t.Fatal(err)
		}
		d, err := snapshot.Compare(a, b, snapshot.DiffOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, table := range d.Tables {
			for _, c := range table.Changes {
				got = append(got, fmt.Sprintf("%s[%s] %s.%s %s %s", table.Label, c.Key, c.Component, c.Field, c.A, c.B))
			}
			if n := table.OnlyACount + table.OnlyBCount + uint64(len(table.Schema)); n > 0 {
				got = append(got, fmt.Sprintf("%s: %d rows or columns of one side", table.Label, n))
			}
		}
		if k != from {
			if len(got) > 0 {
				t.Fatalf("%d differs: %s\n%.2000s", one[k].tick, got, texts[0][k])
			}
			continue
		}
		value := one[k].units[unit].values[at]
		who := "[" + strconv.Itoa(id) + "]"
		switch {
		case strings.HasSuffix(name, "by name"):
			who = "u" + letters(id)
		case name == "ini":
			who = "unit_" + strconv.Itoa(id)
		}
		if units := len(one[k].units); units == 1 && len(got) == 1 && (strings.HasPrefix(got[0], "state[0] ") || strings.Contains(got[0], "[0] units.")) {
			who = "" // nothing shows that it is one of several
		}
		if len(got) != 1 || !strings.Contains(got[0], who) || !strings.HasSuffix(got[0], fmt.Sprintf(".%s %d %d", field(at), value, value+10000)) {
			t.Fatalf("%q differs, expected %s .%s %d %d\n%.3000s", got, who, field(at), value, value+10000, texts[0][k])
		}
	}
}
