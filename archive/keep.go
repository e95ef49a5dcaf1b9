package archive

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// Small files are opened once and read once, however many readers they have: their content is kept, page by page.
// Larger ones are read as they are.
const (
	keptFile  = 16 << 20 // bytes of the largest file that is kept
	keptTotal = 48 << 20 // bytes that are kept of all files, or an eighth of limits.Memory
	keptPage  = 32 << 10 // bytes of a page
	keptOpen  = 256      // files that stay open at most for pages that nobody has read yet
)

// mayStayOpen is how many files stay open: few where the process may not open many, since readers need other files as
// well.
var mayStayOpen = sync.OnceValue(func() int { return min(keptOpen, files.Handles()/8) })

// keeper keeps what was read of small files.
type keeper struct {
	mu     sync.Mutex
	files  map[string]*kept
	names  map[string][]string // in folders
	bytes  int64
	open   int
	beside *keeper // of a tree of the same paths, nil if there is none
}

// kept is a small file.
type kept struct {
	keeper *keeper
	info   fs.FileInfo
	reopen func() (files.File, fs.FileInfo, error)

	mu    sync.Mutex
	file  files.File // nil if it is not open
	pages map[int64][]byte
}

// of returns the file at a path if it is kept.
func (k *keeper) of(path string) *kept {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.files[path]
}

// besides returns the file at a path that another tree keeps, if it is an entry that both have inflated: any other path
// may be another file there.
func (k *keeper) besides(path string, entry *node) *kept {
	if k.beside == nil || entry == nil || !entry.deflated {
		return nil
	}
	one := k.beside.of(path)
	if one == nil {
		return nil
	}
	if n, ok := one.info.(*node); !ok || !n.deflated || n.size != entry.size {
		return nil
	}
	return one
}

// get returns the file at a path, if it is small. Open opens it; entry is the archive's entry, nil for a file on the
// disk.
func (k *keeper) get(path string, entry *node, open func() (files.File, fs.FileInfo, error)) (files.File, error) {
	path = filepath.Clean(path)
	one := k.of(path)
	if one == nil {
		one = k.besides(path, entry)
	}
	if one != nil {
		return &reader{kept: one}, nil
	}
	f, info, err := open()
	if err != nil {
		return nil, err
	}
	if info == nil || !info.Mode().IsRegular() || info.Size() > keptFile {
		return f, nil
	}
	one = &kept{keeper: k, info: info, reopen: open, pages: map[int64][]byte{}}
	stays, again := k.keep(path, one, f)
	if again != nil {
		f.Close()
		return &reader{kept: again}, nil
	}
	if !stays {
		if info.Size() <= keptPage && k.room(info.Size(), false) { // else it is opened again to be read
			_, _ = one.read(0, f)
		}
		f.Close()
	}
	one.mu.Unlock()
	return &reader{kept: one}, nil
}

// keep keeps a file, which is locked then, unless another one has its path. It reports whether the file stays open.
func (k *keeper) keep(path string, one *kept, f files.File) (stays bool, again *kept) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if again := k.files[path]; again != nil {
		return false, again
	}
	if stays = k.open < mayStayOpen(); stays {
		k.open++
		one.file = f
	}
	if k.files == nil {
		k.files = map[string]*kept{}
	}
	k.files[path] = one
	one.mu.Lock()
	return stays, nil
}

// room reports whether that many more bytes can be kept, and counts them if they are.
func (k *keeper) room(size int64, taken bool) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	fits := k.bytes+size <= min(keptTotal, limits.Memory.Max()/8)
	if fits && taken {
		k.bytes += size
	}
	return fits
}

// list returns the names in a folder, which is read once: all see the same files.
func (k *keeper) list(path string, read func(string) ([]string, error)) ([]string, error) {
	clean := filepath.Clean(path)
	k.mu.Lock()
	names, known := k.names[clean]
	k.mu.Unlock()
	if !known {
		var err error
		if names, err = read(path); err != nil {
			return nil, err
		}
		k.mu.Lock()
		if k.names == nil {
			k.names = map[string][]string{}
		}
		k.names[clean] = names
		k.mu.Unlock()
	}
	return slices.Clone(names), nil
}

// forget closes the file at a path, and those below it, since their content may have changed.
func (k *keeper) forget(folder string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for path, one := range k.files {
		if path != folder && !strings.HasPrefix(path, folder+string(filepath.Separator)) {
			continue
		}
		if one.file != nil {
			one.file.Close()
			one.file = nil
			k.open--
		}
		delete(k.files, path)
	}
}

// Close closes the files that are open.
func (k *keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	var err error
	for _, one := range k.files {
		if one.file != nil {
			err = errors.Join(err, one.file.Close())
			one.file = nil
		}
	}
	k.files = nil
	return err
}

// page returns a page, perhaps shorter than others, and the error that ended it.
func (f *kept) page(n int64) ([]byte, error) {
	if p, ok := f.pages[n]; ok {
		return p, nil
	}
	from := f.file
	if from == nil {
		var err error
		if from, _, err = f.reopen(); err != nil {
			return nil, err
		}
		defer from.Close()
	}
	return f.read(n, from)
}

// read is page for a file that is open.
func (f *kept) read(n int64, from files.File) ([]byte, error) {
	size := min(keptPage, f.info.Size()-n*keptPage)
	if in, ok := f.file.(*inflating); ok {
		if p := in.part(n*keptPage, size); p != nil {
			f.pages[n] = p
			return p, nil
		}
	}
	p := make([]byte, size)
	if got, err := from.ReadAt(p, n*keptPage); got < len(p) {
		if err == nil || err == io.EOF { // it has become shorter
			err = io.EOF
		}
		return p[:got], err
	}
	if f.keeper.room(size, true) {
		f.pages[n] = p
	}
	return p, nil
}

// ReadAt implements io.ReaderAt.
func (f *kept) ReadAt(p []byte, at int64) (n int, err error) {
	if at < 0 {
		return 0, errors.New("negative offset")
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for n < len(p) && at < f.info.Size() {
		page, err := f.page(at / keptPage)
		if skip := int(at % keptPage); skip < len(page) {
			c := copy(p[n:], page[skip:])
			n, at = n+c, at+int64(c)
		} else if err == nil {
			err = io.EOF
		}
		if err != nil {
			return n, err
		}
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// reader is an open file that is kept.
type reader struct {
	*kept
	offset int64
}

func (r *reader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	n, err := r.ReadAt(p, r.offset)
	r.offset += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

func (r *reader) Stat() (fs.FileInfo, error) { return r.info, nil }
func (r *reader) Close() error               { return nil }
