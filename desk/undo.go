package desk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"github.com/desynctool/desynctool/internal/lists"
	"slices"
)

// Undo reverts an event, given by its number; 0 means the last event of this editor that was not undone. If a later
// event depends on it, Undo refuses, and that event must be undone first.
func (e *Editor) Undo(ctx context.Context, event int64) (Done, error) {
	return e.edit(ctx, func(tx *Tx) (Event, Done, error) {
		if event == 0 {
			err := tx.row(ctx, "event.last", []any{e.Who}, &event)
			if errors.Is(err, sql.ErrNoRows) {
				return Event{}, Done{}, fmt.Errorf("there is nothing of %s to undo", e.Who)
			} else if err != nil {
				return Event{}, Done{}, err
			}
		}
		x, err := tx.event(ctx, event)
		if err != nil {
			return Event{}, Done{}, err
		}
		if x.UndoneBy != 0 {
			return Event{}, Done{}, fmt.Errorf("event %d was undone by event %d", event, x.UndoneBy)
		}
		if x.What == Forgot {
			return Event{}, Done{}, fmt.Errorf("event %d deleted reports, which cannot be undone", event)
		}
		if err := tx.restedOn(ctx, x); err != nil {
			return Event{}, Done{}, err
		}
		g, err := tx.groupByID(ctx, x.Group)
		if err != nil {
			return Event{}, Done{}, err
		}
		if err := tx.undo(ctx, x, g); err != nil {
			return Event{}, Done{}, err
		}
		done := Done{Group: g.code, Other: x.About.Other, Count: len(x.About.Variants) + len(x.About.Reports)}
		return Event{What: Undone, Group: x.Group, About: About{Event: x.ID, Undid: x.What}}, done, nil
	})
}

// event returns an event by its number.
func (tx *Tx) event(ctx context.Context, id int64) (x Event, err error) {
	err = tx.each(ctx, "event.get", []any{id}, func(scan func(...any) error) error {
		x, err = scanEvent(scan)
		return err
	})
	if err == nil && x.ID == 0 {
		err = fmt.Errorf("event %d: there is none", id)
	}
	return x, err
}

// moves are events that move variants or reports between groups. states are events that change the state of a group.
var (
	moves  = []What{Merged, Split, Moved}
	states = []What{Closed, Reopened, Ignored, Merged}
)

// restedOn returns an error if a later event depends on an event.
func (tx *Tx) restedOn(ctx context.Context, x Event) error {
	var kinds []What
	switch x.What {
	case Merged, Split, Moved:
		kinds = append(slices.Clone(moves), states...)
	case Closed, Reopened, Ignored:
		kinds = states
	case Named:
		kinds = []What{Named, Merged}
	case Noted, Linked:
	default:
		return fmt.Errorf("event %d has a kind that is not undone: %s", x.ID, x.What)
	}
	groups := []int64{x.Group}
	if x.About.OtherID != 0 {
		groups = append(groups, x.About.OtherID)
	}
	return tx.each(ctx, "event.after", []any{x.ID}, func(scan func(...any) error) error {
		later, err := scanEvent(scan)
		if err != nil || !slices.Contains(kinds, later.What) || !slices.Contains(groups, later.Group) && !slices.Contains(groups, later.About.OtherID) {
			return err
		}
		return fmt.Errorf("event %d (%s) came after event %d (%s) and rests on it; undo that first", later.ID, later.What, x.ID, x.What)
	})
}

// undo reverts the effect of an event on a group.
func (tx *Tx) undo(ctx context.Context, x Event, g *groupRow) error {
	switch x.What {
	case Noted, Linked:
		return nil // lists omit undone events
	case Named:
		_, err := tx.run(ctx, "group.set-name", g.id, x.About.Before.Name)
		return err
	case Closed, Reopened, Ignored:
		b := x.About.Before
		_, err := tx.run(ctx, "group.set-state", g.id, b.State, 0, b.FixedIn, b.CameBack)
		return err
	case Merged:
		return tx.undoMerge(ctx, x, g)
	case Split:
		other, err := tx.groupByID(ctx, x.About.OtherID)
		if err != nil {
			return err
		}
		all, err := tx.variantsOf(ctx, g.id)
		if err != nil {
			return err
		}
		var ids []int64 // including reports that arrived since
		ids = append(ids, lists.Map(all, func(v variantRow) int64 { return v.id })...)
		if err := tx.moveVariants(ctx, g, other, ids, x.About.Keys); err != nil {
			return err
		}
		_, err = tx.run(ctx, "group.set-state", g.id, GroupMerged, other.id, "", "")
		return err
	}
	return tx.undoMove(ctx, x)
}

// undoMerge returns everything that was merged from a group, including later data that would have belonged to it.
func (tx *Tx) undoMerge(ctx context.Context, x Event, into *groupRow) error {
	from, err := tx.groupByID(ctx, x.About.OtherID)
	if err != nil {
		return err
	}
	all, err := tx.variantsOf(ctx, into.id)
	if err != nil {
		return err
	}
	var ids []int64
	for _, v := range all {
		if slices.Contains(x.About.Variants, v.id) || slices.Contains(x.About.Keys, v.coarse) {
			ids = append(ids, v.id)
		}
	}
	if err := tx.moveVariants(ctx, into, from, ids, x.About.Keys); err != nil {
		return err
	}
	b := x.About.Before
	_, err = tx.run(ctx, "group.set-state", from.id, b.State, 0, b.FixedIn, b.CameBack)
	return err
}

// undoMove returns reports to where an earlier move had put them, else to the variants of their documents. These may
// differ from the variants before if the reports were triaged since.
func (tx *Tx) undoMove(ctx context.Context, x Event) error {
	for _, m := range x.About.Reports {
		r, _, err := tx.counted(ctx, m.Report)
		if err != nil {
			return err
		}
		variant := m.Variant
		if !m.Pinned {
			if variant, err = tx.ownVariant(ctx, m.Report, r.game); err != nil {
				return err
			}
		}
		if err := tx.moveReport(ctx, m.Report, &r, variant, m.Pinned); err != nil {
			return err
		}
	}
	return nil
}

// ownVariant returns the variant of a report according to its document, 0 if it has no bug.
func (tx *Tx) ownVariant(ctx context.Context, id, game int64) (variant int64, err error) {
	r, err := tx.Document(ctx, id)
	if err != nil {
		return 0, err
	}
	key, ok := KeyOf(r)
	if !ok {
		return 0, nil
	}
	variant, _, err = tx.variant(ctx, game, key, r)
	return variant, err
}
