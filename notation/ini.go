package notation

import "bytes"

// iniNotation is the notation of settings files, which have many names: sections in square brackets, and lines of a
// key, = or :, and a value. Lines that begin with ; or # are comments.
//
// The name of a section is split at dots and slashes, and at the first colon or blank: [units.17], [unit 17], [unit:a-17]
// and [unit "a b"] are maps in maps. Sections of the same name are a list.
func iniNotation() Notation {
	extensions := []string{".ini", ".cfg", ".conf", ".properties"}
	return Notation{Name: "ini", Repeats: true, Title: "INI", Extensions: extensions, Lines: true, Sniff: sniffINI, Parse: parseINI}
}

// sniffINI reports whether all lines of a text are lines of a file of settings. Without sections, at least three keys
// are names without blanks before an =, none comes twice, and no value has a further name before an =, as lines of logs
// have.
func sniffINI(head []byte, whole bool) bool {
	if !whole {
		head = head[:bytes.LastIndexByte(head, '\n')+1]
	}
	if bytes.IndexByte(head, 0) >= 0 {
		return false
	}
	sections, pairs, twice, further := 0, 0, 0, 0
	keys := map[string]bool{}
	for at := 0; at < len(head); {
		line, next := iniLine(head, at)
		at = next
		key, value, ok := iniPair(line)
		if len(line) == 0 {
			continue
		}
		if iniSection(line) != nil {
			sections++
			continue
		}
		name, colon := isName(key), ok && line[len(key):][0] == ':'
		block := bytes.HasSuffix(value, []byte("{")) || bytes.HasSuffix(value, []byte("}")) // of a program
		if !ok || block || len(key) > 100 || !name && (colon || sections == 0) {
			return false
		}
		pairs++
		if keys[string(key)] || colon {
			twice++
		}
		if hasPair(value) {
			further++
		}
		keys[string(key)] = true
	}
	if sections > 0 {
		return pairs > 0 && further <= pairs/2
	}
	return pairs > 2 && twice+further == 0
}

// isName reports whether a text is letters, digits, and signs that join them, beginning with a letter or _.
func isName(text []byte) bool {
	for i, c := range text {
		if c|0x20-'a' > 'z'-'a' && c != '_' && c < 0x80 && (i == 0 || c-'0' > 9 && c != '.' && c != '-' && c != '/') {
			return false
		}
	}
	return len(text) > 0
}

// hasPair reports whether a value has a name and = in it, as the lines of many logs do.
func hasPair(value []byte) bool {
	i := bytes.IndexByte(value, '=')
	return i > 0 && isName(value[bytes.LastIndexByte(value[:i], ' ')+1:i])
}

// iniLine returns the line at an offset without blanks around it, empty if it is a comment, and the offset of the next
// one.
func iniLine(text []byte, at int) (line []byte, next int) {
	next = len(text)
	if end := bytes.IndexByte(text[at:], '\n'); end >= 0 {
		next = at + end + 1
	}
	if at == 0 {
		at = bomLen(text)
	}
	line = bytes.TrimSpace(text[at:next])
	if len(line) > 0 && (line[0] == ';' || line[0] == '#') {
		line = nil
	}
	return line, next
}

// iniSection returns the name of a section, nil if the line does not begin one. A comment may follow it.
func iniSection(line []byte) []byte {
	if len(line) == 0 || line[0] != '[' {
		return nil
	}
	name, after, ok := bytes.Cut(line[1:], []byte("]"))
	if after = bytes.TrimSpace(after); !ok || len(name) == 0 || len(after) > 0 && after[0] != ';' && after[0] != '#' {
		return nil
	}
	return name
}

// iniPair splits a line into a key and a value.
func iniPair(line []byte) (key, value []byte, ok bool) {
	i := bytes.IndexAny(line, "=:")
	if i < 1 || line[0] == '[' {
		return nil, nil, false
	}
	return bytes.TrimSpace(line[:i]), bytes.TrimSpace(line[i+1:]), true
}

