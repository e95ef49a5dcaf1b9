package archive

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// extensions are how names of archives end.
var extensions = []string{".zip", ".tar", ".tar.gz", ".tgz", ".tar.zst", ".tzst", ".tar.xz", ".txz"}

// Named reports whether a file has a name that archives have.
func Named(path string) bool {
	base := strings.ToLower(filepath.Base(path))
	return slices.ContainsFunc(extensions, func(ext string) bool { return strings.HasSuffix(base, ext) })
}

// Stem returns the name of a file without the extension of an archive.
func Stem(name string) string {
	for _, ext := range extensions {
		if stem, ok := strings.CutSuffix(name, ext); ok {
			return stem
		}
	}
	return name
}

// kind is what a file is by its leading bytes.
type kind int

const (
	noArchive kind = iota
	zipArchive
	tarArchive // perhaps compressed
)

// Unread names the kind of an archive that is recognised by its leading bytes and cannot
// be read, "" for anything else.
func Unread(head []byte) string {
	switch {
	case bytes.HasPrefix(head, []byte("7z\xbc\xaf\x27\x1c")):
		return "7z"
	case bytes.HasPrefix(head, []byte("Rar!\x1a\x07")):
		return "RAR"
	}
	return ""
}

// kindOf recognises an archive.
func kindOf(r io.ReaderAt) (k kind, packing string, err error) {
	head := make([]byte, tarBlock)
	n, err := r.ReadAt(head, 0)
	if err != nil && err != io.EOF {
		return noArchive, "", err
	}
	head = head[:n]
	for _, magic := range []string{"PK\x03\x04", "PK\x05\x06", "PK\x07\x08"} {
		if bytes.HasPrefix(head, []byte(magic)) {
			return zipArchive, "", nil
		}
	}
	if name := Unread(head); name != "" {
		return noArchive, "", fmt.Errorf("a %s archive, which is not read; unpack it to a folder: %w", name, frame.ErrUnrecognized)
	}
	if packing = compression.Packing(head); packing != "" {
		content, _, err := compression.Unpack(io.NewSectionReader(r, 0, 1<<62), 1<<20)
		if err != nil {
			return noArchive, "", nil // code that reads it as something else will report that
		}
		head = head[:cap(head)]
		n, _ := io.ReadFull(content, head)
		head = head[:n]
		if c, ok := content.(io.Closer); ok {
			c.Close()
		}
	}
	if isTar(head) {
		return tarArchive, packing, nil
	}
	return noArchive, "", nil
}

// archive is an archive that is being read.
type archive struct {
	tree  *Tree
	path  string
	depth int // 1 for one on the disk

	reasons []string // why entries were left out, in order
	left    map[string]*leftOut
}

// leftOut are entries that were left out for one reason.
type leftOut struct {
	first    string
	count    int
	why      files.Why
	harmless bool
}

// leave leaves an entry out: "an entry REASON".
func (a *archive) leave(entry, reason string) { a.keep(entry, reason) }

// remark notes an entry that is odd.
func (a *archive) remark(entry, reason string) { a.keep(entry, reason).harmless = true }

func (a *archive) keep(entry, reason string) *leftOut {
	if a.left == nil {
		a.left = map[string]*leftOut{}
	}
	const shown = 80
	if len(entry) > shown {
		entry = entry[:shown] + "…"
	}
	l := a.left[reason]
	if l == nil {
		l = &leftOut{first: entry}
		a.left[reason] = l
		a.reasons = append(a.reasons, reason)
	}
	l.count++
	return l
}

// report gives what was left out to the tree, one line for each reason.
func (a *archive) report() {
	for _, reason := range a.reasons {
		l := a.left[reason]
		note := files.Note{Path: a.path, Why: l.why, Text: fmt.Sprintf("%s: %s %s", a.path, l.first, reason)}
		if l.count > 1 {
			note.Text += fmt.Sprintf(" (and %d more)", l.count-1)
		}
		if l.harmless {
			a.tree.notes = append(a.tree.notes, note)
		} else {
			a.tree.lost = append(a.tree.lost, note)
		}
	}
	a.reasons, a.left = nil, nil
}

// read returns the root of the archive in f, nil if it is not an archive; keep reports whether f is still needed.
func (a *archive) read(f files.File) (root *node, keep bool, err error) {
	stat, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	what, packing, err := kindOf(f)
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", a.path, err)
	}
	switch what {
	case zipArchive:
		root, err = a.readZip(f, stat.Size())
	case tarArchive:
		root, err = a.readTar(f, stat.Size(), packing)
	default:
		root, err = a.peel(f, stat.Size())
		return root, false, err
	}
	if err != nil {
		return nil, false, fmt.Errorf("%s: %w", a.path, err)
	}
	root = root.unwrapped()
	a.nested(root, a.path)
	return root, packing == "" || what == zipArchive, nil
}

// nested reads the archives in a folder of an archive.
func (a *archive) nested(folder *node, path string) {
	for _, name := range slices.Sorted(maps.Keys(folder.folder)) {
		n, at := folder.folder[name], path+string(filepath.Separator)+name
		if n.folder != nil {
			a.nested(n, at)
			continue
		}
		if !a.tree.named(name) {
			continue
		}
		if int64(a.depth) >= limits.Nested.Max() && Named(name) {
			over := limits.Nested.Reached("", int64(a.depth)+1)
			a.keep(name, fmt.Sprintf("is an archive, %d deep, and was not looked into; unpack the outer one, or raise the limit: %s", a.depth+1, over)).why = files.OverLimit
			continue
		}
		a.tree.inner(n, at, a.depth+1)
	}
}

// inner replaces a file in an archive by its content, if it is an archive too, or a paste. It reports whether it is.
func (t *Tree) inner(n *node, at string, depth int) bool {
	inner := &archive{tree: t, path: at, depth: depth}
	f, err := n.open(n)
	var root *node
	if err == nil {
		var keep bool
		if root, keep, err = inner.read(f); !keep {
			f.Close()
		}
	}
	inner.report()
	if err != nil {
		t.lost = append(t.lost, failed(at, err))
	}
	if root != nil {
		if n.folder, n.open = root.folder, root.open; root.folder == nil {
			n.size = root.size
		}
	}
	return root != nil
}

// add puts a file into the tree of the archive.
func (a *archive) add(root *node, name string, file *node) {
	clean, absolute, err := cleanName(name)
	switch {
	case err != nil:
		a.leave(name, "was left out: its name "+err.Error())
		return
	case clean == "" || clean == "__MACOSX" || strings.HasPrefix(clean, "__MACOSX/"):
		return
	case absolute:
		a.remark(name, "has an absolute name; it is taken for one inside the archive")
	}
	replaced, ok := root.put(clean, file)
	switch {
	case !ok:
		a.leave(name, "was left out: a file and a folder have the same name")
	case replaced != nil:
		a.leave(name, "is there twice; the last one was used, as unpacking would do")
	}
}

var errCut = errors.New("the archive is cut off or damaged")
