package resultcache

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/internal/file/files"
)

// content is the folder in an entry with the stored data, and manifest the file next to it. The manifest is text: a
// line with the key and the sum of all sizes, then a line for each folder, link and file, ordered by path,
//
//	desynctool-kept 1 KEY 12
//	folder "a"
//	file 12 e3069283 600 "a/b"
//	link "b" "a/c"
//
// with size, CRC-32C and mode of files. An entry is intact if it gives the same text again.
const (
	content  = "content"
	manifest = "manifest"
	heading  = "desynctool-kept 1 "
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// errDamaged reports that an entry has changed.
var errDamaged = errors.New("the entry is damaged")

// seal writes the manifest of a folder that becomes an entry, and returns the sum of all sizes.
func seal(made string, key Key) (size int64, err error) {
	if err := files.Tidy(filepath.Join(made, content), nil); err != nil {
		return 0, err
	}
	text, size, err := survey(made, key.String())
	if err != nil {
		return 0, err
	}
	return size, os.WriteFile(filepath.Join(made, manifest), text, 0o600)
}

// survey returns the manifest for the current content of an entry.
func survey(made, key string) (text []byte, size int64, err error) {
	root, err := os.OpenRoot(filepath.Join(made, content))
	if err != nil {
		return nil, 0, err
	}
	defer root.Close()
	var b bytes.Buffer
	err = filepath.WalkDir(root.Name(), func(path string, d fs.DirEntry, err error) error {
		if err == nil {
			path, err = filepath.Rel(root.Name(), path)
		}
		switch {
		case err != nil:
			return err
		case path == ".":
			return nil
		case d.IsDir():
			fmt.Fprintf(&b, "folder %q\n", path)
			return nil
		case d.Type() == fs.ModeSymlink:
			target, err := root.Readlink(path)
			if err == nil {
				_, err = root.Stat(path)
			}
			fmt.Fprintf(&b, "link %q %q\n", target, path)
			return err
		case !d.Type().IsRegular():
			return errDamaged
		}
		f, err := root.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		stat, err := f.Stat()
		if err != nil {
			return err
		}
		h := crc32.New(castagnoli)
		n, err := io.Copy(h, f)
		size += n
		fmt.Fprintf(&b, "file %d %08x %o %q\n", n, h.Sum32(), stat.Mode().Perm(), path)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	return append(fmt.Appendf(nil, "%s%s %d\n", heading, key, size), b.Bytes()...), size, nil
}

// check returns an error for an entry that has changed since it was stored.
func check(made string, key Key) error {
	if stat, err := os.Lstat(filepath.Join(made, content)); err != nil || !stat.IsDir() {
		return errors.Join(errDamaged, err)
	}
	now, _, err := survey(made, key.String())
	if err != nil {
		return err
	}
	f, err := openManifest(made)
	if err != nil {
		return err
	}
	defer f.Close()
	was, err := io.ReadAll(io.LimitReader(f, int64(len(now))+1))
	if err != nil {
		return err
	}
	if !bytes.Equal(was, now) {
		return errDamaged
	}
	return nil
}

// sizeOf returns the sum of all sizes in the manifest of an entry.
func sizeOf(made, key string) (size int64, err error) {
	f, err := openManifest(made)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	line, err := bufio.NewReader(io.LimitReader(f, 1<<10)).ReadString('\n')
	if err != nil {
		return 0, err
	}
	if n, err := fmt.Sscanf(line, heading+key+" %d\n", &size); n != 1 || err != nil || size < 0 {
		return 0, errDamaged
	}
	return size, nil
}

// openManifest opens the manifest of an entry, which must not be a link.
func openManifest(made string) (*os.File, error) {
	root, err := os.OpenRoot(made)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	if stat, err := root.Lstat(manifest); err != nil || !stat.Mode().IsRegular() {
		return nil, errors.Join(errDamaged, err)
	}
	return root.Open(manifest)
}
