package prose

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// What files bring (names of peers, archetypes, systems and builds, messages of games, paths)
// stands in sentences of ours. Name and Quote make it fit for that: it is seen to be theirs, has
// a bounded length, and holds nothing that a terminal acts on.

// Columns of a name, of a path and of a message in a sentence, at most, the quotation marks not
// counted.
const (
	maxName  = 64
	maxPath  = 200
	maxQuote = 160
)

// Name returns a name for a sentence. A plain word stays as it is: letters, digits and marks
// within it, beside which a number may stand, as in "client 1". Anything else is between quotation
// marks. Of what is longer than 64 columns the beginning is left, and a checksum of the whole,
// which tells it from others that begin so. A name that is quoted already stays as it is.
func Name(s string) string { return name(s, maxName) }

// Path returns a path for a sentence, as Name does, of which up to 200 columns are left.
func Path(s string) string { return name(s, maxPath) }

func name(s string, most int) string {
	text := Printable(s)
	if quoted(text) {
		return text
	}
	if Columns(text) > most {
		sum := sha256.Sum256([]byte(s))
		return fmt.Sprintf("“%s…%x”", inner(strings.TrimSuffix(Shorten(text, most-8), "…")), sum[:4])
	}
	if plain(text) || slices.Contains(ours, text) {
		return text
	}
	return "“" + inner(text) + "”"
}

// ours are the names that we give peers, facts and moments ourselves, and that are not plain.
var ours = []string{"first run", "second run", "another peer", "start state", "tick rate", "data hash", "mod checksum", "an unknown tick"}

// quoted reports whether a text is what Name or Quote made of one.
func quoted(s string) bool {
	text, begins := strings.CutPrefix(s, "“")
	text, ends := strings.CutSuffix(text, "”")
	return begins && ends && text == inner(text) && Columns(text) <= maxPath
}

// Moment returns an engine's name of a moment for a sentence: plain words of which one is a number,
// as in "turn 12", "161431 ms" and "000adef0;0c", or two small words, as in "net frame", or else as Name has it.
func Moment(s string) string {
	words := strings.Split(s, " ")
	if len(words) == 2 && Columns(s) <= maxName && strings.Trim(s, " abcdefghijklmnopqrstuvwxyz") == "" {
		return s // the number is not known
	}
	if len(words) <= maxWords && Columns(s) <= maxName && strings.ContainsAny(s, "0123456789") && !slices.ContainsFunc(words, func(w string) bool { return !isWord(strings.ReplaceAll(w, ";", ":")) }) {
		return s
	}
	return Name(s)
}

// maxWords is how many words an engine's name of a moment has.
const maxWords = 3

// Names returns names for a sentence.
func Names(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = Name(out[i])
	}
	return out
}

// Quote returns a message between quotation marks, of which at most 160 columns are left.
func Quote(s string) string {
	s = s[:min(len(s), maxQuote*utf8.UTFMax+utf8.UTFMax)] // more than is left of it
	return "“" + inner(Shorten(Printable(s), maxQuote)) + "”"
}

// inner returns a text that does not end the quotation marks around it.
func inner(s string) string { return marks.Replace(s) }

var marks = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‟", `"`)

// plain reports whether a name is a word, or a word and a number, that no reader takes for a part
// of a sentence. The empty name is.
func plain(s string) bool {
	words := strings.Split(strings.TrimSuffix(s, " a second"), " ") // a rate
	if len(words) == 2 && (number(words[0]) || number(words[1])) {
		return isWord(words[0]) && isWord(words[1])
	}
	return s == "" || len(words) == 1 && isWord(words[0]) && !slices.Contains(verdicts, strings.ToLower(s))
}

// number reports whether a word is one, or hex digits after 0x.
func number(s string) bool {
	digits, hex := strings.CutPrefix(s, "0x")
	if hex {
		return digits != "" && strings.Trim(digits, "0123456789abcdefABCDEF") == ""
	}
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// verdicts are words of which our own sentences consist where they say who is wrong.
var verdicts = []string{
	"diverged", "inconclusive", "error", "insync", "in-sync", "in_sync", "wrong", "right", "equal", "nobody", "none", "unknown", "neither", "both", "all", "not", "no", "and", "or", "only", "peers", "the", "it", "nothing",
}

// isWord reports whether a name consists of letters, digits and marks between them.
func isWord(s string) bool {
	for _, r := range s {
		if !unicode.In(r, unicode.L, unicode.M, unicode.Nd) && !strings.ContainsRune(within, r) {
			return false
		}
	}
	first, _ := utf8.DecodeRuneInString(s)
	last, _ := utf8.DecodeLastRuneInString(s)
	return (unicode.In(first, unicode.L, unicode.Nd) || strings.ContainsRune(begins, first)) && (unicode.In(last, unicode.L, unicode.M, unicode.Nd) || strings.ContainsRune(ends, last))
}

// Marks in a plain word: within it, at its beginning, at its end.
const (
	within = "_-.#/:@+[]"
	begins = "_./@#"
	ends   = "_/+#]"
)

// Printable returns text that came from a file as it may go anywhere: what is not printable, has
// no width, or is not UTF-8 is escaped as in a string of Go.
func Printable(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, Unseen) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\': // or else what is escaped and what reads so are the same
			b.WriteString(`\\`)
		case Unseen(r):
			quoted := strconv.QuoteRuneToASCII(r)
			b.WriteString(quoted[1 : len(quoted)-1])
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Unseen reports whether nothing shows a character where it stands: controls, marks of
// direction, letters and marks without a width.
func Unseen(r rune) bool {
	return !unicode.IsPrint(r) || r >= 0x34f && unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
