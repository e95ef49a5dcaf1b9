package compression

import (
	"bytes"
	"errors"
	"io"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/internal/file/limits"
)

// TestManySmallBombs: streams that are below the limit one by one are bounded together, and a stream that is compressed as
// logs are does not count.
func TestManySmallBombs(t *testing.T) {
	limits.Use(limits.Settings{})
	t.Cleanup(func() { limits.Use(limits.Settings{}) })
	pack := func(b []byte) []byte {
		w, err := zstd.NewWriter(nil)
		if err != nil {
			t.Fatal(err)
		}
		defer w.Close()
		return w.EncodeAll(b, nil)
	}
	read := func(packed []byte) (int64, error) {
		r, _, err := Unpack(bytes.NewReader(packed), 1<<40)
		if err != nil {
			t.Fatal(err)
		}
		return io.Copy(io.Discard, r)
	}
	bomb := pack(make([]byte, 16<<20))
	var all int64
	var err error
	for i := 0; i < 100 && err == nil; i++ {
		var n int64
		n, err = read(bomb)
		all += n
	}
	over := (*limits.Error)(nil)
	if !errors.As(err, &over) || over.Limit != limits.StreamRatio || all > limits.Free.Max() {
		t.Errorf("after %d bytes: %v", all, err)
	}
	lines := bytes.Repeat([]byte("tick=1 sum=0x9b05688c2b3e6c1f\n"), 1<<12)
	for i := range lines { // compressed to about a tenth
		if i%31 == 7 {
			lines[i] = byte('0' + i*7919%10)
		}
	}
	if _, err := read(pack(lines)); err != nil {
		t.Errorf("after bombs a log is refused: %v", err)
	}
}

// TestStateThatUnpacks: a small compressed state may not unpack to what a log may, since its rows take many times their text
// in memory.
func TestStateThatUnpacks(t *testing.T) {
	limits.Use(limits.Settings{})
	t.Cleanup(func() { limits.Use(limits.Settings{}) })
	w, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	for size, refused := range map[int]bool{4 << 20: false, 6 << 20: true} {
		packed := w.EncodeAll(bytes.Repeat([]byte("1,1,7\n"), size/6), nil)
		r, _, err := UnpackState(bytes.NewReader(packed), int64(len(packed)))
		if err != nil {
			t.Fatal(err)
		}
		over := (*limits.Error)(nil)
		if _, err = io.Copy(io.Discard, r); errors.As(err, &over) != refused || refused && over.Limit != limits.Ratio {
			t.Errorf("%d bytes in %d: %v", size, len(packed), err)
		}
	}
}
