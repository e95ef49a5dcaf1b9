package bundle

import (
	"bufio"
	"bytes"
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/formats"
)

// Recording is a log that may be without its orders.
type Recording struct {
	Input  *minimize.Input
	Format engine.LogWriter
	Lost   []string // the parts of the log that could not be read
}

// OpenRecording reads the only order log at a path, a log or its text twin, or the folder of
// one peer. A log of a format that cannot be written is an error.
func OpenRecording(tree *archive.Tree, path string) (*Recording, error) {
	s, err := Open(tree, []string{path})
	if err != nil {
		return nil, err
	}
	if len(s.files) == 1 && s.files[0].given {
		if head, err := formats.Head(tree, path); err == nil && orderlog.IsText(head) {
			return textRecording(tree, path)
		}
	}
	logs, _ := s.logFiles()
	if len(logs) == 0 && len(s.files) == 1 && s.files[0].given {
		_, _, err := openLog(tree, s.files[0], nil)
		return nil, err
	}
	if len(logs) != 1 {
		return nil, fmt.Errorf("%s: %d order logs, expected one: name it", path, len(logs))
	}
	f := logs[0]
	if f.Format.Writer == nil {
		var names []string
		for _, known := range s.list {
			if known.Writer != nil {
				names = append(names, known.Name)
			}
		}
		return nil, fmt.Errorf("%s: a log of format %s, which cannot be written; logs of %s can", f.Path, f.Format.Name, strings.Join(append(names, formats.TextLog().Name), ", "))
	}
	r := &Recording{Format: *f.Format.Writer}
	log, err := readWhole(tree, f)
	if log == nil || err != nil && !damaged(err) {
		return nil, err
	}
	if err != nil {
		r.Lost = append(r.Lost, fmt.Sprintf("%v; its first %d ticks are used", err, len(log.Ticks)))
	}
	return r, r.take(log, r.Format.Fixed)
}

func textRecording(tree *archive.Tree, path string) (*Recording, error) {
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var twin bytes.Buffer
	if err := orderlog.ParseText(&twin, bufio.NewReader(f), path); err != nil {
		return nil, err
	}
	log, err := orderlog.ReadAll(&twin, path)
	if err != nil {
		return nil, err
	}
	r := &Recording{Format: formats.TextLog()}
	return r, r.take(log, nil)
}

// take makes a log the input.
func (r *Recording) take(log *orderlog.Log, fixed func(string) bool) (err error) {
	if r.Input, err = minimize.NewInput(log, fixed); err != nil {
		return err
	}
	if left := r.Input.Left(); left != "" {
		r.Lost = append(r.Lost, left)
	}
	return nil
}
