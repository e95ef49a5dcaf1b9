package desk

import (
	"context"
	"database/sql"
	"errors"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Limits of stored facts.
const (
	maxTraits     = 48
	maxTraitValue = 120
)

// Names of traits that come from the triage, not from files.
const (
	traitKind  = ".kind"  // of the divergence
	traitCause = ".cause" // class of the likeliest cause
)

// notTraits are facts that have their own columns, or belong to only one match.
var notTraits = []string{"game", "seed", "start state", "build", "time", "date"}

// traitsOf returns the numbers of a report's traits: for each fact in the peers' files all values, and an empty value
// because the fact is present; and the results of the triage.
func (tx *Tx) traitsOf(ctx context.Context, r *document.Report) ([]int64, error) {
	var list [][2]string
	for i := range r.Stated {
		f := &r.Stated[i]
		if slices.Contains(notTraits, f.Name) || len(f.Values) == 0 || strings.HasPrefix(f.Name, ".") {
			continue
		}
		list = append(list, [2]string{f.Name, ""})
		for _, v := range f.Values {
			if v = prose.Shorten(v, maxTraitValue); v != "" && !slices.Contains(list, [2]string{f.Name, v}) {
				list = append(list, [2]string{f.Name, v})
			}
		}
	}
	slices.SortFunc(list, func(a, b [2]string) int { return slices.Compare(a[:], b[:]) })
	list = list[:min(len(list), maxTraits)]
	if r.Kind != "" {
		list = append(list, [2]string{traitKind, prose.Shorten(string(r.Kind), maxTraitValue)})
	}
	if len(r.Causes) > 0 {
		list = append(list, [2]string{traitCause, prose.Shorten(r.Causes[0].Class, maxTraitValue)})
	}
	var ids []int64
	for _, t := range list {
		id, ok := tx.traits[t]
		if !ok {
			err := tx.row(ctx, "trait.find", []any{t[0], t[1]}, &id)
			if errors.Is(err, sql.ErrNoRows) {
				err = tx.row(ctx, "trait.insert", []any{t[0], t[1]}, &id)
			}
			if err != nil {
				return nil, err
			}
			tx.traits[t] = id
		}
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return slices.Compact(ids), nil
}

// traitSet returns the number of a set of traits, which must be sorted. It returns 0 for an empty set.
func (tx *Tx) traitSet(ctx context.Context, traits []int64) (id int64, err error) {
	if len(traits) == 0 {
		return 0, nil
	}
	list := withIDs("{{ids}}", traits)
	if id, ok := tx.sets[list]; ok {
		return id, nil
	}
	if err = tx.row(ctx, "set.find", []any{list}, &id); errors.Is(err, sql.ErrNoRows) {
		err = tx.row(ctx, "set.insert", []any{list}, &id)
		for _, trait := range traits {
			if err == nil {
				_, err = tx.run(ctx, "set.trait.insert", id, trait)
			}
		}
	}
	if err == nil {
		tx.sets[list] = id
	}
	return id, err
}

// reportTraits returns the numbers of the traits of a report.
func (tx *Tx) reportTraits(ctx context.Context, id int64) (list []int64, err error) {
	return valuesOf[int64](ctx, tx, "report.traits", id)
}
