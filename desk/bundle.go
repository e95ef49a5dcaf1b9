package desk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"
)

// State is the state of a bundle.
type State string

// States of bundles.
const (
	Waiting State = "waiting" // to be triaged
	Read    State = "read"    // it has reports
	Aside   State = "aside"   // it cannot be triaged, see Why; it is not retried automatically
)

// Bundle is a file, archive or folder that a desk received.
type Bundle struct {
	ID        int64
	Hash      string // SHA-256 of the received content, 64 hex digits
	Name      string // name of the first arrival
	Bytes     int64  // of the received content
	Kept      string // hash of the blob that is stored for it, empty if it was deleted
	KeptBytes int64  // of the blob in the store
	State     State
	Why       string // reason why it is set aside
	Received  time.Time
}

// Receipt is one arrival of a bundle.
type Receipt struct {
	Name   string // of the file or folder, or the name in the upload
	Source string // receiver: a command, or the name of a token
	Place  string // address of the sender, empty for this machine; stored while the bundle waits
}

// keptByHash is the value of the column kept for a bundle with a blob that has the hash of the received content.
const keptByHash = "="

// maxReceipts is how many receipts of a bundle are stored, the first ones. Later ones are only counted.
const maxReceipts = 200

// scanBundle reads the columns of bundle.by-hash and bundle.by-id.
func scanBundle(scan func(dest ...any) error) (*Bundle, error) {
	b := &Bundle{}
	var at int64
	err := scan(&b.ID, &b.Hash, &b.Name, &b.Bytes, &b.Kept, &b.KeptBytes, &b.State, &b.Why, &at)
	b.Received = time.UnixMicro(at).UTC()
	return b, err
}

// Receive records the arrival of a bundle that is already on stable storage, and returns it. isNew means that its
// content is new. If the bundle's blob was deleted, the bundle has its content again.
func (tx *Tx) Receive(ctx context.Context, b Bundle, r Receipt) (known *Bundle, isNew bool, err error) {
	now := tx.store.Now().UnixMicro()
	var id int64
	err = tx.row(ctx, "bundle.insert", []any{b.Hash, b.Name, b.Bytes, b.Kept, b.KeptBytes, now, r.Source, r.Place}, &id)
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

// bundle returns a bundle by its hash or its number, depending on the statement.
func bundle(ctx context.Context, q reader, name string, arg any) (*Bundle, error) {
	return readOne(ctx, q, fmt.Sprintf("bundle %v", arg), scanBundle, name, arg)
}

// Bundle returns a bundle by its number, or an error that is fs.ErrNotExist.
func (tx *Tx) Bundle(ctx context.Context, id int64) (*Bundle, error) {
	return bundle(ctx, tx, "bundle.by-id", id)
}

// SetKept records which blob is stored for a bundle: a copy without names, or none ("", 0).
func (tx *Tx) SetKept(ctx context.Context, bundle int64, blob string, bytes int64) error {
	_, err := tx.run(ctx, "bundle.kept-again", bundle, blob, bytes)
	return err
}

// SetAside records that a bundle is not to be retried, with the reason.
func (tx *Tx) SetAside(ctx context.Context, bundle int64, why string) error {
	_, err := tx.run(ctx, "bundle.state", bundle, Aside, why)
	return err
}

// Bundle returns a bundle by its hash, or an error that is fs.ErrNotExist.
func (s *Store) Bundle(ctx context.Context, hash string) (b *Bundle, err error) {
	return bundle(ctx, s, "bundle.by-hash", hash)
}

// BundleByID returns a bundle by its number, or an error that is fs.ErrNotExist.
func (s *Store) BundleByID(ctx context.Context, id int64) (b *Bundle, err error) {
	return bundle(ctx, s, "bundle.by-id", id)
}
