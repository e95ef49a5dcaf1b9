package signatures_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"fmt"

	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

func Example() {
	key := ed25519.NewKeyFromSeed(make([]byte, 32)) // a game makes one at random, and keeps it
	state := func(tick uint64) merkle.Hash { return sha256.Sum256([]byte{byte(tick)}) }

	var file bytes.Buffer
	w, _ := signatures.NewWriter(&file, signatures.Header{Seed: 7, Peer: "host", Start: state(0)}, key, signatures.WriterOptions{})
	for _, tick := range []uint64{0, 1, 2, 10} { // 7 ticks are lost
		w.Sign(tick, state(tick))
	}
	w.Close()

	// A forger takes out the entry of tick 1, and makes the framing right again.
	r, _ := signatures.NewReader(bytes.NewReader(without(file.Bytes(), 1)), signatures.Name)
	chain, err := signatures.Verify(r, signatures.Options{})
	fmt.Println(chain.Holds(), err, "ticks left out by the signer:", chain.Skipped)
	for _, b := range chain.Breaks {
		fmt.Println(&b)
	}
	// Output:
	// false <nil> ticks left out by the signer: 7
	// entry 1, tick 2, at offset 287: does not follow the entry before, tick 0: entries between them are missing or were moved, or it is from another chain of the same key
}
