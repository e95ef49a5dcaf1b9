// Package notation reads data in ordinary notations, such as JSON, XML, YAML and CSV, as one stream of values.
//
// A document is a value. A value is a scalar, a map of named members, or a list of elements. A file may contain several
// documents, one after the other, as JSON Lines do.
//
// Each [Notation] recognises its files, and parses a text into calls of a [Sink]:
//
//	{"tick": 5, "units": [{"id": 7, "hp": 1.50}]}
//
//	BeginMap(0)
//	  Name("tick")   Scalar(Number, "5")
//	  Name("units")  BeginList(21)
//	    BeginMap(22)
//	      Name("id")  Scalar(Number, "7")
//	      Name("hp")  Scalar(Number, "1.50")
//	    End(43)
//	  End(44)
//	End(45)
//
// A parser keeps every digit of a number. It needs memory for the depth of the document, not for its size; the parser
// of TOML keeps a document, and the parser of YAML keeps nodes with anchors if there are aliases.
package notation

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// MaxDepth is how deep maps and lists may be nested. Deeper ones are an error.
const MaxDepth = 256

// Kind is the kind of a scalar.
type Kind uint8

// The kinds of scalars, with their texts.
const (
	Null   Kind = iota // empty
	Bool               // true or false
	Number             // as the file has it: a number of JSON, or inf, -inf or nan; hexadecimal and other forms are converted
	Text               // unescaped, UTF-8 where the file is; other bytes are kept
	Bytes              // raw bytes
	Bare               // unescaped text of a notation without types, such as an attribute of XML: a number if it looks like one
)

// Sink takes documents while they are read. Offsets are positions in the text. The bytes that a Sink is given are valid
// until it returns.
//
// The members of a map may be given in pieces: if the name of a map comes again, the second map adds to the first.
type Sink interface {
	BeginMap(at int)
	BeginList(at int)
	// End ends the current map or list. At is the offset after it.
	End(at int)
	// Name begins the next member of the current map. Its value follows.
	Name(name []byte)
	// Item begins the next member of the current map in a notation that repeats names instead of writing lists: two
	// elements <unit> in a row are a list of two, and one alone may be a list of one.
	Item(name []byte)
	Scalar(kind Kind, text []byte)
}

// Placer is a Sink that takes the place of the next name or scalar. Only TOML reports it: other notations have only the
// offsets of maps and lists.
type Placer interface {
	Sink
	At(offset int)
}

// Notation is one notation.
type Notation struct {
	Name       string   // short, for machines: "json"
	Title      string   // for people: "JSON"
	Extensions []string // with the dot, in lower case

	// Lines means that any line may be the last, so that only a line that does not end shows that a text is cut.
	Lines bool

	// Loose means that logs and orders may have the same form. A file is taken for one of these first.
	Loose bool

	// Repeats means that a list is written by Item or by its rows alone, so that an empty list and no list are the same.
	Repeats bool

	// Sniff reports whether a text begins like one in this notation. Whole means that head is all of it. It is strict:
	// prose and logs are not in any notation.
	Sniff func(head []byte, whole bool) bool

	// Parse reads a whole text. A text that it cannot read gives an *[Error]. The Sink has then received the part
	// before the fault.
	Parse func(text []byte, to Sink) error
}

// Check parses a whole text and discards the result.
func (n *Notation) Check(text []byte) error { return n.Parse(text, discard{}) }

// Error is where a text is not in its notation.
type Error struct {
	Offset int    // in bytes
	Msg    string // the text that was found, and the expectation
	Cut    bool   // the text ends too early
}

func (e *Error) Error() string { return fmt.Sprintf("at offset %d: %s", e.Offset, e.Msg) }

// In returns the error of a file of that name, with the line if the file is text.
func (e *Error) In(name string, text []byte) error {
	before := text[:min(e.Offset, len(text))]
	msg := e.Msg
	if bytes.IndexByte(before, 0) < 0 {
		msg = fmt.Sprintf("line %d: %s", 1+bytes.Count(before, []byte("\n")), e.Msg)
	}
	err := frame.ErrCorrupt
	lost := int64(0)
	if e.Cut {
		err, lost = frame.ErrTorn, int64(len(text)-len(before))
	}
	return &frame.Error{Name: name, Offset: int64(e.Offset), Lost: lost, Msg: msg, Err: err}
}

// bomLen returns the length of the mark of UTF-8 that a text begins with, which may be none.
func bomLen(text []byte) int {
	if bytes.HasPrefix(text, []byte("\xef\xbb\xbf")) {
		return 3
	}
	return 0
}

// fault returns an Error.
func fault(at int, format string, args ...any) error {
	return &Error{Offset: at, Msg: fmt.Sprintf(format, args...)}
}

// cut returns the Error of a text that ends too early.
func cut(at int, format string, args ...any) error {
	return &Error{Offset: at, Msg: "the file ends inside " + fmt.Sprintf(format, args...), Cut: true}
}

// All returns the notations in the order in which they are tried: the strictest first.
func All() []Notation {
	return []Notation{
		jsonNotation(),
		numpyNotation(),
		xmlNotation(),
		debuggerNotation(),
		sqlNotation(),
		erlangNotation(),
		pythonNotation(),
		luaNotation(),
		rustNotation(),
		javascriptNotation(),
		snbtNotation(),
		beginEndNotation(),
		namelistNotation(),
		textprotoNotation(),
		sexpNotation(),
		printedNotation(),
		pathsNotation(),
		tomlNotation(),
		yamlNotation(),
		csvNotation(),
		columnsNotation(),
		treeNotation(),
		headedNotation(),
		indentedNotation(),
		iniNotation(),
		rowsNotation(),
		msgpackNotation(),
		cborNotation(),
	}
}

// Of returns the notation of a text from its first bytes, and from its name if these fit several; nil if there is none.
// A whole text that does not end with a line end may be cut off, and has the same notation as if it were a beginning.
func Of(name string, head []byte, whole bool) *Notation {
	list := All()
	torn := whole && !bytes.HasSuffix(head, []byte("\n"))
	fits := func(n *Notation) bool { return n.Sniff(head, whole) || torn && n.Sniff(head, false) }
	loose := -1
	for i := range list {
		if list[i].Loose {
			loose = i
		} else if fits(&list[i]) {
			return &list[i]
		}
	}
	if i := slices.IndexFunc(list, func(n Notation) bool { return n.Name == "csv" }); list[i].named(name) && namedCSV(head, whole) {
		return &list[i]
	}
	if fits(&list[loose]) {
		return &list[loose]
	}
	return nil
}

// MayBeCSV reports whether Of may return CSV. It tries no other notation.
func MayBeCSV(name string, head []byte, whole bool) bool {
	csv := csvNotation()
	return csv.Sniff(head, whole) || csv.Sniff(head, false) || csv.named(name)
}

// named reports whether a file has an extension of a notation, perhaps before the one of its compression.
func (n *Notation) named(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(n.Extensions, func(e string) bool { return strings.HasSuffix(name, e) || strings.Contains(name, e+".") })
}
