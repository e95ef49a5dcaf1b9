package sdk_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// snapVectors are the snapshots of testdata/snapshot, and the hash of each.
func snapVectors(t *testing.T) (roots map[string]string, read func(name string) []byte) {
	t.Helper()
	read = func(name string) []byte {
		b, err := os.ReadFile(filepath.Join("..", "..", "testdata", "snapshot", name))
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	var digests struct{ Files []struct{ File, Root string } }
	if err := json.Unmarshal(read("digests.json"), &digests); err != nil {
		t.Fatal(err)
	}
	roots = map[string]string{}
	for _, f := range digests.Files {
		roots[f.File] = f.Root
	}
	return roots, read
}

// readsVectors has a reader in another language read the snapshots of testdata/snapshot: it comes to the same hashes, writes
// the same bytes, and refuses the one that is compressed by naming that.
func readsVectors(t *testing.T, program string, args ...string) {
	t.Helper()
	roots, read := snapVectors(t)
	for _, name := range []string{"types.snap", "blocks.snap"} {
		said, stderr, exit := execute(t, frameOf(read(name)), program, args...)
		if want := roots[name] + " same\n"; exit != 0 || said != want {
			t.Errorf("%s: exit status %d, %q, expected %q\n%s", name, exit, said, want, stderr)
		}
	}
	if said, _, exit := execute(t, frameOf(read("compressed.snap")), program, args...); exit != 0 || !strings.Contains(said, "compressed") || !strings.Contains(said, "zstd") {
		t.Errorf("a compressed snapshot: exit status %d, %q", exit, said)
	}
}

func TestCSnapVectors(t *testing.T) {
	thorough(t)
	flags := []string{"-O2"}
	if runtime.GOOS == "linux" {
		flags = sanitized
	}
	readsVectors(t, compile(t, "testdata/reads.c", flags...), "--hash")
}

func TestCSharpSnapVectors(t *testing.T) {
	whole(t)
	readsVectors(t, "mono", compileCSharp(t, csharpSDK, "testdata/Vectors.cs"), "--hash")
}
