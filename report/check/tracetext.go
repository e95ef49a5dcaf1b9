package check

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

const (
	traceBegin = "%desynctool trace 1"
	maxLine    = 1 << 20
)

// isTraceText reports whether a file begins as a trace of lines of key=value pairs does.
func isTraceText(head []byte) bool {
	head = bytes.TrimPrefix(head, []byte("\xef\xbb\xbf"))
	if bytes.HasPrefix(head, []byte("%desynctool trace ")) {
		return true
	}
	for line := range bytes.Lines(head) {
		if !utf8.Valid(line) && len(line) < len(head) {
			return false
		}
		words := strings.Fields(string(line))
		has := func(prefix string) bool {
			return slices.ContainsFunc(words, func(w string) bool { return strings.HasPrefix(w, prefix) })
		}
		if has("tick=") && (has("sum=") || has("sum.") || has("n=") || has("event=") || has("system=")) {
			return true
		}
	}
	return false
}

// lineReader reads lines of at most maxLine bytes; of a longer one it gives nothing.
type lineReader struct{ in *bufio.Reader }

// next returns a line without its end. At the end of the text it returns io.EOF.
func (l *lineReader) next() (line []byte, ended, long bool, err error) {
	for {
		part, err := l.in.ReadSlice('\n')
		if len(line)+len(part) > maxLine+2 {
			long = true
			line = line[:0]
		}
		if !long {
			line = append(line, part...)
		}
		switch {
		case err == nil:
			return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), true, long, nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && (len(line) > 0 || long):
			return line, false, long, nil
		default:
			return nil, false, false, err
		}
	}
}

// textChecker checks a trace of lines.
type textChecker struct {
	c     *checker
	known facts
	steps steps
	at    place

	begun, ended, recorded bool
	said                   map[string]bool // what lines with a percent sign have said
	build, rate            bool
}

func checkTraceText(c *checker, in *input) (facts, error) {
	t := &textChecker{c: c, steps: steps{c: c}, said: map[string]bool{}}
	r := lineReader{bufio.NewReaderSize(in.content, 64<<10)}
	for number := int64(1); ; number++ {
		line, ended, long, err := r.next()
		if err == io.EOF {
			break
		}
		if err != nil {
			return facts{}, err
		}
		if number == 1 {
			line = bytes.TrimPrefix(line, []byte("\xef\xbb\xbf"))
		}
		t.at = place{line: number}
		if long {
			c.add("text-length", t.at, "the line has more than %d bytes", maxLine)
			continue
		}
		t.line(string(line), number)
		if !ended {
			c.add("text-cut", t.at, "the last line has no line feed")
		}
	}
	whole := place{}
	switch {
	case t.begun && !t.ended:
		c.add("text-last", whole, "the text begins with %s and has no last line", traceBegin)
	case !t.begun:
		c.add("text-first", whole, "the first line is not %s: that the text was cut off does not show", traceBegin)
	}
	if t.begun && !t.build {
		c.add("record-build", whole, "no build")
	}
	if t.begun && !t.rate {
		c.add("record-rate", whole, "no tick rate")
	}
	return t.known, nil
}

func (t *textChecker) wrong(format string, args ...any) { t.c.add("text-line", t.at, format, args...) }

func (t *textChecker) line(line string, number int64) {
	switch {
	case line == "" || line[0] == '#':
		return
	case t.ended:
		t.c.add("text-after", t.at, "a line after the last one")
		return
	case line[0] == '%':
		t.percent(line, number)
		return
	}
	t.recorded = true
	t.record(line)
}

