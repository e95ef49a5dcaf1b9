package desk

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report"
)

// Reading is what triage made of one match of a bundle.
type Reading struct {
	Report   *report.Report
	Complete int // how much is known, 0 to 100
}

// Change is what a reading changed.
type Change struct {
	Report int64 // its number
	Match  int   // from 1
	// Group is the code of the group that it is in, empty if no divergence is known.
	Group string
	// NewGroup says that it is the first of its group, CameBack that the group was closed and is
	// open again.
	NewGroup, CameBack bool
	// Before is the document that it replaces, nil for a match that is read for the first time.
	Before *report.Report
}

// Put writes what triage made of a bundle, a reading for each match in order, instead of what it
// made of it before; tool is the version that read it. Counts, groups and the state of the bundle follow.
func (tx *Tx) Put(ctx context.Context, bundle int64, tool string, readings []Reading) ([]Change, error) {
	if len(readings) == 0 {
		return nil, errors.New("a bundle has at least one reading")
	}
	var changes []Change
	for i := range readings {
		c, err := tx.put(ctx, bundle, i+1, tool, &readings[i])
		if err != nil {
			return nil, err
		}
		changes = append(changes, c)
	}
	if err := tx.dropBeyond(ctx, bundle, len(readings)); err != nil {
		return nil, err
	}
	if err := tx.nameFiles(ctx, bundle, readings); err != nil {
		return nil, err
	}
	_, err := tx.run(ctx, "bundle.state", bundle, Read, "")
	return changes, err
}

// counted is what of a report is counted.
type counted struct {
	variant, game, build, day int64
	peers                     int64
	traits                    []int64
}

func (tx *Tx) put(ctx context.Context, bundle int64, match int, tool string, x *Reading) (c Change, err error) {
	r := x.Report
	c.Match = match
	var old counted
	var pinned bool
	var times int64
	err = tx.row(ctx, "report.old", []any{bundle, match}, &c.Report, &old.variant, &pinned, &old.game, &old.build, &old.day, &old.peers, &times)
	again := err == nil
	switch {
	case again:
		if c.Before, err = tx.Document(ctx, c.Report); err != nil {
			return c, err
		}
		if err := tx.forget(ctx, c.Report, &old); err != nil {
			return c, err
		}
	case !errors.Is(err, sql.ErrNoRows):
		return c, err
	}

	now := counted{day: dayOf(r), peers: int64(len(r.Peers))}
	if now.game, err = tx.game(ctx, r.Session.Game); err != nil {
		return c, err
	}
	build := Build{r.Session.Build, now.day}
	if build.Name != "" {
		if err := tx.row(ctx, "build.insert", []any{now.game, build.Name, build.Day}, &now.build); err != nil {
			return c, err
		}
	}
	if now.traits, err = tx.traitsOf(ctx, r); err != nil {
		return c, err
	}
	if pinned {
		now.variant = old.variant
	} else if key, ok := KeyOf(r); ok {
		if now.variant, c.NewGroup, err = tx.variant(ctx, now.game, key, r); err != nil {
			return c, err
		}
	}
	set, err := tx.traitSet(ctx, now.traits)
	if err != nil {
		return c, err
	}
	values := []any{now.variant, r.Status, now.game, now.build, set, r.Session.Seed, now.day, tickOf(r), now.peers, x.Complete, firstSentence(r), tool}
	if again {
		_, err = tx.run(ctx, "report.update", append([]any{c.Report}, values...)...)
	} else {
		err = tx.row(ctx, "report.insert", append([]any{bundle, match, now.variant, false}, values[1:]...), &c.Report)
	}
	if err != nil {
		return c, err
	}
	if err := tx.describe(ctx, c.Report, r); err != nil {
		return c, err
	}
	if now.variant != 0 {
		err = tx.join(ctx, &c, &now, build)
	}
	return c, err
}

// describe writes what belongs to a report alone.
func (tx *Tx) describe(ctx context.Context, id int64, r *report.Report) error {
	body, err := pack(r)
	if err != nil {
		return err
	}
	if _, err := tx.run(ctx, "document.put", id, body); err != nil {
		return err
	}
	for i := range r.Peers {
		if _, err := tx.run(ctx, "report.peer.insert", id, r.Peers[i].Name); err != nil {
			return err
		}
	}
	return nil
}

