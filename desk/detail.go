package desk

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
)

// How much of a group a page contains.
const (
	maxVariants   = 20
	maxBest       = 3
	maxNear       = 5
	maxEvents     = 100
	maxCandidates = 200 // groups that share one fingerprint, from which the nearest are taken
)

// GroupDetail is everything that a group's page shows.
type GroupDetail struct {
	Group
	// Variants are the exact fingerprints, the one with the most reports first. VariantCount counts all.
	Variants     []Variant `json:"variants"`
	VariantCount int64     `json:"variant_count"`
	Builds       []Count   `json:"builds"` // from old to new
	Days         []Count   `json:"days"`   // from old to new
	// Platforms are facts about the game and the machines from the files. Facts that set the group apart come first.
	// Looked is how many of them were compared with other groups.
	Platforms []Platform `json:"platforms"`
	Looked    int        `json:"looked"`
	Kinds     []Count    `json:"kinds"`
	// LikelyCauses are the classes of likeliest causes in the reports, the most frequent first.
	LikelyCauses []Count `json:"causes"`
	// Best are the reports with the most complete data; open the first one first.
	Best []Best `json:"best"`
	// Send lists the evidence that would help most, by how many of the best reports lack it. Missing is evidence that
	// is lost or missing in them.
	Send    []Wanted `json:"send"`
	Missing []Wanted `json:"missing"`
	// Unplaced means that none of its reports has a step, a field or a cause, so other groups may be the same bug. Near
	// are the nearest of these. KindOnly means that only the kind is known, which is not enough to search for them.
	Unplaced bool   `json:"unplaced"`
	Near     []Near `json:"near"`
	KindOnly bool   `json:"kind_only,omitempty"`
	// Events are the edits of the group, newest first. EventCount counts all.
	Events     []Event `json:"-"`
	EventCount int64   `json:"event_count"`
}

// Variant is a set of reports with the same exact fingerprint.
type Variant struct {
	ID      int64  `json:"id"`
	Key     string `json:"key"`         // its key when it joined the group, 16 hex digits
	Strict  string `json:"fingerprint"` // empty if too little is known for one
	Title   string `json:"title"`
	Weak    bool   `json:"weak"`
	Reports int64  `json:"matches"`
	Peers   int64  `json:"peers"`
}

// Count is how many reports have a value.
type Count struct {
	Name    string `json:"name"`
	Reports int64  `json:"matches"`
}

// Platform is a fact from files, with a comparison: the group against all other diverged reports of the game that
// contain the fact.
type Platform struct {
	Fact  string `json:"fact"`
	Value string `json:"value"`
	Table
	// Odds is nil if there is nothing to compare: no other report contains the fact, or all or none have the value.
	Odds *Odds `json:"odds"`
	// SetsApart means that the difference is not by chance, even for the number of facts that were examined.
	SetsApart bool `json:"sets_apart"`
}

// Best is a report with much information.
type Best struct {
	Report
	Why      []string         `json:"why"` // the known facts, in a few words each, the most important first
	Document *document.Report `json:"-"`
}

// Wanted is evidence that reports lack.
type Wanted struct {
	What string `json:"what"`
	In   int    `json:"reports"` // how many of the best lack it
}

// Near is a group that shares fingerprints with another one.
type Near struct {
	Code   string   `json:"code"`
	Called string   `json:"title"`
	Levels []string `json:"shared"` // the shared levels, from coarse to fine
	Names  []string `json:"names"`  // the names in these levels
}

// Group returns all details of a group by its code or the first digits of it, else an *UnknownGroupError.
func (s *Store) Group(ctx context.Context, code string) (*GroupDetail, error) {
	g, err := s.groupByCode(ctx, code)
	if err != nil {
		return nil, err
	}
	d := &GroupDetail{Group: *g, Variants: []Variant{}, Builds: []Count{}, Days: []Count{}, Platforms: []Platform{}, Kinds: []Count{}, LikelyCauses: []Count{},
		Best: []Best{}, Send: []Wanted{}, Missing: []Wanted{}, Near: []Near{}}
	for _, read := range []func(context.Context, *GroupDetail) error{s.readVariants, s.readBuilds, s.readDays, s.readTraits, s.readBest, s.readNear, s.readEvents} {
		if err := read(ctx, d); err != nil {
			return nil, err
		}
	}
	return d, nil
}

func (s *Store) readVariants(ctx context.Context, d *GroupDetail) (err error) {
	if d.VariantCount, err = s.one(ctx, "detail.variants.count", d.ID); err != nil {
		return err
	}
	return s.each(ctx, "detail.variants", []any{d.ID, maxVariants}, func(scan func(...any) error) error {
		var v Variant
		err := scan(&v.ID, &v.Key, &v.Strict, &v.Title, &v.Weak, &v.Reports, &v.Peers)
		d.Variants = append(d.Variants, v)
		return err
	})
}

