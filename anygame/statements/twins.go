package statements

import (
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/tracediff"
)

// People show what two runs wrote. The lines of both are equal except for some numbers:
//
//	first run:              612c612              @@ -18,3 +18,3 @@
//	Packets: 6855           < "drift": 0.25,      crew: 7
//	Delay (cycles): 8.39    ---                  -heading: 211.5
//	Port: 12                > "drift": 0.26,     +heading: 211.75
//	second run:
//	Packets: 6990
//	Delay (cycles): 8.40
//	Port: 12

const (
	// fewestTwins is how many lines the text of a run has at least, and mostRepeated how many lines two texts have at most.
	fewestTwins, mostRepeated = 3, 64
)

// figure finds the numbers of a line. No simulation computes those with a name or a unit of the other two.
var (
	figure  = lazyregexp.New(`-?\b\d+(?:\.\d+)?(?:[eE][-+]?\d+)?\b`)
	ofClock = lazyregexp.New(`(?i)\b(?:times?|elapsed|took|duration|date|started|finished|fps|pid|thread|port|address|version|build|line)\b|0x\d*$|\d:\d\d`)
	seconds = lazyregexp.New(`(?i)^(?:seconds?|secs?|[mun]?s|minutes?|:\d\d)\b`)
)

// shape is a line without its numbers, and these.
type shape struct {
	text    string
	numbers []string
	before  []string // the text before each number
	row     bool     // of a table: the first number is not among these
}

// anyNumber is in a shape for each number. Lines that contain it have no shape.
const anyNumber = "\x00"

// shaped returns the shape of a line. Its text is empty if the line has no numbers, or neither words nor two of them.
func shaped(line string) (s shape) {
	at := 0
	var out strings.Builder
	for _, f := range figure.FindAllStringSubmatchIndex(line, -1) {
		out.WriteString(line[at:f[0]] + anyNumber)
		s.numbers, s.before = append(s.numbers, line[f[0]:f[1]]), append(s.before, line[:f[0]])
		at = f[1]
	}
	if n := len(s.numbers); n > 1 && strings.Trim(out.String(), anyNumber+"# \t,") == "" && at == len(strings.TrimRight(line, " ,")) {
		return shape{text: s.numbers[0] + strings.Repeat(" "+anyNumber, n-1), numbers: s.numbers[1:], before: s.before[1:], row: true}
	}
	if len(s.numbers) == 0 || strings.Contains(line, anyNumber) || !strings.ContainsFunc(line, func(r rune) bool { return isLetter(byte(min(r, 0xff))) }) {
		return shape{}
	}
	s.text = out.String() + line[at:]
	return s
}

// differs returns the places of the numbers that differ between two lines of one shape.
func (s *shape) differs(o *shape) (at []int) {
	for i, n := range s.numbers {
		if !tracediff.EqualSums(n, o.numbers[i]) {
			at = append(at, i)
		}
	}
	return at
}

// name returns the words before a number: "Packets (all)" of "Packets (all): 12".
func (s *shape) name(i int) string {
	text := s.before[i]
	const around = " \t:=,;.\"'%#*<>-|~()"
	if i > 0 {
		if of := text[len(s.before[i-1])+len(s.numbers[i-1]):]; strings.Trim(of, around) != "" {
			text = of
		}
	}
	text = strings.Trim(text, around)
	if name := strings.TrimLeft(text, "0123456789.) "); name != "" {
		return name
	}
	return text
}

