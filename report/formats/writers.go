package formats

import (
	"io"

	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
)

// TextLog is the text twin of an order log, which is not among the formats that are
// recognised: it is written by dump, and read back.
func TextLog() engine.LogWriter {
	return engine.LogWriter{Name: "order-log-text", File: minimize.File{Name: "order-log.txt", Write: func(w io.Writer, log *orderlog.Log) error {
		return orderlog.WriteText(w, log.Source())
	}}}
}

func orderLogWriter() *engine.LogWriter {
	return &engine.LogWriter{Name: "order-log", File: minimize.File{Name: "order-log.bin", Write: orderlog.WriteLog}}
}
