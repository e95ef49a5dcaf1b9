package bisect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/snapshot"
)

// folderOf writes a folder with two snapshots and an order log of 20 ticks.
func folderOf(t *testing.T) (dir, log string) {
	t.Helper()
	dir = t.TempDir()
	for _, tick := range []uint64{0, 10} {
		write(t, dir, tick, state{}, "host")
	}
	writeLog(t, dir, "host", []byte("20 hashes, one a tick"[:20]))
	log = filepath.Join(dir, "inputs of host")
	if err := os.Rename(filepath.Join(dir, LogName), log); err != nil {
		t.Fatal(err)
	}
	return dir, log
}

func TestOpenFolder(t *testing.T) {
	dir, log := folderOf(t)
	for name, content := range map[string]string{"notes.txt": "the game froze", "short": "\x89DO", "empty": ""} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(dir, "older"), 0o777); err != nil {
		t.Fatal(err)
	}
	p, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "host" || p.Path != dir || len(p.Snapshots.Entries) != 2 || p.Log.Name != log || p.Log.Ticks != 20 || p.Lost != nil {
		t.Errorf("%+v, log %+v", p, p.Log)
	}
	whole, err := p.Log.Open()
	if err != nil || len(whole.Ticks) != 20 {
		t.Errorf("whole log: %v, %v", whole, err)
	}
}

// TestOpenFolderTorn cuts the log: what is before the cut is used, and Lost names the cut.
func TestOpenFolderTorn(t *testing.T) {
	dir, log := folderOf(t)
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(log, content[:len(content)/2], 0o666); err != nil {
		t.Fatal(err)
	}
	p, err := OpenFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Log.Ticks == 0 || p.Log.Ticks == 20 || len(p.Lost) != 1 || !strings.Contains(p.Lost[0], log) {
		t.Errorf("%d ticks, lost %q", p.Log.Ticks, p.Lost)
	}
	whole, err := p.Log.Open()
	if err != nil || len(whole.Ticks) != p.Log.Ticks {
		t.Errorf("whole log: %v, %v", whole, err)
	}
}

func TestOpenFolderRefuses(t *testing.T) {
	empty := t.TempDir()
	twice, log := folderOf(t)
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(twice, "copy"), content, 0o666); err != nil {
		t.Fatal(err)
	}
	headless, log := folderOf(t)
	if err := os.WriteFile(log, content[:12], 0o666); err != nil {
		t.Fatal(err)
	}
	for dir, want := range map[string]string{
		empty:                          "no snapshots and no order log",
		twice:                          "two order logs",
		headless:                       log,
		filepath.Join(empty, "absent"): "absent",
	} {
		if _, err := OpenFolder(dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", dir, err, want)
		}
	}
}

// TestOpenFolderFormats reads snapshots in another format only if it is named.
func TestOpenFolderFormats(t *testing.T) {
	dir, _ := folderOf(t)
	none := snapshot.SnapFormat()
	none.Sniff = func([]byte) bool { return false }
	none.ParseName = func(string) (snapshot.FileName, bool) { return snapshot.FileName{}, false }
	p, err := OpenFolder(dir, none)
	if err != nil || len(p.Snapshots.Entries) != 0 {
		t.Errorf("%+v, %v", p, err)
	}
}
