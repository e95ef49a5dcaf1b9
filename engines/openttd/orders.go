package openttd

import (
	"bytes"
	"cmp"
	_ "embed"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/orderlog"
)

// RNG is the kind and the coverage of the hashes of sync lines: both words of the sim's random number generator,
// big-endian, before the tick's commands. Equal ones prove nothing about the rest of the state.
const RNG = "rng"

// Server is the player with company ff: the server, or a spectator.
const Server = 0xff

const (
	maxClaims = 1000     // kept of one tick
	headSize  = 64 << 10 // how much is searched for the seed
	maxKinds  = 1 << 12
	lookAhead = 32 << 10
)

// TickName returns a tick as the log names it: "000adef0;12".
func TickName(tick uint64) string {
	var room [24]byte
	return string(appendHex(append(appendHex(room[:0], tick/DayTicks, 8), ';'), tick%DayTicks, 2))
}

// appendHex appends a number with a minimum number of digits.
func appendHex(b []byte, n uint64, digits int) []byte {
	var room [16]byte
	text := strconv.AppendUint(room[:0], n, 16)
	for range digits - len(text) {
		b = append(b, '0')
	}
	return append(b, text...)
}

//go:embed commands-13.0.txt
var commands13 string

// names13 are the commands of OpenTTD 13.0 by number; its log does not
// name them. Other versions number them differently.
var names13 = sync.OnceValue(func() []string {
	var names []string
	for line := range strings.Lines(commands13) {
		number, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		if n, err := strconv.ParseUint(number, 16, 8); err == nil && int(n) == len(names) {
			names = append(names, name)
		}
	}
	return names
})

// IsLog reports whether head, the leading bytes of a file, belong to a commands-out.log: one of its first lines is as
// described. The last line may be cut off. A mismatch of something other than a cache is no sign: any game writes such.
func IsLog(head []byte) bool {
	for range 8 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		if whole {
			l := ordersParse(bytes.TrimSuffix(line, []byte("\r")))
			if l.kind != unknown && (l.kind != cacheMismatch || bytes.Contains(bytes.ToLower(line), []byte("cache "))) {
				return true
			}
		}
		head = rest
	}
	return false
}

// Reader reads a commands-out.log. It is an orderlog.Foreign.
//
// Each tick with a stamped line is a record. Commands are orders: the player is the company, the kind the number, with
// the name if it is known ("0x3b CMD_PLACE_SIGN"), and the payload the rest of the line. A cmdf is an order with a
// FailedOrder marker. Messages are orders of the local kind "msg". Where a session ends or begins inside the log, the
// next tick has a Load marker that opens an epoch.
type Reader struct {
	lines   *orderlog.Lines
	header  orderlog.Header
	dialect orderlog.Dialect
	kinds   map[string]uint32
	kinds13 [256]uint32
	name    []byte // scratch

	epoch   uint32
	began   bool   // a tick of this log has been delivered
	opening string // why the next tick opens an epoch
	whole   bool   // the session's first tick is not cut at its head
	fresh   bool   // the next tick is the session's first

	held       []byte // a line that belongs to the next tick
	heldNumber int64
	heldOffset int64
	isHeld     bool

	building bool
	rec      orderlog.Record
	tick     orderlog.Tick
	bounds   []int // ends of the orders' payloads in args
	args     []byte
	lines13  bool // a line without a stamp continues the last order
	rng      []byte

	unknown      int64 // lines
	firstUnknown int64
	unknownNext  bool // some are before the next tick

	returns bool   // a line without raw arguments ends with a carriage return
	feeds   bool   // … and one without
	ending  []byte // scratch
	looked  int64  // offset up to which it was looked for such lines
	mixed   int64  // line
	err     error
}

// NewReader begins to read a log. Errors have the name for the file. A file that is not a commands-out.log gives a
// *frame.Error that wraps frame.ErrUnrecognized; Next returns the errors of orderlog.Lines.
func NewReader(r io.Reader, name string) (*Reader, error) {
	lr := &Reader{lines: orderlog.NewLines(r, name), kinds: map[string]uint32{}, fresh: true}
	head := lr.lines.Peek(headSize)
	if !IsLog(head) {
		return nil, lr.lines.Unrecognized("no commands-out.log of OpenTTD")
	}
	lr.header.Kinds = []orderlog.OrderKind{{Name: "msg", Local: true}}
	lr.dialect = orderlog.Dialect{
		Engine: "OpenTTD", Counted: true, OwnMarkers: true,
		TickName: TickName, Fields: Fields,
	}
	lr.peekHeader(head)
	return lr, nil
}

