// Package pinned compares the results of tests with checked-in files. It writes these files if requested: by the flag
// -update, which each test binary that imports this package has, or by the environment variable DESYNCTOOL_UPDATE=1,
// which go test passes to all packages at once.
package pinned

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
)

// Variable is the environment variable that makes the tests of all packages write their pinned files if it is 1.
const Variable = "DESYNCTOOL_UPDATE"

var update = flag.Bool("update", os.Getenv(Variable) == "1", "write the pinned files that the tests compare with")

// Update reports whether pinned files are written. It is valid after flags are parsed.
func Update() bool { return *update }

// Flag returns a pointer to the value of Update, which is valid after flags are parsed.
func Flag() *bool { return update }

// T is the required part of [testing.TB].
type T interface {
	Helper()
	Errorf(format string, args ...any)
	Fatal(args ...any)
}

// File fails the test if a file does not contain these bytes. With [Update] it writes them first.
func File(t T, path string, got []byte) {
	t.Helper()
	if Update() {
		Write(t, path, got)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		at, have, expected := apart(string(got), string(want))
		t.Errorf("%s differs in line %d:\ngot  %q\nwant %q\nif that is right, %s=1 go test writes the file", path, at, have, expected, Variable)
	}
}

// Write writes a pinned file, for tests that compare it themselves. A file that already has these bytes stays
// untouched.
func Write(t T, path string, b []byte) {
	t.Helper()
	if have, err := os.ReadFile(path); err == nil && bytes.Equal(have, b) {
		return
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// apart returns the first line in which two texts differ, counted from 1, with at most 200 bytes of it.
func apart(got, want string) (line int, g, w string) {
	for line = 1; ; line++ {
		g, got, _ = strings.Cut(got, "\n")
		w, want, _ = strings.Cut(want, "\n")
		if g != w || got == "" || want == "" {
			return line, g[:min(len(g), 200)], w[:min(len(w), 200)]
		}
	}
}
