package formats

import (
	"io"

	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/orderlog"
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

// TextLog is the text twin of an order log, which is not among the formats that are
// recognised: it is written by dump, and read back.
func TextLog() LogWriter {
	return LogWriter{Name: "order-log-text", File: minimize.File{Name: "order-log.txt", Write: func(w io.Writer, log *orderlog.Log) error {
		return orderlog.WriteText(w, log.Source())
	}}}
}

func orderLogWriter() *LogWriter {
	return &LogWriter{Name: "order-log", File: minimize.File{Name: "order-log.bin", Write: orderlog.WriteLog}}
}

func zeroADWriter() *LogWriter {
	return &LogWriter{Name: "0ad-log", Fixed: func(kind string) bool { return kind == zeroadlog.LengthKind }, File: minimize.File{
		Name: "commands.txt", Write: func(w io.Writer, log *orderlog.Log) error { return zeroadlog.Write(w, log.Source()) },
	}}
}
