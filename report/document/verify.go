package document

import (
	"encoding/json"
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// proofDocument is desynctool.proof/1: a Merkle inclusion proof.
type proofDocument struct {
	Head
	Seed string `json:"seed"`
	merkle.Proof
	Native *Native `json:"native,omitempty"`
}

// proofKind is the beginning of the schema of a proof.
const proofKind = "proof"

// Proof returns the document of a proof.
func Proof(p *snapshot.Proof) Document {
	return Document{
		InSync,
		func() any {
			return &proofDocument{Head: head(proofKind, InSync, nil), Seed: fmt.Sprintf("%016x", p.Seed), Proof: p.Proof, Native: native(p.Point)}
		},
		func(out *Text, all bool) { proofText(out, &p.Proof) },
	}
}

// ParseProof reads a proof from its JSON document.
func ParseProof(b []byte) (*merkle.Proof, error) {
	var doc proofDocument
	if err := json.Unmarshal(b, &doc); err != nil {
		return nil, fmt.Errorf("not a proof: %w", err)
	}
	if want := head(proofKind, InSync, nil).Schema; doc.Schema != want {
		return nil, fmt.Errorf("schema is %q, expected %q", doc.Schema, want)
	}
	return &doc.Proof, nil
}

func proofText(out *Text, p *merkle.Proof) {
	out.put(out.bold.Sprint("PROOF"), fmt.Sprintf("  %s is leaf %d of %d at state point %d", LabelName(p.Label), p.Index, p.Count, p.Tick))
	out.put("  root  ", p.Root.String())
	out.put("  leaf  ", p.Leaf.String())
	for _, h := range p.Siblings {
		out.put("  with  ", h.String())
	}
}

// verifyDocument is desynctool.verify/1.
type verifyDocument struct {
	Head                    // in-sync if every hash matches the content, else diverged
	Verified bool           `json:"verified"`
	Files    []verifiedFile `json:"files"`

	// Accepted is the donor with the wanted state, null if there is none; it is present if donors were tried.
	Accepted *json.RawMessage `json:"accepted,omitempty"`
}

// verifiedFile is one checked file.
type verifiedFile struct {
	Path     string `json:"path"`
	What     string `json:"what"`     // snapshot, proof, order log, trace, tick signatures, session, signed session or donor
	Verified bool   `json:"verified"` // no hash or checksum of it fails to hold
	Root     string `json:"root,omitempty"`
	Reason   string `json:"reason,omitempty"`

	// Untold is why the given signatures do not decide; the file is then not verified.
	Untold string `json:"untold,omitempty"`

	// SignedBy is present if the root is signed for the file's tick.
	SignedBy *signerDocument `json:"signed_by,omitempty"`

	// Signatures is present for a chain of tick signatures.
	Signatures *chainDocument `json:"signatures,omitempty"`

	// Checksummed is false if the file carries no checksum, so that none can fail.
	Checksummed bool `json:"checksummed"`
}

// signerDocument is the peer whose chain a state was compared with.
type signerDocument struct {
	Path    string `json:"path"`
	Peer    string `json:"peer"`
	Key     string `json:"key"`
	Trusted bool   `json:"trusted"` // the user gave the key
}

// chainDocument is what was found of a chain of tick signatures.
type chainDocument struct {
	Seed      string          `json:"seed"`
	Peer      string          `json:"peer"`
	Key       string          `json:"key"`
	Trusted   bool            `json:"trusted"` // it was checked with a key that the user gave
	Start     string          `json:"start,omitempty"`
	Entries   uint64          `json:"entries"`
	FirstTick *uint64         `json:"first_tick"` // null if there are no entries
	LastTick  *uint64         `json:"last_tick"`
	Skipped   uint64          `json:"skipped"` // ticks that the signer left out
	Gaps      uint64          `json:"gaps"`    // in how many places
	Closed    bool            `json:"closed"`  // it has a signed end
	Counted   uint64          `json:"counted"` // entries, by a valid end
	Broken    uint64          `json:"broken"`  // number of breaks
	Breaks    []breakDocument `json:"breaks"`  // the first 100 of them
}

// breakDocument is a place at which a chain does not hold.
type breakDocument struct {
	What   string  `json:"what"` // tampered, missing, contradiction, end-tampered or missing-at-end
	Entry  uint64  `json:"entry"`
	Offset int64   `json:"offset"`
	Tick   *uint64 `json:"tick"`   // null at the end
	Before *uint64 `json:"before"` // tick of the entry before, null if there is none
	Text   string  `json:"text"`
}

func chainJSON(v *snapshot.Verified) *chainDocument {
	c := v.Chain
	if c == nil {
		return nil
	}
	doc := &chainDocument{
		Seed: fmt.Sprintf("%016x", c.Header.Seed), Peer: c.Header.Peer, Key: c.Header.Key.String(), Trusted: v.Trusted,
		Entries: c.Entries, Skipped: c.Skipped, Gaps: c.Gaps, Closed: c.Closed, Counted: c.Count, Broken: c.Broken,
		FirstTick: orNull(c.Entries > 0, c.First), LastTick: orNull(c.Entries > 0, c.Last),
	}
	if !c.Header.Start.IsZero() {
		doc.Start = c.Header.Start.String()
	}
	for i := range c.Breaks {
		b := &c.Breaks[i]
		doc.Breaks = append(doc.Breaks, breakDocument{b.Kind.String(), b.Entry, b.Offset, orNull(!b.End, b.Tick), b.Before, b.Error()})
	}
	return doc
}

// Verify returns the document of a verification.
func Verify(v snapshot.Verification) Document {
	return documentOf(v, verifyJSON, verifyText)
}

func verifyJSON(list snapshot.Verification) *verifyDocument {
	doc := &verifyDocument{Head: head("verify", StatusOf(list), nil), Verified: StatusOf(list) == InSync}
	for _, v := range list {
		f := verifiedFile{Path: v.Path, What: v.What, Verified: v.Err == nil && v.Untold == nil, Checksummed: !v.Unchecked, Signatures: chainJSON(&v)}
		if !v.Root.IsZero() {
			f.Root = v.Root.String()
		}
		if v.Err != nil {
			f.Reason = v.Err.Error()
		}
		if v.Untold != nil {
			f.Untold = v.Untold.Error()
		}
		if s := v.Signed; s != nil {
			f.SignedBy = &signerDocument{s.Path, s.Header.Peer, s.Header.Key.String(), s.Trusted}
		}
		doc.Files = append(doc.Files, f)
	}
	return doc
}

func verifyText(out *Text, list snapshot.Verification, all bool) {
	for _, v := range list {
		word := out.good.Sprint("VERIFIED")
		switch {
		case v.Err != nil:
			word = out.bad.Sprint("FAILED")
		case v.Untold != nil:
			word = out.warn.Sprint("NOT TOLD")
		case v.ReadOnly:
			word = out.warn.Sprint("READ")
		}
		verifiedText(out, word, &v)
	}
}

// verifiedText writes the findings about one file.
func verifiedText(out *Text, word string, v *snapshot.Verified) {
	out.put(word, "  ", v.What, "  ", prose.Path(v.Path), out.faint.Sprint("  "+Safe(v.Note)))
	if !v.Root.IsZero() {
		out.put("  root  ", v.Root.String())
	}
	if s := v.Signed; s != nil {
		keyText(out, "  signed", &s.Header, s.Trusted)
		if !s.Holds() {
			out.put("  ", out.warn.Sprint("the chain is broken later, at ", Safe(s.Breaks[0].Error())))
		}
	}
	if v.Chain != nil {
		keyText(out, "  key  ", &v.Chain.Header, v.Trusted)
	}
	if v.Untold != nil {
		out.put("  ", out.warn.Sprint(Safe(v.Untold.Error())))
	}
	for _, err := range Reasons(v.Err) {
		out.put("  ", out.bad.Sprint(Safe(err.Error())))
	}
}

// keyText writes the key, and the source that states that it is the peer's.
func keyText(out *Text, label string, h *signatures.Header, trusted bool) {
	by := "which the file itself names; --key would show that it is the peer's"
	if trusted {
		by = "the one given"
	}
	out.put(label, " ", h.Key.String(), out.faint.Sprint("  of "+prose.Name(h.Peer)+", "+by))
}

// Reasons are the errors that were joined to one, each on a separate line.
func Reasons(err error) (list []error) {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	for _, err := range joined.Unwrap() {
		list = append(list, Reasons(err)...)
	}
	return list
}

// Donors returns the document of states that some peers offered: each one that was tried; the last one is accepted, or
// none.
func Donors(tried snapshot.Verification, accepted bool) Document {
	status := Diverged
	if accepted {
		status = InSync
	}
	return Document{
		status,
		func() any {
			doc := verifyJSON(tried)
			doc.Status, doc.Verified = status, accepted
			none := json.RawMessage("null")
			if doc.Accepted = &none; accepted {
				name, _ := json.Marshal(tried[len(tried)-1].Path)
				*doc.Accepted = name
			}
			return doc
		},
		func(out *Text, all bool) {
			for i := range tried {
				word := out.bad.Sprint("REFUSED")
				if tried[i].Err == nil {
					word = out.good.Sprint("ACCEPTED")
				}
				verifiedText(out, word, &tried[i])
			}
		},
	}
}
