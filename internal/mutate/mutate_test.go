package mutate

import (
	"bytes"
	"testing"

	"github.com/vmihailenco/msgpack/v5"
	"pgregory.net/rapid"
)

// TestChange changes values and reads what came out with another implementation of MessagePack.
func TestChange(t *testing.T) {
	value := map[string]any{
		"tick": uint64(70000), "list": []any{1, "two", []byte{3}, []any{nil, true, 1.5, -7}}, "long": make([]byte, 300),
	}
	var out bytes.Buffer
	e := msgpack.NewEncoder(&out)
	e.SetSortMapKeys(true)
	if err := e.Encode(value); err != nil {
		t.Fatal(err)
	}
	good := out.Bytes()
	if n := len(Spans(good)); n != 1+3+3+4+4 {
		t.Errorf("%d values", n)
	}
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		b := Change(good, rapid.SliceOfN(rapid.Byte(), 4, 24).Draw(t, "script"))
		if !bytes.Equal(b, good) {
			changed++
		}
		d := msgpack.NewDecoder(bytes.NewReader(b))
		if err := d.Skip(); err != nil {
			t.Fatalf("% x: %v", b, err)
		}
		if d.Buffered().(*bytes.Reader).Len() > 0 {
			t.Fatalf("% x: more than a value", b)
		}
	})
	if changed < 80 {
		t.Errorf("%d changes", changed)
	}
}
