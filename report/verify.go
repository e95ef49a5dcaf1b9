package report

import (
	"encoding/json"
	"fmt"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// proofDocument is desynctool.proof/1: a Merkle inclusion proof.
type proofDocument struct {
	Head
	Seed string `json:"seed"`
	merkle.Proof
	Native *Native `json:"native,omitempty"`
}

// proofKind is what the schema of a proof is made of.
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
	Head                    // in-sync if every hash is that of the content, else diverged
	Verified bool           `json:"verified"`
	Files    []verifiedFile `json:"files"`
}

// verifiedFile is one checked file.
type verifiedFile struct {
	Path     string `json:"path"`
	What     string `json:"what"`
	Verified bool   `json:"verified"` // no hash or checksum of it fails to hold
	Root     string `json:"root,omitempty"`
	Reason   string `json:"reason,omitempty"`

	// Checksummed is false if the file carries no checksum, so that none can fail.
	Checksummed bool `json:"checksummed"`
}

// Verify returns the document of a verification.
func Verify(v snapshot.Verification) Document {
	return Document{
		StatusOf(v),
		func() any { return verifyJSON(v) },
		func(out *Text, all bool) { verifyText(out, v) },
	}
}

func verifyJSON(list snapshot.Verification) *verifyDocument {
	doc := &verifyDocument{Head: head("verify", StatusOf(list), nil), Verified: !list.Diverged(), Files: []verifiedFile{}}
	for _, v := range list {
		f := verifiedFile{Path: v.Path, What: v.What, Verified: v.Err == nil, Checksummed: !v.Unchecked}
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

func verifyText(out *Text, list snapshot.Verification) {
	for _, v := range list {
		word := out.good.Sprint("VERIFIED")
		if v.ReadOnly {
			word = out.warn.Sprint("READ")
		}
		if v.Err != nil {
			word = out.bad.Sprint("FAILED")
		}
		out.put(word, "  ", v.What, "  ", prose.Path(v.Path), out.faint.Sprint("  "+Safe(v.Note)))
		if !v.Root.IsZero() {
			out.put("  root  ", v.Root.String())
		}
		if v.Err != nil {
			out.put("  ", out.bad.Sprint(Safe(v.Err.Error())))
		}
	}
}
