package report

import (
	"encoding/json"
	"fmt"
	"math"
	"math/bits"
	"testing"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// FuzzParseProof feeds proofs that nobody made. One that verifies has as many
// siblings as its tree has levels, but for leaves that were promoted.
func FuzzParseProof(f *testing.F) {
	const text = `{"schema":"desynctool.proof/1","status":"in_sync","warnings":[],"root":%q,"label":"Unit","leaf":%q,"index":%d,"count":%d,"siblings":[%q]}`
	zero := fmt.Sprintf("%032x", 0)
	f.Add(fmt.Appendf(nil, text, zero, zero, 0, 2, zero))
	f.Add(fmt.Appendf(nil, text, zero, zero, 1, 3, zero))
	f.Add(fmt.Appendf(nil, text, zero, zero, 0, math.MaxInt, zero))
	f.Add([]byte(`{"schema":"desynctool.proof/1"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var p ProofDocument
		if p.Parse(b) != nil {
			return
		}
		if p.Verify() == nil && (len(p.Siblings) > bits.Len(uint(p.Count-1)) ||
			p.Index == 0 && len(p.Siblings) != bits.Len(uint(p.Count-1))) {
			t.Fatalf("%d siblings were enough for leaf %d of %d", len(p.Siblings), p.Index, p.Count)
		}
		if _, err := json.Marshal(&p); err != nil {
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
