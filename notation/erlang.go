package notation

import (
	"bytes"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// erlangNotation is terms as ~p of Erlang and inspect of Elixir print them, one after the other. A tuple that begins with an atom
// is a map with the atom as #type, and a list of pairs that begin with different names is a map. A document {state, 20, #{…}}
// has its number as the tick. Pids, ports, references and functions are of this run: nothing.
func erlangNotation() Notation {
	d := &termDialect{
		tagged: true, next: nextErlang,
		scalars: dialect{joins: true, words: map[string]fixedWord{
			"nil": {Null, ""}, "undefined": {Null, ""}, "none": {Null, ""}, "true": {Bool, "true"}, "false": {Bool, "false"},
		}},
	}
	return Notation{Name: "erlang", Title: "Erlang and Elixir terms", Extensions: []string{".term", ".terms", ".eterm", ".exs"},
		Sniff: func(head []byte, whole bool) bool {
			if !erlangBegins.Match(head) {
				return false
			}
			c, r, err := d.look(head)
			if err != nil && (whole || !err.(*Error).Cut) || c.flat {
				return false
			}
			return r.marks > 0 && c.named > 0 && c.numbers+c.named > 2
		},
		Parse: d.parse,
	}
}

var (
	erlangBegins = lazyregexp.New(`^(?:\xef\xbb\xbf)?(?:\s|%[^{A-Z\n][^\n]*\n|# [^\n]*\n)*(?:[#%][A-Za-z_.0-9]*\{|\{|\[)`)
	erlangOpens  = lazyregexp.New(`^[#%](?:[A-Za-z_][A-Za-z0-9_.@]*)?\{`)
	// erlangRun are values of one run of a program, erlangObject those that Elixir prints with their type.
	erlangRun    = lazyregexp.New(`^(?:<\d+\.\d+\.\d+>|#(?:Port|Ref|PID|Reference|Fun|Function)<[^>\n]*>)`)
	erlangObject = lazyregexp.New(`^(?:#[A-Z][\w.]*<[^>\n]*>|~[A-Za-z]+(?:\[[^\]\n]*\]|"[^"\n]*"|/[^/\n]*/|\([^)\n]*\)))`)
)

// nextErlang reads what comes next in a text of terms.
func nextErlang(r *termReader) error {
	top, near := r.top(), r.text[r.at:min(len(r.text), r.at+maxBegin)]
	c := near[0]
	switch {
	case c == '.' && top == nil: // the end of a document
		r.at++
		r.marks++
		return nil
	case c == '%' && !erlangOpens.Match(near) || c == '#' && bytes.HasPrefix(near, []byte("# ")):
		return r.line()
	case bytes.HasPrefix(near, []byte("...")): // more elements, which are not shown
		r.at += 3
		return nil
	case c == ',' && top != nil && top.complete:
		if top.closes == 0 {
			r.pop(r.at)
			top = r.top()
		}
		if r.namedOnly() {
			return fault(r.at, "%q, expected =>", c)
		}
		top.complete = false
		r.at++
		return nil
	case c == '}' || c == ']':
		return r.closes(c)
	case top != nil && top.complete && r.namedOnly():
		for _, sign := range []string{"=>", ":=", "="} {
			if bytes.HasPrefix(near, []byte(sign)) {
				r.at += len(sign)
				r.marks++
				top.complete = false
				return nil
			}
		}
		return fault(r.at, "%.8q, expected =>", near)
	case top != nil && top.complete:
		return fault(r.at, "%.8q, expected a comma or an end", near)
	}
	return r.erlangValue(near)
}

// line skips the rest of a line.
func (r *termReader) line() error {
	n := bytes.IndexByte(r.text[r.at:], '\n')
	if n < 0 {
		n = len(r.text) - r.at
	}
	r.at += n
	return nil
}

// erlangValue reads a value or the begin of a container.
func (r *termReader) erlangValue(near []byte) error {
	begin, c := r.at, near[0]
	switch {
	case c == '{':
		r.at++
		return r.push(tupleTerm, '}', begin)
	case c == '[':
		r.at++
		return r.push(listTerm, ']', begin)
	case c == '"' || c == '\'':
		_, _, err := r.texts(Text)
		if err == nil && !r.keyword(Text, quotedForm, begin, r.at) {
			r.add(Text, quotedForm, begin, r.at)
		}
		return err
	case bytes.HasPrefix(near, []byte("<<")):
		return r.binary(near)
	case bytes.HasPrefix(near, []byte("MapSet.new([")), bytes.HasPrefix(near, []byte("#MapSet<[")):
		r.at += bytes.IndexByte(near, '[') + 1
		return r.push(setTerm, ']', begin)
	case c == '$' && len(near) > 2:
		r.at += 2
		if near[1] == '\\' {
			r.at++
		}
		r.add(Text, wordForm, begin, r.at)
		return nil
	case c == '#' || c == '<' || c == '%' || c == '~':
		return r.erlangMarked(near)
	}
	return r.erlangWord(near)
}

// erlangMarked reads what begins with a sign: the begin of a map, a pid, an object.
func (r *termReader) erlangMarked(near []byte) error {
	begin := r.at
	r.marks++
	if at := erlangOpens.FindStringIndex(string(near)); at != nil {
		r.at += at[1]
		return r.push(mapTerm, '}', begin)
	}
	if at := erlangRun.FindStringIndex(string(near)); at != nil {
		r.at += at[1]
		r.add(Null, wordForm, begin, r.at)
		return nil
	}
	if at := erlangObject.FindStringIndex(string(near)); at != nil {
		r.at += at[1]
		r.add(Text, wordForm, begin, r.at)
		return nil
	}
	if bytes.IndexByte(near, '\n') < 0 && len(near) < maxBegin {
		return cut(begin, "a value")
	}
	return fault(begin, "%.8q, expected a value", near)
}

// binary reads a binary: <<"text">>, <<"text"/utf8>>, <<1,2>>.
func (r *termReader) binary(near []byte) error {
	begin := r.at
	r.at += 2
	r.marks++
	if len(near) > 2 && near[2] == '"' {
		if _, _, err := r.texts(Text); err != nil {
			return err
		}
		end := r.at
		r.at = len(r.text) - len(bytes.TrimPrefix(r.text[end:], []byte("/utf8")))
		r.add(Text, quotedForm, begin+2, end)
	} else {
		for r.at < len(r.text) && bytes.IndexByte([]byte("0123456789, \t\r\n:"), r.text[r.at]) >= 0 {
			r.at++
		}
		r.add(Text, wordForm, begin, min(len(r.text), r.at+len(">>")))
	}
	if len(r.text) < r.at+len(">>") {
		return cut(begin, "a binary")
	}
	if r.at += len(">>"); !bytes.HasSuffix(r.text[:r.at], []byte(">>")) {
		return fault(begin, "%.20q, expected a binary", near)
	}
	return nil
}

// erlangWord reads an atom or a number.
func (r *termReader) erlangWord(near []byte) error {
	begin, n := r.at, 0
	if near[0] == ':' && len(near) > 1 { // of Elixir
		begin, r.marks = begin+1, r.marks+1
		if near = near[1:]; near[0] == '"' {
			r.at++
			_, _, err := r.texts(Text)
			if err == nil {
				r.add(Text, quotedForm, begin, r.at)
			}
			return err
		}
	}
	for n < len(near) && (isWordByte(near[n]) || bytes.IndexByte([]byte("@.#?!"), near[n]) >= 0 || (near[n] == '-' || near[n] == '+') && (n == 0 || near[n-1]|0x20 == 'e' && near[0] <= '9')) {
		n++
	}
	for n > 0 && near[n-1] == '.' { // the end of a document
		n--
	}
	text := near[:n]
	number, ok := plainNumber(text)
	kind := Text
	switch w, fixed := r.words[string(text)]; {
	case n == 0 || !ok && near[0] <= '9' && bytes.IndexByte(text, '#') < 0:
		return fault(r.at, "%.8q, expected a value", near)
	case fixed && begin+n < len(r.text):
		kind = w.kind
	case number != nil:
		kind = Number
	}
	if r.at = begin + n; r.at == len(r.text) && len(r.open) > 0 {
		return cut(begin, "a value")
	}
	if !r.keyword(kind, wordForm, begin, r.at) {
		r.add(kind, wordForm, begin, r.at)
	}
	return nil
}

// keyword reads the colon after the name of a member in Elixir, if one comes: [hp: 3] is a list of pairs.
func (r *termReader) keyword(kind Kind, form termForm, begin, end int) bool {
	top := r.top()
	if top == nil || top.closes == 0 || top.closes == '}' && r.terms[top.term].shape != mapTerm || kind == Number || r.text[begin] == '\'' || !bytes.HasPrefix(r.text[end:], []byte(": ")) && !bytes.HasPrefix(r.text[end:], []byte(":\n")) {
		return false
	}
	if r.terms[top.term].shape != mapTerm {
		if r.push(tupleTerm, 0, begin) != nil {
			return false
		}
	}
	r.add(Text, form, begin, end)
	r.top().complete = false
	r.at = end + 1
	r.marks++
	return true
}
