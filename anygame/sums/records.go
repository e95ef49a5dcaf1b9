package sums

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/notation"
)

// records is the form of lines with named values: maps in JSON, and rows of a table. Such a line is read as text in
// which the values that matter come first, each after its name, and then all other words.
type records struct {
	json      *notation.Notation // nil for a table
	lead      bool               // other text precedes a map
	separator byte
	names     []string // of the columns of a table
	paths     []string // of the values that matter
	words     []string // for checksums, by path, where the message of their lines has one
	who       []bool   // by path: the value names a peer

	walk         walk
	values       [][]byte // by path
	buffer, text []byte
}

// fork returns records of the same form for another reader.
func (r *records) fork() lineForm {
	one := *r
	one.walk, one.values, one.buffer, one.text = walk{}, make([][]byte, len(r.paths)), nil, nil
	return &one
}

// mapBegins is how a map in JSON begins on a line with other text before it.
var mapBegins = []byte(`{"`)

// each gives the values of a line with their paths, and reports whether the line has the form.
func (r *records) each(line []byte, do func(path, value []byte)) bool {
	if r.json != nil {
		if r.lead {
			line = bytes.TrimRight(line[max(bytes.Index(line, mapBegins), 0):], " \t")
		}
		r.walk = walk{path: r.walk.path[:0], stack: r.walk.stack[:0], do: do}
		return len(line) > 0 && line[0] == '{' && r.json.Parse(line, &r.walk) == nil
	}
	var cells [maxSlots][]byte
	if split(line, r.separator, cells[:]) != len(r.names) {
		return false
	}
	for i, name := range r.names {
		do([]byte(name), cells[i])
	}
	return true
}

// line returns a line as text, which is valid until the next call. It is empty if the line has another form.
func (r *records) line(line []byte) []byte {
	r.buffer, r.text = r.buffer[:0], r.text[:0]
	clear(r.values)
	ok := r.each(line, func(path, value []byte) {
		begin := len(r.buffer)
		for i := range r.paths {
			if r.paths[i] == string(path) {
				if r.buffer = append(r.buffer, value...); r.who[i] {
					r.buffer = spell(r.buffer, begin)
				}
				r.values[i] = r.buffer[begin:]
				return
			}
		}
		if len(value) > 0 && isLetter(value[0]) {
			r.text = append(append(append(append(r.text, ' '), path...), '='), value...)
		}
	})
	if !ok {
		return nil
	}
	rest := len(r.text)
	for i, value := range r.values {
		if len(value) > 0 {
			r.text = append(append(append(append(append(r.text, r.paths[i]...), r.words[i]...), '='), value...), ';')
		}
	}
	r.buffer = append(r.buffer[:0], r.text[rest:]...)
	return append(r.buffer, r.text[:rest]...)
}

