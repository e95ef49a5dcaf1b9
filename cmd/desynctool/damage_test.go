package main

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// damaged is a session with files in which bits are flipped.
type damaged struct {
	name   string
	record string                                // arguments of record
	change func(t *testing.T, dir string) string // after recording; returns the path to read
	hard   []string                              // names of files that are always tried: nothing was compared with them
}

var damagedSessions = []damaged{
	{"two", "--signatures", nil, []string{"tick-signatures.bin"}},
	{"three", "--peers 3", nil, nil},
	{"diverged", "--fault rng-leak@40", nil, nil},
	{"rejoin", "--rejoin client@30+20", nil, []string{snapName(30)}},
	{"unpaired", "", func(t *testing.T, dir string) string {
		remove(t, filepath.Join(dir, "client", snapName(60)))
		return dir
	}, []string{snapName(60)}},
	{"states of one", "", func(t *testing.T, dir string) string {
		for tick := 0; tick <= 120; tick += 30 {
			remove(t, filepath.Join(dir, "client", snapName(tick)))
		}
		return dir
	}, []string{snapName(60)}},
	{"copies", "", func(t *testing.T, dir string) string {
		copyFile(t, filepath.Join(dir, "host", snapName(60)), filepath.Join(dir, "host", "older", snapName(60)))
		copyFile(t, filepath.Join(dir, "host", snapName(60)), filepath.Join(dir, "host", "copy of "+snapName(60)))
		return dir
	}, nil},
	{"compressed", "", func(t *testing.T, dir string) string {
		for _, name := range []string{"host/checkpoints.trace", "client/order-log.bin"} {
			compress(t, filepath.Join(dir, filepath.FromSlash(name)))
		}
		return dir
	}, []string{"order-log.bin.gz"}},
	{"zip", "", zipOf, []string{"s.zip"}},
}

func snapName(tick int) string { return fmt.Sprintf("desync_%016x_%010d.snap", 1, tick) }

func remove(t *testing.T, path string) {
	t.Helper()
	if err := os.RemoveAll(path); err != nil {
		t.Fatal(err)
	}
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.MkdirAll(filepath.Dir(to), 0o777)
	}
	if err == nil {
		err = os.WriteFile(to, b, 0o666)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func compress(t *testing.T, path string) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path+".gz", packed(b), 0o666); err != nil {
		t.Fatal(err)
	}
	remove(t, path)
}

// packed returns b compressed with gzip.
func packed(b []byte) []byte {
	var out bytes.Buffer
	w := gzip.NewWriter(&out)
	w.Write(b)
	w.Close()
	return out.Bytes()
}

func zipOf(t *testing.T, dir string) string {
	t.Helper()
	path := dir + ".zip"
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	return path
}

// entriesOf returns the names and contents of a zip file, "" if they cannot be read or it is another file.
func entriesOf(path string) string {
	z, err := zip.OpenReader(path)
	if err != nil {
		return ""
	}
	defer z.Close()
	var all strings.Builder
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			return ""
		}
		b, err := io.ReadAll(r)
		r.Close()
		if err != nil {
			return ""
		}
		fmt.Fprintf(&all, "%s %d %x\n", f.Name, len(b), b)
	}
	return all.String()
}

