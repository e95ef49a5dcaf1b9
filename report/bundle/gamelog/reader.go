package gamelog

import (
	"bytes"
	"hash/maphash"
	"io"
	"slices"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/textsearch"
)

// windowSize is how much of a log is in memory.
const windowSize = 256 << 10

// reader reads one log.
type reader struct {
	opts Options
	log  *Log

	warnings  int // distinct ones that are kept
	worse     int
	cut       bool // the split has passed
	tick      uint64
	hasTick   bool
	mods      modList
	last      *Entry      // of the last line that was kept
	logger    *engine.Log // who writes such logs, never nil
	stack     paragraph
	calls     []call
	places    textsearch.Places
	all       bool // all lines may hold telling texts: nothing is searched for, or known by a shape
	calms     textsearch.Forms[calm]
	calm      *calm  // of the current line, nil if it is to be read in any case
	text, key []byte // of the current line
	unescaped []byte
	coloured  []byte      // a line without its colours
	openings  [64]opening // by letters of the message
	begin     int         // where the last of these messages began
}

// seed is the same for all logs, since their keys are compared with each other. Keys order nothing.
var seed = maphash.MakeSeed()

// run passes all lines to line.
func (r *reader) run(in io.Reader) error {
	buf := make([]byte, 0, windowSize)
	skip, first := false, true // skip: the rest of a line that is longer than the window
	for {
		n, err := io.ReadFull(in, buf[len(buf):cap(buf)]) // data that a pipe delivers in small pieces is gathered first
		if err == io.ErrUnexpectedEOF {
			err = io.EOF
		}
		buf = buf[:len(buf)+n]
		if first && (len(buf) >= 3 || err != nil) {
			first = false
			if wide := wideOrder(buf); wide != nil {
				return r.run(&narrowed{in: io.MultiReader(bytes.NewReader(slices.Clone(buf[2:])), in), order: wide})
			}
			buf = append(buf[:0], bytes.TrimPrefix(buf, []byte("\xef\xbb\xbf"))...)
		}
		rest := buf
		if end := bytes.LastIndexByte(buf, '\n') + 1; end > 0 {
			if skip {
				rest, skip = rest[bytes.IndexByte(rest, '\n')+1:], false
			}
			r.lines(rest[:end-(len(buf)-len(rest))])
			rest = buf[end:]
		}
		if len(rest) == cap(buf) {
			if !skip {
				r.line(rest, true)
			}
			skip, rest = true, nil
		}
		buf = buf[:copy(buf[:cap(buf)], rest)]
		if err != nil {
			if len(buf) > 0 && !skip {
				r.line(buf, true)
			}
			if err == io.EOF {
				err = nil
			}
			return err
		}
	}
}

// calm is a shape of lines that are neither a warning nor worse, and hold no telling text.
type calm struct {
	known bool
	unit  string // of the tick in them, empty if there is none
	tick  int    // where its number is
}

// lines takes whole lines. Of most of them only the shape is examined.
func (r *reader) lines(text []byte) {
	for from := 0; from < len(text); {
		var line []byte
		if r.calm = nil; r.all || !r.ordinary(r.log.Lines+1) {
			line = text[from : from+bytes.IndexByte(text[from:], '\n')]
		} else if line, r.calm = r.calms.Line(text[from:]); r.calm == nil && r.calms.Full() {
			r.calms.Reset()
		}
		from += len(line) + 1
		if c := r.calm; c != nil && c.known {
			r.log.Lines++
			r.begins(line, c.unit, c.tick)
			continue
		}
		r.line(line, r.all || bytes.IndexByte(line, 0x1b) >= 0 || len(telling().Find(line, &r.places)) > 0)
	}
	r.calm = nil
}

// ordinary reports whether a line without a telling text may be passed over.
func (r *reader) ordinary(number int64) bool {
	return number > headLines && number != r.opts.Claim && r.logger.Stack == "" && !r.logger.Page
}

// begins notes the tick with which a line begins, if it has one.
func (r *reader) begins(line []byte, unit string, at int) {
	if unit != "" {
		tick, _ := number(line[at:])
		r.reached(unit, tick)
	}
}

