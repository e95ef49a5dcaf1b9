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

// Limits of what is kept of facts.
const (
	maxTraits     = 48
	maxTraitValue = 120
)

// Names of traits that are what triage found, and that nothing states.
const (
	traitKind  = ".kind"  // of the divergence
	traitCause = ".cause" // the class of the likeliest cause
)

// notTraits are facts that have columns of their own, or are of one match only.
var notTraits = []string{"game", "seed", "start state", "build", "time", "date"}

// traitsOf returns the numbers of what the peers' files state: of each fact all values, and the empty
// one for that it is stated at all; and of what triage found.
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

// traitSet returns the number of the set of some traits, which are in order; 0 if they are none.
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
