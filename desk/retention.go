package desk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/desynctool/desynctool/desk/blobs"
)

// Retention limits which bundles stay in a store. A zero value means no limit.
type Retention struct {
	// KeepFor is how long a bundle stays after its last arrival.
	KeepFor time.Duration
	// AtMost is how many bundles stay. Bytes is their maximum size in the store.
	AtMost, Bytes int64
	// KeepBest is how many bundles of each group always stay: the most complete ones.
	KeepBest int
	// Busy are the numbers of bundles with an unfinished job. They stay, and so do bundles that wait for their first
	// job.
	Busy []int64
	// Reports means that the reports of a bundle are deleted too, together with the bundle's row and its receipts.
	Reports bool
	// DryRun changes nothing.
	DryRun bool
}

// young is how long a bundle and a blob always stay. A blob without a row may have just been written, before its row.
// Package blobs rewrites a blob that is older than half of that.
const young = 24 * time.Hour

// PruneReason is the reason why a bundle is deleted.
type PruneReason string

// The reasons.
const (
	PrunedByAge   PruneReason = "age"   // older than KeepFor
	PrunedByCount PruneReason = "count" // more than AtMost
	PrunedByBytes PruneReason = "bytes" // more than Bytes
)

// PruneClass is the order in which bundles are deleted: a smaller class before a larger one.
type PruneClass int

// Classes of bundles, by the state of their groups. A bundle in several groups has the largest of their classes.
const (
	OfClosed  PruneClass = iota
	OfIgnored            // groups that are ignored
	OfNone               // no group: no divergence is known, or the bundle was set aside
	OfOpen
)

var pruneClasses = [...]string{"closed", "ignored", "no group", "open"}

func (c PruneClass) String() string { return pruneClasses[c] }

// MarshalText writes a class by its name.
func (c PruneClass) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// PrunedBundle is a bundle that is deleted.
type PrunedBundle struct {
	Hash   string      `json:"hash"`
	Name   string      `json:"name"`
	Stored int64       `json:"stored"` // bytes of its blob
	Came   time.Time   `json:"came"`   // last arrival
	Class  PruneClass  `json:"class"`
	Groups []string    `json:"groups,omitempty"` // codes
	Reason PruneReason `json:"reason"`

	id   int64
	kept string
}

// Pruned is what Prune deleted, or would delete.
type Pruned struct {
	DryRun  bool           `json:"dry_run"`
	Reports bool           `json:"reports"` // reports are deleted too
	Bundles []PrunedBundle `json:"bundles"` // in the order of deletion
	// Unknown are blobs that no bundle needs and that are older than a day. Programs that were killed between the two
	// steps left them.
	Unknown []string `json:"unknown"`
	// Stay is how many bundles still have a blob afterwards, StayBytes their size.
	Stay      int64 `json:"stay"`
	StayBytes int64 `json:"stay_bytes"`
	// Waiting, Young and Best count the bundles that always stay: they are to be triaged, arrived less than a day ago,
	// or are the most complete ones in a group.
	Waiting int64 `json:"waiting"`
	Young   int64 `json:"young"`
	Best    int64 `json:"best"`
	// Beyond are the limits that are still exceeded because of those bundles.
	Beyond []PruneReason `json:"beyond,omitempty"`
}

// candidate is a bundle that Prune considers.
type candidate struct {
	PrunedBundle
	state  State
	best   bool
	counts bool // it has a blob
}

// Prune deletes bundles until the rest is within r: first bundles of closed groups, then of ignored groups, then
// without a group, and finally of open groups. In each class, bundles that arrived longest ago are deleted first. The
// groups' data and the reports stay, unless r.Reports is set.
//
// Prune first records in the row that its bundle is deleted, then deletes the blob. If the program is killed between
// the two steps, the blob belongs to no bundle, and the next Prune removes it.
func Prune(ctx context.Context, s *Store, b blobs.Store, r Retention) (*Pruned, error) {
	list, err := s.candidates(ctx, &r)
	if err != nil {
		return nil, err
	}
	p := choose(list, &r, s.Now())
	if err := s.unknown(ctx, b, p); err != nil {
		return nil, err
	}
	if r.DryRun {
		return p, nil
	}
	const atOnce = 100
	for part := range slices.Chunk(p.Bundles, atOnce) {
		if err := s.prune(ctx, b, part, r.Reports); err != nil {
			return p, err
		}
	}
	for _, hash := range p.Unknown {
		if _, err := s.dropBlob(ctx, b, hash); err != nil {
			return p, err
		}
	}
	return p, nil
}

