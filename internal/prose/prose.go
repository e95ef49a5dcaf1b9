// Package prose contains text functions for sentences and labels in every package: numbers with nouns, and texts cut to
// a width.
package prose

import (
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// Count returns "1 row" or "2 rows".
func Count[N ~int | ~int64 | ~uint64](n N, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.FormatUint(uint64(n), 10) + " " + many
}

// Few returns at most most of the texts, separated by semicolons, and how many more there are: "a; b; and 3 more".
func Few(texts []string, most int) string {
	if len(texts) <= most {
		return strings.Join(texts, "; ")
	}
	return fmt.Sprintf("%s; and %d more", strings.Join(texts[:most], "; "), len(texts)-most)
}

// FirstOf returns at most most of the names, separated by commas, and how many more there are: "a, b and 3 more".
func FirstOf(names []string, most int) string {
	if len(names) <= most {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), len(names)-most)
}

// maxLine is the number of bytes of a text that OneLine uses.
const maxLine = 2000

// OneLine makes one line from a text, which may contain anything from a file.
func OneLine(s string) string {
	if len(s) > maxLine {
		s = s[:maxLine] + "…"
	}
	var parts []string
	for line := range strings.Lines(s) {
		if line = strings.TrimSpace(line); line != "" {
			parts = append(parts, line)
		}
	}
	return Printable(strings.Join(parts, "; "))
}

// Plainly returns the text of an error. System errors about files get desynctool's own wording.
func Plainly(err error) string {
	failed, ok := err.(*fs.PathError)
	if !ok {
		return err.Error()
	}
	if strings.Contains(failed.Path, "://") && errors.Is(failed, fs.ErrNotExist) {
		return failed.Path + ": no such file; addresses are not fetched, so save the file and give its path"
	}
	if errors.Is(failed, fs.ErrNotExist) {
		return failed.Path + ": no such file or folder"
	}
	return failed.Path + ": " + failed.Err.Error()
}

// terminal does not depend on the locale.
var terminal = runewidth.Condition{StrictEmojiNeutral: true}

// Columns returns the width of s in terminal columns. s must be printable and without colours.
func Columns(s string) int {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return terminal.StringWidth(s)
		}
	}
	return len(s)
}

// Shorten cuts s to at most n columns, and to four characters for each of them, because many characters take no column.
func Shorten(s string, n int) string {
	if len(s) <= n {
		return s
	}
	left := 4 * n
	for i := range s {
		if left--; left < 0 {
			s = s[:i] + "…"
			break
		}
	}
	return terminal.Truncate(s, n, "…")
}

// Cut cuts s to at most n characters, whatever their width.
func Cut(s string, n int) string {
	if utf8.RuneCountInString(s) <= n {
		return s
	}
	return string([]rune(s)[:n-1]) + "…"
}
