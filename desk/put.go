package desk

import (
	"context"
	"database/sql"
	"errors"

	"github.com/desynctool/desynctool/report/document"
)

// Reading is the triage's result for one match of a bundle.
type Reading struct {
	Report   *document.Report
	Complete int // how much is known, 0 to 100
}

// Change is the effect of a reading on the store.
type Change struct {
	Report int64 // its number
	// Group is the code of its group, empty if no divergence is known.
	Group string
	// NewGroup means that it is the first report in its group. CameBack means that the group was closed and is open
	// again.
	NewGroup, CameBack bool
	// Before is the document that it replaces, nil for a match that is read for the first time.
	Before *document.Report
}

// Put writes the triage's results for a bundle, a reading for each match in order, and replaces the previous results.
// tool is the version of the program that read it. Put also updates counts, groups and the state of the bundle.
func (tx *Tx) Put(ctx context.Context, bundle int64, tool string, readings []Reading) ([]Change, error) {
	if len(readings) == 0 {
		return nil, errors.New("a bundle has at least one reading")
	}
	var changes []Change
	for i := range readings {
		c, err := tx.put(ctx, bundle, i+1, tool, &readings[i])
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	if err := tx.dropBeyond(ctx, bundle, len(readings)); err != nil {
		return nil, err
	}
	if err := tx.HideNames(ctx, bundle, knownIn(readings)); err != nil {
		return nil, err
	}
	_, err := tx.run(ctx, "bundle.state", bundle, Read, "")
	return changes, err
}

func (tx *Tx) put(ctx context.Context, bundle int64, match int, tool string, x *Reading) (c Change, err error) {
	r := x.Report
	var old counted
	var pinned bool
	var times int64
	err = tx.row(ctx, "report.old", []any{bundle, match}, &c.Report, &old.variant, &pinned, &old.game, &old.build, &old.day, &old.peers, &times)
	again := err == nil
	switch {
	case again:
		if c.Before, err = tx.Document(ctx, c.Report); err != nil {
			return c, err
		}
		if err := tx.forget(ctx, c.Report, &old); err != nil {
			return c, err
		}
	case !errors.Is(err, sql.ErrNoRows):
		return c, err
	}

	now := counted{day: dayOf(r), peers: int64(len(r.Peers))}
	if now.game, err = tx.game(ctx, r.Session.Game); err != nil {
		return c, err
	}
	build := Build{r.Session.Build, now.day}
	if build.Name != "" {
		if err := tx.row(ctx, "build.insert", []any{now.game, build.Name, build.Day}, &now.build); err != nil {
			return c, err
		}
	}
	if now.traits, err = tx.traitsOf(ctx, r); err != nil {
		return c, err
	}
	if pinned {
		now.variant = old.variant
	} else if key, ok := KeyOf(r); ok {
		if now.variant, c.NewGroup, err = tx.variant(ctx, now.game, key, r); err != nil {
			return c, err
		}
	}
	set, err := tx.traitSet(ctx, now.traits)
	if err != nil {
		return c, err
	}
	values := []any{now.variant, r.Status, now.game, now.build, set, r.Session.Seed, now.day, tickOf(r), now.peers, x.Complete, firstSentence(r), tool}
	if again {
		_, err = tx.run(ctx, "report.update", append([]any{c.Report}, values...)...)
	} else {
		err = tx.row(ctx, "report.insert", append([]any{bundle, match, now.variant, false}, values[1:]...), &c.Report)
	}
	if err != nil {
		return c, err
	}
	if err := tx.describe(ctx, c.Report, r); err != nil {
		return c, err
	}
	if now.variant != 0 {
		err = tx.join(ctx, &c, &now, build)
	}
	return c, err
}

// forget removes a report from the counts. It deletes the data about the report, except its row and its document.
func (tx *Tx) forget(ctx context.Context, id int64, old *counted) error {
	var err error
	if old.traits, err = tx.reportTraits(ctx, id); err != nil {
		return err
	}
	if _, err := tx.run(ctx, "report.peers.delete", id); err != nil {
		return err
	}
	if old.variant == 0 {
		return nil
	}
	var group int64
	if err := tx.row(ctx, "variant.group", []any{old.variant}, &group); err != nil {
		return err
	}
	if _, err := tx.lockGroup(ctx, group); err != nil {
		return err
	}
	if err := tx.count(ctx, old, -1); err != nil {
		return err
	}
	return tx.refresh(ctx, group)
}

// dropBeyond deletes the reports of matches that a bundle no longer has.
func (tx *Tx) dropBeyond(ctx context.Context, bundle int64, matches int) error {
	beyond, err := valuesOf[int](ctx, tx, "report.beyond", bundle, matches)
	if err != nil {
		return err
	}
	for _, match := range beyond {
		if err := tx.drop(ctx, bundle, match); err != nil {
			return err
		}
	}
	return nil
}

// drop deletes a report.
func (tx *Tx) drop(ctx context.Context, bundle int64, match int) error {
	var id, times int64
	var old counted
	var pinned bool
	if err := tx.row(ctx, "report.old", []any{bundle, match}, &id, &old.variant, &pinned, &old.game, &old.build, &old.day, &old.peers, &times); err != nil {
		return err
	}
	if err := tx.forget(ctx, id, &old); err != nil {
		return err
	}
	return tx.runAll(ctx, id, "document.delete", "report.delete")
}
