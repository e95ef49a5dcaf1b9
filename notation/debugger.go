package notation

import (
	"bytes"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// debuggerNotation is what gdb and lldb print of structures, between the other lines of a session:
//
//	(gdb) p *state
//	$1 = {frame = 617, name = "Ann", '\000' <repeats 12 times>, units = {{hp = 3, up = 0x7ffff7a5c010}, {hp = 4, up = 0x0}}}
//
// A pointer is nothing, or the symbol that it leads to: addresses are others in each run.
func debuggerNotation() Notation {
	printed := printedNotation()
	return Notation{Name: "debugger", Title: "values printed by gdb or lldb", Extensions: []string{".txt", ".log", ".gdb", ".lldb"}, Lines: true,
		Sniff: func(head []byte, whole bool) bool {
			all := debuggerValue.FindAllSubmatchIndex(head, 1)
			if len(all) == 0 {
				return false
			}
			begin := all[0][3] - 1
			if end := valueEnd(head, begin); end > 0 {
				head, whole = head[:end], true
			} else if whole {
				return false
			}
			plain, err := undebug(head[begin:])
			return err == nil && printed.Sniff(plain, whole)
		},
		Parse: func(text []byte, to Sink) error {
			for at := 0; at < len(text); {
				all := debuggerValue.FindAllSubmatchIndex(text[at:], 1)
				if len(all) == 0 {
					break
				}
				begin := at + all[0][3] - 1
				end := valueEnd(text, begin)
				if end == 0 {
					return cut(begin, "a value")
				}
				plain, err := undebug(text[begin:end])
				if err == nil {
					err = printed.Parse(plain, &shifted{Sink: to, begin: begin})
				}
				if fault, ok := err.(*Error); ok {
					return &Error{Offset: begin + fault.Offset, Msg: fault.Msg}
				}
				at = end
			}
			return nil
		}}
}

// debuggerValue finds the begin of a structure, up to its brace. The name of a variable is only in lldb, after its type.
var debuggerValue = lazyregexp.New(`(?m)^(?:\([\w:<>,*& \[\]]{1,200}\) (?:[A-Za-z_]\w{0,80}|\$\d{1,9}) =|\$\d{1,9} =)( (?:std::[\w:]{1,40} (?:of length|with) [\w, ]{1,40}= |size=\d{1,9} )?\{)`)

// valueEnd returns where a value ends that begins with a brace, 0 if it does not end.
func valueEnd(text []byte, begin int) int {
	budget := len(text)
	return closing(text, begin, &budget)
}

// The texts that debuggers add to values. Each begins with another sign or word.
var (
	debugString  = lazyregexp.New(`^"(?:[^"\\\n]|\\.)*"`)
	debugRepeat  = lazyregexp.New(`^'(?:[^'\\\n]|\\[0-7]{1,3}|\\.)' <repeats \d+ times>`)
	debugChar    = lazyregexp.New(`^'(?:[^'\\\n]|\\[0-7]{1,3}|\\.)'`)
	debugPointer = lazyregexp.New(`^0x[0-9a-f]+(?: <([^<>\n]+(?:<[^<>\n]*>[^<>\n]*)*)>)?`)
	debugType    = lazyregexp.New(`^\((?:[A-Za-z_][\w:<>, ]*[*& ]*(?:\[\d*\])*)\) (?:@?0x|[A-Za-z_]\w* = )`)
	debugLost    = lazyregexp.New(`^<(?:optimized out|error: [^>\n]*|synthetic pointer|incomplete type|(?:not |un)available|parent failed[^>\n]*)>`)
	debugBase    = lazyregexp.New(`^<([A-Za-z_][\w:<>, ]*)> = `)
	debugHolder  = lazyregexp.New(`^(?:std::[\w:]+(?:<[^=\n]*>)? (?:of length \d+(?:, capacity \d+)?|with \d+ elements?)( = )?|size=\d+ )`)
	debugIndex   = lazyregexp.New(`^\[(?:\d+|"[^"\\\n]*")\] = `)
	debugFlags   = lazyregexp.New(`^\([\w:| ]*[A-Za-z_][\w:| ]*\)`)
	debugFields  = lazyregexp.New(`^\((?:[A-Za-z_]\w*|\[\d+\]) = `)
	debugNaN     = lazyregexp.New(`^-?nan\(0x[0-9a-f]+\)`)
)

const longPointer = len("0x") + 9 // an address in the memory of a program of 64 bits

// debugged is a text that is rewritten.
type debugged struct {
	text []byte
	at   int
	open []byte // what is written in place of each closing parenthesis
}

// undebug rewrites a value, so that it has only braces, names, numbers, words and texts in quotes. Every value keeps its place.
func undebug(text []byte) ([]byte, error) {
	d := debugged{text: bytes.Clone(text)}
	for d.at < len(d.text) {
		if bytes.HasPrefix(d.text[d.at:], []byte("...")) {
			return nil, fault(d.at, "elements that the debugger left out, expected all (set print elements 0)")
		}
		d.next()
	}
	return d.text, nil
}

// write writes a word in place of the next n bytes, with blanks after it.
func (d *debugged) write(word string, n int) {
	n -= copy(d.text[d.at:d.at+n], word)
	d.at += len(word)
	for range n {
		d.text[d.at] = ' '
		d.at++
	}
}

// quote writes quotes in place of the first and last of n bytes.
func (d *debugged) quote(n int) {
	for i, b := range d.text[d.at : d.at+n] {
		if b == '"' || b == '\\' {
			d.text[d.at+i] = '\''
		}
	}
	d.text[d.at], d.text[d.at+n-1] = '"', '"'
	d.at += n
}

func (d *debugged) next() {
	rest := d.text[d.at:]
	near := rest[:min(len(rest), maxBegin)]
	before := byte(' ')
	if d.at > 0 {
		before = d.text[d.at-1]
	}
	find := func(r *lazyregexp.Regexp) int {
		if m := r.FindSubmatch(near); m != nil {
			return len(m[0])
		}
		return 0
	}
	switch b := rest[0]; {
	case b == '"':
		d.texts()
	case b == '\'':
		if n := find(debugRepeat); n > 0 {
			if bytes.HasPrefix(rest, []byte(`'\000'`)) {
				d.write(`""`, n)
			} else {
				d.quote(n)
			}
		} else if n := find(debugChar); n > 0 && (before == ' ' && d.at > 1 && d.text[d.at-2]-'0' <= 9) { // 97 'a'
			d.write("", n)
		} else {
			d.at += max(n, 1)
		}
	case b == '0' && !isWordByte(before) && before != '.' && before != '-' && find(debugPointer) > 0:
		m := debugPointer.FindSubmatch(near)
		number := len(m[0])
		if len(m[1]) > 0 {
			number -= len(m[1]) + len(" <>")
		}
		switch after := near[len(m[0]):]; {
		case len(m[1]) > 0:
			d.write("", number+1)
			d.quote(len(m[1]) + 2)
		case bytes.HasPrefix(after, []byte(` "`)):
			d.write("", number)
		case number >= longPointer:
			d.write("nil", number)
		default:
			d.at += number
		}
	case b == '<' && find(debugLost) > 0:
		d.write("nil", find(debugLost))
	case b == '<' && find(debugBase) > 0:
		name := debugBase.FindSubmatch(near)[1]
		for i, c := range name {
			if !isWordByte(c) {
				name[i] = '_'
			}
		}
		d.text[d.at], d.text[d.at+len(name)+1] = ' ', ' '
		d.at += len(name) + len("<>")
	case b == '@' && before == ' ' && bytes.HasPrefix(rest, []byte("@0x")) && bytes.IndexByte(near, ':') > 0:
		d.write("", bytes.IndexByte(near, ':')+1)
	case b == '(' && find(debugType) > 0:
		d.write("", bytes.IndexByte(near, ')')+1)
	case b == '(' && find(debugFields) > 0:
		d.text[d.at], d.open = '{', append(d.open, '}')
		d.at++
	case b == '(' && find(debugFlags) > 0:
		d.quote(find(debugFlags))
	case b == '(':
		d.open = append(d.open, ')')
		d.at++
	case b == ')' && len(d.open) > 0:
		d.text[d.at], d.open = d.open[len(d.open)-1], d.open[:len(d.open)-1]
		d.at++
	case b == '[' && find(debugIndex) > 0:
		n := find(debugIndex) - len(" = ")
		if rest[1] == '"' {
			rest[0], rest[n-1] = ' ', ' '
			d.at += n
		} else {
			d.quote(n)
		}
	case (b == '-' || b == 'n' && !isWordByte(before)) && find(debugNaN) > 0:
		d.write("nan", find(debugNaN))
	case b == 's' && !isWordByte(before) && find(debugHolder) > 0:
		if m := debugHolder.FindSubmatch(near); m[1] == nil && rest[1] == 't' {
			d.write("{}", len(m[0]))
		} else {
			d.write("", len(m[0]))
		}
	case b == 's' && !isWordByte(before) && bytes.HasPrefix(rest, []byte("static ")):
		d.write("", len("static "))
	case isWordByte(b):
		for d.at < len(d.text) && isWordByte(d.text[d.at]) {
			d.at++
		}
	default:
		d.at++
	}
}

// texts passes a text in quotes, without the zeros at its end. Characters that are repeated are a part of it: "ab", 'c' <repeats 20 times>, "d"
func (d *debugged) texts() {
	begin := d.at
	m := debugString.FindSubmatch(d.text[d.at:])
	if m == nil {
		d.at++
		return
	}
	n := len(m[0])
	end, zeros := begin+n, true
	for {
		rest := d.text[end:min(len(d.text), end+1024)]
		if !bytes.HasPrefix(rest, []byte(", ")) {
			break
		}
		if m := debugRepeat.FindSubmatch(rest[2:]); m != nil {
			zeros = zeros && bytes.HasPrefix(m[0], []byte(`'\000'`))
			end += 2 + len(m[0])
			if !zeros {
				if more := debugString.FindSubmatch(d.text[end+min(2, len(d.text)-end):]); more != nil && bytes.HasPrefix(d.text[end:], []byte(`, "`)) {
					end += 2 + len(more[0])
				}
			}
			continue
		}
		break
	}
	if zeros {
		text := d.text[begin : begin+n-1]
		for bytes.HasSuffix(text, []byte(`\000`)) && !bytes.HasSuffix(text, []byte(`\\000`)) {
			text = text[:len(text)-len(`\000`)]
		}
		d.at += len(text)
		d.write(`"`, end-d.at)
		return
	}
	d.quote(end - begin)
}
