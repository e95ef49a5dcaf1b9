package signatures

import (
	"fmt"
	"iter"
	"slices"

	"github.com/desynctool/desynctool/snapshot/merkle"
)

// Signed contains the state hashes that a chain signs for each tick. It includes only entries that are bound to the
// chain's session: the entries before the first break.
type Signed struct {
	*Chain
	ticks  []uint64
	states []merkle.Hash
}

// ReadSigned verifies a chain and keeps the state hashes of its bound entries, which takes 40 bytes an entry. It
// returns the same errors as [Verify].
func ReadSigned(r *Reader) (*Signed, error) {
	s := &Signed{}
	chain, err := Verify(r, Options{Each: func(e *Entry, bound bool) {
		if bound {
			s.ticks, s.states = append(s.ticks, e.Tick), append(s.states, e.State)
		}
	}})
	s.Chain = chain
	return s, err
}

// State returns the state hash that is signed for a tick. The error explains why there is none.
func (s *Signed) State(tick uint64) (merkle.Hash, error) {
	i, ok := slices.BinarySearch(s.ticks, tick)
	switch {
	case ok:
		return s.states[i], nil
	case i == len(s.ticks) && !s.Holds():
		return merkle.Hash{}, fmt.Errorf("the chain is broken before tick %d: %w", tick, &s.Breaks[0])
	case len(s.ticks) == 0:
		return merkle.Hash{}, fmt.Errorf("the chain has no entries")
	case i == 0:
		return merkle.Hash{}, fmt.Errorf("the chain begins with tick %d, after tick %d", s.ticks[0], tick)
	case i == len(s.ticks):
		return merkle.Hash{}, fmt.Errorf("the chain ends with tick %d, before tick %d", s.ticks[i-1], tick)
	}
	return merkle.Hash{}, fmt.Errorf("the signer left out tick %d: it signed tick %d, and then tick %d", tick, s.ticks[i-1], s.ticks[i])
}

// Tick returns the first tick for which a state is signed, false if there is none.
func (s *Signed) Tick(state merkle.Hash) (uint64, bool) {
	i := slices.Index(s.states, state)
	if i < 0 {
		return 0, false
	}
	return s.ticks[i], true
}

// All yields the signed ticks, ascending, and their states.
func (s *Signed) All() iter.Seq2[uint64, merkle.Hash] {
	return func(yield func(uint64, merkle.Hash) bool) {
		for i, tick := range s.ticks {
			if !yield(tick, s.states[i]) {
				return
			}
		}
	}
}

// Len returns the number of bound entries.
func (s *Signed) Len() int { return len(s.ticks) }

// By returns an error unless the chain is signed with the trusted key.
func (c *Chain) By(trusted Key) error {
	if c.Header.Key == trusted {
		return nil
	}
	return fmt.Errorf("the chain is by key %s, not by the trusted one, %s", c.Header.Key, trusted)
}
