package desynctool_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// pages returns the paths of all Markdown pages for readers, with slashes.
func pages(t *testing.T) []string {
	t.Helper()
	list := []string{"README.md", "CONTRIBUTING.md", "SECURITY.md"}
	err := filepath.WalkDir("docs", func(file string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(file, ".md") {
			list = append(list, filepath.ToSlash(file))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

var pageLink = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// linksOf returns the targets of the relative links of a page: paths from the root of the repository, each with its
// anchor.
func linksOf(t *testing.T, page string) (list []string) {
	t.Helper()
	for _, m := range pageLink.FindAllStringSubmatch(readText(t, page), -1) {
		if strings.Contains(m[1], "://") {
			continue
		}
		path, anchor, _ := strings.Cut(m[1], "#")
		target := page
		if path != "" {
			target = filepath.ToSlash(filepath.Join(filepath.Dir(page), path))
		}
		list = append(list, target+"#"+anchor)
	}
	return list
}

// anchors returns the names that links to the headings of a page have on GitHub, and the ids of its elements.
func anchors(t *testing.T, page string) map[string]bool {
	t.Helper()
	names, text := map[string]bool{}, readText(t, page)
	text = regexp.MustCompile("(?ms)^```.*?^```").ReplaceAllString(text, "")
	for _, m := range regexp.MustCompile(`(?m)^#+ (.*)$`).FindAllStringSubmatch(text, -1) {
		kept := regexp.MustCompile(`[^\pL\pN_ -]`).ReplaceAllString(strings.ToLower(m[1]), "")
		names[strings.ReplaceAll(strings.TrimSpace(kept), " ", "-")] = true
	}
	for _, m := range regexp.MustCompile(`id="([^"]+)"`).FindAllStringSubmatch(text, -1) {
		names[m[1]] = true
	}
	return names
}

// TestLinks: every relative link of a page leads to a file, and to a heading of it.
func TestLinks(t *testing.T) {
	found := 0
	for _, page := range pages(t) {
		for _, link := range linksOf(t, page) {
			found++
			target, anchor, _ := strings.Cut(link, "#")
			if _, err := os.Stat(filepath.FromSlash(target)); err != nil {
				t.Errorf("%s: there is no %s", page, target)
			} else if anchor != "" && !anchors(t, target)[anchor] {
				t.Errorf("%s: %s has no heading %s", page, target, anchor)
			}
		}
	}
	if found < 200 {
		t.Errorf("only %d links", found)
	}
}

// TestIndex: docs/README.md links to every page of docs once.
func TestIndex(t *testing.T) {
	const index = "docs/README.md"
	linked := map[string]int{}
	for _, link := range linksOf(t, index) {
		target, _, _ := strings.Cut(link, "#")
		linked[target]++
	}
	for _, page := range pages(t) {
		if strings.HasPrefix(page, "docs/") && page != index && linked[page] != 1 {
			t.Errorf("%s links to %s %d times", index, page, linked[page])
		}
	}
}