// forget takes a report out of the counts, and deletes what describes it, but for its row and its
// document.
func (tx *Tx) forget(ctx context.Context, id int64, old *counted) error {
	var err error
	if old.traits, err = tx.reportTraits(ctx, id); err != nil {
		return err
	}
	if _, err := tx.run(ctx, "report.peers.delete", id); err != nil {
		return err
	}
	if old.variant == 0 {
		return nil
	}
	var group int64
	if err := tx.row(ctx, "variant.group", []any{old.variant}, &group); err != nil {
		return err
	}
	if _, err := tx.lockGroup(ctx, group); err != nil {
		return err
	}
	if err := tx.count(ctx, old, -1); err != nil {
		return err
	}
	return tx.refresh(ctx, group)
}

// reportTraits returns the numbers of the traits of a report.
func (tx *Tx) reportTraits(ctx context.Context, id int64) (list []int64, err error) {
	err = tx.each(ctx, "report.traits", []any{id}, func(scan func(...any) error) error {
		var trait int64
		err := scan(&trait)
		list = append(list, trait)
		return err
	})
	return list, err
}

// dropBeyond deletes the reports of matches that a bundle does not have any more.
func (tx *Tx) dropBeyond(ctx context.Context, bundle int64, matches int) error {
	var beyond []int
	err := tx.each(ctx, "report.beyond", []any{bundle, matches}, func(scan func(...any) error) error {
		var match int
		err := scan(&match)
		beyond = append(beyond, match)
		return err
	})
	if err != nil {
		return err
	}
	for _, match := range beyond {
		if err := tx.drop(ctx, bundle, match); err != nil {
			return err
		}
	}
	return nil
}

// drop deletes a report.
func (tx *Tx) drop(ctx context.Context, bundle int64, match int) error {
	var id, times int64
	var old counted
	var pinned bool
	if err := tx.row(ctx, "report.old", []any{bundle, match}, &id, &old.variant, &pinned, &old.game, &old.build, &old.day, &old.peers, &times); err != nil {
		return err
	}
	if err := tx.forget(ctx, id, &old); err != nil {
		return err
	}
	for _, name := range []string{"document.delete", "report.delete"} {
		if _, err := tx.run(ctx, name, id); err != nil {
			return err
		}
	}
	return nil
}

// count adds a report to what is counted of its variant and its game, or takes it out.
func (tx *Tx) count(ctx context.Context, x *counted, by int64) error {
	type step struct {
		name string
		args []any
	}
	steps := []step{{"variant.add", []any{x.variant, by, by * x.peers}}}
	game := func(name string, id int64) {
		steps = append(steps, step{"game.count.add", []any{x.game, name, id, by}})
	}
	game("reports", 0)
	if x.build != 0 {
		steps = append(steps, step{"variant.build.add", []any{x.variant, x.build, by}})
		game("build", x.build)
	}
	if x.day != 0 {
		steps = append(steps, step{"variant.day.add", []any{x.variant, x.day, by}})
		game("day", x.day)
	}
	for _, trait := range x.traits {
		steps = append(steps, step{"variant.trait.add", []any{x.variant, trait, by}})
		game("trait", trait)
	}
	if by < 0 { // filters take a row that is there for some reports
		for _, name := range []string{"variant.builds.empty", "variant.days.empty", "variant.traits.empty"} {
			steps = append(steps, step{name, []any{x.variant}})
		}
	}
	for _, s := range steps {
		if _, err := tx.run(ctx, s.name, s.args...); err != nil {
			return err
		}
	}
	return nil
}

// lockedGroup is what of a group changes when a report joins it.
type lockedGroup struct {
	id                  int64
	code, fixed         string
	state               GroupState
	weak                bool
	firstDay, lastDay   int64
	firstBuild, builtAt int64 // of the first and the last build
}

// lockGroup reads a group that no other transaction changes until this one ends.
func (tx *Tx) lockGroup(ctx context.Context, id int64) (g lockedGroup, err error) {
	name := "group.lock"
	if tx.store.kind == Postgres {
		name = "group.lock.postgres"
	}
	err = tx.row(ctx, name, []any{id}, &g.id, &g.code, &g.state, &g.fixed, &g.weak, &g.firstDay, &g.lastDay, &g.firstBuild, &g.builtAt)
	return g, err
}

