package notation

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// sqlNotation is a dump of a database, as pg_dump, mysqldump and sqlite3 write it. A document is a list with a map for
// each row of INSERT and COPY. The member "kind" is the name of its table; the other members are named by the statement,
// or by CREATE TABLE. Backslashes in texts are kept.
func sqlNotation() Notation {
	return Notation{Name: "sql", Repeats: true, Title: "SQL", Extensions: []string{".sql"}, Lines: true, Sniff: sniffSQL, Parse: parseSQL}
}

var (
	sqlBegins = lazyregexp.New(`(?i)^(\s|--[^\n]*\n|#[^\n]*\n|/\*(?s:.*?)\*/;?|\\[^\n]*\n)*(set|begin|start|pragma|create|insert|replace|copy|drop|lock|use|select|alter)\b`)
	sqlRows   = lazyregexp.New(`(?im)^\s*((insert|replace)(\s+\w+){0,2}\s+into\s+[^\s(]+\s*(\([^()]*\)\s*)?values\s*\(|copy\s+[^\s(]+\s*(\([^()]*\)\s*)?from\s+stdin|create\s+table\s[^()]*\()`)
)

func sniffSQL(head []byte, _ bool) bool {
	return bytes.IndexByte(head, 0) < 0 && sqlBegins.Match(head) && sqlRows.Match(head)
}

// sqlReader reads statements token by token.
type sqlReader struct {
	text    []byte
	at      int
	to      Sink
	columns map[string][]string // of CREATE TABLE
	escapes bool                // a backslash keeps a quote in a text, as in MySQL
	err     error
}

// sqlToken is a word, a number, a sign, or a name or text in quotes. One without a text is the end, or an error.
type sqlToken struct {
	quote bool
	text  []byte
	begin int
}

func (t sqlToken) is(words ...string) bool {
	return !t.quote && slices.ContainsFunc(words, func(word string) bool { return strings.EqualFold(string(t.text), word) })
}

func parseSQL(text []byte, to Sink) error {
	r := &sqlReader{text: text, at: bomLen(text), to: to, columns: map[string][]string{}, escapes: bytes.IndexByte(text, '`') >= 0}
	to.BeginList(r.at)
	for t := r.token(); t.text != nil; t = r.token() {
		switch {
		case t.is("create"):
			t = r.create()
		case t.is("insert", "replace"):
			t = r.insert()
		case t.is("copy"):
			t = r.copy()
		}
		r.until(t, ";")
	}
	if r.err == nil {
		to.End(r.at)
	}
	return r.err
}

// until returns the first token from one on that is a word, or the end of the statement.
func (r *sqlReader) until(t sqlToken, word string) sqlToken {
	for t.text != nil && !t.is(word, ";") {
		t = r.token()
	}
	return t
}

// fail notes the first error, and returns the end.
func (r *sqlReader) fail(err error) sqlToken {
	if r.err == nil {
		r.err = err
	}
	return sqlToken{}
}

// sqlComments fits comments, commands of a shell, and blanks after them.
var sqlComments = lazyregexp.New(`^((--|#|\\)[^\n]*(\s+|$)|/\*(?s:.*?)\*/\s*)+`)

// token returns the next token.
func (r *sqlReader) token() sqlToken {
	for r.at < len(r.text) && r.text[r.at] <= ' ' {
		r.at++
	}
	if r.at < len(r.text) && strings.IndexByte(`-#\/`, r.text[r.at]) >= 0 {
		if found := sqlComments.FindSubmatch(r.text[r.at:]); found != nil {
			r.at += len(found[0])
		}
	}
	begin := r.at
	if begin == len(r.text) || r.err != nil {
		return sqlToken{}
	}
	c := r.text[begin]
	if i := strings.IndexByte("'\"`[", c); i >= 0 {
		return r.quoted("'\"`]"[i])
	}
	for r.at++; r.at < len(r.text) && isSQLWord(c) && (isSQLWord(r.text[r.at]) || r.text[r.at-1]|0x20 == 'e' && c <= '9'); r.at++ { // 1e-5
	}
	if r.at == begin+1 && isSQLWord(c) && r.at < len(r.text) && r.text[r.at] == '\'' { // E'a', X'ff', N'a'
		return r.quoted('\'')
	}
	return sqlToken{false, r.text[begin:r.at], begin}
}

func isSQLWord(c byte) bool {
	return c|0x20-'a' <= 'z'-'a' || c-'0' <= 9 || c >= 0x80 || c == '_' || c == '.' || c == '-' || c == '+'
}