// flip changes one bit of a file, and returns what restores it.
func flip(t *testing.T, path string, r *rand.Rand) (what string, restore func()) {
	t.Helper()
	sound, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	at, bit := r.IntN(len(sound)), r.IntN(8)
	if r.IntN(4) == 0 {
		at %= 16 // by which a file is recognised
	}
	if filepath.Ext(path) == ".gz" && at >= 3 && at < 10 {
		at = 0 // nothing covers the time and the system in the header
	}
	b := bytes.Clone(sound)
	b[at] ^= 1 << bit
	write := func(b []byte) {
		if err := os.WriteFile(path, b, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(b)
	return fmt.Sprintf("%s: bit %d of byte %d of %d", filepath.Base(path), bit, at, len(b)), func() { write(sound) }
}

// TestDamage: whichever bit of whichever file of a session is flipped, no command that reads the file ends with status 0.
func TestDamage(t *testing.T) {
	for n, s := range damagedSessions {
		t.Run(s.name, func(t *testing.T) {
			t.Parallel()
			dir := filepath.Join(t.TempDir(), "s")
			desynctool(t, 0, nil, append(strings.Fields("record --ticks 120 --entities 100 --snapshot-every 30 -o "+dir), strings.Fields(s.record)...)...)
			remove(t, filepath.Join(dir, "truth.json")) // desynctool does not read it
			path := dir
			if s.change != nil {
				path = s.change(t, dir)
			}
			r := rand.New(rand.NewPCG(effort.Of(1, effort.Long(2, rand.Uint64())), uint64(n)))
			for i, file := range filesOf(t, path) {
				commands := []string{"triage", "bisect", "doctor", "verify"}
				if filepath.Ext(file) == ".json" { // a peer's report, which has no checksum
					commands = commands[:2]
				}
				want := entriesOf(file)
				for k := range effort.Of(1, 4) {
					if !effort.Full() && i%4 != n%4 && !slices.Contains(s.hard, filepath.Base(file)) {
						continue
					}
					what, restore := flip(t, file, r)
					for _, command := range commands[:effort.Of(2, len(commands))] {
						if want != "" && entriesOf(file) == want {
							break // the archive's own data about its entries
						}
						var out bytes.Buffer
						if status := run([]string{command, path}, strings.NewReader(""), &out, &out); status < 1 || status > 3 {
							t.Errorf("%s, flip %d: %s: status %d\n%.500s", what, k, command, status, &out)
						}
					}
					restore()
				}
			}
		})
	}
}

func filesOf(t *testing.T, path string) (list []string) {
	t.Helper()
	err := filepath.WalkDir(path, func(path string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			list = append(list, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// gameDamage is a way in which a file of a game's session is damaged, such that the damage can be noticed.
var gameDamage = []struct {
	name  string
	files []string // "" for all
	do    func(b []byte) []byte
	as    string // appended to the file's name
}{
	{"empty", nil, func([]byte) []byte { return nil }, ""},
	{"zeros", nil, func(b []byte) []byte { return make([]byte, len(b)) }, ""},
	{"half", nil, func(b []byte) []byte { return b[:len(b)/2] }, ""},
	{"half zeros", nil, func(b []byte) []byte { return append(bytes.Clone(b[:len(b)/2]), make([]byte, len(b)-len(b)/2)...) }, ""},
	{"first block", []string{".gz", ".sdfz"}, func(b []byte) []byte { return edited(b, 12, 0xff) }, ""},
	{"magic", []string{".gz", ".sdfz"}, func(b []byte) []byte { return edited(b, 1, 1) }, ""},
	{"end", []string{".gz", ".sdfz"}, func(b []byte) []byte { return b[:len(b)-1] }, ""},
	{"checksum", []string{".gz", ".sdfz"}, func(b []byte) []byte { return edited(b, len(b)-7, 1) }, ""},
	{"packed and cut", []string{"commands.txt", "_p0.txt"}, func(b []byte) []byte { b = packed(b); return b[:len(b)/2] }, ".gz"},
	{"field", []string{"_p0.txt"}, func(b []byte) []byte { return edited(b, bytes.Index(b, []byte(";pos(")), 4) }, ""},
	{"packed, first block", []string{"commands.txt", "_p0.txt"}, func(b []byte) []byte { return edited(packed(b), 12, 0xff) }, ".gz"},
}

func edited(b []byte, at int, xor byte) []byte {
	b = bytes.Clone(b)
	b[at] ^= xor
	return b
}

// TestDamageOfGames: of a game's session that is in sync, no damaged file leaves it so, and none makes it diverged.
func TestDamageOfGames(t *testing.T) {
	sessions := []string{"warzone2100/insync_3peer", "spring/control", "0ad/control_mp_orders"}
	for n, session := range sessions {
		t.Run(session, func(t *testing.T) {
			t.Parallel()
			sound := filepath.Join("..", "..", "testdata", filepath.FromSlash(session))
			commands := []string{"triage", "bisect", "doctor"}
			for _, command := range commands {
				desynctool(t, 0, nil, command, sound)
			}
			dir := filepath.Join(t.TempDir(), "s")
			if err := os.CopyFS(dir, os.DirFS(sound)); err != nil {
				t.Fatal(err)
			}
			for i, file := range filesOf(t, dir) {
				whole, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				for k, d := range gameDamage {
					if !effort.Full() && n == 1 && (i+k)%12 != 0 || d.files != nil && !slices.ContainsFunc(d.files, func(end string) bool { return strings.HasSuffix(file, end) }) {
						continue
					}
					remove(t, file)
					if err := os.WriteFile(file+d.as, d.do(whole), 0o666); err != nil {
						t.Fatal(err)
					}
					for _, command := range commands {
						var out bytes.Buffer
						if status := run([]string{command, dir}, strings.NewReader(""), &out, &out); status != 2 && status != 3 {
							t.Errorf("%s, %s: %s: status %d\n%.500s", file, d.name, command, status, &out)
						}
					}
					remove(t, file+d.as)
					if err := os.WriteFile(file, whole, 0o666); err != nil {
						t.Fatal(err)
					}
				}
			}
		})
	}
}

// TestDamageOfUnpaired: a damaged state of a game is noticed although no other peer has a state of that point.
func TestDamageOfUnpaired(t *testing.T) {
	const save = "dmp_cmds_000007e8_000"
	for session, list := range map[string][]string{
		"openttd/insync":           {"client/" + save + "ade40.sav", "server/" + save + "ade40.sav", "server/" + save + "ae020.sav"},
		"warzone2100/insync_3peer": {"desync25702_p0.txt", "desync25702_p2.txt", "desync25802_p2.txt"},
	} {
		dir := t.TempDir()
		last := ""
		for _, name := range list {
			last = filepath.Join(dir, filepath.FromSlash(name))
			copyFile(t, filepath.Join("..", "..", "testdata", filepath.FromSlash(session), filepath.FromSlash(name)), last)
		}
		desynctool(t, 0, nil, "triage", dir)
		b, err := os.ReadFile(last)
		if err == nil {
			err = os.WriteFile(last, edited(b, len(b)/2, 1), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, command := range []string{"triage", "bisect", "doctor"} {
			var out bytes.Buffer
			if status := run([]string{command, dir}, strings.NewReader(""), &out, &out); status != 3 {
				t.Errorf("%s: %s: status %d\n%.500s", session, command, status, &out)
			}
		}
	}
}
