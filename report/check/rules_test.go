package check

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

// plain takes out of a page what its layout is made of.
func plain(s string) string { return strings.Join(strings.Fields(s), " ") }

// sections returns the text under each heading of a page, up to the next one.
func sections(t *testing.T, page string) map[string]string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", page))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	heading, fenced := "", false
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if !fenced && strings.HasPrefix(line, "#") {
			heading = strings.TrimSpace(strings.TrimLeft(line, "#"))
			continue
		}
		out[heading] += line
	}
	return out
}

// TestQuotes: each rule is in its page, under its heading, word by word.
func TestQuotes(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if seen[r.ID] {
			t.Errorf("%s is in the table twice", r.ID)
		}
		seen[r.ID] = true
		text, ok := sections(t, r.Page)[r.Section]
		if !ok {
			t.Errorf("%s: docs/%s has no heading %q", r.ID, r.Page, r.Section)
		} else if r.Quote == "" || !strings.Contains(plain(text), plain(r.Quote)) {
			t.Errorf("%s: docs/%s, %s, does not say %q", r.ID, r.Page, r.Section, r.Quote)
		}
		if r.Level != Error && r.Level != Advice {
			t.Errorf("%s: level %q", r.ID, r.Level)
		}
	}
}

// TestUsed: every rule is reported by a line of this package or of a reader that it uses, or said
// not to be checkable, and every rule that is reported is in the table.
func TestUsed(t *testing.T) {
	var files []string
	for _, pattern := range []string{"*.go", "../peers/*.go"} {
		list, err := filepath.Glob(pattern)
		if err != nil || len(list) == 0 {
			t.Fatalf("no files %s: %v", pattern, err)
		}
		files = append(files, list...)
	}
	reported := map[string]bool{}
	name := regexp.MustCompile(`"((?:frame|order|hash|snap|trace|text|report|sign|folder|record)-[a-z0-9-]+)"`)
	for _, file := range files {
		if file == "rules.go" || strings.HasSuffix(file, "_test.go") {
			continue
		}
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range name.FindAllStringSubmatch(string(b), -1) {
			reported[m[1]] = true
		}
	}
	for _, k := range kinds {
		delete(reported, k.name)
	}
	for _, r := range Rules() {
		if reported[r.ID] == (r.Unchecked != "") {
			t.Errorf("%s: reported is %v, and it is said to be unchecked: %q", r.ID, reported[r.ID], r.Unchecked)
		}
		delete(reported, r.ID)
	}
	for id := range reported {
		t.Errorf("%s is reported, and not in the table", id)
	}
}

// TestPage compares docs/rules.md with the table.
func TestPage(t *testing.T) {
	pinned.File(t, filepath.Join("..", "..", "docs", "rules.md"), []byte(rulesPage()))
}

// rulesPage is docs/rules.md. It has no texts of rules: these are in the formats' pages, and check prints them.
func rulesPage() string {
	var out strings.Builder
	out.WriteString(`# Rules of the formats

` + "`desynctool check`" + ` names the rules that a file breaks, with their text, which is in the linked section. The names never
change. Those in italics are *advice* on files that conform. ` + "`frame-`" + ` is for order logs, binary traces and tick
signatures; ` + "`snap-`" + ` also for the states in a peer's report; ` + "`folder-`" + ` for the files of one peer, in one folder.

| Section | Rules |
|---|---|
`)
	var rows []string // in the order of their first rules
	bySection := map[string]string{}
	unchecked := ""
	for _, r := range Rules() {
		row := fmt.Sprintf("| [%s](%s#%s) | ", r.Section, r.Page, slug(r.Section))
		if bySection[row] == "" {
			rows = append(rows, row)
		} else {
			bySection[row] += ", "
		}
		id := "`" + r.ID + "`"
		if r.Level == Advice {
			id = "*" + id + "*"
		}
		bySection[row] += id
		if r.Unchecked != "" {
			unchecked += fmt.Sprintf("| `%s` | %s |\n", r.ID, r.Unchecked)
		}
	}
	for _, row := range rows {
		out.WriteString(row + bySection[row] + " |\n")
	}
	out.WriteString("\nNot checked:\n\n| Rule | Since |\n|---|---|\n" + unchecked)
	return out.String()
}

// TestFacts compares the names of facts with the table of docs/recording.md.
func TestFacts(t *testing.T) {
	text := sections(t, "recording.md")["Facts"]
	got := map[string]bool{}
	rows := 0
	for line := range strings.Lines(text) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.Contains(cells[1], "`") {
			continue
		}
		rows++
		for _, m := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(cells[1]+cells[2], -1) {
			got[m[1]] = true
			if want := strings.TrimSpace(cells[3]); machineFacts[m[1]] != (want == "no") || sharedFacts[m[1]] != (want == "yes") {
				t.Errorf("%s: docs/recording.md says %q of it", m[1], want)
			}
		}
	}
	for name := range knownFacts {
		if !got[name] {
			t.Errorf("docs/recording.md has no fact %s", name)
		}
	}
	if rows < 10 {
		t.Errorf("only %d rows", rows)
	}
}