func (s *Store) readBuilds(ctx context.Context, d *GroupDetail) error {
	var builds []Build
	counts := map[string]int64{}
	err := s.each(ctx, "detail.builds", []any{d.ID}, func(scan func(...any) error) error {
		var b Build
		var n int64
		err := scan(&b.Name, &b.Day, &n)
		builds, counts[b.Name] = append(builds, b), counts[b.Name]+n
		return err
	})
	slices.SortFunc(builds, CompareBuilds)
	d.Builds = append(d.Builds, lists.Map(builds, func(b Build) Count { return Count{b.Name, counts[b.Name]} })...)
	return err
}

func (s *Store) readDays(ctx context.Context, d *GroupDetail) error {
	return s.each(ctx, "detail.days", []any{d.ID}, func(scan func(...any) error) error {
		var day, n int64
		err := scan(&day, &n)
		d.Days = append(d.Days, Count{Day(day), n})
		return err
	})
}

// readTraits reads the facts in the group's reports, and compares them with the other reports.
func (s *Store) readTraits(ctx context.Context, d *GroupDetail) error {
	type key struct{ name, value string }
	own, all := map[key]int64{}, map[key]int64{}
	var ids []int64
	err := s.each(ctx, "detail.traits", []any{d.ID}, func(scan func(...any) error) error {
		var id, n int64
		var k key
		err := scan(&id, &k.name, &k.value, &n)
		ids, own[k] = append(ids, id), n
		switch k.name {
		case traitKind:
			d.Kinds = append(d.Kinds, Count{k.value, n})
		case traitCause:
			d.LikelyCauses = append(d.LikelyCauses, Count{k.value, n})
		}
		return err
	})
	if err != nil || len(ids) == 0 {
		return err
	}
	for _, list := range [][]Count{d.Kinds, d.LikelyCauses} {
		lists.SortStable(list, func(a, b Count) int { return cmp.Compare(b.Reports, a.Reports) })
	}
	err = s.eachOfIDs(ctx, "detail.game-traits", ids, []any{d.game}, func(scan func(...any) error) error {
		var id, n int64
		var k key
		if err := scan(&id, &k.name, &k.value, &n); err != nil || strings.HasPrefix(k.name, ".") || k.value == "" {
			if err == nil {
				all[k] = n
			}
			return err
		}
		any := key{k.name, ""}
		t := Table{With: own[k], Of: own[any], OthersWith: n - own[k], OthersOf: all[any] - own[any]} // "" comes first
		d.Platforms = append(d.Platforms, Platform{Fact: k.name, Value: k.value, Table: t})
		return nil
	})
	d.compare()
	return err
}

