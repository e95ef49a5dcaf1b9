package snapshot

import (
	"errors"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/files"
)

// partFile is a file that contains several states. A compressed file is unpacked once, into a temporary file that is
// removed with the partFile.
type partFile struct {
	tree   files.Tree
	path   string
	format *Format
	parts  []Part
	temp   files.File // nil if the file is not compressed
}

// openParts lists the states in a file.
func openParts(tree files.Tree, path string, format *Format) (*partFile, error) {
	f, size, unpacked, err := openContent(tree, path)
	if err != nil {
		return nil, err
	}
	p := &partFile{tree: tree, path: path, format: format}
	p.parts, err = format.Parts(f, size, path)
	if unpacked && err == nil {
		p.temp = f
		return p, nil
	}
	f.Close()
	return p, err
}

// name returns the name of a part, in output and on the command line.
func (p *partFile) name(part *Part) string { return fmt.Sprintf("%s@%d", p.path, part.Point.Tick) }

// open opens the state of one part.
func (p *partFile) open(part *Part) (State, error) {
	f := files.File(staysOpenFile{p.temp})
	if p.temp == nil {
		var err error
		if f, err = files.OpenRegular(p.tree, p.path); err != nil {
			return nil, err
		}
	}
	return openWhole(f, p.format, p.name(part), part.Size, func() (State, error) { return p.openIn(f, part) })
}

func (p *partFile) openIn(r io.ReaderAt, part *Part) (State, error) {
	s, err := p.format.Open(io.NewSectionReader(r, part.Offset, part.Size), part.Size, p.name(part))
	if err != nil {
		return nil, err
	}
	// A part does not contain the data that the file has before all parts.
	head := headOf(s)
	head.Seed, head.Point = part.Seed, part.Point
	if part.Peer != "" {
		head.Peer = part.Peer
	}
	return s, nil
}

// only opens the state of a file that contains one.
func (p *partFile) only() (State, error) {
	if len(p.parts) != 1 {
		return nil, fmt.Errorf("%s: holds %d states; name one with %s@TICK", p.path, len(p.parts), p.path)
	}
	return p.open(&p.parts[0])
}

// EachPart opens the states in a file that contains several, one after another, in the order of the file.
func EachPart(r io.ReaderAt, size int64, name string, format *Format, f func(State) error) error {
	parts, err := format.Parts(r, size, name)
	if err != nil {
		return err
	}
	p := partFile{path: name, format: format}
	for i := range parts {
		s, err := p.openIn(r, &parts[i])
		if err != nil {
			return err
		}
		if err := errors.Join(f(s), s.Close()); err != nil {
			return err
		}
	}
	return nil
}

// Several reports whether the file at path has a format in which a file may contain several states.
func Several(tree files.Tree, path string, formats []Format) bool {
	stat, err := tree.Stat(path)
	if err != nil || !stat.Mode().IsRegular() {
		return false
	}
	format, err := Recognize(tree, path, formats)
	return err == nil && format != nil && format.Parts != nil
}

// staysOpenFile is a file that is closed elsewhere.
type staysOpenFile struct{ files.File }

func (staysOpenFile) Close() error { return nil }
