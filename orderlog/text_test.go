package orderlog_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/frame"
	. "github.com/desynctool/desynctool/orderlog"
)

// block returns the n-th fenced block of docs/orderlog.md with an info string.
func block(t *testing.T, info string) string {
	t.Helper()
	doc, err := os.ReadFile("../docs/orderlog.md")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile("(?ms)^```"+info+"\n(.*?)^```$").FindAllStringSubmatch(string(doc), -1)
	if len(m) != 1 {
		t.Fatalf("docs/orderlog.md has %d blocks of %s, expected 1", len(m), info)
	}
	return m[0][1]
}

// The worked example of the specification pins the bytes of the format.
func TestSpecification(t *testing.T) {
	text := block(t, "order-log-text")
	var digits strings.Builder
	for line := range strings.Lines(block(t, "order-log-hex")) {
		line, _, _ = strings.Cut(line, "#")
		digits.WriteString(strings.Join(strings.Fields(line), ""))
	}
	want, err := hex.DecodeString(digits.String())
	if err != nil {
		t.Fatal(err)
	}
	if got := encodeText(t, text); !bytes.Equal(got, want) {
		t.Errorf("text is encoded as\n%x, the specification says\n%x", got, want)
	}
	if got, err := decodeText(want); err != nil || got != text {
		t.Errorf("bytes are decoded as\n%s (error %v), the specification says\n%s", got, err, text)
	}
	log, err := ReadAll(bytes.NewReader(want), "example")
	if err != nil {
		t.Fatal(err)
	}
	for i := range log.Ticks {
		tick := &log.Ticks[i]
		if got := inputHash(&log.Header, tick.Orders); got != tick.InputHash {
			t.Errorf("input hash of tick %d is %s, the specification says %s", tick.Number, got, tick.InputHash)
		}
	}
}

func TestTornText(t *testing.T) {
	log := encodeText(t, textOf("tick[1].input_hash = 0x0000000000000000", "tick[2].input_hash = 0x0000000000000000"))
	flipped := bytes.Clone(log)
	flipped[len(log)-30] ^= 1
	for _, test := range []struct {
		log  []byte
		kind error
		last string
	}{
		{log[:len(log)-24], frame.ErrTorn, `%torn offset 147 lost 0 "no end marker"`},
		{log[:len(log)-25], frame.ErrTorn, `%torn offset 116 lost 30 "file ends inside a frame of 15 bytes"`},
		{flipped, frame.ErrCorrupt, `%corrupt offset 116 "payload checksum is 0x`},
	} {
		text, err := decodeText(test.log)
		if !errors.Is(err, test.kind) {
			t.Errorf("error is %v, expected %v", err, test.kind)
		}
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		if last := lines[len(lines)-1]; !strings.HasPrefix(last, test.last) {
			t.Errorf("last line is\n%s, expected\n%s", last, test.last)
		}
		_, want, _ := readRecords(test.log)
		_, got, err := readRecords(encodeText(t, text))
		if !errors.Is(err, frame.ErrTorn) || len(got) != len(want) {
			t.Errorf("by way of text %d records and %v, expected %d and torn", len(got), err, len(want))
		}
	}
}