// twins returns the numbers that differ between the lines of two runs.
func (p *post) twins() (out []owned) {
	shapes := make([]shape, len(p.lines))
	places := map[string][]int{}
	for i := range p.lines {
		if shapes[i] = shaped(p.lines[i].raw); shapes[i].text != "" {
			places[shapes[i].text] = append(places[shapes[i].text], i)
		}
	}
	pair := func(a, b, k int, of string, sides [2]string) {
		s, o := &shapes[a], &shapes[b]
		isKnown := func(v owned) bool { return v.of == of }
		behind := strings.TrimLeft(p.lines[a].raw[len(s.before[k])+len(s.numbers[k]):], " ")
		isIndex := strings.HasSuffix(s.before[k], "[") && strings.HasPrefix(behind, "]")
		if of != "" && !slices.ContainsFunc(out, isKnown) && len(of) <= maxThing && !isIndex && !ofClock.MatchString(of) && !seconds.MatchString(behind) {
			out = append(out, owned{sides[0], of, s.numbers[k], a, ""}, owned{sides[1], of, o.numbers[k], b, ""})
		}
	}
	sides := [2]string{tracediff.OneSide, tracediff.OtherSide}
	for i := range p.lines {
		if n := p.changed(i); n > i {
			if shapes[i], shapes[n] = shaped(" "+p.lines[i].raw[1:]), shaped(" "+p.lines[n].raw[1:]); shapes[i].text == shapes[n].text {
				for _, k := range shapes[i].differs(&shapes[n]) {
					pair(i, n, k, shapes[i].name(k), sides)
				}
			}
		}
	}
	if len(out) > 0 {
		return out
	}
	for i, s := range shapes {
		of := places[s.text]
		if len(of) != 2 || of[0] != i {
			continue
		}
		apart, n := of[1]-i, 0
		for n < min(apart, mostRepeated) && of[1]+n < len(shapes) && shapes[i+n].text == shapes[of[1]+n].text && len(places[shapes[i+n].text]) == 2 {
			n++
		}
		for k := range n {
			if at := shapes[i+k].differs(&shapes[of[1]+k]); n >= fewestTwins && (len(at) == 1 || len(at) > 1 && shapes[i+k].row) {
				pair(i+k, of[1]+k, at[0], shapes[i+k].name(at[0]), sides)
			}
		}
		if n >= fewestTwins {
			break
		}
	}
	return out
}

// changed returns the line that a diff shows instead of a line, 0 if it shows none: as many lines of one side follow each other as
// of the other.
func (p *post) changed(i int) int {
	lines := func(from int, sign string) (n int) {
		for from+n < len(p.lines) && strings.HasPrefix(p.lines[from+n].raw, sign) && p.lines[from+n].raw != "---" {
			n++
		}
		return n
	}
	isDiff := func(l postLine) bool { return diffed.MatchString(l.raw) }
	for _, signs := range []string{"<>", "-+"} {
		from := i
		for from > 0 && lines(from-1, signs[:1]) > 0 {
			from--
		}
		n := lines(from, signs[:1])
		to := from + n
		if to < len(p.lines) && p.lines[to].raw == "---" {
			to++
		}
		if n > i-from && lines(to, signs[1:]) == n && slices.ContainsFunc(p.lines[max(0, from-mostRepeated):from], isDiff) {
			return to + i - from
		}
	}
	return 0
}

// diffed finds what a diff begins with, and its hunks.
var diffed = lazyregexp.New(`^(?:@@ -|diff|patch$|\d+(?:,\d+)?c\d+(?:,\d+)?$)`)

// runs are words for one of several times that a program runs.
const runs = "run|runs|trial|attempt|pass|try|playback|execution|simulation|rerun|session"

// tables returns the values of the first row that differs in a table with a column for each of two sides: | Fish | 12 | 13 |.
func (p *post) tables() []owned {
	var c columns
	for i := range p.lines {
		if c.row(p.lines[i].message) && (c.of == "" || !ofClock.MatchString(c.of)) {
			if a, b := c.of, c.peers; a != "" && figure.FindStringIndex(b[0].text) != nil && figure.FindStringIndex(b[1].text) != nil {
				return []owned{{b[0].peer, a, b[0].text, i, ""}, {b[1].peer, a, b[1].text, i, ""}}
			}
			continue
		}
		c = columns{}
	}
	return nil
}
