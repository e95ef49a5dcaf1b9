package desynctool_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

// Bounds of the main program: a newcomer waits for so much before the first answer.
const (
	maxPackages = 330
	maxModules  = 36
	maxLines    = 619_000    // of all Go files that are compiled
	maxBytes    = 33_000_000 // of the program, with its debug information
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

// TestSize bounds the main program as go build makes it for Linux on amd64. Whatever finds a method by a name that only
// the running program knows, as a template does, has the linker keep every exported method of every type.
func TestSize(t *testing.T) {
	effort.Whole(t)
	program := filepath.Join(t.TempDir(), "desynctool")
	build := exec.Command("go", "build", "-o", program, "./cmd/desynctool")
	build.Env = append(os.Environ(), "GOOS=linux", "GOARCH=amd64", "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	info, err := os.Stat(program)
	if err != nil {
		t.Fatal(err)
	}
	if info.Size() > maxBytes {
		t.Errorf("the program has %d bytes, expected at most %d", info.Size(), maxBytes)
	}
	t.Logf("%d bytes", info.Size())
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
