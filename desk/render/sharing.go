package render

import (
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/report/document"
)

// Thousands writes a whole number with commas: 1,024.
func Thousands(n int64) string { return thousands(n) }

// Many writes "1 match" and "1,024 matches".
func Many(n int64, one, several string) string { return many(n, one, several) }

// Size writes a number of bytes: 1.5 MB.
func Size(bytes int64) string { return size(bytes) }

// OddsRatio writes an odds ratio and its interval: "1,024 (52–20,000)".
func OddsRatio(o *desk.Odds) string {
	return ratio(o.Ratio) + " (" + ratio(o.Low) + "–" + ratio(o.High) + ")"
}

// Known says which steps of the narrowing a report answers, and which it leaves open.
func Known(r *document.Report) string { return known(r) }

// Compared says how many facts of a group were compared with the others of its game, and what came of it; empty
// if none is stated.
func Compared(d *desk.GroupDetail) string {
	if s := platformSection(d); len(s.notes) > 0 {
		return s.notes[0]
	}
	return ""
}

// Between writes a range, from and to, of which either may be unknown.
func Between(from, to string) string { return between(from, to) }
