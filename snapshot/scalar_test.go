package snapshot

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestNumbers compares canonical forms with exact arithmetic: the value is kept, and equal values have one form.
func TestNumbers(t *testing.T) {
	number := rapid.StringMatching(`-?[0-9]{0,25}(\.[0-9]{0,25})?([eE][+-]?[0-9]{1,2})?`)
	rapid.Check(t, func(t *rapid.T) {
		text := number.Draw(t, "number")
		want, ok := new(big.Rat).SetString(text)
		got, accepted := AppendNumber(nil, []byte(text))
		if ok != accepted {
			t.Fatalf("%q accepted: %v, want %v", text, accepted, ok)
		}
		if !ok {
			return
		}
		if value, ok := new(big.Rat).SetString(string(got)); !ok || value.Cmp(want) != 0 {
			t.Fatalf("%q is %s", text, got)
		}
		if !json.Valid(got) {
			t.Fatalf("%q is %s, which is not JSON", text, got)
		}
		zeros := strings.Repeat("0", rapid.IntRange(0, 30).Draw(t, "zeros"))
		scaled, _ := AppendNumber(nil, []byte(sign(text)+zeros+want.Abs(want).FloatString(160)+zeros))
		if string(scaled) != string(got) {
			t.Fatalf("%q is %s, and in another form %s", text, got, scaled)
		}
		if again, ok := AppendNumber(nil, got); !ok || string(again) != string(got) {
			t.Fatalf("%s is not canonical: %s", got, again)
		}
	})
}

func sign(text string) string {
	if strings.HasPrefix(text, "-") {
		return "-"
	}
	return ""
}

func TestScalarForms(t *testing.T) {
	for text, want := range map[string]string{
		"3.0": "3", "1.50": "1.5", "1e3": "1000", "-0.0": "-0", "0": "0", "007": "7", "1e400": "1e+400", "0.0000001": "1e-7", "0.000001": "0.000001",
		"1000000000000000000000": "1e+21", "999999999999999999999": "999999999999999999999", "18446744073709551615": "18446744073709551615",
		"1e999999999999999999999": "1e+1073741824", "nan": "nan", "-inf": "-inf",
	} {
		if got, ok := AppendNumber(nil, []byte(text)); !ok || string(got) != want {
			t.Errorf("%s is %s, want %s", text, got, want)
		}
	}
	for _, text := range []string{"", "-", ".", "1e", "1e+", "0x10", "1 ", "+1", "--1", "NaN", "1.2.3"} {
		if got, ok := AppendNumber(nil, []byte(text)); ok {
			t.Errorf("%q is taken for the number %s", text, got)
		}
	}
}

// TestScalarChanges: a pair of Scalars changes as values of the type that holds both do.
func TestScalarChanges(t *testing.T) {
	for _, c := range []struct {
		a, b string
		kind Kind
		bits int
		ulp  uint64
	}{
		{"3", "7", KindInteger, 1, 0},
		{"-1", "18446744073709551615", KindInteger, 0, 0},
		{"9223372036854775808", "9223372036854775809", KindInteger, 1, 0},
		{"0.1", "0.10000000149", KindFloat, 27, 107374182},
		{"3", "3.5", KindFloat, 1, 1 << 50},
		{"0", "-0", KindSignOfZero, 1, 0},
		{"nan", "1", KindNaN, -1, 0},
		{"1e+400", "1e+401", KindFloat, 0, 0},
		{"0.12345678901234567890123", "0.12345678901234567890124", KindFloat, 0, 0},
		{`"a`, `"b`, KindText, 0, 0},
		{`"a`, "1", KindText, 0, 0},
		{"true", "false", KindInteger, 1, 0},
		{"null", "5", KindAbsent, 0, 0},
		{"x\x01", "x\x03", KindBytes, 1, 0},
	} {
		value := func(raw string) Value { return Value{Type: Scalar, Raw: []byte(raw)} }
		got := newChange(Key{}, "C", "f", value(c.a), value(c.b), longValue)
		ulp := c.ulp
		if c.a == "0.1" { // by the bits, which math/big does not have
			x, _ := strconv.ParseFloat(c.a, 64)
			y, _ := strconv.ParseFloat(c.b, 64)
			ulp = floatBits(y, F64) - floatBits(x, F64)
		}
		if got.Kind != c.kind || got.ULP != ulp || c.bits >= 0 && c.a != "0.1" && got.BitsChanged != c.bits {
			t.Errorf("%s to %s: %s, %d bits, %d ulp; want %s, %d, %d", c.a, c.b, got.Kind, got.BitsChanged, got.ULP, c.kind, c.bits, ulp)
		}
		for i, v := range []Value{got.A, got.B} {
			if want := value([]string{c.a, c.b}[i]).String(); c.kind != KindNaN && v.String() != want {
				t.Errorf("%s to %s: value %s is shown as %s", c.a, c.b, want, v)
			}
		}
	}
}

// TestScalarText: the text twin holds every Scalar.
func TestScalarText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		raw := rapid.OneOf(
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return `"` + string(b) }),
			rapid.Map(rapid.SliceOf(rapid.Byte()), func(b []byte) string { return "x" + string(b) }),
			rapid.SampledFrom([]string{"true", "false", "null", "1.5", "-0", "inf", "-inf", "nan", "1e+400"}),
		).Draw(t, "raw")
		text := Value{Type: Scalar, Raw: []byte(raw)}.String()
		back, err := ParseValue(Scalar, 0, text)
		if err != nil || string(back.Raw) != raw {
			t.Fatalf("%q is %s, which is %q: %v", raw, text, back.Raw, err)
		}
	})
}
