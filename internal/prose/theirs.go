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

// Texts from files (names of peers, archetypes, systems and builds, messages of games, paths) appear in desynctool's
// sentences. Name and Quote make them safe for that: they are recognizable as foreign text, have a limited length, and
// contain nothing that a terminal interprets.

// Maximum columns of a name, of a path and of a message in a sentence, without the quotation marks.
const (
	maxName  = 66 // 0x and 64 hexadecimal digits
	maxPath  = 200
	maxQuote = 160
)

// Name returns a name for a sentence. A plain word stays unchanged: letters, digits and marks within it, perhaps with a
// number, as in "client 1". Anything else is put in quotation marks. If a name is longer than 66 columns, its start is
// kept, with a checksum of the whole that distinguishes it from others with the same start. A name that is already
// quoted stays unchanged.
func Name(s string) string { return name(s, maxName) }

// Path returns a path for a sentence, like Name, but keeps up to 200 columns.
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

// ours are names that desynctool itself gives to peers, facts and moments, and that are not plain.
var ours = []string{"first run", "second run", "another peer", "one side", "the other side", "start state", "tick rate", "data hash", "mod checksum", "an unknown tick"}

// quoted reports whether a text is a result of Name or Quote.
func quoted(s string) bool {
	text, begins := strings.CutPrefix(s, "“")
	text, ends := strings.CutSuffix(text, "”")
	return begins && ends && text == inner(text) && Columns(text) <= maxPath
}

// Moment returns an engine's name of a moment for a sentence. It leaves plain words with a number unchanged, as in
// "turn 12", "161431 ms" and "000adef0;0c", and also two lower-case words, as in "net frame". The match may follow, as in
// "turn 12 of match 4f". Other names are handled as in Name.
func Moment(s string) string {
	if at, match, ok := strings.Cut(s, " of match "); ok && isWord(match) && Moment(at) == at {
		return s
	}
	words := strings.Split(s, " ")
	if len(words) == 2 && Columns(s) <= maxName && strings.Trim(s, " abcdefghijklmnopqrstuvwxyz") == "" {
		return s // the number is unknown
	}
	if len(words) <= maxWords && Columns(s) <= maxName && strings.ContainsAny(s, "0123456789") && !slices.ContainsFunc(words, func(w string) bool { return !isWord(strings.ReplaceAll(w, ";", ":")) }) {
		return s
	}
	return Name(s)
}

// maxWords is the maximum number of words in an engine's name of a moment.
const maxWords = 3

// Names returns names for a sentence.
func Names(list []string) []string {
	out := slices.Clone(list)
	for i := range out {
		out[i] = Name(out[i])
	}
	return out
}

// Quote returns a message in quotation marks, with at most 160 columns.
func Quote(s string) string {
	s = s[:min(len(s), maxQuote*utf8.UTFMax+utf8.UTFMax)] // more than is kept
	return "“" + inner(Shorten(Printable(s), maxQuote)) + "”"
}

// inner returns a text that cannot end the quotation marks around it.
func inner(s string) string { return marks.Replace(s) }

var marks = strings.NewReplacer("“", `"`, "”", `"`, "„", `"`, "‟", `"`)

// plain reports whether a name is a word, or a word and a number, that a reader cannot mistake for a part of a
// sentence. The empty name is plain.
func plain(s string) bool {
	words := strings.Split(strings.TrimSuffix(s, " a second"), " ") // a rate
	if len(words) == 2 && (number(words[0]) || number(words[1])) {
		return isWord(words[0]) && isWord(words[1])
	}
	return s == "" || len(words) == 1 && isWord(words[0]) && !slices.Contains(verdicts, strings.ToLower(s))
}

// number reports whether a word is a number, or hex digits after 0x.
func number(s string) bool {
	if digits, hex := strings.CutPrefix(s, "0x"); hex {
		return digits != "" && strings.Trim(digits, "0123456789abcdefABCDEF") == ""
	}
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// verdicts are words in desynctool's own sentences about who is wrong.
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

// Printable returns text from a file in a form that is safe anywhere. Characters that are not printable, have no width,
// or are not UTF-8 are escaped as in a Go string.
func Printable(s string) string {
	if utf8.ValidString(s) && strings.IndexFunc(s, Unseen) < 0 {
		return s
	}
	var b strings.Builder
	for i, r := range s {
		switch {
		case r == utf8.RuneError && !strings.HasPrefix(s[i:], "\uFFFD"):
			fmt.Fprintf(&b, `\x%02x`, s[i])
		case r == '\\': // otherwise an escape could not be distinguished from the same text
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

// Unseen reports whether a character is invisible: controls, direction marks, and letters and marks without a width.
func Unseen(r rune) bool {
	return !unicode.IsPrint(r) || r >= 0x34f && unicode.In(r, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector)
}
