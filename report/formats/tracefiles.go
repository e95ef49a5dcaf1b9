package formats

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"

	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/orderlog/packed"
	"github.com/desynctool/desynctool/tracediff"
	"github.com/desynctool/desynctool/tracediff/loglines"
)

// traceFile is a file that may be a trace, with the engine's format if it is known.
type traceFile struct {
	path   string
	format *Format
}

// scanLog reads the claims that stand anywhere in a log, nil if there are none.
func scanLog(tree files.Tree, file string, opts tracediff.ReadOptions) (*tracediff.ClaimLog, error) {
	log, err := tracediff.ReadClaims(tree, file, &tracediff.Format{Claims: loglines.Scan}, opts)
	if err != nil || len(log.Claims) == 0 {
		return nil, err
	}
	return log, nil
}

// traceFormat returns the engine's format of a file that holds checkpoints or
// claims, nil if it is none.
func traceFormat(tree files.Tree, path string) (*Format, error) {
	return traceFormatOf(tree, path, All())
}

func traceFormatOf(tree files.Tree, path string, list []Format) (*Format, error) {
	head, err := headOf(tree, path, tracediff.SniffLen)
	if err != nil {
		return nil, err
	}
	for i := range list {
		if f := &list[i]; f.Sniff(head) {
			if f.Trace == nil {
				return nil, nil
			}
			return f, nil
		}
	}
	return nil, nil
}

// headOf returns the leading bytes of what is in a file.
func headOf(tree files.Tree, path string, n int) ([]byte, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	content, _, err := packed.Unpack(bufio.NewReaderSize(f, n), 0)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	head := make([]byte, n)
	got, err := io.ReadFull(content, head)
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		err = nil
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return head[:got], nil
}

// traceFiles returns path if it is a file, else the traces in the folder, or
// in its folders, and which of these hold files and no trace.
func traceFiles(tree files.Tree, path string) (files []traceFile, missing []string, err error) {
	stat, err := tree.Stat(path)
	if err != nil {
		return nil, nil, err
	}
	if !stat.IsDir() {
		return []traceFile{{path: path}}, nil, nil
	}
	list := All()
	here, err := tracesIn(tree, path, list)
	if err != nil {
		return nil, nil, err
	}
	files = here.files
	if here.own {
		missing = append(missing, unlooked(tree, here.folders, list)...)
	} else { // what is of several peers may stand beside their folders
		for _, folder := range here.folders {
			found, err := tracesIn(tree, folder, list)
			if err != nil {
				return nil, nil, err
			}
			if len(found.files) == 0 && found.others {
				missing = append(missing, folder+": no trace")
			}
			files = append(files, found.files...)
			missing = append(missing, unlooked(tree, found.folders, list)...)
		}
	}
	if len(files) == 0 {
		err := errors.New(path + ": no trace (*.trace, or a file of an engine with checksums)")
		for _, m := range missing {
			err = fmt.Errorf("%w; %s", err, m)
		}
		return nil, nil, err
	}
	return files, missing, nil
}

// unlooked says which folders hold evidence and were not looked into.
func unlooked(tree files.Tree, folders []string, list []Format) (missing []string) {
	for _, folder := range folders {
		if holdsEvidence(tree, folder, list, maxDeeper) {
			missing = append(missing, folder+": holds evidence too, and was not looked into; name it")
		}
	}
	return missing
}

// traceFolder is what is in a folder.
type traceFolder struct {
	files   []traceFile // and logs with claims
	own     bool        // one of them at least is the trace of one peer
	folders []string
	others  bool // there are files besides
}

func tracesIn(tree files.Tree, dir string, formats []Format) (t traceFolder, err error) {
	names, err := namesIn(tree, dir)
	if err != nil {
		return t, err
	}
	for _, name := range names {
		path := filepath.Join(dir, name)
		stat, err := tree.Stat(path)
		if name[0] == '.' || err != nil {
			continue
		}
		if stat.IsDir() {
			t.folders = append(t.folders, path)
			continue
		}
		found, own := false, false
		var format *Format
		if stat.Mode().IsRegular() {
			found, format, own = isTrace(tree, path, formats)
		}
		if found {
			t.files = append(t.files, traceFile{path, format})
			t.own = t.own || own
		} else {
			t.others = true
		}
	}
	return t, nil
}

// isTrace reports whether a file is a trace of ours or a table by its name, or
// one of an engine, whose format it returns, or a log with an engine's claims, by
// its content; own says that it is the trace of one peer.
func isTrace(tree files.Tree, path string, formats []Format) (found bool, format *Format, own bool) {
	ext := filepath.Ext(packed.PlainName(path))
	if ext == ".trace" {
		return true, nil, true
	}
	format, err := traceFormatOf(tree, path, formats)
	if err != nil {
		return false, nil, false
	}
	if format != nil {
		return true, format, format.Trace.Read != nil && format.Trace.Peers == nil
	}
	switch ext {
	case ".csv":
		head, err := headOf(tree, path, tracediff.SniffLen)
		return err == nil && tracediff.Sniff(head) == tracediff.Table, nil, false
	case ".log", ".txt":
		log, err := scanLog(tree, path, tracediff.ReadOptions{})
		return err == nil && log != nil, nil, false
	}
	return false, nil, false
}
