package notation

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// pathsNotation is one value a line, after its path: units[17].pos.x: 3, a.b = v, or /units/17/hp 3. A line with one name,
// such as tick = 300, is a member of the document. A line with the tick that comes again begins another document.
func pathsNotation() Notation {
	return Notation{Name: "paths", Repeats: true, Title: "lines with a path and a value", Extensions: []string{".txt", ".dump", ".properties"},
		Lines: true, Sniff: func(head []byte, whole bool) bool { return fitsLines(head, whole, splitPath, false, 1) },
		Parse: func(text []byte, to Sink) error { return parseLines(text, to, splitPath, false) }}
}

// columnsNotation is one variable a line in columns: subsystem, entity, field and value. If all lines begin with a number that
// does not fall, it is the tick, and the lines with one number are a document.
func columnsNotation() Notation {
	return Notation{Name: "columns", Repeats: true, Title: "lines with one variable in columns", Extensions: []string{".txt", ".dump"},
		Lines: true, Sniff: func(head []byte, whole bool) bool {
			split, ticks := columnsOf(head)
			return fitsLines(head, whole, split, ticks, 2)
		},
		Parse: func(text []byte, to Sink) error {
			split, ticks := columnsOf(text)
			return parseLines(text, to, split, ticks)
		}}
}

// splitter returns the path in a line, appended to steps, and its value. Without steps the line does not fit.
type splitter func(line []byte, steps []step) (path []step, value []byte)

// step is one name of a path.
type step struct {
	name []byte
	item int // of a map that its own line begins: the offset of that line, plus 1
}

// fitsLines reports whether lines have paths and values, most of them with numbers, and no path twice in a document.
// Each first name of a path must begin at least each lines on the average. Ticks means that lines begin with a tick.
func fitsLines(head []byte, whole bool, split splitter, ticks bool, each int) bool {
	var lines, fit, deep, wide, indexed, series, numbers, margin int
	var path []step
	seen, first, last := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var doc document
	for at := 0; at < len(head); {
		line, next := lineAt(head, at)
		if next == len(head) && head[next-1] != '\n' && !whole {
			break
		}
		at = next
		indent := indentOf(line)
		if line = bytes.TrimSpace(line); isRemark(line) {
			continue
		}
		lines++
		if ticks {
			var tick []byte
			if tick, line = leadingTick(line); !bytes.Equal(tick, doc.tick) {
				clear(seen)
				doc.tick = tick
			}
		}
		var value []byte
		if path, value = fitLine(line, path[:0], split); len(path) == 0 {
			continue
		}
		fit++
		if doc.repeats(path, len(path) == 1) {
			clear(seen)
		}
		var key strings.Builder
		for _, s := range path {
			key.Write(s.name)
			key.WriteByte(0)
		}
		if seen[key.String()] {
			return false
		}
		seen[key.String()] = true
		if isNumeric(value) || bytes.HasPrefix(value, []byte("0x")) {
			numbers++
		}
		if len(path) > 2 {
			wide++
			if slices.ContainsFunc(path[1:], func(s step) bool { return len(bytes.Trim(s.name, "0123456789")) == 0 }) {
				indexed++
			}
		}
		if len(path) > 1 {
			if deep++; deep == 1 {
				margin = indent
			}
			if indent != margin { // a line may belong to the one above
				return false
			}
			first[string(path[0].name)] = true
			if isSeries(path) {
				if series++; isTick(path[0].name) {
					return false
				}
			}
			if len(path) == 2 {
				last[string(path[1].name)] = true
			}
		}
	}
	if each > 1 && len(last) > 0 && (len(last) == deep || len(first) == 1) { // const A = 1
		return false
	}
	if series == deep && len(first) == 1 { // checksum[300] = 17 is not a state
		return false
	}
	perNumber := 2 // one in so many lines must have a number
	switch {
	case each > 1 && 2*wide > deep:
		perNumber = 4
	case 4*indexed > 3*deep: // units[3].name
		perNumber = 8
	}
	return deep >= 3 && 20*(lines-fit) < lines && 2*deep > lines && perNumber*numbers >= fit && each*len(first) <= deep
}

