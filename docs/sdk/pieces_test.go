package sdk_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	quoted    = regexp.MustCompile("`([^`]+)`")
	nameParts = regexp.MustCompile(`\.|::`)
)

// piecesOf returns the texts in backquotes in the cells of the rows of a table.
func piecesOf(t *testing.T, page, heading string) (rows [][][]string) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := strings.Cut(string(b), "\n## "+heading+"\n")
	section, _, _ := strings.Cut(rest, "\n## ")
	if !ok {
		t.Fatalf("%s: no section %q", page, heading)
	}
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|---") || strings.HasPrefix(line, "| Piece |") {
			continue
		}
		var row [][]string
		for _, cell := range strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|") {
			var names []string
			for _, m := range quoted.FindAllStringSubmatch(cell, -1) {
				names = append(names, m[1])
			}
			row = append(row, names)
		}
		rows = append(rows, row)
	}
	return rows
}

// TestPieces: for each piece of docs/recording.md the README has the calls that write it, and the
// SDKs have these calls.
func TestPieces(t *testing.T) {
	var want, got []string
	for _, row := range piecesOf(t, "../recording.md", "Pieces") {
		want = append(want, row[0]...)
	}
	columns, sources := map[string]int{
		"c/desynctool.h": 1, "cpp/desynctool.hpp": 2, "csharp/Desynctool.cs": 3, "rust/desynctool.rs": 4, "python/desynctool.py": 5, "typescript/desynctool.ts": 5,
	}, map[string]string{}
	for path := range columns {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		sources[path] = string(b)
	}
	for _, row := range piecesOf(t, "README.md", "What writes what") {
		got = append(got, row[0]...)
		for path, column := range columns {
			if len(row) <= column || len(row[column]) == 0 {
				t.Fatalf("%v: nothing in column %d", row[0], column)
			}
			for _, name := range row[column] {
				for _, part := range nameParts.Split(name, -1) {
					if !slices.Contains([]string{"r", "log"}, part) && !regexp.MustCompile(`\b`+part+`\b`).MatchString(sources[path]) {
						t.Errorf("%v: %s has no %s", row[0], path, name)
					}
				}
			}
		}
	}
	if !slices.Equal(got, want) || len(want) < 8 {
		t.Errorf("the table has the pieces %q, docs/recording.md %q", got, want)
	}
}
