package notation

import (
	"bytes"
	"cmp"
	"strconv"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// embeddedBegin finds where a document may begin after other text, tickBefore the number before it that a word names.
var (
	embeddedBegin = lazyregexp.New(`[ :=>](\{\s*["'][^"'\\]{1,40}["']\s*:|[&%#]?\{:?[A-Za-z_][A-Za-z0-9_]{0,40}\s?[:=]|[A-Za-z_][A-Za-z0-9_.$]{0,40}(?:@[0-9a-f]{0,8})?(?:[\[({]| \{))`)
	tickBefore    = lazyregexp.New(`(?:[A-Za-z_][ =:#\[(]{0,3}|^[#\[(]?)([0-9]{1,9})(?:[\]):,;= -]|\x1b\[[0-9;]*m){0,4}(?:[A-Za-z]{1,12}[:=]? ?)?$`)
)

// leastEmbedded is how many bytes a document has at least, mostBegins and mostTried how many places of a line and a text are tried,
// leastRows how many lines with rows a text has, mostMarks how many kinds of them, and mostAfter how many bytes follow a document.
const leastEmbedded, mostBegins, mostTried, leastRows, mostMarks, mostAfter = 128, 8, 1 << 10, 8, 32, 80

// embedded is a log in which lines of one kind end with a document, or of several kinds with rows.
type embedded struct {
	inner  *Notation
	mark   string          // how the documents begin
	marks  map[string]bool // how rows begin
	ticked bool            // the number before them is their member tick
}

// Embedded returns the notation of a log in which lines of one kind end with a document, or several lines with the same number
// end with rows, or documents have several lines, as far as a sample shows it; nil for others. If a number before the documents grows from each to the next, it
// is their member tick. Other lines are passed.
//
//	12:00:01 DEBUG state after 5: World[turn=3, units=[Unit[id=7, hp=3]]]
//	#3 Unit { Id = 7, Hp = 3 }
func Embedded(sample []byte) *Notation {
	b := blocksOf(sample)
	if b != nil && 2*b.size > len(sample) { // their own lines may look like documents
		return b.notation()
	}
	e := rowsOf(sample)
	if e == nil {
		e = documentsOf(sample)
	}
	switch {
	case e != nil:
		return &Notation{Name: "log of " + e.inner.Name, Title: e.inner.Title + " on lines of a log", Lines: true, Repeats: e.inner.Repeats, Parse: e.parse}
	case b != nil:
		return b.notation()
	}
	return nil
}

// rowsOf finds rows of one tick after the other at the ends of most lines.
func rowsOf(sample []byte) *embedded {
	e := &embedded{marks: map[string]bool{}, ticked: true}
	lines, found, again, last := 0, 0, 0, int64(-1)
	for line := range bytes.Lines(sample) {
		if line = bytes.TrimSpace(line); len(line) == 0 {
			continue
		}
		lines++
		if bytes.IndexByte([]byte("]})"), line[len(line)-1]) < 0 {
			continue
		}
		all := embeddedBegin.FindAllSubmatchIndex(line, 1)
		if len(all) == 0 {
			continue
		}
		at := all[0]
		mark, rest, number := markOf(line[at[2]:at[3]]), line[at[2]:], tickBefore.FindSubmatch(line[:at[2]])
		_, tried := e.marks[mark]
		if number == nil || !tried && len(e.marks) == mostMarks {
			continue
		}
		if e.inner == nil {
			if e.inner = Of("", rest, true); e.inner == nil || e.inner.Loose {
				e.inner = nil
				continue
			}
		}
		if !tried {
			e.marks[mark] = e.inner.Check(rest) == nil
		}
		if !e.marks[mark] {
			continue
		}
		next, err := strconv.ParseInt(string(number[1]), 10, 64)
		if err != nil || next < last {
			return nil
		}
		if found++; next == last {
			again++
		}
		last = next
	}
	if found < leastRows || 2*found < lines || 2*again < found || again == found-1 {
		return nil
	}
	return e
}

// documentsOf finds states at the ends of lines.
func documentsOf(sample []byte) *embedded {
	size, best, tried := map[string]int{}, embedded{}, 0 // the bytes of documents
	for line := range bytes.Lines(sample) {
		if line = bytes.TrimSpace(line); len(line) < leastEmbedded || bytes.LastIndexAny(line[len(line)-mostAfter:], "]})") < 0 {
			continue
		}
		for _, at := range embeddedBegin.FindAllSubmatchIndex(line, mostBegins) {
			mark, rest := markOf(line[at[2]:at[3]]), documentIn(line[at[2]:])
			if tried += min(1, len(rest)/leastEmbedded); len(rest) < leastEmbedded || tried > mostTried {
				break
			}
			n := Of("", rest, true)
			if n == nil || n.Loose || n.Check(rest) != nil {
				continue
			}
			if size[mark] += len(rest); size[mark] > len(rest) && size[mark] > size[best.mark] {
				best = embedded{inner: n, mark: mark, ticked: true}
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
	return &best
}

// markOf returns how documents of one kind begin. The identity of an object is another one in each of them.
func markOf(begin []byte) string {
	return string(begin[:cmp.Or(1+bytes.IndexByte(begin, '@'), len(begin))])
}

// documentIn returns the text up to the bracket that ends the first one, if few words follow: {"a": 1} (sim.js, line 7)
func documentIn(text []byte) []byte {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[' || c == '(':
			depth++
		case c == '}' || c == ']' || c == ')':
			if depth--; depth == 0 && len(text)-i <= mostAfter && i+1 < len(text) && text[i+1] == ' ' {
				return text[:i+1]
			} else if depth == 0 {
				return text
			}
		}
	}
	return text
}

// in returns where the document of a line begins, -1 if it has none.
func (e *embedded) in(line []byte) int {
	if e.marks == nil {
		return bytes.Index(line, []byte(e.mark))
	}
	if line = bytes.TrimRight(line, " \t\r\n"); len(line) == 0 || bytes.IndexByte([]byte("]})"), line[len(line)-1]) < 0 {
		return -1
	}
	for _, at := range embeddedBegin.FindAllSubmatchIndex(line, 1) {
		if e.marks[markOf(line[at[2]:at[3]])] {
			return at[2]
		}
	}
	return -1
}

func (e *embedded) parse(text []byte, to Sink) error {
	at := 0
	for line := range bytes.Lines(text) {
		if i := e.in(line); i > 0 {
			one := &shifted{Sink: to, begin: at + i}
			if m := tickBefore.FindSubmatch(line[:i]); e.ticked && m != nil {
				one.tick = m[1]
			}
			if fault, ok := e.inner.Parse(documentIn(bytes.TrimSpace(line[i:])), one).(*Error); ok {
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