// learn finds the values that matter, by their names and by their form in most lines.
func (r *records) learn(lines [][]byte) bool {
	count := map[string]int{}
	var lexicon vocabulary.Lexicon
	fits, ticks := 0, 0
	said := map[string]*saidSum{}
	for _, line := range lines {
		tick, sum, word := false, false, ""
		var found []string
		var values [][]byte
		ok := r.each(line, func(path, value []byte) {
			name := path[bytes.LastIndexByte(path, '.')+1:]
			meaning := lexicon.Of(name)
			_, _, whole := integer(value)
			if messageNames.Match(path) {
				for _, part := range vocabulary.Parts(string(value[:min(len(value), maxLabel)])) {
					if vocabulary.Of(part) == vocabulary.Sum {
						word = part
					}
				}
			}
			tick = tick || whole && meaning == vocabulary.Tick
			switch {
			case meaning == vocabulary.Player, isWho(string(name)), phaseWord(string(name)) != "":
			case whole && (meaning == vocabulary.Tick || meaning == vocabulary.Sum || meaning == vocabulary.WeakSum),
				whole && meaning == vocabulary.Other && (len(value) >= 6 || shortTick(string(name))):
				sum = sum || meaning != vocabulary.Tick
			case len(value) == 0 || string(name) != "phase" && !isScope(string(name)):
				return
			}
			found = append(found, string(path))
			values = append(values, value)
		})
		if !ok {
			continue
		}
		fits++
		if tick && sum || r.json == nil {
			ticks++
			for i, path := range found {
				count[path]++
				if said[path] == nil {
					said[path] = &saidSum{word: word, first: bytes.Clone(values[i])}
				}
				said[path].take(word, values[i])
			}
		}
	}
	for path, n := range count {
		if 2*n >= ticks && len(r.paths) < maxSlots {
			r.paths = append(r.paths, path)
		}
	}
	order := func(path string) string { // ticks first, then names of parts of the state
		switch name := path[strings.LastIndexByte(path, '.')+1:]; {
		case shortTick(name) || vocabulary.Of(name) == vocabulary.Tick:
			return "\x00" + path
		case isScope(name) || isWho(name) || vocabulary.Of(name) == vocabulary.Player:
			return "\x01" + path
		}
		return path
	}
	slices.SortFunc(r.paths, func(a, b string) int { return strings.Compare(order(a), order(b)) })
	r.values, r.words = make([][]byte, len(r.paths)), make([]string, len(r.paths))
	last := func(path string) string { return path[strings.LastIndexByte(path, '.')+1:] }
	meaning := func(path string) vocabulary.Meaning { return lexicon.Of([]byte(last(path))) }
	r.who = lists.Map(r.paths, func(path string) bool { return meaning(path) == vocabulary.Player || isWho(last(path)) })
	if r.json != nil && !slices.ContainsFunc(r.paths, func(path string) bool { return meaning(path) == vocabulary.Sum }) {
		for i, path := range r.paths {
			if meaning(path) == vocabulary.Other && said[path].fits() && !libraryNames.MatchString(path) && !hasPart(path, runs) {
				r.words[i] = "_" + said[path].word
			}
		}
	}
	return 10*fits >= 9*len(lines) && len(r.paths) >= 2
}

// spelled is the letter for the byte 0 in names of peers: a name with blanks, digits or signs is one word of letters then.
const spelled = '\ue000'

// spell makes a word of the name at the end of a text, unless it is a number.
func spell(text []byte, begin int) []byte {
	name := text[begin:]
	if _, _, number := integer(name); number || !slices.ContainsFunc(name, isLetter) || !slices.ContainsFunc(name, func(c byte) bool { return !isLetter(c) }) {
		return text
	}
	name = bytes.Clone(name)
	text = text[:begin]
	for _, c := range name {
		if isLetter(c) {
			text = append(text, c)
		} else {
			text = utf8.AppendRune(text, spelled+rune(c))
		}
	}
	return text
}

// unspell returns a name as it was.
func unspell(name string) string {
	return strings.Map(func(c rune) rune {
		if c >= spelled && c < spelled+utf8.RuneSelf {
			return c - spelled
		}
		return c
	}, name)
}

// saidSum are the values of a member on lines with a message. They are checksums if the message has a word for them, "Sim digest
// tick 5", and they have the form.
type saidSum struct {
	word               string
	first              []byte
	other, odd, letter bool
}

func (s *saidSum) take(word string, value []byte) {
	_, letters, ok := integer(value)
	s.odd = s.odd || word != s.word || !ok || len(value) != len(s.first) || len(value) < 8
	s.letter = s.letter || letters
	s.other = s.other || !bytes.Equal(value, s.first)
}

func (s *saidSum) fits() bool { return s.word != "" && !s.odd && s.letter && s.other }

// scopes are names of members with the name of a part of the state.
const scopes = " system subsystem scope module component category section part "

func isScope(name string) bool { return strings.Contains(scopes, " "+strings.ToLower(name)+" ") }

// isWho reports whether a member may be a peer, if checksums agree with that.
func isWho(name string) bool {
	return strings.Contains(" p id pid who name src source from side host by ", " "+strings.ToLower(name)+" ")
}

// learnRecords finds records: JSON, a table with a header, or two or three columns of numbers.
func learnRecords(lines [][]byte, how choice) (lineForm, []template) {
	for _, r := range formsOf(lines) {
		body := lines
		if r.lead {
			body = withMaps(lines)
		} else if r.json == nil && r.names[0] != "t" && r.names[len(r.names)-1] != "t" {
			body = lines[1:]
		}
		if len(body) == 0 || !r.learn(body) {
			continue
		}
		var texts [][]byte
		for _, line := range body {
			if text := r.line(line); len(text) > 0 {
				texts = append(texts, bytes.Clone(text))
			}
		}
		if list := learnText(texts, how); len(list) > 0 {
			return r, list
		}
	}
	return nil, nil
}

