package orderlog

import (
	"encoding/hex"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/file/frame"
)

// ParseText reads the text twin of a log from r and writes the log to w. Errors contain name and the line. The text of
// a closed log gives the same log, byte for byte, if a Writer wrote the log. The text of a torn or corrupt log gives a
// log without end marker.
func ParseText(w io.Writer, r io.Reader, name string) error {
	p := parser{w: w, header: Header{Params: map[string]string{}}}
	twin := frame.Twin{Begin: textBegin, End: textEnd, MaxLine: maxLine}
	return twin.Read(r, name, func(line string) (ended bool, err error) {
		p.begin(line)
		err = p.parse()
		return p.ended, err
	})
}

// parser turns lines into records. A record is complete, and is written, when a line of another record follows.
type parser struct {
	w      io.Writer
	out    *Writer // nil until the header is complete
	header Header
	seen   map[string]bool // header variables
	kinds  map[string]uint32

	begun, ended bool
	tick         *Tick      // open tick, or nil
	observed     []Observed // hashes of an open observed record
	expected     int        // number of hashes that the record must have

	rest string // rest of the line
	err  error
}

func (p *parser) begin(line string) {
	p.rest = line
	p.err = nil
}

func (p *parser) parse() error {
	switch {
	case !p.begun:
		if p.rest != textBegin {
			return fmt.Errorf("%.40q, expected %q", p.rest, textBegin)
		}
		p.begun = true
		p.seen = map[string]bool{}
		return nil
	case p.rest == "" || p.rest[0] == '#':
		return nil
	case p.ended:
		return fmt.Errorf("line after the end")
	case p.accept("%"):
		return p.parseEnd()
	case p.accept(headerName + "."):
		if p.out != nil {
			return fmt.Errorf("header variable after the first record")
		}
		p.parseHeader()
		return p.endLine()
	}
	if err := p.startRecords(); err != nil {
		return err
	}
	switch {
	case p.accept(tickName + "["):
		return p.parseTick()
	case p.accept(observedName + " = "):
		n := p.uint(math.MaxInt32)
		if err := p.endLine(); err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("observed record without hashes")
		}
		if err := p.flush(); err != nil {
			return err
		}
		p.expected = int(n)
		return nil
	case p.accept(observedName + "."):
		if len(p.observed) >= p.expected {
			return fmt.Errorf("more hashes than the observed record has")
		}
		o := p.parseHash()
		p.observed = append(p.observed, o)
		return p.endLine()
	}
	return fmt.Errorf("%.40q, expected %s, %s or %s", p.rest, headerName, tickName, observedName)
}

// startRecords writes the header before the first record or the end.
func (p *parser) startRecords() (err error) {
	if p.out != nil {
		return nil
	}
	p.out, err = NewWriter(p.w, p.header, WriterOptions{})
	p.kinds = make(map[string]uint32, len(p.header.Kinds))
	for i, k := range p.header.Kinds {
		p.kinds[k.Name] = uint32(i)
	}
	return err
}

// flush writes the open record.
func (p *parser) flush() (err error) {
	switch {
	case p.tick != nil:
		err = p.out.WriteTick(p.tick)
	case len(p.observed) < p.expected:
		err = fmt.Errorf("observed record has %d hashes, expected %d", len(p.observed), p.expected)
	case p.expected > 0:
		err = p.out.WriteObserved(p.observed)
	}
	p.tick, p.observed, p.expected = nil, p.observed[:0], 0
	return err
}

// parseEnd parses a last line after its percent sign.
func (p *parser) parseEnd() error {
	clean := false
	switch {
	case p.accept(textEnd[1:]):
		clean = true
	case p.accept(textTorn[1:]):
		p.literal(" offset ")
		p.uint(math.MaxInt64)
		p.literal(" lost ")
		p.uint(math.MaxInt64)
		p.literal(" ")
		p.quoted()
	case p.accept(textCorrupt[1:]):
		p.literal(" offset ")
		p.uint(math.MaxInt64)
		p.literal(" ")
		p.quoted()
	default:
		return fmt.Errorf("%.40q, expected %s, %s or %s", "%"+p.rest, textEnd, textTorn, textCorrupt)
	}
	if err := p.endLine(); err != nil {
		return err
	}
	if err := p.startRecords(); err != nil {
		return err
	}
	if err := p.flush(); err != nil {
		return err
	}
	p.ended = true
	if clean {
		return p.out.Close()
	}
	return nil
}

