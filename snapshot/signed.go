package snapshot

import (
	"errors"
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// UntoldError explains why signatures do not show whether a state was signed.
type UntoldError struct{ Err error }

func (e *UntoldError) Error() string { return e.Err.Error() }
func (e *UntoldError) Unwrap() error { return e.Err }

func untold(format string, args ...any) error { return &UntoldError{fmt.Errorf(format, args...)} }

// Signers is a chain of tick signatures that roots must agree with.
type Signers struct {
	Path string // of the chain
	*signatures.Signed
	Trusted bool  // its key is the key that the user gave
	Refused error // reason why no state is compared with it: it has another key; nil if there is none
}

// Check compares the full root of a state point with the chain. The error is an [*UntoldError] if the chain contains
// nothing for that point. Any other error means that the root differs from the signed one.
func (s *Signers) Check(root merkle.Hash, point Point) error {
	if s.Refused != nil {
		return s.Refused
	}
	if point.Phase != "" {
		return untold("state point %s lies inside a tick; only states between ticks are signed", point)
	}
	signed, err := s.State(point.Tick)
	if err != nil {
		return &UntoldError{err}
	}
	return sameRoot(root, signed, fmt.Sprintf("signed for tick %d", point.Tick), s.Signed)
}

// sameRoot compares a full root with the expected one.
func sameRoot(root, want merkle.Hash, what string, chain *signatures.Signed) error {
	switch {
	case root == want:
		return nil
	case root.Short() == want.Short():
		return fmt.Errorf("only the first 8 bytes agree: the root is %s, %s is %s. 8 bytes are not enough: states that have them in common can be made", root, what, want)
	case chain != nil:
		if tick, ok := chain.Tick(root); ok {
			return fmt.Errorf("the root is %s, %s is %s; it is the state signed for tick %d", root, what, want, tick)
		}
	}
	return fmt.Errorf("the root is %s, %s is %s", root, what, want)
}

// checkSigned compares a state with the expected chain, if there is one. It returns the same errors as Signers.Check.
func (want Expected) checkSigned(root merkle.Hash, seed *uint64, point Point) error {
	if want.Signed == nil {
		return nil
	}
	if seed != nil && *seed != want.Signed.Header.Seed {
		return fmt.Errorf("it has seed %016x, the chain has seed %016x", *seed, want.Signed.Header.Seed)
	}
	return want.Signed.Check(root, point)
}

// settle stores the result of checking a file against signatures in v.
func (v *Verified) settle(want Expected, err error) {
	switch {
	case want.Signed == nil:
	case errors.As(err, new(*UntoldError)):
		v.Untold = err
	case err != nil:
		v.Err = errors.Join(v.Err, err)
	default:
		v.Signed = want.Signed
	}
}

// VerifyChain returns the result of verifying a chain. trusted, if not nil, is the key that the user trusts.
func VerifyChain(c *signatures.Chain, path string, trusted *signatures.Key) Verified {
	v := Verified{Path: path, What: "tick signatures", Chain: c, Trusted: trusted != nil}
	var by error
	if trusted != nil {
		by = c.By(*trusted)
	}
	v.Note = prose.Count(c.Entries, "entry", "entries")
	if c.Entries > 0 {
		v.Note += fmt.Sprintf(", tick %d to %d", c.First, c.Last)
	}
	if c.Gaps > 0 {
		v.Note += fmt.Sprintf("; the signer left out %s, first before tick %d", prose.Count(c.Skipped, "tick", "ticks"), c.FirstGap)
	}
	switch {
	case !c.Closed && c.Torn != nil:
		v.Note += fmt.Sprintf("; not closed, torn at offset %d: entries may be missing at the end", c.Torn.Offset)
	case !c.Closed:
		v.Note += "; it has no signed end: entries may be missing there"
	case c.Count > c.Entries:
		v.Note += fmt.Sprintf("; the end counts %d", c.Count)
	}
	var broken []error
	for i := range c.Breaks {
		broken = append(broken, &c.Breaks[i])
	}
	if more := c.Broken - uint64(len(c.Breaks)); more > 0 {
		broken = append(broken, fmt.Errorf("and %s more", prose.Count(more, "break", "breaks")))
	}
	v.Err = errors.Join(by, errors.Join(broken...))
	return v
}
