package intake

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/desk"
)

// Difference is what another triage says otherwise of a match.
type Difference struct {
	What     string // status, tick, system, locus, cause, fingerprint or group
	Old, New string // empty where nothing is known
}

// Retriaged is what became of a bundle that was triaged anew.
type Retriaged struct {
	Bundle *desk.Bundle
	// Matches are those of it, in order, with what is said otherwise of each.
	Matches []Match
	// Skipped is why it was not triaged, empty if it was; its reports stay as they are.
	Skipped string
}

// Match is a match of a bundle that was triaged anew.
type Match struct {
	Number      int  // from 1
	Gone        bool // it is not a match of the bundle any more
	New         bool // it was none before
	Group       string
	Differences []Difference
}

// errDry ends a transaction of which nothing is to stay.
var errDry = errors.New("nothing is written")

// Again triages bundles anew, jobs of them at once, and writes what it finds, unless dry is set: then the
// store stays as it is. It calls each with what became of them, in their order, from one goroutine. An error
// of this machine ends it.
func (x *Intake) Again(ctx context.Context, bundles []int64, jobs int, dry bool, each func(Retriaged) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	type item struct {
		id   int64
		b    *desk.Bundle
		t    *Triaged
		err  error
		done chan struct{}
	}
	items, window := make(chan *item), make(chan *item, 2*jobs)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for it := range items {
				if it.b, it.err = x.Store.BundleByID(ctx, it.id); it.err == nil {
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
		if errors.As(it.err, &aside) {
			r.Skipped = aside.Why
		} else if err = it.err; err == nil {
			r.Matches, err = x.replace(ctx, it.b, it.t, dry)
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

// replace writes readings in place of what was there, and returns what they say otherwise.
func (x *Intake) replace(ctx context.Context, b *desk.Bundle, t *Triaged, dry bool) (matches []Match, err error) {
	before, err := x.Store.InGroups(ctx, b.ID)
	if err != nil {
		return nil, err
	}
	err = x.Store.Write(ctx, func(tx *desk.Tx) error {
		matches = nil
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

// Differences returns what two reports of a match say otherwise.
func Differences(before, after *report.Report) (list []Difference) {
	for _, x := range []struct {
		what string
		of   func(*report.Report) string
	}{
		{"status", func(r *report.Report) string { return string(r.Status) }},
		{"tick", tickOf},
		{"system", systemOf},
		{"locus", locusOf},
		{"cause", causeOf},
		{"fingerprint", func(r *report.Report) string { return r.Fingerprint }},
	} {
		if a, b := x.of(before), x.of(after); a != b {
			list = append(list, Difference{x.what, a, b})
		}
	}
	return list
}

func tickOf(r *report.Report) string {
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

func systemOf(r *report.Report) string {
	if r.FirstDivergence == nil {
		return ""
	}
	return r.FirstDivergence.System
}

// most is how long a value is at most.
const most = 120

func locusOf(r *report.Report) string {
	if len(r.Locus) == 0 {
		return ""
	}
	l := &r.Locus[0]
	return prose.Shorten(prose.Printable(l.Archetype+" "+l.Key+" "+l.Component+"."+l.Field), most)
}

func causeOf(r *report.Report) string {
	if len(r.Causes) == 0 {
		return ""
	}
	return r.Causes[0].Class + ", " + r.Causes[0].Standing
}
