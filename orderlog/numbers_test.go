package orderlog

import (
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"
)

func TestNumbers(t *testing.T) {
	for _, c := range []struct {
		payload string
		values  string
		second  string // with the second number 5
	}{
		{`{"type":"walk","entities":[151,-2],"x":78.75,"big":1e30,"s":"12"}`, "[151 -2 78]", `{"type":"walk","entities":[151,5],"x":78.75,"big":1e30,"s":"12"}`},
		{"[1e2,30]", "[100 30]", "[1e2,5]"},
		{"\x93\x07\xcd\x01\x00\xa1x", "[7 256]", "\x93\x07\x05\xa1x"},
		{"\x81\x03\x92\xd0\x80\xcf\xff\xff\xff\xff\xff\xff\xff\xff", "[-128]", ""}, // a key, and more than an int64
		{"\x92\xcb@\t!\xfbTD-\x18\x2a", "[42]", ""},                                // a float
		{"\x07", "[]", ""},
		{"", "[]", ""},
		{"plain text 12", "[]", ""},
		{`{"open":1`, "[]", ""},
	} {
		list := Numbers([]byte(c.payload))
		values := []int64{}
		for _, n := range list {
			values = append(values, n.Value)
		}
		if got := fmt.Sprint(values); got != c.values {
			t.Errorf("%q: %s, want %s", c.payload, got, c.values)
		}
		if c.second == "" || len(list) < 2 {
			continue
		}
		if got := list[1].Replace([]byte(c.payload), 5); string(got) != c.second {
			t.Errorf("%q: second number 5 gives %q, want %q", c.payload, got, c.second)
		}
	}
}

// FuzzNumbers replaces each number of a payload by itself and by 0: the payload remains
// one that tells its fields, and every other number what it was.
func FuzzNumbers(f *testing.F) {
	f.Add([]byte(`{"a":[1,2.5],"b":-3}`))
	f.Add([]byte("\x93\x07\xcd\x01\x00\x81\xa1k\xd1\xff\x00"))
	f.Fuzz(func(t *testing.T, payload []byte) {
		list := Numbers(payload)
		for i, n := range list {
			fresh := n.Replace(payload, 0)
			again := Numbers(fresh)
			if len(again) != len(list) || again[i].Value != 0 {
				t.Fatalf("%s: number %d replaced by 0 gives %s with %d numbers, want %d", hex.EncodeToString(payload), i, hex.EncodeToString(fresh), len(again), len(list))
			}
			for k := range list {
				if k != i && again[k].Value != list[k].Value {
					t.Fatalf("%s: number %d became %d", hex.EncodeToString(payload), k, again[k].Value)
				}
			}
		}
	})
}

// TestLogSource writes a log that was read, and expects the same bytes.
func TestLogSource(t *testing.T) {
	var first bytes.Buffer
	w, err := NewWriter(&first, Header{Seed: 3, Kinds: []OrderKind{{Name: "move"}}}, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	hash := Observed{Point: 1, Kind: SyncHash, Bytes: make([]byte, 8)}
	check(w.WriteTick(&Tick{Number: 0, Orders: []Order{{Payload: []byte{1}}}}))
	check(w.WriteTick(&Tick{Number: 1, Hashes: []Observed{hash}}))
	check(w.WriteObserved([]Observed{hash}))
	check(w.WriteTick(&Tick{Number: 1, Markers: []Marker{{Kind: Load, Point: 1, NewEpoch: true}}}))
	check(w.WriteObserved([]Observed{hash}))
	check(w.Close())
	log, err := ReadAll(bytes.NewReader(first.Bytes()), "first")
	check(err)
	var second bytes.Buffer
	check(WriteLog(&second, log))
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("wrote %x, read %x", second.Bytes(), first.Bytes())
	}
	src := log.Source()
	for range 10 {
		_, err = src.Next()
	}
	if err != io.EOF {
		t.Error(err)
	}
}

// HasNumber finds what Numbers does, however a number is written.
func TestHasNumber(t *testing.T) {
	value := rapid.OneOf(rapid.Int64Range(-300, 300), rapid.Int64Range(-70_000, 70_000), rapid.Int64())
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(value, 1, 4).Draw(t, "values")
		var b bytes.Buffer
		if rapid.Bool().Draw(t, "json") {
			_ = json.NewEncoder(&b).Encode(values)
		} else {
			e := msgpack.NewEncoder(&b)
			e.UseCompactInts(rapid.Bool().Draw(t, "compact"))
			_ = e.Encode(values)
		}
		asked := rapid.OneOf(value, rapid.SampledFrom(values)).Draw(t, "asked")
		want := slices.ContainsFunc(Numbers(b.Bytes()), func(n Number) bool { return n.Value == asked })
		if got := HasNumber(b.Bytes(), asked); got != want {
			t.Fatalf("%x has %d: %v, expected %v", b.Bytes(), asked, got, want)
		}
	})
	if !HasNumber([]byte{0x91, 0xd0, 0x9c}, -100) || HasNumber([]byte{0x91, 5}, 6) || HasNumber(nil, 0) {
		t.Error("a number is not found, or one that is not there")
	}
}
