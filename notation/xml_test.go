package notation

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

func TestXML(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"<?xml version=\"1.0\"?>\n<world tick=\"5\"><unit id='7'><hp>1.50</hp></unit><unit/></world>\n",
			`{@22 "world": {@22 "tick": bare(5) "unit"+ {@38 "id": bare(7) "hp"+ bare(1.50) end@71 "unit"+ bare() end@86 end@86`},
		{"<a>x &lt;&amp;&#x41;&#66;<![CDATA[<b> &amp;]]>\r\n y</a>", "{@0 \"a\": bare(x <&AB<b> &amp;\n y) end@54"},
		{"<!DOCTYPE a [<!ENTITY x \"]>\"><!-- ' -->]><a><!-- > --><?p >?></a>", `{@41 "a": bare() end@65`},
		{"<a>\n  12\n</a>", `{@0 "a": bare(12) end@13`},
		{"<a> 12 </a>", `{@0 "a": bare( 12 ) end@11`},
		{"<a>one <b>2</b> three\n</a>", `{@0 "a": {@0 "b"+ bare(2) "#text": bare(one  three) end@26 end@26`},
		{`<s:a xmlns:s="u" xmlns="v" s:b="1"/><c/>`, `{@0 "s:a": {@0 "s:b": bare(1) end@36 end@36 {@36 "c": bare() end@40`},
		{"\xef\xbb\xbf<\u00e9 \u00fc = '\u00e4'\n/>", `{@3 "é": {@3 "ü": bare(ä) end@19 end@19`},
	} {
		parses(t, xmlNotation(), c.text, c.want)
	}
	for _, c := range []struct{ text, want string }{
		{"<a><b></a>", `at offset 6: the end of the element "a", expected the end of "b"`},
		{"<a>", `at offset 3: the file ends inside the element "a"`},
		{"</a>", `at offset 0: the end of the element "a", which is not open`},
		{"<a b=c>", `at offset 5: 'c', expected a value in quotes`},
		{"<a b='1'c='2'/>", `at offset 8: 'c', expected a blank or >`},
		{"<a>&lol9;</a>", `at offset 3: "&lol9;", which is not an entity of XML`},
		{"<a>&#xd800;</a>", `at offset 3: "&#xd800;", which is not an entity of XML`},
		{"<a>&am", `at offset 3: the file ends inside an entity`},
		{"<a>1</a> frame 5", `at offset 8: "frame 5", expected an element`},
		{"<a><![CDATA[ ]]", `at offset 3: the file ends inside a CDATA section`},
		{"<!DOCTYPE a [", `at offset 0: the file ends inside a document type`},
		{"<a><!DOCTYPE a></a>", `at offset 3: "<!DOCTYPE", expected an element, a comment or a CDATA section`},
		{strings.Repeat("<a>", 300), "at offset 765: more than 255 elements within each other"},
	} {
		fails(t, xmlNotation(), c.text, c.want)
	}
}

