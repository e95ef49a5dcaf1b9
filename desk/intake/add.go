package intake

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"sync"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
)

// Added is the result for one bundle.
type Added struct {
	Path string
	// Bundle is the bundle in the desk. It is nil if the bundle was not stored; Err is then the reason.
	Bundle *desk.Bundle
	Err    error
	New    bool
	// Left lists what was not stored, with reasons, one a line.
	Left []string
	// Changes are the changes of its reports, nil if it was not triaged now. Triaged is the triage's result.
	Changes []desk.Change
	Triaged *Triaged
	// Aside is the reason why it cannot be triaged, empty if it can.
	Aside string
	// Healed means that its stored content was damaged or missing, and was written again.
	Healed bool
}

// Receive puts a stored bundle into a queue.
type Receive func(ctx context.Context, b desk.Bundle, r desk.Receipt) (bundle *desk.Bundle, isNew bool, err error)

// Add triages bundles that are not triaged yet, jobs of them at once, and stores them with the result. With a queue, it
// only stores and queues them. It reads the stored content of bundles that came before, and heals it. It writes to the store in the order of the bundles, so the same bundles give the same
// store. It calls each with the results in that order, from one goroutine. A bundle that cannot be stored does not stop
// it; only an error of each does, or ctx. When each is called, the bundle is in the store. The received content is
// stored only if there is no copy without names.
func (x *Intake) Add(ctx context.Context, list []Source, jobs int, queue Receive, each func(Added) error) error {
	ctx, end := context.WithCancel(ctx)
	defer end()
	adding := &adding{Intake: x, ctx: ctx, queue: queue, reading: map[string]bool{}}
	items := make(chan *item)          // to copy and triage
	window := make(chan *item, 2*jobs) // the same, in order
	looked := make(chan *item, 2*jobs)
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
			it := &item{source: s, copied: make(chan struct{}), looked: make(chan struct{}), done: make(chan struct{})}
			select {
			case window <- it:
			case <-ctx.Done():
				return
			}
			items <- it
		}
	}()
	go func() {
		defer close(looked)
		for it := range window {
			<-it.copied
			adding.look(it)
			looked <- it
		}
	}()
	var err error
	for it := range looked {
		<-it.done
		if err == nil && context.Cause(ctx) == nil { // otherwise it has ended; the rest is triaged when it arrives again
			adding.put(it)
		}
		if it.copy != nil {
			if failed := it.copy.Close(); it.Err == nil {
				it.Err = failed
			}
		}
		if err != nil || context.Cause(ctx) != nil {
			continue
		}
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

// adding is the state of one call of Add.
type adding struct {
	*Intake
	ctx     context.Context
	queue   Receive         // nil to triage
	reading map[string]bool // hashes of bundles that are read in this call; only look uses it
}

// item is a bundle in progress.
type item struct {
	source Source
	copy   *Kept
	known  *desk.Bundle // if it came before
	read   bool         // it is to be triaged
	Added
	copied, looked, done chan struct{}
}

// work copies a bundle, and triages it if it is new.
func (a *adding) work(it *item) {
	defer close(it.done)
	it.Path = it.source.Path
	if a.queue != nil {
		it.copy, it.Err = a.Keep(a.ctx, it.source)
	} else {
		it.copy, it.Err = summed(it.source)
	}
	failed := it.Err
	close(it.copied) // from here until looked, only look uses the item
	if failed != nil {
		return
	}
	<-it.looked
	it.Left = it.copy.Left
	if it.Err == nil && it.known != nil && it.known.Kept != "" {
		it.Err = a.heal(it)
	}
	if !it.read || it.Err != nil {
		return
	}
	it.Triaged, it.Err = a.Triage(a.ctx, it.copy.File, it.copy.Bundle.Name, false)
	if it.Err != nil || it.Triaged.Copy == nil {
		it.Err = errors.Join(it.Err, a.store(a.ctx, it.source.Name, it.copy))
	}
}

// look decides whether a bundle is to be triaged. With a queue, it records the arrival.
func (a *adding) look(it *item) {
	defer close(it.looked)
	if it.Err != nil {
		return
	}
	if a.queue != nil {
		it.Bundle, it.New, it.Err = a.queue(a.ctx, it.copy.Bundle, it.receipt(a))
		if it.Err == nil && it.Bundle.State == desk.Read && it.Bundle.Kept != it.copy.Bundle.Kept { // a copy without names is stored
			it.Err = a.Blobs.Delete(a.ctx, it.copy.Bundle.Kept)
		}
		if !it.New {
			it.known = it.Bundle
		}
		return
	}
	hash := it.copy.Bundle.Hash
	known, err := a.Store.Bundle(a.ctx, hash)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		it.Err = err
		return
	}
	if !a.reading[hash] {
		it.known, it.read = known, known == nil || known.State == desk.Waiting
	}
	a.reading[hash] = true
}

