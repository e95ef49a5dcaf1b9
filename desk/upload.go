package desk

import (
	"context"
	"fmt"
	"io/fs"
	"time"
)

// Upload is a bundle that comes in pieces. Its bytes are in a file of the machine that takes them.
type Upload struct {
	Who    string // whose it is
	Name   string
	Build  string // what the upload says of its build
	Length int64  // bytes that it will have
	Synced int64  // bytes that are on stable storage
	Until  time.Time
	Bundle string // the hash of the bundle that it became, empty before that
}

// StoredUpload names an upload, and its file, without what is in its address.
func StoredUpload(secret string) string { return hashOf(secret) }

// NewUpload begins an upload and returns the secret that is in its address.
func (s *Store) NewUpload(ctx context.Context, u Upload) (secret string, err error) {
	secret = randomText(16)
	err = s.Write(ctx, func(tx *Tx) error {
		_, err := tx.run(ctx, "upload.insert", hashOf(secret), u.Who, u.Name, u.Build, u.Length, u.Until.UnixMicro())
		return err
	})
	return secret, err
}

func scanUpload(scan func(...any) error) (*Upload, error) {
	u := &Upload{}
	var until int64
	err := scan(&u.Who, &u.Name, &u.Build, &u.Length, &u.Synced, &until, &u.Bundle)
	u.Until = micros(until)
	return u, err
}

// UploadOf returns an upload by its secret; errors.Is(err, fs.ErrNotExist) if there is none.
func (s *Store) UploadOf(ctx context.Context, secret string) (u *Upload, err error) {
	err = s.each(ctx, "upload.find", []any{hashOf(secret)}, func(scan func(...any) error) (err error) {
		u, err = scanUpload(scan)
		return err
	})
	if err == nil && u == nil {
		err = fmt.Errorf("upload: %w", fs.ErrNotExist)
	}
	return u, err
}

// UploadSynced writes how many bytes of an upload are on stable storage, and until when it is kept.
func (s *Store) UploadSynced(ctx context.Context, secret string, synced int64, until time.Time) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.run(ctx, "upload.synced", hashOf(secret), synced, until.UnixMicro())
		return err
	})
}

// UploadDone writes which bundle an upload became. It returns false if that was written before.
func (tx *Tx) UploadDone(ctx context.Context, secret, bundle string) (bool, error) {
	n, err := tx.run(ctx, "upload.done", hashOf(secret), bundle)
	return n == 1, err
}

// DropUpload forgets an upload.
func (s *Store) DropUpload(ctx context.Context, secret string) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.run(ctx, "upload.delete", hashOf(secret))
		return err
	})
}

// DropOldUploads forgets the uploads whose time is over, and returns how StoredUpload names them.
func (s *Store) DropOldUploads(ctx context.Context) (names []string, err error) {
	err = s.Write(ctx, func(tx *Tx) error {
		var err error
		names, err = valuesOf[string](ctx, tx, "upload.old", s.Now().UnixMicro(), 1000)
		if err != nil {
			return err
		}
		for _, name := range names {
			if _, err := tx.run(ctx, "upload.delete", name); err != nil {
				return err
			}
		}
		return nil
	})
	return names, err
}

// OpenUploads returns how many uploads are under way, and how many bytes they will have.
func (s *Store) OpenUploads(ctx context.Context) (count, bytes int64, err error) {
	err = s.row(ctx, "upload.open", []any{s.Now().UnixMicro()}, &count, &bytes)
	return count, bytes, err
}

// WaitingBytes returns how many bytes the bundles have that are to be triaged.
func (s *Store) WaitingBytes(ctx context.Context) (n int64, err error) {
	err = s.row(ctx, "bundle.waiting", nil, &n)
	return n, err
}

// BundleReport is a report of a bundle, as far as an upload is told of it.
type BundleReport struct {
	ID     int64
	Match  int // from 1
	Status string
	Group  string // its code, empty if no divergence is known
}

// BundleReports returns the reports of a bundle, at most so many, in the order of its matches.
func (s *Store) BundleReports(ctx context.Context, bundle int64, most int) (list []BundleReport, err error) {
	return rowsOf(ctx, s, func(r *BundleReport) []any { return []any{&r.ID, &r.Match, &r.Status, &r.Group} }, "bundle.reports", bundle, most)
}
