package notation

import (
	"bytes"
	"strconv"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// embeddedBegin finds where a document may begin after other text, tickBefore the number before it that a word names.
var (
	embeddedBegin = lazyregexp.New(`[ :=>](\{\s*"[^"\\]{1,40}"\s*:|[A-Za-z_][A-Za-z0-9_.]{0,40}[\[({])`)
	tickBefore    = lazyregexp.New(`[A-Za-z_][ =:#\[(]{0,3}([0-9]{1,9})[\]):,;= -]{0,4}$`)
)

// leastEmbedded is how many bytes a document has at least, mostBegins and mostTried how many places of a line and a text are tried.
const leastEmbedded, mostBegins, mostTried = 128, 8, 1 << 10

// embedded is a log in which lines of one kind end with a document.
type embedded struct {
	inner  *Notation
	mark   string // how the documents begin
	ticked bool   // the number before them is their member tick
}

// Embedded returns the notation of a log in which lines of one kind end with a document, as far as a sample shows it; nil for
// others. If a number before the documents grows from each to the next, it is their member tick. Other lines are passed.
//
//	12:00:01 DEBUG state after 5: World[turn=3, units=[Unit[id=7, hp=3]]]
func Embedded(sample []byte) *Notation {
	size, best, tried := map[embedded]int{}, embedded{}, 0 // the bytes of documents
	for line := range bytes.Lines(sample) {
		line = bytes.TrimSpace(line)
		for _, at := range embeddedBegin.FindAllSubmatchIndex(line, mostBegins) {
			e, rest := embedded{mark: string(line[at[2]:at[3]])}, line[at[2]:]
			if tried += min(1, len(rest)/leastEmbedded); len(rest) < leastEmbedded || bytes.IndexByte([]byte("]})"), rest[len(rest)-1]) < 0 || tried > mostTried {
				break
			}
			n := Of("", rest, true)
			if n == nil || n.Loose || n.Check(rest) != nil {
				continue
			}
			if size[e] += len(rest); size[e] > len(rest) && size[e] > size[embedded{mark: best.mark}] {
				best = embedded{n, e.mark, true}
			}
			break
		}
	}
	if best.inner == nil {
		return nil
	}
	last := int64(-1)
	for line := range bytes.Lines(sample) {
		if i := bytes.Index(line, []byte(best.mark)); i > 0 {
			m := append(tickBefore.FindSubmatch(line[:i]), nil, nil)
			next, err := strconv.ParseInt(string(m[1]), 10, 64)
			best.ticked, last = best.ticked && err == nil && next > last, next
		}
	}
	return &Notation{Name: "log of " + best.inner.Name, Title: best.inner.Title + " on lines of a log", Lines: true, Repeats: best.inner.Repeats, Parse: best.parse}
}

func (e embedded) parse(text []byte, to Sink) error {
	at := 0
	for line := range bytes.Lines(text) {
		if i := bytes.Index(line, []byte(e.mark)); i > 0 {
			one := &shifted{Sink: to, begin: at + i}
			if m := tickBefore.FindSubmatch(line[:i]); e.ticked && m != nil {
				one.tick = m[1]
			}
			if fault, ok := e.inner.Parse(bytes.TrimSpace(line[i:]), one).(*Error); ok {
				return &Error{Offset: at + i + fault.Offset, Msg: fault.Msg, Cut: fault.Cut && at+len(line) == len(text)}
			}
		}
		at += len(line)
	}
	return nil
}

// shifted is a Sink for a document that begins at an offset. The map that it is gets another member, the tick.
type shifted struct {
	Sink
	begin int
	tick  []byte
}

func (s *shifted) BeginMap(at int) {
	if s.Sink.BeginMap(s.begin + at); s.tick != nil {
		s.Name([]byte("tick"))
		s.Scalar(Number, s.tick)
		s.tick = nil
	}
}
func (s *shifted) BeginList(at int) { s.tick = nil; s.Sink.BeginList(s.begin + at) }
func (s *shifted) End(at int)       { s.Sink.End(s.begin + at) }
