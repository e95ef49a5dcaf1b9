package notation

import (
	"bytes"
	"math"
	"math/big"
	"strconv"
)

// cborNotation is CBOR, RFC 8949, with several documents one after the other. Tags are skipped, except the tags of big
// numbers.
func cborNotation() Notation {
	return Notation{
		Name: "cbor", Title: "CBOR", Extensions: []string{".cbor"}, Sniff: sniffCBOR,
		Parse: func(text []byte, to Sink) error {
			p := binaryParser{text: text, to: to, atom: cborAtom}
			return p.parse()
		},
	}
}

// sniffCBOR reports whether a text begins with maps or lists in CBOR, or with the tag that files in CBOR may begin
// with.
func sniffCBOR(head []byte, whole bool) bool {
	if bytes.HasPrefix(head, []byte("\xd9\xd9\xf7")) {
		p := binaryParser{text: head, to: discard{}, atom: cborAtom}
		err := p.parse()
		return len(head) > 3 && (err == nil || err.(*Error).Cut)
	}
	return sniffBinary(head, whole, cborAtom)
}

// The major types of CBOR.
const (
	cborUnsigned = iota
	cborNegative
	cborBytes
	cborText
	cborList
	cborMap
	cborTag
	cborOther
)

// cborHead reads the first byte of an item, and the number that belongs to it: endless for the size of something that
// ends with a stop.
func (p *binaryParser) cborHead() (major, info byte, n uint64, err error) {
	begin := p.at
	if begin == len(p.text) {
		return 0, 0, 0, cut(begin, "a map, list or text")
	}
	c := p.text[begin]
	p.at++
	major, info = c>>5, c&0x1f
	switch {
	case info < 24:
		n = uint64(info)
	case info < 28:
		n, err = p.uint(1<<(info-24), begin)
		if n == endless && major >= cborBytes && major < cborTag {
			n-- // in any case more than a file can have
		}
	case info == 31 && (major >= cborBytes && major < cborTag || major == cborOther):
		n = endless
	default:
		err = fault(begin, "the byte 0x%02x, which CBOR does not use", c)
	}
	return major, info, n, err
}

// cborAtom reads an item without the members of a list or map.
func cborAtom(p *binaryParser) (atom, error) {
	for first, tag := p.at, uint64(0); ; {
		begin := p.at
		major, info, n, err := p.cborHead()
		if err != nil {
			return atom{}, err
		}
		switch major {
		case cborUnsigned:
			return p.number(strconv.AppendUint(p.scratch[:0], n, 10)), nil
		case cborNegative:
			return p.number(appendNegative(p.scratch[:0], n)), nil
		case cborText:
			text, err := p.cborString(major, n, begin)
			return atom{kind: Text, text: text}, err
		case cborBytes:
			text, err := p.cborString(major, n, begin)
			if err == nil && (tag == 2 || tag == 3) && len(text) < maxDigits {
				return p.number(appendBig(nil, text, tag == 3)), nil
			}
			return atom{kind: Bytes, text: text}, err
		case cborList:
			return atom{form: list, size: n}, nil
		case cborMap:
			return atom{form: mapping, size: n}, nil
		case cborOther:
			if n == endless && info == 31 && first != begin {
				return atom{}, fault(begin, "the end of a list, expected an item after its tag")
			}
			return p.cborOther(info, n, begin)
		}
		tag = n
	}
}

// cborString reads bytes or text, which may come in pieces.
func (p *binaryParser) cborString(major byte, n uint64, begin int) ([]byte, error) {
	if n != endless {
		return p.take(n, begin, "a text")
	}
	out := p.scratch[:0]
	for {
		at := p.at
		kind, info, n, err := p.cborHead()
		if err != nil {
			return nil, err
		}
		if kind == cborOther && info == 31 {
			p.scratch = out
			return out, nil
		}
		if kind != major || n == endless {
			return nil, fault(at, "the byte 0x%02x, expected a piece of a text", p.text[at])
		}
		piece, err := p.take(n, at, "a text")
		if err != nil {
			return nil, err
		}
		out = append(out, piece...)
	}
}

// cborOther reads a float or a constant.
func (p *binaryParser) cborOther(info byte, n uint64, begin int) (atom, error) {
	switch info {
	case 20:
		return atom{kind: Bool, text: []byte("false")}, nil
	case 21:
		return atom{kind: Bool, text: []byte("true")}, nil
	case 22, 23:
		return atom{kind: Null}, nil
	case 24:
		if n < 32 {
			return atom{}, fault(begin, "a constant of two bytes, expected one of one byte")
		}
	case 25:
		return p.number(appendFloat(p.scratch[:0], half(uint16(n)), 32)), nil
	case 26:
		return p.number(appendFloat(p.scratch[:0], float64(math.Float32frombits(uint32(n))), 32)), nil
	case 27:
		return p.number(appendFloat(p.scratch[:0], math.Float64frombits(n), 64)), nil
	case 31:
		return atom{form: stop}, nil
	}
	return atom{kind: Bare, text: append(strconv.AppendUint([]byte("simple("), n, 10), ')')}, nil
}

// half returns the value of a float of 16 bits.
func half(b uint16) float64 {
	sign, exponent, fraction := 1-2*float64(b>>15), int(b>>10&0x1f), float64(b&0x3ff)
	switch exponent {
	case 0:
		return math.Copysign(math.Ldexp(fraction, -24), sign)
	case 0x1f:
		if fraction != 0 {
			return math.NaN()
		}
		return math.Inf(int(sign))
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// appendNegative appends -1 - n.
func appendNegative(out []byte, n uint64) []byte {
	if n == math.MaxUint64 {
		return append(out, "-18446744073709551616"...)
	}
	return strconv.AppendUint(append(out, '-'), n+1, 10)
}

// appendBig appends the big number with the bytes b, or -1 minus it.
func appendBig(out, b []byte, negative bool) []byte {
	n := new(big.Int).SetBytes(b)
	if negative {
		n.Not(n)
	}
	return n.Append(out, 10)
}
