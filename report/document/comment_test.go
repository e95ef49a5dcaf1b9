package document

import (
	"bytes"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// hostile are texts that files may hold, to be taken for commands of Markdown, chats and hosts
// of code.
var hostile = []string{
	"", " ", "@everyone", "@here", "<@123456>", "<@&99>", "<#42>", "#1", "a#1", "!7", "GH-12", "&3", "%4", "$5", "~bug", "user/repo#3", "/close", "/label ~bug", "# heading",
	"- item", "1. item", "https://example.org/x", "www.example.org", "[text](https://example.org)", "![x](http://example.org/i.png)", "<b>bold</b>", "<script>", "```", "`", "``x``",
	"**", "_x_", "|a|b|", "\n# heading\n", "\x00\x1b[31m", "\u202egnp.exe", "\xff\xfe", "name@example.org", ":smile:", "\u200b@everyone", "mailto:a@b.org",
	strings.Repeat("名", 3000), strings.Repeat("@", 500), strings.Repeat("`", 999), strings.Repeat("#1 ", 700), strings.Repeat("\u0301", 1000),
}

func drawText(t *rapid.T, name string) string {
	if rapid.Bool().Draw(t, name+" is hostile") {
		return rapid.SampledFrom(hostile).Draw(t, name)
	}
	return rapid.StringN(0, 60, -1).Draw(t, name)
}

// drawReport draws a report of any content, as a file that is read may hold it.
func drawReport(t *rapid.T) *Report {
	text := func(name string) string { return drawText(t, name) }
	texts := func(name string, most int) (list []string) {
		for range rapid.IntRange(0, most).Draw(t, name) {
			list = append(list, text(name))
		}
		return list
	}
	number := func(name string) uint64 { return rapid.Uint64().Draw(t, name) }
	r := &Report{Head: Head{Status: rapid.SampledFrom([]Status{Diverged, Diverged, InSync, Inconclusive, Failed, "?"}).Draw(t, "status")}}
	r.Verdict, r.Missing = texts("verdict", 5), texts("missing", 6)
	r.Session = Session{Game: text("game"), Build: text("build")}
	for range rapid.IntRange(0, 12).Draw(t, "peers") {
		p := TriagedPeer{Name: text("peer"), Group: rapid.IntRange(0, 5).Draw(t, "group")}
		if rapid.Bool().Draw(t, "replayed") {
			is := rapid.Bool().Draw(t, "right")
			p.MatchesReference = &is
		}
		r.Peers = append(r.Peers, p)
	}
	if rapid.Bool().Draw(t, "first") {
		good := number("good")
		r.FirstDivergence = &FirstDivergence{System: text("system"), Bracket: &BracketDocument{Bad: number("bad")}, Wrong: texts("wrong", 5)}
		if rapid.Bool().Draw(t, "loaded") {
			r.FirstDivergence.Loaded = text("who loaded")
		}
		if rapid.Bool().Draw(t, "named") {
			r.FirstDivergence.Bracket.Native = &bracketNative{Bad: "an unknown " + text("bad")}
		}
		if rapid.Bool().Draw(t, "bracketed") {
			r.FirstDivergence.Bracket.Good = &good
		}
		if rapid.Bool().Draw(t, "exact") {
			tick := number("tick")
			r.FirstDivergence.Tick, r.FirstDivergence.Native = &tick, &Native{Step: text("step")}
		}
	}
	if rapid.Bool().Draw(t, "compared") {
		r.Compared = &Compared{Peers: [2]string{text("a"), text("b")}, Point: number("point"), Native: text("native"), Values: number("values") >> 8}
		many := rapid.SampledFrom([]int{3, 40, 10_000}).Draw(t, "entities")
		for i := range many {
			e := Entity{Kind: "unit", Key: fmt.Sprint(i), Values: 1}
			if i < 8 {
				e = Entity{Kind: text("kind"), Key: text("key"), Name: text("name"), Place: text("place"), Values: number("of it") >> 8}
				if rapid.Bool().Draw(t, "alone") {
					e.OnlyOn = text("only on")
				}
				if rapid.Bool().Draw(t, "rows") {
					e.Rows = []EntityRows{{text("archetype"), text("on"), number("count") >> 8}}
				}
			}
			r.Compared.Entities = append(r.Compared.Entities, e)
		}
		for i := range rapid.SampledFrom([]int{0, 4, 10_000}).Draw(t, "locus") {
			f := LocusField{Entity: new(int), FieldDocument: FieldDocument{Kind: snapshot.KindInteger, Values: map[string]string{r.Compared.Peers[0]: "1", r.Compared.Peers[1]: fmt.Sprint(i)}}}
			*f.Entity = i % many
			if i < 6 {
				f.Archetype, f.Key, f.Component, f.Field = text("archetype"), text("key"), text("component"), text("field")
				f.Values = map[string]string{r.Compared.Peers[0]: text("value"), r.Compared.Peers[1]: text("value")}
				f.Kind = snapshot.Kind(rapid.SampledFrom([]string{"integer", "float", "fixed", "nan", "absent", "text", "@kind"}).Draw(t, "kind"))
				f.Difference = text("difference")
			}
			r.Locus = append(r.Locus, f)
		}
	}
	if rapid.Bool().Draw(t, "inputs") {
		r.Inputs = &Inputs{Count: rapid.IntRange(0, 1<<40).Draw(t, "differences")}
		for range rapid.IntRange(0, 5).Draw(t, "listed") {
			r.Inputs.Differences = append(r.Inputs.Differences, orderlog.Difference{Kind: orderlog.DifferenceKind(text("how")), Order: text("order"), Peer: text("peer"), Tick: number("tick")})
		}
	}
	for range rapid.IntRange(0, 5).Draw(t, "send") {
		r.Next = append(r.Next, text("next"))
		r.Send = append(r.Send, Request{What: text("what"), From: texts("from", 9), For: texts("for", 2)})
	}
	if rapid.Bool().Draw(t, "fingerprints") {
		r.Fingerprint = text("fingerprint")
		r.Fingerprints = []Fingerprint{{Level: Level(text("level")), Digest: text("digest")}}
	}
	r.Kind = bisect.StateDiffers
	return r
}

// forbidden is what mentions, refers, links or is HTML, anywhere. Without regard to case \pL has marks such as U+0345 too.
var forbidden = regexp.MustCompile(`@[\pL\pN_]|#[\pL\pN_]|![\pL\pN_]|\$[\pL\pN_]|%[\pL\pN_]|&[\pL\pN_]|(?i:GH-)[\pL\pN_]|<[^\x{200b}]|://|(?i:www\.)[\pL\pN_]|[\x00-\x09\x0b-\x1f]`)

// outsideOfCode returns what of a line is not code, without what has a backslash before it.
// It is false if code does not end.
func outsideOfCode(line string) (string, bool) {
	var out strings.Builder
	for i := 0; i < len(line); i++ {
		switch line[i] {
		case '\\':
			i++
		case '`':
			end := strings.IndexByte(line[i+1:], '`')
			if end < 1 { // an empty span would be two backticks
				return "", false
			}
			i += 1 + end
		default:
			out.WriteByte(line[i])
		}
	}
	return out.String(), true
}

func TestCommentOfAnyReport(t *testing.T) {
	effort.Checks(t, 15)
	rapid.Check(t, func(t *rapid.T) {
		r := drawReport(t)
		if rapid.IntRange(0, 4).Draw(t, "redact") == 0 {
			r = r.Redact()
		}
		var out bytes.Buffer
		if err := r.Comment(&out); err != nil {
			t.Fatal(err)
		}
		got := out.String()
		if n := utf8.RuneCountInString(got); n > MaxComment || n == 0 || !utf8.ValidString(got) {
			t.Fatalf("%d characters, valid: %v", n, utf8.ValidString(got))
		}
		if bad := forbidden.FindString(got); bad != "" {
			t.Fatalf("%q in\n%s", bad, got)
		}
		for _, line := range strings.Split(got, "\n") {
			// Code begins and ends in its line, and no mark of Markdown is outside of it.
			plain, ok := outsideOfCode(line)
			if !ok {
				t.Fatalf("code does not end in %q", line)
			}
			if bad := strings.IndexAny(strings.ReplaceAll(plain, " | ", ""), "<>|[]"); bad >= 0 {
				t.Fatalf("a mark outside of code in %q", line)
			}
			if line != "" && strings.ContainsRune("#/+=:>", rune(line[0])) {
				t.Fatalf("a line begins with %.20q", line)
			}
		}
		if f := r.FirstDivergence; r.Status == Diverged && f != nil && f.Loaded == "" && f.Tick != nil && !strings.Contains(got, fmt.Sprintf("in tick %d", *f.Tick)) {
			t.Fatalf("tick %d is not in\n%s", *f.Tick, got)
		}
		for i, peer := range r.Headline().Wrong {
			if i < commentAccused && !strings.Contains(got, commentCode(peer, commentName)) {
				t.Fatalf("%q, which is wrong, is not in\n%s", peer, got)
			}
		}
	})
}

// TestCommentDropsWholeItems: where there is no room for all, the items that are left are whole, the rest is counted,
// and the first of each part goes last.
func TestCommentDropsWholeItems(t *testing.T) {
	r := &Report{Head: Head{Status: Diverged}, Ask: "Hello!", Compared: &Compared{Peers: [2]string{"host", "client"}, Values: 7000}}
	for range 3 {
		r.Verdict = append(r.Verdict, strings.Repeat("word ", 80)+".")
	}
	for i := range 20 {
		r.Compared.Entities = append(r.Compared.Entities, Entity{Kind: "unit", Key: fmt.Sprint(i), Name: strings.Repeat("n", 60), Values: 350})
		r.Locus = append(r.Locus, LocusField{Entity: &i, Archetype: "Unit", FieldDocument: FieldDocument{
			Component: "Health", Field: strings.Repeat("f", 60), Kind: snapshot.KindText,
			Values: map[string]string{"host": strings.Repeat("a", 50), "client": strings.Repeat("b", 50)},
		}})
		r.Missing = append(r.Missing, strings.Repeat("m", 190))
		r.Send = append(r.Send, Request{What: "a trace", From: []string{strings.Repeat("p", 90)}, For: []string{"tick"}})
	}
	got := r.comment()
	if n := utf8.RuneCountInString(got); n > MaxComment || n < MaxComment*3/4 {
		t.Errorf("%d characters", n)
	}
	for _, want := range []string{"unit 0", "more differences", "To send next:", "more pieces of evidence", "word word"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in\n%s", want, got)
		}
	}
	shown := strings.Count(got, "- `unit ")
	if want := fmt.Sprintf("- and %d more differences\n", 7000-shown); !strings.Contains(got, want) {
		t.Errorf("%q is not in\n%s", want, got)
	}
}

// TestRedactedWithoutNumber: the number of a state point that is not known is not taken for one where its name is
// left out.
func TestRedactedWithoutNumber(t *testing.T) {
	r := &Report{Head: Head{Status: Diverged}, FirstDivergence: &FirstDivergence{Bracket: &BracketDocument{Bad: 0, Native: &bracketNative{Bad: "an unknown net frame"}}}}
	if got, want := r.Redact().Verdict[0], "The games of the players diverged."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTextWithoutBracket: a saved report of any writer may lack the bracket.
func TestTextWithoutBracket(t *testing.T) {
	r := &Report{Head: Head{Status: Diverged}, FirstDivergence: &FirstDivergence{}, Orders: make([]TriagedOrder, 1)}
	if err := r.Text(io.Discard, NewStyle(false), false); err != nil {
		t.Error(err)
	}
}
