package intake

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"sync"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Difference is a value that another triage of a match changed.
type Difference struct {
	What     string // status, tick, system, locus, cause, fingerprint or group
	Old, New string // empty if unknown
}

// Retriaged is the result for a bundle that was triaged again.
type Retriaged struct {
	Bundle *desk.Bundle
	// Matches are its matches, in order, with the differences of each.
	Matches []Match
	// Skipped is the reason why it was not triaged, empty if it was. Its reports stay unchanged.
	Skipped string
	// Meanwhile describes what another program did with the bundle while it was read, empty for nothing. If it is set,
	// the result is not written, and Matches is empty.
	Meanwhile string
}

// Match is a match of a bundle that was triaged again.
type Match struct {
	Number      int  // from 1
	Gone        bool // it is no longer a match of the bundle
	New         bool // it was not a match before
	Group       string
	Differences []Difference
}

// errDry ends a transaction that must not change anything.
var errDry = errors.New("nothing is written")

// Again triages bundles again, jobs of them at once, and writes the results. If dry is set, it leaves the store
// unchanged. It calls each with the results, in order, from one goroutine. An error of this machine ends it.
func (x *Intake) Again(ctx context.Context, bundles []int64, jobs int, dry bool, each func(Retriaged) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	type item struct {
		id  int64
		b   *desk.Bundle
		t   *Triaged
		err error
		// times is how often it had been triaged when this triage began.
		times int64
		done  chan struct{}
	}
	items, window := make(chan *item), make(chan *item, 2*jobs)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for it := range items {
				it.times, it.err = x.Store.Triages(ctx, it.id)
				if it.err == nil {
					it.b, it.err = x.Store.BundleByID(ctx, it.id)
				}
				if it.err == nil {
					it.t, it.err = x.Stored(ctx, it.b)
				}
				close(it.done)
			}
		})
	}
	go func() {
		defer close(items)
		defer close(window)
		for _, id := range bundles {
			it := &item{id: id, done: make(chan struct{})}
			select {
			case window <- it:
			case <-ctx.Done():
				return
			}
			items <- it
		}
	}()
	var err error
	for it := range window {
		if <-it.done; err != nil || ctx.Err() != nil {
			continue
		}
		r := Retriaged{Bundle: it.b}
		aside := (*AsideError)(nil)
		switch {
		case it.b == nil && errors.Is(it.err, fs.ErrNotExist):
			r.Bundle, r.Meanwhile = &desk.Bundle{ID: it.id, Name: fmt.Sprintf("bundle %d", it.id)}, deleted
		case errors.As(it.err, &aside):
			if it.b.Kept != "" {
				r.Meanwhile, err = x.meanwhile(ctx, it.id, it.times)
			}
			if r.Meanwhile == "" {
				r.Skipped = aside.Why
			}
		case it.err != nil:
			err = it.err
		default:
			if r.Matches, err = x.replace(ctx, it.b, it.t, it.times, dry); errors.Is(err, errMeanwhile) {
				r.Meanwhile, err = x.meanwhile(ctx, it.id, it.times)
				r.Meanwhile = cmp.Or(r.Meanwhile, triaged)
			}
		}
		if err == nil {
			err = each(r)
		}
		if err != nil {
			end(err)
		}
	}
	workers.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}

// errMeanwhile ends a transaction for a bundle that has changed since its triage began.
var errMeanwhile = errors.New("another program was faster")

// Actions of another program on a bundle while it was read.
const (
	deleted = "it was deleted while it was read"
	unkept  = "its content was deleted while it was read"
	triaged = "another program triaged it while it was read"
)

// meanwhile describes what another program has done with a bundle since it had been triaged this many times, empty for
// nothing.
func (x *Intake) meanwhile(ctx context.Context, bundle, times int64) (string, error) {
	b, err := x.Store.BundleByID(ctx, bundle)
	if errors.Is(err, fs.ErrNotExist) {
		return deleted, nil
	}
	if err != nil {
		return "", err
	}
	now, err := x.Store.Triages(ctx, bundle)
	switch {
	case err != nil:
		return "", err
	case now != times:
		return triaged, nil
	case b.Kept == "":
		return unkept, nil
	}
	return "", nil
}

// replace replaces the readings of a bundle, if it has been triaged this many times, and returns the differences.
func (x *Intake) replace(ctx context.Context, b *desk.Bundle, t *Triaged, times int64, dry bool) (matches []Match, err error) {
	before, err := x.Store.InGroups(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	err = x.Store.Write(ctx, func(tx *desk.Tx) error {
		matches = nil
		if same, err := tx.ClaimAgain(ctx, b.ID, times); err != nil || !same {
			return cmp.Or(err, errMeanwhile)
		}
		changes, err := t.Write(ctx, tx, b.ID, x.Tool)
		if err != nil {
			return err
		}
		for i, c := range changes {
			m := Match{Number: i + 1, Group: c.Group, New: c.Before == nil}
			if !m.New {
				m.Differences = Differences(c.Before, t.Readings[i].Report)
			}
			if i < len(before) && before[i] != c.Group {
				m.Differences = append(m.Differences, Difference{"group", before[i], c.Group})
			}
			matches = append(matches, m)
		}
		for i := len(changes); i < len(before); i++ {
			matches = append(matches, Match{Number: i + 1, Gone: true, Group: before[i]})
		}
		if dry {
			return errDry
		}
		return nil
	})
	if errors.Is(err, errDry) {
		return matches, nil
	}
	if err == nil {
		err = x.Replaced(ctx, b, t)
	}
	return matches, err
}

// Differences returns the differences between two reports of a match.
func Differences(before, after *document.Report) (list []Difference) {
	for _, x := range []struct {
		what string
		of   func(*document.Report) string
	}{
		{"status", func(r *document.Report) string { return string(r.Status) }},
		{"tick", tickOf},
		{"system", systemOf},
		{"locus", locusOf},
		{"cause", causeOf},
		{"fingerprint", func(r *document.Report) string { return r.Fingerprint }},
	} {
		if a, b := x.of(before), x.of(after); a != b {
			list = append(list, Difference{x.what, a, b})
		}
	}
	return list
}

func tickOf(r *document.Report) string {
	d := r.FirstDivergence
	switch {
	case d == nil:
		return ""
	case d.Tick != nil:
		return strconv.FormatUint(*d.Tick, 10)
	case d.Bracket != nil && d.Bracket.Good != nil:
		return fmt.Sprintf("%d to %d", *d.Bracket.Good, d.Bracket.Bad)
	case d.Bracket != nil:
		return fmt.Sprintf("up to %d", d.Bracket.Bad)
	}
	return ""
}

func systemOf(r *document.Report) string {
	if r.FirstDivergence == nil {
		return ""
	}
	return r.FirstDivergence.System
}

// most is the maximum length of a value.
const most = 120

func locusOf(r *document.Report) string {
	if len(r.Locus) == 0 {
		return ""
	}
	l := &r.Locus[0]
	return prose.Shorten(prose.Printable(l.Archetype+" "+l.Key+" "+l.Component+"."+l.Field), most)
}

func causeOf(r *document.Report) string {
	if len(r.Causes) == 0 {
		return ""
	}
	return r.Causes[0].Class + ", " + r.Causes[0].Standing
}
