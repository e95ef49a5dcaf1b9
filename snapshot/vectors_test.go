package snapshot

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

// digestVectors is the content of testdata/snapshot/digests.json.
type digestVectors struct {
	Comment string         `json:"comment"`
	Files   []digestVector `json:"files"`
}

type digestVector struct {
	File    string        `json:"file"`
	Root    string        `json:"root"`
	Sync    string        `json:"sync"`
	RNGLeaf string        `json:"rng_leaf,omitempty"`
	Tables  []tableVector `json:"tables"`
}

type tableVector struct {
	Class   string         `json:"class"`
	Label   string         `json:"label"`
	Rows    int            `json:"rows"`
	Leaf    string         `json:"leaf"`
	Keys    string         `json:"keys"`
	Blocks  []blockVector  `json:"blocks"`
	Columns []columnVector `json:"columns"`
}

type blockVector struct {
	First  string `json:"first"`
	Rows   int    `json:"rows"`
	Digest string `json:"digest"`
}

type columnVector struct {
	Component string   `json:"component"`
	Field     string   `json:"field"`
	Type      string   `json:"type"`
	Digest    string   `json:"digest"`
	Blocks    []string `json:"blocks"`
}

// digestsOf computes the digests of a state from the definition.
func digestsOf(file string, w *World) digestVector {
	root := oracleRoot(w)
	v := digestVector{File: file, Root: root.String(), Sync: root.Short().String()}
	if w.RNG != nil {
		v.RNGLeaf = hex.EncodeToString(oracleRNG(w.RNG))
	}
	for i := range w.Tables {
		t := &w.Tables[i]
		o := oracleOf(t)
		tv := tableVector{
			Class: t.Class.String(), Label: t.Label, Rows: t.Rows(), Leaf: hex.EncodeToString(o.leaf), Keys: hex.EncodeToString(o.keys),
			Blocks: []blockVector{}, Columns: []columnVector{},
		}
		for k, b := range o.bounds {
			tv.Blocks = append(tv.Blocks, blockVector{t.Keys.At(b[0]).String(), b[1] - b[0], hex.EncodeToString(o.keyBlocks[k])})
		}
		for k := range t.Columns {
			c := &t.Columns[k]
			cv := columnVector{c.Component, c.Field, c.Type.String(), hex.EncodeToString(o.columns[k]), []string{}}
			for _, b := range o.columnBlocks[k] {
				cv.Blocks = append(cv.Blocks, hex.EncodeToString(b))
			}
			tv.Columns = append(tv.Columns, cv)
		}
		v.Tables = append(v.Tables, tv)
	}
	return v
}

// TestVectors holds the files of testdata/snapshot against their texts and against the digests
// that the definition gives. How a cell is compressed is the writer's choice, so that one file
// is only read.
func TestVectors(t *testing.T) {
	dir := filepath.Join("..", "testdata", "snapshot")
	all := digestVectors{Comment: "Digests of the snapshots beside; docs/snapshot.md and docs/merkle.md define them. Blocks have their first key; those of columns are in the same order."}
	for _, file := range []struct {
		name  string
		plain bool
	}{{"types", true}, {"blocks", true}, {"compressed", false}} {
		path := filepath.Join(dir, file.name)
		text, err := os.ReadFile(path + ".txt")
		if err != nil {
			t.Fatal(err)
		}
		var written memory
		if err := ReadText(&written, bytes.NewReader(text), path+".txt", WriteOptions{Plain: file.plain}); err != nil {
			t.Fatal(err)
		}
		if pinned.Update() {
			var twin bytes.Buffer
			if err := WriteText(&twin, open(t, written.b)); err != nil {
				t.Fatal(err)
			}
			text = twin.Bytes()
			for ext, b := range map[string][]byte{".snap": written.b, ".txt": text} {
				pinned.Write(t, path+ext, b)
			}
		}
		b, err := os.ReadFile(path + ".snap")
		if err != nil {
			t.Fatal(err)
		}
		if file.plain && !bytes.Equal(b, written.b) {
			t.Errorf("%s.snap is not what its text is written as", file.name)
		}
		f := open(t, b)
		if err := Check(f); err != nil {
			t.Errorf("%s.snap: %v", file.name, err)
		}
		var twin bytes.Buffer
		if err := WriteText(&twin, f); err != nil || !bytes.Equal(twin.Bytes(), text) {
			t.Errorf("%s.txt is not the text of the file, which is (%v)\n%s", file.name, err, &twin)
		}
		w, err := Load(f)
		if err != nil {
			t.Fatal(err)
		}
		v := digestsOf(file.name+".snap", w)
		if v.Root != f.Info().Root.String() {
			t.Errorf("%s.snap: the root is %s, by the definition %s", file.name, f.Info().Root, v.Root)
		}
		all.Files = append(all.Files, v)
		if packed := codecsOf(t, f); slices.Contains(packed, codecZstd) == file.plain || !slices.Contains(packed, codecPlain) {
			t.Errorf("%s.snap: codecs of cells are %v", file.name, packed)
		}
	}
	hasEverything(t, all)
	got, err := json.MarshalIndent(&all, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	got = append(got, '\n')
	pinned.File(t, filepath.Join(dir, "digests.json"), got)
}

// codecsOf returns how the cells of a file are stored.
func codecsOf(t *testing.T, f *File) (codecs []byte) {
	t.Helper()
	for i := range f.Info().Tables {
		if _, err := f.Index(i); err != nil { // which keeps the table
			t.Fatal(err)
		}
		codecs = append(codecs, f.tables[i].cells.codecs...)
	}
	return codecs
}

// hasEverything fails the test if the vectors lack a type, a kind of table, keys of two parts
// or a second block of either kind of keys.
func hasEverything(t *testing.T, all digestVectors) {
	t.Helper()
	seen := map[string]bool{}
	for _, f := range all.Files {
		for _, table := range f.Tables {
			seen[table.Class] = true
			parts := "one part"
			if len(table.Blocks) > 0 && strings.Contains(table.Blocks[0].First, ":") {
				parts = "two parts"
			}
			seen[parts] = true
			seen[parts+", blocks"] = seen[parts+", blocks"] || len(table.Blocks) > 2
			seen["no rows"] = seen["no rows"] || table.Rows == 0
			seen["no columns"] = seen["no columns"] || len(table.Columns) == 0
			for _, c := range table.Columns {
				seen[c.Type] = true
			}
		}
	}
	want := []string{Archetype.String(), Cache.String(), Noise.String(), "one part", "two parts", "one part, blocks", "two parts, blocks", "no rows", "no columns"}
	for typ := Bool; typ <= Ref; typ++ {
		want = append(want, typ.String())
	}
	for _, what := range want {
		if !seen[what] {
			t.Errorf("the vectors have no %s", what)
		}
	}
}
