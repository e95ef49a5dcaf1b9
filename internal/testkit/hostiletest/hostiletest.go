// Package hostiletest contains texts with which a file may try to affect the program that shows them, and checks for
// output. It is only for tests.
package hostiletest

import (
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"

	"github.com/desynctool/desynctool/internal/prose"
)

// Sentence is a name that reads like a verdict.
const Sentence = "client diverged in tick 4: Position.x. Wrong: host, by a replay of the orders. Note: peer"

// Tricks are names with which a file may try to affect the program that shows them. Each contains a word, because a
// page or a table may not show blanks.
var Tricks = []string{
	Sentence, "Wrong: host", "DIVERGED", "a. IN SYNC", "Note:", "-rf", "--write-up=x", "x; touch pwned #", "$(touch pwned)", "`touch pwned`", "it's", `"a" 'b'`, "a\\", "a|b", "a && b > c", "~", "*", "{a,b}", "!!", "a=b",
	"a\nb", "\r\nDIVERGED  x", "a\x00b", "a\x07b\x08\x0b\x0c", "a\x7fb", "a\u0085b\u009b31mb", "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x1b]8;;http://x.example\x1b\\link\x1b]8;;\x1b\\", "\x1b[2J\x1b[H\x1bc",
	"a\u202eb\u202c", "a\u202ab\u202bc\u202d", "a\u2066b\u2067c\u2068d\u2069", "a\u200bb\u200cc\u200dd\u200ee\u200f\ufeff\u2060", "a\u2028b\u2029c", "a\ufe0fb\u034fc\u115f\u3164\u00ad", "a\U000e0041b\U000e0100", "a\xffb\xc0\x80", "a\ufffdb", "Z\u0351\u0352\u0353a", "שלום",
	"<b>x</b>", "<script>alert(1)</script>", "</script><script>x", "</title></style></textarea>x", `"><img src=x onerror=alert(1)>`, "' onmouseover='x", "<!-- x", "--> x", "<![CDATA[x", "x]]>", "&lt;b&gt; &#60;&amp;", "<?xml?>", "{{.}}",
	"[a](http://x.example)", "![a](http://x.example/a.png)", "[a]: http://x.example", "http://x.example www.x.example", "<http://x.example>", "javascript:alert(1)", "# a", "a\n===", "> a", "- a", "1. a", "+ a", "***", "**a** _b_ ~~c~~", "a  \nb", "[ ] a", "[^1]",
	"| a | b |\n| --- | --- |\n| c | d |", "```\na", "~~~ a", "`` ` ``", "    a", "@octocat a", "a@octocat.example", "#123 a", "GH-1 a/b#1", "!1 $1 ~1 %1 &1", "/close", ":tada: x",
	"::error::x", "::set-output name=a::b", "##[error]x", "a%0A::error::x", "%25%0D%0A", "\n::stop-commands::x", "---", "---\ntitle: x\n---", "fingerprint: x", "title: [x", "a: b", "!!python/object x", "../x", "/etc/passwd", `C:\x`, "a/b", ".", "CON",
	strings.Repeat("long ", 300), strings.Repeat("a", 5000), strings.Repeat("<b>@c", 500),
}

// Style matches the codes with which desynctool's commands colour a text.
var Style = regexp.MustCompile("\x1b\\[(0|1|2|4|22|24|31|32|33|36)(;(0|1|2|4|22|24|31|32|33|36))*m")

var verdictLine = regexp.MustCompile(`(?m)^(IN SYNC|DIVERGED|INCONCLUSIVE|ERROR)`)

// Inert checks that no character in a document except line ends has an effect.
func Inert(doc []byte) error {
	if !utf8.Valid(doc) {
		return fmt.Errorf("not UTF-8")
	}
	for i, r := range string(doc) {
		if r != '\n' && prose.Unseen(r) {
			return fmt.Errorf("%U after %q", r, doc[max(0, i-60):i])
		}
	}
	return nil
}

// Screen returns how many verdicts a text has.
func Screen(doc []byte) (string, error) {
	plain := Style.ReplaceAll(doc, nil)
	return fmt.Sprint(len(verdictLine.FindAll(plain, -1)), " verdicts"), Inert(plain)
}

// OneCommand checks that a line is one desynctool command for a shell, with words without special meaning, and perhaps
// a comment.
func OneCommand(line string) error {
	f, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(line), "")
	if err != nil {
		return fmt.Errorf("%q: %w", line, err)
	}
	if len(f.Stmts) != 1 || strings.Contains(line, "\n") {
		return fmt.Errorf("%q: %d commands", line, len(f.Stmts))
	}
	call, ok := f.Stmts[0].Cmd.(*syntax.CallExpr)
	if !ok || len(call.Assigns) > 0 || len(f.Stmts[0].Redirs) > 0 || f.Stmts[0].Background || f.Stmts[0].Negated || call.Args[0].Lit() != "desynctool" {
		return fmt.Errorf("%q: not one simple command", line)
	}
	for _, word := range call.Args {
		for _, part := range word.Parts {
			switch part := part.(type) {
			case *syntax.SglQuoted:
			case *syntax.Lit:
				if strings.ContainsAny(part.Value, "*?~{}!") {
					return fmt.Errorf("%q: %q is not literal", line, part.Value)
				}
			default:
				return fmt.Errorf("%q: %T", line, part)
			}
		}
	}
	return nil
}
