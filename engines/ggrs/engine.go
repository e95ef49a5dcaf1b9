package ggrs

import (
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/tracediff/loglines"
)

// Engine returns GGRS, a library of many games.
func Engine() engine.Engine {
	e := engine.Engine{}
	for _, f := range Formats() {
		f.Claims = loglines.ReadOnly("ggrs-log")
		one := engine.Trace(f, "*.log, *.txt", "checkpoints", "claims")
		one.Amid = true
		e.Formats = append(e.Formats, one)
	}
	return e
}
