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
var orderWords = []string{
	"order", "command", "cmd", "action", "input", "issued", "issues", "ordered", "executed", "executes", "queued",
}

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
			if tick.word != "" && kind.word == "" && end < len(line) && line[end] == ':' {
				if kind = implied(line, end, lexicon); kind.word != "" {
					i = kind.to
				}
			}
		case kind.word == "" && !number && slices.Contains(orderWords, strings.ToLower(string(word))):
			kind, i = one, end
		case lexicon.Of(word) == vocabulary.Sum:
			return tick, player, kind, false
		}
	}
	return tick, player, kind, tick.word != "" && player.word != "" && kind.word != ""
}

// noWord is the word of a kind or a tick that has none.
const noWord = ":"

// implied returns the kind of an order after a player and a colon: player 1: move. Its word is empty if there is none.
func implied(line []byte, colon int, lexicon *vocabulary.Lexicon) phrase {
	from := colon + 1
	for from < len(line) && isBlank(line[from]) {
		from++
	}
	to := from
	for to < len(line) && (isLetter(line[to]) || isDigit(line[to]) || line[to] == '-' && to > from) {
		to++
	}
	if from == to || !isLetter(line[from]) || slices.Contains(orderWords, strings.ToLower(string(line[from:to]))) {
		return phrase{}
	}
	if meaning := lexicon.Of(line[from:to]); meaning != vocabulary.Other && meaning != vocabulary.Measure {
		return phrase{}
	}
	return phrase{word: noWord, value: string(line[from:to]), from: from, to: to}
}

// bare returns the phrases of a line with a tick and a player at its begin: 12 P1 move.
func bare(line []byte, lexicon *vocabulary.Lexicon) (tick, player, kind phrase, ok bool) {
	cut := func(from int, fits func(byte) bool) (to int) {
		for to = from; to < len(line) && fits(line[to]); to++ {
		}
		return to
	}
	end := cut(0, isDigit)
	at := cut(end, isBlank)
	from := cut(at, isLetter)
	to := cut(from, isDigit)
	name := strings.ToLower(string(line[at:from]))
	if end == 0 || at == end || name != "p" && name != "player" || from == to || to == len(line) || !isBlank(line[to]) {
		return tick, player, kind, false
	}
	tick = phrase{word: noWord, value: string(line[:end]), to: end}
	player = phrase{word: name, value: string(line[from:to]), from: at, to: to}
	_, ok = tickOf(tick.value)
	kind = implied(line, to, lexicon)
	return tick, player, kind, ok && kind.word != ""
}

func isBlank(c byte) bool { return c == ' ' || c == '\t' }

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' || c >= 0x80 }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }

// learnLines finds the words of lines with orders.
func learnLines(sample []byte) *Pattern {
	count := map[names]int{}
	var lexicon vocabulary.Lexicon
	var best names
	lines := 0
	for line := range engine.WholeLines(sample) {
		if len(bytes.TrimSpace(line)) > 0 {
			lines++
		}
		tick, player, kind, ok := phrases(line, &lexicon)
		if !ok {
			tick, player, kind, ok = bare(line, &lexicon)
		}
		if !ok {
			continue
		}
		n := names{tick: tick.word, player: player.word, kind: kind.word}
		if count[n]++; count[n] > count[best] {
			best = n
		}
	}
	if count[best] < 3 || best.kind == noWord && 2*count[best] < lines {
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
	if !ascends(all) || best.kind == noWord && !repeats(all) {
		return nil
	}
	return p
}

// repeats reports whether orders have few kinds, as words of prose have not.
func repeats(orders []order) bool {
	kinds := map[string]bool{}
	for i := range orders {
		kinds[orders[i].kind] = true
	}
	return 2*len(kinds) <= len(orders)+2
}

// readLines returns a function that reads the next order in a log.
func (p *Pattern) readLines(r io.Reader, name string) func() (*order, error) {
	lines := orderlog.NewLines(r, name)
	anchor := []byte(p.names.kind)
	if p.names.tick == noWord {
		anchor = nil
	}
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
	read := phrases
	if p.names.tick == noWord {
		read = bare
	}
	tick, player, kind, ok := read(line, lexicon)
	if !ok || p.names != (names{tick: tick.word, player: player.word, kind: kind.word}) {
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