// formsOf returns the forms that lines may have.
func formsOf(lines [][]byte) (list []*records) {
	if len(lines) == 0 {
		return nil
	}
	if lead := lines[0][0] != '{'; !lead || len(withMaps(lines)) >= 3 {
		all := notation.All()
		i := slices.IndexFunc(all, func(n notation.Notation) bool { return n.Name == "json" })
		list = append(list, &records{json: &all[i], lead: lead})
		if !lead {
			return list
		}
	}
	var cells [maxSlots][]byte
	for _, separator := range []byte(",;\t|: ") {
		n := split(bytes.TrimLeft(lines[0], "# "), separator, cells[:])
		if n < 2 || n > maxSlots {
			continue
		}
		var names []string
		numbers := 0
		for _, cell := range cells[:n] {
			names = append(names, strings.ReplaceAll(string(cell), " ", "_"))
			if _, _, ok := integer(cell); ok {
				numbers++
			}
		}
		switch {
		case numbers == 0:
			list = append(list, &records{separator: separator, names: names})
		case numbers == n && n <= 3: // without names
			list = append(list, &records{separator: separator, names: []string{"t", "h", "i"}[:n]})
			list = append(list, &records{separator: separator, names: []string{"h", "i", "t"}[3-n:]})
		}
	}
	return list
}

// withMaps returns the lines that have a map in JSON after other text.
func withMaps(lines [][]byte) [][]byte {
	return lists.Where(lines, func(line []byte) bool { return bytes.Contains(line, mapBegins) })
}

// split cuts a line into cells, and returns their number. Blanks and quotes around them are left out.
func split(line []byte, separator byte, to [][]byte) int {
	if separator == ' ' || separator == '|' {
		line = bytes.Trim(line, " \t|")
	}
	for n := 0; ; n++ {
		cell, rest, more := bytes.Cut(line, []byte{separator})
		if n < len(to) {
			to[n] = bytes.Trim(cell, " \t\"")
		}
		if line = rest; !more {
			return n + 1
		}
		if separator == ' ' {
			line = bytes.TrimLeft(line, " \t")
		}
	}
}

// walk is a Sink that gives the scalars of a document with their paths: "sums.ai", "parts.0.hash", "parts.ai.hash".
type walk struct {
	path  []byte
	stack []level
	do    func(path, value []byte)
}

// level is a map or list that is open.
type level struct {
	begin int // of the text after its path
	items int // of a list, -1 of a map
}

func (w *walk) BeginMap(int)  { w.open(-1) }
func (w *walk) BeginList(int) { w.open(0) }

func (w *walk) open(items int) {
	w.element()
	w.stack = append(w.stack, level{begin: len(w.path), items: items})
}

// element goes on to the next element if the current container is a list.
func (w *walk) element() {
	if n := len(w.stack); n > 0 && w.stack[n-1].items >= 0 {
		top := &w.stack[n-1]
		w.path = strconv.AppendInt(append(w.path[:top.begin], '.'), int64(top.items), 10)
		top.items++
	}
}

func (w *walk) End(int) { w.stack = w.stack[:len(w.stack)-1] }

func (w *walk) Name(name []byte) {
	if w.path = w.path[:w.stack[len(w.stack)-1].begin]; len(w.path) > 0 {
		w.path = append(w.path, '.')
	}
	w.path = append(w.path, name...)
}

func (w *walk) Item(name []byte) { w.Name(name) }

func (w *walk) Scalar(kind notation.Kind, text []byte) {
	w.element()
	w.do(w.path, text)
	n := len(w.stack)
	if n < 2 || kind != notation.Text || w.stack[n-1].items >= 0 || w.stack[n-2].items < 0 || len(text) > maxLabel {
		return
	}
	begin := w.stack[n-1].begin
	switch string(bytes.TrimPrefix(w.path[begin:], []byte("."))) {
	case "name", "system", "id": // a map in a list is known by its name rather than by its number
		w.path = append(append(w.path[:w.stack[n-2].begin], '.'), text...)
		w.stack[n-1].begin = len(w.path)
	}
}

// maxLabel is how long a name of a map in a list may be.
const maxLabel = 64
