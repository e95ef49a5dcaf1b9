package formats_test

import (
	"fmt"
	"log"
	"os"
	"path/filepath"
	"testing"

	"github.com/desynctool/desynctool/report/formats"
)

func ExampleRecognize() {
	path := filepath.FromSlash("../../testdata/openttd/rng_poke/server/dmp_cmds_00000309_000adee0.sav")
	f, err := os.Open(path)
	if err != nil {
		log.Fatal(err)
	}
	defer f.Close()
	head := make([]byte, 16)
	if _, err := f.ReadAt(head, 0); err != nil {
		log.Fatal(err)
	}
	fmt.Println(formats.Recognize(path, head).Name)
	// Output: openttd
}

// TestNamesAreDistinct: every format has a unique name, a title, and a list of what it gives.
func TestNamesAreDistinct(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range formats.All() {
		if f.Name == "" || seen[f.Name] || f.Title == "" || f.Files == "" || len(f.Gives) == 0 || f.Sniff == nil {
			t.Errorf("%+v", f)
		}
		seen[f.Name] = true
		if f.Sniff(nil) || f.Sniff([]byte("hello")) {
			t.Errorf("%s recognises anything", f.Name)
		}
	}
	if f := formats.Recognize("x", []byte("nothing known")); f != nil {
		t.Errorf("recognised as %s", f.Name)
	}
}
