package formats

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/orderlog/packed"
	"github.com/desynctool/desynctool/report/peers"
)

// FindReports returns the reports below some paths: a file is one, a folder holds those of
// peers, desync_report_*.json, in itself and in its folders. The path - stands for itself.
func FindReports(tree files.Tree, paths []string) ([]string, error) {
	if err := Distinct(tree, paths); err != nil {
		return nil, err
	}
	var out []string
	for _, path := range paths {
		if path == "-" {
			if slices.Contains(out, path) {
				return nil, errors.New("stdin is given twice")
			}
			out = append(out, path)
			continue
		}
		stat, err := tree.Stat(path)
		if err != nil {
			return nil, err
		}
		if !stat.IsDir() {
			out = append(out, path)
			continue
		}
		found, err := reportsIn(tree, path, true)
		if err != nil {
			return nil, err
		}
		if len(found) == 0 {
			return nil, fmt.Errorf("%s: no desync_report_*.json in this folder", path)
		}
		out = append(out, found...)
	}
	return out, nil
}

// reportsIn returns the reports in a folder and, if deeper is set, in its folders.
func reportsIn(tree files.Tree, dir string, deeper bool) ([]string, error) {
	names, err := namesIn(tree, dir)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, name := range names {
		path := filepath.Join(dir, name)
		stat, err := tree.Stat(path)
		switch {
		case name[0] == '.' || err != nil:
		case !stat.IsDir():
			if strings.HasPrefix(name, "desync_report_") && strings.Contains(name, ".json") {
				out = append(out, path)
			}
		case deeper:
			found, err := reportsIn(tree, path, false)
			if err != nil {
				return nil, err
			}
			out = append(out, found...)
		}
	}
	return out, nil
}

// ReadReport reads a saved report of any kind, see peers.ReadSaved; it may be compressed.
func ReadReport(tree files.Tree, path string) (any, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return UnpackReport(f, path)
}

// UnpackReport reads a saved report, which may be compressed.
func UnpackReport(r io.Reader, name string) (any, error) {
	content, _, err := packed.Unpack(r, 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if c, ok := content.(io.Closer); ok {
		defer c.Close()
	}
	return peers.ReadSaved(content, name)
}

// ReadExcerpt reads the log of a peer's folder and returns the orders of the last ticks
// before a point, and what the log's header says. Without exactly one log in the folder
// both are nil. If the log cannot be read to its end the excerpt holds what precedes.
func ReadExcerpt(tree files.Tree, dir string, from, to uint64) (*peers.Excerpt, *orderlog.Header, error) {
	logs, _, _, err := logsIn(tree, dir)
	if err != nil || len(logs) != 1 {
		return nil, nil, err
	}
	log, closer, err := OpenLog(tree, logs[0])
	if err != nil {
		return nil, nil, err
	}
	defer closer.Close()
	header := log.Header()
	excerpt, err := peers.ReadExcerpt(log, from, to)
	return excerpt, &header, err
}
