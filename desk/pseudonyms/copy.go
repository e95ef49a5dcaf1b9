package pseudonyms

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/formats"
)

// Copy writes a bundle (a file, an archive or a folder) as an uncompressed tar without names. It replaces names in the
// names of folders and files, and the peers' names in files in desynctool's own formats. Files in other formats, and
// data covered by a proof, are copied byte for byte. left lists the files that may contain names, ordered by path, and
// what could not be copied. It contains no player's name.
//
// The same bundle and key give the same bytes: entries are sorted by name, without times, owners and modes. Archives in
// the bundle become folders in the copy. The bundle is the one that Open has opened, by any name. If Open has opened
// none, a triage first collects the names. One file at a time is rewritten, in memory or in a temporary file. Data that
// Open has read is not read again while its tree is open.
func (s *Scrubber) Copy(ctx context.Context, in string, out io.Writer) (left []string, err error) {
	name, err := s.learn(ctx, in)
	if err != nil {
		return nil, err
	}
	o := archive.Options{Context: ctx, Beside: s.tree}
	if name != filepath.Clean(in) {
		o.Name, o.At = name, in
	}
	tree, err := archive.Open([]string{name}, o)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	root, err := list(tree, name)
	if err != nil {
		return nil, err
	}
	s.prepare()
	c := &copier{s: s, ctx: ctx, tree: tree, out: tar.NewWriter(out)}
	if root.dir {
		err = c.folder(root, "")
	} else {
		err = c.file(root, s.element(root.name, false))
	}
	if err == nil {
		err = c.out.Close()
	}
	for _, lost := range tree.Lost().Texts() {
		c.left = append(c.left, "not copied: "+s.inSentence(lost, nil))
	}
	if over := tree.Interrupted(); over != nil {
		return nil, over
	}
	return c.left, err
}

// learn collects the names in a bundle, unless Open has opened it before. It returns the bundle's name in paths.
func (s *Scrubber) learn(ctx context.Context, in string) (name string, err error) {
	s.mu.Lock()
	if len(s.roots) > 0 {
		name = s.roots[0].path
	}
	s.mu.Unlock()
	if name != "" {
		return name, nil
	}
	tree, err := archive.Open([]string{in}, archive.Options{Context: ctx, Known: formats.Pasted()})
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, tree.Close()) }()
	matches, err := s.Open(tree, []string{in})
	if err != nil {
		return "", err
	}
	for _, m := range matches.List {
		if session, err := m.Open(); err == nil {
			_, _ = compare.Triage(session, compare.Builds{}, nil) // evidence that cannot be compared contains names too
		}
		if over := tree.Interrupted(); over != nil {
			return "", over
		}
	}
	return filepath.Clean(in), nil
}

// copier writes one copy.
type copier struct {
	s    *Scrubber
	ctx  context.Context
	tree *archive.Tree
	out  *tar.Writer
	left []string

	buffer []byte
}

// folder copies the content of a folder to a path in the copy.
func (c *copier) folder(f *folder, at string) error {
	names := c.s.renamed(f)
	order := make([]int, len(names))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmpText(names[a], names[b]) })
	for _, i := range order {
		e, below := f.entries[i], path.Join(at, names[i])
		if err := c.ctx.Err(); err != nil {
			return context.Cause(c.ctx)
		}
		if !e.dir {
			if err := c.file(e, below); err != nil {
				return err
			}
			continue
		}
		if err := c.out.WriteHeader(header(below+"/", 0)); err != nil {
			return err
		}
		if err := c.folder(e, below); err != nil {
			return err
		}
	}
	return nil
}

func cmpText(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// header returns the header of an entry, without data about a machine.
func header(name string, size int64) *tar.Header {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: name, Size: size, Mode: 0o644, ModTime: time.Unix(0, 0), Format: tar.FormatPAX}
	if name[len(name)-1] == '/' {
		h.Typeflag, h.Mode = tar.TypeDir, 0o755
	}
	return h
}

// file copies one file, without names if its format is desynctool's own.
func (c *copier) file(f *folder, at string) error {
	stat, err := c.tree.Stat(f.path)
	if err != nil || !stat.Mode().IsRegular() {
		c.leave("%s: not copied: it is not a regular file", at)
		return nil
	}
	in, err := c.tree.Open(f.path)
	if err != nil {
		c.leave("%s: not copied: it cannot be read", at)
		return nil
	}
	defer in.Close()
	scratch := files.Scratch()
	defer scratch.Close()
	switch done, why, err := c.s.rewrite(in, stat.Size(), f.path, scratch); {
	case err != nil:
		return err
	case done:
		if why != "" {
			c.leave("%s: %s", at, why)
		}
		return c.write(at, scratch)
	case why != "":
		c.leave("%s: %s", at, why)
	}
	return c.write(at, in)
}

// write copies content of a known size into the archive.
func (c *copier) write(at string, in files.File) error {
	stat, err := in.Stat()
	if err != nil {
		return err
	}
	if err := c.out.WriteHeader(header(at, stat.Size())); err != nil {
		return err
	}
	if c.buffer == nil {
		c.buffer = make([]byte, 64<<10)
	}
	n, err := io.CopyBuffer(c.out, io.NewSectionReader(in, 0, stat.Size()), c.buffer)
	if err == nil && n < stat.Size() {
		err = fmt.Errorf("%s: it became shorter while it was copied", at)
	}
	return err
}

func (c *copier) leave(format string, args ...any) {
	c.left = append(c.left, fmt.Sprintf(format, args...))
}
