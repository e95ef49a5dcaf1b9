package intake

import (
	"context"
	"errors"
	"sync"

	"github.com/desynctool/desynctool/report/desk"
)

// Added is what became of one bundle.
type Added struct {
	Path string
	// Bundle is as the desk has it, nil of one that is not stored; Err is why.
	Bundle *desk.Bundle
	Err    error
	New    bool
	// Left names what is not in what is kept, and why, a line each.
	Left []string
	// Changes are those of its reports, nil if it was not triaged now. Triaged is what they were made of.
	Changes []desk.Change
	Triaged *Triaged
	// Aside is why it cannot be triaged, empty if it can.
	Aside string
}

// Receive is how a bundle that is kept comes into the store: (*Intake).Receive, or that of a queue.
type Receive func(ctx context.Context, b desk.Bundle, r desk.Receipt) (bundle *desk.Bundle, isNew bool, err error)

// Receive writes that a bundle came.
func (x *Intake) Receive(ctx context.Context, b desk.Bundle, r desk.Receipt) (bundle *desk.Bundle, isNew bool, err error) {
	err = x.Store.Write(ctx, func(tx *desk.Tx) (err error) {
		bundle, isNew, err = tx.Receive(ctx, b, r)
		return err
	})
	return bundle, isNew, err
}

// Add stores bundles and, unless they wait for a queue, triages those that are not triaged yet, jobs of them at
// once. It writes to the store in the order of the bundles, so that the same bundles give the same store, and
// calls each with what became of them in that order, from one goroutine. What could not be stored does not end
// it: only an error of each does, or ctx.
func (x *Intake) Add(ctx context.Context, list []Source, jobs int, receive Receive, queued bool, each func(Added) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	adding := &adding{Intake: x, ctx: ctx, receive: receive, queued: queued, reading: map[int64]bool{}}
	items := make(chan *item)          // to be kept and triaged
	window := make(chan *item, 2*jobs) // the same, in order
	received := make(chan *item, 2*jobs)
	var workers sync.WaitGroup
	for range jobs {
		workers.Go(func() {
			for it := range items {
				adding.work(it)
			}
		})
	}
	go func() {
		defer close(items)
		defer close(window)
		for _, s := range list {
			it := &item{source: s, kept: make(chan struct{}), received: make(chan struct{}), done: make(chan struct{})}
			select {
			case window <- it:
			case <-ctx.Done():
				return
			}
			items <- it
		}
	}()
	go func() {
		defer close(received)
		for it := range window {
			<-it.kept
			adding.take(it)
			received <- it
		}
	}()
	var err error
	for it := range received {
		<-it.done
		if err != nil || context.Cause(ctx) != nil {
			continue // ended: the rest waits, and is triaged when it comes again
		}
		adding.put(it)
		if err = each(it.Added); err != nil {
			end()
		}
	}
	workers.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}

// adding is one call of Add.
type adding struct {
	*Intake
	ctx     context.Context
	receive Receive
	queued  bool
	reading map[int64]bool // bundles that are read in this call; of take alone
}

// item is a bundle on its way.
type item struct {
	source Source
	copy   *Kept
	read   bool // it is to be triaged
	Added
	kept, received, done chan struct{}
}

// work keeps a bundle and triages it as soon as it is received.
func (a *adding) work(it *item) {
	defer close(it.done)
	it.Path = it.source.Path
	copied, err := a.Keep(a.ctx, it.source)
	it.copy, it.Err = copied, err
	close(it.kept) // from here to received the item is that of take
	if err != nil {
		return
	}
	<-it.received
	it.Left = it.copy.Left
	if it.read {
		it.Triaged, it.Err = a.Triage(a.ctx, it.copy.File, it.Bundle.Name, false)
	}
	if err := it.copy.Close(); it.Err == nil {
		it.Err = err
	}
}

// take has the store know a bundle.
func (a *adding) take(it *item) {
	defer close(it.received)
	if it.Err != nil {
		return
	}
	it.Bundle, it.New, it.Err = a.receive(a.ctx, it.copy.Bundle, desk.Receipt{Name: it.copy.Bundle.Name, Source: a.Source})
	it.read = it.Err == nil && !a.queued && it.Bundle.State == desk.Waiting && !a.reading[it.Bundle.ID]
	if it.read {
		a.reading[it.Bundle.ID] = true
	}
	if it.Err == nil && it.Bundle.State == desk.Aside {
		it.Aside = it.Bundle.Why
	}
	if it.Err == nil && it.Bundle.State == desk.Read && it.Bundle.Kept != it.copy.Bundle.Kept { // a copy without names is kept
		it.Err = a.Blobs.Delete(a.ctx, it.copy.Bundle.Kept)
	}
}

// put writes what was read of a bundle.
func (a *adding) put(it *item) {
	aside := (*AsideError)(nil)
	switch {
	case errors.As(it.Err, &aside):
		it.Aside, it.Err = aside.Why, a.SetAside(a.ctx, it.Bundle.ID, aside.Why)
	case it.Err == nil && it.read:
		it.Changes, _, it.Err = a.Put(a.ctx, it.Bundle, it.Triaged)
	}
}
