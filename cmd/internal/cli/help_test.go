package cli

import (
	"strings"
	"testing"
)

// TestFilled pins how texts of help are filled.
func TestFilled(t *testing.T) {
	long := strings.Repeat("word ", 20)
	for text, want := range map[string]string{
		"short\nlines\n\nstay":      "short\nlines\n\nstay",
		long + "\nand more\n  item": strings.TrimSpace(strings.Repeat("word ", 16)) + "\n" + strings.Repeat("word ", 4) + " and more\n  item",
		"  --flag  " + long:         "  --flag  " + strings.TrimSpace(strings.Repeat("word ", 14)) + "\n          " + strings.TrimSpace(strings.Repeat("word ", 6)),
	} {
		if got := filled(text); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(want), " ") || strings.Count(got, "\n") != strings.Count(want, "\n") {
			t.Errorf("%q is filled to\n%s\nwant\n%s", text, got, want)
		}
	}
}
