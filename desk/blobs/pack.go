package blobs

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// Limits of the names that package archive reads, so that every packed file can be read again.
const (
	longestName = 1024
	mostFolders = 32
)

// packedMode is the mode of every packed file.
const packedMode = 0o644

// Pack writes a file or a folder in the form in which it is stored: a file unchanged, a folder as a tar archive. The
// archive contains only the files' content and their names below the folder, with each folder sorted by name. Equal
// folders therefore give equal bytes, whatever their times, owners and modes. Empty folders are omitted.
//
// left lists the omitted entries with reasons, one a line: links, which are not followed, entries that are neither
// files nor folders, and names that have another meaning in an archive. More files than limits.Entries are an error.
func Pack(name string, w io.Writer) (left []string, err error) {
	stat, err := os.Stat(name)
	if err != nil {
		return nil, err
	}
	if stat.IsDir() {
		return packFolder(name, w)
	}
	if !stat.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "open", Path: name, Err: errors.New("is neither a file nor a folder")}
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	_, err = io.Copy(w, f)
	return nil, err
}

// PackedName returns the name under which the triage reads the output of Pack: the name of the file, or the name of the
// folder with .tar.
func PackedName(name string, isFolder bool) string {
	if abs, err := filepath.Abs(name); err == nil {
		name = abs // also for "."
	}
	base := filepath.Base(name)
	if isFolder {
		base += ".tar"
	}
	return safeName(base)
}

// packFolder writes the tar archive of a folder.
func packFolder(dir string, w io.Writer) (left []string, err error) {
	root, err := os.OpenRoot(dir) // a file that becomes a link meanwhile must not lead outside
	if err != nil {
		return nil, err
	}
	defer root.Close()
	out := tar.NewWriter(w)
	count := int64(0)
	var walk func(dir string) error
	walk = func(at string) error {
		entries, err := fs.ReadDir(root.FS(), at)
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := path.Join(at, e.Name())
			if why := unfit(name, e); why != "" {
				left = append(left, fmt.Sprintf("%q: %s", name, why))
				continue
			}
			if e.IsDir() {
				if err := walk(name); err != nil {
					return err
				}
				continue
			}
			if count++; limits.Entries.Over(count) {
				return limits.Entries.Reached(dir, count)
			}
			if err := packFile(out, root, name); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk("."); err != nil {
		return left, err
	}
	return left, out.Close()
}

// unfit explains why an entry of a folder cannot be in its archive, "" if it can.
func unfit(name string, e fs.DirEntry) string {
	switch {
	case e.Type()&fs.ModeSymlink != 0:
		return "is a link, which is not followed"
	case !e.IsDir() && !e.Type().IsRegular():
		return "is neither a file nor a folder"
	case strings.Contains(name, `\`) || runtime.GOOS != "windows" && len(name) > 1 && name[1] == ':':
		return "would have another name in an archive"
	case len(name) > longestName || strings.Count(name, "/") >= mostFolders:
		return fmt.Sprintf("its name is longer than %d bytes, or %d folders deep", longestName, mostFolders)
	}
	return ""
}

// packFile writes one file of a folder.
func packFile(out *tar.Writer, root *os.Root, name string) error {
	f, err := root.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	if !stat.Mode().IsRegular() {
		return &fs.PathError{Op: "open", Path: name, Err: errors.New("was replaced while it was packed")}
	}
	if limits.File.Over(stat.Size()) {
		return limits.File.Reached(name, stat.Size())
	}
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: stat.Size(), Mode: packedMode}
	if err := out.WriteHeader(h); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	n, err := io.Copy(out, io.LimitReader(f, stat.Size()))
	if err == nil && n < stat.Size() {
		err = fmt.Errorf("%s: ends at byte %d of %d: it was changed while it was packed", name, n, stat.Size())
	}
	return err
}
