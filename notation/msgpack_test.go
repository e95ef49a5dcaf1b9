package notation

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
)

// fromHex parses the bytes of a hexadecimal text.
func fromHex(t testing.TB, text string) []byte {
	b, err := hex.DecodeString(strings.ReplaceAll(text, " ", ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestMsgpack has the formats of the specification, each at a bound.
func TestMsgpack(t *testing.T) {
	for _, c := range []struct{ hex, want string }{
		{"82 a7 636f6d70616374 c3 a6 736368656d61 00", `{@0 "compact": bool(true) "schema": number(0) end@18`},
		{"98 00 7f ff e0 c0 c2 c3 a0", `[@0 number(0) number(127) number(-1) number(-32) null() bool(false) bool(true) text() end@9`},
		{"94 ccff cdffff ceffffffff cfffffffffffffffff", `[@0 number(255) number(65535) number(4294967295) number(18446744073709551615) end@20`},
		{"94 d080 d18000 d280000000 d38000000000000000", `[@0 number(-128) number(-32768) number(-2147483648) number(-9223372036854775808) end@20`},
		{"94 ca3dcccccd cb3fb999999999999a ca7fc00000 cbfff0000000000000", `[@0 number(0.1) number(0.1) number(nan) number(-inf) end@29`},
		{"93 c401 ff c50001 fe c600000001 fd", "[@0 bytes(\xff) bytes(\xfe) bytes(\xfd) end@14"},
		{"93 d901 61 da0001 62 db00000001 63", "[@0 text(a) text(b) text(c) end@14"},
		{"95 d401 61 d501 6161 d6ff 61616161 d701 6161616161616161 d801 61616161616161616161616161616161",
			"[@0 bytes(a) bytes(aa) bytes(aaaa) bytes(aaaaaaaa) bytes(aaaaaaaaaaaaaaaa) end@42"},
		{"93 c70101 61 c8000101 62 c90000000101 63", "[@0 bytes(a) bytes(b) bytes(c) end@17"},
		{"93 dc0001 00 dd00000001 01 de0001 a161 02", `[@0 [@1 number(0) end@5 [@5 number(1) end@11 {@11 "a": number(2) end@17 end@17`},
		{"df00000001 07 90", `{@0 "7": [@6 end@7 end@7`},
		{"80 90 81 c401ff c0", `{@0 end@1 [@1 end@2 {@2 "ff": null() end@7`},
	} {
		parses(t, msgpackNotation(), string(fromHex(t, c.hex)), c.want)
	}
	for _, c := range []struct{ hex, want string }{
		{"92 01", "at offset 2: the file ends inside a map or list"},
		{"91 c1", "at offset 1: the byte 0xc1, which MessagePack does not use"},
		{"81 80 01", "at offset 1: a map or list as the name of a member"},
		{"91 dbffffffff 61", "at offset 1: the file ends inside a text"},
		{"ddffffffff 01", "at offset 6: the file ends inside a map or list"},
		{"cd01", "at offset 0: the file ends inside a number"},
		{strings.Repeat("91", 300), "at offset 256: more than 256 maps and lists within each other"},
	} {
		fails(t, msgpackNotation(), string(fromHex(t, c.hex)), c.want)
	}
}

// TestMsgpackWritten reads what another program writes.
func TestMsgpackWritten(t *testing.T) {
	var out bytes.Buffer
	e := msgpack.NewEncoder(&out)
	e.SetSortMapKeys(true)
	if err := e.Encode(map[string]any{"f": float32(1.1), "g": math.Pi, "i": int64(-5), "l": []int{1, 70000}, "s": strings.Repeat("x", 40)}); err != nil {
		t.Fatal(err)
	}
	var got calls
	if err := msgpackNotation().Parse(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	want := `{@0 "f": number(1.1) "g": number(3.141592653589793) "i": number(-5) "l": [@32 number(1) number(70000) end@39 "s": text(` +
		strings.Repeat("x", 40) + fmt.Sprintf(`) end@%d `, out.Len())
	if got.String() != want {
		t.Errorf("\n got %s\nwant %s", got.String(), want)
	}
	for _, whole := range []bool{true, false} {
		if !msgpackNotation().Sniff(out.Bytes(), whole) {
			t.Errorf("whole %t: not sniffed", whole)
		}
	}
	if n := Of("", out.Bytes()[:70], false); n == nil || n.Name != "msgpack" {
		t.Error("the begin is not sniffed")
	}
}

func FuzzMsgpack(f *testing.F) {
	for _, text := range []string{"82a7636f6d70616374c3a6736368656d6100", "94ca3dcccccdcb3fb999999999999ad40161c70101", "dc0001dd0000000101de0001a16102"} {
		f.Add(fromHex(f, text))
	}
	f.Fuzz(func(t *testing.T, text []byte) { robust(t, msgpackNotation(), text) })
}

func BenchmarkMessagePack(b *testing.B) {
	benchmark(b, msgpackNotation(), units(func(out *bytes.Buffer, id int) {
		err := msgpack.NewEncoder(out).Encode(map[string]any{"id": id, "owner": id % 8, "hp": float64(id) / 3, "name": fmt.Sprint("Scout ", id), "x": []int{id * 7, 7}})
		if err != nil {
			b.Fatal(err)
		}
	}))
}

// TestTextIsNotMsgpack: each byte of a text is a number in MessagePack, so the first one is enough to refuse it.
func TestTextIsNotMsgpack(t *testing.T) {
	read := 0
	count := func(p *binaryParser) (atom, error) {
		read++
		return msgpackAtom(p)
	}
	if sniffBinary([]byte(strings.Repeat("frame 1 checksum 00ff\n", 1000)), true, count) || read != 1 {
		t.Errorf("%d numbers were read, want 1", read)
	}
}
