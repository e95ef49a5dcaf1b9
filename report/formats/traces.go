package formats

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// OpenTraces opens the traces below some paths, each a trace or a table, "-"
// for stdin, the folder of one peer, or a folder that holds a folder for each.
// In folders traces are found by their name, *.trace. Peers are named by what
// their traces say, else by their paths. Missing says which folders beside those
// of peers with a trace hold files and no trace.
func OpenTraces(paths []string, stdin io.Reader, opts tracediff.ReadOptions) (all []*tracediff.Trace, missing []string, err error) {
	for _, path := range paths {
		if path == "-" {
			found, err := tracediff.Read(stdin, "stdin", opts)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, found...)
			continue
		}
		files, without, err := traceFiles(path)
		if err != nil {
			return nil, nil, err
		}
		missing = append(missing, without...)
		for _, file := range files {
			found, err := tracediff.Open(file, opts)
			if err != nil {
				return nil, nil, err
			}
			all = append(all, found...)
		}
	}
	if len(all) < 2 {
		return nil, nil, fmt.Errorf("%s: %d trace(s), at least 2 are needed", strings.Join(paths, ", "), len(all))
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
	return all, missing, nil
}

// traceFiles returns path if it is a file, else the traces in the folder, or
// in its folders, and which of these hold files and no trace.
func traceFiles(path string) (files, missing []string, err error) {
	stat, err := os.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !stat.IsDir() {
		return []string{path}, nil, nil
	}
	inside, err := filepath.Glob(filepath.Join(escapeGlob(path), "*"))
	if err != nil {
		return nil, nil, err
	}
	if here := onlyTraces(inside); len(here) > 0 {
		return here, nil, nil
	}
	list, err := os.ReadDir(path)
	if err != nil {
		return nil, nil, err
	}
	for _, entry := range list {
		folder := filepath.Join(path, entry.Name())
		inside, err := filepath.Glob(filepath.Join(escapeGlob(folder), "*"))
		if err != nil {
			return nil, nil, err
		}
		found := onlyTraces(inside)
		if len(found) == 0 && len(inside) > 0 {
			missing = append(missing, folder+": no trace")
		}
		files = append(files, found...)
	}
	if len(files) == 0 {
		return nil, nil, errors.New(path + ": no trace (*.trace)")
	}
	return files, missing, nil
}

// onlyTraces returns the files that are traces by their names, compressed or
// not.
func onlyTraces(files []string) []string {
	return slices.DeleteFunc(slices.Clone(files), func(file string) bool {
		switch filepath.Ext(file) {
		case ".gz", ".zst", ".xz":
			file = strings.TrimSuffix(file, filepath.Ext(file))
		}
		return filepath.Ext(file) != ".trace"
	})
}

// escapeGlob makes a path stand for itself in a pattern.
func escapeGlob(path string) string {
	return strings.NewReplacer(`\`, `\\`, "*", `\*`, "?", `\?`, "[", `\[`).Replace(path)
}
