package render

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/prose"
)

// Thousands formats a whole number with commas: 1,024.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for at := len(s) - 3; at > 0 && s[at-1] != '-'; at -= 3 {
		s = s[:at] + "," + s[at:]
	}
	return s
}

// Many formats "1 match" and "1,024 matches".
func Many(n int64, one, several string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + several
}

// ratio formats a number with two or three significant digits: 0.042, 4.2, 1,024.
func ratio(x float64) string {
	switch {
	case x >= 1e15:
		return fmt.Sprintf("%.1e", x)
	case x >= 100:
		return Thousands(int64(math.Round(x)))
	case x >= 10:
		return fmt.Sprintf("%.0f", x)
	case x >= 1:
		return fmt.Sprintf("%.1f", x)
	}
	return fmt.Sprintf("%.2g", x)
}

// Percent formats a part of a whole: 0.314 is "31 %".
func Percent(part float64) string {
	switch {
	case part > 0 && part < .01:
		return "<1 %"
	case part > .99 && part < 1:
		return ">99 %"
	}
	return fmt.Sprintf("%.0f %%", 100*part)
}

// Size formats a number of bytes: 1.5 MB.
func Size(bytes int64) string {
	x := float64(bytes)
	for i, unit := range []string{"bytes", "kB", "MB", "GB", "TB"} {
		if x < 1000 || unit == "TB" {
			if i == 0 {
				return Many(bytes, "byte", "bytes")
			}
			return fmt.Sprintf("%.1f %s", x, unit)
		}
		x /= 1000
	}
	return ""
}

// Sparkline draws the weeks of a trend. The highest week has full height, and a week without matches is a dot.
func Sparkline(t *desk.Trend) string {
	const bars = "▁▂▃▄▅▆▇█"
	var most int64
	for _, n := range t.Weeks {
		most = max(most, n)
	}
	if t.Until == "" {
		return ""
	}
	var b strings.Builder
	for _, n := range t.Weeks {
		if n == 0 {
			b.WriteRune('·')
			continue
		}
		b.WriteRune([]rune(bars)[(n*8-1)/most])
	}
	return b.String()
}

// SetsApart describes how a group differs in a fact: "17 of 17 with cpu arm64, 3 of 220 others; odds ratio 1,024
// (52–20,000)".
func SetsApart(p *desk.Platform) string {
	text := fmt.Sprintf("%s of %s with %s %s, %s of %s others", Thousands(p.With), Thousands(p.Of), prose.Name(p.Fact), prose.Name(p.Value), Thousands(p.OthersWith), Thousands(p.OthersOf))
	if p.Odds == nil {
		return text
	}
	return text + "; odds ratio " + OddsRatio(p.Odds)
}

// OddsRatio formats an odds ratio and its interval: "1,024 (52–20,000)".
func OddsRatio(o *desk.Odds) string {
	return ratio(o.Ratio) + " (" + ratio(o.Low) + "–" + ratio(o.High) + ")"
}

// Between formats a range. from or to may be unknown.
func Between(from, to string) string {
	switch {
	case from == to:
		return from
	case from == "":
		return to
	case to == "":
		return from
	}
	return from + " to " + to
}