// heal writes the content of a bundle again if the store's is damaged or missing. If a copy without names was stored,
// the bundle is triaged again, which makes another. A bundle that was set aside waits again.
func (a *adding) heal(it *item) error {
	known := it.known
	content, err := a.Blobs.Open(a.ctx, known.Kept)
	if err == nil {
		_, err = io.Copy(io.Discard, content)
		err = errors.Join(err, content.Close())
	}
	if !errors.Is(err, blobs.ErrDamaged) && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if now, err := a.Store.BundleByID(a.ctx, known.ID); err != nil || now.Kept != known.Kept { // replaced by a copy
		return err
	}
	if err := a.Blobs.Delete(a.ctx, known.Kept); err != nil { // Put would trust it
		return err
	}
	it.Healed = true
	var t *Triaged
	times, err := a.Store.Triages(a.ctx, known.ID)
	if err != nil {
		return err
	}
	if known.Kept != known.Hash {
		if t, err = a.Triage(a.ctx, it.copy.File, it.copy.Bundle.Name, false); err != nil {
			return err
		}
	}
	if t != nil && t.Copy != nil {
		_, err = a.replace(a.ctx, known, t, times, false)
		return err
	}
	if err := a.store(a.ctx, it.source.Name, it.copy); err != nil {
		return err
	}
	return a.Store.Write(a.ctx, func(tx *desk.Tx) error {
		aside, err := tx.TryAgain(a.ctx, known.ID)
		ours := aside
		if known.State == desk.Read {
			ours, err = tx.ClaimAgain(a.ctx, known.ID, times)
		}
		if err != nil || !ours {
			return err
		}
		it.read = it.read || aside && a.queue == nil
		return tx.SetKept(a.ctx, known.ID, it.copy.Bundle.Kept, it.copy.Bundle.KeptBytes)
	})
}

func (it *item) receipt(a *adding) desk.Receipt {
	return desk.Receipt{Name: it.copy.Bundle.Name, Source: a.Source}
}

// errNotKept reports that nothing of a bundle would be stored.
var errNotKept = errors.New("its content is not in the store")

// put records the arrival of a bundle and its readings.
func (a *adding) put(it *item) {
	aside := (*AsideError)(nil)
	switch isAside := errors.As(it.Err, &aside); {
	case it.copy == nil || it.Err != nil && !it.read:
		return
	case isAside:
		it.Aside, it.Err = aside.Why, nil
	case it.Err != nil && it.copy.Bundle.Kept == "":
		return // it could not be stored either
	}
	if a.queue == nil {
		failed := it.Err
		err := a.write(it)
		if errors.Is(err, errNotKept) {
			if err = a.store(a.ctx, it.source.Name, it.copy); err == nil {
				err = a.write(it)
			}
		}
		it.Err = errors.Join(failed, err)
	}
	if it.Bundle != nil && it.Bundle.State == desk.Aside {
		it.Aside = it.Bundle.Why
	}
}

// write writes all data about an item to the store.
func (a *adding) write(it *item) error {
	found := it.read && it.Err == nil && it.Aside == ""
	b := it.copy.Bundle
	if found && it.Triaged.Copy != nil {
		b.Kept, b.KeptBytes = it.Triaged.Copy.Hash, it.Triaged.Copy.Stored
	}
	var (
		bundle  *desk.Bundle
		isNew   bool
		changes []desk.Change
		written bool
	)
	err := a.Store.Write(a.ctx, func(tx *desk.Tx) (err error) {
		if bundle, isNew, err = tx.Receive(a.ctx, b, it.receipt(a)); err != nil {
			return err
		}
		if bundle.Kept == "" {
			return errNotKept
		}
		if written = false; !found && it.Aside == "" {
			return nil
		}
		if written, err = tx.Claim(a.ctx, bundle.ID); err != nil || !written {
			return err
		}
		if it.Aside != "" {
			return tx.SetAside(a.ctx, bundle.ID, it.Aside)
		}
		changes, err = it.Triaged.Write(a.ctx, tx, bundle.ID, a.Tool)
		return err
	})
	if err != nil {
		return err
	}
	it.Bundle, it.New, it.Changes = bundle, isNew, changes
	if found && written {
		return a.Replaced(a.ctx, bundle, it.Triaged)
	}
	return nil
}
