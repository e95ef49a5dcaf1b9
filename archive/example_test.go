package archive_test

import (
	"archive/zip"
	"fmt"
	"log"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/snapshot"
)

// A file in an archive, read as if the archive were a folder.
func ExampleOpen() {
	dir, err := os.MkdirTemp("", "")
	if err != nil {
		log.Fatal(err)
	}
	defer os.RemoveAll(dir)
	path := filepath.Join(dir, "report.zip")
	if err := zipFile(path, "host/"+snapshot.Name(7, 200), "../testdata/cuts/right.snap"); err != nil {
		log.Fatal(err)
	}
	tree, err := archive.Open([]string{path}, archive.Options{})
	if err != nil {
		log.Fatal(err)
	}
	defer tree.Close()
	sets, err := snapshot.Find(tree, path, []snapshot.Format{snapshot.SnapFormat()})
	if err != nil {
		log.Fatal(err)
	}
	for _, entry := range sets[0].Entries {
		state, err := entry.Open()
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(entry.Base, state.Info().Point, state.Info().Root.Short())
		state.Close()
	}
	// Output: desync_0000000000000007_0000000200.snap 200 df483ed954ec70e5
}

// zipFile writes a zip archive of one file.
func zipFile(path, name, from string) error {
	content, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer f.Close()
	z := zip.NewWriter(f)
	w, err := z.Create(name)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return err
	}
	return z.Close()
}
