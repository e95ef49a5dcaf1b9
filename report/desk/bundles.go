package desk

import (
	"context"
	"math"
)

// Bundles lists bundles, those that came last first: of a state, or all if that is empty; those whose
// number is less than before, or the first ones if that is 0; at most limit.
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
	err = s.each(ctx, name, args, func(scan func(...any) error) error {
		b, err := scanBundle(scan)
		list = append(list, *b)
		return err
	})
	return list, err
}