// parseHeader parses a header variable after "header.".
func (p *parser) parseHeader() {
	h := &p.header
	variable, _, _ := strings.Cut(p.rest, " = ")
	if p.seen[variable] {
		p.fail("header variable %.40q a second time", variable)
	}
	switch {
	case p.accept("seed = "):
		h.Seed = p.uint(math.MaxUint64)
	case p.accept("peer = "):
		h.Peer = p.quoted()
	case p.accept("build = "):
		h.Build = p.quoted()
	case p.accept("tick_rate = "):
		h.TickRate.Num = p.u32()
		p.literal("/")
		h.TickRate.Den = p.u32()
	case p.accept("start = "):
		p.fixed(h.Start[:])
	case p.accept("first_point = "):
		h.FirstPoint = p.uint(math.MaxUint64)
	case p.accept("epoch = "):
		h.Epoch = p.u32()
	case p.accept("kind["):
		p.index(len(h.Kinds))
		name := p.quoted()
		h.Kinds = append(h.Kinds, OrderKind{name, p.accept(" local")})
		return // index has recorded the error
	case p.accept("peers["):
		p.index(len(h.Peers))
		h.Peers = append(h.Peers, p.quoted())
		return
	case p.accept("params["):
		key := p.quoted()
		if _, ok := h.Params[key]; ok {
			p.fail("parameter %.40q a second time", key)
		}
		p.literal("] = ")
		h.Params[key] = p.quoted()
		return
	default:
		p.fail("unknown header variable %.40q", p.rest)
	}
	p.seen[variable] = true
}

// parseTick parses a variable of a tick after "tick[".
func (p *parser) parseTick() error {
	number := p.uint(math.MaxUint64)
	p.literal("].")
	if p.accept("input_hash = ") {
		t := &Tick{Number: number}
		p.fixed(t.InputHash[:])
		if err := p.endLine(); err != nil {
			return err
		}
		err := p.flush()
		p.tick = t
		return err
	}
	if p.err == nil && (p.tick == nil || p.tick.Number != number) {
		return fmt.Errorf("tick %d does not begin with its input_hash", number)
	}
	switch {
	case p.err != nil:
	case p.accept("order["):
		p.index(len(p.tick.Orders))
		p.tick.Orders = append(p.tick.Orders, p.parseOrder(number))
	case p.accept("marker["):
		p.index(len(p.tick.Markers))
		p.tick.Markers = append(p.tick.Markers, p.parseMarker())
	default:
		p.tick.Hashes = append(p.tick.Hashes, p.parseHash())
	}
	return p.endLine()
}

func (p *parser) parseOrder(tick uint64) Order {
	o := Order{Tick: tick}
	p.literal("player ")
	o.Player = p.u32()
	p.literal(" seq ")
	o.Sequence = p.u32()
	p.literal(" at ")
	o.SubTick = p.u32()
	p.literal(" ")
	name := p.quoted()
	kind, ok := p.kinds[name]
	if !ok {
		p.fail("order kind %.40q is not in the header", name)
	}
	o.Kind = kind
	p.literal(" ")
	o.Payload = p.hex()
	return o
}

