package gamelog

import (
	"bytes"
	"html"
)

// Loggers that are told from others by their lines.
const (
	zeroADPage = "0 A.D. page"
	zeroAD     = "0 A.D."
	spring     = "Spring"
	unity      = "Unity"
	factorio   = "Factorio"
	openRA     = "OpenRA"
	warzone    = "Warzone 2100"
	unreal     = "Unreal"
	godot      = "Godot"
	faf        = "Forged Alliance"
)

// headLines is how many lines are searched for a logger's marks, and for facts.
const headLines = 8192

// marks are what only lines of one logger have: at their beginning, or anywhere.
var marks = []struct {
	logger string
	begin  bool
	text   string
}{
	{zeroADPage, false, "<title>Pyrogenesis Log"},
	{zeroADPage, true, "<h2>0 A.D. ("},
	{zeroAD, true, "TIMER| "},
	{zeroAD, true, "FILES| "},
	{spring, true, "[t=00"},
	{spring, true, "[f="},
	{spring, false, "Spring Engine Version:"},
	{unity, true, "Initialize engine version:"},
	{unity, true, "Mono path[0]"},
	{unity, true, "[UnityMemory]"},
	{unity, true, "[Subsystems] Discovering subsystems"},
	{unity, true, "GfxDevice: creating device client"},
	{unity, true, "UnityEngine.Debug:Log"},
	{factorio, false, "; Factorio "},
	{factorio, false, " Loading mod core "},
	{openRA, true, "OpenRA engine version "},
	{openRA, false, " Mod at Version "},
	{openRA, true, "Exception of type `"},
	{warzone, true, "--- Starting log ["},
	{unreal, true, "Log file open, "},
	{unreal, false, "]LogInit: "},
	{godot, true, "Godot Engine v"},
	{faf, false, "debug: Loading module '"},
	{faf, false, "Checksum for beat "},
}

// loggerOf returns whose line it is, empty if that does not show.
func loggerOf(b []byte) string {
	for i := range marks {
		m := &marks[i]
		if m.begin && bytes.HasPrefix(b, []byte(m.text)) || !m.begin && bytes.Contains(b[:min(len(b), 200)], []byte(m.text)) {
			return m.logger
		}
	}
	return ""
}

// paragraphOf takes a paragraph of a page apart, as 0 A.D. writes them:
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

// factorioTick returns the tick that a message of Factorio names.
func factorioTick(b []byte) (unit string, tick uint64) {
	i := bytes.Index(b, []byte("pdateTick"))
	if i < 0 {
		return "", 0
	}
	rest := bytes.TrimLeft(b[i+len("pdateTick"):], " ")
	if len(rest) < 2 || rest[0] != '(' {
		return "", 0
	}
	n, digits := number(rest[1:])
	if digits == 0 || n == 1<<32-1 {
		return "", 0
	}
	return "tick", n
}

// paragraph remembers the message that a stack of Unity's follows. Unity writes no levels: that
// a message is an error is seen from the function that logged it.
type paragraph struct {
	message []byte
	line    int64
	kept    bool
}

func (p *paragraph) end() { p.message = p.message[:0] }

// calls are the functions by which scripts log.
var calls = []struct {
	text     string
	severity Severity
}{
	{"UnityEngine.Debug:LogError", Error},
	{"UnityEngine.Debug:LogException", Exception},
	{"UnityEngine.Debug:LogAssertion", Assertion},
	{"UnityEngine.Debug:LogWarning", Warning},
	{"Verse.Log:Error", Error}, // RimWorld's
	{"Verse.Log:Warning", Warning},
}

func (p *paragraph) next(r *reader, b []byte, severity Severity) {
	for _, call := range calls {
		if bytes.HasPrefix(b, []byte(call.text)) {
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
	if !bytes.HasPrefix(b, []byte("UnityEngine.")) {
		p.message, p.line, p.kept = append(p.message[:0], b...), r.log.Lines, severity != None
	}
}
