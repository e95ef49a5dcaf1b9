package notation

import (
	"bytes"
	"encoding/base64"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxRepeated is how many nodes a document may have with those that aliases repeat, for each node that is written. An alias
// may hold other aliases, so that a few lines mean millions of nodes.
const maxRepeated = 4

// yamlNotation is YAML 1.2, with several documents. Tags other than !!str and !!binary are skipped, and << is a name as
// any other. Unlike the other notations it needs memory for the size of a document.
func yamlNotation() Notation {
	return Notation{Name: "yaml", Title: "YAML", Extensions: []string{".yaml", ".yml"}, Sniff: sniffYAML, Parse: parseYAML}
}

// sniffYAML reports whether a text is maps in block style, or lists of them. A log or a letter may be such a map by
// chance: its keys have blanks or come twice, or its values are sentences.
func sniffYAML(head []byte, whole bool) bool {
	if !yamlLines(head) {
		return false
	}
	for _, text := range complete(head, whole) {
		var s yamlShape
		err := eachYAML(text, s.document)
		if err == nil {
			return s.fits()
		}
	}
	return false
}

// complete returns the complete lines of a text, and also, of one that goes on, its begin up to the last line that is
// not indented.
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

// yamlShape counts what the documents of a text have.
type yamlShape struct {
	pairs, blanks  int // members of maps, and those with a blank in their name
	values, prose  int // scalars, and those of several words
	nested, twice  bool
	flow, sentence bool // a document is no map or list in block style; a name has no letter in front
}

// document counts a document.
func (s *yamlShape) document(n *yaml.Node) error {
	root := n.Content[0]
	s.flow = s.flow || root.Kind == yaml.ScalarNode && root.Value != "" || root.Style&yaml.FlowStyle != 0
	if root.Kind == yaml.SequenceNode {
		for _, item := range root.Content {
			s.flow = s.flow || item.Kind != yaml.MappingNode || item.Style&yaml.FlowStyle != 0
		}
	}
	s.node(root)
	return nil
}

// node counts a node and those in it.
func (s *yamlShape) node(n *yaml.Node) {
	names := map[string]bool{}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			s.pairs++
			if strings.ContainsAny(child.Value, " \t") {
				s.blanks++
			}
			s.twice = s.twice || names[child.Value] || child.Kind != yaml.ScalarNode
			s.sentence = s.sentence || child.Style == 0 && !isName([]byte(child.Value[:min(1, len(child.Value))]))
			names[child.Value] = true
			continue
		}
		if child.Kind != yaml.ScalarNode {
			s.nested = s.nested || len(child.Content) > 0
			s.node(child)
			continue
		}
		s.values++
		if child.Style == 0 && severalWords(child.Value) {
			s.prose++
		}
	}
}

// severalWords reports whether a letter follows a blank in a text. Numbers with blanks between them are a vector.
func severalWords(text string) bool {
	for i := range max(0, len(text)-1) {
		if text[i] == ' ' && isName([]byte{text[i+1]}) {
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
	w := yamlWalk{to: to, lines: []int{0}}
	for i, c := range text {
		if c == '\n' {
			w.lines = append(w.lines, i+1)
		}
	}
	return eachYAML(text, w.document)
}

// eachYAML gives each document of a text to a function.
func eachYAML(text []byte, do func(*yaml.Node) error) error {
	if version := []byte("%YAML 1.2"); bytes.HasPrefix(text, version) { // the library reads it, but knows 1.1 by name
		text = append([]byte("%YAML 1.1"), text[len(version):]...)
	}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var n yaml.Node
		err := d.Decode(&n)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return yamlFault(text, err)
		}
		if err := do(&n); err != nil {
			return err
		}
	}
}

// parserFaults are how the messages begin whose lines the library counts from 0.
var parserFaults = []string{"node content", "key", "',' ", "'-' ", "<"}

