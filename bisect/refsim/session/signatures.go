package session

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"os"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// SigningKey returns the key with which a peer of the reference game signs its ticks. It is made of
// the seed and the peer's name alone, so that a session is recorded as the same bytes
// again: it is secret to nobody.
func SigningKey(seed uint64, peer string) ed25519.PrivateKey {
	b := binary.LittleEndian.AppendUint64([]byte("desynctool reference game signing key\n"), seed)
	secret := sha256.Sum256(append(b, peer...))
	return ed25519.NewKeyFromSeed(secret[:])
}

// chainFile is a chain of tick signatures being written.
type chainFile struct {
	file *os.File
	*signatures.Writer
}

// newChain begins the chain of the peer whose order log has the header h.
func newChain(path string, h orderlog.Header) (*chainFile, error) {
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	w, err := signatures.NewWriter(f, signatures.Header{Seed: h.Seed, Peer: h.Peer, Start: h.Start}, SigningKey(h.Seed, h.Peer), signatures.WriterOptions{})
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return &chainFile{f, w}, nil
}