// candidates returns all bundles in the order of deletion.
func (s *Store) candidates(ctx context.Context, r *Retention) ([]*candidate, error) {
	var list []*candidate
	byID := map[int64]*candidate{}
	err := s.each(ctx, "prune.bundles", []any{r.Reports}, func(scan func(...any) error) error {
		c := &candidate{}
		var at int64
		if err := scan(&c.id, &c.Hash, &c.Name, &c.kept, &c.Stored, &c.state, &at); err != nil {
			return err
		}
		c.Came, c.Class, c.counts = time.UnixMicro(at).UTC(), -1, c.kept != ""
		list = append(list, c)
		byID[c.id] = c
		return nil
	})
	if err != nil {
		return nil, err
	}
	best := map[int64]int{} // how many of each group stay
	err = s.each(ctx, "prune.groups", nil, func(scan func(...any) error) error {
		var bundle, group int64
		var code string
		var state GroupState
		var complete int
		if err := scan(&bundle, &group, &code, &state, &complete); err != nil {
			return err
		}
		c := byID[bundle]
		if c == nil {
			return nil
		}
		c.Groups = append(c.Groups, code)
		c.Class = max(c.Class, classOf(state))
		if c.counts && best[group] < r.KeepBest {
			best[group]++
			c.best = true
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	for _, c := range list {
		if c.Class < 0 {
			c.Class = OfNone
		}
		slices.Sort(c.Groups)
	}
	slices.SortFunc(list, func(a, b *candidate) int {
		return cmp.Or(cmp.Compare(a.Class, b.Class), a.Came.Compare(b.Came), cmp.Compare(a.id, b.id))
	})
	return list, nil
}

func classOf(s GroupState) PruneClass {
	switch s {
	case GroupClosed:
		return OfClosed
	case GroupIgnored:
		return OfIgnored
	}
	return OfOpen
}

// choose decides which bundles are deleted.
func choose(list []*candidate, r *Retention, now time.Time) *Pruned {
	p := &Pruned{DryRun: r.DryRun, Reports: r.Reports, Bundles: []PrunedBundle{}, Unknown: []string{}}
	for _, c := range list {
		if c.counts {
			p.Stay++
			p.StayBytes += c.Stored
		}
	}
	var free []*candidate
	busy := map[int64]bool{}
	for _, id := range r.Busy {
		busy[id] = true
	}
	for _, c := range list {
		switch {
		case c.state == Waiting || busy[c.id]:
			p.Waiting++
		case now.Sub(c.Came) < young:
			p.Young++
		case c.best:
			p.Best++
		default:
			free = append(free, c)
		}
	}
	goes := func(c *candidate, why PruneReason) {
		c.Reason = why
		if c.counts {
			p.Stay--
			p.StayBytes -= c.Stored
		}
	}
	for _, c := range free { // from all classes, before others are counted
		if r.KeepFor > 0 && now.Sub(c.Came) > r.KeepFor {
			goes(c, PrunedByAge)
		}
	}
	for _, c := range free {
		switch {
		case c.Reason != "" || !c.counts:
		case r.AtMost > 0 && p.Stay > r.AtMost:
			goes(c, PrunedByCount)
		case r.Bytes > 0 && p.StayBytes > r.Bytes:
			goes(c, PrunedByBytes)
		}
		if c.Reason != "" {
			p.Bundles = append(p.Bundles, c.PrunedBundle)
		}
	}
	if r.AtMost > 0 && p.Stay > r.AtMost {
		p.Beyond = append(p.Beyond, PrunedByCount)
	}
	if r.Bytes > 0 && p.StayBytes > r.Bytes {
		p.Beyond = append(p.Beyond, PrunedByBytes)
	}
	return p
}

// prune deletes bundles: their rows in one transaction, then their blobs.
func (s *Store) prune(ctx context.Context, b blobs.Store, list []PrunedBundle, reports bool) error {
	var gone []string
	err := s.Write(ctx, func(tx *Tx) error {
		gone = nil
		for i := range list {
			c := &list[i]
			n, err := tx.run(ctx, "bundle.drop-kept", c.id, c.kept, c.Came.UnixMicro())
			if err != nil {
				return err
			}
			if n == 0 {
				continue // it arrived again meanwhile, or is being triaged again
			}
			if c.kept != "" {
				gone = append(gone, c.kept)
			}
			if !reports {
				continue
			}
			if err := tx.dropBundle(ctx, c.id); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, hash := range gone {
		if _, err := s.dropBlob(ctx, b, hash); err != nil {
			return fmt.Errorf("bundle %s is deleted in the store, and its content is not yet; another prune does that: %w", hash, err)
		}
	}
	return nil
}

// dropBundle deletes a bundle with its reports, its receipts, and the links to them.
func (tx *Tx) dropBundle(ctx context.Context, id int64) error {
	if err := tx.dropBeyond(ctx, id, 0); err != nil {
		return err
	}
	return tx.runAll(ctx, id, "shares.delete", "receipts.delete", "bundle.delete")
}

// dropBlob deletes a blob if no bundle needs it and it was not written for a day.
func (s *Store) dropBlob(ctx context.Context, b blobs.Store, hash string) (gone bool, err error) {
	needed, err := s.needed(ctx, hash)
	if err != nil || needed {
		return false, err
	}
	return b.DeleteBefore(ctx, hash, s.Now().Add(-young))
}

func (s *Store) needed(ctx context.Context, hash string) (bool, error) {
	var n int64
	err := s.row(ctx, "blob.needed", []any{hash}, &n)
	return n > 0, err
}

// unknown finds the blobs that no bundle needs.
func (s *Store) unknown(ctx context.Context, b blobs.Store, p *Pruned) error {
	return s.unneeded(ctx, b, func(info blobs.Info) { p.Unknown = append(p.Unknown, info.Hash) })
}

// unneeded calls f for each blob that no bundle needs and that was not written for a day.
func (s *Store) unneeded(ctx context.Context, b blobs.Store, f func(blobs.Info)) error {
	before := s.Now().Add(-young)
	for info, err := range b.List(ctx) {
		if err != nil {
			return err
		}
		if !info.Kept.Before(before) {
			continue
		}
		needed, err := s.needed(ctx, info.Hash)
		if err != nil {
			return err
		}
		if !needed {
			f(info)
		}
	}
	return nil
}