func TestParseTextErrors(t *testing.T) {
	const begin = "%desynctool order-log 1\n"
	const tick = "tick[5].input_hash = 0x0000000000000000\n"
	const kind = "header.kind[0] = \"move\"\n"
	for _, test := range []struct{ text, want string }{
		{"", `x.txt: empty text, expected "%desynctool order-log 1"`},
		{"hello\n", `x.txt:1: "hello", expected "%desynctool order-log 1"`},
		{"%desynctool order-log 2\n", `x.txt:1: "%desynctool order-log 2", expected "%desynctool order-log 1"`},
		{begin, `x.txt:1: text ends without %end`},
		{begin + tick, `x.txt:2: text ends without %end`},
		{begin + "%end\n\n# comment\n" + tick, `x.txt:5: line after the end`},
		{begin + "%over\n", `x.txt:2: "%over", expected %end, %torn or %corrupt`},
		{begin + "%end now\n", `x.txt:2: " now", expected end of line`},
		{begin + "nonsense\n", `x.txt:2: "nonsense", expected header, tick or observed`},
		{begin + "header.sed = 7\n", `x.txt:2: unknown header variable "sed = 7"`},
		{begin + "header.seed = 7\nheader.seed = 7\n", `x.txt:3: header variable "seed" a second time`},
		{begin + "header.seed = -1\n", `x.txt:2: "-1", expected a number from 0 to 18446744073709551615`},
		{begin + "header.seed = 007\n", `x.txt:2: "007", expected a number from 0 to 18446744073709551615`},
		{begin + "header.seed = 18446744073709551616\n", `x.txt:2: "18446744073709551616", expected a number from 0 to 18446744073709551615`},
		{begin + "header.epoch = 4294967296\n", `x.txt:2: "4294967296", expected a number from 0 to 4294967295`},
		{begin + "header.tick_rate = 30\n", `x.txt:2: "", expected "/"`},
		{begin + "header.tick_rate = 30/0\n%end\n", `x.txt:3: tick rate 30/0, expected two numbers above 0 or 0/0`},
		{begin + "header.peer = host\n", `x.txt:2: "host", expected a string in double quotes`},
		{begin + "header.peer = \"host\n", `x.txt:2: "\"host" is not a string in Go's notation`},
		{begin + "header.start = 0x00\n", `x.txt:2: 1 bytes, expected 32`},
		{begin + "header.kind[1] = \"move\"\n", `x.txt:2: index 1, expected 0`},
		{begin + "header.params[\"a\"] = \"\"\nheader.params[\"a\"] = \"\"\n", `x.txt:3: parameter "a" a second time`},
		{begin + tick + "header.seed = 7\n", `x.txt:3: header variable after the first record`},
		{begin + "tick[5].order[0] = x\n", `x.txt:2: tick 5 does not begin with its input_hash`},
		{begin + kind + tick + "tick[6].order[0] = x\n", `x.txt:4: tick 6 does not begin with its input_hash`},
		{begin + kind + tick + "tick[5].order[1] = x\n", `x.txt:4: index 1, expected 0`},
		{begin + kind + tick + "tick[5].order[0] = player 1 seq 2 at 3 \"move\" 9301\n", `x.txt:4: "9301", expected "0x"`},
		{begin + kind + tick + "tick[5].order[0] = player 1 seq 2 at 3 \"move\" 0x930\n", `x.txt:4: "930", expected pairs of hex digits`},
		{begin + kind + tick + "tick[5].order[0] = player 1 seq 2 at 3 \"chat\" 0x93\n", `x.txt:4: order kind "chat" is not in the header`},
		{begin + tick + "tick[5].marker[0] = vanish player 1 peer 1 seq 0 point 0 \"\"\n", `x.txt:3: unknown marker "vanish"`},
		{begin + tick + "tick[5].hash[5].sync/.peer[0] = 0x00\n", `x.txt:3: coverage is empty`},
		{begin + tick + "tick[5].hash[5].sy nc.peer[0] = 0x00\n", `x.txt:3: hash kind "sy nc", expected 1 to 64 of A-Z a-z 0-9 - _`},
		{begin + tick + "tick[5].colour = 1\n", `x.txt:3: "colour = 1", expected "hash["`},
		{begin + tick + tick + "%end\n", `x.txt:4: tick 5 follows tick 5 in epoch 0`},
		{begin + "observed = 0\n", `x.txt:2: observed record without hashes`},
		{begin + "observed.hash[5].sync.peer[0] = 0x00\n", `x.txt:2: more hashes than the observed record has`},
		{begin + "observed = 2\nobserved.hash[5].sync.peer[0] = 0x00\n%end\n", `x.txt:4: observed record has 1 hashes, expected 2`},
		{begin + "# " + strings.Repeat("x", 16<<20) + "\n", `x.txt:2: line is longer than 16777216 bytes`},
	} {
		err := ParseText(io.Discard, strings.NewReader(test.text), "x.txt")
		if err == nil || err.Error() != test.want {
			t.Errorf("%.200q:\n%v, expected\n%s", test.text, err, test.want)
		}
	}
}

