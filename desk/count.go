package desk

import "context"

// counted are the parts of a report that are counted.
type counted struct {
	variant, game, build, day int64
	peers                     int64
	traits                    []int64
}

// count adds a report to the counts of its variant and its game, or removes it.
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
	if by < 0 { // filters take a row as present for some reports
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

// lockedGroup is the part of a group that changes when a report joins it.
type lockedGroup struct {
	id                  int64
	code, fixed         string
	state               GroupState
	weak                bool
	firstDay, lastDay   int64
	firstBuild, builtAt int64 // of the first and the last build
}

// lockGroup reads a group that no other transaction can change until this one ends.
func (tx *Tx) lockGroup(ctx context.Context, id int64) (g lockedGroup, err error) {
	name := "group.lock"
	if tx.store.kind == Postgres {
		name = "group.lock.postgres"
	}
	err = tx.row(ctx, name, []any{id}, &g.id, &g.code, &g.state, &g.fixed, &g.weak, &g.firstDay, &g.lastDay, &g.firstBuild, &g.builtAt)
	return g, err
}

// join adds a report to the group of its variant. The group is reopened if it was closed before the build of the
// report.
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
	// If it was closed with a build, it comes back in that build or a later one. Otherwise it comes back in a build
	// that is later than all in which it was seen.
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

// olderBuild returns the first (sign -1) or last (sign 1) of two builds; 0 means none.
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

// refresh computes the derived data of a group from its variants.
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
