package notation

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// calls writes the calls that it gets as one line.
type calls struct{ strings.Builder }

func (c *calls) BeginMap(at int)  { fmt.Fprintf(c, "{@%d ", at) }
func (c *calls) BeginList(at int) { fmt.Fprintf(c, "[@%d ", at) }
func (c *calls) End(at int)       { fmt.Fprintf(c, "end@%d ", at) }
func (c *calls) Name(name []byte) { fmt.Fprintf(c, "%q: ", name) }
func (c *calls) Item(name []byte) { fmt.Fprintf(c, "%q+ ", name) }
func (c *calls) Scalar(kind Kind, text []byte) {
	fmt.Fprintf(c, "%s(%s) ", [...]string{"null", "bool", "number", "text", "bytes", "bare"}[kind], text)
}

func TestJSON(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{`{"tick": 5, "units": [{"id": 7, "hp": 1.50}]}`, `{@0 "tick": number(5) "units": [@21 {@22 "id": number(7) "hp": number(1.50) end@43 end@44 end@45`},
		{`[]`, `[@0 end@2`},
		{"{}\n[1]\n", `{@0 end@2 [@3 number(1) end@6`},
		{`["a\"\u00e9\ud83d\ude00", true, null, NaN, -Infinity, 1e400, -0.0]`, `[@0 text(a"é😀) bool(true) null() number(nan) number(-inf) number(1e400) number(-0.0) end@66`},
		{"// a\n{/* b */\"a\": 1,}", `{@5 "a": number(1) end@21`},
		{"\xef\xbb\xbf[18446744073709551615,0.10000000149]", `[@3 number(18446744073709551615) number(0.10000000149) end@39`},
		{`[[[]],{"a":{}}]`, `[@0 [@1 [@2 end@4 end@5 {@6 "a": {@11 end@13 end@14 end@15`},
	} {
		var got calls
		if err := parseJSON([]byte(c.text), &got); err != nil {
			t.Errorf("%s: %v", c.text, err)
		}
		if strings.TrimSpace(got.String()) != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.text, got.String(), c.want)
		}
	}
	for _, c := range []struct {
		text, want string
		cut        bool
	}{
		{`{"a": 1`, "at offset 7: the file ends inside a map", true},
		{`{"a" 1}`, "at offset 5: '1', expected : after the name of a member", false},
		{`[1 2]`, "at offset 3: '2', expected , or ]", false},
		{`{"a": "b`, "at offset 6: the file ends inside a text in quotes", true},
		{`["\q"]`, `at offset 2: an escape "\\q\"]" that JSON does not have`, false},
		{`[tru`, "at offset 1: the file ends inside a value", true},
		{`[x]`, `at offset 1: "x]", expected a value`, false},
		{strings.Repeat("[", 300), "at offset 256: more than 256 maps and lists within each other", false},
	} {
		err := parseJSON([]byte(c.text), discard{})
		if e, ok := err.(*Error); !ok || e.Error() != c.want || e.Cut != c.cut {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

func TestSniffJSON(t *testing.T) {
	for text, want := range map[string]bool{
		`{"a": 1}`: true, "\xef\xbb\xbf[1, 2]": true, "[1]\n[2]\n": true, "{\"a\": 1}\n{\"a\": ": true, "{}": true,
		"[12] frame 5: sum 7": false, "[12] [net] sum 7": false, "{} and so on": false, `{"a": `: false, "12": false,
	} {
		if got := sniffJSON([]byte(text), true); got != want {
			t.Errorf("%s: %t", text, got)
		}
	}
}

// FuzzJSON compares what is accepted with encoding/json.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{`{"a":[1,2.5e3,"x\n"],"b":null}`, `[{}]`, `{"a":{"b":[true,false]}}`} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		err := parseJSON(text, discard{})
		if json.Valid(text) && err != nil && !strings.Contains(err.Error(), "within each other") {
			t.Errorf("%q: %v", text, err)
		}
	})
}
