//go:build unix

package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
)

// corpus are small cases of real games.
var corpus = []string{
	"0ad/mp_late_damage", "0ad/mp_orders_walkspeed", "openttd/money_poke", "openttd/dropped_sign", "warzone2100/player_power_3peer", "widelands/cmdact_serial",
	"spring/pos_1ulp", "openra", "rimworld", "claims/ggrs", "ggpo/vectorwar", "godot-rollback/input",
}

// sessions is how many sessions of the reference game are recorded, each with its own seed.
const sessions = 96

// bundler writes bundles as players send them: zip archives, alternately with a session of the reference game and of a
// real game. An additional file makes the content of each unique.
type bundler struct{ cases [][]byte }

// newBundler records the sessions in a folder, and removes the folder.
func newBundler(scratch string) (*bundler, error) {
	defer os.RemoveAll(scratch)
	w := &bundler{}
	for i := range sessions {
		kinds := refsim.Faults()
		k := kinds[i%len(kinds)]
		f, err := session.ParseFault(fmt.Sprintf("%s/%s@%d:client", k.Name, k.Places[0], 20+i))
		if err != nil {
			return nil, err
		}
		to := filepath.Join(scratch, fmt.Sprint(i))
		o := session.Options{Config: refsim.Config{Seed: uint64(i + 1), Entities: 150}, Ticks: 120, SnapshotEvery: 60, Faults: []session.Fault{f}}
		if _, err := session.RecordTo(to, o, session.TraceSystem); err != nil {
			return nil, err
		}
		if err := os.Remove(filepath.Join(to, session.TruthName)); err != nil {
			return nil, err
		}
		for _, dir := range []string{to, filepath.Join("testdata", corpus[i%len(corpus)])} {
			packed, err := zipped(os.DirFS(dir))
			if err != nil {
				return nil, err
			}
			w.cases = append(w.cases, packed)
		}
	}
	return w, nil
}

// zipped returns the zip archive of a folder.
func zipped(dir fs.FS) ([]byte, error) {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	if err := z.AddFS(dir); err != nil {
		return nil, err
	}
	err := z.Close()
	return b.Bytes(), err
}

// bundle returns the ith bundle.
func (w *bundler) bundle(i int) ([]byte, error) {
	c := w.cases[i%len(w.cases)]
	in, err := zip.NewReader(bytes.NewReader(c), int64(len(c)))
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, f := range in.File {
		if err := out.Copy(f); err != nil { // without recompression
			return nil, err
		}
	}
	note, err := out.Create("note.txt")
	if err != nil {
		return nil, err
	}
	if _, err := fmt.Fprintf(note, "report %d\n", i); err != nil {
		return nil, err
	}
	err = out.Close()
	return b.Bytes(), err
}

// write writes the bundles with numbers from from up to to into a folder.
func (w *bundler) write(dir string, from, to int) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for i := from; i < to; i++ {
		b, err := w.bundle(i)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("report-%05d.zip", i)), b, 0o666); err != nil {
			return err
		}
	}
	return nil
}
