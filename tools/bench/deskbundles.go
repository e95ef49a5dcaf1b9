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
	"github.com/desynctool/desynctool/tools/internal/try"
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
func newBundler(scratch string) *bundler {
	defer os.RemoveAll(scratch)
	w := &bundler{}
	for i := range sessions {
		kinds := refsim.Faults()
		k := kinds[i%len(kinds)]
		f := try.Get(session.ParseFault(fmt.Sprintf("%s/%s@%d:client", k.Name, k.Places[0], 20+i)))
		to := filepath.Join(scratch, fmt.Sprint(i))
		o := session.Options{Config: refsim.Config{Seed: uint64(i + 1), Entities: 150}, Ticks: 120, SnapshotEvery: 60, Faults: []session.Fault{f}}
		try.Get(session.RecordTo(to, o, session.TraceSystem))
		try.Check(os.Remove(filepath.Join(to, session.TruthName)))
		for _, dir := range []string{to, filepath.Join("testdata", corpus[i%len(corpus)])} {
			w.cases = append(w.cases, zipped(os.DirFS(dir)))
		}
	}
	return w
}

// zipped returns the zip archive of a folder.
func zipped(dir fs.FS) []byte {
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	try.Check(z.AddFS(dir))
	try.Check(z.Close())
	return b.Bytes()
}

// bundle returns the ith bundle.
func (w *bundler) bundle(i int) []byte {
	c := w.cases[i%len(w.cases)]
	in := try.Get(zip.NewReader(bytes.NewReader(c), int64(len(c))))
	var b bytes.Buffer
	out := zip.NewWriter(&b)
	for _, f := range in.File {
		try.Check(out.Copy(f)) // without recompression
	}
	note := try.Get(out.Create("note.txt"))
	try.Get(fmt.Fprintf(note, "report %d\n", i))
	try.Check(out.Close())
	return b.Bytes()
}

// write writes the bundles with numbers from from up to to into a folder.
func (w *bundler) write(dir string, from, to int) {
	try.Check(os.MkdirAll(dir, 0o777))
	for i := from; i < to; i++ {
		b := w.bundle(i)
		try.Check(os.WriteFile(filepath.Join(dir, fmt.Sprintf("report-%05d.zip", i)), b, 0o666))
	}
}
