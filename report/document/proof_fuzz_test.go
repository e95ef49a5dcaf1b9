package document

import (
	"bytes"
	"encoding/json"
	"math"
	"math/bits"
	"testing"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// FuzzParseProof feeds proofs that nobody made. One that verifies has as many
// siblings as its tree has levels, but for leaves that were promoted.
func FuzzParseProof(f *testing.F) {
	for _, of := range [][2]int{{0, 2}, {1, 3}, {0, math.MaxInt}} {
		var b bytes.Buffer
		p := snapshot.Proof{Proof: merkle.Proof{Index: of[0], Count: of[1], Siblings: make([]merkle.Hash, 1)}}
		err := Proof(&p).JSON(&b)
		if _, wrong := ParseProof(b.Bytes()); err != nil || wrong != nil {
			f.Fatalf("the seed %s is not a proof: %v, %v", &b, err, wrong)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(`{"schema":"desynctool.proof/1"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := ParseProof(b)
		if err != nil {
			return
		}
		if p.Verify() == nil && (len(p.Siblings) > bits.Len(uint(p.Count-1)) ||
			p.Index == 0 && len(p.Siblings) != bits.Len(uint(p.Count-1))) {
			t.Fatalf("%d siblings were enough for leaf %d of %d", len(p.Siblings), p.Index, p.Count)
		}
		if _, err := json.Marshal(p); err != nil {
			t.Fatal(err)
		}
	})
}

func TestProofOfEndlessTree(t *testing.T) {
	p := merkle.Proof{Count: math.MaxInt, Siblings: make([]merkle.Hash, 1)}
	if err := p.Verify(); err == nil || err == merkle.ErrProof {
		t.Errorf("one sibling for 2^63 leaves: %v, want too few", err)
	}
}
