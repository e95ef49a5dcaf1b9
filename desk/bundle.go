package desk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// State is what has become of a bundle.
type State string

// States of bundles.
const (
	Waiting State = "waiting" // to be triaged
	Read    State = "read"    // it has reports
	Aside   State = "aside"   // it cannot be triaged, as Why says; it is not tried again by itself
)

// Bundle is what somebody sent.
type Bundle struct {
	ID        int64
	Hash      string // SHA-256 of what was received, 64 hex digits
	Name      string // under which it came first
	Bytes     int64  // of what was received
	Kept      string // the hash of the blob that is kept of it, empty if it was deleted
	KeptBytes int64  // of the blob as it is stored
	State     State
	Why       string // it is set aside
	Received  time.Time
}

// Receipt is one time that a bundle came.
type Receipt struct {
	Name   string // of the file or folder, or as the upload calls it
	Source string // who took it: a command, or the name of a token
}

// keptByHash is what the column kept has of a bundle whose blob has the hash of what was received.
const keptByHash = "="

// maxReceipts is how many receipts of a bundle are kept, the first ones. Later times are only counted.
const maxReceipts = 200

// scanBundle reads the columns of bundle.by-hash and bundle.by-id.
func scanBundle(scan func(dest ...any) error) (*Bundle, error) {
	b := &Bundle{}
	var at int64
	err := scan(&b.ID, &b.Hash, &b.Name, &b.Bytes, &b.Kept, &b.KeptBytes, &b.State, &b.Why, &at)
	b.Received = time.UnixMicro(at).UTC()
	return b, err
}

// Receive writes that a bundle came, which is on stable storage already, and returns it; isNew says
// that its content was not there before. One whose blob was deleted has it again.
func (tx *Tx) Receive(ctx context.Context, b Bundle, r Receipt) (known *Bundle, isNew bool, err error) {
	now := tx.store.Now().UnixMicro()
	var id int64
	err = tx.row(ctx, "bundle.insert", []any{b.Hash, b.Name, b.Bytes, b.Kept, b.KeptBytes, now}, &id)
	isNew = err == nil
	if err != nil && !errors.Is(err, sql.ErrNoRows) {
		return nil, false, err
	}
	known, err = bundle(ctx, tx, "bundle.by-hash", b.Hash)
	if err != nil {
		return nil, false, err
	}
	if known.Kept == "" && b.Kept != "" {
		known.Kept, known.KeptBytes = b.Kept, b.KeptBytes
		if _, err := tx.run(ctx, "bundle.kept-again", known.ID, b.Kept, b.KeptBytes); err != nil {
			return nil, false, err
		}
	}
	var times int64
	if err := tx.row(ctx, "bundle.came", []any{known.ID}, &times); err != nil {
		return nil, false, err
	}
	if times <= maxReceipts {
		if r.Name, err = tx.nameOfFile(ctx, known, r.Name); err != nil {
			return nil, false, err
		}
		_, err = tx.run(ctx, "receipt.insert", known.ID, r.Name, r.Source, now)
	}
	return known, isNew, err
}

// bundle returns a bundle by its hash or its number, as the statement has it.
func bundle(ctx context.Context, q reader, name string, arg any) (*Bundle, error) {
	return readOne(ctx, q, fmt.Sprintf("bundle %v", arg), scanBundle, name, arg)
}

// Bundle returns a bundle by its number; errors.Is(err, fs.ErrNotExist) if there is none.
func (tx *Tx) Bundle(ctx context.Context, id int64) (*Bundle, error) {
	return bundle(ctx, tx, "bundle.by-id", id)
}

// SetKept writes which blob is kept of a bundle: a copy without names, or none ("", 0).
func (tx *Tx) SetKept(ctx context.Context, bundle int64, blob string, bytes int64) error {
	_, err := tx.run(ctx, "bundle.kept-again", bundle, blob, bytes)
	return err
}

// SetAside writes that a bundle is not to be tried again, and why.
func (tx *Tx) SetAside(ctx context.Context, bundle int64, why string) error {
	_, err := tx.run(ctx, "bundle.state", bundle, Aside, why)
	return err
}

// Bundle returns a bundle by its hash; errors.Is(err, fs.ErrNotExist) if there is none.
func (s *Store) Bundle(ctx context.Context, hash string) (b *Bundle, err error) {
	return bundle(ctx, s, "bundle.by-hash", hash)
}

// BundleByID returns a bundle by its number; errors.Is(err, fs.ErrNotExist) if there is none.
func (s *Store) BundleByID(ctx context.Context, id int64) (b *Bundle, err error) {
	return bundle(ctx, s, "bundle.by-id", id)
}
