package gamelog

import (
	"bytes"
	"html"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/engines/engine"
)

// headLines is how many lines are searched for a logger's marks, and for facts.
const headLines = 8192

// markLen is how many bytes of a line are searched for a mark that need not begin it.
const markLen = 200

// loggers are the engines' logs that have distinctive marks.
var loggers = sync.OnceValue(func() (list []*engine.Log) {
	logs := engines.Logs()
	for i := range logs {
		if logs[i].Logger != "" {
			list = append(list, &logs[i])
		}
	}
	return list
})

// noLogger is a log without a known logger.
var noLogger engine.Log

// loggerOf returns the logger of a line, noLogger if the line does not show it. The log that a page describes comes
// first; nil if there is none.
func loggerOf(own *engine.Log, b []byte) *engine.Log {
	if own != nil && wrote(own, b) {
		return own
	}
	for _, log := range loggers() {
		if wrote(log, b) {
			return log
		}
	}
	return &noLogger
}

// wrote reports whether a line has a mark of a log.
func wrote(log *engine.Log, b []byte) bool {
	return slices.ContainsFunc(log.Marks, func(m engine.Mark) bool {
		return m.Begin && bytes.HasPrefix(b, []byte(m.Text)) || !m.Begin && bytes.Contains(b[:min(len(b), markLen)], []byte(m.Text))
	})
}

// paragraphOf splits a paragraph of a page, as 0 A.D. writes them:
//
//	<p class="error">ERROR: Failed to load entity template 'units/x'</p>
//
// It returns its text, and how bad it is by its class; false if the line is none.
func (r *reader) paragraphOf(b []byte) (text []byte, severity Severity, ok bool) {
	rest, ok := bytes.CutPrefix(b, []byte("<p"))
	if !ok {
		if rest, ok = bytes.CutPrefix(b, []byte("<P")); !ok {
			return nil, None, false
		}
	}
	end := bytes.IndexByte(rest, '>')
	if end < 0 || end > 0 && rest[0] != ' ' {
		return nil, None, false
	}
	switch class := rest[:end]; {
	case bytes.Contains(class, []byte(`class="error"`)):
		severity = Error
	case bytes.Contains(class, []byte(`class="warning"`)):
		severity = Warning
	}
	text = rest[end+1:]
	text = bytes.TrimSuffix(bytes.TrimSuffix(text, []byte("</p>")), []byte("</P>"))
	if bytes.IndexByte(text, '&') >= 0 {
		r.unescaped = append(r.unescaped[:0], html.UnescapeString(string(text))...)
		text = r.unescaped
	}
	return text, severity, true
}

// paragraph remembers the message that a stack follows. Unity writes no levels: that a message is an error is seen from
// the function that logged it.
type paragraph struct {
	message []byte
	line    int64
	kept    bool
}

func (p *paragraph) end() { p.message = p.message[:0] }

// call is a function by which scripts log.
type call struct {
	function []byte
	severity Severity
}

// calls are the calls of all engines: games have their own functions in addition to the engine's.
var calls = sync.OnceValue(func() (list []call) {
	for _, log := range engines.Logs() {
		list = append(list, callsOf(&log)...)
	}
	return list
})

func callsOf(log *engine.Log) (list []call) {
	for _, c := range log.Calls {
		for s := None; s <= Fatal; s++ {
			if s.String() == c.Severity {
				list = append(list, call{[]byte(c.Function), s})
			}
		}
	}
	return list
}

func (p *paragraph) next(r *reader, b []byte, severity Severity) {
	for _, call := range r.calls {
		if bytes.HasPrefix(b, call.function) {
			switch {
			case len(p.message) == 0:
			case !p.kept:
				r.keep(call.severity, p.message[leadOf(p.message).text:], p.line)
				p.kept = true
			case r.last != nil && r.last.Severity == Warning && call.severity > Warning: // by how it is put
				r.last.Severity = call.severity
				r.log.Warnings--
				r.log.Worse++
			}
			return
		}
	}
	if !bytes.HasPrefix(b, []byte(r.logger.Stack)) {
		p.message, p.line, p.kept = append(p.message[:0], b...), r.log.Lines, severity != None
	}
}