// yamlFault returns an error of the library with the offset of its line.
func yamlFault(text []byte, err error) error {
	msg := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 0
	if after, ok := strings.CutPrefix(msg, "line "); ok {
		number, rest, _ := strings.Cut(after, ": ")
		line, _ = strconv.Atoi(number)
		msg = rest
	}
	for _, begin := range parserFaults {
		if strings.HasPrefix(msg, "did not find expected "+begin) {
			line++
		}
	}
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(text[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	if bytes.IndexByte(text[at:], '\n') < 0 || strings.HasSuffix(msg, "end of stream") { // the last line is not complete
		return cut(at, "a value: %s", msg)
	}
	return fault(at, "%s", msg)
}

// yamlWalk gives documents to a Sink.
type yamlWalk struct {
	to    Sink
	lines []int // offsets of the lines
	last  int   // line of the node that was last
	depth int
	nodes int // that may still come
}

// document gives one document to the Sink.
func (w *yamlWalk) document(n *yaml.Node) error {
	w.nodes = maxRepeated * countYAML(n)
	return w.node(n.Content[0])
}

// countYAML returns how many nodes are in a node, without what aliases repeat.
func countYAML(n *yaml.Node) int {
	count := 1
	for _, child := range n.Content {
		count += countYAML(child)
	}
	return count
}

// line returns the offset of a line, which is counted from 1.
func (w *yamlWalk) line(n int) int { return w.lines[max(0, min(n, len(w.lines))-1)] }

// target returns the node that a node is or repeats.
func (w *yamlWalk) target(n *yaml.Node) (*yaml.Node, error) {
	w.last = max(w.last, n.Line)
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if w.nodes--; w.nodes < 0 {
		return n, fault(w.line(w.last), "more than %d times as many nodes with what aliases repeat", maxRepeated)
	}
	return n, nil
}

// node gives a node to the Sink.
func (w *yamlWalk) node(n *yaml.Node) error {
	n, err := w.target(n)
	if err != nil {
		return err
	}
	if n.Kind == yaml.ScalarNode {
		kind, text := yamlScalar(n)
		w.to.Scalar(kind, text)
		return nil
	}
	at := w.line(w.last)
	if w.depth == MaxDepth {
		return fault(at, "more than %d maps and lists within each other", MaxDepth)
	}
	w.depth++
	isMap := n.Kind == yaml.MappingNode
	if isMap {
		w.to.BeginMap(at)
	} else {
		w.to.BeginList(at)
	}
	for i, child := range n.Content {
		if isMap && i%2 == 0 {
			name, err := w.target(child)
			if err != nil {
				return err
			}
			if name.Kind != yaml.ScalarNode {
				return fault(w.line(w.last), "a map or list as the name of a member")
			}
			w.to.Name([]byte(name.Value))
		} else if err := w.node(child); err != nil {
			return err
		}
	}
	w.depth--
	w.to.End(w.line(w.last + 1))
	return nil
}

// yamlWords are the plain scalars that are no text, but for numbers.
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

// likeHash reports whether a number is digits, an e and digits: a text in YAML 1.1, and a number in 1.2. No writer of numbers
// omits both the point and the sign, but a hash may have this form.
func likeHash(number []byte) bool {
	mantissa, exponent, ok := bytes.Cut(bytes.ToLower(number), []byte("e"))
	return ok && bytes.IndexByte(mantissa, '.') < 0 && exponent[0] != '-' && exponent[0] != '+'
}

// yamlScalar returns what a scalar is.
func yamlScalar(n *yaml.Node) (Kind, []byte) {
	text := []byte(n.Value)
	tag := n.ShortTag()
	if tag == "!!binary" {
		raw, err := base64.StdEncoding.AppendDecode(nil, bytes.Join(bytes.Fields(text), nil))
		if err == nil {
			return Bytes, raw
		}
	}
	if n.Style&^yaml.TaggedStyle != 0 || tag == "!!str" && n.Style != 0 {
		return Text, text
	}
	if word, ok := yamlWords[n.Value]; ok {
		return word.kind, []byte(word.text)
	}
	if number, ok := plainNumber(text); ok && !likeHash(number) {
		return Number, number
	}
	return Text, text
}
