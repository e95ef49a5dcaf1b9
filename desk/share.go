package desk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"time"
)

// Share is a link to the players' view of a report, without its secret.
type Share struct {
	ID      int64
	Report  int64 // 0 if it was deleted
	Who     string
	Made    time.Time
	Revoked time.Time // zero if it is valid
}

// Share creates a link to a report and returns its secret, 22 characters in the URL alphabet of base64. The error is
// fs.ErrNotExist if there is no such report. With the link, anyone can see the result of (*document.Report).Redact.
func (s *Store) Share(ctx context.Context, who string, report int64) (secret string, err error) {
	secret = randomText(16)
	err = s.Write(ctx, func(tx *Tx) error {
		var bundle string
		var match, id int64
		err := tx.row(ctx, "report.place", []any{report}, &bundle, &match)
		if errors.Is(err, sql.ErrNoRows) {
			return fmt.Errorf("report %d: %w", report, fs.ErrNotExist)
		}
		if err != nil {
			return err
		}
		if err := tx.row(ctx, "share.insert", []any{hashOf(secret), bundle, match, who, s.Now().UnixMicro()}, &id); err != nil {
			return err
		}
		return tx.Audit(ctx, who, "shared", fmt.Sprintf("report %d, link %d", report, id))
	})
	return secret, err
}

// Shared returns the number of the report behind a link. The error is fs.ErrNotExist if there is no such link, it was
// revoked, or the report was deleted.
func (s *Store) Shared(ctx context.Context, secret string) (report int64, err error) {
	err = s.row(ctx, "share.report", []any{hashOf(secret)}, &report)
	if errors.Is(err, sql.ErrNoRows) {
		err = fmt.Errorf("link: %w", fs.ErrNotExist)
	}
	return report, err
}

// Shares returns all links, in the order of their creation.
func (s *Store) Shares(ctx context.Context) (list []Share, err error) {
	return rowsOf(ctx, s, func(x *Share) []any {
		return []any{&x.ID, &x.Report, &x.Who, (*moment)(&x.Made), (*moment)(&x.Revoked)}
	}, "share.list")
}

// Unshare revokes a link. The error is fs.ErrNotExist if there is no valid link with that number.
func (s *Store) Unshare(ctx context.Context, who string, id int64) error {
	return s.Write(ctx, func(tx *Tx) error {
		n, err := tx.run(ctx, "share.revoke", id, s.Now().UnixMicro())
		if err == nil && n == 0 {
			err = fmt.Errorf("link %d: %w", id, fs.ErrNotExist)
		}
		if err != nil {
			return err
		}
		return tx.Audit(ctx, who, "link revoked", strconv.FormatInt(id, 10))
	})
}
