package formats

import (
	"bytes"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/archive/paste"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/tracediff"
)

// loose reports whether the signs of a format are too weak to look for it inside other texts.
func loose(f *engine.Format) bool {
	return f.Name == textTrace().Name || f.Trace != nil && f.Trace.Read == nil && f.Log == nil && f.Snapshot == nil && !f.Alone
}

// traceHeader begins the first line of a text trace. Such a text is nothing else.
const traceHeader = "%desynctool trace "

// Pasted returns what is recognised in texts that people paste: files of all formats of the list, except formats with
// lines that any log may contain.
func Pasted() paste.Known {
	list := All()
	for loose(&list[len(list)-1]) { // those before others hide them
		list = list[:len(list)-1]
	}
	return paste.Known{
		Whole: func(head []byte) string {
			if bytes.HasPrefix(head, []byte(traceHeader)) {
				return Recognize("", head).Name
			}
			if f := Among(list, "", head); f != nil && !loose(f) {
				return f.Name
			}
			return ""
		},
		Lines: func(lines []byte) string {
			for _, f := range All() {
				if f.Lines != nil && f.Lines(lines) {
					return f.Name
				}
			}
			return ""
		},
		Takes: func(format string) paste.Way {
			for _, f := range All() {
				switch {
				case f.Name != format:
				case f.Alone:
					return paste.Loose
				case f.Lines != nil:
					return paste.Excerpts
				}
			}
			return paste.WholeOnly
		},
		Ticks: ticksOf, State: fieldsOf,
	}
}

// ticksOf returns the ticks of a log of any program, or of a table of checksums.
func ticksOf(text []byte) (out []uint64) {
	var source interface {
		Next() (*tracediff.Record, error)
	}
	var err error
	if pattern := sums.Learn(text, "paste"); pattern != nil {
		source, err = pattern.Format().Read(bytes.NewReader(text), "paste", 0)
	} else if tracediff.Sniff(text) == tracediff.Table {
		source, err = tracediff.NewReader(bytes.NewReader(text), "paste", tracediff.ReadOptions{})
	}
	if err != nil || source == nil {
		return nil
	}
	for {
		r, err := source.Next()
		if err != nil {
			return out
		}
		if r.Checkpoint != nil {
			out = append(out, r.Checkpoint.Tick)
		}
	}
}

// fieldsOf returns the names of all fields of a state in an ordinary notation.
func fieldsOf(text []byte) map[string]bool {
	n := notation.Of("", text, true)
	var schema states.Schema
	if n == nil || schema.Learn(n, text) != nil || !schema.Tabular() {
		return nil
	}
	worlds, err := schema.Decode(n, text)
	if err != nil {
		return nil
	}
	out := map[string]bool{}
	for _, w := range worlds {
		for _, t := range w.Tables {
			for _, c := range t.Columns {
				out[t.Label+" "+c.Component+"."+c.Field] = true
			}
		}
	}
	return out
}
