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
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write(b)
	w.Close()
	if err := os.WriteFile(path+".gz", packed.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	remove(t, path)
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
