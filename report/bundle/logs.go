package bundle

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
)

// Logs are the opened order logs of several peers.
type Logs struct {
	Named []orderlog.Named
	Files []*File // of Named
	// Missing lists the peers' folders without a log, and the given files that are not a log.
	Missing []string

	closers  []io.Closer
	progress func(done, total int64)
	done     int64
	total    int64
}

// read counts what is read of all logs.
func (l *Logs) read(n int) {
	l.done += int64(n)
	if l.progress != nil {
		l.progress(l.done, l.total)
	}
}

// Close closes the files.
func (l *Logs) Close() error {
	var err error
	for _, c := range l.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// Logs opens the order logs of all peers. Peers have the names in their logs, else names from their paths. Fewer than
// two logs give an [AloneError]. Progress, if not nil, is called with the bytes read of all files.
func (s *Session) Logs(progress func(done, total int64)) (*Logs, error) {
	list, missing := s.logFiles()
	if len(list) < 2 {
		if err := s.Unknown(); err != nil {
			return nil, err
		}
		return nil, s.aloneLogs()
	}
	l := &Logs{progress: progress, Missing: missing, Files: list}
	var said, paths []string
	for _, f := range list {
		l.total += f.Size
		source, closer, err := openLog(s.tree, f, l.read)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.closers = append(l.closers, closer)
		l.Named = append(l.Named, orderlog.Named{Source: source})
		said, paths = append(said, cmp.Or(s.tree.Shown(f.Path), source.Header().Peer)), append(paths, f.Path)
	}
	for i, name := range s.names.peers(said, paths) {
		l.Named[i].Name = name
	}
	return l, nil
}

// logFiles returns the order logs, and the files that should have been one.
func (s *Session) logFiles() (list []*File, missing []string) {
	beside := false
	for _, p := range s.places {
		before := len(list)
		list = append(list, lists.Where(slices.Concat(p.files, p.traced), func(f *File) bool { return f.IsLog() })...)
		switch f := p.loose(); {
		case len(list) > before:
			beside = beside || f != nil && !f.given
		case f == nil && !p.stray && len(p.files)+len(p.set.Entries) > 0:
			missing = append(missing, p.path+": no order log")
		case f != nil && f.given:
			missing = append(missing, f.Path+": not an order log")
		}
	}
	if beside {
		missing = nil // a relay's log covers all of them
	}
	return list, missing
}

// openLog opens a file of a format of order logs, which may be compressed. Read, if not
// nil, is called with the bytes that are read.
func openLog(tree files.Tree, f *File, read func(n int)) (orderlog.Source, io.Closer, error) {
	if !f.IsLog() {
		what := "not an order log of a known format; see desynctool formats"
		if f.Err == nil && f.Size == 0 && !f.other {
			what = "empty file, expected an order log"
		}
		return nil, nil, fmt.Errorf("%s: %s", f.Path, what)
	}
	if !f.Format.Native {
		if err := checkPacking(tree, f.Path, 0); err != nil {
			return nil, nil, err
		}
	}
	file, err := tree.Open(f.Path)
	if err != nil {
		return nil, nil, err
	}
	var in io.Reader = file
	if read != nil {
		in = &files.Counted{File: file, Count: read}
	}
	content, _, err := compression.Unpack(in, 0)
	if err != nil {
		file.Close()
		return nil, nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	all := closers{file}
	if c, ok := content.(io.Closer); ok {
		all = closers{c, file}
	}
	source, err := f.Format.Log(bufio.NewReaderSize(content, 1<<16), f.Path)
	if err != nil {
		return nil, nil, errors.Join(err, all.Close())
	}
	return source, all, nil
}

// WholeLog reads the order log that a peer left.
func (s *Session) WholeLog(p *Peer) (*orderlog.Log, error) { return readWhole(s.tree, p.Log) }

// readWhole reads an order log to its end.
func readWhole(tree files.Tree, f *File) (*orderlog.Log, error) {
	source, closer, err := openLog(tree, f, nil)
	if err != nil {
		return nil, err
	}
	defer closer.Close()
	return orderlog.Collect(source, f.Path)
}

type closers []io.Closer

func (c closers) Close() error {
	var err error
	for _, one := range c {
		err = errors.Join(err, one.Close())
	}
	return err
}

// checkPacking returns an error if a file is compressed and damaged.
func checkPacking(tree files.Tree, file string, limit int64) error {
	f, err := tree.Open(file)
	if err != nil {
		return err
	}
	defer f.Close()
	if err := compression.Check(f, limit); err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return nil
}

// LogFiles returns the order logs, LogBytes their size.
func (s *Session) LogFiles() []*File {
	list, _ := s.logFiles()
	return list
}

// LogBytes returns the size of the order logs in bytes.
func (s *Session) LogBytes() (n int64) {
	for _, f := range s.LogFiles() {
		n += f.Size
	}
	return n
}

// OpenLog opens one of LogFiles.
func (s *Session) OpenLog(f *File) (orderlog.Source, io.Closer, error) {
	return openLog(s.tree, f, nil)
}
