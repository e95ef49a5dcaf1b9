package warzone

import (
	"strconv"
	"strings"
)

// DumpName is the content of a dump's name.
type DumpName struct {
	Time uint32 // game time, the label of the dump
	Slot int    // the slot that the state belongs to, 0 to 255
}

// ParseDumpName reads the base name of a dump, desync25702_p1.txt or, as the game names dumps that it writes on
// request, sync25702_p1.txt.
func ParseDumpName(base string) (name DumpName, ok bool) {
	rest, ok := strings.CutSuffix(base, ".txt")
	if !ok {
		return name, false
	}
	if rest, ok = strings.CutPrefix(strings.TrimPrefix(rest, "de"), "sync"); !ok {
		return name, false
	}
	time, slot, ok := strings.Cut(rest, "_p")
	if !ok {
		return name, false
	}
	t, ok1 := plainNumber(time, 32)
	s, ok2 := plainNumber(slot, 8)
	return DumpName{uint32(t), int(s)}, ok1 && ok2
}

// plainNumber parses digits without leading zeros.
func plainNumber(s string, bits int) (uint64, bool) {
	n, err := strconv.ParseUint(s, 10, bits)
	return n, err == nil && (s[0] != '0' || s == "0") && s[0] != '+'
}
