package sums_test

import (
	"fmt"
	"hash/crc32"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
)

// TestApart: lines of one form that begin otherwise may have the checksum of another peer. From the tick on at which both differ
// to the end the log contradicts itself. What a rollback corrects does not.
func TestApart(t *testing.T) {
	sum := func(tick int, wrong bool) uint32 { return crc32.ChecksumIEEE(fmt.Appendf(nil, "%d%v", tick, wrong)) }
	for name, wrong := range map[string]func(tick int) bool{
		"":             func(int) bool { return false },
		"from tick 60": func(tick int) bool { return tick >= 60 },
		"guesses":      func(tick int) bool { return tick%7 < 2 },
	} {
		var log strings.Builder
		for tick := range 100 {
			fmt.Fprintf(&log, "sim: tick %d hash %08x\n", tick, sum(tick, wrong(tick)))
			if tick >= 5 {
				fmt.Fprintf(&log, "net: ack tick %d hash %08x\n", tick-5, sum(tick-5, false))
			}
		}
		p := sums.Learn([]byte(log.String()), "a.log")
		if p == nil {
			t.Fatal(name)
		}
		got := p.Apart()
		if (name == "from tick 60") != strings.Contains(got, `"sim" and "net ack" have different checksums from tick 60 on`) || name != "from tick 60" && got != "" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestAnother: a number without a name that has as many digits as the checksum before it is another one.
func TestAnother(t *testing.T) {
	sum := func(n int) uint32 { return crc32.ChecksumIEEE(fmt.Append(nil, n)) }
	var log strings.Builder
	for tick := range 40 {
		fmt.Fprintf(&log, "turn %04d sum %05d %05d\n", tick, sum(tick)%100000, sum(tick/5)%100000)
	}
	p := sums.Learn([]byte(log.String()), "a.log")
	if p == nil || !strings.Contains(p.Title(), `checksum is "sum", an unnamed value`) {
		t.Fatal(p.Title())
	}
}
