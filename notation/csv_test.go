package notation

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// parses checks the calls that a text leads to, without offsets if none are wanted.
func parses(t *testing.T, n Notation, text, want string) {
	t.Helper()
	var got calls
	if err := n.Parse([]byte(text), &got); err != nil {
		t.Errorf("%s: %v", text, err)
	}
	calls := strings.TrimSpace(got.String())
	if !strings.Contains(want, "@") {
		calls = offsets.ReplaceAllString(calls, "")
	}
	if calls != want {
		t.Errorf("%s:\n got %s\nwant %s", text, got.String(), want)
	}
}

var offsets = regexp.MustCompile(`@\d+`)

// fails checks the error that a text leads to, and that a text that is only cut off is called so.
func fails(t *testing.T, n Notation, text, want string) {
	t.Helper()
	e, ok := n.Parse([]byte(text), discard{}).(*Error)
	if !ok || e.Error() != want || e.Cut != strings.Contains(want, "the file ends") {
		t.Errorf("%s:\n got %v\nwant %s", text, e, want)
	}
}

// sniffs checks which texts are taken for a notation.
func sniffs(t *testing.T, n Notation, want bool, texts ...string) {
	t.Helper()
	for _, text := range texts {
		if got := n.Sniff([]byte(text), true); got != want {
			t.Errorf("%s: %.200q: %t", n.Name, text, got)
		}
	}
}

// robust checks that a text leads to an error or none, and to the same calls each time, and that the calls fit together.
func robust(t *testing.T, n Notation, text []byte) {
	t.Helper()
	n.Sniff(text, false)
	n.Sniff(text, true)
	var first, second calls
	var depth nesting
	err := n.Parse(text, &first)
	again := n.Parse(text, &second)
	if fmt.Sprint(err) != fmt.Sprint(again) || first.String() != second.String() {
		t.Fatalf("%q: two answers", text)
	}
	if e, ok := err.(*Error); err != nil && (!ok || e.Offset < 0 || e.Offset > len(text)) {
		t.Fatalf("%q: %#v", text, err)
	}
	if n.Parse(text, &depth); depth.wrong || err == nil && len(depth.open) > 0 {
		t.Fatalf("%q: calls that do not fit together: %s", text, first.String())
	}
}

// nesting is a Sink that checks the order of calls.
type nesting struct {
	open  []byte // '{' or '[' of each container
	named bool   // a name waits for its value
	wrong bool
}

func (n *nesting) value() {
	inMap := len(n.open) > 0 && n.open[len(n.open)-1] == '{'
	n.wrong = n.wrong || inMap != n.named
	n.named = false
}
func (n *nesting) BeginMap(int)        { n.value(); n.open = append(n.open, '{') }
func (n *nesting) BeginList(int)       { n.value(); n.open = append(n.open, '[') }
func (n *nesting) Scalar(Kind, []byte) { n.value() }
func (n *nesting) Item([]byte)         { n.Name(nil) }
func (n *nesting) Name([]byte) {
	n.wrong = n.wrong || n.named || len(n.open) == 0 || n.open[len(n.open)-1] != '{'
	n.named = true
}
func (n *nesting) End(int) {
	if n.wrong = n.wrong || n.named || len(n.open) == 0; !n.wrong {
		n.open = n.open[:len(n.open)-1]
	}
}