// peekHeader takes the seed from the first lines, and whether a server wrote
// them: only a server generates a map, and writes sync and client lines.
func (r *Reader) peekHeader(head []byte) {
	for len(head) > 0 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		if !whole {
			break
		}
		switch l := ordersParse(bytes.TrimSuffix(line, []byte("\r"))); l.kind {
		case newMap:
			r.header.Seed = cmp.Or(r.header.Seed, l.seed)
			r.dialect.Server = r.dialect.Server || l.seed != 0
		case ordersSave:
			if r.header.Seed == 0 {
				r.header.Seed, _ = saveSeed(l.rest)
			}
		case syncLine, client:
			r.dialect.Server = true
		}
	}
}

// saveSeed returns the seed in the name of a save, dmp_cmds_<seed>_<date>.sav.
func saveSeed(file []byte) (seed uint64, ok bool) {
	rest, ok := bytes.CutPrefix(file, []byte("dmp_cmds_"))
	if !ok || len(rest) < 9 || rest[8] != '_' {
		return 0, false
	}
	return hexField(rest[:8])
}

// Header returns the log's header. Only the seed is known, from the first 64 KiB, 0 if it is not there. Kinds grow as
// commands are met.
func (r *Reader) Header() orderlog.Header { return r.header }

// Dialect describes how the log differs from our format.
func (r *Reader) Dialect() orderlog.Dialect { return r.dialect }

// Unknown returns the number of lines so far that have an unknown kind and belong to no command, and the number of the
// first. They are skipped.
func (r *Reader) Unknown() (lines, first int64) { return r.unknown, r.firstUnknown }

// Mixed returns the number of the first line with raw arguments that end with a carriage return that may be theirs or
// the line's, 0 if there is none.
func (r *Reader) Mixed() (line int64) { return r.mixed }

// Next returns the next record.
func (r *Reader) Next() (orderlog.Record, error) {
	for {
		if r.err != nil {
			if r.building {
				return r.deliver(true), nil
			}
			return orderlog.Record{}, r.err
		}
		var line []byte
		number, offset := r.heldNumber, r.heldOffset
		if r.isHeld {
			line, r.isHeld = r.held, false
		} else {
			line, r.err = r.lines.Next()
			if r.err != nil {
				continue
			}
			number, offset = r.lines.Number(), r.lines.Offset()
			line = r.ended(line)
		}
		done, err := r.line(line, number, offset)
		if err != nil {
			r.err = err
			continue
		}
		if done.Kind != 0 {
			return done, nil
		}
	}
}

// line takes a line. It returns a record when one is done. A line that belongs to the next record is kept.
func (r *Reader) line(b []byte, number, offset int64) (orderlog.Record, error) {
	none := orderlog.Record{}
	l := ordersParse(b)
	switch l.kind {
	case unknown:
		if !r.building || !r.lines13 || !continues(b) {
			r.lose(b, number)
			return none, nil
		}
		r.args = append(append(r.args, '\n'), b...)
		r.bounds[len(r.bounds)-1] = len(r.args)
		return none, r.room()
	case cacheMismatch:
		claim := orderlog.Claim{Kind: orderlog.ClaimCache, Line: number, Offset: offset, Text: string(l.rest)}
		if !r.building {
			return orderlog.Record{
				Kind: orderlog.ObservedRecord, Offset: offset, Epoch: r.epoch, Line: number, Claims: []orderlog.Claim{claim},
			}, nil
		}
		r.claim(claim)
		return none, nil
	case newMap, load:
		if l.kind == newMap && l.seed != 0 && r.header.Seed != 0 && l.seed != r.header.Seed && r.began {
			return none, r.lines.Corrupt("a game with seed %d begins after one with seed %d; give it in a separate file", l.seed, r.header.Seed)
		}
		if r.building {
			r.hold(b, number, offset)
			return r.deliver(true), nil
		}
		if r.began {
			r.opening = string(b)
		}
		r.fresh, r.whole = true, l.kind == newMap && l.seed != 0
		return none, nil
	case ordersSave:
		if seed, ok := saveSeed(l.rest); ok && seed == 0 {
			return none, nil // the game shown behind the title screen
		}
	}
	if r.building && r.tick.Number != l.tick {
		r.hold(b, number, offset)
		return r.deliver(false), nil
	}
	if !r.building {
		r.begin(l.tick, number, offset)
	}
	return none, r.stamped(&l, number, offset)
}

