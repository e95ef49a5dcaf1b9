package sums

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestForms reads logs by the shapes of their lines, and compares each line with all templates. The last lines are of
// shapes that were known before, and are read otherwise than the first ones of their shapes.
func TestForms(t *testing.T) {
	for name, c := range map[string]struct{ repeated, last string }{
		"usual":               {"frame # checksum %08x\n", "frame 90 checksum 1a2b3c4d\n"},
		"prefix":              {"[12:00:%02d] frame # crc32=0x%X, players=2\r\n", "[12:00:07] frame 90 crc32=0x1A2B3C4D, players=2\r\n"},
		"fraction":            {"frame # checksum %08x\n", "frame 90 checksum 1.a5\nframe 91 checksum 1.5a\n"},
		"large":               {"frame # checksum %08x\n", "frame 99999999999999999999 checksum 1a2b3c4d\nframe 00000000000000000091 checksum 1a2b3c4d\n"},
		"colours":             {"frame # checksum %08x\n", "\x1b[31mframe 90 checksum 1a2b3c4d\n\x1b[32mframe 91 checksum 1a2b3c4e\n"},
		"digits in a literal": {"frame # (e7) checksum %08x\n", "frame 90 (a7) checksum 1a2b3c4d\nframe 91 (e7) checksum 1a2b3c4d\n"},
		"rollbacks": {
			"frame # checksum %08x\n",
			"frame 90 checksum 1a2b3c4d\nrolling back to 90\nframe 90 checksum 1a2b3c4e\nframe 91 checksum 1a2b3c4d\nrolling back to 91\nframe 91 checksum 1a2b3c4f\n",
		},
		"two templates": {
			"sim frame # checksum %08x\nai frame # hash %08x\n",
			"sim frame 90 checksum 1a2b3c4d\nsim frame 91 checksum 1a2b3c4d ai frame 92 hash 2a2b3c4d\nai frame 93 hash 1a2b3c4d\nsim frame 94 checksum 1a2b3c4d ai frame 95 hash 2a2b3c4d\n",
		},
		"phase": {"frame # checksum %08x\n", "frame 90 checksum 1a2b3c4d predicted=0\nframe 91 checksum 1a2b3c4d predicted=1\n"},
	} {
		var text strings.Builder
		p := &Pattern{}
		write := func(to *strings.Builder, line string, from, ticks int) {
			for tick := from; tick < from+ticks; tick++ {
				line := strings.Replace(line, "#", fmt.Sprint(tick), 1)
				if sum := 0x9e3779b1 * uint32(tick+1); strings.Contains(line, "crc32") {
					fmt.Fprintf(to, line, tick%60, sum)
				} else {
					fmt.Fprintf(to, line, sum)
				}
			}
		}
		for line := range strings.Lines(c.repeated) {
			var alone strings.Builder
			write(&alone, line, 0, 80)
			one := Learn([]byte(alone.String()), "x")
			if one == nil {
				t.Fatalf("%s: %s is not known", name, line)
			}
			p.templates = append(p.templates, one.templates...)
			text.WriteString(alone.String() + strings.Repeat("unit 5 moved\n", 80))
		}
		text.WriteString(c.last)
		for line := range strings.Lines(c.repeated) { // what is before is no guess
			write(&text, line, 100, 40)
		}
		read := func(plain bool) (out []string, parsed int) {
			r := newReader(p, strings.NewReader(text.String()), "x", 0)
			r.plain = r.plain && plain
			for {
				rec, err := r.Next()
				if err != nil {
					return append(out, err.Error()), r.parsed
				}
				one := fmt.Sprint(rec.Pos, rec.Event)
				if c := rec.Checkpoint; c != nil {
					one += fmt.Sprintf("%d %q %s %s", c.Tick, c.Scope, c.Phase, c.Sums)
				}
				out = append(out, one)
			}
		}
		want, all := read(false)
		got, some := read(true)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", name, got[max(0, len(got)-7):], want[max(0, len(want)-7):])
		}
		if odd := name == "digits in a literal"; len(want) < 80 || (some > all/4) != odd {
			t.Errorf("%s: %d records, %d of %d lines were compared with templates", name, len(want), some, all)
		}
	}
}