// compare computes the odds of each fact that can be compared: other reports contain it, and neither all nor none have
// the value.
func (d *GroupDetail) compare() {
	for i := range d.Platforms {
		p := &d.Platforms[i]
		if with := p.With + p.OthersWith; p.Of > 0 && p.OthersOf > 0 && with > 0 && with < p.Of+p.OthersOf {
			o := p.Table.Odds()
			p.Odds = &o
			d.Looked++
		}
	}
	far := func(p *Platform) float64 {
		if p.Odds == nil {
			return 0
		}
		return p.Odds.Far()
	}
	for i := range d.Platforms {
		p := &d.Platforms[i]
		p.SetsApart = p.Odds != nil && p.Odds.SetsApart(d.Looked)
	}
	d.Platforms = slices.DeleteFunc(d.Platforms, func(p Platform) bool { return p.With == 0 && !p.SetsApart })
	lists.SortStable(d.Platforms, func(a, b Platform) int {
		if a.SetsApart != b.SetsApart {
			if a.SetsApart {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(far(&b), far(&a)), cmp.Compare(a.Fact, b.Fact), cmp.Compare(b.With, a.With), cmp.Compare(a.Value, b.Value))
	})
}

// readBest reads the most complete reports, and the evidence that they lack.
func (s *Store) readBest(ctx context.Context, d *GroupDetail) error {
	ids, err := valuesOf[int64](ctx, s, "detail.best", d.ID, maxBest)
	if err != nil {
		return err
	}
	// The best reports of the group are among the best reports of its best variants.
	var all []int64
	for _, id := range ids {
		variant, err := s.one(ctx, "detail.variant-of", id)
		if err != nil {
			return err
		}
		more, err := valuesOf[int64](ctx, s, "detail.best.variants", variant, maxBest)
		if err != nil {
			return err
		}
		all = append(all, more...)
	}
	if len(all) == 0 {
		return nil
	}
	var w where
	w.ids("r.id IN ({{ids}})", all)
	err = s.reports(ctx, &w, fmt.Sprintf("r.complete DESC, r.id LIMIT %d", maxBest), func(r *Report) { d.Best = append(d.Best, Best{Report: *r}) })
	if err != nil {
		return err
	}
	send, missing := wanted{}, wanted{}
	for i := range d.Best {
		b := &d.Best[i]
		if b.Document, err = s.Document(ctx, b.ID); err != nil {
			return err
		}
		if _, b.Why = b.Document.Completeness(); b.Why == nil {
			b.Why = []string{}
		}
		for _, r := range b.Document.Send {
			send.add(i, r.What)
		}
		for _, what := range b.Document.Missing {
			missing.add(i, what)
		}
	}
	d.Send, d.Missing = send.list(), missing.list()
	return nil
}

// wanted counts the evidence that reports lack, once per report.
type wanted struct {
	order []string
	in    map[string][]int
}

func (w *wanted) add(i int, what string) {
	if w.in == nil {
		w.in = map[string][]int{}
	}
	if w.in[what] == nil {
		w.order = append(w.order, what)
	}
	if !slices.Contains(w.in[what], i) {
		w.in[what] = append(w.in[what], i)
	}
}

// list returns the most wanted evidence first. In a tie it uses the order of the best report.
func (w *wanted) list() []Wanted {
	list := []Wanted{}
	list = append(list, lists.Map(w.order, func(what string) Wanted { return Wanted{what, len(w.in[what])} })...)
	lists.SortStable(list, func(a, b Wanted) int { return cmp.Compare(b.In, a.In) })
	return list
}

// readNear searches for groups that share fingerprints with an unplaced group, starting with the finest level. The
// level of the kind alone is not enough, because most groups of the game share it.
func (s *Store) readNear(ctx context.Context, d *GroupDetail) error {
	type print struct{ level, digest string }
	names := map[print]string{}
	var prints []print
	err := s.each(ctx, "detail.prints", []any{d.ID}, func(scan func(...any) error) error {
		var p print
		var name string
		err := scan(&p.level, &p.digest, &name)
		prints, names[p] = append(prints, p), name
		return err
	})
	if err != nil {
		return err
	}
	d.Unplaced = !slices.ContainsFunc(prints, func(p print) bool { return document.Level(p.level).Seen() })
	if !d.Unplaced {
		return nil
	}
	rank := func(level string) int { return slices.Index(document.Levels(), document.Level(level)) }
	slices.SortFunc(prints, func(a, b print) int {
		return cmp.Or(cmp.Compare(rank(b.level), rank(a.level)), cmp.Compare(a.digest, b.digest))
	})
	d.KindOnly = true
	var candidates []int64
	for _, p := range prints {
		if p.level == string(document.LevelKind) {
			continue
		}
		d.KindOnly = false
		ids, err := valuesOf[int64](ctx, s, "detail.near", p.digest, d.ID, maxCandidates)
		if err != nil {
			return err
		}
		candidates = append(candidates, ids...)
		if len(candidates) >= maxCandidates {
			break
		}
	}
	if len(candidates) == 0 {
		return nil
	}
	slices.Sort(candidates)
	candidates = slices.Compact(candidates)
	shared := map[int64][]print{}
	err = s.eachOfIDs(ctx, "detail.shared", candidates, nil, func(scan func(...any) error) error {
		var id int64
		var p print
		err := scan(&id, &p.level, &p.digest)
		if _, has := names[p]; has {
			shared[id] = append(shared[id], p)
		}
		return err
	})
	if err != nil {
		return err
	}
	for _, list := range shared {
		slices.SortFunc(list, func(a, b print) int {
			return cmp.Or(cmp.Compare(rank(a.level), rank(b.level)), cmp.Compare(a.digest, b.digest))
		})
	}
	candidates = slices.DeleteFunc(candidates, func(id int64) bool { return len(shared[id]) == 0 })
	slices.SortFunc(candidates, func(a, b int64) int {
		last := func(id int64) int { return rank(shared[id][len(shared[id])-1].level) }
		return cmp.Or(cmp.Compare(len(shared[b]), len(shared[a])), cmp.Compare(last(b), last(a)), cmp.Compare(a, b))
	})
	candidates = candidates[:min(len(candidates), maxNear)]
	var w where
	w.ids("g.id IN ({{ids}})", candidates)
	found := map[int64]Near{}
	err = s.groups(ctx, &w, "g.id", func(g *Group) {
		n := Near{Code: g.Code, Called: g.Called()}
		for _, p := range shared[g.ID] {
			n.Levels, n.Names = append(n.Levels, p.level), append(n.Names, names[p])
		}
		found[g.ID] = n
	})
	d.Near = append(d.Near, lists.Map(candidates, func(id int64) Near { return found[id] })...)
	return err
}

func (s *Store) readEvents(ctx context.Context, d *GroupDetail) (err error) {
	if d.EventCount, err = s.one(ctx, "detail.events.count", d.ID); err != nil {
		return err
	}
	return s.each(ctx, "detail.events", []any{d.ID, maxEvents}, func(scan func(...any) error) error {
		e, err := scanEvent(scan)
		d.Events = append(d.Events, e)
		return err
	})
}