// lose counts a line of unknown kind.
func (r *Reader) lose(b []byte, number int64) {
	if len(b) == 0 {
		return
	}
	if r.unknown++; r.unknown == 1 {
		r.firstUnknown = number
	}
	r.unknownNext = true
	if r.building {
		r.rec.UnknownBehind = true
	}
}

// ended gives back to a line the carriage return after it if that is not part of
// the line's end: after raw arguments it is one of them, unless other lines end so.
func (r *Reader) ended(b []byte) []byte {
	returned := r.lines.Return()
	if !returned && r.feeds {
		return b
	}
	if l := ordersParse(b); l.fixed() {
		r.returns = r.returns || returned
		r.feeds = r.feeds || !returned
		return b
	}
	if !returned {
		return b
	}
	r.ending = append(append(r.ending[:0], b...), '\r') // looking ahead overwrites b
	if !r.returns && !r.lookAhead() {
		return r.ending
	}
	if r.feeds && r.mixed == 0 {
		r.mixed = r.lines.Number()
	}
	return r.ending[:len(b)]
}

// lookAhead reports whether one of the next lines without raw arguments ends with
// a carriage return.
func (r *Reader) lookAhead() bool {
	ahead := r.lines.Peek(lookAhead)
	at := r.lines.Offset()
	if n := r.looked - at; n > 0 {
		ahead = ahead[min(n, int64(len(ahead))):]
		at = r.looked
	}
	for {
		line, rest, whole := bytes.Cut(ahead, []byte("\n"))
		if !whole {
			r.looked = at
			return false
		}
		at += int64(len(line)) + 1
		ahead = rest
		if line, returned := bytes.CutSuffix(line, []byte("\r")); returned {
			if l := ordersParse(line); l.fixed() {
				r.returns = true
				return true
			}
		}
	}
}

func (r *Reader) hold(b []byte, number, offset int64) {
	r.held = append(r.held[:0], b...)
	r.heldNumber, r.heldOffset, r.isHeld = number, offset, true
}

func (r *Reader) begin(tick uint64, number, offset int64) {
	back := r.began && r.opening == "" && tick < r.tick.Number
	if back {
		r.opening = "the log goes back"
		r.fresh, r.whole = true, false
	}
	t := &r.tick
	*t = orderlog.Tick{Number: tick, Orders: t.Orders[:0], Hashes: t.Hashes[:0], Markers: t.Markers[:0]}
	if r.opening != "" {
		t.Markers = append(t.Markers, orderlog.Marker{Kind: orderlog.Load, Point: tick, NewEpoch: true, Text: clip(r.opening)})
		r.opening = ""
		r.epoch++
	}
	r.rec = orderlog.Record{
		Kind: orderlog.TickRecord, Offset: offset, Epoch: r.epoch, Line: number, Lines: r.rec.Lines[:0],
		HeadCut: r.fresh && !r.whole, UnknownBefore: r.unknownNext, Back: back, Claims: r.rec.Claims[:0],
	}
	r.unknownNext = false
	r.fresh, r.whole = false, false
	r.bounds, r.args, r.rng = r.bounds[:0], r.args[:0], r.rng[:0]
	r.building, r.lines13 = true, false
}

// deliver returns the tick that was built.
func (r *Reader) deliver(tailCut bool) orderlog.Record {
	r.building, r.began = false, true
	begin := 0
	for i, end := range r.bounds {
		r.tick.Orders[i].Payload = r.args[begin:end:end]
		begin = end
	}
	for i := range r.tick.Hashes {
		r.tick.Hashes[i].Bytes = r.rng[8*i : 8*i+8 : 8*i+8]
	}
	r.rec.Tick = &r.tick
	r.rec.TailCut = tailCut
	return r.rec
}

