package blobs

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
)

// TestSameBytes: one content is the same blob, byte for byte, whatever was compressed before it and in
// whatever pieces it comes.
func TestSameBytes(t *testing.T) {
	dice := rand.New(rand.NewPCG(1, 2))
	content := func(n int) []byte {
		var b bytes.Buffer
		for b.Len() < n {
			fmt.Fprintf(&b, "unit %d moves to %d\n", dice.IntN(50), dice.Uint32())
		}
		return b.Bytes()
	}
	one := content(700_000)
	var want []byte
	for i := range 20 {
		var out bytes.Buffer
		if _, err := pour(t.Context(), &out, &inPieces{one, 1 + 5000*i}, 0); err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = out.Bytes()
		}
		if !bytes.Equal(out.Bytes(), want) {
			t.Fatalf("in pieces of %d bytes it is another blob, of %d bytes; the first has %d", 1+5000*i, out.Len(), len(want))
		}
		if _, err := pour(t.Context(), new(bytes.Buffer), bytes.NewReader(content(dice.IntN(900_000))), 0); err != nil {
			t.Fatal(err)
		}
	}
}

// inPieces reads at most so many bytes at once.
type inPieces struct {
	left []byte
	most int
}

func (p *inPieces) Read(b []byte) (int, error) {
	if len(p.left) == 0 {
		return 0, io.EOF
	}
	n := copy(b[:min(p.most, len(b))], p.left)
	p.left = p.left[n:]
	return n, nil
}
