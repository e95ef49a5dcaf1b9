package verdict

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestClassesAreDescribed compares the classes with the page that reports refer to.
func TestClassesAreDescribed(t *testing.T) {
	page, err := os.ReadFile("../../docs/causes.md")
	if err != nil {
		t.Fatal(err)
	}
	var headings []string
	for line := range strings.Lines(string(page)) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "## "); ok {
			headings = append(headings, name)
		}
	}
	if !slices.Equal(headings, Classes()) {
		t.Errorf("docs/causes.md has the headings\n%v\nthe classes are\n%v", headings, Classes())
	}
}
