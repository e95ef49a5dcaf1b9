package verdict

import (
	"cmp"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/report/document"
)

// messagePrints makes the fingerprint of a report of messages alone: the engine that wrote the message, its form, and
// what it names. Names of players, ticks and checksums are not in it. There is no strict fingerprint: every desync of a
// game has the same message.
func (c *Conclusion) messagePrints() {
	w := c.Word
	kind := map[WordKind]string{WordSelfTest: "failed self-test", WordReplay: "departing replay"}[w.Kind]
	kind = cmp.Or(kind, "claim")
	base := []string{w.Engine, kind}
	c.level(document.LevelKind, strings.TrimSpace(strings.Join(base, " ")), base)
	form, names := w.form(), w.names()
	c.level(document.LevelMessage, form+", names "+few(names), append(slices.Clone(base), append([]string{form}, names...)...))
}

// names returns what the message names.
func (w *Word) names() (list []string) {
	for _, n := range []struct {
		is   bool
		what string
	}{{w.Claim.HasTick, "the tick"}, {len(w.Claim.Peers) > 0, "a peer"}, {len(w.Claim.Values) == 1, "a checksum"}, {len(w.Claim.Values) > 1, "checksums"}} {
		if n.is {
			list = append(list, n.what)
		}
	}
	if len(list) == 0 {
		list = []string{"nothing"}
	}
	return list
}

// maxForm is how many bytes of a message's form are kept.
const maxForm = 160

// form returns the message without what it names: a name becomes *, a number or checksum #.
func (w *Word) form() string {
	text := w.Claim.Text
	names := slices.Clone(w.Claim.Peers)
	for _, v := range w.Claim.Values {
		names = append(names, v.Peer)
	}
	names = append(names, w.Claim.By)
	slices.SortFunc(names, func(a, b string) int { return len(b) - len(a) }) // a name may be part of another
	for _, name := range names {
		text = ReplaceName(text, name, "*")
	}
	var words []string
	for _, word := range strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t()[]{},;:\"“”'", r) }) {
		if strings.ContainsAny(word, "0123456789") || len(word) > 7 && strings.Trim(word, "abcdefABCDEF") == "" {
			word = "#"
		}
		if n := len(words); n == 0 || word != "#" || words[n-1] != "#" {
			words = append(words, word)
		}
	}
	form := strings.Join(words, " ")
	return strings.ToValidUTF8(form[:min(len(form), maxForm)], "")
}

// ReplaceName replaces a name in a message, where it is a word by itself. An empty name replaces nothing.
func ReplaceName(text, name, with string) string {
	if name == "" {
		return text
	}
	part := func(b byte) bool {
		return b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' || b == '_' || b >= 0x80
	}
	var out strings.Builder
	for at := 0; ; {
		i := strings.Index(text[at:], name)
		if i < 0 {
			out.WriteString(text[at:])
			return out.String()
		}
		begin, end := at+i, at+i+len(name)
		if begin > 0 && part(text[begin-1]) && part(text[begin]) || end < len(text) && part(text[end]) && part(text[end-1]) {
			out.WriteString(text[at : begin+1])
			at = begin + 1
			continue
		}
		out.WriteString(text[at:begin] + with)
		at = end
	}
}
