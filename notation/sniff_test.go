package notation

import (
	"io/fs"
	"math/rand"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestSniffChance: bytes by chance are in no notation.
func TestSniffChance(t *testing.T) {
	random := rand.New(rand.NewSource(1))
	for range 5000 {
		head := make([]byte, 64+random.Intn(2000))
		random.Read(head)
		for _, whole := range []bool{true, false} {
			if n := Of("", head, whole); n != nil {
				t.Errorf("%x of %d bytes: %s", head[:min(len(head), 40)], len(head), n.Name)
			}
		}
	}
}

// TestSniffOthers: files that are known otherwise are in no notation, unless they are written in it.
func TestSniffOthers(t *testing.T) {
	files := 0
	err := filepath.WalkDir(filepath.Join("..", "testdata"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		files++
		head := content[:min(len(content), 1<<16)]
		if filepath.Base(filepath.Dir(filepath.Dir(path))) == "zeroad-test" {
			return nil // dumps of the state, which are YAML
		}
		if n := Of(path, head, len(head) == len(content)); n != nil && !slices.Contains(n.Extensions, filepath.Ext(path)) {
			t.Errorf("%s: %s", path, n.Name)
		}
		return nil
	})
	if err != nil || files < 100 {
		t.Errorf("%d files, %v", files, err)
	}
}

// TestSniffNamed: a file with a name for CSV may have one column, or no column of numbers.
func TestSniffNamed(t *testing.T) {
	for text, want := range map[string]bool{
		"seed\n1234\n": true, "weather\nsun\n": true, "kind,id,name\nunit,a,b\nunit,c,d\n": true,
		"seed\n": false, "This is a text\nwith lines\n": false, "a,b\nc\n": false, "": false, "title\nsome words in a line\n": false,
	} {
		for _, name := range []string{"x.csv", "x.CSV.gz"} {
			if n := Of(name, []byte(text), true); (n != nil && n.Name == "csv") != want {
				t.Errorf("%s: %q: %v", name, text, n)
			}
		}
		if n := Of("x.txt", []byte(text), true); n != nil {
			t.Errorf("%q: %s", text, n.Name)
		}
	}
}

// TestSniffCuts: the beginning of a text is in its notation, wherever it ends.
func TestSniffCuts(t *testing.T) {
	for name, text := range map[string]string{
		"json": `{"tick": 300, "units": [{"id": 7, "hp": -379.25, "x": 1.5e-7}, {"id": 8, "hp": 12.5, "x": 4}], "seed": 99}`,
		"lua":  "return {\n\ttick = 300, units = {\n\t\t{ id = 7, title = \"a b\", hp = -3.5 },\n\t\t{ id = 8, title = \"c\", hp = 12.5 },\n\t},\n\tseed = 99,\n}\n",
	} {
		for end := 60; end < len(text); end++ {
			if n := Of("", []byte(text[:end]), false); n == nil || n.Name != name {
				t.Errorf("%s: %q: %v", name, text[:end], n)
			}
		}
	}
}
