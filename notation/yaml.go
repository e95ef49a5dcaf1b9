package notation

import (
	"bytes"
	"encoding/base64"
)

// yamlNotation is YAML 1.2, with several documents. Tags of the core schema are known, others are skipped, << is a name as
// any other, and no map or list is the name of a member. The anchor of a map is its member #id, unless the text has aliases:
// --- !u!114 &303
func yamlNotation() Notation {
	return Notation{Name: "yaml", Title: "YAML", Extensions: []string{".yaml", ".yml"}, Lines: true, Sniff: sniffYAML, Parse: parseYAML}
}

// sniffYAML reports whether a text is maps in block style, or lists of them. A log or a letter may be such a map by
// chance: its keys have blanks or come twice, or its values are sentences.
func sniffYAML(head []byte, whole bool) bool {
	if !yamlLines(head) {
		return false
	}
	for _, text := range complete(head, whole) {
		p := yamlParser{text: text}
		s := yamlShape{p: &p}
		p.to = &s
		if p.documents() == nil {
			return s.fits()
		}
	}
	return false
}

// complete returns the complete lines of a text and, if the text continues, also its beginning up to the last line that
// is not indented.
func complete(head []byte, whole bool) (texts [][]byte) {
	if whole {
		return [][]byte{head}
	}
	end := bytes.LastIndexByte(head, '\n') + 1
	texts = append(texts, head[:end])
	for begin := end; begin > 1; {
		begin = bytes.LastIndexByte(head[:begin-1], '\n') + 1
		if bytes.IndexByte([]byte(" \t\r\n#]})"), head[begin]) < 0 {
			return append(texts, head[:begin])
		}
	}
	return texts
}

// yamlLines reports whether a text begins with a key or a list, and at least three lines have a key.
func yamlLines(text []byte) bool {
	keys := 0
	for line := range bytes.Lines(text[bomLen(text):]) {
		line = bytes.TrimSpace(line)
		begin := len(line) > 0 && line[0] != '#' && line[0] != '%' && !bytes.HasPrefix(line, []byte("---"))
		line = bytes.TrimLeft(line, "- ")
		key, value, ok := bytes.Cut(line, []byte(":"))
		ok = ok && len(key) > 0 && key[0] != '{' && key[0] != '[' && (len(value) == 0 || value[0] == ' ')
		if begin && keys == 0 && !ok && len(line) > 0 && line[0] != '&' && line[0] != '!' {
			return false
		}
		if ok {
			keys++
		}
	}
	return keys > 2
}

// yamlShape is a Sink that counts what the documents of a text have.
type yamlShape struct {
	p              *yamlParser
	open           []map[string]bool // names of each open map; nil for a list
	pairs, blanks  int               // members of maps, and those with a blank in their name
	values, prose  int               // scalars, and scalars of several words
	nested, twice  bool
	flow, sentence bool // a document is not a map or list in block style; a name has no letter in front
}

// begin counts a map or list.
func (s *yamlShape) begin(names map[string]bool) {
	inList := len(s.open) == 1 && s.open[0] == nil
	s.flow = s.flow || len(s.open) == 0 && s.p.flows > 0 || inList && (s.p.flows > 0 || names == nil)
	s.nested = s.nested || len(s.open) > 1
	s.open = append(s.open, names)
}

func (s *yamlShape) BeginMap(int)  { s.begin(map[string]bool{}) }
func (s *yamlShape) BeginList(int) { s.begin(nil) }
func (s *yamlShape) End(int)       { s.open = s.open[:len(s.open)-1] }
func (s *yamlShape) Item([]byte)   {}

func (s *yamlShape) Name(name []byte) {
	names := s.open[len(s.open)-1]
	s.pairs++
	if bytes.ContainsAny(name, " \t") {
		s.blanks++
	}
	s.nested = s.nested || len(s.open) > 1
	s.twice = s.twice || names[string(name)]
	s.sentence = s.sentence || s.p.plain && !isName(name[:min(1, len(name))])
	names[string(name)] = true
}

func (s *yamlShape) Scalar(kind Kind, text []byte) {
	s.nested = s.nested || len(s.open) > 1
	s.flow = s.flow || len(s.open) == 0 && kind != Null || len(s.open) == 1 && s.open[0] == nil
	s.values++
	if s.p.plain && severalWords(text) {
		s.prose++
	}
}

// severalWords reports whether a letter follows a blank in a text. Numbers with blanks between them are a vector.
func severalWords(text []byte) bool {
	for i := range max(0, len(text)-1) {
		if text[i] == ' ' && isName(text[i+1:i+2]) {
			return true
		}
	}
	return false
}

// fits reports whether the text is data.
func (s *yamlShape) fits() bool {
	if s.flow || s.twice || s.pairs < 3 || 2*s.blanks > s.pairs {
		return false
	}
	if s.nested {
		return 2*s.prose <= s.values
	}
	return !s.sentence && s.blanks == 0 && 4*s.prose <= s.values
}

func parseYAML(text []byte, to Sink) error {
	p := yamlParser{text: text, to: to}
	return p.documents()
}

// yamlWords are the plain scalars that are not text, except numbers.
var yamlWords = map[string]struct {
	kind Kind
	text string
}{
	"": {Null, ""}, "~": {Null, ""}, "null": {Null, ""}, "Null": {Null, ""}, "NULL": {Null, ""},
	"true": {Bool, "true"}, "True": {Bool, "true"}, "TRUE": {Bool, "true"},
	"false": {Bool, "false"}, "False": {Bool, "false"}, "FALSE": {Bool, "false"},
	".inf": {Number, "inf"}, ".Inf": {Number, "inf"}, ".INF": {Number, "inf"}, "+.inf": {Number, "inf"},
	"-.inf": {Number, "-inf"}, "-.Inf": {Number, "-inf"}, "-.INF": {Number, "-inf"},
	".nan": {Number, "nan"}, ".NaN": {Number, "nan"}, ".NAN": {Number, "nan"},
}

// likeHash reports whether a number is digits, an e and digits: a text in YAML 1.1, and a number in 1.2. No writer of
// numbers omits both the point and the sign, but a hash may have this form.
func likeHash(number []byte) bool {
	mantissa, exponent, ok := bytes.Cut(bytes.ToLower(number), []byte("e"))
	return ok && bytes.IndexByte(mantissa, '.') < 0 && exponent[0] != '-' && exponent[0] != '+'
}

// yamlScalar returns the kind of a scalar. Plain reports whether it has no quotes and is not a block.
func yamlScalar(text []byte, plain bool, tag string) (Kind, []byte) {
	if tag == "!!binary" {
		raw, err := base64.StdEncoding.AppendDecode(nil, bytes.Join(bytes.Fields(text), nil))
		if err == nil {
			return Bytes, raw
		}
	}
	switch tag {
	case "!!str":
		plain = false
	case "!!int", "!!float", "!!bool", "!!null": // of a writer that has all in quotes
		plain = true
	}
	if !plain {
		return Text, text
	}
	if len(text) <= len("false") {
		if word, ok := yamlWords[string(text)]; ok {
			return word.kind, []byte(word.text)
		}
	}
	if number, ok := plainNumber(text); ok && !likeHash(number) {
		return Number, number
	}
	return Text, text
}
