package report

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// ProofDocument is desynctool.proof/1: a Merkle inclusion proof.
type ProofDocument struct {
	Head
	Seed string `json:"seed"`
	merkle.Proof
	Native *Native `json:"native,omitempty"`
}

// proofKind is what the schema of a proof is made of.
const proofKind = "proof"

// Prove returns the proof that an archetype belongs to a state; "RNG" is the
// RNG unless an archetype is called so. Path is for errors.
func Prove(s snapshot.State, path, label string) (*ProofDocument, error) {
	info := s.Info()
	tree, err := merkle.New(info.Leaves())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	var labels []string
	for i := range tree.Len() {
		labels = append(labels, tree.Label(i))
	}
	if label == "RNG" && !slices.Contains(labels, label) {
		label = ""
	}
	i := slices.Index(labels, label)
	if i < 0 && label == "" {
		return nil, fmt.Errorf("%s: the state has no RNG", path)
	}
	if i < 0 {
		return nil, fmt.Errorf("%s: no archetype %q; there are %s", path, label, names(labels))
	}
	doc := &ProofDocument{Head: head(proofKind, InSync, nil), Seed: fmt.Sprintf("%016x", info.Seed), Proof: tree.Prove(i), Native: native(info.Point)}
	doc.Tick, doc.Phase = info.Point.Tick, info.Point.Phase
	return doc, nil
}

// names lists labels for people, not too many.
func names(labels []string) string {
	shown := make([]string, 0, 40)
	for i, l := range labels {
		if i == cap(shown) {
			return strings.Join(shown, ", ") + fmt.Sprintf(" and %d more", len(labels)-i)
		}
		shown = append(shown, LabelName(l))
	}
	return strings.Join(shown, ", ")
}

// Expected is what a verified file must agree with besides itself.
type Expected struct {
	Root  *merkle.Hash   // the root of a proof or snapshot; nil for any
	State snapshot.State // a state whose content must give a proof's leaf; nil for none
}

// Verified is what checking one file found.
type Verified struct {
	Path string
	What string      // "snapshot", "proof" or "order log"
	Root merkle.Hash // of a snapshot or proof
	Note string      // what was checked
	Err  error       // which hash does not hold; nil if all do

	// Unchecked says that the file carries no checksum of its content, and ReadOnly
	// that it was held against nothing else either: it was read, no more.
	Unchecked, ReadOnly bool
}

// VerifyProof checks a proof. The error is set if the expected state could not
// be read.
func (p *ProofDocument) VerifyProof(path string, want Expected) (Verified, error) {
	v := Verified{Path: path, What: "proof", Root: p.Root, Note: fmt.Sprintf("leaf %d of %d", p.Index, p.Count)}
	v.Err = errors.Join(p.Verify(), want.checkRoot(p.Root))
	if want.State == nil {
		v.Note += fmt.Sprintf("; that it is %s is not proven, --state would", LabelName(p.Label))
		return v, nil
	}
	wrong, err := p.verifyContent(want.State)
	v.Err = errors.Join(v.Err, wrong)
	v.Note += ", " + LabelName(p.Label)
	return v, err
}

