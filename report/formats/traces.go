package formats

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// OpenTraces opens the traces below some paths, each a trace or a table, "-"
// for stdin, the folder of one peer, or a folder that holds a folder for each.
// In folders traces are found by their name, *.trace. Peers are named by what
// their traces say, else by their paths.
func OpenTraces(paths []string, stdin io.Reader, opts tracediff.ReadOptions) ([]*tracediff.Trace, error) {
	var all []*tracediff.Trace
	for _, path := range paths {
		if path == "-" {
			found, err := tracediff.Read(stdin, "stdin", opts)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
			continue
		}
		files, err := traceFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			found, err := tracediff.Open(file, opts)
			if err != nil {
				return nil, err
			}
			all = append(all, found...)
		}
	}
	if len(all) < 2 {
		return nil, fmt.Errorf("%s: %d trace(s), at least 2 are needed", strings.Join(paths, ", "), len(all))
	}
	told, files := make([]string, len(all)), make([]string, len(all))
	for i, t := range all {
		told[i], files[i] = t.Header.Peer, t.File
		if t.Grammar == tracediff.Table {
			told[i] = t.Name
		}
	}
	for i, name := range snapshot.PeerNames(told, files) {
		all[i].Name = name
	}
	return all, nil
}

// traceFiles returns path if it is a file, else the traces in the folder, or
// in its folders.
func traceFiles(path string) ([]string, error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !stat.IsDir() {
		return []string{path}, nil
	}
	here, err := filepath.Glob(filepath.Join(escapeGlob(path), "*.trace"))
	if err != nil || len(here) > 0 {
		return here, err
	}
	below, err := filepath.Glob(filepath.Join(escapeGlob(path), "*", "*.trace"))
	if err == nil && len(below) == 0 {
		err = errors.New(path + ": no trace (*.trace)")
	}
	return below, err
}

// escapeGlob makes a path stand for itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
