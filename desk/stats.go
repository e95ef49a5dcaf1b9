package desk

import (
	"context"
	"github.com/desynctool/desynctool/internal/lists"
	"slices"
)

// Stats counts the content of a store.
type Stats struct {
	Bundles  []BundleCount `json:"bundles"`  // by state
	Receipts int64         `json:"receipts"` // number of arrivals
	Reports  []Count       `json:"reports"`  // by status
	Groups   []Count       `json:"groups"`   // by state
	Weak     int64         `json:"weak"`     // groups that are too little known to distinguish them from others
	Games    []GameCount   `json:"games"`    // by groups, most matches first
	// Builds are the matches that diverged, from old to new. Builds with the same name in several games are added.
	Builds    []Count `json:"builds"`
	Systems   []Count `json:"systems"` // operating systems in the files; a match may have several
	FirstDay  string  `json:"first_day,omitempty"`
	LastDay   string  `json:"last_day,omitempty"`
	Bytes     int64   `json:"bytes"`      // of the received content, each bundle once
	KeptBytes int64   `json:"kept_bytes"` // of the stored content
}

// BundleCount is the number and size of the bundles in a state.
type BundleCount struct {
	State     State `json:"state"`
	Bundles   int64 `json:"bundles"`
	Bytes     int64 `json:"bytes"`
	KeptBytes int64 `json:"kept_bytes"`
}

// GameCount is the number of groups and diverged matches of a game.
type GameCount struct {
	Name    string `json:"name"`
	Groups  int64  `json:"groups"`
	Reports int64  `json:"matches"`
}

// Of returns the number of bundles in a state.
func (x *Stats) Of(state State) int64 {
	for _, b := range x.Bundles {
		if b.State == state {
			return b.Bundles
		}
	}
	return 0
}

// Stats counts the content of the store.
func (s *Store) Stats(ctx context.Context) (*Stats, error) {
	x := &Stats{Bundles: []BundleCount{}, Games: []GameCount{}}
	err := s.each(ctx, "stats.bundles", nil, func(scan func(...any) error) error {
		var b BundleCount
		err := scan(&b.State, &b.Bundles, &b.Bytes, &b.KeptBytes)
		x.Bundles = append(x.Bundles, b)
		x.Bytes, x.KeptBytes = x.Bytes+b.Bytes, x.KeptBytes+b.KeptBytes
		return err
	})
	if err != nil {
		return nil, err
	}
	if x.Receipts, err = s.one(ctx, "stats.receipts"); err != nil {
		return nil, err
	}
	if x.Weak, err = s.one(ctx, "stats.weak"); err != nil {
		return nil, err
	}
	for _, of := range []struct {
		name string
		list *[]Count
	}{{"stats.reports", &x.Reports}, {"stats.groups", &x.Groups}, {"stats.os", &x.Systems}} {
		*of.list = []Count{}
		err := s.each(ctx, of.name, nil, func(scan func(...any) error) error {
			var c Count
			err := scan(&c.Name, &c.Reports)
			*of.list = append(*of.list, c)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	err = s.each(ctx, "stats.games", nil, func(scan func(...any) error) error {
		var g GameCount
		err := scan(&g.Name, &g.Groups, &g.Reports)
		x.Games = append(x.Games, g)
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := s.each(ctx, "stats.days", nil, func(scan func(...any) error) error {
		var day, n int64
		err := scan(&day, &n)
		if x.LastDay = Day(day); x.FirstDay == "" {
			x.FirstDay = x.LastDay
		}
		return err
	}); err != nil {
		return nil, err
	}
	x.Builds, err = s.buildCounts(ctx)
	return x, err
}

// buildCounts returns how many reports of each build diverged, from old to new.
func (s *Store) buildCounts(ctx context.Context) ([]Count, error) {
	var builds []Build
	counts := map[string]int64{}
	err := s.each(ctx, "stats.builds", nil, func(scan func(...any) error) error {
		var b Build
		var n int64
		err := scan(&b.Name, &b.Day, &n)
		if counts[b.Name] == 0 {
			builds = append(builds, b)
		}
		counts[b.Name] += n
		return err
	})
	slices.SortFunc(builds, CompareBuilds)
	list := []Count{}
	list = append(list, lists.Map(builds, func(b Build) Count { return Count{b.Name, counts[b.Name]} })...)
	return list, err
}
