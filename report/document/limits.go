package document

import (
	"io"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// Limits is desynctool.limits/1: the limits on input, as they are in effect.
type Limits struct {
	Head
	Limits []LimitValue `json:"limits"`
}

// LimitValue is one limit. Value and Default are bytes, numbers or, of a duration, nanoseconds; a
// duration of 0 bounds nothing.
type LimitValue struct {
	Name    string `json:"name"`
	Unit    string `json:"unit"` // bytes, count, times or nanoseconds
	Value   int64  `json:"value"`
	Text    string `json:"text"` // the value as --limit takes it
	Default int64  `json:"default"`
	From    string `json:"from"`
	Bounds  string `json:"bounds"`
}

var limitUnits = map[limits.Unit]string{limits.Bytes: "bytes", limits.Count: "count", limits.Times: "times", limits.Duration: "nanoseconds"}

// NewLimits returns the limits of the process.
func NewLimits() *Limits {
	doc := &Limits{Head: NewHead("limits", InSync, nil), Limits: []LimitValue{}}
	for _, l := range limits.All() {
		doc.Limits = append(doc.Limits, LimitValue{l.Name, limitUnits[l.Unit], l.Max(), l.Text(l.Max()), l.Default, l.From(), l.Doc})
	}
	return doc
}

// LimitsText writes the limits for a person.
func LimitsText(w io.Writer, s Style) error {
	rows := [][]string{{"NAME", "VALUE", "FROM", "BOUNDS"}}
	for _, l := range limits.All() {
		rows = append(rows, []string{l.Name, l.Text(l.Max()), Safe(l.From()), l.Doc})
	}
	out := s.Text(w)
	out.Table(rows)
	return out.Err()
}
