package zeroad

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/orderlog"
)

// Kind is the kind of the hashes. They have 16 bytes and the coverage
// orderlog.Full or Quick.
const (
	Kind      orderlog.HashKind = "0ad"
	QuickHash orderlog.Coverage = "quick"
)

// Parameters of the header.
const (
	ParamStart  = "start"       // the JSON of the start line
	ParamLength = "turn_length" // of the first turn, in milliseconds
	ParamLines  = "line_end"    // "crlf" if lines end so, else absent
)

// LengthKind is the kind of an order that comes before all others of a turn if the turn's length differs from the turn
// before; its payload is the length in milliseconds.
const LengthKind = "turn length"

const (
	maxKinds = 1 << 12
	otherCmd = "cmd" // the kind of commands without a usable type
)

// IsLog reports whether head, the leading bytes of a file, belong to a commands.txt.
func IsLog(head []byte) bool { return bytes.HasPrefix(head, []byte("start {")) }

// Reader reads a commands.txt. It is an orderlog.Foreign.
//
// Each turn is a record. A command is an order; the kind is its type ("walk") and the payload its JSON.
type Reader struct {
	lines   *orderlog.Lines
	header  orderlog.Header
	dialect orderlog.Dialect
	kinds   map[string]uint32

	epoch  uint32
	began  bool
	length uint64 // of the last turn

	held   []byte // the line that begins the next turn
	number int64
	offset int64

	rec    orderlog.Record
	tick   orderlog.Tick
	bounds []int
	json   []byte
	sums   []byte
	widths []int
	err    error
}

// NewReader reads the start line. Errors have the name for the file. A file that is not a commands.txt gives a
// *frame.Error that wraps frame.ErrUnrecognized; Next returns the errors of orderlog.Lines.
func NewReader(r io.Reader, name string) (*Reader, error) {
	lr := &Reader{lines: orderlog.NewLines(r, name)}
	if !IsLog(lr.lines.Peek(len("start {"))) {
		return nil, lr.lines.Unrecognized("no commands.txt of 0 A.D.: it does not begin with a start line")
	}
	line, err := lr.lines.Next()
	if err != nil {
		return nil, err
	}
	start := line[len("start "):]
	var about struct {
		Settings struct{ Seed json.Number }
		MatchID  string `json:"matchID"`
		Engine   string `json:"engine_version"`
		// Timestamp is when the match was begun, Unix time in seconds.
		Timestamp json.Number `json:"timestamp"`
	}
	if err := json.Unmarshal(start, &about); err != nil {
		return nil, lr.lines.Corrupt("start: %v", err)
	}
	lr.header = orderlog.Header{
		Build:  about.Engine,
		Kinds:  []orderlog.OrderKind{{Name: LengthKind}, {Name: otherCmd}},
		Params: map[string]string{ParamStart: string(start)},
	}
	lr.kinds = map[string]uint32{otherCmd: 1}
	if seed, err := strconv.ParseUint(about.Settings.Seed.String(), 10, 64); err == nil {
		lr.header.Seed = seed
	}
	if lr.lines.CRLF() {
		lr.header.Params[ParamLines] = "crlf"
	}
	lr.dialect = orderlog.Dialect{Engine: "0 A.D.", Session: about.MatchID, Counted: true, OwnMarkers: true}
	if at, err := about.Timestamp.Float64(); err == nil && at > 0 && at <= math.MaxUint32 {
		lr.dialect.Recorded = time.Unix(int64(at), 0).UTC()
	}

	lr.err = lr.hold()
	if label, length, ok := parseTurn(lr.held); lr.err == nil && ok {
		lr.header.FirstPoint = label
		lr.length = length
		lr.header.Params[ParamLength] = strconv.FormatUint(length, 10)
		if length > 0 {
			d := gcd(1000, length)
			lr.header.TickRate = orderlog.Rate{Num: uint32(1000 / d), Den: uint32(length / d)}
		}
	}
	return lr, nil
}

