package openttd_test

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/orderlog"
)

const log14 = `new_map: 00000309
sync: 000ade1f; 00; d4d4af15; 6777aa46
cmd: 000ade20; 00; 01; 0000003b; 00000000; 0a0b0c0d (CmdPlaceSign)
cmd: 000ade21; 00; 01; 0000003b; 00000000; 0a0b0c0e (CmdPlaceSign)
cmd: 000ade22; 00; 01; 0000003b; 00000000; 0a0b0c0f (CmdPlaceSign)
cmd: 000ade23; 00; 01; 0000003b; 00000000; 0a0b0c10 (CmdPlaceSign)
cmd: 000ade24; 00; 01; 0000003b; 00000000; 0a0b0c11 (CmdPlaceSign)
cmd: 000ade25; 00; 01; 0000003b; 00000000; 0a0b0c12 (CmdPlaceSign)
sync: 000ade26; 00; d4d4af16; 6777aa47
`

// real13 returns a log of 13 with arguments that end with a carriage return.
func real13(t *testing.T) string {
	t.Helper()
	log := string(readLog(t, "insync", "server"))
	if !strings.Contains(log, "\r\n") {
		t.Fatal("no arguments end with a carriage return")
	}
	return log
}

// TestLineEnds compares logs with their copies that have other line ends: the
// arguments of 13 may end with a carriage return that is theirs.
func TestLineEnds(t *testing.T) {
	for name, log := range map[string]string{"13": real13(t), "14": log14} {
		lines := strings.SplitAfter(log, "\n")
		for ends, returned := range map[string]func(i int) bool{
			"all":    func(int) bool { return true },
			"odd":    func(i int) bool { return i%2 == 1 },
			"even":   func(i int) bool { return i%2 == 0 },
			"first":  func(i int) bool { return i < len(lines)/2 },
			"second": func(i int) bool { return i >= len(lines)/2 },
		} {
			t.Run(name+" "+ends, func(t *testing.T) {
				var b strings.Builder
				for i, line := range lines {
					if whole, ok := strings.CutSuffix(line, "\n"); ok && returned(i) {
						line = whole + "\r\n"
					}
					b.WriteString(line)
				}
				c := compare(t, log, b.String())
				if c.Verdict != orderlog.InputsEqual || c.Incomplete() || c.Window.Orders == 0 {
					t.Errorf("%s, incomplete %v", c.Line(), c.Incomplete())
				}
				for _, h := range c.State.Hashes {
					if want := uint64(strings.Count(log, "\nsync: ")); h.Equal != want || h.Differ != 0 {
						t.Errorf("%d hashes equal, %d differ; expected %d and 0", h.Equal, h.Differ, want)
					}
				}
				warned := len(c.Warnings) > 0
				if want := name == "13" && ends != "all" && ends != "first"; warned != want {
					t.Errorf("warnings %q", c.Warnings)
				}
			})
		}
	}
}

// TestUnknownLines damages lines: their content is lost, and is no proof.
func TestUnknownLines(t *testing.T) {
	log13 := real13(t)
	for _, test := range []struct {
		name, log, from, to string
		line                int64
	}{
		{"keyword", log14, "cmd: 000ade21", "cmX: 000ade21", 4},
		{"stamp", log14, "cmd: 000ade21; 00", "cmd: 000ade21; zz", 4},
		{"nul", log14, "cmd: 000ade21", "c\x00d: 000ade21", 4},
		{"after raw arguments", log13, "cmd: 000ade20; 12", "Cmd: 000ade20; 12", 0},
		{"nul after raw arguments", log13, "cmd: 000ade20; 12; 00; 00000018", "cmd\x00 000ade20\x00 12; 00; 00000018", 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			before, _, found := strings.Cut(test.log, test.from)
			if !found {
				t.Fatalf("no %q", test.from)
			}
			line := int64(strings.Count(before, "\n") + 1)
			damaged := strings.Replace(test.log, test.from, test.to, 1)
			for _, order := range [][2]string{{test.log, damaged}, {damaged, test.log}} {
				c := compare(t, order[0], order[1])
				if c.Diverged() || !c.Incomplete() {
					t.Errorf("%s, incomplete %v", c.Line(), c.Incomplete())
				}
				if len(c.Warnings) != 1 || !strings.Contains(c.Warnings[0], "1 line is of no known kind, first at line ") {
					t.Errorf("warnings %q", c.Warnings)
				}
				if n := c.Peers[0].UnknownLine + c.Peers[1].UnknownLine; n != line {
					t.Errorf("line %d, expected %d", n, line)
				}
			}
			// Elsewhere a missing order is reported all the same; the hashes agree after it.
			last := strings.LastIndex(damaged, "\ncmd: ") + 1
			_, rest, _ := strings.Cut(damaged[last:], "\n")
			if c := compare(t, test.log, damaged[:last]+rest); c.DifferenceCount != 1 || c.Verdict != orderlog.LogsDiffer {
				t.Errorf("%s", c.Line())
			}
		})
	}
}

// TestBack lets a log go back without a word: the rest was compared with nothing.
func TestBack(t *testing.T) {
	back := log14 + log14[strings.Index(log14, "cmd: 000ade21"):]
	c := compare(t, log14, back)
	if c.Diverged() || !c.Incomplete() || c.Peers[1].Alone != 6 {
		t.Errorf("%s, incomplete %v, %d ticks alone", c.Line(), c.Incomplete(), c.Peers[1].Alone)
	}
	if len(c.Warnings) != 1 || !strings.HasPrefix(c.Warnings[0], "client: line 10: the log goes back from 000ade26;00 to 000ade21;00") {
		t.Errorf("warnings %q", c.Warnings)
	}
	if c := compare(t, back, back); c.Incomplete() || len(c.Warnings) != 2 {
		t.Errorf("%s, warnings %q", c.Line(), c.Warnings)
	}
}
