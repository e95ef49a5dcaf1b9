package archive

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/archive/paste"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// Stdin is the path of standard input.
const Stdin = "-"

// pasted are the name ends of files that are parsed even if the user did not name them. Other texts that people write
// next to their files only quote them, and are not evidence.
var pasted = []string{".diff", ".patch"}

// maxSpool is how many bytes of standard input are kept in memory. Longer input goes into a temporary file.
const maxSpool = 16 << 20

// named reports whether the content of a file that the user did not name is examined: it has the name of an archive, or
// of a text that may be a paste.
func (t *Tree) named(path string) bool {
	return Named(path) || t.limits.Known.Whole != nil && slices.Contains(pasted, strings.ToLower(filepath.Ext(path)))
}

// Peel looks for evidence in a text that the user did not name, as in one that is named. It reports whether there is any:
// then the path is that evidence. Nobody may have the file open.
func (t *Tree) Peel(path string) (is bool) {
	path = filepath.Clean(path)
	switch n, err := t.find(path); {
	case err != nil || n != nil && n.folder != nil:
		return false
	case n != nil:
		t.mu.Lock()
		is = t.inner(n, path, int(limits.Nested.Max()))
		t.mu.Unlock()
	default:
		root, err := t.mount(path, true)
		is = err == nil && root != nil
	}
	if is {
		t.keeper.forget(path)
	}
	return is
}

// peel returns what is in a text that was pasted, nil if the file is none.
func (a *archive) peel(f files.File, size int64) (*node, error) {
	known := a.tree.limits.Known
	if known.Whole == nil || size == 0 {
		return nil, nil
	}
	head := make([]byte, min(size, paste.SearchLen))
	n, err := f.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return nil, nil // the code that opens it will report that
	}
	head = head[:n]
	short := head[:min(n, paste.HeadLen)]
	whole := known.Whole(short) != "" && !paste.IsSideBySide(short)
	if compression.Packing(head) != "" || whole && !paste.HasFences(head[:min(n, paste.PostLen)]) {
		return nil, nil
	}
	found, err := paste.Peel(head, known)
	if err == nil && size > int64(n) {
		// Its content is in memory twice while it is parsed; the sides of a diff take even more.
		if err := a.tree.hold(3 * size); err != nil {
			return nil, fmt.Errorf("%s: %w", a.path, err)
		}
		text := make([]byte, size)
		if n, err := f.ReadAt(text, 0); err != nil && err != io.EOF {
			a.tree.hold(-3 * size)
			return nil, fmt.Errorf("%s: %w", a.path, err)
		} else if int64(n) < size {
			text = text[:n]
		}
		found, err = paste.Peel(text, known)
		a.tree.hold(-3 * size)
	}
	switch unread := (*paste.UnreadError)(nil); {
	case errors.Is(err, paste.ErrNone):
		return nil, nil
	case errors.As(err, &unread):
		a.tree.notes = append(a.tree.notes, files.Note{Path: a.path, Text: a.path + ": " + unread.Error()})
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("%s: %w", a.path, err)
	}
	if whole && found.Alone() {
		return nil, nil // it is read as it is
	}
	for _, note := range found.Notes {
		a.tree.notes = append(a.tree.notes, files.Note{Path: a.path, Text: a.path + ": " + note})
	}
	root := newFolder("")
	for _, file := range found.Files {
		if err := a.tree.hold(int64(len(file.Text))); err != nil {
			return nil, fmt.Errorf("%s: %w", a.path, err)
		}
		one := &node{size: int64(len(file.Text)), open: inPlace(bytes.NewReader(file.Text), 0, int64(len(file.Text)))}
		if found.Alone() {
			one.name = filepath.Base(a.path)
			return one, nil
		}
		if _, ok := root.put(file.Folder+"/"+file.Name, one); !ok {
			a.leave(file.Folder+"/"+file.Name, "was left out: a file and a folder have the same name")
		}
	}
	return root, nil
}

// mountStdin mounts standard input as a file or an archive at the path [Stdin].
func (t *Tree) mountStdin(in io.Reader) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if _, seen := t.mounts[Stdin]; seen {
		return errors.New("stdin is given twice")
	}
	spooled, size, err := t.spool(in)
	if err != nil {
		return fmt.Errorf("stdin: %w", err)
	}
	t.count(size)
	one := &node{name: Stdin, size: size, open: inPlace(spooled, 0, size)}
	f, err := one.open(one)
	if err != nil {
		return err
	}
	a := &archive{tree: t, path: Stdin, depth: 1}
	root, _, err := a.read(f)
	a.report()
	if err != nil {
		return err
	}
	root = cmp.Or(root, one)
	t.mounts[Stdin] = root
	return nil
}

// spool reads everything into memory or a temporary file.
func (t *Tree) spool(in io.Reader) (io.ReaderAt, int64, error) {
	var memory bytes.Buffer
	in = t.limits.read(in)
	n, err := io.Copy(&memory, io.LimitReader(in, maxSpool+1))
	if err != nil {
		return nil, 0, err
	}
	if t.limits.Memory {
		if _, err := io.Copy(&memory, in); err != nil {
			return nil, 0, err
		}
		n = int64(memory.Len())
	}
	if n <= maxSpool || t.limits.Memory {
		return bytes.NewReader(memory.Bytes()), n, nil
	}
	f, err := files.Temporary()
	if err != nil {
		return nil, 0, err
	}
	t.closers = append(t.closers, f)
	size, err := io.Copy(f, io.MultiReader(&memory, in))
	return f, size, err
}
