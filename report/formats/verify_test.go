package formats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/snapshot"
)

func TestVerifyEmptyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "empty.bin")
	if err := os.WriteFile(path, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	_, err := Verify(files.Disk, path, snapshot.Expected{})
	if want := path + ": empty file, expected a snapshot, proof, order log, trace or tick signatures"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}

// TestUnchecked: it is reported once for each format, and of OpenTTD by the container.
func TestUnchecked(t *testing.T) {
	dir := t.TempDir()
	write := func(name, head string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(head), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	const rest = "\x01\x2e\x00\x00 whatever it holds"
	raw, again := write("a.sav", "OTTN"+rest), write("b.sav", "OTTN"+rest)
	for _, path := range []string{write("z.sav", "OTTZ"+rest), write("x.sav", "OTTX\x01\x2e\x00\x00\xfd7zXZ\x00\x00\x04"), write("d.sav", "OTTD"+rest), write("s.snap", "\x89SNAP\r\n\x1a"), filepath.Join(dir, "none")} {
		if notes := Unchecked(files.Disk, []string{path}); len(notes) > 0 {
			t.Errorf("%s: %q", path, notes)
		}
	}
	unchecked := write("u.sav", "OTTX\x01\x2e\x00\x00\xfd7zXZ\x00\x00\x00")
	notes := Unchecked(files.Disk, []string{raw, again, unchecked, "../../testdata/spring/control/Alice/GameState.txt.gz@600"})
	if again := Unchecked(files.Disk, []string{unchecked}); len(again) != 1 {
		t.Errorf("xz without a check: %q", again)
	}
	if len(notes) != 2 || !strings.Contains(notes[0], "(openttd)") || !strings.Contains(notes[1], "(spring-state)") {
		t.Errorf("%q", notes)
	}
}
