package session

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// SigningKey returns the key with which a peer of the reference game signs its ticks. It depends only on the seed and
// the peer's name, so that a session is recorded with the same bytes again. It is not secret.
func SigningKey(seed uint64, peer string) ed25519.PrivateKey {
	b := binary.LittleEndian.AppendUint64([]byte("desynctool reference game signing key\n"), seed)
	secret := sha256.Sum256(append(b, peer...))
	return ed25519.NewKeyFromSeed(secret[:])
}

func (w *writer) newChain(path string, h orderlog.Header) (*signatures.Writer, error) {
	f, err := w.create(path)
	if err != nil {
		return nil, err
	}
	chain, err := signatures.NewWriter(f, signatures.Header{Seed: h.Seed, Peer: h.Peer, Start: h.Start}, SigningKey(h.Seed, h.Peer), signatures.WriterOptions{})
	if err == nil {
		w.closers = append(w.closers, chain.Close)
	}
	return chain, err
}
