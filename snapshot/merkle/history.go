package merkle

import "crypto/sha256"

// StartHistory returns the history hash at the first state point of a session:
// SHA-256 of the start state's hash.
func StartHistory(start Hash) Hash { return sha256.Sum256(start[:]) }

// NextHistory returns the history hash at a state point from the previous history hash and the sync hash at the point:
// SHA-256(previous ‖ sync hash). Two states can diverge and become equal again; their history hashes cannot.
func NextHistory(previous Hash, sync Short) Hash {
	var buf [HashSize + ShortSize]byte
	copy(buf[:HashSize], previous[:])
	copy(buf[HashSize:], sync[:])
	return sha256.Sum256(buf[:])
}
