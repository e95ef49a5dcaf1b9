package desynctool_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

// Bounds of the main program: what a newcomer waits for before the first answer.
const (
	maxPackages = 330
	maxModules  = 36
	maxLines    = 600_000 // of all Go files that are compiled
)

// TestWeight bounds the main program, and holds the list of the packages that it links: a new one is a decision. Of the
// standard library's packages only the public ones are listed, since the others change with Go's version.
func TestWeight(t *testing.T) {
	packages := linkedInto(t, "linux", "./cmd/desynctool")
	modules, lines := map[string]bool{}, 0
	var names []string
	for _, p := range packages {
		if p.Module != "" {
			modules[p.Module] = true
		}
		if !p.Standard || !strings.Contains("/"+p.Path+"/", "/internal/") && !strings.HasPrefix(p.Path, "vendor/") {
			names = append(names, p.Path)
		}
		for _, file := range p.Files {
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			lines += bytes.Count(b, []byte("\n"))
		}
	}
	if len(packages) > maxPackages || len(modules) > maxModules || lines > maxLines {
		t.Errorf("%d packages of %d modules with %d lines, expected at most %d, %d and %d", len(packages), len(modules), lines, maxPackages, maxModules, maxLines)
	}
	t.Logf("%d packages, %d modules, %d lines", len(packages), len(modules), lines)
	slices.Sort(names)
	got := strings.Join(names, "\n") + "\n"
	file := filepath.Join("cmd", "desynctool", "testdata", "packages.txt")
	if pinned.Update() {
		pinned.Write(t, file, []byte(got))
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("cmd/desynctool links other packages than %s lists: %s", file, difference(string(want), got))
	}
}

// difference names the lines of two lists that only one has.
func difference(want, got string) string {
	var all []string
	for line := range strings.Lines(got) {
		if !strings.Contains("\n"+want, "\n"+line) {
			all = append(all, "+"+strings.TrimSuffix(line, "\n"))
		}
	}
	for line := range strings.Lines(want) {
		if !strings.Contains("\n"+got, "\n"+line) {
			all = append(all, "-"+strings.TrimSuffix(line, "\n"))
		}
	}
	return strings.Join(all, " ")
}
