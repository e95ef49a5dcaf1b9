package notation

import (
	"strings"
	"testing"
)

// TestCBOR has the examples of RFC 8949, appendix A. A float of 16 bits has the shortest text of one of 32 bits.
func TestCBOR(t *testing.T) {
	for _, c := range []struct{ hex, want string }{
		{"00", "number(0)"}, {"01", "number(1)"}, {"0a", "number(10)"}, {"17", "number(23)"}, {"1818", "number(24)"},
		{"1819", "number(25)"}, {"1864", "number(100)"}, {"1903e8", "number(1000)"}, {"1a000f4240", "number(1000000)"},
		{"1b000000e8d4a51000", "number(1000000000000)"}, {"1bffffffffffffffff", "number(18446744073709551615)"},
		{"c249010000000000000000", "number(18446744073709551616)"}, {"3bffffffffffffffff", "number(-18446744073709551616)"},
		{"c349010000000000000000", "number(-18446744073709551617)"}, {"20", "number(-1)"}, {"29", "number(-10)"},
		{"3863", "number(-100)"}, {"3903e7", "number(-1000)"},
		{"f90000", "number(0)"}, {"f98000", "number(-0)"}, {"f93c00", "number(1)"}, {"fb3ff199999999999a", "number(1.1)"},
		{"f93e00", "number(1.5)"}, {"f97bff", "number(65504)"}, {"fa47c35000", "number(100000)"},
		{"fa7f7fffff", "number(3.4028235e+38)"}, {"fb7e37e43c8800759c", "number(1e+300)"},
		{"f90001", "number(5.9604645e-08)"}, {"f90400", "number(0.000061035156)"}, {"f9c400", "number(-4)"},
		{"fbc010666666666666", "number(-4.1)"}, {"f97c00", "number(inf)"}, {"f97e00", "number(nan)"}, {"f9fc00", "number(-inf)"},
		{"fa7f800000", "number(inf)"}, {"fa7fc00000", "number(nan)"}, {"faff800000", "number(-inf)"},
		{"fb7ff0000000000000", "number(inf)"}, {"fb7ff8000000000000", "number(nan)"}, {"fbfff0000000000000", "number(-inf)"},
		{"f4", "bool(false)"}, {"f5", "bool(true)"}, {"f6", "null()"}, {"f7", "null()"}, {"f0", "bare(simple(16))"},
		{"f8ff", "bare(simple(255))"},
		{"c074323031332d30332d32315432303a30343a30305a", "text(2013-03-21T20:04:00Z)"}, {"c11a514b67b0", "number(1363896240)"},
		{"c1fb41d452d9ec200000", "number(1363896240.5)"}, {"d74401020304", "bytes(\x01\x02\x03\x04)"},
		{"d818456449455446", "bytes(dIETF)"}, {"d82076687474703a2f2f7777772e6578616d706c652e636f6d", "text(http://www.example.com)"},
		{"40", "bytes()"}, {"4401020304", "bytes(\x01\x02\x03\x04)"}, {"60", "text()"}, {"6161", "text(a)"},
		{"6449455446", "text(IETF)"}, {"62225c", `text("\)`}, {"62c3bc", "text(\u00fc)"}, {"63e6b0b4", "text(\u6c34)"},
		{"64f0908591", "text(\U00010151)"},
		{"80", "[@0 end@1"}, {"83010203", "[@0 number(1) number(2) number(3) end@4"},
		{"8301820203820405", "[@0 number(1) [@2 number(2) number(3) end@5 [@5 number(4) number(5) end@8 end@8"},
		{"98190102030405060708090a0b0c0d0e0f101112131415161718181819",
			"[@0 number(1) number(2) number(3) number(4) number(5) number(6) number(7) number(8) number(9) number(10) number(11) number(12) " +
				"number(13) number(14) number(15) number(16) number(17) number(18) number(19) number(20) number(21) number(22) number(23) " +
				"number(24) number(25) end@29"},
		{"a0", "{@0 end@1"}, {"a201020304", `{@0 "1": number(2) "3": number(4) end@5`},
		{"a26161016162820203", `{@0 "a": number(1) "b": [@6 number(2) number(3) end@9 end@9`},
		{"826161a161626163", `[@0 text(a) {@3 "b": text(c) end@8 end@8`},
		{"a56161614161626142616361436164614461656145", `{@0 "a": text(A) "b": text(B) "c": text(C) "d": text(D) "e": text(E) end@21`},
		{"5f42010243030405ff", "bytes(\x01\x02\x03\x04\x05)"}, {"7f657374726561646d696e67ff", "text(streaming)"},
		{"9fff", "[@0 end@2"}, {"9f018202039f0405ffff", "[@0 number(1) [@2 number(2) number(3) end@5 [@5 number(4) number(5) end@9 end@10"},
		{"9f01820203820405ff", "[@0 number(1) [@2 number(2) number(3) end@5 [@5 number(4) number(5) end@8 end@9"},
		{"83018202039f0405ff", "[@0 number(1) [@2 number(2) number(3) end@5 [@5 number(4) number(5) end@9 end@9"},
		{"83019f0203ff820405", "[@0 number(1) [@2 number(2) number(3) end@6 [@6 number(4) number(5) end@9 end@9"},
		{"bf61610161629f0203ffff", `{@0 "a": number(1) "b": [@6 number(2) number(3) end@10 end@11`},
		{"826161bf61626163ff", `[@0 text(a) {@3 "b": text(c) end@9 end@9`},
		{"bf6346756ef563416d7421ff", `{@0 "Fun": bool(true) "Amt": number(-2) end@12`},
		// Further ones: a sequence, and a tag of the file.
		{"01a0d9d9f780", "number(1) {@1 end@2 [@2 end@6"},
	} {
		parses(t, cborNotation(), string(fromHex(t, c.hex)), c.want)
	}
	// Among them are the examples of RFC 8949, appendix F.
	for _, c := range []struct{ hex, want string }{
		{"18", "at offset 0: the file ends inside a number"},
		{"5bffffffffffffffff010203", "at offset 0: the file ends inside a text"},
		{"9bffffffffffffffff", "at offset 9: the file ends inside a map, list or text"},
		{"a2010203", "at offset 4: the file ends inside a map, list or text"},
		{"5f41", "at offset 1: the file ends inside a text"},
		{"9f", "at offset 1: the file ends inside a map, list or text"},
		{"c0", "at offset 1: the file ends inside a map, list or text"},
		{"1c", "at offset 0: the byte 0x1c, which CBOR does not use"},
		{"f818", "at offset 0: a constant of two bytes, expected one of one byte"},
		{"5f6100ff", "at offset 1: the byte 0x61, expected a piece of a text"},
		{"5f5f4100ffff", "at offset 1: the byte 0x5f, expected a piece of a text"},
		{"ff", "at offset 0: the end of a list that is not open"},
		{"81ff", "at offset 1: the end of a list that is not open"},
		{"c0ff", "at offset 1: the end of a list, expected an item after its tag"},
		{"bf01ff", "at offset 2: the end of a map, expected the value of a member"},
		{"a1ff00", "at offset 1: the end of a list that is not open"},
		{"1f", "at offset 0: the byte 0x1f, which CBOR does not use"},
		{strings.Repeat("81", 300), "at offset 256: more than 256 maps and lists within each other"},
	} {
		fails(t, cborNotation(), string(fromHex(t, c.hex)), c.want)
	}
}

func TestSniffCBOR(t *testing.T) {
	for hex, want := range map[string]bool{
		"a26161016162820203": true, "d9d9f780": true, "d9d9f7": false, "80": false, "88 0102030405060708": false, "9840" + strings.Repeat("19ffff", 64): true, "8401020304": false, "a201020304": false,
		"a1614101ff": false, "a26101016162820203": false, "826161": false,
	} {
		if n := Of("", fromHex(t, hex), true); (n != nil && n.Name == "cbor") != want {
			t.Errorf("%s: %v", hex, n)
		}
	}
}

func FuzzCBOR(f *testing.F) {
	for _, text := range []string{"a26161016162820203", "bf61610161629f0203ffff", "d9d9f79ff97bffc24101f8ffff", "7f657374726561646d696e67ff"} {
		f.Add(fromHex(f, text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, cborNotation(), text) })
}