func (p *parser) parseMarker() Marker {
	var m Marker
	name, _, _ := strings.Cut(p.rest, " ")
	for kind := Join; kind.known(); kind++ {
		if markerKinds[kind].name == name {
			m.Kind = kind
		}
	}
	if m.Kind == 0 {
		p.fail("unknown marker %.40q", name)
	}
	p.accept(name)
	p.literal(" player ")
	m.Player = p.u32()
	p.literal(" peer ")
	m.Peer = p.u32()
	p.literal(" seq ")
	m.Sequence = p.u32()
	p.literal(" point ")
	m.Point = p.uint(math.MaxUint64)
	p.literal(" ")
	if p.accept("epoch ") {
		m.NewEpoch = true
		if p.accept("0x ") {
			m.Text = p.quoted()
			return m
		}
		p.fixed(m.History[:])
		p.literal(" ")
	}
	m.Text = p.quoted()
	return m
}

func (p *parser) parseHash() Observed {
	var o Observed
	p.literal("hash[")
	o.Point = p.uint(math.MaxUint64)
	p.literal("].")
	name, rest, _ := strings.Cut(p.rest, ".")
	kind, coverage, partial := strings.Cut(name, "/")
	if partial && coverage == "" {
		p.fail("coverage is empty")
	}
	o.Kind, o.Coverage = HashKind(kind), Coverage(coverage)
	p.rest = rest
	p.literal("peer[")
	o.Peer = p.u32()
	p.literal("] = ")
	o.Bytes = p.hex()
	if err := o.check(); err != nil {
		p.fail("%v", err)
	}
	return o
}

// The methods below take one token from the line. After the first error in a line their results do not matter.

func (p *parser) fail(format string, args ...any) {
	if p.err == nil {
		p.err = fmt.Errorf(format, args...)
	}
}

// endLine returns the line's error. A line that is too long is an error too.
func (p *parser) endLine() error {
	if p.rest != "" {
		p.fail("%.40q, expected end of line", p.rest)
	}
	return p.err
}

func (p *parser) accept(s string) bool {
	rest, ok := strings.CutPrefix(p.rest, s)
	if ok {
		p.rest = rest
	}
	return ok
}

func (p *parser) literal(s string) {
	if !p.accept(s) {
		p.fail("%.40q, expected %q", p.rest, s)
	}
}

func (p *parser) uint(limit uint64) uint64 {
	end := 0
	for end < len(p.rest) && p.rest[end] >= '0' && p.rest[end] <= '9' {
		end++
	}
	n, err := strconv.ParseUint(p.rest[:end], 10, 64)
	if err != nil || n > limit || end > 1 && p.rest[0] == '0' {
		p.fail("%.40q, expected a number from 0 to %d", p.rest, limit)
	}
	p.rest = p.rest[end:]
	return n
}

func (p *parser) u32() uint32 { return uint32(p.uint(math.MaxUint32)) }

// index takes the rest of an index, up to the value. The index must be next.
func (p *parser) index(next int) {
	if n := p.uint(math.MaxUint32); n != uint64(next) {
		p.fail("index %d, expected %d", n, next)
	}
	p.literal("] = ")
}

func (p *parser) quoted() string {
	if !strings.HasPrefix(p.rest, `"`) {
		p.fail("%.40q, expected a string in double quotes", p.rest)
		return ""
	}
	q, err := strconv.QuotedPrefix(p.rest)
	if err != nil {
		p.fail("%.40q is not a string in Go's notation", p.rest)
		return ""
	}
	p.rest = p.rest[len(q):]
	s, err := strconv.Unquote(q)
	if err != nil {
		p.fail("%.40q is not a string in Go's notation", q)
	}
	return s
}

func (p *parser) hex() []byte {
	p.literal("0x")
	end := strings.IndexByte(p.rest, ' ')
	if end < 0 {
		end = len(p.rest)
	}
	b, err := hex.DecodeString(p.rest[:end])
	if err != nil {
		p.fail("%.40q, expected pairs of hex digits", p.rest[:end])
	}
	p.rest = p.rest[end:]
	return b
}

func (p *parser) fixed(out []byte) {
	if b := p.hex(); copy(out, b) != len(b) || len(b) != len(out) {
		p.fail("%d bytes, expected %d", len(b), len(out))
	}
}