// parseLines reads lines with paths and values. Ticks means that lines begin with a tick.
func parseLines(text []byte, to Sink, split splitter, ticks bool) error {
	doc := document{to: to}
	var path []step
	for at := 0; at < len(text); {
		line, next := lineAt(text, at)
		begin := at
		at = next
		if line = bytes.TrimSpace(line); isRemark(line) {
			continue
		}
		if ticks {
			var tick []byte
			if tick, line = leadingTick(line); !bytes.Equal(tick, doc.tick) && len(tick) > 0 {
				doc.end(begin)
				doc.enter(nil, begin)
				to.Name([]byte("tick"))
				to.Scalar(Bare, tick)
				doc.tick = tick
			}
		}
		var value []byte
		if path, value = fitLine(line, path[:0], split); len(path) == 0 {
			if next == len(text) && text[next-1] != '\n' {
				return cut(begin, "a line")
			}
			return fault(begin, "%.60q, expected a path and a value", line)
		}
		if doc.repeats(path, len(path) == 1) {
			doc.end(begin)
		}
		doc.enter(path[:len(path)-1], begin)
		to.Name(path[len(path)-1].name)
		giveValue(to, value, begin)
		if m := banners.FindSubmatch(line); m != nil && bytes.Equal(m[2], value) {
			givePairs(to, m[3], begin)
		}
	}
	doc.end(len(text))
	return nil
}

// document gives values at paths to a Sink. The maps of the last path stay open, and only those that change are closed.
type document struct {
	to    Sink
	begun bool
	open  []step
	tick  []byte // the name of the tick, once there is one
}

// repeats reports whether a path is the tick of another document.
func (d *document) repeats(path []step, alone bool) bool {
	name := path[len(path)-1].name
	if !alone || len(name) > 16 || !isTick(name) {
		return false
	}
	again := bytes.Equal(d.tick, name)
	d.tick = name
	return again
}

// enter closes and opens maps, up to the maps of a path.
func (d *document) enter(path []step, at int) {
	if !d.begun {
		d.to.BeginMap(at)
		d.begun = true
	}
	same := 0
	for same < len(d.open) && same < len(path) && path[same].item == d.open[same].item && bytes.Equal(path[same].name, d.open[same].name) {
		same++
	}
	for range d.open[same:] {
		d.to.End(at)
	}
	d.open = append(d.open[:same], path[same:]...)
	for _, s := range path[same:] {
		if s.item > 0 {
			d.to.Item(s.name)
		} else {
			d.to.Name(s.name)
		}
		d.to.BeginMap(at)
	}
}

// end ends the document.
func (d *document) end(at int) {
	if d.begun {
		d.enter(nil, at)
		d.to.End(at)
		d.begun = false
	}
}

// lineAt returns a line without its end, and where the next one begins.
func lineAt(text []byte, at int) (line []byte, next int) {
	if n := bytes.IndexByte(text[at:], '\n'); n >= 0 {
		return text[at : at+n], at + n + 1
	}
	return text[at:], len(text)
}

// isRemark reports whether a line is empty or a comment. A comment with the tick is none.
func isRemark(line []byte) bool {
	if len(line) == 0 {
		return true
	}
	if line[0] != '#' && line[0] != ';' && !bytes.HasPrefix(line, []byte("//")) {
		return len(bytes.Trim(line, "-=*_")) == 0
	}
	_, value := tickLine(line)
	return value == nil
}

// fitLine splits a line. A heading with the tick, such as === Tick 300 ===, is also a line with a value.
func fitLine(line []byte, path []step, split splitter) ([]step, []byte) {
	path, value := split(line, path)
	if len(path) > 1 || len(path) == 1 && isNumber(value) {
		return path, value
	}
	if name, tick := tickLine(line); tick != nil {
		return append(path[:0], step{name: name}), tick
	}
	if m := banners.FindSubmatch(line); m != nil && len(path) < 2 && isTick(m[1]) {
		return append(path[:0], step{name: m[1]}), m[2]
	}
	return path, value
}