// percent checks a line of the header, or the last line.
func (t *textChecker) percent(line string, number int64) {
	word, rest, _ := strings.Cut(line, " ")
	switch word {
	case "%end":
		if rest != "" {
			t.wrong("%s, expected %%end", quoted(line))
		}
		t.ended = true
		return
	case "%torn", "%corrupt":
		t.ended = true
		t.c.add("text-last", t.at, "%s: this is the text of a damaged trace", quoted(line))
		return
	}
	if t.recorded {
		t.c.add("text-header", t.at, "%s after the first record", quoted(line))
		return
	}
	name := word
	switch word {
	case "%desynctool":
		if line != traceBegin || number != 1 {
			t.wrong("%s, expected %s as the first line", quoted(line), traceBegin)
		}
		t.begun = true
	case "%seed":
		n, ok := decimal(rest, math.MaxUint64)
		if !ok {
			t.wrong("the seed is %s, expected a decimal number", quoted(rest))
		}
		t.known.seed, t.known.seeded = n, ok
	case "%peer":
		t.literal(rest)
	case "%build":
		text, _ := t.literal(rest)
		t.build = text != ""
	case "%rate":
		num, den, _ := strings.Cut(rest, "/")
		n, ok := decimal(num, math.MaxUint32)
		d, ok2 := decimal(den, math.MaxUint32)
		if !ok || !ok2 || n == 0 || d == 0 {
			t.wrong("the tick rate is %s, expected two numbers above 0 with / between them", quoted(rest))
		}
		t.rate = true
	case "%meta":
		key, err := strconv.QuotedPrefix(rest)
		if err != nil || !strings.HasPrefix(rest[len(key):], " ") {
			t.wrong("%s, expected two strings", quoted(rest))
			return
		}
		t.literal(rest[len(key)+1:])
		text, _ := t.literal(key)
		name += " " + text
		factName(t.c, t.at, text)
	default:
		t.wrong("%s is not known", quoted(word))
	}
	if t.said[name] && len(t.said) < maxMeta {
		t.c.add("text-twice", t.at, "%s a second time", quoted(name))
	}
	t.said[name] = true
}

// literal checks a string, and reports whether it is one.
func (t *textChecker) literal(s string) (string, bool) {
	text, err := strconv.Unquote(s)
	if err != nil || s[0] != '"' {
		t.c.add("text-value", t.at, "%s is not a string in Go's notation in double quotes", quoted(s))
		return "", false
	}
	if len(text) > maxText {
		t.c.add("text-length", t.at, "a string of %d bytes, at most %d are allowed", len(text), maxText)
	}
	return text, true
}

// textKeys are the keys of a record, in the order in which they are written.
var textKeys = []string{"event", "tick", "at", "to", "player", "system", "scope", "phase", "n"}

// eventUses are the keys that an event must have in addition to tick and sums, by its name; phase may be left out.
var eventUses = map[string][]string{"save": {}, "restore": {"at"}, "resimulate": {"to"}, "input": {"player", "phase"}}

// record checks a checkpoint or an event.
func (t *textChecker) record(line string) {
	got := map[string]string{}
	sums := map[string]bool{}
	last, plain := -1, true
	rest := line
	for first := true; rest != ""; first = false {
		begin := strings.TrimLeft(rest, " \t")
		if blanks := rest[:len(rest)-len(begin)]; first && blanks != "" || !first && blanks != " " {
			plain = false
		}
		if rest = begin; rest == "" {
			break
		}
		end := strings.IndexFunc(rest, func(r rune) bool { return r == '=' || r <= ' ' })
		if end <= 0 || rest[end] != '=' {
			t.wrong("%s, expected key=value", quoted(rest))
			return
		}
		key := rest[:end]
		rest = rest[end+1:]
		var value string
		if strings.HasPrefix(rest, `"`) {
			q, err := strconv.QuotedPrefix(rest)
			if err != nil || len(q) < len(rest) && rest[len(q)] != ' ' && rest[len(q)] != '\t' {
				t.c.add("text-value", t.at, "%s is not a string in Go's notation in double quotes", quoted(rest))
				return
			}
			value, _ = strconv.Unquote(q)
			if bare(value) {
				plain = false
			}
			rest = rest[len(q):]
		} else {
			end := strings.IndexFunc(rest, func(r rune) bool { return r <= ' ' })
			if end < 0 {
				end = len(rest)
			}
			value, rest = rest[:end], rest[end:]
			if sum := key == "sum" || strings.HasPrefix(key, "sum."); !bare(value) && !(sum && value == "") {
				t.c.add("text-value", t.at, "%s has to be in double quotes", quoted(value))
			}
		}
		if len(value) > maxText {
			t.c.add("text-length", t.at, "a value of %d bytes, at most %d are allowed", len(value), maxText)
			return
		}
		rank := slices.Index(textKeys, key)
		if name, ok := strings.CutPrefix(key, "sum."); ok || key == "sum" {
			if !ok {
				name = ""
			}
			rank = len(textKeys)
			switch {
			case ok && (name == "" || !plainName(name)):
				t.wrong("a sum with the name %s", quoted(name))
			case sums[name]:
				t.c.add("text-twice", t.at, "sum %s a second time", quoted(name))
			case value == "":
				t.wrong("the value of sum %s is empty", quoted(name))
			case name == "" && len(sums) > 0:
				plain = false
			}
			if sums[name] = true; len(sums) > maxSums {
				t.c.add("text-length", t.at, "more than %d sums", maxSums)
				return
			}
		} else if rank >= 0 {
			if _, twice := got[key]; twice {
				t.c.add("text-twice", t.at, "key %s a second time", key)
			}
			got[key] = value
		} else {
			t.c.once("text-key", t.at, "key %s is not known; it is skipped", quoted(key))
			continue
		}
		if rank < last {
			plain = false
		}
		last = rank
	}
	if !plain {
		t.c.once("text-written", t.at, "the pairs are in another order, or with other blanks or quotes than are written")
	}
	t.fields(got, len(sums))
}

