package notation

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"
	"pgregory.net/rapid"
)

// library gives the documents of a text to a Sink as go.yaml.in/yaml reads them, without offsets.
func library(text []byte, to Sink) error {
	text = bytes.Replace(text, []byte("%YAML 1.2"), []byte("%YAML 1.1"), 1) // it reads 1.2, but knows 1.1 by name
	marks, objects := !yamlAlias.Match(text), !yamlAlias.Match(text) && areObjects(text)
	if objects {
		to.BeginMap(0)
	}
	for d := yaml.NewDecoder(bytes.NewReader(text)); ; {
		var n yaml.Node
		if err := d.Decode(&n); err == io.EOF {
			if objects {
				to.End(0)
			}
			return nil
		} else if err != nil {
			return err
		}
		root := n.Content[0]
		if objects {
			if len(root.Content) != 2 {
				return fmt.Errorf("line %d: not an object", root.Line)
			}
			to.Item([]byte(root.Content[0].Value))
			root.Content[1].Anchor, root = root.Anchor, root.Content[1]
		}
		if err := libraryNode(root, to, 0, marks); err != nil {
			return err
		}
	}
}

// libraryNode gives a node to a Sink.
func libraryNode(n *yaml.Node, to Sink, depth int, marks bool) error {
	if depth > 20 {
		return fmt.Errorf("line %d: deeper than the tests are", n.Line)
	}
	switch n.Kind {
	case yaml.AliasNode:
		return libraryNode(n.Alias, to, depth+1, marks)
	case yaml.ScalarNode:
		tag := n.ShortTag()
		if n.Style&yaml.TaggedStyle == 0 && tag != "!!binary" {
			tag = ""
		}
		to.Scalar(yamlScalar([]byte(n.Value), n.Style&^yaml.TaggedStyle == 0, tag))
		return nil
	case yaml.MappingNode:
		to.BeginMap(0)
		if n.Anchor != "" && marks {
			to.Name([]byte("#id"))
			to.Scalar(yamlScalar([]byte(n.Anchor), true, ""))
		}
	default:
		to.BeginList(0)
	}
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && i%2 == 0 {
			if child.Kind == yaml.AliasNode {
				child = child.Alias
			}
			if child.Kind != yaml.ScalarNode {
				return fmt.Errorf("line %d: %s", child.Line, notName)
			}
			to.Name([]byte(child.Value))
		} else if err := libraryNode(child, to, depth+1, marks); err != nil {
			return err
		}
	}
	to.End(0)
	return nil
}

// sameAsLibrary compares what a text leads to with what the library reads.
func sameAsLibrary(t interface{ Errorf(string, ...any) }, text string) {
	var got, want calls
	err := parseYAML([]byte(text), &got)
	wantErr := library([]byte(text), &want)
	if (err == nil) != (wantErr == nil) {
		t.Errorf("%q:\n%s\n got error %v\nwant error %v", text, text, err, wantErr)
	} else if a, b := offsets.ReplaceAllString(got.String(), ""), offsets.ReplaceAllString(want.String(), ""); err == nil && a != b {
		t.Errorf("%q:\n%s\n got %s\nwant %s", text, text, a, b)
	}
}

