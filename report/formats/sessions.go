package formats

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/orderlog/frame"
	zeroadlog "github.com/desynctool/desynctool/orderlog/zeroad"
)

// LogWriter is a format of order logs that a game can read back, so that parts of a log
// can be written in it.
type LogWriter struct {
	Name string
	File minimize.File
	// Fixed reports whether orders of a kind belong to their tick and are never left out.
	// Nil is none.
	Fixed func(kind string) bool
}

// LogWriters returns the formats that can be written, by the names of the list and
// "order-log-text", the text twin.
func LogWriters() []LogWriter {
	return []LogWriter{
		{Name: "order-log", File: minimize.File{Name: bisect.LogName, Write: orderlog.WriteLog}},
		{Name: textLog, File: minimize.File{Name: "order-log.txt", Write: func(w io.Writer, log *orderlog.Log) error {
			return orderlog.WriteText(w, log.Source())
		}}},
		{Name: "0ad-log", Fixed: func(kind string) bool { return kind == zeroadlog.LengthKind }, File: minimize.File{
			Name: "commands.txt", Write: func(w io.Writer, log *orderlog.Log) error { return zeroadlog.Write(w, log.Source()) },
		}},
	}
}

const textLog = "order-log-text"

// Session is a log whose orders may be left out.
type Session struct {
	Path   string
	Input  *minimize.Input
	Format LogWriter
	Lost   []string // what of the log could not be read
}

// OpenSession reads the order log at path, or the one in a folder.
func OpenSession(tree files.Tree, path string) (*Session, error) {
	logs, _, err := findLogs(tree, []string{path})
	if err != nil {
		return nil, err
	}
	if len(logs) != 1 {
		return nil, fmt.Errorf("%s: %d order logs, expected one: name it", path, len(logs))
	}
	s := &Session{Path: logs[0]}
	log, name, err := readNamedLog(tree, s.Path)
	var bad *frame.Error
	switch {
	case log == nil:
		return nil, err
	case errors.As(err, &bad), errors.Is(err, io.ErrUnexpectedEOF):
		s.Lost = append(s.Lost, fmt.Sprintf("%v; its first %d ticks are used", err, len(log.Ticks)))
	case err != nil:
		return nil, err
	}
	var names []string
	for _, f := range LogWriters() {
		if f.Name == name {
			s.Format = f
			s.Input, err = minimize.NewInput(log, f.Fixed)
			return s, err
		}
		names = append(names, f.Name)
	}
	return nil, fmt.Errorf("%s: a log of format %s, which cannot be written; those of %s can", s.Path, name, strings.Join(names, ", "))
}

// readNamedLog reads a whole log, and returns the name of its format.
func readNamedLog(tree files.Tree, path string) (log *orderlog.Log, format string, err error) {
	text, err := isTextLog(tree, path)
	if err != nil {
		return nil, "", err
	}
	if text {
		f, err := tree.Open(path)
		if err != nil {
			return nil, "", err
		}
		defer f.Close()
		var twin bytes.Buffer
		if err := orderlog.ParseText(&twin, bufio.NewReader(f), path); err != nil {
			return nil, "", err
		}
		log, err = orderlog.ReadAll(&twin, path)
		return log, textLog, err
	}
	source, closer, format, err := openNamedLog(tree, path, func(int) {})
	if err != nil {
		return nil, "", err
	}
	defer closer.Close()
	log, err = orderlog.Collect(source, path)
	return log, format, err
}

func isTextLog(tree files.Tree, path string) (bool, error) {
	head, err := headOf(tree, path, sniffLog)
	return err == nil && orderlog.IsText(head), err
}
