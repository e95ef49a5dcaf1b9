package blobs

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode"

	"github.com/desynctool/desynctool/internal/file/files"
)

// ToFile writes a blob to a temporary file on the local disk, in a folder of its own below dir (where that is empty, where
// temporary files belong), and returns its path. Name is what the bundle was called when it arrived, with or without
// folders: of that only the last part is used, and only characters that are harmless, so that formats that are known
// by their names are known. The file is whole and is what the hash says. Cleanup removes it; what a process leaves
// that was killed is removed by a later one.
func ToFile(ctx context.Context, s Store, hash, name, dir string) (file string, cleanup func() error, err error) {
	in, err := s.Open(ctx, hash)
	if err != nil {
		return "", nil, err
	}
	defer in.Close()
	folder, remove, err := files.TemporaryFolder(dir)
	if err != nil {
		return "", nil, err
	}
	file = filepath.Join(folder, safeName(name))
	if err := write(ctx, file, in); err != nil {
		return "", nil, errors.Join(err, remove())
	}
	return file, remove, nil
}

// write copies a blob to a new file.
func write(ctx context.Context, file string, in io.Reader) error {
	f, err := os.OpenFile(file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	buf := buffers.Get().(*[pieces]byte)
	defer buffers.Put(buf)
	for {
		n, err := in.Read(buf[:])
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		if _, failed := f.Write(buf[:n]); failed != nil {
			err = failed
		}
		if err == io.EOF {
			return f.Close()
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
	}
}

// longestFile is the length in bytes of the longest name that safeName returns.
const longestFile = 128

// safeName returns a name for a file, from one that a stranger gave: its last part, in characters that can be printed and
// that every system allows in a name. The end of a long one stays, which says what it is.
func safeName(name string) string {
	name = name[strings.LastIndexAny(name, `/\`)+1:]
	name = name[max(0, len(name)-longestFile):]
	var out strings.Builder
	for _, r := range strings.ToValidUTF8(name, "") {
		if !unicode.IsPrint(r) || strings.ContainsRune(`<>:"|?*`, r) {
			r = '_'
		}
		out.WriteRune(r)
	}
	name = strings.TrimLeft(out.String(), ".- ") // neither a hidden file nor an option
	name = strings.TrimRight(name, ". ")         // which some systems leave out
	if name == "" {
		return "bundle"
	}
	return name
}