// join adds a report to the group of its variant, which is opened again if it was closed before
// the build of the report.
func (tx *Tx) join(ctx context.Context, c *Change, x *counted, build Build) error {
	var group int64
	if err := tx.row(ctx, "variant.group", []any{x.variant}, &group); err != nil {
		return err
	}
	g, err := tx.lockGroup(ctx, group)
	if err != nil {
		return err
	}
	c.Group = g.code
	if err := tx.count(ctx, x, 1); err != nil {
		return err
	}
	var weak bool
	if err := tx.row(ctx, "variant.weak", []any{x.variant}, &weak); err != nil {
		return err
	}
	if x.day != 0 && (g.firstDay == 0 || x.day < g.firstDay) {
		g.firstDay = x.day
	}
	g.lastDay = max(g.lastDay, x.day)
	lastBuild := g.builtAt
	if x.build != 0 {
		if g.firstBuild, err = tx.olderBuild(ctx, g.firstBuild, x.build, build, -1); err != nil {
			return err
		}
		if g.builtAt, err = tx.olderBuild(ctx, g.builtAt, x.build, build, 1); err != nil {
			return err
		}
	}
	if _, err := tx.run(ctx, "group.add", group, x.peers, g.firstDay, g.lastDay, g.firstBuild, g.builtAt, g.weak && weak); err != nil {
		return err
	}
	if c.NewGroup {
		return tx.tell(ctx, NewGroup, group, c.Report, build.Name) // which is open
	}
	if g.state != GroupClosed || x.build == 0 {
		return nil
	}
	// Closed with a build, it comes back in that one or a later one; else in one that is later
	// than all in which it was seen.
	back := g.builtAt != lastBuild
	if g.fixed != "" {
		back = CompareBuilds(build, Build{Name: g.fixed}) >= 0
	}
	if !back {
		return nil
	}
	c.CameBack = true
	if _, err := tx.run(ctx, "group.came-back", group, build.Name); err != nil {
		return err
	}
	if err := tx.tell(ctx, GroupBack, group, c.Report, build.Name); err != nil {
		return err
	}
	_, err = tx.Event(ctx, Event{Who: Tool, What: CameBack, Group: group, About: About{Build: build.Name, Before: &Before{State: GroupClosed, FixedIn: g.fixed}}})
	return err
}

// olderBuild returns which of two builds comes first (sign -1) or last (1); 0 is none.
func (tx *Tx) olderBuild(ctx context.Context, have, id int64, b Build, sign int) (int64, error) {
	if have == 0 || have == id {
		return id, nil
	}
	var h Build
	if err := tx.row(ctx, "build.by-id", []any{have}, &h.Name, &h.Day); err != nil {
		return 0, err
	}
	if CompareBuilds(b, h)*sign > 0 {
		return id, nil
	}
	return have, nil
}

// refresh computes what follows for a group from its variants.
func (tx *Tx) refresh(ctx context.Context, group int64) error {
	var reports, peers, weak, firstDay, lastDay int64
	if err := tx.row(ctx, "group.sums", []any{group}, &reports, &peers, &weak); err != nil {
		return err
	}
	if err := tx.row(ctx, "group.days", []any{group}, &firstDay, &lastDay); err != nil {
		return err
	}
	var first, last Build
	var firstID, lastID int64
	err := tx.each(ctx, "group.builds", []any{group}, func(scan func(...any) error) error {
		var id int64
		var b Build
		if err := scan(&id, &b.Name, &b.Day); err != nil {
			return err
		}
		if firstID == 0 || CompareBuilds(b, first) < 0 {
			firstID, first = id, b
		}
		if lastID == 0 || CompareBuilds(b, last) > 0 {
			lastID, last = id, b
		}
		return nil
	})
	if err != nil {
		return err
	}
	_, err = tx.run(ctx, "group.refresh", group, reports, peers, weak == 1, firstDay, lastDay, firstID, lastID)
	return err
}

// variant returns the variant of a key, which is made if there is none: in the group that has
// its coarse key, or in a new one.
func (tx *Tx) variant(ctx context.Context, game int64, key Key, r *report.Report) (id int64, newGroup bool, err error) {
	var group int64
	err = tx.row(ctx, "variant.find", []any{game, key.Coarse, key.Strict}, &id, &group)
	if !errors.Is(err, sql.ErrNoRows) {
		return id, false, err
	}
	err = tx.row(ctx, "key.find", []any{game, key.Coarse}, &group)
	if errors.Is(err, sql.ErrNoRows) {
		group, newGroup, err = tx.newGroup(ctx, game, key, r)
	}
	if err != nil {
		return 0, false, err
	}
	if err := tx.row(ctx, "variant.insert", []any{game, key.Coarse, key.Strict, group, key.Title, key.Weak}, &id, &group); err != nil {
		return 0, false, err
	}
	for _, f := range r.Fingerprints {
		if _, err := tx.run(ctx, "print.insert", id, f.Level, f.Digest, f.Name); err != nil {
			return 0, false, err
		}
	}
	return id, newGroup, nil
}

