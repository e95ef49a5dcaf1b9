package desk

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Filter selects groups or reports that match all of its terms. Without terms it selects all. docs/desk-filters.md
// describes the syntax.
type Filter struct {
	Terms []Term
}

// Term is one word of a filter.
type Term struct {
	Key   string // "build"; empty for a search word
	Fact  string // the fact if Key is "fact": "engine"
	Op    string // =, <, <=, > or >=; the latter four only for builds
	Value string
}

// Facts are the names of facts that are filter words themselves, with their other spellings.
var facts = map[string]string{
	"os": "os", "cpu": "cpu", "arch": "cpu", "compiler": "compiler", "locale": "locale", "language": "locale", "lang": "locale",
	"timezone": "timezone", "threads": "threads", "gpu": "gpu", "driver": "driver", "engine": "engine", "mods": "mods", "mod": "mods",
	"map": "map", "ruleset": "ruleset", "settings": "settings", "data-hash": "data hash", "tick-rate": "tick rate",
}

// errNoValue is returned for a word with a colon and nothing after it.
var errNoValue = errors.New("expected a value after the colon")

// keys are the filter words that are not facts, each with the function that checks and rewrites its values.
var keys = map[string]func(value string) (string, error){
	"game": some, "build": some, "first": some, "back": some, "peer": some, "file": some, "cause": some, "kind": some,
	"status": oneOf(string(document.InSync), string(document.Diverged), string(document.Inconclusive), string(document.Failed)),
	"state":  oneOf(string(GroupOpen), string(GroupClosed), string(GroupIgnored), string(GroupMerged), "any"),
	"weak":   oneOf("yes", "no"),
	"group":  noneOr(hexDigits(16)), "hash": hexDigits(64), "seed": hexDigits(16),
	"since": date, "until": date,
}

// ofBuilds are the words that accept <, <=, > and >=.
var ofBuilds = []string{"build", "first", "back"}

func some(value string) (string, error) { return value, nil }

func oneOf(list ...string) func(string) (string, error) {
	return func(value string) (string, error) {
		if low := strings.ToLower(value); slices.Contains(list, low) {
			return low, nil
		}
		return "", fmt.Errorf("expected %s or %s%s", strings.Join(list[:len(list)-1], ", "), list[len(list)-1], prose.DidYouMean(value, list))
	}
}

// ungrouped is the value of "group" for diverged reports without a group, because too little is known.
const ungrouped = "none"

func noneOr(check func(string) (string, error)) func(string) (string, error) {
	return func(value string) (string, error) {
		if strings.EqualFold(value, ungrouped) {
			return ungrouped, nil
		}
		return check(value)
	}
}

func hexDigits(most int) func(string) (string, error) {
	return func(value string) (string, error) {
		low := strings.ToLower(value)
		if len(low) > most || strings.Trim(low, "0123456789abcdef") != "" {
			return "", fmt.Errorf("expected up to %d hex digits", most)
		}
		return low, nil
	}
}

func date(value string) (string, error) {
	if t, err := time.Parse(time.DateOnly, value); err != nil || t.Year() < 1970 {
		return "", errors.New("expected a day such as 2026-01-31")
	}
	return value, nil
}

// dayNumber returns a day in days since 1970. date has already checked it.
func dayNumber(value string) int64 {
	t, _ := time.Parse(time.DateOnly, value)
	return t.Unix() / (24 * 60 * 60)
}

// maxTerms is the maximum number of words in a filter.
const maxTerms = 40

// ParseFilter parses a filter: words separated by spaces, either KEY:VALUE or a text to search for. Text with spaces is
// in quotation marks: game:"0 A.D.", "out of sync".
func ParseFilter(words string) (Filter, error) {
	var f Filter
	for rest := strings.TrimLeft(words, " \t\n"); rest != ""; rest = strings.TrimLeft(rest, " \t\n") {
		word, quotedFirst, after, err := nextWord(rest)
		if err != nil {
			return Filter{}, err
		}
		rest = after
		term := Term{Op: "=", Value: word}
		if !quotedFirst {
			if term, err = parseTerm(word); err != nil {
				return Filter{}, fmt.Errorf("%s: %w", prose.Name(word), err)
			}
		}
		if term.Value == "" {
			continue // ""
		}
		if f.Terms = append(f.Terms, term); len(f.Terms) > maxTerms {
			return Filter{}, fmt.Errorf("a filter of more than %d words", maxTerms)
		}
	}
	return f, nil
}

