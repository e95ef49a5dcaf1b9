package formats

import (
	"bytes"
	"strings"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/anygame/vocabulary"
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

// fieldsOf returns the names of all fields of a state in an ordinary notation, or in lines.
func fieldsOf(text []byte) (out map[string]bool, plain []byte) {
	n := notation.Of("", text, true)
	var schema states.Schema
	if n == nil || schema.Learn(n, text) != nil || !schema.Tabular() {
		return fieldLines(text)
	}
	worlds, err := schema.Decode(n, text)
	if err != nil {
		return nil, nil
	}
	out = map[string]bool{}
	for _, w := range worlds {
		for _, t := range w.Tables {
			for _, c := range t.Columns {
				out[t.Label+" "+c.Component+"."+c.Field] = true
			}
		}
	}
	return out, nil
}

const (
	// maxFieldLines is how many lines a state has at most that has a field on each line, and maxFieldName how long their names
	// are at most.
	maxFieldLines, maxFieldName = 64, 40
)

// settings are words for what is no part of a state: two machines may differ in it before a game.
const settings = " version build file path url size os cpu gpu mod mods map name ping fps driver language "

// fieldLines returns the names of the fields of a state that has one on each line, perhaps in a list or after the time of a log,
// and these lines. One of them is a tick or a checksum.
func fieldLines(text []byte) (out map[string]bool, plain []byte) {
	out, counts := map[string]bool{}, false
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		stamped := false
		if at := bytes.LastIndex(line, []byte("] ")); line[0] == '[' && at > 0 {
			line, stamped = line[at+2:], true
		}
		name, value, ok := bytes.Cut(bytes.TrimLeft(line, "-*+> "), []byte(":"))
		if !ok {
			name, value, ok = bytes.Cut(bytes.TrimLeft(line, "-*+> "), []byte("="))
		}
		name, value = bytes.TrimSpace(name), bytes.Trim(value, " `*\"")
		if stamped { // the words before it may belong to the log
			name = name[bytes.LastIndexByte(name, ' ')+1:]
		}
		if !ok || len(name) == 0 || len(name) > maxFieldName || len(value) == 0 || len(bytes.Fields(name)) > 3 || len(out) == maxFieldLines {
			return nil, nil
		}
		for _, part := range vocabulary.Parts(string(name)) {
			if strings.Contains(settings, " "+part+" ") {
				return nil, nil
			}
		}
		switch vocabulary.Of(string(name)) {
		case vocabulary.Tick, vocabulary.Sum:
			counts = counts || bytes.ContainsAny(value, "0123456789")
		}
		out[string(name)] = true
		plain = append(append(append(append(plain, name...), ": "...), value...), '\n')
	}
	if !counts || len(out) < 2 {
		return nil, nil
	}
	return out, plain
}