// line takes the next line, without its end. It may contain one of the telling texts if tells is set, and may have
// colours.
func (r *reader) line(b []byte, tells bool) {
	r.log.Lines++
	b = b[:min(len(b), maxLine)]
	for len(b) > 0 && b[len(b)-1] == '\r' {
		b = b[:len(b)-1]
	}
	if tells && bytes.IndexByte(b, 0x1b) >= 0 {
		b = r.plain(b)
	}
	if len(b) == 0 {
		r.mods.open = r.mods.open && !r.mods.begun
		r.stack.end()
		return
	}
	if r.log.Lines <= headLines && r.log.Logger == "" {
		r.logger = loggerOf(r.opts.Own, b)
		r.log.Logger = r.logger.Logger
	}
	ordinary := !tells && r.ordinary(r.log.Lines)
	if ordinary && r.like(b) {
		return
	}
	own := None
	if r.logger.Page || b[0] == '<' {
		if text, severity, ok := r.paragraphOf(b); ok {
			b, own, tells = text, severity, true
		}
	}
	l := leadOf(b)
	if own != None {
		l.severity = own
	}
	message := b[l.text:]
	if l.unit == "" && len(message) > 0 {
		size := 0
		l.unit, l.tick, size = tickAt(message)
		if ordinary && l.seen > 0 && b[0] != '<' {
			r.remember(b, &l, size)
		}
		if l.unit == "" && tells && r.logger.Tick != nil {
			l.unit, l.tick = r.logger.Tick(message)
		}
	}
	if l.unit != "" {
		r.reached(l.unit, l.tick)
	}
	if r.opts.Claim == r.log.Lines {
		r.passed()
	}
	if r.log.Lines <= headLines {
		r.fact(message)
	}
	if l.severity == None && !l.level {
		l.severity = unlabelled(message, tells)
	}
	if r.logger.Stack != "" {
		r.stack.next(r, b, l.severity)
	}
	if l.severity == None {
		if tells && strict(b) {
			r.passed()
		}
		return
	}
	r.keep(l.severity, message, r.log.Lines)
}

// opening is how lines begin that are neither a warning nor worse.
type opening struct {
	text []byte // all that shows this
	unit string // of the tick in it, empty if there is none
	tick int    // where its number is
}

// like takes a line that begins as an earlier one, but for the digits of its numbers, and reports whether it does.
func (r *reader) like(b []byte) bool {
	o := r.opening(b)
	if o == nil || len(o.text) == 0 || len(b) <= len(o.text) || !textsearch.Alike(o.text, b[:len(o.text)]) {
		return false
	}
	r.begins(b, o.unit, o.tick)
	r.settle(b, o)
	return true
}

// settle notes that lines of the shape of the current one begin as an opening does.
func (r *reader) settle(b []byte, o *opening) {
	if r.calm != nil && textsearch.IsDecimal(b, len(o.text)) {
		*r.calm = calm{true, o.unit, o.tick}
	}
}

// opening returns the place for the opening of a line by letters of its message, which begins where that of the last
// remembered line does; nil if the line is too short.
func (r *reader) opening(b []byte) *opening {
	if len(b) < r.begin+5 {
		return nil
	}
	b = b[r.begin:]
	return &r.openings[(31*b[0]+7*b[2]+b[4])%byte(len(r.openings))]
}

// remember remembers how a line begins that is neither a warning nor worse. Its message shows in so many bytes whether it
// begins with a tick.
func (r *reader) remember(b []byte, l *lead, size int) {
	end := max(l.seen, l.text+size+1, l.text+len("Could not "))
	if end >= len(b) || l.severity != None || !l.level && unlabelled(b[l.text:], false) != None {
		return
	}
	r.begin = l.text
	o := r.opening(b)
	o.text, o.unit, o.tick = append(o.text[:0], b[:end]...), l.unit, l.text
	for l.unit != "" && !isDigit(b[o.tick]) {
		o.tick++
	}
	r.settle(b, o)
}

// plain returns a line without the colours of a terminal.
func (r *reader) plain(b []byte) []byte {
	r.coloured = r.coloured[:0]
	for len(b) > 0 {
		i := bytes.IndexByte(b, 0x1b)
		if i < 0 {
			i = len(b)
		}
		r.coloured = append(r.coloured, b[:i]...)
		if b = b[i:]; len(b) > 0 {
			b = b[colour(b):]
		}
	}
	return r.coloured
}

