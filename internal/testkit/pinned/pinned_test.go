package pinned_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

// printed is a test that prints its failures.
type printed struct{ folder string }

func (printed) Helper() {}
func (p printed) Errorf(format string, args ...any) {
	fmt.Println(strings.ReplaceAll(fmt.Sprintf(format, args...), p.folder, ""))
}
func (printed) Fatal(args ...any) { panic(fmt.Sprint(args...)) }

// A text is compared with a file that is checked in.
func ExampleFile() {
	dir, err := os.MkdirTemp("", "pinned")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	t := printed{dir + string(filepath.Separator)}
	pinned.Write(t, filepath.Join(dir, "report.txt"), []byte("DIVERGED\nin tick 7\n"))
	pinned.File(t, filepath.Join(dir, "report.txt"), []byte("DIVERGED\nin tick 7\n"))
	pinned.File(t, filepath.Join(dir, "report.txt"), []byte("DIVERGED\nin tick 8\n"))
	// Output:
	// report.txt differs in line 2:
	// got  "in tick 8"
	// want "in tick 7"
	// if that is right, DESYNCTOOL_UPDATE=1 go test writes the file
}

// TestMain has all tests begin without the flag.
func TestMain(m *testing.M) {
	os.Unsetenv(pinned.Variable)
	*pinned.Flag() = false
	os.Exit(m.Run())
}

// TestVariable: the variable replaces the flag in a process that begins with it.
func TestVariable(t *testing.T) {
	for value, want := range map[string]string{"1": "true", "": "false"} {
		cmd := exec.Command(os.Args[0], "-test.run", "^$", "-h")
		cmd.Env = append(os.Environ(), pinned.Variable+"="+value)
		out, _ := cmd.CombinedOutput() // -h fails
		if got := regexp.MustCompile(`(?s)  -update\n[^\n]*\n`).FindString(string(out)); strings.Contains(got, "(default true)") != (want == "true") || got == "" {
			t.Errorf("%q: %q, expected %s\n%s", value, got, want, out)
		}
	}
}

// TestUpdate: the flag has a file written, also one that is not there, in a folder that is not there.
func TestUpdate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "testdata", "new.golden")
	for _, text := range []string{"one\n", "one\ntwo"} {
		*pinned.Flag() = true
		pinned.File(t, path, []byte(text))
		*pinned.Flag() = false
		pinned.File(t, path, []byte(text))
	}
	for _, other := range []string{"one\n", "one", "one\ntwo\n", "", "one\nthree"} {
		failed := &count{T: t}
		if pinned.File(failed, path, []byte(other)); failed.n != 1 {
			t.Errorf("%q is taken for the file", other)
		}
	}
}

// count is a test that counts its failures.
type count struct {
	*testing.T
	n int
}

func (c *count) Errorf(string, ...any) { c.n++ }
