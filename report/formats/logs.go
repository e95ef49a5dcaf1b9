package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/orderlog/packed"
	"github.com/desynctool/desynctool/snapshot"
)

// Logs are opened order logs of several peers.
type Logs struct {
	Named []orderlog.Named
	// Missing says which folders beside those of peers with a log hold files
	// and no log.
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

// OpenLogs opens the order logs below some paths, each a log, the folder of
// one peer, or a folder that holds a folder for each. Peers are named by what
// their logs say, else by their paths. Progress, if not nil, is called with the
// bytes read of all files.
func OpenLogs(tree files.Tree, paths []string, progress func(done, total int64)) (*Logs, error) {
	if err := Distinct(tree, paths); err != nil {
		return nil, err
	}
	files, missing, err := findLogs(tree, paths)
	if err != nil {
		return nil, err
	}
	if len(files) < 2 {
		hint := ""
		if len(files) == 1 && holdsSeveral(tree, files[0]) {
			hint = "; tracediff compares the checksums of all peers in it"
		}
		return nil, fmt.Errorf("%s: %d order log(s), %w%s", strings.Join(paths, ", "), len(files), ErrFewPeers, hint)
	}
	l := &Logs{progress: progress, Missing: missing}
	var told []string
	for _, path := range files {
		if stat, err := tree.Stat(path); err == nil {
			l.total += stat.Size()
		}
		source, closer, err := openLog(tree, path, l.read)
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
		l.closers = append(l.closers, closer)
		l.Named = append(l.Named, orderlog.Named{Source: source})
		told = append(told, source.Header().Peer)
	}
	for i, name := range snapshot.PeerNames(told, files) {
		l.Named[i].Name = name
	}
	return l, nil
}

// OpenLog opens an order log of any format, which may be compressed.
func OpenLog(tree files.Tree, path string) (orderlog.Source, io.Closer, error) {
	return openLog(tree, path, func(int) {})
}

func openLog(tree files.Tree, path string, read func(n int)) (orderlog.Source, io.Closer, error) {
	source, closer, _, err := openNamedLog(tree, path, read)
	return source, closer, err
}

// openNamedLog opens an order log and returns the name of its format, too.
func openNamedLog(tree files.Tree, path string, read func(n int)) (source orderlog.Source, closer io.Closer, name string, err error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, nil, "", err
	}
	content, _, err := packed.Unpack(files.Counted{File: f, Count: read}, 0)
	if err != nil {
		f.Close()
		return nil, nil, "", fmt.Errorf("%s: %w", path, err)
	}
	all := closers{f}
	if c, ok := content.(io.Closer); ok {
		all = append(closers{c}, f)
	}
	in := bufio.NewReaderSize(content, 1<<16)
	head, err := in.Peek(sniffLog)
	if err != nil && err != io.EOF {
		return nil, nil, "", errors.Join(fmt.Errorf("%s: %w", path, err), all.Close())
	}
	for _, format := range All() {
		if format.Log == nil || !format.Sniff(head) {
			continue
		}
		if !format.Native {
			if regular, err := isRegular(tree, path); err == nil && regular {
				if err := checkPacking(tree, path, 0); err != nil {
					return nil, nil, "", errors.Join(err, all.Close())
				}
			}
		}
		source, err := format.Log(in, path)
		if err != nil {
			return nil, nil, "", errors.Join(err, all.Close())
		}
		return source, all, format.Name, nil
	}
	what := "not an order log of a known format; see desynctool formats"
	if len(head) == 0 {
		what = "empty file, expected an order log"
	}
	return nil, nil, "", errors.Join(fmt.Errorf("%s: %s", path, what), all.Close())
}

// holdsSeveral reports whether an order log has the checksums of several peers.
func holdsSeveral(tree files.Tree, path string) bool {
	f, err := traceFormat(tree, path)
	return err == nil && f != nil && f.Trace.Peers != nil
}

type closers []io.Closer

func (c closers) Close() error {
	var err error
	for _, one := range c {
		err = errors.Join(err, one.Close())
	}
	return err
}

// sniffLog is how many leading bytes tell an order log from other text.
const sniffLog = 4096

// findLogs returns the paths of the logs below some paths.
func findLogs(tree files.Tree, paths []string) (files, missing []string, err error) {
	for _, path := range paths {
		stat, err := tree.Stat(path)
		if err != nil {
			return nil, nil, err
		}
		if !stat.IsDir() {
			files = append(files, path)
			continue
		}
		found, without, err := peersLogs(tree, path, len(paths) == 1)
		if err != nil {
			return nil, nil, err
		}
		if len(found) == 0 {
			missing = append(missing, path+": no order log")
			continue
		}
		files = append(files, found...)
		for _, folder := range without {
			missing = append(missing, folder+": no order log")
		}
	}
	return files, missing, nil
}

// peersLogs returns the logs in a folder, or else those in its folders, and which
// of these hold files and no log. A session's folder may have a log beside those of
// its peers, which must not hide them: there both count.
func peersLogs(tree files.Tree, dir string, session bool) (logs, without []string, err error) {
	logs, folders, _, err := logsIn(tree, dir)
	if err != nil || len(logs) > 0 && !session {
		return logs, nil, err
	}
	beside := len(logs) > 0
	for _, folder := range folders {
		found, _, others, err := logsIn(tree, folder)
		if err != nil {
			return nil, nil, err
		}
		logs = append(logs, found...)
		if len(found) == 0 && others > 0 && !beside {
			without = append(without, folder)
		}
	}
	return logs, without, nil
}

// logsIn returns the logs in a folder, its folders, and how many other files it has.
func logsIn(tree files.Tree, dir string) (logs, folders []string, others int, err error) {
	names, err := namesIn(tree, dir)
	if err != nil {
		return nil, nil, 0, err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		stat, err := tree.Stat(path)
		switch {
		case name[0] == '.' || err != nil:
		case stat.IsDir():
			folders = append(folders, path)
		case stat.Mode().IsRegular() && isLog(tree, path):
			logs = append(logs, path)
		default:
			others++
		}
	}
	return logs, folders, others, nil
}

// isLog reports whether a file is an order log by its leading bytes.
func isLog(tree files.Tree, path string) bool {
	f, err := tree.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	content, _, err := packed.Unpack(f, 0)
	if err != nil {
		return false
	}
	head := make([]byte, sniffLog)
	n, _ := io.ReadFull(content, head)
	for _, format := range All() {
		if format.Log != nil && format.Sniff(head[:n]) {
			return true
		}
	}
	return false
}
