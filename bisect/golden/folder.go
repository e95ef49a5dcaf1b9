package golden

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
)

// Folder is a folder of golden replays.
type Folder struct {
	Path    string
	Entries []Entry // by name
}

// Entry is a replay that is kept.
type Entry struct {
	Name     string
	Manifest *Manifest // nil if Err is not
	Err      error     // why the manifest cannot be used
}

// errNoManifest is the error of a trace without a manifest: its recording was interrupted.
var errNoManifest = fmt.Errorf("%s is missing next to %s", ManifestName, TraceName)

// Open reads the manifests in a folder. A manifest that cannot be used is in its entry; a
// folder may have no entries.
func Open(dir string) (*Folder, error) {
	list, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	f := &Folder{Path: dir}
	for _, d := range list {
		if stat, err := os.Stat(filepath.Join(dir, d.Name())); err != nil || !stat.IsDir() {
			continue
		}
		e := Entry{Name: d.Name()}
		e.Manifest, e.Err = f.manifest(e.Name)
		if errors.Is(e.Err, fs.ErrNotExist) {
			if _, err := os.Stat(f.path(e.Name, TraceName)); err != nil {
				continue // another folder
			}
			e.Err = errNoManifest
		}
		if e.Err == nil && !ValidName(e.Name) {
			e.Manifest, e.Err = nil, errors.New("its folder has a name that not every system takes: letters, digits and . _ - are expected")
		}
		f.Entries = append(f.Entries, e)
	}
	lists.SortStable(f.Entries, func(a, b Entry) int { return strings.Compare(a.Name, b.Name) })
	return f, nil
}

func (f *Folder) path(name, file string) string { return filepath.Join(f.Path, name, file) }

func (f *Folder) manifest(name string) (*Manifest, error) {
	file, err := os.Open(f.path(name, ManifestName))
	if err != nil {
		return nil, f.plain(err)
	}
	defer file.Close()
	text, err := io.ReadAll(io.LimitReader(file, maxManifest+1))
	if err != nil {
		return nil, f.plain(err)
	}
	m, err := ParseManifest(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ManifestName, err)
	}
	return m, nil
}

// entry returns the entry of a name. Names that differ in case only are one name, since they
// are one folder on some systems.
func (f *Folder) entry(name string) *Entry {
	i := slices.IndexFunc(f.Entries, func(e Entry) bool { return strings.EqualFold(e.Name, name) })
	if i < 0 {
		return nil
	}
	return &f.Entries[i]
}

// plain takes the path of the folder out of an error, so that the same results are the same
// wherever the folder is.
func (f *Folder) plain(err error) error {
	text := f.Plain(err.Error())
	if text == err.Error() {
		return err
	}
	return &plainError{text, err}
}

// Plain takes the path of the folder out of a text.
func (f *Folder) Plain(text string) string {
	for _, dir := range []string{f.Path, filepath.Clean(f.Path)} {
		if dir = strings.TrimRight(dir, `/\`); dir != "" && dir != "." {
			text = strings.ReplaceAll(text, dir+string(filepath.Separator), "")
		}
	}
	return text
}

// plainError is an error with another text.
type plainError struct {
	text  string
	error error
}

func (e *plainError) Error() string { return e.text }
func (e *plainError) Unwrap() error { return e.error }

// digestOf returns the SHA-256 of a file.
func digestOf(tree files.Tree, path string) (d Digest, err error) {
	f, err := tree.Open(path)
	if err != nil {
		return d, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return d, err
	}
	return Digest(h.Sum(nil)), nil
}