// nextWord splits off the first word of a text that begins with one. Quotation marks keep spaces in it.
func nextWord(text string) (word string, quotedFirst bool, rest string, err error) {
	var b strings.Builder
	inside := false
	for i, r := range text {
		switch {
		case r == '"':
			inside = !inside
			continue
		case !inside && (r == ' ' || r == '\t' || r == '\n'):
			return b.String(), text[0] == '"', text[i:], nil
		}
		b.WriteRune(r)
	}
	if inside {
		return "", false, "", fmt.Errorf("%s: a quotation mark is not closed", prose.Name(text))
	}
	return b.String(), text[0] == '"', "", nil
}

// parseTerm parses a word that is not in quotation marks.
func parseTerm(word string) (Term, error) {
	key, value, found := strings.Cut(word, ":")
	if !found {
		return Term{Op: "=", Value: word}, nil
	}
	key = strings.ToLower(key)
	t := Term{Key: key, Op: "=", Value: value}
	if slices.Contains(ofBuilds, key) {
		for _, op := range []string{">=", "<=", ">", "<", "="} {
			if v, found := strings.CutPrefix(value, op); found {
				t.Op, t.Value = op, v
				break
			}
		}
	}
	switch {
	case keys[key] == nil && key != "fact" && facts[key] == "":
		return t, fmt.Errorf("no word of filters is %s%s; put text between quotation marks", prose.Quote(key), prose.DidYouMean(key, FilterKeys()))
	case t.Value == "":
		return t, errNoValue
	case key == "fact":
		if t.Fact, t.Value, found = strings.Cut(value, "="); !found || t.Fact == "" || t.Value == "" {
			return t, errors.New("expected fact:NAME=VALUE")
		}
	case facts[key] != "":
		t.Key, t.Fact = "fact", facts[key]
	default:
		var err error
		t.Value, err = keys[key](t.Value)
		return t, err
	}
	return t, nil
}

// FilterKeys returns the words that are valid before a colon, sorted.
func FilterKeys() []string {
	list := append(slices.Collect(maps.Keys(keys)), "fact")
	list = slices.AppendSeq(list, maps.Keys(facts))
	slices.Sort(list)
	return list
}

// String returns the filter in a form that ParseFilter reads back.
func (f Filter) String() string {
	return strings.Join(lists.Map(f.Terms, func(t Term) string { return t.String() }), " ")
}

// String returns the term as a word of a filter.
func (t Term) String() string {
	before := ""
	switch {
	case t.Key == "fact":
		before = "fact:" + quoteSpaces(t.Fact) + "="
		for key, fact := range facts {
			if fact == t.Fact && strings.ReplaceAll(fact, " ", "-") == key {
				before = key + ":"
			}
		}
	case t.Key != "":
		before = t.Key + ":"
	}
	if t.Op != "=" {
		before += t.Op
	}
	if t.Key == "" && strings.Contains(t.Value, ":") {
		return `"` + t.Value + `"`
	}
	if slices.Contains(ofBuilds, t.Key) && t.Op == "=" && strings.ContainsAny(t.Value[:1], "<>=") {
		before += "=" // builds with names that begin with it
	}
	return before + quoteSpaces(t.Value)
}

func quoteSpaces(s string) string {
	if strings.ContainsAny(s, " \t\n") {
		return `"` + s + `"`
	}
	return s
}

// Of returns the value of the first term with a key, empty if there is none.
func (f Filter) Of(key string) string {
	for _, t := range f.Terms {
		if t.Key == key {
			return t.Value
		}
	}
	return ""
}

// With returns the filter with one more term. It replaces terms with the same key and fact.
func (f Filter) With(term Term) Filter {
	return Filter{append(slices.DeleteFunc(slices.Clone(f.Terms), func(t Term) bool { return t.Key == term.Key && t.Fact == term.Fact }), term)}
}

// Without returns the filter without a term.
func (f Filter) Without(term Term) Filter {
	return Filter{slices.DeleteFunc(slices.Clone(f.Terms), func(t Term) bool { return t == term })}
}

// Day returns a day in the form of filters and lists, empty for 0.
func Day(day int64) string {
	if day == 0 {
		return ""
	}
	return time.Unix(day*24*60*60, 0).UTC().Format(time.DateOnly)
}

// cursor is the end of a page: the sort value and the number of its last entry.
type cursor struct{ value, id int64 }

func (c cursor) String() string { return fmt.Sprintf("%d-%d", c.value, c.id) }

// parseCursor parses the cursor in the link to the next page.
func parseCursor(s string) (c cursor, err error) {
	value, id, found := strings.Cut(s, "-")
	if found {
		c.value, err = strconv.ParseInt(value, 10, 64)
		if err == nil {
			c.id, err = strconv.ParseInt(id, 10, 64)
		}
	}
	if !found || err != nil {
		return c, fmt.Errorf("after %s: expected what a page has said that the next one begins after", prose.Name(s))
	}
	return c, nil
}
