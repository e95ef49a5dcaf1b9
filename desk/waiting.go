package desk

import "context"

// Claim reports whether a bundle waits for triage. If it does, no other transaction can claim it until this one ends.
// If several workers have read it, only one writes the result.
func (tx *Tx) Claim(ctx context.Context, bundle int64) (bool, error) {
	n, err := tx.run(ctx, "bundle.claim", bundle)
	return n == 1, err
}

// ClaimAgain is Claim for a bundle that had been triaged times times when a new triage began. It reports whether nobody
// has triaged it since and its content is still stored, so that nothing is written about a bundle that was forgotten
// meanwhile.
func (tx *Tx) ClaimAgain(ctx context.Context, bundle, times int64) (bool, error) {
	n, err := tx.run(ctx, "bundle.claim-again", bundle)
	if err != nil || n == 0 {
		return false, err
	}
	var now int64 // read after the row is locked, so that it is the last transaction's value
	err = tx.row(ctx, "bundle.triages", []any{bundle}, &now)
	return now == times, err
}

// Triages returns how often a bundle was triaged, 0 for a bundle that waits or does not exist.
func (s *Store) Triages(ctx context.Context, bundle int64) (times int64, err error) {
	err = s.row(ctx, "bundle.triages", []any{bundle}, &times)
	return times, err
}

// TryAgain makes a bundle that was set aside wait again, and reports whether it was set aside.
func (tx *Tx) TryAgain(ctx context.Context, bundle int64) (bool, error) {
	n, err := tx.run(ctx, "bundle.try-again", bundle)
	return n == 1, err
}

// BundlesIn returns bundles in a state with numbers above after, in order, at most limit of them.
func (s *Store) BundlesIn(ctx context.Context, state State, after int64, limit int) (list []*Bundle, err error) {
	name := "bundle.unread" // it has an index
	if state == Read {
		name = "bundle.read"
	}
	return readRows(ctx, s, scanBundle, name, state, after, limit)
}

// NewestBuild returns the newest of all known builds, by CompareBuilds. Its name is empty if there is none.
func (s *Store) NewestBuild(ctx context.Context) (newest Build, err error) {
	err = s.each(ctx, "build.names", nil, func(scan func(...any) error) error {
		var b Build
		if err := scan(&b.Name, &b.Day); err != nil {
			return err
		}
		if newest.Name == "" || CompareBuilds(b, newest) > 0 {
			newest = b
		}
		return nil
	})
	return newest, err
}

// InGroups returns the codes of the groups of a bundle's reports, by match. A code is empty for a report without a
// divergence.
func (s *Store) InGroups(ctx context.Context, bundle int64) ([]string, error) {
	return valuesOf[string](ctx, s, "report.groups", bundle)
}