// newGroup makes the group of a coarse key. Its code is the first digits of the key, as many as no
// other group has.
func (tx *Tx) newGroup(ctx context.Context, game int64, key Key, r *report.Report) (id int64, isNew bool, err error) {
	for n := 8; n <= len(key.Coarse); n++ {
		code := key.Coarse[:n]
		err = tx.row(ctx, "group.insert", []any{code, game, key.Title, key.Weak, searchText(append([]string{key.Title, code}, printNames(r)...))}, &id)
		if !errors.Is(err, sql.ErrNoRows) {
			break
		}
		// Another transaction may have made the very group.
		if err = tx.row(ctx, "key.find", []any{game, key.Coarse}, &id); err == nil {
			return id, false, nil
		}
	}
	if err != nil {
		return 0, false, err
	}
	_, err = tx.run(ctx, "key.insert", game, key.Coarse, id)
	return id, true, err
}

// printNames are what the fingerprints of a report are made of.
func printNames(r *report.Report) (names []string) {
	for _, f := range r.Fingerprints {
		names = append(names, f.Name)
	}
	return names
}

// maxSearch is how long a text may be by which a group is found.
const maxSearch = 4000

// searchText returns what a group is found by: some texts, each once, in lower case.
func searchText(texts []string) string {
	var once []string
	for _, text := range texts {
		if text = strings.ToLower(text); !slices.Contains(once, text) {
			once = append(once, text)
		}
	}
	return prose.Shorten(strings.Join(once, " "), maxSearch)
}

// game returns the number of a game.
func (tx *Tx) game(ctx context.Context, name string) (id int64, err error) {
	if id, ok := tx.games[name]; ok {
		return id, nil
	}
	if err = tx.row(ctx, "game.find", []any{name}, &id); errors.Is(err, sql.ErrNoRows) {
		err = tx.row(ctx, "game.insert", []any{name}, &id)
	}
	if err == nil {
		tx.games[name] = id
	}
	return id, err
}

// Limits of what is kept of facts.
const (
	maxTraits     = 48
	maxTraitValue = 120
	maxVerdict    = 240
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
func (tx *Tx) traitsOf(ctx context.Context, r *report.Report) ([]int64, error) {
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

// dayOf returns when a match was played, in days since 1970; 0 if that is not known.
func dayOf(r *report.Report) int64 {
	if r.Session.Played == nil {
		return 0
	}
	t, err := time.Parse(time.RFC3339, r.Session.Played.First)
	if err != nil {
		return 0
	}
	return max(0, t.Unix()/(24*60*60))
}

// tickOf returns the divergent tick, or the first that it may be, -1 if that is not known.
func tickOf(r *report.Report) int64 {
	d := r.FirstDivergence
	switch {
	case d == nil:
	case d.Tick != nil:
		return int64(*d.Tick)
	case d.Bracket != nil && d.Bracket.Good != nil:
		return int64(*d.Bracket.Good)
	}
	return -1
}

// firstSentence is what a list shows of a report.
func firstSentence(r *report.Report) string {
	if len(r.Verdict) == 0 {
		return ""
	}
	return prose.Shorten(r.Verdict[0], maxVerdict)
}

// Document returns what triage wrote of a match.
func (tx *Tx) Document(ctx context.Context, id int64) (*report.Report, error) {
	var body []byte
	if err := tx.row(ctx, "document.get", []any{id}, &body); err != nil {
		return nil, fmt.Errorf("report %d: %w", id, err)
	}
	return unpack(body)
}

// Document returns what triage wrote of a match, by the number of its report; sql.ErrNoRows if
// there is none.
func (s *Store) Document(ctx context.Context, id int64) (*report.Report, error) {
	var body []byte
	if err := s.row(ctx, "document.get", []any{id}, &body); err != nil {
		return nil, fmt.Errorf("report %d: %w", id, err)
	}
	return unpack(body)
}
