package snapshot

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

// A copy with another head is what the writer writes of the same world with that head.
func TestRehead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := genWorld(t)
		peer, host := rapid.StringN(0, 40, 400).Draw(t, "peer"), rapid.String().Draw(t, "host")
		before, err := Encode(w, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		w.Peer, w.Meta = peer, map[string]string{"hostname": host}
		want, err := Encode(w, WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		f, err := Open(bytes.NewReader(before), int64(len(before)), "a.snap")
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		var got bytes.Buffer
		if err := f.Rehead(&got, w.Peer, w.Meta); err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Bytes(), want) {
			t.Errorf("the copy has %d bytes, the writer gives %d others", got.Len(), len(want))
		}
	})
}

func TestReheadRefuses(t *testing.T) {
	b, err := Encode(&World{}, WriteOptions{})
	if err != nil {
		t.Fatal(err)
	}
	f, err := Open(bytes.NewReader(b), int64(len(b)), "a.snap")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Rehead(new(bytes.Buffer), "\xff", nil); err == nil {
		t.Error("a peer's name that is not UTF-8 was written")
	}
}
