package notation

import (
	"math"
	"strconv"
)

// msgpackNotation is MessagePack, with several documents one after the other. Extensions are their bytes.
func msgpackNotation() Notation {
	return Notation{
		Name: "msgpack", Title: "MessagePack", Extensions: []string{".msgpack", ".mpk", ".mp"},
		Sniff: func(head []byte, whole bool) bool { return sniffBinary(head, whole, msgpackAtom) },
		Parse: func(text []byte, to Sink) error {
			p := binaryParser{text: text, to: to, atom: msgpackAtom}
			return p.parse()
		},
	}
}

// msgpackCode is what a byte from 0xc0 to 0xdf begins.
type msgpackCode struct {
	atom  atom
	form  msgpackForm
	width int // bytes of the number or size that follows, or of the whole extension
}

type msgpackForm uint8

const (
	wrong    msgpackForm = iota
	constant             // the byte is all
	unsigned             // and so on: the type of the following number
	signed
	float
	sized     // text or bytes with a size
	extension // with a size
	fixed     // an extension with the size in the byte
	members   // a map or list with a size
)

// msgpackCodes are the bytes from 0xc0 to 0xdf.
var msgpackCodes = [32]msgpackCode{
	0x00: {atom{kind: Null}, constant, 0},
	0x02: {atom{kind: Bool, text: []byte("false")}, constant, 0},
	0x03: {atom{kind: Bool, text: []byte("true")}, constant, 0},
	0x04: {atom{kind: Bytes}, sized, 1},
	0x05: {atom{kind: Bytes}, sized, 2},
	0x06: {atom{kind: Bytes}, sized, 4},
	0x07: {atom{kind: Bytes}, extension, 1},
	0x08: {atom{kind: Bytes}, extension, 2},
	0x09: {atom{kind: Bytes}, extension, 4},
	0x0a: {atom{}, float, 4},
	0x0b: {atom{}, float, 8},
	0x0c: {atom{}, unsigned, 1},
	0x0d: {atom{}, unsigned, 2},
	0x0e: {atom{}, unsigned, 4},
	0x0f: {atom{}, unsigned, 8},
	0x10: {atom{}, signed, 1},
	0x11: {atom{}, signed, 2},
	0x12: {atom{}, signed, 4},
	0x13: {atom{}, signed, 8},
	0x14: {atom{kind: Bytes}, fixed, 1},
	0x15: {atom{kind: Bytes}, fixed, 2},
	0x16: {atom{kind: Bytes}, fixed, 4},
	0x17: {atom{kind: Bytes}, fixed, 8},
	0x18: {atom{kind: Bytes}, fixed, 16},
	0x19: {atom{kind: Text}, sized, 1},
	0x1a: {atom{kind: Text}, sized, 2},
	0x1b: {atom{kind: Text}, sized, 4},
	0x1c: {atom{form: list}, members, 2},
	0x1d: {atom{form: list}, members, 4},
	0x1e: {atom{form: mapping}, members, 2},
	0x1f: {atom{form: mapping}, members, 4},
}

// msgpackAtom reads what one byte begins.
func msgpackAtom(p *binaryParser) (atom, error) {
	begin := p.at
	if begin == len(p.text) {
		return atom{}, cut(begin, "a map or list")
	}
	c := p.text[begin]
	p.at++
	switch {
	case c < 0x80 || c >= 0xe0:
		return p.number(strconv.AppendInt(p.scratch[:0], int64(int8(c)), 10)), nil
	case c < 0x90:
		return atom{form: mapping, size: uint64(c & 0x0f)}, nil
	case c < 0xa0:
		return atom{form: list, size: uint64(c & 0x0f)}, nil
	case c < 0xc0:
		text, err := p.take(uint64(c&0x1f), begin, "a text")
		return atom{kind: Text, text: text}, err
	}
	code := &msgpackCodes[c-0xc0]
	a, n := code.atom, uint64(code.width)
	var err error
	switch code.form {
	case wrong:
		return a, fault(begin, "the byte 0xc1, which MessagePack does not use")
	case constant:
		return a, nil
	case fixed:
	default:
		if n, err = p.uint(code.width, begin); err != nil {
			return a, err
		}
	}
	switch code.form {
	case unsigned:
		return p.number(strconv.AppendUint(p.scratch[:0], n, 10)), nil
	case signed:
		high := 64 - 8*code.width
		return p.number(strconv.AppendInt(p.scratch[:0], int64(n)<<high>>high, 10)), nil
	case float:
		if code.width == 4 {
			return p.number(appendFloat(p.scratch[:0], float64(math.Float32frombits(uint32(n))), 32)), nil
		}
		return p.number(appendFloat(p.scratch[:0], math.Float64frombits(n), 64)), nil
	case members:
		a.size = n
		return a, nil
	case extension, fixed:
		if _, err = p.take(1, begin, "an extension"); err != nil {
			return a, err
		}
	}
	a.text, err = p.take(n, begin, "a text")
	return a, err
}