// fields checks the fields of a record.
func (t *textChecker) fields(got map[string]string, sums int) {
	number := func(key string, limit uint64) uint64 {
		value, ok := got[key]
		if !ok {
			return 0
		}
		n, ok := decimal(value, limit)
		if !ok {
			t.wrong("%s is %s, expected a decimal number of at most %d", key, quoted(value), limit)
		}
		return n
	}
	tick := number("tick", math.MaxUint64)
	for _, key := range []string{"at", "to", "n"} {
		number(key, math.MaxUint64)
	}
	number("player", math.MaxUint32)
	if phase, ok := got["phase"]; ok && phase != "confirmed" && phase != "predicted" {
		t.wrong("the phase is %s, expected confirmed or predicted", quoted(phase))
	}
	if _, ok := got["tick"]; !ok {
		t.c.add("text-needs", t.at, "no tick")
		return
	}
	event, isEvent := got["event"]
	uses, known := eventUses[event]
	if isEvent && !known {
		t.wrong("the event is %s, expected save, restore, resimulate or input", quoted(event))
		return
	}
	for _, key := range textKeys {
		_, has := got[key]
		_, count := got["n"]
		switch {
		case key == "event" || key == "tick":
		case isEvent && has && !slices.Contains(uses, key):
			t.wrong("event %s has no use for %s", event, key)
		case isEvent && !has && key != "phase" && slices.Contains(uses, key):
			t.c.add("text-needs", t.at, "event %s has no %s", event, key)
		case !isEvent && has && slices.Contains([]string{"at", "to", "player"}, key):
			t.wrong("a checkpoint has no use for %s", key)
		case !isEvent && key == "n" && sums == 0 && !count:
			t.c.add("text-needs", t.at, "neither a sum nor n")
		}
	}
	if isEvent {
		kinds := map[string]uint64{"save": eventSave, "restore": eventRestore, "resimulate": eventResimulate, "input": eventInput}
		t.steps.event(kinds[event])
		return
	}
	t.steps.checkpoint(func() place { return t.at }, tick, got["system"], got["scope"])
}

// bare reports whether a value is written without quotes.
func bare(s string) bool {
	return s != "" && s[0] != '"' && !strings.ContainsFunc(s, func(r rune) bool {
		return r == ' ' || r == utf8.RuneError || !unicode.IsPrint(r)
	})
}

func decimal(s string, limit uint64) (uint64, bool) {
	if s == "" || strings.Trim(s, "0123456789") != "" {
		return 0, false
	}
	n, err := strconv.ParseUint(s, 10, 64)
	return n, err == nil && n <= limit
}

// factName notes a name of a fact.
func factName(c *checker, p place, name string) {
	if !knownFacts[name] && len(c.unknown) < maxUnknown {
		if c.unknown == nil {
			c.unknownAt = p
		}
		c.unknown = append(c.unknown, name)
	}
}
