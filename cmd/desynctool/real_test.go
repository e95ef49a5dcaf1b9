package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/cmd/internal/cli/clitest"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// said is the verdict on a file, as a row of verdictsPage has it.
type said struct {
	formats, verdict, first string
}

// triaged runs triage and doctor on paths.
func triaged(t *testing.T, paths ...string) said {
	t.Helper()
	var stdout, stderr bytes.Buffer
	var r document.Report
	var checkup struct{ Files []struct{ Format string } }
	runJSON := func(document any, command string) {
		stdout.Reset()
		run(append([]string{command, "--format", "json"}, paths...), strings.NewReader(""), &stdout, &stderr)
		decode(t, stdout.Bytes(), document)
	}
	runJSON(&r, "triage")
	runJSON(&checkup, "doctor")

	s := said{verdict: string(r.Status), first: "—", formats: "—"}
	if r.Kind == bisect.Claimed {
		s.verdict += ", by the game's word"
	}
	switch d := r.FirstDivergence; {
	case d == nil:
	case d.Bracket.Native != nil:
		s.first = d.Bracket.Native.Bad
	default:
		s.first = fmt.Sprint(d.Bracket.Bad)
	}
	var names []string
	for _, f := range checkup.Files {
		if f.Format != "" {
			names = append(names, f.Format)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		s.formats = strings.Join(slices.Compact(names), " ")
	}
	return s
}

// decode decodes the JSON of a command, which keeps to its schema.
func decode(t *testing.T, b []byte, document any) {
	t.Helper()
	clitest.Leave(b, []string{"in", t.Name()})
	if err := json.Unmarshal(b, document); err != nil {
		t.Fatalf("%v\n%s", err, b)
	}
}

// postsPage has the table of posts, verdictsPage the tables of their fixtures.
var (
	postsPage    = filepath.Join("testdata", "posts.md")
	verdictsPage = filepath.Join("testdata", "real.md")
)

// realRows are the rows of a page below a heading, cell by cell.
func realRows(t *testing.T, page, heading string) (rows [][]string) {
	t.Helper()
	b, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(b), "\n## "+heading+"\n")
	if !ok {
		t.Fatalf("no section %q", heading)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if !strings.HasPrefix(line, "| ") {
			continue
		}
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		for i := range cells {
			cells[i] = strings.TrimSpace(cells[i])
		}
		rows = append(rows, cells)
	}
	return rows[1:]
}

// TestRealTable: the rows of fixtures match the reports of triage, and the fixture of each post
// is recognised and judged as the post was.
func TestRealTable(t *testing.T) {
	fixtures := map[string]said{}
	for _, row := range realRows(t, verdictsPage, "Fixtures") {
		path := strings.Trim(row[0], "`")
		want := said{row[1], row[2], row[3]}
		if got := triaged(t, filepath.Join("..", "..", path)); got != want {
			t.Errorf("%s: %+v, the table says %+v", path, got, want)
		}
		fixtures[path] = want
	}
	posts := realRows(t, postsPage, "Posts")
	if len(posts) != 18 {
		t.Errorf("%d posts", len(posts))
	}
	for _, row := range posts {
		path := strings.Trim(row[6], "`")
		f, ok := fixtures[path]
		if !ok {
			t.Errorf("%s: its fixture %s has no row", row[0], path)
		}
		if f.formats != row[1] || f.verdict != row[2] || (f.first == "—") != (row[3] == "—") {
			t.Errorf("%s: %q, %q, %q; its fixture %s: %+v", row[0], row[1], row[2], row[3], path, f)
		}
	}
	for _, folder := range []string{"threads", "pastes", "claims", "messages", "loglines", "gamelogs"} {
		entries, err := os.ReadDir(filepath.Join("..", "..", "testdata", folder))
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			path := "testdata/" + folder + "/" + e.Name()
			if _, ok := fixtures[path]; !ok && e.Name() != "README.md" && path != "testdata/claims/zeroad-test" {
				t.Errorf("%s has no row", path)
			}
		}
	}
}

// wrappings are what surrounds a text where people post it.
var wrappings = []struct {
	name string
	wrap func(text string) string
}{
	{"fence", func(s string) string { return "It happened again:\n\n```\n" + s + "```\nWhat now?\n" }},
	{"quoted once", eachLine("> %[2]s")},
	{"quoted three deep", eachLine("> > > %[2]s")},
	{"chat", eachLine("[12:34] <Alder> %[2]s")},
	{"BBCode", func(s string) string { return "See:\n[code]\n" + s + "[/code]\n" }},
	{"HTML entities", func(s string) string { return "<pre>\n" + html.EscapeString(s) + "</pre>\n" }},
	{"CR LF", func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") }},
	{"UTF-16", func(s string) string {
		var out []byte
		for _, u := range utf16.Encode([]rune("\ufeff" + s)) {
			out = append(out, byte(u), byte(u>>8))
		}
		return string(out)
	}},
	{"tabs as four spaces", func(s string) string { return strings.ReplaceAll(s, "\t", "    ") }},
	{"line numbers", eachLine("%4[1]d: %[2]s")},
}

// eachLine puts the number of each line and its text into a format.
func eachLine(format string) func(string) string {
	return func(s string) string {
		var out strings.Builder
		for i, line := range strings.Split(strings.TrimSuffix(s, "\n"), "\n") {
			fmt.Fprintf(&out, format+"\n", i+1, line)
		}
		return out.String()
	}
}

// TestRealWrapped: each shape is recognised and judged the same inside the text around it where people post it, with
// the exceptions in verdictsPage.
func TestRealWrapped(t *testing.T) {
	excepted := map[string]string{} // fixture and wrapping, to what is said of it
	for _, row := range realRows(t, verdictsPage, "Wrapped") {
		excepted[row[0]+" "+row[1]] = row[2]
	}
	for n, row := range realRows(t, postsPage, "Posts") {
		folder := strings.Trim(row[6], "`")
		var paths []string
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(path string, e os.DirEntry, err error) error {
			if err == nil && !e.IsDir() {
				paths = append(paths, path)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		want := triaged(t, paths...)
		for k, w := range wrappings {
			if !effort.Full() && k != n%len(wrappings) { // each post in another one
				continue
			}
			dir := t.TempDir()
			var wrapped []string
			for _, path := range paths {
				b, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				to := filepath.Join(dir, filepath.Base(filepath.Dir(path)), filepath.Base(path))
				if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(to, []byte(w.wrap(string(b))), 0o666); err != nil {
					t.Fatal(err)
				}
				wrapped = append(wrapped, to)
			}
			got := triaged(t, wrapped...)
			key := "`" + folder + "` " + w.name
			if _, ok := excepted[key]; ok == (got == want) {
				t.Errorf("%s: %+v; as it is %+v; excepted: %v", key, got, want, ok)
			}
			delete(excepted, key)
		}
	}
	for key := range excepted {
		if effort.Full() {
			t.Errorf("%s is no shape and wrapping", key)
		}
	}
}