func TestCSV(t *testing.T) {
	n := csvNotation()
	parses(t, n, "tick,hp\n5,1.50\n6,\n", `[@0 {@8 "tick": bare(5) "hp": bare(1.50) end@15 {@15 "tick": bare(6) "hp": null() end@18 end@18`)
	parses(t, n, "\xef\xbb\xbf# made by x\r\na\tb c\r\n1\t\"x\"\"\ty\"\r\n", `[@16 {@23 "a": bare(1) "b c": bare(x"	y) end@34 end@34`)
	parses(t, n, `a;b
"line 1
line 2" ; 2,5`, `[@0 {@4 "a": bare(line 1
line 2) "b": bare(2,5) end@25 end@25`)
	parses(t, n, ",x|y\n0,1|2\n\n1,3|4", `[@0 {@5 "#": bare(0) "x|y": bare(1|2) end@11 {@12 "#": bare(1) "x|y": bare(3|4) end@17 end@17`)
	parses(t, n, "a,b\n1,2\na,b\n3,4\n", `[@0 {@4 "a": bare(1) "b": bare(2) end@8 end@8 [@8 {@12 "a": bare(3) "b": bare(4) end@16 end@16`)
	parses(t, n, "tick, id ,x\n1,  2,3 \n", `[@0 {@12 "tick": bare(1) "id": bare(2) "x": bare(3) end@21 end@21`)

	rows := strings.Repeat("1,2\n", 10)
	fails(t, n, "a,b\n"+rows+"3\n4,5\n", "at offset 44: a row with 1 cells, expected 2 as in the header")
	fails(t, n, "a,b\n"+rows+"3\n", "at offset 44: the file ends inside a row with 1 of 2 cells")
	fails(t, n, "a,b\n"+rows+"3,4,5\n", "at offset 44: a row with 3 cells, expected 2 as in the header")
	fails(t, n, "a,b\n"+rows+"3", "at offset 44: the file ends inside a row with 1 of 2 cells")
	fails(t, n, "a,b\n"+rows+"3,\"4\n5", "at offset 46: the file ends inside a cell in quotes")
	fails(t, n, "a,b\n"+rows+"3,\"4\"5\n", `at offset 49: '5' after a cell in quotes, expected ',' or the end of the line`)
	fails(t, n, "1,2\n3,4\n", `at offset 0: "1,2", expected a line with the names of columns`)
	fails(t, n, "a"+strings.Repeat(",b", 1<<14)+"\n", "at offset 32768: more than 16384 columns")
	fails(t, n, "", `at offset 0: "", expected a line with the names of columns`)

	sniffs(t, n, true, "tick,hp\n5,1.50\n", "unit\tx\ny\t1\n", "a;b\n\"1\";\"2\"\n", "x|y\n1|-2e5\n", "Tick,Unit HP,Team (id)\n1,2,red\n", ",a,b\n0,nan,2\n",
		"id,n\n1,2\n3")
	sniffs(t, n, false, "", "a,b", "a,b\n", "a,a\n1,2\n", "1,2\n3,4\n", "a,b\nc,d\n", "a,b\n1,2\n3\n4,5\n",
		"Dear Ann,\nyours, Bob\n", "| a | b |\n|---|---|\n| 1 | 2 |\n", "a | b\n--|--\nx | y\n",
		"[12:00:01] unit 5, hp 3\n[12:00:02] unit 6, hp 4\n", "2026-01-01 12:00:00,123 INFO a\n2026-01-01 12:00:01,124 INFO b\n",
		"Hello, world.\nThis is, 5\n", "x = 1, 2\ny = 2, 3\n", "f(a, 1);\nf(b, 2);\n", "tick: 5, hash: 3\ntick: 6, hash: 5\n", "0\tnone\n1\tkernel\n", "T(A, 1, 2)\nT(B, 2, 3)\n")
	wide := "tick," + strings.Repeat("a_name,", 700)
	sniffs(t, n, false, wide[:4096])
	if !n.Sniff([]byte("tick,unit,hp\n1,2,3\n2,"), false) || !n.Sniff([]byte("a,b,c\n1,2"), false) {
		t.Error("the first bytes of a table")
	}
}

// FuzzCSV compares the cells with those that encoding/csv wrote.
func FuzzCSV(f *testing.F) {
	f.Add([]byte("a,b\n1,\"x\"\"y\"\n\n2,\n"))
	f.Add([]byte("# c\na;b\n1;\"x\ny\"\n"))
	f.Add([]byte("a\tb\r\n1\t2\r\na\tb\r\n3\t4"))
	f.Fuzz(func(t *testing.T, text []byte) {
		robust(t, csvNotation(), text)
		var cells []string
		for _, cell := range bytes.SplitN(bytes.ReplaceAll(text, []byte("\r"), nil), []byte(";"), 8) {
			cells = append(cells, strings.Trim(string(cell), " "))
		}
		if len(cells) == 1 {
			return
		}
		var out bytes.Buffer
		if w := csv.NewWriter(&out); w.Write(cells) != nil || w.Write([]string{"z"}) != nil {
			t.Skip()
		} else {
			w.Flush()
		}
		r := csvReader{text: out.Bytes(), delimiter: ','}
		got, err := r.row(nil)
		if err != nil || !slices.EqualFunc(got, cells, func(a []byte, b string) bool { return string(a) == b }) {
			t.Errorf("%q: got %q, %v", cells, got, err)
		}
	})
}

func BenchmarkCSV(b *testing.B) {
	var text bytes.Buffer
	text.WriteString("tick,unit,type,x,y,hp\n")
	for i := range 20000 {
		fmt.Fprintf(&text, "%d,%d,tank,%d.25,%d.5,100\n", i/100, i%100, i*7%1000, i*13%1000)
	}
	b.SetBytes(int64(text.Len()))
	for b.Loop() {
		if err := parseCSV(text.Bytes(), discard{}); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleOf_csv() {
	text := []byte("tick,hp\n5,1.50\n")
	n := Of("units.csv", text, true)
	var out calls
	if err := n.Parse(text, &out); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s: %s", n.Title, out.String())
	// Output: CSV: [@0 {@8 "tick": bare(5) "hp": bare(1.50) end@15 end@15
}
