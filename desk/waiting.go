package desk

import "context"

// Claim reports whether a bundle waits to be triaged. If it does, no other transaction can say so of
// it until this one ends: of several that have read it, one writes what they found.
func (tx *Tx) Claim(ctx context.Context, bundle int64) (bool, error) {
	n, err := tx.run(ctx, "bundle.claim", bundle)
	return n == 1, err
}

// ClaimAgain is Claim for a bundle that had been triaged that many times when its triage was begun anew. It reports
// whether nobody has triaged it since, and its content is still kept: of what was forgotten meanwhile nothing is written again.
func (tx *Tx) ClaimAgain(ctx context.Context, bundle, times int64) (bool, error) {
	n, err := tx.run(ctx, "bundle.claim-again", bundle)
	if err != nil || n == 0 {
		return false, err
	}
	var now int64 // read after the row is locked, so that it is what the last transaction left
	err = tx.row(ctx, "bundle.triages", []any{bundle}, &now)
	return now == times, err
}

// Triages returns how often a bundle was triaged, 0 for one that waits or is not there.
func (s *Store) Triages(ctx context.Context, bundle int64) (times int64, err error) {
	err = s.row(ctx, "bundle.triages", []any{bundle}, &times)
	return times, err
}

// TryAgain takes back that a bundle was set aside, and reports whether it was.
func (tx *Tx) TryAgain(ctx context.Context, bundle int64) (bool, error) {
	n, err := tx.run(ctx, "bundle.try-again", bundle)
	return n == 1, err
}

// BundlesIn returns bundles in a state whose numbers are above after, in order, at most limit of them.
func (s *Store) BundlesIn(ctx context.Context, state State, after int64, limit int) (list []*Bundle, err error) {
	name := "bundle.unread" // which an index has
	if state == Read {
		name = "bundle.read"
	}
	return readRows(ctx, s, scanBundle, name, state, after, limit)
}

// NewestBuild returns the last of all builds that are known, by CompareBuilds; its name is empty if none is.
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

// InGroups returns the codes of the groups that the reports of a bundle are in, by match, empty for one without a
// divergence.
func (s *Store) InGroups(ctx context.Context, bundle int64) ([]string, error) {
	return valuesOf[string](ctx, s, "report.groups", bundle)
}
