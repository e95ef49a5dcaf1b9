package page

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
)

// bitsView are the bits of a value on both peers, the most significant first.
type bitsView struct {
	Parts []bitsPart
	Note  string // the parts in numbers
	Tip   string
}

// bitsPart is a byte, or the sign, the exponent or a byte of the mantissa of a float: a piece that is not broken across
// lines.
type bitsPart struct {
	Name string       // empty, or the name of the float's part
	Runs [2][]bitsRun // of both peers
}

// bitsRun are neighbouring bits that are all changed or all equal.
type bitsRun struct {
	Bits    string
	Changed bool
}

// maxBits is the largest width of a value with bits that are shown.
const maxBits = 128

// newBits returns nil unless there are two raw values of one width.
func newBits(a, b string, kind snapshot.Kind) *bitsView {
	x, y := binary(a), binary(b)
	if x == "" || len(x) != len(y) {
		return nil
	}
	v := new(bitsView)
	var changed []string
	for i := range x {
		if x[i] != y[i] {
			changed = append(changed, strconv.Itoa(len(x)-1-i))
		}
	}
	v.Tip = fmt.Sprintf("%s of %d: %s", prose.Count(len(changed), "changed bit", "changed bits"), len(x), prose.FirstOf(changed, 16))
	if cuts := floatParts(kind, len(x)); cuts != nil {
		from := 0
		var notes []string
		for _, c := range cuts {
			p, q := x[from:from+c.bits], y[from:from+c.bits]
			if c.name == "mantissa" {
				v.bytes(c.name, p, q)
			} else {
				v.Parts = append(v.Parts, bitsPart{c.name, [2][]bitsRun{runs(p, q), runs(q, p)}})
			}
			notes = append(notes, c.note(p, q))
			from += c.bits
		}
		v.Note = strings.Join(notes, "; ")
		return v
	}
	v.bytes("", x, y)
	return v
}

// bytes adds bits byte by byte; the remaining bits come first.
func (v *bitsView) bytes(name, p, q string) {
	for len(p) > 0 {
		n := (len(p)-1)%8 + 1
		v.Parts = append(v.Parts, bitsPart{name, [2][]bitsRun{runs(p[:n], q[:n]), runs(q[:n], p[:n])}})
		p, q = p[n:], q[n:]
	}
}

// binary returns hex digits as binary ones, empty if there are none or too many.
func binary(hex string) string {
	if len(hex)*4 > maxBits {
		return ""
	}
	var out strings.Builder
	for _, digit := range hex {
		n, err := strconv.ParseUint(string(digit), 16, 8)
		if err != nil {
			return ""
		}
		fmt.Fprintf(&out, "%04b", n)
	}
	return out.String()
}

// floatPart is a part of a float.
type floatPart struct {
	name string
	bits int
	bias int64 // of an exponent
}

func floatParts(kind snapshot.Kind, width int) []floatPart {
	switch kind {
	case snapshot.KindFloat, snapshot.KindNaN, snapshot.KindSignOfZero:
	default:
		return nil
	}
	switch width {
	case 32:
		return []floatPart{{"sign", 1, 0}, {"exponent", 8, 127}, {"mantissa", 23, 0}}
	case 64:
		return []floatPart{{"sign", 1, 0}, {"exponent", 11, 1023}, {"mantissa", 52, 0}}
	}
	return nil
}

// note describes a part on both sides.
func (p floatPart) note(a, b string) string {
	show := func(bits string) string {
		n, _ := strconv.ParseInt(bits, 2, 64)
		switch {
		case p.name == "sign" && n == 0:
			return "+"
		case p.name == "sign":
			return "−"
		case p.bias == 0:
			return fmt.Sprintf("0x%0*x", (p.bits+3)/4, n)
		case n == 0:
			return "0 (zero or denormal)"
		case n == 2*p.bias+1:
			return "all ones (infinite or NaN)"
		}
		return strconv.FormatInt(n-p.bias, 10)
	}
	if a == b {
		return p.name + " " + show(a)
	}
	return p.name + " " + show(a) + " | " + show(b)
}

// runs cuts a where it begins or ceases to differ from b.
func runs(a, b string) []bitsRun {
	var out []bitsRun
	for i := range a {
		if changed := a[i] != b[i]; i == 0 || out[len(out)-1].Changed != changed {
			out = append(out, bitsRun{Changed: changed})
		}
		out[len(out)-1].Bits += a[i : i+1]
	}
	return out
}
