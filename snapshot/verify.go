package snapshot

import (
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// Proof is the Merkle inclusion proof of an archetype, with the state that it belongs to.
type Proof struct {
	Seed  uint64
	Point Point
	merkle.Proof
}

// Prove returns the proof that an archetype belongs to a state. "RNG" means the RNG unless an archetype has that label.
func Prove(s State, label string) (*Proof, error) {
	info := s.Info()
	tree, err := merkle.New(info.Leaves())
	if err != nil {
		return nil, err
	}
	var labels []string
	for i := range tree.Len() {
		labels = append(labels, tree.Label(i))
	}
	if label == RNG && !slices.Contains(labels, label) {
		label = ""
	}
	i := slices.Index(labels, label)
	switch {
	case i < 0 && label == "":
		return nil, errors.New("the state has no RNG")
	case i < 0:
		return nil, fmt.Errorf("no archetype %q; there are %s", label, LabelNames(labels))
	}
	p := &Proof{Seed: info.Seed, Point: info.Point, Proof: tree.Prove(i)}
	p.Tick, p.Phase = info.Point.Tick, info.Point.Phase
	return p, nil
}

// Expected contains external data that a verified file must agree with.
type Expected struct {
	Root  *merkle.Hash // the required root of a proof or snapshot; nil for any
	State State        // a state with content that must give the proof's leaf; nil for none

	// Signed is the chain that must contain a signature of the root at the file's point; nil for none. Key is the
	// required signer if the file itself is a chain; nil for any.
	Signed *Signers
	Key    *signatures.Key
}

func (want Expected) checkRoot(got merkle.Hash) error {
	if want.Root == nil || *want.Root == got {
		return nil
	}
	if want.Root.Short() == got.Short() {
		return sameRoot(got, *want.Root, "the one expected", nil)
	}
	return fmt.Errorf("root is %s, expected %s", got, *want.Root)
}

// Verification is the result of checking files.
type Verification []Verified

// Diverged reports whether a hash of any file does not match.
func (v Verification) Diverged() bool {
	return slices.ContainsFunc(v, func(f Verified) bool { return f.Err != nil })
}

// Incomplete reports whether there is a file for which the signatures do not decide whether it is valid. A file that
// cannot be read is an error instead.
func (v Verification) Incomplete() bool {
	return slices.ContainsFunc(v, func(f Verified) bool { return f.Untold != nil })
}

// Verified is the result of checking one file.
type Verified struct {
	Path string
	What string      // "snapshot", "proof", "order log", "trace", "tick signatures" or the title of a format
	Root merkle.Hash // for a snapshot or proof
	Note string      // describes what was checked
	Err  error       // the hash that does not match; nil if all match

	// Unchecked means that the file has no checksum of its content. ReadOnly means that it was not compared with
	// anything else either: it was only read.
	Unchecked, ReadOnly bool

	// Signed is the chain that contains a signature of the root for the file's tick. It is nil if there is no such
	// signature or no chain was given.
	Signed *Signers

	// Untold explains why the given signatures do not show whether the file is what was signed. It is nil if they do,
	// or if none were given.
	Untold error

	// Chain is the result of verifying a chain of tick signatures. Trusted means that it was compared with a key that
	// the user trusts.
	Chain   *signatures.Chain
	Trusted bool
}

// VerifyProof checks a proof. The error is set if the expected state could not be read.
func VerifyProof(p *merkle.Proof, path string, want Expected) (Verified, error) {
	v := Verified{Path: path, What: "proof", Root: p.Root, Note: fmt.Sprintf("leaf %d of %d", p.Index, p.Count)}
	v.Err = errors.Join(p.Verify(), want.checkRoot(p.Root))
	if v.Err == nil {
		v.settle(want, want.checkSigned(p.Root, nil, Point{Tick: p.Tick, Phase: p.Phase}))
	}
	if want.State == nil {
		v.Note += fmt.Sprintf("; that it is %s is not proven, --state would", LabelName(p.Label))
		return v, nil
	}
	wrong, err := verifyLeaf(p, want.State)
	v.Err = errors.Join(v.Err, wrong)
	v.Note += ", " + LabelName(p.Label)
	return v, err
}

// verifyLeaf checks that a state's content gives the proof's leaf. The second error reports that the state could not be
// read.
func verifyLeaf(p *merkle.Proof, s State) (wrong, err error) {
	if err := Check(s); err != nil {
		if errors.As(err, new(*HashError)) {
			return err, nil
		}
		return nil, err
	}
	for _, leaf := range s.Info().Leaves() {
		if leaf.Label != p.Label {
			continue
		}
		if leaf.Hash != p.Leaf {
			return fmt.Errorf("the state's %s has leaf hash %s, the proof %s", LabelName(p.Label), leaf.Hash, p.Leaf), nil
		}
		return nil, nil
	}
	return fmt.Errorf("the state has no %s", LabelName(p.Label)), nil
}

// VerifyState recomputes a state's hashes. checksummed means that its file contains checksums, which are checked while
// reading. The error is set if the file could not be read.
func VerifyState(s State, path string, checksummed bool, want Expected) (Verified, error) {
	if want.State != nil {
		return Verified{}, fmt.Errorf("%s: a snapshot; --state is for proofs", path)
	}
	v := Verified{Path: path, What: "snapshot", Root: s.Info().Root, Note: fmt.Sprintf("%d tables", len(s.Info().Tables))}
	if v.Unchecked = !checksummed; v.Unchecked {
		v.Note += "; carries no checksum"
		if v.ReadOnly = want.Root == nil && want.Signed == nil; v.ReadOnly {
			v.Note += ": read, not verified"
		}
	}
	err := Check(s)
	var wrong *HashError
	if err != nil && !errors.As(err, &wrong) {
		return v, err
	}
	v.Err = errors.Join(err, want.checkRoot(v.Root))
	if err == nil {
		v.settle(want, want.checkSigned(v.Root, &s.Info().Seed, s.Info().Point))
	}
	return v, nil
}
