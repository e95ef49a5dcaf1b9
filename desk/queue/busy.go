package queue

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/desynctool/desynctool/desk"
)

// Busy returns the numbers of the bundles in a store that have an unfinished job. It returns none if the store never
// had a queue.
func Busy(ctx context.Context, store *desk.Store) (bundles []int64, err error) {
	find, args := `SELECT count(*) FROM sqlite_master WHERE type = 'table' AND name = 'river_job'`, "json(args)"
	if store.Kind() == desk.Postgres {
		find = `SELECT count(*) FROM pg_tables WHERE schemaname = current_schema() AND tablename = 'river_job'`
		args = "args"
	}
	var there int
	if err := store.DB().QueryRowContext(ctx, find).Scan(&there); err != nil || there == 0 {
		return nil, err
	}
	rows, err := store.DB().QueryContext(ctx, `SELECT `+args+` FROM river_job WHERE state IN ('available', 'pending', 'retryable', 'running', 'scheduled') AND kind = $1 ORDER BY id`, job{}.Kind())
	if err != nil {
		return nil, fmt.Errorf("%s: the queue: %w", store.Where(), err)
	}
	defer rows.Close()
	for rows.Next() {
		var args []byte
		var j job
		if err := rows.Scan(&args); err != nil {
			return nil, err
		}
		if err := json.Unmarshal(args, &j); err != nil {
			return nil, fmt.Errorf("%s: the queue: a job is damaged: %w", store.Where(), err)
		}
		bundles = append(bundles, j.Bundle)
	}
	return bundles, rows.Err()
}
