package desynctool_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

var fuzzTarget = regexp.MustCompile(`(?m)^func (Fuzz\w+)\(f \*testing\.F\)`)

// TestOSSFuzz runs the script that builds the fuzz targets for OSS-Fuzz, with stand-ins for the compilers, and expects
// each target of the module once, under a unique name.
func TestOSSFuzz(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("it is for Linux")
	}
	bin := t.TempDir()
	for _, name := range []string{"go", "compile_native_go_fuzzer_v2"} {
		script := fmt.Sprintf("#!/bin/sh\necho \"%s $*\"\n", name)
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("bash", filepath.Join("packaging", "oss-fuzz", "build.sh"))
	cmd.Env = append(os.Environ(), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var want []string
	err = filepath.WalkDir(".", func(path string, d os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		b, err := os.ReadFile(path)
		for _, found := range fuzzTarget.FindAllSubmatch(b, -1) {
			want = append(want, module+"/"+filepath.ToSlash(filepath.Dir(path))+" "+string(found[1]))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	names := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "compile_native_go_fuzzer_v2" {
			continue
		}
		if len(f) != 4 || names[f[3]] {
			t.Fatalf("%q", line)
		}
		names[f[3]] = true
		got = append(got, f[1]+" "+f[2])
	}
	slices.Sort(got)
	slices.Sort(want)
	if len(want) < 60 || !slices.Equal(got, want) {
		t.Errorf("built are %d targets\n%s\nof %d\n%s", len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"))
	}
}