// What people do to text: comments, blank lines, other line ends, header
// variables left out and in another order.
func TestParseTextLenient(t *testing.T) {
	a := encodeText(t, "%desynctool order-log 1\n# one\n\nheader.kind[0] = \"move\"\nheader.seed = 7\n%end\n\n# over\n")
	b := encodeText(t, "%desynctool order-log 1\r\nheader.seed = 7\r\nheader.kind[0] = \"move\"\r\n%end")
	if !bytes.Equal(a, b) {
		t.Errorf("logs differ:\n%x\n%x", a, b)
	}
}

// The longest order fits into a line.
func TestLongestOrder(t *testing.T) {
	var log bytes.Buffer
	w, err := NewWriter(&log, Header{Kinds: []OrderKind{{Name: strings.Repeat("\x00", MaxText)}}}, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.WriteTick(&Tick{Orders: []Order{{Payload: make([]byte, MaxPayload)}}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := decodeText(log.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(encodeText(t, text), log.Bytes()) {
		t.Error("log differs by way of text")
	}
}

func FuzzReader(f *testing.F) {
	full := encodeText(f, readText(f, fullText))
	f.Add(full)
	f.Add(full[:len(full)/2])
	f.Add(encodeText(f, textOf("tick[1].input_hash = 0x0000000000000000")))
	f.Fuzz(func(t *testing.T, log []byte) {
		_, recs, err := readRecords(log)
		var malformed *frame.Error
		if err != io.EOF && !errors.As(err, &malformed) {
			t.Fatalf("neither end nor malformed: %v", err)
		}
		if err != io.EOF {
			return
		}
		text, err := decodeText(log)
		if err != nil {
			t.Fatal(err)
		}
		again := encodeText(t, text)
		if _, got, err := readRecords(again); err != io.EOF || len(got) != len(recs) {
			t.Fatalf("by way of text %d records and %v, expected %d", len(got), err, len(recs))
		}
		if text2, err := decodeText(again); err != nil || text2 != text {
			t.Fatalf("text\n%s\nbecomes\n%s\n%v", text, text2, err)
		}
	})
}

// FuzzPayload reaches behind the checksums.
func FuzzPayload(f *testing.F) {
	r, err := frame.NewReader(bytes.NewReader(encodeText(f, readText(f, fullText))), "", frame.Format{Magic: Magic, Version: Version})
	if err != nil {
		f.Fatal(err)
	}
	_, header, _ := r.Next()
	header = bytes.Clone(header)
	for {
		kind, payload, err := r.Next()
		if err != nil {
			break
		}
		f.Add(header, kind, bytes.Clone(payload))
	}
	f.Fuzz(func(t *testing.T, header []byte, kind uint32, payload []byte) {
		var log bytes.Buffer
		w, _ := frame.NewWriter(&log, frame.Format{Magic: Magic, Version: Version}, frame.WriterOptions{})
		w.WriteFrame(uint32(HeaderRecord), header)
		if w.WriteFrame(kind, payload) != nil {
			return
		}
		w.Close()
		text, err := decodeText(log.Bytes())
		if err != nil {
			if !errors.Is(err, frame.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if again, err := decodeText(encodeText(t, text)); err != nil || again != text {
			t.Fatalf("text\n%s\nbecomes\n%s\n%v", text, again, err)
		}
		// All that is accepted is MessagePack.
		if err := frame.ScanMsgpack(payload, frame.Limits{}); err != nil {
			t.Fatalf("accepted % x: %v", payload, err)
		}
	})
}

func FuzzParseText(f *testing.F) {
	f.Add(readText(f, fullText))
	f.Add(textOf("observed = 1", "observed.hash[5].sync.peer[1] = 0x01"))
	f.Add("%desynctool order-log 1\n%torn offset 3 lost 7 \"x\"\n")
	f.Fuzz(func(t *testing.T, text string) {
		var log bytes.Buffer
		if ParseText(&log, strings.NewReader(text), "x.txt") != nil {
			return
		}
		canonical, err := decodeText(log.Bytes())
		if err != nil && !errors.Is(err, frame.ErrTorn) {
			t.Fatal(err)
		}
		if again := encodeText(t, canonical); !bytes.Equal(again, log.Bytes()) {
			t.Fatalf("log % x becomes % x", log.Bytes(), again)
		}
	})
}