func gcd(a, b uint64) uint64 {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// Header returns the log's header. Kinds grow as commands are met.
func (r *Reader) Header() orderlog.Header { return r.header }

// Dialect describes how the log differs from our format.
func (r *Reader) Dialect() orderlog.Dialect { return r.dialect }

// hold reads the next line and keeps it.
func (r *Reader) hold() error {
	line, err := r.lines.Next()
	r.held = append(r.held[:0], line...)
	r.number, r.offset = r.lines.Number(), r.lines.Offset()
	return err
}

// Next returns the next turn.
func (r *Reader) Next() (orderlog.Record, error) {
	if r.err != nil {
		return orderlog.Record{}, r.err
	}
	label, length, ok := parseTurn(r.held)
	if !ok {
		r.err = r.lines.Corrupt("%s, expected turn LABEL MILLISECONDS", logExcerpt(r.held))
		return orderlog.Record{}, r.err
	}
	r.begin(label, length)
	ended := false
	for {
		// The line stays valid in r.held until the next turn begins.
		if r.err = r.hold(); r.err != nil {
			break
		}
		word, rest, _ := bytes.Cut(r.held, []byte(" "))
		if string(word) == "turn" && ended {
			break
		}
		if r.err = r.line(word, rest, &ended); r.err != nil {
			break
		}
	}
	if r.err == io.EOF && !ended {
		r.err = &frame.Error{Name: r.lines.Name(), Offset: r.offset, Err: frame.ErrTorn, Msg: fmt.Sprintf("turn %d has no end", label)}
	}
	begin := 0
	for i, end := range r.bounds {
		r.tick.Orders[i].Payload = r.json[begin:end:end]
		begin = end
	}
	begin = 0
	for i, width := range r.widths {
		r.tick.Hashes[i].Bytes = r.sums[begin : begin+width : begin+width]
		begin += width
	}
	r.rec.Tick = &r.tick
	r.rec.TailCut = !ended
	r.began = true
	return r.rec, nil
}

func (r *Reader) begin(label, length uint64) {
	t := &r.tick
	last := t.Number
	*t = orderlog.Tick{Number: label, Orders: t.Orders[:0], Hashes: t.Hashes[:0], Markers: t.Markers[:0]}
	r.bounds, r.json, r.sums, r.widths = r.bounds[:0], r.json[:0], r.sums[:0], r.widths[:0]
	lines := r.rec.Lines[:0]
	if r.began && label != last+1 {
		// Every turn is written, so a missing one was not played.
		t.Markers = append(t.Markers, orderlog.Marker{
			Kind: orderlog.Load, Point: label, NewEpoch: true, Text: fmt.Sprintf("turn %d follows turn %d", label, last),
		})
		r.epoch++
	}
	r.rec = orderlog.Record{Kind: orderlog.TickRecord, Offset: r.offset, Epoch: r.epoch, Line: r.number, Lines: lines, Back: r.began && label < last}
	if length != r.length {
		r.length = length
		r.json = strconv.AppendUint(r.json, length, 10)
		r.order(0, 0)
	}
}

// order adds an order with the payload that was appended to r.json.
func (r *Reader) order(player, kind uint32) {
	t := &r.tick
	t.Orders = append(t.Orders, orderlog.Order{Tick: t.Number, Player: player, Sequence: uint32(len(t.Orders)), Kind: kind})
	r.bounds = append(r.bounds, len(r.json))
	r.rec.Lines = append(r.rec.Lines, r.number)
}

func (r *Reader) line(word, rest []byte, ended *bool) error {
	switch string(word) {
	case "cmd":
		if !*ended {
			return r.command(rest)
		}
	case "end":
		if !*ended && len(r.held) == len("end") {
			*ended = true
			return nil
		}
	case "hash":
		if *ended {
			return r.hash("hash", orderlog.Full, rest)
		}
	case "hash-quick":
		if *ended {
			return r.hash("hash-quick", QuickHash, rest)
		}
	}
	expected := "cmd or end"
	if *ended {
		expected = "hash or turn"
	}
	return r.lines.Corrupt("%s, expected %s", logExcerpt(r.held), expected)
}

func (r *Reader) command(rest []byte) error {
	number, body, _ := bytes.Cut(rest, []byte(" "))
	player, ok := parseNumber(number, math.MaxUint32)
	if !ok || len(body) == 0 {
		return r.lines.Corrupt("%s, expected cmd PLAYER JSON", logExcerpt(r.held))
	}
	if len(body) > orderlog.MaxPayload {
		return r.lines.Corrupt("command of %d bytes, expected at most %d", len(body), orderlog.MaxPayload)
	}
	if limits.Tick.Over(int64(len(r.json) + len(body) + 64*len(r.bounds))) {
		return r.lines.Corrupt("%v", limits.Tick.Reached("", 0))
	}
	kind, err := r.kind(commandType(body))
	if err != nil {
		return err
	}
	r.json = append(r.json, body...)
	r.order(uint32(player), kind)
	return nil
}

func (r *Reader) kind(name []byte) (uint32, error) {
	kind, ok := r.kinds[string(name)]
	if ok {
		return kind, nil
	}
	if len(r.kinds) >= maxKinds {
		return 0, r.lines.Corrupt("more than %d types of commands", maxKinds)
	}
	kind = uint32(len(r.header.Kinds))
	r.kinds[string(name)] = kind
	// A Header that was returned keeps its own list.
	r.header.Kinds = append(slices.Clip(r.header.Kinds), orderlog.OrderKind{Name: string(name)})
	return kind, nil
}

// commandType returns the type of a command, otherCmd if it has none that is
// short and plain. As the engine writes it, it comes first.
func commandType(body []byte) []byte {
	plain := func(b []byte) bool {
		for _, c := range b {
			if (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
		return len(b) > 0 && len(b) <= 64
	}
	if rest, ok := bytes.CutPrefix(body, []byte(`{"type":"`)); ok {
		if name, _, ok := bytes.Cut(rest, []byte(`"`)); ok && plain(name) {
			return name
		}
	} else {
		var about struct{ Type string }
		if json.Unmarshal(body, &about) == nil && plain([]byte(about.Type)) {
			return []byte(about.Type)
		}
	}
	return []byte(otherCmd)
}

func (r *Reader) hash(word string, coverage orderlog.Coverage, digits []byte) error {
	width := len(digits) / 2
	at := len(r.sums)
	r.sums = slices.Grow(r.sums, width)[:at+width]
	n, err := hex.Decode(r.sums[at:], digits)
	switch {
	case err != nil || n == 0 || n > orderlog.MaxHashWidth || len(digits)%2 != 0 || bytes.ContainsAny(digits, "ABCDEF"):
		return r.lines.Corrupt("%s, expected %s and lower-case hex digits", logExcerpt(r.held), word)
	case limits.Tick.Over(64 * int64(len(r.widths)+1)):
		return r.lines.Corrupt("%v", limits.Tick.Reached("", 0))
	}
	r.tick.Hashes = append(r.tick.Hashes, orderlog.Observed{Point: r.tick.Number + 1, Kind: Kind, Coverage: coverage})
	r.widths = append(r.widths, n)
	return nil
}

func parseTurn(line []byte) (label, length uint64, ok bool) {
	rest, ok := bytes.CutPrefix(line, []byte("turn "))
	if !ok {
		return 0, 0, false
	}
	first, second, _ := bytes.Cut(rest, []byte(" "))
	label, ok = parseNumber(first, math.MaxInt64)
	if !ok {
		return 0, 0, false
	}
	length, ok = parseNumber(second, math.MaxUint32)
	return label, length, ok
}

// parseNumber reads a decimal number without leading zeros.
func parseNumber(b []byte, limit uint64) (uint64, bool) {
	if len(b) == 0 || len(b) > 1 && b[0] == '0' || b[0] == '+' {
		return 0, false
	}
	n, err := strconv.ParseUint(string(b), 10, 64)
	return n, err == nil && n <= limit
}

func logExcerpt(line []byte) string { return strconv.Quote(string(line[:min(len(line), 60)])) }

// Write writes a log that was read from a commands.txt, or from an order log that was made from one, as a commands.txt:
// the same bytes, up to where reading ended. If that was not the log's end, it returns the error of src after writing
// the part before.
func Write(w io.Writer, src orderlog.Source) error {
	h := src.Header()
	start, ok := h.Params[ParamStart]
	length := h.Params[ParamLength]
	if !ok {
		return fmt.Errorf("the log's header has no %q: it does not come from a commands.txt", ParamStart)
	}
	end := "\n"
	if h.Params[ParamLines] == "crlf" {
		end = "\r\n"
	}
	out := append([]byte("start "+start), end...)
	for {
		if _, err := w.Write(out); err != nil {
			return err
		}
		out = out[:0]
		rec, err := src.Next()
		if err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
		if rec.Kind != orderlog.TickRecord {
			continue
		}
		t := rec.Tick
		orders := t.Orders
		if len(orders) > 0 && orders[0].Kind == 0 {
			length = string(orders[0].Payload)
			orders = orders[1:]
		}
		out = append(fmt.Appendf(out, "turn %d %s", t.Number, length), end...)
		for i := range orders {
			o := &orders[i]
			out = append(fmt.Appendf(out, "cmd %d %s", o.Player, o.Payload), end...)
		}
		if !rec.TailCut {
			out = append(append(out, "end"...), end...)
		}
		for i := range t.Hashes {
			o := &t.Hashes[i]
			if o.Kind != Kind {
				continue
			}
			word := "hash"
			if o.Coverage == QuickHash {
				word = "hash-quick"
			}
			out = append(fmt.Appendf(out, "%s %x", word, o.Bytes), end...)
		}
	}
}