// tickPair finds a value with its name.
var tickPair = lazyregexp.New(`([A-Za-z_]\w*) ?[=:] ?([^\s=:,;]+)`)

// givePairs gives the values with names after a tick in a heading: -- frame 4 cpu=0.448 mem=218.4
func givePairs(to Sink, text []byte, at int) {
	for _, p := range tickPair.FindAllSubmatchIndex(text, -1) {
		to.Name(text[p[2]:p[3]])
		giveValue(to, text[p[4]:p[5]], at)
	}
}

// tickLine returns the name and the number of the tick in a line that has only these.
func tickLine(line []byte) (name, value []byte) {
	if len(line) > 80 {
		return nil, nil
	}
	line = bytes.Trim(line, "=-#*[]<>~_/;: \t")
	n := bytes.IndexAny(line, " \t=:#")
	if n < 0 || !isTick(line[:n]) {
		return nil, nil
	}
	if value = bytes.TrimLeft(line[n:], " \t=:#"); numberLen(value) != len(value) || len(value) == 0 {
		return nil, nil
	}
	return line[:n], value
}

// isTick reports whether a name is a word for the tick.
func isTick(name []byte) bool {
	for _, word := range [...]string{"tick", "frame", "turn", "step", "gametick", "simtick", "gameframe", "simframe", "game_tick", "sim_tick", "framenumber"} {
		if len(word) == len(name) && strings.EqualFold(word, string(name)) {
			return true
		}
	}
	return false
}

// isNumeric reports whether a value is a number, a list of them, or a truth.
func isNumeric(value []byte) bool {
	value = trimValue(value)
	return isNumber(value) || isList(value) || bytes.EqualFold(value, []byte("true")) || bytes.EqualFold(value, []byte("false"))
}

// trimValue returns a value without the dot, comma or semicolon that ends its line.
func trimValue(value []byte) []byte {
	if n := len(value) - 1; n > 0 && bytes.IndexByte([]byte(".,;"), value[n]) >= 0 {
		if rest := bytes.TrimRight(value[:n], " "); isNumber(rest) || isList(rest) || isQuoted(rest) {
			return rest
		}
	}
	return value
}

// splitPath is a [splitter] of a path, with a separator and a value after it.
func splitPath(line []byte, steps []step) ([]step, []byte) {
	end, slash := pathLen(line)
	if end == 0 || end == len(line) {
		return nil, nil
	}
	if steps = pathSteps(line[:end], slash, steps); len(steps) == 0 {
		return nil, nil
	}
	value := bytes.TrimLeft(line[end:], " \t")
	if len(value) > 0 && (value[0] == '=' || value[0] == ':') {
		value = bytes.TrimLeft(value[1:], " \t")
		if len(value) > 0 && (value[0] == '=' || value[0] == ':') {
			return nil, nil
		}
		return steps, value
	}
	if !isNumber(value) && (len(steps) == 1 || bytes.ContainsAny(value, " \t") && !isQuoted(value) && !isList(value)) {
		return nil, nil
	}
	return steps, value
}

// pathLen returns the length of the path at the begin of a line, and whether it has slashes.
func pathLen(line []byte) (end int, slash bool) {
	if !isNameStart(line[0]) && line[0] != '/' && line[0] != '$' {
		return 0, false
	}
	for end < len(line) {
		switch c := line[end]; {
		case c == '/':
			slash = true
		case c == '[':
			n := bytes.IndexByte(line[end:], ']')
			if n < 0 {
				return 0, false
			}
			end += n
		case isNameStart(c) || c-'0' <= 9 || c == '.' || c == '-' || c == '#' || c == '@' || c == '$' || c == '+' || c == '%':
		case c == ' ' || c == '\t' || c == '=' || c == ':':
			return end, slash
		default:
			return 0, false
		}
		end++
	}
	return end, slash
}

