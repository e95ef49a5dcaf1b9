package archive

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
)

// callsOf is the folder whose files a process opens and reads whose calls are counted.
const callsOf = "DESYNCTOOL_TEST_CALLS"

// TestCalls counts the calls of the system for each small file that is opened, read and closed: it is described, opened,
// asked for its flags, described again, read and closed.
func TestCalls(t *testing.T) {
	if dir := os.Getenv(callsOf); dir != "" {
		readAll(t, dir)
		return
	}
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	const few, many, most = 100, 400, 6
	var calls [2]int
	for i, count := range []int{few, many} {
		dir := t.TempDir()
		for n := range count {
			if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d", n)), []byte("content"), 0o666); err != nil {
				t.Fatal(err)
			}
		}
		list := filepath.Join(t.TempDir(), "calls")
		cmd := exec.Command("strace", "-f", "-o", list, "-e", "trace=%file,%desc", os.Args[0], "-test.run=^TestCalls$")
		cmd.Env = append(os.Environ(), callsOf+"="+dir, "GODEBUG=asyncpreemptoff=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Skipf("%v: %s", err, out) // a system where nobody may trace
		}
		traced, err := os.ReadFile(list)
		if err != nil {
			t.Fatal(err)
		}
		for line := range bytes.Lines(traced) {
			if !bytes.Contains(line, []byte(" resumed>")) && !bytes.Contains(line, []byte("epoll_pwait(")) && !bytes.Contains(line, []byte("getdents")) {
				calls[i]++
			}
		}
	}
	if each := float64(calls[1]-calls[0]) / (many - few); each > 1.2*most {
		t.Errorf("%.1f calls for each file, expected %d", each, most)
	}
}

func readAll(t *testing.T, dir string) {
	tree, err := Open([]string{dir}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	names, err := tree.Names(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		f, err := files.OpenRegular(tree, filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		if content, err := io.ReadAll(f); err != nil || string(content) != "content" {
			t.Fatalf("%s: %q, %v", name, content, err)
		}
		f.Close()
	}
}
