package sums_test

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
)

// lines returns a log with a value at each tick. The values of machine 0 and of another machine are the same from a tick on.
func lines(form string, machine, same int) []byte {
	var out strings.Builder
	for tick := range 40 {
		value := uint32(tick+1) * 2654435761
		if tick < same {
			value += uint32(machine) * 40503
		}
		fmt.Fprintf(&out, form+"\n", tick, value)
	}
	return []byte(out.String())
}

// TestConfirm takes values that are never the same for checksums only if there is a word for one.
func TestConfirm(t *testing.T) {
	for _, c := range []struct {
		form string
		same int
		kept bool
	}{
		{"async load finished at step %d: %08x", 40, false},
		{"async load finished at step %d: %08x", 39, true},
		{"async load finished at step %d: %08x", 0, true},
		{"step %d state hash %08x", 40, true},
		{"step %d: %08x", 40, true},
		{"frame %d predicted %08x", 0, false},
	} {
		var samples []sums.Sample
		for machine := range 2 {
			text := lines(c.form, machine, c.same)
			if p := sums.Learn(text, "x.log"); p != nil {
				samples = append(samples, sums.Sample{Pattern: p, Text: text})
			}
		}
		sums.Confirm(samples)
		for _, s := range samples {
			if kept := s.Pattern != nil; kept != c.kept {
				t.Errorf("%s, the same from %d on: kept is %v", c.form, c.same, kept)
			}
		}
		if len(samples) == 0 && c.kept {
			t.Errorf("%s: nothing is learned", c.form)
		}
	}
}

// TestSteady takes values that hardly change for checksums if a weak word and their form show it.
func TestSteady(t *testing.T) {
	for _, c := range []struct {
		form               string
		before, alice, bob string // the value until tick 12, and those of two peers from then on
		kept               bool
	}{
		{"tick %d players_sum=%s", "aa11bb22", "aa11bb22", "cc33dd44", true},
		{"frame %d state 0x%s", "aa11bb2200000001", "1a11bb2200000002", "cc33dd4400000003", true},
		{`{"turn":%d,"sync":"%s"}`, "aa11bb22", "aa11bb22", "cc33dd44", true},
		{"tick %d state=%s ok", "", "aa11bb22", "cc33dd44", false},                  // of the machine
		{"tick %d state=%s", "7ffdeadbeef0", "7ffdeadbeef0", "7ffd00000000", false}, // an address
		{"tick %d seed=%s", "aa11bb22", "aa11bb22", "cc33dd44", false},
		{"tick %d rng_state=%s", "aa11bb22", "aa11bb22", "cc33dd44", false},
		{"tick %d sum=%s", "10000000", "10000000", "20000000", false}, // of money
		{"tick %d name=%s", "aa11bb22", "aa11bb22", "cc33dd44", false},
		{"run %d state=%s", "aa11bb22", "aa11bb22", "cc33dd44", false},
	} {
		var samples []sums.Sample
		for _, own := range []string{c.alice, c.bob} {
			var text strings.Builder
			for tick := range 20 {
				value := own
				if tick < 12 && c.before != "" {
					value = c.before
				}
				fmt.Fprintf(&text, c.form+"\n", tick, value)
			}
			if p := sums.Learn([]byte(text.String()), "x.log"); p != nil {
				samples = append(samples, sums.Sample{Pattern: p, Text: []byte(text.String())})
			}
		}
		sums.Confirm(samples)
		kept := 0
		for _, s := range samples {
			if s.Pattern != nil {
				kept++
			}
		}
		if want := map[bool]int{true: 2}[c.kept]; kept != want {
			t.Errorf("%s: %d logs are kept, expected %d", c.form, kept, want)
		}
	}
}

// TestVague takes no unnamed values for checksums where other lines have a word for one, however many of them there are.
func TestVague(t *testing.T) {
	text := append(lines("async load finished at step %d: %08x", 0, 0), lines("CRC for frame #%d is %08x", 1, 40)...)
	p := sums.Learn(text, "x.log")
	if p == nil {
		t.Fatal("nothing is learned")
	}
	if got, want := p.Title(), `tick is the number at "frame", checksum is "CRC"`; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
}

// TestShy compares every column of the form of a checksum, also those that hardly change, except where no value of it is ever
// equal in two logs.
func TestShy(t *testing.T) {
	for _, c := range []struct {
		name, form string // with the tick, a checksum that changes, and the values of a column
		alice, bob string // from tick 12 on
		title      string
		left       string
	}{
		{"a part that hardly changes", "tick=%d units=%08x buildings=%s", "aa11bb22", "cc33dd44", `"units", "buildings"`, ""},
		{"random numbers", "[net] step %d Units=0x%08X Fog=0x00C0FFEE Rand=0x%s", "AA11BB22", "CC33DD44", `"Units", "Fog", "Rand"`, ""},
		{"in decimal", "turn %d units=%d walls=%s", "3735928559", "1122334455", `"units", "walls"`, ""},
		{"JSON", `{"tick":%d,"units":"%08x","walls":"%s"}`, "aa11bb22", "cc33dd44", `"units", "walls"`, ""},
		{"a short number", "turn %d hash=%08x walls=%s", "12345", "12346", `"hash"`, ""},
		{"another form", "turn %d hash=%08x gold=%s", "10000000", "20000000", `"hash"`, ""},
	} {
		for _, apart := range []bool{false, true} { // from the first tick on
			if apart && c.title == `"hash"` {
				continue
			}
			var samples []sums.Sample
			for _, own := range []string{c.alice, c.bob} {
				var text strings.Builder
				for tick := range 20 {
					value := own
					if tick < 12 && !apart {
						value = strings.Repeat("9", len(own))
					}
					fmt.Fprintf(&text, c.form+"\n", tick, crc32.ChecksumIEEE([]byte{byte(tick)}), value)
				}
				p := sums.Learn([]byte(text.String()), "x.log")
				if p == nil {
					t.Fatalf("%s: nothing is learned", c.name)
				}
				samples = append(samples, sums.Sample{Pattern: p, Text: []byte(text.String())})
			}
			sums.Confirm(samples)
			title, left := c.title, c.left
			if apart {
				i := strings.LastIndex(title, ", ")
				title, left = title[:i], strings.Trim(title[i+2:], `"`)
			}
			for _, s := range samples {
				if got := s.Pattern.Title(); !strings.HasSuffix(got, "checksum is "+title) {
					t.Errorf("%s: %s, expected %s", c.name, got, title)
				}
				if got := strings.Join(s.Pattern.Left(), " "); got != left {
					t.Errorf("%s: left %q, expected %q", c.name, got, left)
				}
			}
		}
	}
}
