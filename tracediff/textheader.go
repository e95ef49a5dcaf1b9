package tracediff

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Lines of text that begin with a percent sign.
const (
	textBegin   = "%desynctool trace 1"
	textEnd     = "%end"
	textTorn    = "%torn"
	textCorrupt = "%corrupt"
)

// textHeader is the content of the lines that begin with a percent sign.
type textHeader struct {
	Header
	begun, ended bool
	seen         []string
	trouble      string // the text of %torn or %corrupt
}

// line parses one line that begins with a percent sign.
func (h *textHeader) line(line string) error {
	word, rest, _ := strings.Cut(line, " ")
	if h.ended {
		return fmt.Errorf("line after the end")
	}
	switch word {
	case "%meta":
	case "%desynctool", "%seed", "%peer", "%build", "%rate":
		if slices.Contains(h.seen, word) {
			return fmt.Errorf("%s a second time", word)
		}
		h.seen = append(h.seen, word)
	}
	var err error
	switch word {
	case "%desynctool":
		if line != textBegin {
			return fmt.Errorf("%s, expected %s", quoteShort([]byte(line)), textBegin)
		}
		h.begun = true
	case "%seed":
		n, ok := parseUint([]byte(rest), math.MaxUint64)
		if !ok {
			return fmt.Errorf("seed is %s", quoteShort([]byte(rest)))
		}
		h.Seed, h.HasSeed = n, true
	case "%peer":
		h.Peer, err = unquote(rest)
	case "%build":
		h.Build, err = unquote(rest)
	case "%rate":
		num, den, _ := strings.Cut(rest, "/")
		n, ok := parseUint([]byte(num), math.MaxUint32)
		d, ok2 := parseUint([]byte(den), math.MaxUint32)
		if !ok || !ok2 || n == 0 || d == 0 {
			return fmt.Errorf("tick rate is %s, expected ticks/seconds", quoteShort([]byte(rest)))
		}
		h.RateNum, h.RateDen = uint32(n), uint32(d)
	case "%meta":
		key, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return fmt.Errorf("%s is not a string in Go's notation", quoteShort([]byte(rest)))
		}
		value, err := unquote(strings.TrimPrefix(rest[len(key):], " "))
		if err != nil {
			return err
		}
		if key, err = unquote(key); err != nil {
			return err
		}
		if h.Meta == nil {
			h.Meta = map[string]string{}
		}
		if len(h.Meta) == maxMeta {
			return fmt.Errorf("more than %d pairs of meta", maxMeta)
		}
		if _, twice := h.Meta[key]; twice {
			return fmt.Errorf("meta %q a second time", key)
		}
		h.Meta[key] = value
	case textEnd:
		h.ended = true
	case textTorn, textCorrupt:
		h.ended = true
		h.trouble = line[1:]
	default:
		return fmt.Errorf("unknown %s", quoteShort([]byte(line)))
	}
	return err
}

func unquote(s string) (string, error) {
	out, err := strconv.Unquote(s)
	if err != nil || s[0] != '"' {
		return "", fmt.Errorf("%s is not a string in Go's notation", quoteShort([]byte(s)))
	}
	if len(out) > MaxText {
		return "", fmt.Errorf("text of %d bytes, limit is %d", len(out), MaxText)
	}
	return out, nil
}

// readHeader reads the lines before the first record.
func (r *Reader) readHeader() error {
	for r.grammar.kind == Pairs {
		rest := r.win.rest()
		if len(rest) == 0 && !r.win.eof {
			if err := r.win.fill(); err != nil {
				return err
			}
			continue
		}
		if len(rest) == 0 || !bytes.ContainsRune([]byte("%#\r\n"), rune(rest[0])) {
			break
		}
		r.rec.Pos = Position{r.line, r.win.offset()}
		line, _, ok, err := r.win.line()
		if err != nil {
			return err
		}
		r.line++
		if !ok {
			return r.syntax("line of more than %d bytes", r.win.sizes.line)
		}
		if len(line) > 0 && line[0] == '%' {
			if err := r.text.line(string(line)); err != nil {
				return r.syntax("%v", err)
			}
		}
	}
	r.header = r.text.Header
	return nil
}

// parsePercent parses a line that begins with a percent sign after the first record.
func (r *Reader) parsePercent(line []byte) error {
	word, _, _ := strings.Cut(string(line), " ")
	if word != textEnd && word != textTorn && word != textCorrupt {
		return fmt.Errorf("%s after the first record", quoteShort(line))
	}
	return r.text.line(string(line))
}