// Texts that the library reads.
var yamlTexts = []string{
	"", "\n", "# c\n", "---\n", "a", "a: 1", "- a", "\xef\xbb\xbfa: 1\n", "a: 1\r\nb:\r\n  - c\r\n  - d\r\n", "--- a\n", "--- a\n---\nb\n",
	"a: 1\n---\nb: 2\n...\n---\n- c\n", "%YAML 1.2\n---\na: 1\n", "%TAG ! tag:x,2000:\n---\na: 1\n", "--- # c\na: 1\n",
	// Block collections.
	"a:\n- 1\n- 2\nb: 3\n", "a:\n  - 1\n  -\n    b: 2\n    c: 3\n  -   d: 4\n      e: 5\n", "- - a\n  - b\n- - - c\n", "-\n  - a\n-\n- b\n", "a:\n  b:\n    c: 1\n  d: 2\n",
	"a:\nb:\n  c:\nd: ~\n", "- a:\n  - b\n  c: d\n- e:\n- f\n", "a:   # c\n\n  # d\n  b: 1 # e\n# f\n  c: 2\n", "a :  1\n", "\"a b\" : 1\n'c''d': 2\n",
	"  a: 1\n  b: 2\n", "a:\n    b: 1\nc:\n  d: 1\n", "a: - b\n", "- a\nb: 1\n", "a: 1\n- b\n", "a: 1\n  b: 2\n", "a:\n    b: 1\n  c: 2\n", "a: b: c\n", "a: 'b': c\n", "a: 1 b\n c\n",
	"a:\n\t- b\n", "\ta: 1\n", "a:\tb\t\n", "a: 1\nb\n", "a: 1\nb:2\n", "a:1\n", "a: 'b' c\n", "a: [b] c\n", "- a\n - b\n", "-a: 1\n-b: 2\n", ":a: 1\n", "?a: 1\n", "-\n", ":\n", "a: :b\n", "a: -\n", "a: ?b\n",
	// Plain scalars.
	"a: b\n  c\n\n  d\ne: f\n", "a:\n  b\n  c\n", "a: b#c #d\n", "a: b # c\n  d\n", "a\nb\n", "a\nb: c\n", "a: b\n  - c\n", "a: b\n  c: d\n", "a: x:y:z\n", "a: http://b/c?d=e#f\n", "a: C:\\b\n", "a: b, c]}\n",
	"a: @b\n", "a: `b\n", "a: %b\n", "a: b\n c\n#d\n e\n", "a: b @c %d &e *f !g |h >i\n", "- --- \n", "a: --- b\n", "a: b\n---\nc: d\n", "é: ü\n", "a: \x01\n", "a: \x7f\n", "a: b\n   \n  c\n",
	// Quoted scalars.
	"a: \"b\n  c\n\n  d \\\n  e\\\n\n   f\"\n", "a: 'b\n  c\n\n\n  d  \n e'\n", "a: 'it''s'\n", "a: ''\nb: \"\"\n", "a: ''''\n", "a: '\\n'\n",
	"a: \"\\q\"\n", "a: \"\\x4\"\n", "a: 'b\n---\nc'\n", "'a\n b': c\n", "a: \"b # c\"\n", "a: \"b\" # c\n", "a: \"b: c\"\n", "\"a\\tb\": 1\n", "a: \" b \\\n  \\  c \"\n", "a: \"b\\  \n c\"\n", "a: \"\n\n b\n\"\n", "a: 'b'c\n",
	// Literal and folded blocks.
	"a: |\n  b\n  c\nd: e\n", "a: |-\n  b\n\n\nd: e\n", "a: |+\n  b\n\n\nd: e\n", "a: >\n  b\n  c\n\n  d\n   e\n  f\n\n\n   g\n\n  h\n", "a: |2\n   b\n  c\n", "a: |1-\n  b\n", "a: |-1\n  b\n", "a: | # c\n  b\n",
	"a: |\n\n  b\n\n", "a: >\n\n\n  b\n  c", "a: |", "a: |\n", "a: |+\n\n", "a: >-\n  b\n  \n  c\n# d\n", "- |\n b\n- >\n c\n", "- - |\n  b\n", "a: |\n  b\n c\n", "a: |x\n  b\n", "a: |0\n  b\n", "a: |\n  b\n  # c\n# d\ne: f\n",
	"a: >\n  b\n\t\n  c\n", "a: >\n   b\n    c\n   d\n", "a: >2\n    b\n  c\n", "a: |\r\n  b\r\n  c\r\n", "a:\n  b: |\n    c\n  d: e\n", "a: >\n\n    b\n  c\n", "- |-\n\n     \n  b\n", "a: |\n      \n    b\n", "a: |\n  \n    b\n", "a: !t |\n  b\n", "a: &x |\n  b\nc: *x\n", "--- |\n  a\n  b\n", "--- >\n a\n---\nb\n",
	// Flow collections.
	"a: {b: 1, c: [d, e], f: {}, g: []}\n", "[a, b, ]\n", "{a: 1, }\n", "[a: 1, b: 2]\n", "{a, b: , c: ~}\n", "{\"a\":1, 'b':\"c\"}\n", "{a:1}\n", "[a\n  b, c # d\n  , e]\n", "a: [b,\n  c,\n\n  d]\ne: f\n",
	"[, a]\n", "[a, , b]\n", "{a: b: c}\n", "[a", "[a}\n", "{a]\n", "[a, b\n", "[a]: 5\n", "{a: 1}: 5\n", "{[a]: 5}\n", "[[a], {b: c}, [[]]]\n", "[a b c, d e]\n", "[-1, - 2]\n", "[-1, -x]\n", "{a: 'b\n  c'}\n", "a: {b: 1}}\n",
	"[a\n---\nb]\n", "[\"a\" b]\n", "{a: 1 b: 2}\n", "[a, b] c\n", "[\"a\": b]\n", "[{a: b}: c]\n", "{a: [1,\n2], b: {c:\n d}}\n", "[a#b, c]\n", "[a #b\n, c]\n", "[@a]\n", "{a: |\n b}\n", "{\n  \"a\": 1,\n  \"b\": [\n    2\n  ]\n}\n",
	"{x: 0.5, y: -1e-05, z: .inf}\n", "[!!str 5, !t {a: b}, !!str ]\n", "{!!str a: &x b, c: *x}\n", "[*x]\n", "- {a: 1}\n- [b]\n", "[a, {b, c}]\n", "[\t a\t,\n\tb]\n", "{a: &x , b: *x }\n",
	// Anchors, aliases and tags.
	"a: &x 1\nb: *x\n", "a: &x\n  b: 1\nc: *x\n", "- &x [a, b]\n- *x\n- c: *x\n  d: *x\n", "&x a: 1\n*x : 2\n", "a: &x b\n*x : c\n", "&x a: *x\n", "- &x a: 1\n- *x\n", "&x\na: 1\n", "--- &x\na: 1\n", "--- &x !t\n- a\n", "a: &x &y b\n",
	"a: *x\n", "a: &x\nb: *x\n", "a: &x 'b'\nc: *x\nd: &x e\nf: *x\n", "a: &x {b: &y 1}\nc: [*x, *y]\n", "<<: {a: 1}\n", "a: !!str 5\nb: !!int 5\nc: !!float 5\nd: !!binary R0lG\ne: !x 5\nf: !<tag:yaml.org,2002:str> 5\n", "a: !!str\nb: !!null\n",
	"a: !t\n  b: 1\n", "!!map {a: !!seq [1]}\n", "!t a: 1\n", "a: !!binary |\n  R0lG\n  R0lG\n", "- !t\n- &a\n- !!str\n", "a: !!str 'b'\nc: !!str |\n  d\n", "a: &x\n- b\nc: *x\n", "a: !t # c\n  b: 1\n", "a: &x # c\n- 1\n", "- &a\n  id: 1\n- !U\n  id: 2\n",
	"%YAML 1.1\n%TAG !u! tag:unity3d.com,2011:\n--- !u!114 &11400000\nMonoBehaviour:\n  m_Name: a\n  m_Pos: {x: 1, y: 2}\n--- !t &2\nGameObject:\n  m_List:\n  - {fileID: 0}\n  - component: {fileID: 4}\n",
}

