package queue

import (
	"context"
	"database/sql"
	"errors"

	"github.com/desynctool/desynctool/desk"
)

// createSuspects creates the table of bundles whose worker died while reading them. alone counts how often they were
// started since then, each alone in its worker, without an end.
const createSuspects = `CREATE TABLE IF NOT EXISTS queue_suspects (bundle_id BIGINT NOT NULL PRIMARY KEY, alone BIGINT NOT NULL)`

// mostAlone is how often a suspect is started. With the time that made it a suspect, this affects three workers.
const mostAlone = 2

// hasSuspects reports whether the table exists.
func (q *Queue) hasSuspects(ctx context.Context) (bool, error) {
	find := `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'queue_suspects'`
	if q.store.Kind() == desk.Postgres {
		find = `SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'queue_suspects'`
	}
	var n int
	err := q.store.DB().QueryRowContext(ctx, find).Scan(&n)
	return n > 0, err
}

// suspect reports whether a bundle is a suspect, and how often it was started alone.
func (q *Queue) suspect(ctx context.Context, bundle int64) (is bool, alone int, err error) {
	err = q.store.DB().QueryRowContext(ctx, `SELECT alone FROM queue_suspects WHERE bundle_id = $1`, bundle).Scan(&alone)
	if errors.Is(err, sql.ErrNoRows) {
		return false, 0, nil
	}
	return err == nil, alone, err
}

// addAlone records that a suspect is started alone (1), or that its worker did not die because of it (-1).
func (q *Queue) addAlone(ctx context.Context, bundle int64, by int) error {
	return q.store.Write(ctx, func(tx *desk.Tx) error {
		_, err := tx.ExecContext(ctx, `UPDATE queue_suspects SET alone = alone + $2 WHERE bundle_id = $1`, bundle, by)
		return err
	})
}

func addSuspect(ctx context.Context, tx *desk.Tx, bundle int64) error {
	_, err := tx.ExecContext(ctx, `INSERT INTO queue_suspects (bundle_id, alone) VALUES ($1, 0) ON CONFLICT (bundle_id) DO NOTHING`, bundle)
	return err
}

func clearSuspect(ctx context.Context, tx *desk.Tx, bundle int64) error {
	_, err := tx.ExecContext(ctx, `DELETE FROM queue_suspects WHERE bundle_id = $1`, bundle)
	return err
}
