package orderlog

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// First and last lines of the text twin.
const (
	textBegin   = "%desynctool order-log 1"
	textEnd     = "%end"
	textTorn    = "%torn"
	textCorrupt = "%corrupt"
)

// maxLine is the longest line of text that is read, in bytes.
const maxLine = 16 << 20

// WriteText writes the text twin of the rest of r, one variable a line. [ParseText] turns the text back into the same
// log. docs/orderlog.md contains the grammar.
//
// For an engine's log, comments show the fields inside payloads and the claims. ParseText turns such a text into an
// order log, unless the engine's log only defines kinds of orders where they first occur.
//
// If the log is torn or corrupt, the text contains everything before the damage and ends with a line that reports it.
// WriteText then returns the error of r.
func WriteText(w io.Writer, r Source) error {
	h := r.Header()
	t := text{kinds: h.Kinds, fields: dialectOf(r).Fields}
	t.header(&h)
	for {
		if _, err := w.Write(t.out); err != nil {
			return err
		}
		t.out = t.out[:0]
		rec, err := r.Next()
		if err != nil {
			return t.finish(w, err)
		}
		t.kinds = r.Header().Kinds
		switch rec.Kind {
		case TickRecord:
			if rec.Tick != nil {
				t.tick(rec.Tick)
			}
			for i := range rec.Claims {
				t.format("# %s: %q\n", rec.Claims[i].Kind, rec.Claims[i].Text)
			}
		case ObservedRecord:
			t.format(observedName+" = %d\n", len(rec.Observed))
			t.observed(observedName, rec.Observed)
		}
	}
}

// text collects lines.
type text struct {
	out    []byte
	kinds  []OrderKind
	fields func(kind string, payload []byte) []Field
}

func (t *text) format(format string, args ...any) { t.out = fmt.Appendf(t.out, format, args...) }
func (t *text) str(s string)                      { t.out = append(t.out, s...) }
func (t *text) uint(n uint64)                     { t.out = strconv.AppendUint(t.out, n, 10) }
func (t *text) quote(s string)                    { t.out = strconv.AppendQuote(t.out, s) }
func (t *text) hex(b []byte)                      { t.out = hex.AppendEncode(append(t.out, "0x"...), b) }

// field appends a keyword and a number, each after a space.
func (t *text) field(name string, n uint64) {
	t.out = append(t.out, ' ')
	t.str(name)
	t.out = append(t.out, ' ')
	t.uint(n)
}

func (t *text) header(h *Header) {
	t.str(textBegin + "\n")
	t.format(headerName+".seed = %d\n", h.Seed)
	t.format(headerName+".peer = %q\n", h.Peer)
	t.format(headerName+".build = %q\n", h.Build)
	t.format(headerName+".tick_rate = %d/%d\n", h.TickRate.Num, h.TickRate.Den)
	t.str(headerName + ".start = ")
	t.hex(h.Start[:])
	t.str("\n")
	t.format(headerName+".first_point = %d\n", h.FirstPoint)
	t.format(headerName+".epoch = %d\n", h.Epoch)
	for i, k := range h.Kinds {
		t.format(headerName+".kind[%d] = %q", i, k.Name)
		if k.Local {
			t.str(" local")
		}
		t.str("\n")
	}
	for i, name := range h.Peers {
		t.format(headerName+".peers[%d] = %q\n", i, name)
	}
	for _, key := range slices.Sorted(maps.Keys(h.Params)) {
		t.format(headerName+".params[%q] = %q\n", key, h.Params[key])
	}
}

func (t *text) tick(tick *Tick) {
	var buf [40]byte
	prefix := append(strconv.AppendUint(append(buf[:0], tickName+"["...), tick.Number, 10), ']')
	name := func(variable string) {
		t.out = append(t.out, prefix...)
		t.str(variable)
	}
	index := func(i int) {
		t.uint(uint64(i))
		t.str("] =")
	}
	name(".input_hash = ")
	t.hex(tick.InputHash[:])
	t.str("\n")
	for i := range tick.Orders {
		o := &tick.Orders[i]
		name(".order[")
		index(i)
		t.field("player", uint64(o.Player))
		t.field("seq", uint64(o.Sequence))
		t.field("at", uint64(o.SubTick))
		t.str(" ")
		t.quote(t.kinds[o.Kind].Name)
		t.str(" ")
		t.hex(o.Payload)
		t.str("\n")
		if t.fields == nil {
			continue
		}
		for _, f := range t.fields(t.kinds[o.Kind].Name, o.Payload) {
			t.str("# ")
			name(".order[")
			t.uint(uint64(i))
			t.format("].%s = %s\n", f.Path, f.Value)
		}
	}
	t.observed(string(prefix), tick.Hashes)
	for i := range tick.Markers {
		m := &tick.Markers[i]
		name(".marker[")
		index(i)
		t.str(" ")
		t.str(m.Kind.String())
		t.field("player", uint64(m.Player))
		t.field("peer", uint64(m.Peer))
		t.field("seq", uint64(m.Sequence))
		t.field("point", m.Point)
		if m.NewEpoch {
			t.str(" epoch ")
			if m.History == (merkle.Hash{}) {
				t.hex(nil)
			} else {
				t.hex(m.History[:])
			}
		}
		t.str(" ")
		t.quote(m.Text)
		t.str("\n")
	}
}

func (t *text) observed(owner string, hashes []Observed) {
	for i := range hashes {
		o := &hashes[i]
		t.str(owner)
		t.str(".hash[")
		t.uint(o.Point)
		t.str("].")
		t.str(string(o.Kind))
		if o.Coverage != Full {
			t.str("/")
			t.str(string(o.Coverage))
		}
		t.str(".peer[")
		t.uint(uint64(o.Peer))
		t.str("] = ")
		t.hex(o.Bytes)
		t.str("\n")
	}
}

// finish writes the last line, which shows how reading ended.
func (t *text) finish(w io.Writer, end error) error {
	var malformed *frame.Error
	switch {
	case end == io.EOF:
		t.str(textEnd + "\n")
		_, err := w.Write(t.out)
		return err
	case errors.Is(end, frame.ErrTorn) && errors.As(end, &malformed):
		t.format("%s offset %d lost %d %q\n", textTorn, malformed.Offset, malformed.Lost, malformed.Msg)
	case errors.As(end, &malformed):
		t.format("%s offset %d %q\n", textCorrupt, malformed.Offset, malformed.Msg)
	default:
		return end
	}
	if _, err := w.Write(t.out); err != nil {
		return err
	}
	return end
}
