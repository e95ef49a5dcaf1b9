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

// ToFile writes a blob to a temporary file on the local disk and returns its path. The file is in its own folder below
// dir, or below the system's temporary folder if dir is empty. name is the bundle's name on arrival, with or without
// folders. Only its last part and only harmless characters are used, so that formats with typical names are recognized.
// The file is complete and matches the hash. cleanup removes it. A later process removes the files that a killed
// process left.
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

// safeName returns a safe file name for a name from an untrusted source: its last part, with only characters that are
// printable and that every system allows. If it is too long, the end stays, because it shows the file type.
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
	name = strings.TrimRight(name, ". ")         // some systems omit these
	if name == "" {
		return "bundle"
	}
	return name
}
