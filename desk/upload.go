package desk

import (
	"cmp"
	"context"
	"fmt"
	"io/fs"
	"slices"
	"time"
)

// Upload is a bundle that arrives in pieces. Its bytes are in a file on the machine that receives them.
type Upload struct {
	Who    string // sender
	Place  string // address of the sender, empty for this machine
	Name   string
	Build  string // build that the upload states
	Length int64  // total bytes
	Synced int64  // bytes on stable storage
	Until  time.Time
	Bundle string // hash of the resulting bundle, empty before that
}

// StoredUpload returns the name of an upload, and of its file, without the secret in its address.
func StoredUpload(secret string) string { return hashOf(secret) }

// NewUpload starts an upload and returns the secret in its address.
func (s *Store) NewUpload(ctx context.Context, u Upload) (secret string, err error) {
	secret = randomText(16)
	err = s.Write(ctx, func(tx *Tx) error {
		_, err := tx.run(ctx, "upload.insert", hashOf(secret), u.Who, u.Place, u.Name, u.Build, u.Length, u.Until.UnixMicro())
		return err
	})
	return secret, err
}

func scanUpload(scan func(...any) error) (*Upload, error) {
	u := &Upload{}
	return u, scan(&u.Who, &u.Place, &u.Name, &u.Build, &u.Length, &u.Synced, (*moment)(&u.Until), &u.Bundle)
}

// UploadOf returns an upload by its secret, or an error that is fs.ErrNotExist.
func (s *Store) UploadOf(ctx context.Context, secret string) (u *Upload, err error) {
	return readOne(ctx, s, "upload", scanUpload, "upload.find", hashOf(secret))
}

// UploadSynced records how many bytes of an upload are on stable storage, and until when it is kept. The error is
// fs.ErrNotExist if the upload was dropped.
func (s *Store) UploadSynced(ctx context.Context, secret string, synced int64, until time.Time) error {
	return s.Write(ctx, func(tx *Tx) error {
		n, err := tx.run(ctx, "upload.synced", hashOf(secret), synced, until.UnixMicro())
		if err == nil && n == 0 {
			err = fmt.Errorf("upload: %w", fs.ErrNotExist)
		}
		return err
	})
}

// UploadDone records the bundle of an upload. It returns false if that was recorded before.
func (tx *Tx) UploadDone(ctx context.Context, secret, bundle string) (bool, error) {
	n, err := tx.run(ctx, "upload.done", hashOf(secret), bundle)
	return n == 1, err
}

// DropUpload deletes the record of an upload.
func (s *Store) DropUpload(ctx context.Context, secret string) error {
	return s.Write(ctx, func(tx *Tx) error {
		_, err := tx.run(ctx, "upload.delete", hashOf(secret))
		return err
	})
}

// DropOldUploads deletes the records of expired uploads, and returns their names in the form of StoredUpload.
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

// UploadNames returns the names of all uploads, in the form of StoredUpload.
func (s *Store) UploadNames(ctx context.Context) ([]string, error) {
	return valuesOf[string](ctx, s, "upload.names")
}

// OpenUploads returns the number of unfinished uploads and their bytes that arrived: all, or those with a sender, those
// with an address, if these are not empty.
func (s *Store) OpenUploads(ctx context.Context, who, place string) (count, bytes int64, err error) {
	err = s.row(ctx, "upload.open", []any{s.Now().UnixMicro(), who, place}, &count, &bytes)
	return count, bytes, err
}

// Unfinished returns the unfinished uploads, those that expire first first: all, or those with from as sender or
// address.
func (s *Store) Unfinished(ctx context.Context, from string) ([]Upload, error) {
	return unfinished(ctx, s, "upload.unfinished", from)
}

// DropUnfinished deletes the records of the uploads that Unfinished returns, and returns them. The programs that send
// them begin again. The action is audited.
func (s *Store) DropUnfinished(ctx context.Context, who, from string) (list []Upload, err error) {
	err = s.Write(ctx, func(tx *Tx) (err error) {
		if list, err = unfinished(ctx, tx, "upload.drop", from); err != nil || len(list) == 0 {
			return err
		}
		return tx.Audit(ctx, who, "uploads dropped", from)
	})
	return list, err
}

func unfinished(ctx context.Context, q reader, name, from string) ([]Upload, error) {
	list, err := readRows(ctx, q, scanUpload, name, from)
	out := make([]Upload, len(list))
	for i, u := range list {
		out[i] = *u
	}
	slices.SortFunc(out, func(a, b Upload) int {
		return cmp.Or(a.Until.Compare(b.Until), cmp.Compare(a.Who, b.Who), cmp.Compare(a.Name, b.Name))
	})
	return out, err
}

// WaitingBytes returns the total bytes of the bundles that wait for triage.
func (s *Store) WaitingBytes(ctx context.Context) (n int64, err error) {
	err = s.row(ctx, "bundle.waiting", nil, &n)
	return n, err
}

// WaitingOf are the bytes of bundles of one source from one address that wait for triage.
type WaitingOf struct {
	Source, Place string
	Bytes         int64
}

// WaitingOf returns who sent the bundles that wait for triage.
func (s *Store) WaitingOf(ctx context.Context) ([]WaitingOf, error) {
	return rowsOf(ctx, s, func(w *WaitingOf) []any { return []any{&w.Source, &w.Place, &w.Bytes} }, "bundle.waiting-of")
}

// BundleReport is the part of a bundle's report that an upload's answer contains.
type BundleReport struct {
	ID     int64
	Match  int // from 1
	Status string
	Group  string // its code, empty if no divergence is known
}

// BundleReports returns the reports of a bundle, most at most, ordered by match.
func (s *Store) BundleReports(ctx context.Context, bundle int64, most int) (list []BundleReport, err error) {
	return rowsOf(ctx, s, func(r *BundleReport) []any { return []any{&r.ID, &r.Match, &r.Status, &r.Group} }, "bundle.reports", bundle, most)
}
