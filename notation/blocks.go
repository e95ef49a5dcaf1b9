package notation

import (
	"bytes"
	"math"
	"strconv"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// blocks is a log in which documents of several lines follow lines with a tick, or end them. Other lines are passed.
//
//	[2.75s INFO trace] frame=10 stage=confirmed
//	World {
//	    units: [],
//	}
//	[2.81s INFO net] ping=30ms
type blocks struct {
	inner *Notation
	mark  string // how the documents begin
	head  string // the text before the number on the lines that have the tick, if no word names it
	named bool   // documents have their own ticks, or a word names them
	size  int    // bytes of documents in the sample
}

func (b *blocks) notation() *Notation {
	return &Notation{Name: "log of " + b.inner.Name, Title: b.inner.Title + " between lines of a log", Lines: true, Repeats: b.inner.Repeats, Parse: b.parse}
}

// block is one of the documents.
type block struct {
	begin, end int
	tick       []byte // nil if there is none
	own        bool   // the document has it
	stage      blockStage
}

// blockStage is whether a game with rollback had confirmed a state, by the line before it.
type blockStage uint8

const (
	noStage blockStage = iota
	predicted
	confirmed
)

var (
	confirmedWords = lazyregexp.New(`(?i)\b(confirmed|final|finali[sz]ed|verified|authoritative|committed)\b`)
	predictedWords = lazyregexp.New(`(?i)\b(predicted|prediction|predict|speculative|speculated|tentative|guess|guessed|unconfirmed)\b`)
	wordNumber     = lazyregexp.New(`([A-Za-z_]+)[ =:#\[(]{0,3}([0-9]{1,18})(?:[^0-9A-Za-z_.]|$)`)
)

const (
	mostHeads   = 4  // lines before a document that may have its tick
	scanRatio   = 8  // bytes that are looked at for each byte of a log
	leastGuess  = 16 // ticks at the end of a log that may be guesses if earlier ones were replaced
	mostMissing = 4  // places in a sample where a mark begins no document
)

// blocksOf finds documents of several lines.
func blocksOf(sample []byte) *blocks {
	type seen struct {
		inner               *Notation
		found, size, failed int
	}
	marks, order := map[string]*seen{}, []string(nil)
	budget := scanRatio * len(sample)
	for at := 0; at < len(sample); {
		line, next := lineAt(sample, at)
		begin, mark := opensBlock(line)
		m := marks[string(mark)]
		if begin < 0 || m != nil && m.failed > mostMissing || m == nil && len(marks) == mostMarks {
			at = next
			continue
		}
		if m == nil {
			m = &seen{}
			marks[string(mark)], order = m, append(order, string(mark))
		}
		begin += at
		end := closing(sample, begin, &budget)
		if end-begin < leastEmbedded {
			m.failed++
			at = next
			continue
		}
		if m.found < fewestBlocks {
			if n := Of("", sample[begin:end], true); n != nil && !n.Loose && n.Check(sample[begin:end]) == nil {
				m.inner = n
			} else {
				m.failed++
				at = next
				continue
			}
		}
		m.found, m.size, at = m.found+1, m.size+end-begin, end
	}
	best := &seen{}
	out := &blocks{}
	for _, mark := range order {
		if m := marks[mark]; m.found >= fewestBlocks && m.size > best.size {
			best, out.mark, out.inner, out.size = m, mark, m.inner, m.size
		}
	}
	if out.inner == nil || !out.learn(sample) {
		return nil
	}
	return out
}

// fewestBlocks is how many documents a log has at least.
const fewestBlocks = 2

// opensBlock returns where a document begins that goes on after a line, and its begin up to the bracket; -1 if none does. A line
// with indentation may be within a document that is cut off.
func opensBlock(line []byte) (begin int, mark []byte) {
	line = bytes.TrimRight(line, " \t\r\n")
	if !bytes.ContainsAny(line, "{[(") || indentOf(line) > 0 {
		return -1, nil
	}
	var s bracketScan
	for i := range line {
		s.next(line, i)
	}
	if s.broken || len(s.open) == 0 {
		return -1, nil
	}
	bracket := s.first
	begin = bracket
	for begin > 0 && bytes.IndexByte([]byte("%#&"), line[begin-1]) >= 0 {
		begin--
	}
	end := begin
	if end > 0 && line[end-1] == ' ' {
		end--
	}
	name := end
	for name > 0 && (isWordByte(line[name-1]) || line[name-1] == '.' || line[name-1] == ':' && name > 1 && (line[name-2] == ':' || line[name] == ':')) {
		name--
	}
	if name < end && isNameStart(line[name]) && (end == bracket || line[name] <= 'Z') {
		begin = name
	}
	for begin > 0 && bytes.IndexByte([]byte("%#&"), line[begin-1]) >= 0 {
		begin--
	}
	return begin, line[begin : bracket+1]
}

// bracketScan finds the brackets that are open. Texts in quotes that end on their line have none.
type bracketScan struct {
	open   []byte
	first  int // where the outermost began
	until  int // of a text in quotes
	lone   [2]int
	broken bool
}

// next takes the byte at a place.
func (s *bracketScan) next(text []byte, i int) {
	if i < s.until {
		return
	}
	switch c := text[i]; c {
	case '"', '\'':
		which := int(c & 1)
		if i < s.lone[which] {
			return
		}
		for j := i + 1; ; j++ {
			if j >= len(text) || text[j] == '\n' {
				s.lone[which] = j // no text in quotes begins before this
				return
			}
			if text[j] == '\\' {
				j++
			} else if text[j] == c {
				s.until = j + 1
				return
			}
		}
	case '{', '[', '(':
		if len(s.open) == 0 {
			s.first = i
		}
		s.open = append(s.open, closes(c))
	case '}', ']', ')':
		if n := len(s.open) - 1; n >= 0 && s.open[n] == c {
			s.open = s.open[:n]
		} else {
			s.broken = true
		}
	}
}

// closing returns where the document ends that begins at a place, 0 if it does not end.
func closing(text []byte, begin int, budget *int) int {
	var s bracketScan
	for i := begin; i < len(text) && *budget > 0; i++ {
		*budget--
		before := len(s.open)
		if s.next(text, i); s.broken || len(s.open) > MaxDepth {
			return 0
		}
		if before > 0 && len(s.open) == 0 {
			return i + 1
		}
	}
	return 0
}

// learn finds where documents have their tick.
func (b *blocks) learn(sample []byte) bool {
	list := b.find(sample)
	named := 0
	for _, one := range list {
		if one.tick != nil {
			named++
		}
	}
	if b.named = 2*named > len(list); b.named {
		return true
	}
	for _, line := range headsBefore(sample, 0, list[0].begin) {
		if head, tick, _ := headOf(unstamped(line)); tick != nil {
			b.head = string(head)
			if rising(b.find(sample)) {
				return true
			}
		}
	}
	b.head = ""
	return true // a number of the documents may grow
}

// rising reports whether all documents have ticks, and these never get less.
func rising(list []block) bool {
	last := int64(-1)
	for _, one := range list {
		n, err := strconv.ParseInt(string(one.tick), 10, 64)
		if err != nil || n < last {
			return false
		}
		last = n
	}
	return true
}

// headsBefore returns the lines between two places, the last first, up to the end of the text before a document.
func headsBefore(text []byte, from, to int) (out [][]byte) {
	for to > from && len(out) < mostHeads {
		begin := from + 1 + bytes.LastIndexByte(text[from:to-1], '\n')
		if line := bytes.TrimSpace(text[begin:to]); len(line) > 0 {
			out = append(out, line)
		}
		to = begin
	}
	return out
}

// find finds the documents of a log. One that does not end is no part of it.
func (b *blocks) find(text []byte) (out []block) {
	budget, last := scanRatio*len(text), 0
	for at := 0; at < len(text) && budget > 0; {
		line, next := lineAt(text, at)
		begin, mark := -1, []byte(nil)
		if bytes.Contains(line, []byte(b.mark)) {
			begin, mark = opensBlock(line)
		}
		if begin < 0 || string(mark) != b.mark {
			at = next
			continue
		}
		end := closing(text, at+begin, &budget)
		if end == 0 {
			at = next
			continue
		}
		one := block{begin: at + begin, end: end}
		b.describe(&one, text, headsBefore(text, last, one.begin))
		out = append(out, one)
		at, last = end, end
	}
	return out
}

// stageOf returns the stage that a word of a line names.
func stageOf(line []byte) blockStage {
	switch is, may := confirmedWords.Match(line), predictedWords.Match(line); {
	case is == may:
		return noStage
	case is:
		return confirmed
	}
	return predicted
}

// describe finds the tick and the stage of a document in it, and in the lines before it.
func (b *blocks) describe(one *block, text []byte, heads [][]byte) {
	if len(heads) > 0 {
		one.stage = stageOf(heads[0])
	}
	own := &ownTick{}
	if _ = b.inner.Parse(text[one.begin:one.end], own); own.tick != nil {
		one.tick, one.own = own.tick, true
		return
	}
	for _, line := range heads {
		for _, m := range wordNumber.FindAllSubmatchIndex(line, mostBegins) {
			if isTick(line[m[2]:m[3]]) {
				one.tick = line[m[4]:m[5]]
				return
			}
		}
		if head, tick, _ := headOf(unstamped(line)); b.head != "" && string(head) == b.head {
			one.tick = tick
			return
		}
	}
}

// replays is where a log goes back, as a game with rollback does to play ticks again.
type replays struct {
	seen, back bool  // a tick; that the log went back
	last       int64 // tick
	most, to   int64 // the tick before the log first went back, and the one that it last went back to
}

// next takes the next tick, and reports whether the log goes back to it.
func (r *replays) next(tick int64) (back bool) {
	if back = r.seen && tick <= r.last; back {
		if r.to = tick; !r.back {
			r.most = r.last
		}
		r.back = true
	}
	r.seen, r.last = true, tick
	return back
}

// later reports whether the log goes back to ever later ticks. A log of two matches begins again, and ids recur.
func (r *replays) later() bool { return r.back && r.to > r.most }

// counting returns the documents that are states: those with a tick, unless all are. Of one tick the last counts, and in a game
// that predicts none but the confirmed ones. If no line shows which these are, the last ticks may be guesses, and do not count.
func counting(list []block, all bool) (out []block) {
	stages := map[blockStage]bool{}
	for _, one := range list {
		stages[one.stage] = true
	}
	last, deepest, most := map[int64]int{}, int64(0), int64(0)
	for i, one := range list {
		isGuess := stages[predicted] && (one.stage == predicted || stages[confirmed] && one.stage != confirmed)
		if n, err := strconv.ParseInt(string(one.tick), 10, 64); err == nil && !isGuess {
			if _, again := last[n]; again && n < most {
				deepest = max(deepest, most-n+1)
			}
			last[n], most = i, max(most, n)
		}
	}
	until := int64(math.MaxInt64)
	if deepest > 0 && !stages[predicted] {
		until = most - max(leastGuess, 2*deepest)
	}
	for i, one := range list {
		n, err := strconv.ParseInt(string(one.tick), 10, 64)
		if at, is := last[n]; err == nil && is && at == i && n <= until || all {
			out = append(out, one)
		}
	}
	return out
}

func (b *blocks) parse(text []byte, to Sink) error {
	for _, one := range counting(b.find(text), !b.named && b.head == "") {
		sink := &shifted{Sink: to, begin: one.begin}
		if !one.own {
			sink.tick = one.tick
		}
		if fault, ok := b.inner.Parse(text[one.begin:one.end], sink).(*Error); ok {
			return &Error{Offset: one.begin + fault.Offset, Msg: fault.Msg}
		}
	}
	return nil
}

// ownTick is a Sink that finds the tick among the members of a document.
type ownTick struct {
	depth int
	named bool
	tick  []byte
}

func (o *ownTick) BeginMap(int)     { o.depth++; o.named = false }
func (o *ownTick) BeginList(int)    { o.depth++; o.named = false }
func (o *ownTick) End(int)          { o.depth-- }
func (o *ownTick) Item(name []byte) { o.Name(name) }
func (o *ownTick) Name(name []byte) { o.named = o.depth == 1 && o.tick == nil && isTick(name) }
func (o *ownTick) Scalar(_ Kind, text []byte) {
	if o.named && len(text) > 0 && len(bytes.Trim(text, "0123456789")) == 0 {
		o.tick = bytes.Clone(text)
	}
	o.named = false
}