func TestSniffXML(t *testing.T) {
	for text, want := range map[string]bool{
		"<a><b>1</b>": true, "<?xml version=\"1.0\"?>\n<a/>": true, "<!-- x --><a b='1'/>": true,
		"<Ann> hello\n<Bob> desync at frame 5\n": false, "<a>": false, "<!DOCTYPE html><html><p>x</p></html>": false,
		"<12:00:01> frame 5": false, "": false, "a <b/>": false, "<b/> and text": false,
	} {
		if got := sniffXML([]byte(text), true); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// errOther is an input that the reference accepts although it is not well-formed.
var errOther = errors.New("not well-formed")

// referenceXML makes the calls for a text from the tokens of encoding/xml.
func referenceXML(text []byte, to Sink) error {
	type element struct {
		name    string
		at      int
		isMap   bool
		content []byte
	}
	d := xml.NewDecoder(bytes.NewReader(text))
	name := func(n xml.Name) string { return strings.TrimPrefix(n.Space+":"+n.Local, ":") }
	var open []element
	mapOf := func() {
		if e := &open[len(open)-1]; !e.isMap {
			e.isMap = true
			to.BeginMap(e.at)
		}
	}
	for {
		at := int(d.InputOffset())
		token, err := d.RawToken()
		if err == io.EOF && len(open) == 0 {
			return nil
		}
		if err != nil {
			return err
		}
		switch x := token.(type) {
		case xml.Directive:
			if len(open) > 0 || !bytes.HasPrefix(x, []byte("DOCTYPE")) {
				return errOther
			}
		case xml.StartElement:
			if len(open) == 0 {
				to.BeginMap(at)
				to.Name([]byte(name(x.Name)))
			} else {
				mapOf()
				to.Item([]byte(name(x.Name)))
			}
			open = append(open, element{name: name(x.Name), at: at})
			for _, a := range x.Attr {
				if n := name(a.Name); n != "xmlns" && !strings.HasPrefix(n, "xmlns:") {
					mapOf()
					to.Name([]byte(n))
					to.Scalar(Bare, []byte(a.Value))
				}
			}
		case xml.CharData:
			literal := bytes.HasPrefix(text[at:], []byte("<![CDATA["))
			blank := !literal && strings.Trim(string(x), xmlBlanks) == ""
			if len(open) == 0 {
				if !blank {
					return errOther
				}
				continue
			}
			if e := &open[len(open)-1]; !blank || len(e.content) > 0 {
				e.content = append(e.content, x...)
			}
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1].name != name(x.Name) {
				return errOther
			}
			e := open[len(open)-1]
			open = open[:len(open)-1]
			trimmed := strings.Trim(string(e.content), xmlBlanks)
			around := strings.Replace(string(e.content), trimmed, "", 1)
			if e.isMap {
				if trimmed != "" {
					to.Name([]byte("#text"))
					to.Scalar(Bare, []byte(trimmed))
				}
				to.End(int(d.InputOffset()))
			} else if trimmed == "" || strings.Contains(around, "\n") {
				to.Scalar(Bare, []byte(trimmed))
			} else {
				to.Scalar(Bare, e.content)
			}
			if len(open) == 0 {
				to.End(int(d.InputOffset()))
			}
		}
	}
}

// FuzzXML compares what encoding/xml accepts.
func FuzzXML(f *testing.F) {
	for _, text := range []string{
		"<?xml version='1.0' encoding='utf-8'?><a b='1' c=\"&quot;x&#10;\"><d>1</d> y <d/><![CDATA[ z ]]>\r\n</a>",
		"<!DOCTYPE a [<!ELEMENT b (#PCDATA)>]><a xmlns:x='u'><x:b/>\n12<!-- c -->3\n</a><a>&apos;\r</a>", "<a><b",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var got, want calls
		err := parseXML(text, &got)
		if referenceXML(text, &want) != nil {
			return
		}
		if err == nil {
			if got.String() != want.String() {
				t.Errorf("%q:\n got %s\nwant %s", text, got.String(), want.String())
			}
			return
		}
		for _, stricter := range []string{"within each other", "expected a blank or >", "not an entity of XML", "a document type", "expected an element"} {
			if strings.Contains(err.Error(), stricter) {
				return
			}
		}
		t.Errorf("%q: %v", text, err)
	})
}

// units calls write for each of many units, until a text has a megabyte.
func units(write func(out *bytes.Buffer, id int)) []byte {
	var out bytes.Buffer
	for id := 0; out.Len() < 1<<20; id++ {
		write(&out, id)
	}
	return out.Bytes()
}

func benchmark(b *testing.B, n Notation, text []byte) {
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if err := n.Parse(text, discard{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkXML(b *testing.B) {
	benchmark(b, xmlNotation(), units(func(out *bytes.Buffer, id int) {
		fmt.Fprintf(out, "  <unit id=\"%d\" owner=\"%d\">\n    <hp>%g</hp>\n    <name>Scout &amp; %d</name>\n    <x>%d</x>\n  </unit>\n", id, id%8, float64(id)/3, id, id*7)
	}))
}

func BenchmarkJSON(b *testing.B) {
	benchmark(b, jsonNotation(), units(func(out *bytes.Buffer, id int) {
		fmt.Fprintf(out, "{\"id\": %d, \"owner\": %d, \"hp\": %g, \"name\": \"Scout %d\", \"x\": [%d, 7]}\n", id, id%8, float64(id)/3, id, id*7)
	}))
}