func (r *Reader) claim(c orderlog.Claim) {
	if len(r.rec.Claims) < maxClaims {
		r.rec.Claims = append(r.rec.Claims, c)
	}
}

// stamped takes a line of the tick that is being built.
func (r *Reader) stamped(l *ordersLine, number, offset int64) error {
	t := &r.tick
	r.lines13 = false
	switch l.kind {
	case cmd, cmdf:
		kind, err := r.kind(l)
		if err != nil {
			return err
		}
		if l.kind == cmdf {
			t.Markers = append(t.Markers, orderlog.Marker{
				Kind: orderlog.FailedOrder, Player: l.company, Sequence: uint32(len(t.Orders)), Point: t.Number,
			})
		}
		r.lines13 = l.shape == shape13
		r.order(l.company, kind, l.rest, number)
	case msg:
		r.order(Server, 0, l.rest, number)
	case syncLine:
		r.rng = append(r.rng, l.rng[:]...)
		t.Hashes = append(t.Hashes, orderlog.Observed{Point: t.Number, Kind: RNG, Coverage: RNG})
	case ordersSave:
		t.Markers = append(t.Markers, orderlog.Marker{Kind: orderlog.Save, Point: t.Number, Text: clip(string(l.rest))})
	case client:
		t.Markers = append(t.Markers, orderlog.Marker{Kind: orderlog.Join, Player: l.company, Point: t.Number, Text: clip(string(l.rest))})
	case syncErr:
		r.claim(orderlog.Claim{Kind: orderlog.ClaimDesync, Line: number, Offset: offset, Text: "sync_err"})
	}
	if limits.Tick.Over(64 * int64(len(t.Markers)+len(t.Hashes))) {
		return r.lines.Corrupt("tick %s: %v", TickName(t.Number), limits.Tick.Reached("", 0))
	}
	return r.room()
}

func clip(s string) string { return s[:min(len(s), orderlog.MaxText)] }

func (r *Reader) order(player, kind uint32, payload []byte, number int64) {
	t := &r.tick
	t.Orders = append(t.Orders, orderlog.Order{Tick: t.Number, Player: player, Sequence: uint32(len(t.Orders)), Kind: kind})
	r.args = append(r.args, payload...)
	r.bounds = append(r.bounds, len(r.args))
	r.rec.Lines = append(r.rec.Lines, number)
}

// room refuses a tick that would take too much memory.
func (r *Reader) room() error {
	if limits.Tick.Over(int64(len(r.args) + 64*len(r.bounds))) {
		return r.lines.Corrupt("tick %s: %v", TickName(r.tick.Number), limits.Tick.Reached("", 0))
	}
	return nil
}

// kind returns the number of a command's kind.
func (r *Reader) kind(l *ordersLine) (uint32, error) {
	known := l.shape == shape13 && l.command < uint64(len(r.kinds13))
	if known && r.kinds13[l.command] != 0 {
		return r.kinds13[l.command], nil
	}
	r.name = append(r.name[:0], "0x"...)
	if l.command < 0x10 {
		r.name = append(r.name, '0')
	}
	r.name = strconv.AppendUint(r.name, l.command, 16)
	name := l.name
	if names := names13(); l.shape == shape13 && l.command < uint64(len(names)) {
		name = []byte(names[l.command])
	}
	if len(name) > 0 {
		r.name = append(append(r.name, ' '), name...)
	}
	kind, ok := r.kinds[string(r.name)]
	if !ok {
		if len(r.kinds) >= maxKinds {
			return 0, r.lines.Corrupt("more than %d kinds of commands", maxKinds)
		}
		kind = uint32(len(r.header.Kinds))
		r.kinds[string(r.name)] = kind
		// A Header that was returned keeps its own list.
		r.header.Kinds = append(slices.Clip(r.header.Kinds), orderlog.OrderKind{Name: string(r.name)})
	}
	if known {
		r.kinds13[l.command] = kind
	}
	return kind, nil
}
