package desk

import (
	"context"
	"fmt"
	"math"

	"github.com/desynctool/desynctool/internal/lists"
)

// Bundles lists bundles in a state, or all if state is empty, newest first. It returns at most limit bundles with
// numbers below before, or the newest if before is 0.
func (s *Store) Bundles(ctx context.Context, state State, before int64, limit int) (list []Bundle, err error) {
	if before <= 0 {
		before = math.MaxInt64
	}
	name, args := "bundle.list", []any{before, limit}
	if state != "" {
		name, args = "bundle.list.unread", append(args, state)
	}
	if state == Read {
		name = "bundle.list.read"
	}
	return readRows(ctx, s, func(scan func(...any) error) (Bundle, error) {
		b, err := scanBundle(scan)
		return *b, err
	}, name, args...)
}

// Outcome describes the matches of a bundle that have the same status and group.
type Outcome struct {
	Status  string
	Group   string // its code, empty if they belong to no group
	Called  string // the group's name or title
	Reports int64
}

// Outcomes returns the outcomes of bundles by their numbers, ordered by match. A bundle that was not read has none.
func (s *Store) Outcomes(ctx context.Context, bundles []Bundle) (map[int64][]Outcome, error) {
	all := map[int64][]Outcome{}
	if len(bundles) == 0 {
		return all, nil
	}
	ids := lists.Map(bundles, func(x Bundle) int64 { return x.ID })
	const name = "bundle.outcomes"
	rows, err := s.read.QueryContext(ctx, withIDs(statement(name), ids))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return all, eachOf(rows, name, func(scan func(...any) error) error {
		var id, first int64
		var o Outcome
		err := scan(&id, &o.Status, &o.Group, &o.Called, &o.Reports, &first)
		all[id] = append(all[id], o)
		return err
	})
}
