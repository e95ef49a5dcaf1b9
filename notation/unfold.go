package notation

import "bytes"

// mostUnfolded is how many bytes a document in a text has at most.
const mostUnfolded = 1 << 16

// Unfold returns a Sink that gives another one the documents in texts: a map of JSON, or a list of maps, that a game keeps as one
// value. Each peer may write its members in another order. Texts in these documents stay texts.
//
//	inventory = "{ \"gold\": 5.0, \"keys\": 0 }"
func Unfold(to Sink) Sink { return &unfolding{Sink: to} }

// unfolding is a Sink that unfolds texts.
type unfolding struct {
	Sink
	at int // of the last map or list
}

func (u *unfolding) BeginMap(at int)  { u.at = at; u.Sink.BeginMap(at) }
func (u *unfolding) BeginList(at int) { u.at = at; u.Sink.BeginList(at) }
func (u *unfolding) End(at int)       { u.at = at; u.Sink.End(at) }

func (u *unfolding) Scalar(kind Kind, text []byte) {
	if kind != Text && kind != Bare || !isFolded(text) {
		u.Sink.Scalar(kind, text)
		return
	}
	text = bytes.Clone(text)
	_ = oneJSON(text, &unfolded{u.Sink, u.at}) // isFolded found no fault
}

// oneJSON reads a text that is one document of JSON.
func oneJSON(text []byte, to Sink) error {
	p := jsonParser{text: text, to: to}
	if err := p.document(); err != nil {
		return err
	}
	if p.space(); p.at < len(text) {
		return fault(p.at, "more after the document")
	}
	return p.err
}

// isFolded reports whether a text is a document.
func isFolded(text []byte) bool {
	if len(text) < len(`{"a":1}`) || len(text) > mostUnfolded || text[0] != '{' && text[0] != '[' {
		return false
	}
	inner := bytes.TrimLeft(text[1:], " \t\r\n")
	if text[0] == '[' {
		if len(inner) == 0 || inner[0] != '{' {
			return false
		}
		inner = bytes.TrimLeft(inner[1:], " \t\r\n")
	}
	return len(inner) > 0 && inner[0] == '"' && oneJSON(text, discard{}) == nil
}

// unfolded is a Sink for a document in a text. All its offsets are the place before the text.
type unfolded struct {
	Sink
	at int
}

func (u *unfolded) BeginMap(int)  { u.Sink.BeginMap(u.at) }
func (u *unfolded) BeginList(int) { u.Sink.BeginList(u.at) }
func (u *unfolded) End(int)       { u.Sink.End(u.at) }