func TestYAMLLibrary(t *testing.T) {
	for _, text := range yamlTexts {
		sameAsLibrary(t, text)
	}
}

// fragments make lines of YAML.
var fragments = []string{
	"a", "b: ", "c:", "- ", "-", "  ", "  ", " ", "\n", "\n", "\n", "\n  ", "\n  - ", "\n- ", "1", "-2.50", "~", "'x'", "\"y\"", "'it''s'", "\"\\n\"", "{", "}", "[", "]", ", ", ",", ": ", ":",
	" # d\n", "#", "|", ">", "|-\n", ">+\n", "&x ", "*x", "!!str ", "!t ", "---\n", "--- ", "...\n", "\\", "\"", "'", "true", "0x1f", "e f", "b: 1\n", "  c: 2\n", "d:\n", "- e\n", "é", "\t",
}

// tight matches a colon without a blank, which the library reads otherwise in flow style.
var tight = regexp.MustCompile(`(?s)[[{].*:\S`)

// TestYAMLFragments compares what both accept.
func TestYAMLFragments(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 20).Draw(t, "text"), "")
		if !tight.MatchString(text) && parseYAML([]byte(text), discard{}) == nil && library([]byte(text), discard{}) == nil {
			sameAsLibrary(t, text)
		}
	})
}

// TestYAMLWritten compares what the library writes in any style.
func TestYAMLWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		nodes := 0
		text, err := yaml.Marshal(drawNode(t, 0, &nodes))
		if err != nil || library(text, discard{}) != nil { // it does not read all that it writes
			t.Skip()
		}
		sameAsLibrary(t, string(text))
	})
}

// drawNode makes a node.
func drawNode(t *rapid.T, depth int, nodes *int) *yaml.Node {
	scalar := &yaml.Node{Kind: yaml.ScalarNode, Value: drawText(t), Style: rapid.SampledFrom([]yaml.Style{
		0, 0, yaml.DoubleQuotedStyle, yaml.SingleQuotedStyle, yaml.LiteralStyle, yaml.FoldedStyle}).Draw(t, "style")}
	*nodes++
	kind := rapid.SampledFrom([]yaml.Kind{yaml.ScalarNode, yaml.MappingNode, yaml.SequenceNode}).Draw(t, "kind")
	if depth == 4 || *nodes > 40 || depth > 0 && kind == yaml.ScalarNode {
		return scalar
	}
	n := &yaml.Node{Kind: kind, Style: rapid.SampledFrom([]yaml.Style{0, 0, yaml.FlowStyle}).Draw(t, "style")}
	if kind == yaml.ScalarNode {
		n.Kind = yaml.MappingNode
	}
	for range rapid.IntRange(0, 4).Draw(t, "members") {
		if n.Kind == yaml.MappingNode {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: rapid.SampledFrom([]string{"a", "b c", "d: ", "5", "#", "-", "é"}).Draw(t, "name")})
		}
		n.Content = append(n.Content, drawNode(t, depth+1, nodes))
	}
	return n
}

// drawText makes a text with what has a meaning in YAML.
func drawText(t *rapid.T) string {
	parts := []string{"a", "b", " ", "\n", "\n", ":", ": ", "#", " #", "-", "- ", "'", "\"", "\\", "{", "]", ",", "1", "0.5", "~", "\t", "é", "|", "%", "@", "---", "\x00",
		"a rather long text that is folded because it goes on for more than eighty columns in a line "}
	return strings.Join(rapid.SliceOfN(rapid.SampledFrom(parts), 0, 8).Draw(t, "text"), "")
}
