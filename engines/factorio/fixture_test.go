package factorio

import (
	"archive/zip"
	"bytes"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

const folder = "../../testdata/factorio"

// save is what the fixtures hold of one peer: two things differ between them.
type save struct {
	gap   uint32 // of an item on a belt
	squad string // in the data of a mod
}

var peers = map[string]save{reference: {0x40, "attack"}, desynced: {0x42, "retreat"}}

// node writes a tag and what is in it.
func node(b *bytes.Buffer, name, attributes string, inside func()) {
	fmt.Fprintf(b, "<%s", name)
	if attributes != "" {
		b.WriteString(" " + attributes)
	}
	b.WriteByte('>')
	inside()
	fmt.Fprintf(b, "</%s>", name)
}

// level writes a state with tags: a head of the game's own, a map, belts with items, and data that
// looks like a tag and is none.
func (s save) level() []byte {
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			binary.Write(&b, binary.LittleEndian, v)
		}
	}
	put(uint16(1), uint16(1), uint16(66), uint16(0), uint8(0))
	node(&b, "map-settings", "", func() { put(uint32(7), uint32(9)) })
	put(uint32(0xffffffff))
	node(&b, "surface", "name=nauvis", func() {
		for i := range uint32(3) {
			node(&b, "chunk", fmt.Sprintf("x=%d y=0", i), func() {
				put(i, []byte("<ab>"), uint16(i)) // looks like a tag, and is not closed
				node(&b, "tiles", "", func() { put(bytes.Repeat([]byte{byte(i)}, 100)) })
			})
		}
	})
	node(&b, "transport-belt-serialiser", "active-groups=2 active-lines=3", func() {
		for belt := range uint32(4) {
			node(&b, "transport-line", fmt.Sprintf("belt=%d", 100+belt), func() {
				node(&b, "line", "", func() {
					gap := uint32(0x40)
					if belt == 2 {
						gap = s.gap
					}
					node(&b, "transport-line-item", "", func() { put(gap, uint32(0x7d453e), uint32(1)) })
					node(&b, "transport-line-gaps", "", func() { put(uint32(0x1c00)-gap, uint32(32)) })
				})
			})
		}
	})
	put(uint32(0))
	return b.Bytes()
}

// script writes script.dat with the data of two mods.
func (s save) script() []byte {
	var b bytes.Buffer
	put := func(values ...any) {
		for _, v := range values {
			binary.Write(&b, binary.LittleEndian, v)
		}
	}
	text := func(s string) []byte { return append([]byte{4, byte(len(s))}, s...) }
	version := func() { put(uint16(1), uint16(1), uint16(66), uint16(0), uint8(0)) }
	version()
	put(uint32(2))
	put(uint8(5), []byte("level"), uint8(10), make([]byte, 10), uint8(0))
	var data bytes.Buffer
	data.Write([]byte{1, 0, 1, 0, 66, 0, 0, 0, 0, 5, 1})
	data.Write(text("squad_order"))
	data.Write(text(s.squad))
	data.Write(bytes.Repeat([]byte{2}, 300))
	put(uint8(7), []byte("rampant"), uint8(255), int32(data.Len()), data.Bytes(), uint8(0))
	return b.Bytes()
}

// report writes a report with the names that the game has from 2.0 on, or the names from before.
func report(t *testing.T, old bool) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	file := func(z *zip.Writer, name string, content []byte) {
		w, err := z.Create(name)
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, peer := range []string{reference, desynced} {
		name := peer + "-level"
		if !old {
			name = map[string]string{reference: "server-level", desynced: "client-level"}[peer]
		}
		var inner bytes.Buffer
		save := zip.NewWriter(&inner)
		file(save, name+"/level_with_tags_tick_3703.dat", peers[peer].level())
		file(save, name+"/script.dat", peers[peer].script())
		file(save, name+"/level.dat0", []byte("not read"))
		if err := save.Close(); err != nil {
			t.Fatal(err)
		}
		w, err := z.CreateHeader(&zip.FileHeader{Name: "desync-report/" + name + ".zip", Method: zip.Store})
		if err == nil {
			_, err = w.Write(inner.Bytes())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	file(z, "desync-report/factorio-current.log", []byte("   0.000 2024-01-01 00:00:00; Factorio 1.1.66\n"))
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFixture: the reports that are checked in are those that the writer here makes.
func TestFixture(t *testing.T) {
	for name, old := range map[string]bool{"desync-report-old.zip": true, "desync-report-new.zip": false} {
		want := report(t, old)
		path := filepath.Join(folder, name)
		if pinned.Update() {
			pinned.Write(t, path, want)
		}
		got, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := contents(t, got), contents(t, want); a != b {
			t.Errorf("%s is not what is written; -update writes it\n%.400q\n%.400q", name, a, b)
		}
	}
}

// contents lists what is in an archive, archives in it included.
func contents(t *testing.T, archive []byte) (text string) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(archive), int64(len(archive)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range z.File {
		in, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		if _, err := b.ReadFrom(in); err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(f.Name) == ".zip" {
			text += f.Name + "\n" + contents(t, b.Bytes())
			continue
		}
		text += fmt.Sprintf("%s %x\n", f.Name, b.Bytes())
	}
	return text
}