// pathSteps appends the names in a path. A number in brackets is a name.
func pathSteps(path []byte, slash bool, steps []step) []step {
	separator := byte('.')
	if slash {
		separator = '/'
		path = bytes.TrimPrefix(path, []byte("/"))
	}
	begin := 0
	for i := 0; i <= len(path); i++ {
		if i < len(path) && path[i] != separator && path[i] != '[' {
			continue
		}
		if len(steps) >= MaxDepth {
			return nil
		}
		if i > begin {
			steps = append(steps, step{name: path[begin:i]})
		} else if i == 0 || i == len(path) || path[i-1] != ']' {
			return nil
		}
		for i < len(path) && path[i] == '[' {
			n := bytes.IndexByte(path[i:], ']')
			if n < 2 {
				return nil
			}
			steps = append(steps, step{name: bytes.Trim(path[i+1:i+n], `"'`)})
			i += n + 1
		}
		if begin = i + 1; i < len(path) && path[i] != separator {
			return nil
		}
		if i == len(path) {
			break
		}
	}
	return steps
}

// columnsOf returns the [splitter] for as many columns as most of the first lines have, after a tick if they begin with one.
// The last column may be a text of several words.
func columnsOf(text []byte) (split splitter, ticks bool) {
	if len(text) > sniffLen {
		text = text[:bytes.LastIndexByte(text[:sniffLen], '\n')+1]
	}
	ticks = beginWithTicks(text)
	var counts [6]int
	lines := 0
	for at := 0; at < len(text); {
		var line []byte
		if line, at = lineAt(text, at); isRemark(bytes.TrimSpace(line)) {
			continue
		}
		lines++
		if ticks {
			_, line = leadingTick(line)
		}
		if path, _ := columns(line, nil, 9); len(path) < len(counts) {
			counts[len(path)]++
		}
	}
	most := 3
	for n := range counts {
		if n > 3 && counts[n] > counts[most] {
			most = n
		}
	}
	rest := 2*counts[most] > lines
	return func(line []byte, steps []step) ([]step, []byte) {
		if bytes.Count(line, []byte{'='}) > 1 && bytes.IndexByte(line, '"') < 0 { // hp=77 x=12
			return nil, nil
		}
		path, value := columns(line, steps, most)
		n := len(path)
		if rest && n > most {
			n, path = most, path[:most]
			begin := cap(line) - cap(path[most-1].name) // where the last column is in the line
			value = bytes.TrimSpace(line[begin:])
		}
		if n != most && n != 2 || len(value) == 0 || value[len(value)-1] == ';' || n == 2 && !isNumber(value) || n > 2 && isTick(path[0].name) {
			return nil, nil
		}
		path = path[:n-1]
		if !isNameStart(path[0].name[0]) || !isNameStart(path[n-2].name[0]) {
			return nil, nil
		}
		return path, value
	}, ticks
}

// beginWithTicks reports whether all lines begin with a number that does not fall, and most with the number of the line
// before.
func beginWithTicks(text []byte) bool {
	last, lines, changes := uint64(0), 0, 0
	for at := 0; at < len(text); {
		var line []byte
		if line, at = lineAt(text, at); isRemark(bytes.TrimSpace(line)) {
			continue
		}
		tick, rest := leadingTick(line)
		n, err := strconv.ParseUint(string(tick), 10, 63)
		if err != nil || len(rest) == 0 || lines > 0 && n < last {
			return false
		}
		if lines++; n != last {
			changes++
		}
		last = n
	}
	return lines > 2*changes
}

// leadingTick splits a line after the number that it begins with. Without one the rest is the whole line.
func leadingTick(line []byte) (tick, rest []byte) {
	line = bytes.TrimLeft(line, " \t")
	n := bytes.IndexAny(line, " \t")
	if n < 1 || n > 19 || len(bytes.Trim(line[:n], "0123456789")) > 0 {
		return nil, line
	}
	return line[:n], bytes.TrimSpace(line[n:])
}