// iniQuoted returns the text in the quotes that a value begins and ends with, nil if others are in it that have no backslash
// before them.
func iniQuoted(value []byte) []byte {
	if len(value) < 2 || value[0] != '"' && value[0] != '\'' || value[len(value)-1] != value[0] {
		return nil
	}
	quote, inner := value[0], value[1:len(value)-1]
	if bytes.IndexByte(inner, quote) < 0 {
		return inner
	}
	out := make([]byte, 0, len(inner))
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c == '\\' && i+1 < len(inner) && (inner[i+1] == quote || inner[i+1] == c):
			i++
		case c == quote:
			return nil
		}
		out = append(out, inner[i])
	}
	return out
}

// iniPath splits the name of a section.
func iniPath(name []byte) (path [][]byte) {
	begins := true // the next part is the name of a table
	for rest := bytes.TrimSpace(name); len(rest) > 0 && len(path) <= MaxDepth; {
		if rest[0] == '"' {
			quoted, after, _ := bytes.Cut(rest[1:], rest[:1])
			path, rest = append(path, quoted), bytes.TrimLeft(after, " ./:")
			continue
		}
		part := rest[:iniPart(rest, begins)]
		if len(part) > 0 {
			path = append(path, part)
			begins = numberLen(part) == len(part)
		}
		rest = bytes.TrimSpace(rest[min(len(rest), len(part)+1):])
	}
	if len(path) == 0 {
		return [][]byte{name}
	}
	return path
}

// iniPart returns the length of the first part of a name. Only the name of a table and a number end at a colon or blank,
// since the id of a row may have some. The name of a table has blanks if a number or quotes follow its last word.
func iniPart(rest []byte, begins bool) int {
	end := len(rest)
	if i := bytes.IndexAny(rest, "./"); i >= 0 {
		end = i
	}
	number := func(word []byte) bool { return len(word) > 0 && numberLen(word) == len(word) }
	first := bytes.IndexAny(rest[:end], ": ")
	switch {
	case first <= 0 || !begins && !number(rest[:first]):
		return end
	case rest[first] == ':' || number(rest[:first]):
		return first
	}
	if quote := bytes.Index(rest[:end], []byte(` "`)); quote > 0 {
		return quote
	}
	if last := bytes.LastIndexByte(rest[:end], ' '); number(rest[last+1:end]) && numberLen(rest[first+1:end]) == 0 {
		return last
	}
	return first
}

func parseINI(text []byte, to Sink) error {
	times := map[string]int{} // of each section
	for at := 0; at < len(text); {
		line, next := iniLine(text, at)
		if name := iniSection(line); name != nil {
			times[string(name)]++
		}
		at = next
	}
	depth := 0
	to.BeginMap(0)
	for at := 0; at < len(text); {
		line, next := iniLine(text, at)
		key, value, ok := iniPair(line)
		if name := iniSection(line); name != nil {
			for ; depth > 0; depth-- {
				to.End(at)
			}
			path := iniPath(name)
			if len(path) >= MaxDepth {
				return fault(at, "more than %d maps within each other", MaxDepth)
			}
			for i, part := range path {
				if i == len(path)-1 && times[string(name)] > 1 {
					to.Item(part)
				} else {
					to.Name(part)
				}
				to.BeginMap(at)
			}
			depth = len(path)
		} else if ok {
			kind := Bare
			if text := iniQuoted(value); text != nil {
				if value = text; numberLen(text) != len(text) { // all values of a game may have quotes
					kind = Text
				}
			}
			to.Name(key)
			to.Scalar(kind, value)
		} else if len(line) > 0 {
			return fault(at, "%.20q, expected a section in square brackets, or a key and a value", line)
		}
		at = next
	}
	for ; depth >= 0; depth-- {
		to.End(len(text))
	}
	return nil
}
