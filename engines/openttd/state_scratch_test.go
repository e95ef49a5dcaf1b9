package openttd

import (
	"bytes"
	"os"
	"path/filepath"
	"reflect"
	"testing"

	"github.com/desynctool/desynctool/snapshot"
)

// TestReadAgain: a save is read the same whatever was read before it, and what was read stays as it is.
func TestReadAgain(t *testing.T) {
	var saves [][]byte
	for _, pattern := range []string{"*/client/dmp_cmds_*_000ade[68]0.sav", "*/client/dmp_cmds_00000000_00000000.sav"} {
		files, err := filepath.Glob(filepath.Join(stateCorpus, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("no saves: %v", err)
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			saves = append(saves, content)
		}
	}
	other := bytes.ReplaceAll(everything(), []byte("date_fract"), []byte("tick_fract"))
	for _, tag := range tags {
		saves = append(saves, pack(t, tag, 302, everything()), pack(t, tag, 302, other), pack(t, tag, 40, everything()))
		broken := pack(t, tag, 302, everything()[:600])
		saves = append(saves, broken, broken[:len(broken)/2])
	}
	read := func(s *scratch, content []byte) (*snapshot.World, string) {
		w, err := s.read(bytes.NewReader(content), int64(len(content)), "x.sav")
		if err != nil {
			return nil, err.Error()
		}
		return w, ""
	}
	used := new(scratch)
	var worlds []*snapshot.World
	for range 2 {
		for i, content := range saves {
			want, failed := read(new(scratch), content)
			got, err := read(used, content)
			if err != failed || !reflect.DeepEqual(got, want) {
				t.Fatalf("save %d is read otherwise: error %q, want %q", i, err, failed)
			}
			worlds = append(worlds, got)
			used.clean()
		}
	}
	for i, w := range worlds {
		if want, _ := read(new(scratch), saves[i%len(saves)]); !reflect.DeepEqual(w, want) {
			t.Errorf("save %d has changed", i)
		}
	}
}

// TestScratchIsBounded: the memory of a large save is not kept.
func TestScratchIsBounded(t *testing.T) {
	var s stateSave
	s.riff("RAWB", make([]byte, maxScratch)...)
	s.records("BIGS", chunkTable,
		record(func(r *stateSave) { r.fields(0x1a, "text", 0x12, "list") }),
		record(func(r *stateSave) {
			r.string("x")
			r.gamma(2 * maxCopied)
			r.u8(make([]byte, 2*maxCopied)...)
		}))
	for i := range 200 {
		s.records(string([]byte{'B', 'I', '0' + byte(i/20), 'a' + byte(i%20)}), chunkTable,
			record(func(r *stateSave) { r.fields(0x12, "list") }),
			record(func(r *stateSave) { r.gamma(10_000); r.u8(make([]byte, 10_000)...) }))
	}
	content := pack(t, "OTTN", 302, s.finish())
	used := new(scratch)
	w, err := used.read(bytes.NewReader(content), int64(len(content)), "x.sav")
	if err != nil {
		t.Fatal(err)
	}
	if n := w.Table(snapshot.Archetype, "BIGS.list").Rows(); n != 2*maxCopied {
		t.Errorf("%d rows, want %d", n, 2*maxCopied)
	}
	big := used.chunks[[4]byte([]byte("BIGS"))].layout.fields[1].sub
	if cap(big.keysA) != 0 || cap(big.columns[0].Data) != 0 {
		t.Errorf("%d keys and %d bytes are kept of a large list", cap(big.keysA), cap(big.columns[0].Data))
	}
	used.clean()
	if cap(used.content) > maxScratch || cap(used.body) > maxScratch || used.chunks != nil {
		t.Errorf("%d bytes of a file, %d of a body and %d chunks are kept", cap(used.content), cap(used.body), len(used.chunks))
	}
}
