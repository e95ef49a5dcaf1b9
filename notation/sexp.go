package notation

import (
	"bytes"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// sexpNotation is S-expressions as sexplib of OCaml and Lisps print them, and EDN of Clojure. These are maps:
//
//	((id 7) (hp 3))   ((id . 7) (hp . 3))   (unit (id 7) (hp 3))   (unit :id 7 :hp 3)   (:id 7 :hp 3)   {:id 7 :hp 3}
//
// A list with a word in front of lists is a map with the word as #type, and so are structures of Lisp. Objects without a text of
// their own, #<UNIT {10}>, are nothing.
func sexpNotation() Notation {
	d := &termDialect{
		next: nextSexp,
		scalars: dialect{comment: ";", decimal: true, lines: true, words: map[string]fixedWord{
			"nil": {Null, ""}, "NIL": {Null, ""}, "true": {Bool, "true"}, "false": {Bool, "false"}, "#t": {Bool, "true"}, "#f": {Bool, "false"},
			"nan": {Number, "nan"}, "inf": {Number, "inf"}, "-inf": {Number, "-inf"}, "NAN": {Number, "nan"}, "INF": {Number, "inf"}, "-INF": {Number, "-inf"},
			"##NaN": {Number, "nan"}, "##Inf": {Number, "inf"}, "##-Inf": {Number, "-inf"}, "+nan.0": {Number, "nan"}, "+inf.0": {Number, "inf"}, "-inf.0": {Number, "-inf"},
		}},
	}
	return Notation{Name: "sexp", Title: "S-expressions", Extensions: []string{".sexp", ".sexpr", ".lisp", ".scm", ".edn", ".el"},
		Sniff: func(head []byte, whole bool) bool {
			if !sexpBegins.Match(head) || sexpCode.Match(head) {
				return false
			}
			c, _, err := d.look(head)
			return (err == nil || !whole && err.(*Error).Cut) && !c.flat && !c.odd && c.named > 1 && c.numbers > 0
		},
		Parse: d.parse,
	}
}

var (
	sexpBegins = lazyregexp.New(`^(?:\xef\xbb\xbf)?(?:\s|;[^\n]*\n)*(?:#[A-Za-z:]?[\w./-]*[({]|[({[])`)
	sexpCode   = lazyregexp.New(`^(?:\s|;[^\n]*\n)*\((?:def[a-z]*|let\*?|lambda|fn|if|cond|setq|set!|progn|begin|module|ns|require|import|in-package|use-modules|library|lang|quote|print[a-z]*|display)[\s(]`)
	sexpOpens  = lazyregexp.New(`^#[A-Za-z:]?[\w./-]*[({]`)
	sexpTime   = lazyregexp.New(`^\(\d{4}-\d\d-\d\d \d\d:\d\d:[\d.+:Z-]+\)$`)
	sexpObject = lazyregexp.New(`^#<[^>\n]*>`)
)

// nextSexp reads what comes next in a text of S-expressions.
func nextSexp(r *termReader) error {
	begin, near := r.at, r.text[r.at:min(len(r.text), r.at+maxBegin)]
	switch c := near[0]; c {
	case '(', '[':
		r.at++
		return r.push(listTerm, closes(c), begin)
	case '{':
		r.at++
		return r.push(mapTerm, '}', begin)
	case ')', ']', '}':
		return r.sexpCloses(c)
	case ',':
		r.at++
		return nil
	case '"':
		_, err := r.quoted(Text)
		if err == nil {
			r.add(Text, quotedForm, begin, r.at)
		}
		return err
	case '\'':
		if len(near) > 1 && near[1] > ' ' { // 'a is a
			r.at++
			return nil
		}
	case '#':
		if done, err := r.sexpMarked(near); done {
			return err
		}
	}
	return r.sexpWord(near)
}

// sexpCloses ends a container. One with a point after its first term and one term after that is a pair, and one with a date and a
// time is their text.
func (r *termReader) sexpCloses(c byte) error {
	top := r.top()
	if top == nil {
		return r.closes(c)
	}
	i := top.term
	if t := &r.terms[i]; t.shape == pairTerm && t.items != 2 {
		t.shape = listTerm
	}
	if err := r.closes(c); err != nil {
		return err
	}
	if t := &r.terms[i]; t.shape == listTerm && t.items == 2 && r.flat(i) && sexpTime.Match(r.text[t.begin:t.end]) {
		r.terms = append(r.terms[:i], term{kind: Text, begin: t.begin + 1, end: t.end - 1, all: 1})
	}
	return nil
}

// sexpMarked reads what begins with #, if it is no word.
func (r *termReader) sexpMarked(near []byte) (bool, error) {
	begin := r.at
	if bytes.HasPrefix(near, []byte("#|")) {
		end := bytes.Index(r.text[r.at:], []byte("|#"))
		if end < 0 {
			return true, cut(begin, "a comment")
		}
		r.at += end + len("|#")
		return true, nil
	}
	if at := sexpObject.FindStringIndex(string(near)); at != nil {
		r.at += at[1]
		r.add(Null, wordForm, begin, r.at)
		return true, nil
	}
	at := sexpOpens.FindStringIndex(string(near))
	if at == nil {
		return false, nil
	}
	r.at += at[1]
	switch opens := near[at[1]-1]; {
	case opens == '(':
		return true, r.push(listTerm, ')', begin)
	case at[1] == len("#{"):
		return true, r.push(setTerm, '}', begin)
	}
	return true, r.push(mapTerm, '}', begin)
}

// sexpWord reads a word or a number.
func (r *termReader) sexpWord(near []byte) error {
	begin, n := r.at, bytes.IndexAny(near, " \t\r\n()[]{}\";")
	if n < 0 && len(near) == maxBegin {
		return fault(begin, "a word of more than %d bytes", maxBegin)
	} else if n < 0 {
		n = len(near)
	}
	text := near[:n]
	if comma := bytes.TrimRight(text, ","); len(comma) > 0 {
		text = comma
	}
	r.at += n
	top := r.top()
	if r.at == len(r.text) && top != nil {
		return cut(begin, "a value")
	}
	switch w, fixed := r.words[string(text)]; {
	case string(text) == "=>": // of Ruby
		return fault(begin, "%.8q, expected a value", near)
	case string(text) == "." && top != nil && r.terms[top.term].shape == listTerm && r.terms[top.term].items > 0: // (name . value)
		if r.terms[top.term].items == 1 {
			r.terms[top.term].shape = pairTerm
		}
	case len(text) > 1 && text[0] == '#' && isNameStart(text[1]) && !fixed: // #inst "…"
	case fixed:
		r.add(w.kind, wordForm, begin, begin+len(text))
	case text[0] == ':' && len(text) > 1:
		r.add(Text, keyForm, begin, begin+len(text))
	case sexpNumber(text) != nil:
		r.add(Number, wordForm, begin, begin+len(sexpNumber(text)))
	default:
		r.add(Text, wordForm, begin, begin+len(text))
	}
	return nil
}

// sexpNumber returns a number without the suffixes of Clojure, nil if a word is none.
func sexpNumber(text []byte) []byte {
	if strings.IndexByte("NM", text[len(text)-1]) >= 0 && len(text) > 1 && text[len(text)-2]-'0' <= 9 {
		text = text[:len(text)-1]
	}
	if _, ok := plainNumber(text); ok {
		return text
	}
	return nil
}
