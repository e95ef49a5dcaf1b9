// Package commits tests the builds of commits, for a search by package gitbisect: by a simulator that
// replays an order log, or by a program that writes a trace.
package commits

import (
	"crypto/sha256"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// goldenName is the file in a store with the good end's trace.
const goldenName = "golden.trace"

// existing returns the folder or file on the disk that a path of evidence is in: an archive, where that is in one.
func existing(path string) string {
	for up := path; up != filepath.Dir(up); up = filepath.Dir(up) {
		if _, err := os.Lstat(up); err == nil {
			return up
		}
	}
	return path
}

// digest returns a digest of a file, or of all files in a folder and their names.
func digest(path string) (string, error) {
	sum := sha256.New()
	err := filepath.WalkDir(path, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !d.Type().IsRegular() && file != path || d.IsDir() {
			return nil
		}
		rel, err := filepath.Rel(path, file)
		if err != nil {
			return err
		}
		return add(sum, rel, file)
	})
	return fmt.Sprintf("%x", sum.Sum(nil)[:16]), err
}

// add adds a file to a digest.
func add(sum hash.Hash, name, path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	content := sha256.New()
	if _, err := io.Copy(content, f); err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	fmt.Fprintf(sum, "%q %x\n", filepath.ToSlash(name), content.Sum(nil))
	return nil
}