// reached notes the tick of a line.
func (r *reader) reached(unit string, tick uint64) {
	if r.log.Unit == "" {
		r.log.Unit, r.log.First, r.log.begun = unit, tick, r.log.Lines
	}
	if unit != r.log.Unit {
		return
	}
	if !r.hasTick || tick != r.tick {
		r.log.ticked++
	}
	r.tick, r.hasTick = tick, true
	r.log.First, r.log.Last = min(r.log.First, tick), max(r.log.Last, tick)
	if s := &r.opts.Split; s.in(unit) && tick > s.Number {
		r.passed()
	}
}

// passed notes that the current line is after the split.
func (r *reader) passed() {
	if !r.cut {
		r.cut, r.log.Cut = true, r.log.Lines
	}
}

// keep adds a line to the entries. At is its line number, which may be lower than the one before.
func (r *reader) keep(severity Severity, message []byte, at int64) {
	if severity == Warning {
		r.log.Warnings++
	} else {
		r.log.Worse++
	}
	desync := aboutDesync(message)
	if desync && (severity >= Error || strict(message)) {
		r.passed()
	}
	r.key = masked(r.key[:0], message, true)
	if len(r.key) == 0 {
		return
	}
	key := maphash.Bytes(seed, r.key)
	if _, known := r.log.keys[key]; known || len(r.log.keys) < maxKeys {
		r.log.keys[key]++
	} else {
		r.log.Full = true
	}
	e := r.log.byKey[key]
	if e == nil {
		room := &r.warnings
		if severity > Warning {
			room = &r.worse
		}
		if *room == maxEntries {
			if r.log.keys[key] <= 1 {
				r.log.Left++
			}
			return
		}
		*room++
		r.text = masked(r.text[:0], message, false)
		e = &Entry{Severity: severity, Text: valid(r.text), Desync: desync, Data: aboutData(message), key: key}
		r.log.byKey[key] = e
		r.log.Entries = append(r.log.Entries, e)
	}
	e.Severity, r.last = max(e.Severity, severity), e
	if r.cut && at >= r.log.Cut {
		e.After++
		return
	}
	p := &e.Before
	if p.Count++; p.Count == 1 {
		p.First = at
	}
	p.Last, p.Tick, p.HasTick = at, r.tick, r.hasTick
}

// end completes the log.
func (r *reader) end() {
	if !r.cut {
		r.log.Cut = r.log.Lines + 1
	}
	r.log.Mods = r.mods.sorted()
}

// wideOrder returns how to read two bytes of text in UTF-16, nil if it is not.
func wideOrder(b []byte) func(lo, hi byte) uint16 {
	switch {
	case len(b) < 2:
	case b[0] == 0xff && b[1] == 0xfe:
		return func(first, second byte) uint16 { return uint16(first) | uint16(second)<<8 }
	case b[0] == 0xfe && b[1] == 0xff:
		return func(first, second byte) uint16 { return uint16(second) | uint16(first)<<8 }
	}
	return nil
}

// narrowed turns UTF-16, as some shells of Windows write it to files, into UTF-8.
type narrowed struct {
	in    io.Reader
	order func(first, second byte) uint16
	raw   [8192]byte
	have  int // bytes of raw that are not used yet
	out   []byte
	high  uint16 // the first half of a pair
	err   error
}

// Read gives the next bytes.
func (n *narrowed) Read(p []byte) (int, error) {
	for len(n.out) == 0 {
		if n.err != nil {
			return 0, n.err
		}
		var got int
		got, n.err = n.in.Read(n.raw[n.have:])
		have := n.have + got
		for i := 0; i+1 < have; i += 2 {
			n.put(n.order(n.raw[i], n.raw[i+1]))
		}
		n.have = have & 1
		if n.have == 1 {
			n.raw[0] = n.raw[have-1]
		}
	}
	c := copy(p, n.out)
	n.out = n.out[c:]
	return c, nil
}

func (n *narrowed) put(unit uint16) {
	high := n.high
	n.high = 0
	switch {
	case high != 0:
		n.out = utf8.AppendRune(n.out, utf16.DecodeRune(rune(high), rune(unit)))
	case utf16.IsSurrogate(rune(unit)):
		n.high = unit
	default:
		n.out = utf8.AppendRune(n.out, rune(unit))
	}
}
