package golden

import (
	"bytes"
	"cmp"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Manifest is what golden.txt contains about a replay.
type Manifest struct {
	Log       string // name of the order log, in the same folder
	LogDigest Digest // of its bytes
	Trace     Digest // of the bytes of the golden trace, not compressed
	From, To  uint64 // state points
	Every     uint64 // the trace has the state points that this divides, and the last
	Systems   bool   // it has a checkpoint after each system
	// Start is the hash of the state at From, nil if it is not known.
	Start *merkle.Short

	// The next fields describe where it was recorded.
	Platform string
	Build
}

// Ticks is how many ticks the replay has.
func (m *Manifest) Ticks() uint64 { return m.To - m.From }

// manifestBegin is the first line.
const manifestBegin = "desynctool golden 1"

// Limits of a manifest.
const (
	maxManifest = 64 << 10 // bytes
	maxValue    = 4 << 10  // bytes of a text
	maxFacts    = 64
)

// Format returns the text of a manifest. The same manifest gives the same text.
func (m *Manifest) Format() []byte {
	var b bytes.Buffer
	line := func(key string, words ...any) {
		fmt.Fprintln(&b, append([]any{key}, words...)...)
	}
	b.WriteString(manifestBegin + "\n")
	line("log", strconv.Quote(m.Log))
	line("log-sha256", m.LogDigest)
	line("trace-sha256", m.Trace)
	line("points", m.From, m.To)
	line("every", m.Every)
	line("systems", yesNo[m.Systems])
	if m.Start != nil {
		line("start", m.Start)
	}
	line("platform", strconv.Quote(m.Platform))
	if m.Game != "" {
		line("game", strconv.Quote(m.Game))
	}
	if m.Build.Build != "" {
		line("build", strconv.Quote(m.Build.Build))
	}
	for _, name := range slices.Sorted(maps.Keys(m.Facts)) {
		line("fact", strconv.Quote(name), strconv.Quote(m.Facts[name]))
	}
	return b.Bytes()
}

var yesNo = map[bool]string{true: "yes", false: "no"}

// ParseManifest reads the text of a manifest. Its lines may have Windows line ends. An error gives the line.
func ParseManifest(text []byte) (*Manifest, error) {
	if len(text) > maxManifest {
		return nil, fmt.Errorf("%d bytes, expected at most %d", len(text), maxManifest)
	}
	if !utf8.Valid(text) {
		return nil, errors.New("not UTF-8")
	}
	p := &manifestParser{}
	for line := range strings.Lines(string(text)) {
		whole, ended := strings.CutSuffix(line, "\n")
		if !ended {
			return nil, fmt.Errorf("line %d breaks off", len(p.lines)+1)
		}
		p.lines = append(p.lines, strings.TrimSuffix(whole, "\r"))
	}
	m := p.manifest()
	if p.err != nil {
		return nil, fmt.Errorf("line %d: %w", p.at+1, p.err)
	}
	return m, nil
}

// manifestParser reads lines in their order. The first error counts.
type manifestParser struct {
	lines []string
	at    int
	rest  string // of the current line
	err   error
}

func (p *manifestParser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// begins moves to the current line if it has this key.
func (p *manifestParser) begins(key string) bool {
	if p.err != nil || p.at == len(p.lines) {
		return false
	}
	rest, ok := strings.CutPrefix(p.lines[p.at], key+" ")
	if ok {
		p.rest = rest
	}
	return ok
}

// line reads one line, which has to be there, by functions that each take a word of it.
func (p *manifestParser) line(key string, words ...func()) {
	switch {
	case p.err != nil:
		return
	case p.at == len(p.lines):
		p.fail("the manifest ends, expected %q", key)
		return
	case !p.begins(key):
		p.fail("expected %q", key)
		return
	}
	for i, word := range words {
		if i > 0 {
			rest, ok := strings.CutPrefix(p.rest, " ")
			if !ok {
				p.fail("%q: expected a space and %d more", p.rest, len(words)-i)
				return
			}
			p.rest = rest
		}
		if word(); p.err != nil {
			return
		}
	}
	if p.rest != "" {
		p.fail("%q: expected the end of the line", cmp.Or(strings.TrimPrefix(p.rest, " "), p.rest))
		return
	}
	p.at++
}

// optional is line for a line that may be missing.
func (p *manifestParser) optional(key string, words ...func()) {
	if p.begins(key) {
		p.line(key, words...)
	}
}

func (p *manifestParser) word() string {
	word, _, _ := strings.Cut(p.rest, " ")
	p.rest = p.rest[len(word):]
	return word
}

func (p *manifestParser) text(dst *string) func() {
	return func() {
		quoted, err := strconv.QuotedPrefix(p.rest)
		if err != nil || quoted[0] != '"' {
			p.fail("%q: expected a text in quotation marks", p.rest)
			return
		}
		value, err := strconv.Unquote(quoted)
		if err != nil || strconv.Quote(value) != quoted || len(value) > maxValue || value == "" {
			p.fail("%s: expected a text of 1 to %d bytes in its only quoted form", quoted, maxValue)
			return
		}
		*dst = value
		p.rest = p.rest[len(quoted):]
	}
}

func (p *manifestParser) number(dst *uint64) func() {
	return func() {
		word := p.word()
		n, err := strconv.ParseUint(word, 10, 64)
		if err != nil || strconv.FormatUint(n, 10) != word {
			p.fail("%q: expected a number", word)
		}
		*dst = n
	}
}

func (p *manifestParser) digest(dst *Digest) func() {
	return func() {
		if err := dst.UnmarshalText([]byte(p.word())); err != nil {
			p.fail("%w", err)
		}
	}
}

func (p *manifestParser) manifest() *Manifest {
	m := &Manifest{}
	if len(p.lines) == 0 || p.lines[0] != manifestBegin {
		p.fail("expected %q", manifestBegin)
		return nil
	}
	p.at++
	p.line("log", p.text(&m.Log))
	if p.err == nil && !validLog(m.Log) {
		p.at--
		p.fail("%q: expected the name of a file in the same folder", m.Log)
	}
	p.line("log-sha256", p.digest(&m.LogDigest))
	p.line("trace-sha256", p.digest(&m.Trace))
	p.line("points", p.number(&m.From), p.number(&m.To))
	if p.err == nil && m.To <= m.From {
		p.at--
		p.fail("state points %d to %d, expected a tick at least", m.From, m.To)
	}
	p.line("every", p.number(&m.Every))
	if p.err == nil && m.Every == 0 {
		p.at--
		p.fail("every 0, expected at least 1")
	}
	p.line("systems", func() {
		switch word := p.word(); word {
		case "yes", "no":
			m.Systems = word == "yes"
		default:
			p.fail("%q: expected yes or no", word)
		}
	})
	p.optional("start", func() {
		var start merkle.Short
		word := p.word()
		if b, err := hex.DecodeString(word); err != nil || len(b) != len(start) || strings.ToLower(word) != word {
			p.fail("%q: expected %d hex digits in lower case", word, hex.EncodedLen(len(start)))
		} else {
			m.Start = (*merkle.Short)(b)
		}
	})
	p.line("platform", p.text(&m.Platform))
	p.optional("game", p.text(&m.Game))
	p.optional("build", p.text(&m.Build.Build))
	last := ""
	for p.begins("fact") {
		var name, value string
		p.line("fact", p.text(&name), p.text(&value))
		if p.err != nil {
			break
		}
		if name <= last || len(m.Facts) == maxFacts {
			p.at--
			p.fail("fact %q: expected at most %d facts, by ascending name", name, maxFacts)
			break
		}
		if m.Facts == nil {
			m.Facts = map[string]string{}
		}
		m.Facts[name], last = value, name
	}
	if p.err == nil && p.at < len(p.lines) {
		p.fail("%q: expected the end, or the file has a newer version", p.lines[p.at])
	}
	return m
}

// validLog reports whether a log may have this name: a file name that we do not use ourselves.
func validLog(name string) bool {
	return name != "" && len(name) <= maxName && !strings.ContainsAny(name, "/\\:\x00") && name != "." && name != ".." && name != ManifestName && name != TraceName
}