// columns appends the columns of a line, the value last. A value in quotes may contain blanks.
func columns(line []byte, steps []step, most int) (path []step, value []byte) {
	const blanks = " \t=\r"
	for len(steps) < most+1 {
		line = bytes.TrimLeft(line, blanks)
		if len(line) == 0 {
			break
		}
		if isQuoted(line) {
			return append(steps, step{name: line}), line
		}
		n := bytes.IndexAny(line, blanks)
		if n < 0 {
			n = len(line)
		}
		if value = line[:n]; n < len(line) {
			value = bytes.TrimRight(value, ":")
		}
		if len(value) == 0 {
			return nil, nil
		}
		steps = append(steps, step{name: value})
		line = line[n:]
	}
	return steps, value
}

// isQuoted reports whether a text is in quotes.
func isQuoted(text []byte) bool {
	n := len(text) - 1
	return n > 0 && (text[0] == '"' || text[0] == '\'') && text[n] == text[0] && bytes.IndexByte(text[1:n], text[0]) < 0 ||
		n > 0 && text[0] == '"' && text[n] == '"' && bytes.IndexByte(text, '\\') > 0
}

// isList reports whether a text has several numbers, in brackets or not: 320.0, 240.0 or (1 2 3).
func isList(text []byte) bool {
	n := 0
	numbers(text, func([]byte) { n++ })
	return n > 1
}

// numbers calls each with the numbers in a text, if it has nothing else.
func numbers(text []byte, each func([]byte)) {
	if len(text) == 0 || !isNameStart(text[0]) && text[0]-'0' > 9 && bytes.IndexByte([]byte("+-.(["), text[0]) < 0 {
		return
	}
	if text[0] == '(' || text[0] == '[' {
		if last := text[len(text)-1]; last != closes(text[0]) {
			return
		}
		text = text[1 : len(text)-1]
	}
	rest := text
	for pass := 0; pass < 2; pass++ {
		for text = rest; ; {
			text = bytes.TrimLeft(text, " \t")
			n := bytes.IndexAny(text, ", \t")
			if n < 0 {
				n = len(text)
			}
			if pass == 1 {
				each(text[:n])
			} else if !isNumber(text[:n]) {
				return
			}
			text = bytes.TrimLeft(text[n:], " \t")
			if len(text) == 0 {
				break
			}
			text = bytes.TrimPrefix(text, []byte(","))
		}
	}
}

// infoFields returns the names and values in an info string of Quake's engines, in turn: \health\100\origin\-565 597 24. It is nil for
// other texts, such as paths: a value is a number.
func infoFields(text []byte) [][]byte {
	if isQuoted(text) {
		text = text[1 : len(text)-1]
	}
	if len(text) == 0 || text[0] != '\\' || bytes.IndexByte(text, '"') >= 0 {
		return nil
	}
	parts := bytes.Split(text[1:], []byte{'\\'})
	numeric := false
	for i, part := range parts {
		if i%2 == 0 && !isName(part) {
			return nil
		}
		numeric = numeric || i%2 != 0 && isNumeric(part)
	}
	if len(parts)%2 != 0 || len(parts) < 4 || !numeric {
		return nil
	}
	return parts
}

// giveInfo gives the fields of an info string.
func giveInfo(to Sink, fields [][]byte, at int) {
	for i := 0; i < len(fields); i += 2 {
		to.Name(fields[i])
		giveValue(to, fields[i+1], at)
	}
}

// giveValue gives a value of a notation without types.
func giveValue(to Sink, value []byte, at int) {
	if info := infoFields(value); info != nil {
		to.BeginMap(at)
		giveInfo(to, info, at)
		to.End(at)
		return
	}
	switch value = trimValue(value); {
	case len(value) == 0:
		to.Scalar(Null, nil)
	case isNumber(value):
		to.Scalar(Bare, value)
	case isQuoted(value):
		s := scanner{dialect: &dialect{bareWords: true}, text: value}
		if _, text, err := s.texts(Text); err == nil && s.at == len(value) {
			value = text
		}
		to.Scalar(Text, value)
	case isList(value):
		to.BeginList(at)
		numbers(value, func(number []byte) { to.Scalar(Bare, number) })
		to.End(at)
	default:
		to.Scalar(Bare, value)
	}
}