// quoted reads a text or name from its quote on.
func (r *sqlReader) quoted(quote byte) sqlToken {
	begin, doubled := r.at, false
	for i := begin + 1; i < len(r.text); i++ {
		switch {
		case r.text[i] == '\\' && r.escapes:
			i++
		case r.text[i] == quote && i+1 < len(r.text) && r.text[i+1] == quote:
			i, doubled = i+1, true
		case r.text[i] == quote:
			text := r.text[begin+1 : i : i]
			if r.at = i + 1; doubled {
				text = bytes.ReplaceAll(text, []byte{quote, quote}, []byte{quote})
			}
			return sqlToken{true, text, begin}
		}
	}
	return r.fail(cut(begin, "a text in quotes"))
}

// name reads the name of a table, without that of its schema, and returns the token after it.
func (r *sqlReader) name(t sqlToken) (string, sqlToken) {
	name := t.text
	for t = r.token(); bytes.HasPrefix(t.text, []byte(".")) || bytes.HasSuffix(name, []byte(".")); t = r.token() { // of "a"."b"
		name = t.text
	}
	return string(name[bytes.LastIndexByte(name, '.')+1:]), t
}

// items calls a function with the first token of each item between parentheses, after the first one.
func (r *sqlReader) items(take func(t sqlToken)) {
	begin, n := r.at, 0
	for depth, first := 1, true; depth > 0; {
		t := r.token()
		switch {
		case t.text == nil:
			r.fail(cut(begin, "parentheses"))
			return
		case t.is("("):
			depth++
		case t.is(")"):
			depth--
		case t.is(",") && depth == 1:
			first = true
			continue
		case first:
			if n++; n > maxColumns {
				r.fail(fault(begin, "more than %d columns", maxColumns))
				return
			}
			take(t)
		}
		first = false
	}
}

// listed reads the columns of a table, if they follow, and returns the token after them.
func (r *sqlReader) listed(table string, t sqlToken) ([]string, sqlToken) {
	if !t.is("(") {
		return r.columns[table], t
	}
	var out []string
	r.items(func(t sqlToken) {
		if !t.is("primary", "key", "unique", "constraint", "foreign", "check", "index", "fulltext", "exclude") {
			out = append(out, string(t.text))
		}
	})
	return out, r.token()
}

// create reads the columns of a table.
func (r *sqlReader) create() sqlToken {
	t := r.token()
	if !t.is("table") {
		return t
	}
	for t = r.token(); t.is("if", "not", "exists"); t = r.token() {
	}
	name, t := r.name(t)
	r.columns[name], t = r.listed(name, t)
	return t
}

// insert reads the rows of a statement.
func (r *sqlReader) insert() sqlToken {
	t := r.until(r.token(), "into")
	if !t.is("into") {
		return t
	}
	name, t := r.name(r.token())
	columns, t := r.listed(name, t)
	if !t.is("values") {
		return t
	}
	for t = r.token(); t.is("(", ","); t = r.token() {
		if t.is(",") {
			continue
		}
		n := 0
		r.begin(name, t.begin)
		r.items(func(t sqlToken) {
			switch r.column(columns, n); {
			case t.quote:
				r.to.Scalar(Text, t.text)
			case t.is("null"):
				r.to.Scalar(Null, nil)
			default:
				r.to.Scalar(Bare, t.text)
			}
			n++
		})
		if r.err != nil {
			return sqlToken{}
		}
		r.to.End(r.at)
	}
	if t.text == nil {
		r.fail(cut(r.at, "a statement"))
	}
	return t
}

// begin begins the map of a row.
func (r *sqlReader) begin(table string, at int) {
	r.to.BeginMap(at)
	r.to.Name([]byte("kind"))
	r.to.Scalar(Text, []byte(table))
}

// column names the value of a column.
func (r *sqlReader) column(columns []string, i int) {
	if i < len(columns) {
		r.to.Name([]byte(columns[i]))
	} else {
		r.to.Name(fmt.Appendf(nil, "column %d", i+1))
	}
}

// copy reads the rows below COPY … FROM stdin.
func (r *sqlReader) copy() sqlToken {
	name, t := r.name(r.token())
	columns, t := r.listed(name, t)
	if t = r.until(t, "stdin"); !t.is("stdin") {
		return t
	}
	r.until(t, ";")
	r.at = min(len(r.text), r.at+1+max(0, bytes.IndexByte(r.text[r.at:], '\n')))
	for r.err == nil {
		begin := r.at
		line, _, ended := bytes.Cut(r.text[begin:], []byte("\n"))
		if !ended {
			return r.fail(cut(begin, "the rows of COPY"))
		}
		r.at += len(line) + 1
		line = bytes.TrimSuffix(line, []byte("\r"))
		if string(line) == `\.` {
			return sqlToken{false, []byte(";"), begin}
		}
		r.begin(name, begin)
		for i, cell := range bytes.SplitN(line, []byte("\t"), maxColumns) {
			if r.column(columns, i); string(cell) == `\N` {
				r.to.Scalar(Null, nil)
			} else {
				r.to.Scalar(Bare, cell)
			}
		}
		r.to.End(r.at)
	}
	return sqlToken{}
}
