package formats

import (
	"bytes"
	"io"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/signatures"
	"github.com/desynctool/desynctool/tracediff"
)

func snap() engine.Format {
	f := engine.State(snapshot.SnapFormat(), "desync_<seed>_<tick>.snap", "state", "history")
	f.Native, f.Extensions, f.Signs.Begins = true, []string{".snap"}, []string{"\x89SNAP\r\n\x1a"}
	return f
}

func orderLog() engine.Format {
	return engine.Format{
		Name: "order-log", Title: "desynctool order log", Files: "order-log.bin", Gives: []string{"orders", "hashes", "markers"},
		Native: true, Checksummed: true, Sniff: orderlog.IsLog, Signs: engine.Signs{Begins: []string{orderlog.Magic}}, Writer: orderLogWriter(),
		Log: func(r io.Reader, name string) (orderlog.Source, error) { return orderlog.NewReader(r, name) },
	}
}

func tickSignatures() engine.Format {
	return engine.Format{
		Name: "tick-signatures", Title: "desynctool tick signatures", Files: signatures.Name, Gives: []string{"signatures"},
		Native: true, Checksummed: true, Signatures: true,
		Sniff: signatures.IsChain, Signs: engine.Signs{Begins: []string{signatures.Magic}},
	}
}

func ownTrace() engine.Format {
	return engine.Format{
		Name: "trace", Title: "desynctool checksum trace", Files: "*.trace", Gives: []string{"checkpoints"},
		Native: true, Checksummed: true,
		Sniff: func(head []byte) bool { return bytes.HasPrefix(head, []byte(tracediff.Magic)) }, Signs: engine.Signs{Begins: []string{tracediff.Magic}},
	}
}

func textTrace() engine.Format {
	return engine.Format{
		Name: "text-trace", Title: "key=value lines, one checksum a line, or a table of peers", Files: "*.log, *.txt, *.csv",
		Gives: []string{"checkpoints"}, Sniff: func(head []byte) bool { return tracediff.Sniff(head) != tracediff.Unknown },
	}
}
