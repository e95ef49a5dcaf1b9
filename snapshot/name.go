package snapshot

import (
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Name returns the file name of a snapshot: desync_<seed>_<tick>.snap, the seed
// in 16 hex digits and the tick in 10 decimal ones.
func Name(seed, tick uint64) string { return fmt.Sprintf("desync_%016x_%010d.snap", seed, tick) }

// ParseName reads what Name returns. Missing and additional leading zeros are
// accepted.
func ParseName(base string) (FileName, bool) {
	rest, ok := strings.CutPrefix(base, "desync_")
	if !ok {
		return FileName{}, false
	}
	if rest, ok = strings.CutSuffix(rest, ".snap"); !ok {
		return FileName{}, false
	}
	seed, tick, ok := strings.Cut(rest, "_")
	if !ok {
		return FileName{}, false
	}
	s, err := strconv.ParseUint(seed, 16, 64)
	if err != nil {
		return FileName{}, false
	}
	t, err := strconv.ParseUint(tick, 10, 64)
	if err != nil {
		return FileName{}, false
	}
	return FileName{Seed: s, Point: Point{Tick: t}}, true
}

// SnapFormat is the format of .snap files.
func SnapFormat() Format {
	return Format{
		Name:        "snap",
		Title:       "desynctool snapshot",
		ParseName:   ParseName,
		Sniff:       IsSnap,
		Open:        func(r io.ReaderAt, size int64, name string) (State, error) { return Open(r, size, name) },
		Checksummed: true,
	}
}
