package bundle_test

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
)

// played returns when the match below a path was played, as a triage has it.
func played(t *testing.T, path string) (first, last, by string) {
	t.Helper()
	s, err := bundle.OpenPaths(path)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := compare.Triage(s, compare.Builds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if p := r.Session.Played; p != nil {
		return p.First, p.Last, p.By
	}
	return "", "", ""
}

// TestPlayed: what games wrote into real files, as other programs show it: the bytes at offset 296 of a demo,
// the first line of commands.txt, names, first and last lines.
func TestPlayed(t *testing.T) {
	const corpus = "../../testdata/"
	for path, want := range map[string][3]string{
		"spring/silent_health":             {"2026-11-20T09:14:02Z", "2026-11-20T09:14:06Z", "the header of the recording"},
		"0ad/control_mp_orders":            {"2026-11-20T08:18:27Z", "2026-11-20T08:18:27Z", "the header of the recording"},
		"warzone2100/player_power_3peer":   {"2026-11-20T08:58:51Z", "2026-11-20T08:58:52Z", "the names of the files"},
		"widelands/cmdact_serial":          {"2026-11-20T08:55:13Z", "2026-11-20T08:55:14Z", "the names of the files"},
		"loglines/openttd-client.log":      {"2026-04-28T20:04:20Z", "2026-04-28T20:04:23Z", "the lines of the logs"},
		"claims/spring-replay/infolog.txt": {},
	} {
		if first, last, by := played(t, corpus+path); [3]string{first, last, by} != want {
			t.Errorf("%s: %s to %s, %s; expected %s", path, first, last, by, want)
		}
	}
}

// TestPlayedEntries: archives contain the times of changes of their entries. Files on the disk do not, and entries that
// are far apart or have no time do not count.
func TestPlayedEntries(t *testing.T) {
	day := time.Date(2025, 3, 1, 20, 0, 0, 0, time.UTC)
	entries := archivetest.Entries(t, "../../testdata/openttd/rng_poke", "")
	for name, c := range map[string]struct {
		times func(i int) time.Time
		want  [2]string
	}{
		"hours":  {func(i int) time.Time { return day.Add(time.Duration(i%2) * 5 * time.Hour) }, [2]string{"2025-03-01T20:00:00Z", "2025-03-02T01:00:00Z"}},
		"days":   {func(i int) time.Time { return day.AddDate(0, 0, 4*(i%2)) }, [2]string{}},
		"none":   {func(int) time.Time { return time.Time{} }, [2]string{}},
		"1980":   {func(int) time.Time { return time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC) }, [2]string{}},
		"a zone": {func(int) time.Time { return day.In(time.FixedZone("", 3600)) }, [2]string{"2025-03-01T20:00:00Z", "2025-03-01T20:00:00Z"}},
	} {
		var zipped, tarred bytes.Buffer
		z, w := zip.NewWriter(&zipped), tar.NewWriter(&tarred)
		for i, e := range entries {
			one, err := z.CreateHeader(&zip.FileHeader{Name: e.Name, Method: zip.Deflate, Modified: c.times(i)})
			if err == nil {
				_, err = one.Write(e.Content)
			}
			if err == nil {
				err = w.WriteHeader(&tar.Header{Name: e.Name, Mode: 0o644, Size: int64(len(e.Content)), ModTime: c.times(i)})
			}
			if err == nil {
				_, err = w.Write(e.Content)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if z.Close() != nil || w.Close() != nil {
			t.Fatal("not closed")
		}
		for ext, b := range map[string][]byte{".zip": zipped.Bytes(), ".tar": tarred.Bytes()} {
			path := archivetest.Write(t, filepath.Join(t.TempDir(), "report"+ext), b)
			first, last, by := played(t, path)
			if [2]string{first, last} != c.want || (by == "the entries of the archive") != (first != "") {
				t.Errorf("%s%s: %s to %s, %s; expected %s", name, ext, first, last, by, c.want)
			}
		}
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS("../../testdata/openttd/rng_poke")); err != nil {
		t.Fatal(err)
	}
	if first, _, by := played(t, dir); first != "" {
		t.Errorf("files on the disk: %s, %s", first, by)
	}
}

// TestPlayedContradicted: two logs with dates that are far apart give no date.
func TestPlayedContradicted(t *testing.T) {
	for second, want := range map[string]string{"2026-04-29": "2026-04-28T20:04:20Z", "2026-05-28": ""} {
		dir := t.TempDir()
		for name, day := range map[string]string{"a.log": "2026-04-28", "b.log": second} {
			text := "[" + day + " 20:04:20] dbg: [net:3] [client] ready\n[" + day + " 20:04:23] dbg: [net:0] Sync error detected!\n"
			archivetest.Write(t, filepath.Join(dir, name), []byte(text))
		}
		if first, _, _ := played(t, dir); first != want {
			t.Errorf("%s: %q, expected %q", second, first, want)
		}
	}
}
