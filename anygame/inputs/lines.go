package inputs

import (
	"bytes"
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/orderlog"
)

// orderWords precede the kind of an order on a line of a log.
var orderWords = []string{"order", "command", "cmd", "action", "input"}

// phrase is a word of a line with the value after it.
type phrase struct {
	word, value string
	from, to    int // bytes of the line
}

// phrases returns the first phrases of a line with a tick, a player and an order: a word, a sign or a blank, and a
// value.
func phrases(line []byte, lexicon *vocabulary.Lexicon) (tick, player, kind phrase, ok bool) {
	for i := 0; i < len(line); {
		if !isLetter(line[i]) {
			i++
			continue
		}
		from := i
		for i < len(line) && (isLetter(line[i]) || isDigit(line[i])) {
			i++
		}
		word := line[from:i]
		begin := i
		for begin < len(line) && strings.IndexByte(" \t=:#(\"'", line[begin]) >= 0 {
			begin++
		}
		end := begin
		for end < len(line) && (isLetter(line[end]) || isDigit(line[end]) || line[end] == '-' && end > begin) {
			end++
		}
		if begin == i || begin == end {
			continue
		}
		one := phrase{word: string(word), value: string(line[begin:end]), from: from, to: end}
		switch _, number := tickOf(one.value); {
		case tick.word == "" && number && lexicon.Of(word) == vocabulary.Tick:
			tick, i = one, end
		case player.word == "" && lexicon.Of(word) == vocabulary.Player:
			player, i = one, end
		case kind.word == "" && !number && slices.Contains(orderWords, strings.ToLower(string(word))):
			kind, i = one, end
		case lexicon.Of(word) == vocabulary.Sum:
			return tick, player, kind, false
		}
	}
	return tick, player, kind, tick.word != "" && player.word != "" && kind.word != ""
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// learnLines finds the words of lines with orders.
func learnLines(sample []byte) *Pattern {
	count := map[names]int{}
	var lexicon vocabulary.Lexicon
	var best names
	for line := range engine.WholeLines(sample) {
		tick, player, kind, ok := phrases(line, &lexicon)
		if !ok {
			continue
		}
		n := names{tick.word, player.word, kind.word}
		if count[n]++; count[n] > count[best] {
			best = n
		}
	}
	if count[best] < 3 {
		return nil
	}
	p := &Pattern{names: best}
	more := p.readLines(bytes.NewReader(sample), "")
	var all []order
	for {
		one, err := more()
		if err != nil {
			break
		}
		all = append(all, *one)
	}
	if !ascends(all) {
		return nil
	}
	return p
}

// readLines returns a function that reads the next order in a log.
func (p *Pattern) readLines(r io.Reader, name string) func() (*order, error) {
	lines := orderlog.NewLines(r, name)
	anchor := []byte(p.names.kind)
	lexicon := new(vocabulary.Lexicon)
	return func() (*order, error) {
		for {
			line, err := engine.NextLine(lines)
			if err != nil {
				return nil, err
			}
			if !bytes.Contains(line, anchor) {
				continue
			}
			if one := p.parse(line, lexicon); one != nil {
				one.line, one.offset = lines.Number(), lines.Offset()
				return one, nil
			}
		}
	}
}

// parse reads a line, nil if it is no order.
func (p *Pattern) parse(line []byte, lexicon *vocabulary.Lexicon) *order {
	tick, player, kind, ok := phrases(line, lexicon)
	if !ok || p.names != (names{tick.word, player.word, kind.word}) {
		return nil
	}
	one := &order{kind: kindName(kind.word, kind.value)}
	one.tick, _ = tickOf(tick.value)
	var members []value
	named := false
	if one.player, named = playerOf(player.value); named {
		members = append(members, value{kind: notation.Text, name: player.word, text: player.value})
	}
	rest := line[kind.to:]
	for _, other := range []phrase{tick, player} {
		if other.from >= kind.to {
			rest = rest[:min(len(rest), other.from-kind.to)]
		}
	}
	members = append(members, arguments(rest)...)
	v := value{members: members}
	one.payload = v.payload(nil)
	return one
}

// arguments returns what follows the kind of an order: pairs of a name and a value, or else a text.
func arguments(rest []byte) []value {
	text := strings.Trim(string(rest), " \t,;:\"'")
	for _, end := range []string{" at", " in", " on", " @", " ("} {
		text = strings.TrimSuffix(text, end)
	}
	if text == "" {
		return nil
	}
	var pairs []value
	for _, field := range strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' || r == ',' }) {
		name, one, ok := strings.Cut(field, "=")
		if !ok || name == "" || one == "" {
			return []value{{kind: notation.Text, name: "arguments", text: text}}
		}
		pairs = append(pairs, value{kind: notation.Bare, name: name, text: strings.Trim(one, `"'`)})
	}
	return pairs
}
