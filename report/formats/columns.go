package formats

import (
	"bytes"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/tracediff"
)

// Table reports whether a file with these first bytes is named as a table of checksums and may be one, and whether it is a table
// of long checksums, whatever it is called.
func Table(path string, head []byte) (named, long bool) {
	if tracediff.Sniff(head) != tracediff.Table {
		return false, false
	}
	return filepath.Ext(compression.PlainName(path)) == ".csv" && !unlikeColumns(head), longSum.Match(head)
}

// TableOfValues reports whether a file with these first bytes is a table of numbers that are no checksums of several peers: the
// columns are several values of one program, or all have short numbers.
func TableOfValues(path string, head []byte) bool {
	if named, long := Table(path, head); named || long || tracediff.Sniff(head) != tracediff.Table {
		return false
	}
	return unlikeColumns(head) || !someLong.Match(head)
}

// GoesBack reports whether a file with these first bytes is a table in which the tick of a row is smaller than the one before: a later
// row of a tick corrects an earlier one, or belongs to another match.
func GoesBack(head []byte) bool {
	if tracediff.Sniff(head) != tracediff.Table {
		return false
	}
	last := uint64(0)
	for line := range engine.WholeLines(head) {
		end := bytes.IndexFunc(line, func(c rune) bool { return c < '0' || c > '9' })
		tick, err := strconv.ParseUint(string(line[:max(end, 0)]), 10, 63)
		if err == nil && tick < last {
			return true
		} else if err == nil {
			last = tick
		}
	}
	return false
}

// someLong fits a row with a number that is long enough for a checksum, after its first one.
var someLong = lazyregexp.New(`(?m)^\s*\d+[\s,;].*?\b(0x)?[0-9a-fA-F]{6,}\b`)

// longSum fits a row of a tick and a checksum: small numbers are counts and times, and further columns need not be peers.
var longSum = lazyregexp.New(`(?m)^\s*\d+[\s,;]+(0x)?[0-9a-fA-F]{6,}\s*$`)

// unlikeColumns reports whether the columns of a table are several values of one program and not the checksums of several
// peers: they have names, and only small numbers, or no two of them have the same checksum in one row, or the same short number
// in many.
func unlikeColumns(head []byte) bool {
	if notation.IsWide(head) {
		return true
	}
	const fewest, short = 3, 4
	rows, equal, long, width := 0, 0, 0, 0
	for line := range engine.WholeLines(head) {
		cells := strings.FieldsFunc(string(line), func(c rune) bool { return strings.ContainsRune(",; \t\"", c) })
		if len(cells) == 0 {
			continue
		}
		if rows++; rows == 1 {
			width = len(cells)
		}
		if rows == 1 && cells[0][0]-'0' <= 9 || rows > 1 && width == 2 {
			return false
		}
		if slices.ContainsFunc(cells[1:], isLong) {
			long++
		}
		for i := 2; i < len(cells); i++ {
			if !slices.Contains(cells[1:i], cells[i]) {
				continue
			}
			if equal++; len(cells[i]) >= short {
				return false
			}
			break
		}
	}
	return rows > fewest && (4*equal < rows || long == 1) // the names are long
}

// isLong reports whether a cell may be a checksum: it is no number of a few digits, unless it begins with a zero.
func isLong(cell string) bool {
	return len(cell) > 3 || strings.Trim(cell, "-0123456789") != "" || len(cell) > 1 && cell[0] == '0'
}
