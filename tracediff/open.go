package tracediff

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
)

// maxTable is the maximum size in bytes of a table that can be read only once. It is kept in memory, because each
// column is read separately.
const maxTable = 256 << 20

// Trace is the trace of one peer, ready to be compared.
type Trace struct {
	// Name is the peer's name: from the header, from the title of its column, or else the name of the file. It may be
	// changed.
	Name    string
	File    string // as given to Open
	Column  int    // for a table
	Header  Header
	Grammar Grammar
	Packing string // compression of the file, "" if there is none
	// Dialect and Format are set for an engine's file. Format is nil for other files.
	Dialect Dialect
	Format  *Format
	// Shared means that the file contains the traces of several peers.
	Shared bool

	tree files.Tree // tree that contains File, nil for a stream
	open func(opening) (*Reader, error)
	once bool // it can be read only once

	// The first and the last tick. They are known only if span is set.
	span        bool
	first, last uint64
}

// opening is how a comparison opens its traces.
type opening struct {
	names  *names // shared by all
	mapped bool
	// straight is set for a comparison that can begin again: sources need not hold records back.
	straight bool
	sizes    sizes
}

// Open recognizes the traces in the file at path: one, or one for each column of a table. See [NewReader].
func Open(tree files.Tree, path string, opts ReadOptions) ([]*Trace, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return Read(f, path, opts)
	}
	packing, err := packingOf(f)
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	open := func(opts ReadOptions, how opening) (*Reader, error) {
		f, err := tree.Open(path)
		if err != nil {
			return nil, err
		}
		return readFile(f, path, packing, opts, how)
	}
	list, err := traces(path, packing, opts, open)
	for _, t := range list {
		t.tree = tree
	}
	return list, err
}

// readFile starts reading the trace in an open file. On error it closes the file.
func readFile(f files.File, path, packing string, opts ReadOptions, how opening) (*Reader, error) {
	w, err := fileWindow(f, path, how.mapped, how.sizes)
	var in *counted
	if err == nil && packing != "" {
		var content io.Reader
		in = &counted{Reader: f, size: w.size}
		content, _, err = compression.Unpack(in, opts.MaxUnpacked)
		w = &window{name: path, sizes: how.sizes, stream: content}
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	r, err := newReader(w, path, opts, how.names)
	if err != nil {
		w.unmap()
		f.Close()
		return nil, err
	}
	r.in = in
	if c, ok := w.stream.(io.Closer); ok && w.stream != io.Reader(f) {
		r.closers = append(r.closers, c)
	}
	r.closers = append(r.closers, f)
	return r, nil
}

// Read is like Open, for a stream such as standard input. Unless it is a table, its trace can be compared only once. If
// r is an io.Closer, it is closed with the trace.
func Read(r io.Reader, name string, opts ReadOptions) ([]*Trace, error) {
	content, packing, err := compression.Unpack(r, opts.MaxUnpacked)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	first, err := newReader(&window{name: name, sizes: usual, stream: content}, name, opts, new(names))
	if err != nil {
		return nil, err
	}
	for _, c := range []any{content, r} {
		if c, ok := c.(io.Closer); ok {
			first.closers = append(first.closers, c)
		}
	}
	if first.grammar.kind == Table && len(first.grammar.columns) > 1 {
		// The first line was not consumed: everything that was sniffed is still in the window.
		all, err := io.ReadAll(io.LimitReader(&remainder{first.win}, maxTable+1))
		if err = errors.Join(err, first.Close()); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		if len(all) > maxTable {
			return nil, fmt.Errorf("%s: table of more than %d bytes, which must be a file to be compared", name, maxTable)
		}
		return traces(name, packing, opts, func(opts ReadOptions, how opening) (*Reader, error) {
			return newReader(&window{name: name, sizes: how.sizes, stream: bytes.NewReader(all)}, name, opts, how.names)
		})
	}
	list := tracesOf(first, name, packing)
	used := false
	list[0].once = true
	list[0].open = func(opening) (*Reader, error) {
		if used {
			return nil, fmt.Errorf("%s: stream cannot be read a second time", name)
		}
		used = true
		return first, nil
	}
	return list, nil
}

// traces lists the traces in a source that can be opened any number of times.
func traces(name, packing string, opts ReadOptions, open func(ReadOptions, opening) (*Reader, error)) ([]*Trace, error) {
	r, err := open(opts, opening{names: new(names), sizes: usual})
	if err != nil {
		return nil, err
	}
	if n := len(r.grammar.columns); n > maxPeers { // each is read separately
		return nil, errors.Join(fmt.Errorf("%s: a table of %d columns of checksums, expected at most %d", name, n, maxPeers), r.Close())
	}
	list := tracesOf(r, name, packing)
	for _, t := range list {
		opts := opts
		opts.Column = t.Column
		t.open = func(how opening) (*Reader, error) { return open(opts, how) }
	}
	return list, r.Close()
}

func tracesOf(r *Reader, name, packing string) []*Trace {
	t := Trace{Name: r.header.Peer, File: name, Header: r.header, Grammar: r.grammar.kind, Packing: packing}
	t.Name = cmp.Or(t.Name, name)
	if len(r.grammar.columns) <= 1 {
		return []*Trace{&t}
	}
	var list []*Trace
	for i, column := range r.grammar.columns {
		c := t
		c.Name, c.Column = column, i
		list = append(list, &c)
	}
	return list
}