// verifyContent checks that a state's content gives the proof's leaf. The
// second error says that the state could not be read.
func (p *ProofDocument) verifyContent(s snapshot.State) (wrong, err error) {
	if err := snapshot.Check(s); err != nil {
		if errors.As(err, new(*snapshot.HashError)) {
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

// VerifyState recomputes a state's hashes. Checksummed says that its file carries
// checksums, which reading it checks. The error is set apart where the file could not
// be read.
func VerifyState(s snapshot.State, path string, checksummed bool, want Expected) (Verified, error) {
	if want.State != nil {
		return Verified{}, fmt.Errorf("%s: a snapshot; --state is for proofs", path)
	}
	v := Verified{Path: path, What: "snapshot", Root: s.Info().Root, Note: fmt.Sprintf("%d tables", len(s.Info().Tables))}
	if v.Unchecked = !checksummed; v.Unchecked {
		v.Note += "; carries no checksum"
		if v.ReadOnly = want.Root == nil; v.ReadOnly {
			v.Note += ": read, not verified"
		}
	}
	err := snapshot.Check(s)
	var wrong *snapshot.HashError
	if err != nil && !errors.As(err, &wrong) {
		return v, err
	}
	v.Err = errors.Join(err, want.checkRoot(v.Root))
	return v, nil
}

func (want Expected) checkRoot(got merkle.Hash) error {
	if want.Root == nil || *want.Root == got {
		return nil
	}
	return fmt.Errorf("root is %s, expected %s", got, *want.Root)
}

// VerifyDocument is desynctool.verify/1.
type VerifyDocument struct {
	Head                    // in-sync if every hash is that of the content, else diverged
	Verified bool           `json:"verified"`
	Files    []VerifiedFile `json:"files"`
}

// VerifiedFile is one checked file.
type VerifiedFile struct {
	Path     string `json:"path"`
	What     string `json:"what"`
	Verified bool   `json:"verified"` // no hash or checksum of it fails to hold
	Root     string `json:"root,omitempty"`
	Reason   string `json:"reason,omitempty"`

	// Checksummed is false if the file carries no checksum, so that none can fail.
	Checksummed bool `json:"checksummed"`
}

// AllVerified reports whether every file held.
func AllVerified(list []Verified) bool {
	return !slices.ContainsFunc(list, func(v Verified) bool { return v.Err != nil })
}

// VerifyStatus returns the outcome of a verification.
func VerifyStatus(result []Verified) Status {
	if AllVerified(result) {
		return InSync
	}
	return Diverged
}

// ProofText writes a proof for a person.
func ProofText(w io.Writer, p *ProofDocument, s Style) error {
	out := lines{w: w}
	out.put(s.bold.Sprint("PROOF"), fmt.Sprintf("  %s is leaf %d of %d at state point %d", LabelName(p.Label), p.Index, p.Count, p.Tick))
	out.put("  root  ", p.Root.String())
	out.put("  leaf  ", p.Leaf.String())
	for _, h := range p.Siblings {
		out.put("  with  ", h.String())
	}
	return out.err
}

// Verify returns the JSON document of a verification.
func Verify(result []Verified) *VerifyDocument {
	doc := &VerifyDocument{Head: head("verify", VerifyStatus(result), nil), Verified: AllVerified(result), Files: []VerifiedFile{}}
	for _, v := range result {
		f := VerifiedFile{Path: v.Path, What: v.What, Verified: v.Err == nil, Checksummed: !v.Unchecked}
		if !v.Root.IsZero() {
			f.Root = v.Root.String()
		}
		if v.Err != nil {
			f.Reason = v.Err.Error()
		}
		doc.Files = append(doc.Files, f)
	}
	return doc
}

// VerifyText writes a verification for a person.
func VerifyText(w io.Writer, result []Verified, s Style) error {
	out := lines{w: w}
	for _, v := range result {
		word := s.good.Sprint("VERIFIED")
		if v.ReadOnly {
			word = s.warn.Sprint("READ")
		}
		if v.Err != nil {
			word = s.bad.Sprint("FAILED")
		}
		out.put(word, "  ", v.What, "  ", Safe(v.Path), s.faint.Sprint("  "+v.Note))
		if !v.Root.IsZero() {
			out.put("  root  ", v.Root.String())
		}
		if v.Err != nil {
			out.put("  ", s.bad.Sprint(Safe(v.Err.Error())))
		}
	}
	return out.err
}

// Version is desynctool.version/1.
type Version struct {
	Head
	Version  string `json:"version"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

// NewVersion returns the document of a version.
func NewVersion(version, goVersion, platform string) *Version {
	return &Version{head("version", InSync, nil), version, goVersion, platform}
}

// Parse reads a proof as Prove made it.
func (p *ProofDocument) Parse(b []byte) error {
	if err := json.Unmarshal(b, p); err != nil {
		return fmt.Errorf("not a proof: %w", err)
	}
	if want := head(proofKind, InSync, nil).Schema; p.Schema != want {
		return fmt.Errorf("schema is %q, expected %q", p.Schema, want)
	}
	return nil
}
