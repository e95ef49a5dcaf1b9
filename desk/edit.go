package desk

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
)

// Editor corrects groups on behalf of a person. Each of its methods creates one event, which Undo reverts, and returns
// a description of the edit. Groups are named by their codes, or by their first digits if these are unique.
type Editor struct {
	Store *Store
	Who   string // name for the events; never empty
}

// Done describes an edit that was made.
type Done struct {
	Event int64 // number with which it can be undone
	What  What
	Group string // code of the edited group; for a split the new group
	Other string // code of the other group of a merge, a split or a move
	Count int    // number of variants or reports that were moved
}

// Limits of texts that people write.
const (
	maxName = 200
	maxNote = 10_000
	maxLink = 2_000
)

// UnknownGroupError reports that a code matches no group, or several.
type UnknownGroupError struct {
	Code string
	Some []string // codes that begin with it, if there are several
}

func (e *UnknownGroupError) Error() string {
	if len(e.Some) > 0 {
		return fmt.Sprintf("group %s: several begin so: %s", e.Code, strings.Join(e.Some, ", "))
	}
	return fmt.Sprintf("group %s: there is none; desynctool desk list has them", e.Code)
}

// groupRow is the part of a group that edits change.
type groupRow struct {
	id, game, mergedIn int64
	code, title, name  string
	state              GroupState
	fixedIn, cameBack  string
}

func (g *groupRow) scan(scan func(...any) error) error {
	return scan(&g.id, &g.code, &g.game, &g.state, &g.mergedIn, &g.name, &g.fixedIn, &g.cameBack, &g.title)
}

func (g *groupRow) before() *Before {
	return &Before{Name: g.name, State: g.state, FixedIn: g.fixedIn, CameBack: g.cameBack}
}

// codeRange returns the range of codes that begin with a prefix, false if the prefix is not hex digits.
func codeRange(prefix string) (from, to string, ok bool) {
	if prefix == "" || strings.Trim(prefix, "0123456789abcdef") != "" {
		return "", "", false
	}
	return prefix, prefix + "g", true
}

// group returns a group by its code or the first digits of it, and locks it.
func (tx *Tx) group(ctx context.Context, code string) (*groupRow, error) {
	from, to, ok := codeRange(strings.ToLower(code))
	if !ok {
		return nil, &UnknownGroupError{Code: code}
	}
	var found []*groupRow
	err := tx.each(ctx, "group.by-code", []any{from, to}, func(scan func(...any) error) error {
		g := &groupRow{}
		found = append(found, g)
		return g.scan(scan)
	})
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, &UnknownGroupError{Code: code}
	case len(found) > 1 && found[0].code != from:
		e := &UnknownGroupError{Code: code}
		e.Some = lists.Map(found, func(g *groupRow) string { return g.code })
		return nil, e
	}
	_, err = tx.lockGroup(ctx, found[0].id)
	return found[0], err
}

func (tx *Tx) groupByID(ctx context.Context, id int64) (*groupRow, error) {
	g := &groupRow{}
	if _, err := tx.lockGroup(ctx, id); err != nil {
		return nil, err
	}
	err := tx.each(ctx, "group.by-id", []any{id}, g.scan)
	return g, err
}

// live returns a group that was not merged into another one.
func (tx *Tx) live(ctx context.Context, code string) (*groupRow, error) {
	g, err := tx.group(ctx, code)
	if err != nil || g.state != GroupMerged {
		return g, err
	}
	into, err := tx.groupByID(ctx, g.mergedIn)
	if err != nil {
		return nil, err
	}
	return nil, fmt.Errorf("group %s was merged into %s", g.code, into.code)
}

// edit makes an edit in a transaction.
func (e *Editor) edit(ctx context.Context, f func(*Tx) (Event, Done, error)) (done Done, err error) {
	if e.Who == "" {
		return done, errors.New("an edit needs the name of its author")
	}
	err = e.Store.Write(ctx, func(tx *Tx) error {
		event, d, err := f(tx)
		if err != nil {
			return err
		}
		event.Who = e.Who
		if d.Event, err = tx.Event(ctx, event); err != nil {
			return err
		}
		d.What = event.What
		done = d
		if event.What == Undone {
			if _, err := tx.run(ctx, "event.undone", event.About.Event, d.Event); err != nil {
				return err
			}
		}
		return tx.refreshSearch(ctx, event.Group)
	})
	return done, err
}

// setState changes the state of a group.
func (e *Editor) setState(ctx context.Context, code string, what What, build string, to GroupState) (Done, error) {
	return e.edit(ctx, func(tx *Tx) (Event, Done, error) {
		g, err := tx.live(ctx, code)
		if err != nil {
			return Event{}, Done{}, err
		}
		if g.state == to && g.fixedIn == build {
			return Event{}, Done{}, fmt.Errorf("group %s is %s already", g.code, stateText(to, build))
		}
		_, err = tx.run(ctx, "group.set-state", g.id, to, 0, build, "")
		return Event{What: what, Group: g.id, About: About{Build: build, Before: g.before()}}, Done{Group: g.code}, err
	})
}

// stateText describes the state of a group: "closed, fixed in 1.4.3".
func stateText(s GroupState, fixedIn string) string {
	if s == GroupClosed && fixedIn != "" {
		return "closed, fixed in " + fixedIn
	}
	return string(s)
}

// CloseGroup closes a group with a bug that is fixed in a build, "" if the build is unknown. A report of that build or
// a later one reopens the group. Without a build, a report reopens it if its build is later than all in which it was
// seen.
func (e *Editor) CloseGroup(ctx context.Context, group, build string) (Done, error) {
	if len(build) > maxName {
		return Done{}, fmt.Errorf("the name of a build has %d bytes, expected at most %d", len(build), maxName)
	}
	return e.setState(ctx, group, Closed, build, GroupClosed)
}

// Ignore hides a group from lists that do not ask for ignored groups. It is never reopened automatically.
func (e *Editor) Ignore(ctx context.Context, group string) (Done, error) {
	return e.setState(ctx, group, Ignored, "", GroupIgnored)
}

// Reopen opens a group that is closed or ignored.
func (e *Editor) Reopen(ctx context.Context, group string) (Done, error) {
	return e.setState(ctx, group, Reopened, "", GroupOpen)
}

// Name gives a group a name, "" for none.
func (e *Editor) Name(ctx context.Context, group, name string) (Done, error) {
	name = strings.Join(strings.Fields(name), " ")
	if len(name) > maxName {
		return Done{}, fmt.Errorf("a name has %d bytes, expected at most %d", len(name), maxName)
	}
	return e.edit(ctx, func(tx *Tx) (Event, Done, error) {
		g, err := tx.live(ctx, group)
		if err != nil {
			return Event{}, Done{}, err
		}
		_, err = tx.run(ctx, "group.set-name", g.id, name)
		return Event{What: Named, Group: g.id, About: About{Text: name, Before: g.before()}}, Done{Group: g.code}, err
	})
}

// Note adds a note to a group.
func (e *Editor) Note(ctx context.Context, group, text string) (Done, error) {
	text = strings.TrimSpace(text)
	if text == "" || len(text) > maxNote {
		return Done{}, fmt.Errorf("a note has %d bytes, expected 1 to %d", len(text), maxNote)
	}
	return e.say(ctx, group, Noted, text)
}

// Link adds the address of an issue, http or https, to a group.
func (e *Editor) Link(ctx context.Context, group, address string) (Done, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || len(address) > maxLink {
		return Done{}, fmt.Errorf("the address of an issue is %q, expected http://… or https://… of at most %d bytes", address, maxLink)
	}
	return e.say(ctx, group, Linked, u.String())
}

func (e *Editor) say(ctx context.Context, group string, what What, text string) (Done, error) {
	return e.edit(ctx, func(tx *Tx) (Event, Done, error) {
		g, err := tx.live(ctx, group)
		if err != nil {
			return Event{}, Done{}, err
		}
		return Event{What: what, Group: g.id, About: About{Text: text}}, Done{Group: g.code}, nil
	})
}

// Merge moves the whole content of a group into another one of the same game. Later reports for the first group go to
// the second.
func (e *Editor) Merge(ctx context.Context, from, into string) (Done, error) {
	return e.edit(ctx, func(tx *Tx) (Event, Done, error) {
		a, b, err := tx.two(ctx, from, into)
		if err != nil {
			return Event{}, Done{}, err
		}
		about := About{Other: a.code, OtherID: a.id, Before: a.before()}
		list, err := tx.variantsOf(ctx, a.id)
		if err != nil {
			return Event{}, Done{}, err
		}
		about.Variants = lists.Map(list, func(v variantRow) int64 { return v.id })
		if about.Keys, err = tx.keysOf(ctx, a.id); err != nil {
			return Event{}, Done{}, err
		}
		if err := tx.moveVariants(ctx, a, b, about.Variants, about.Keys); err != nil {
			return Event{}, Done{}, err
		}
		_, err = tx.run(ctx, "group.set-state", a.id, GroupMerged, b.id, "", "")
		return Event{What: Merged, Group: b.id, About: about}, Done{Group: b.code, Other: a.code, Count: len(about.Variants)}, err
	})
}

// two returns two groups of one game. They are always locked in the same order.
func (tx *Tx) two(ctx context.Context, from, into string) (a, b *groupRow, err error) {
	first, second := from, into
	if second < first {
		first, second = second, first
	}
	for _, code := range []string{first, second} {
		if _, err := tx.live(ctx, code); err != nil {
			return nil, nil, err
		}
	}
	if a, err = tx.live(ctx, from); err == nil {
		b, err = tx.live(ctx, into)
	}
	switch {
	case err != nil:
		return nil, nil, err
	case a.id == b.id:
		return nil, nil, fmt.Errorf("group %s cannot be merged into itself", a.code)
	case a.game != b.game:
		return nil, nil, fmt.Errorf("groups %s and %s are of different games", a.code, b.code)
	}
	return a, b, nil
}

// Split moves variants of a group, given by their numbers, to a new group. They must be some of the group's variants,
// but not all. Later reports of these variants follow.
func (e *Editor) Split(ctx context.Context, group string, variants []int64) (Done, error) {
	variants = slices.Compact(slices.Sorted(slices.Values(variants)))
	return e.edit(ctx, func(tx *Tx) (Event, Done, error) {
		g, err := tx.live(ctx, group)
		if err != nil {
			return Event{}, Done{}, err
		}
		list, err := tx.variantsOf(ctx, g.id)
		if err != nil {
			return Event{}, Done{}, err
		}
		var moved, left []variantRow
		for _, v := range list {
			if slices.Contains(variants, v.id) {
				moved = append(moved, v)
			} else {
				left = append(left, v)
			}
		}
		switch {
		case len(variants) == 0:
			return Event{}, Done{}, fmt.Errorf("group %s: a split names the variants that are moved", g.code)
		case len(moved) < len(variants):
			return Event{}, Done{}, fmt.Errorf("group %s has %d of the %d variants that are named", g.code, len(moved), len(variants))
		case len(left) == 0:
			return Event{}, Done{}, fmt.Errorf("group %s has no other variants than those that are named; nothing is left to split off", g.code)
		}
		about := About{Other: g.code, OtherID: g.id, Variants: variants}
		keys, err := tx.keysOf(ctx, g.id)
		if err != nil {
			return Event{}, Done{}, err
		}
		for _, v := range moved { // keys without variants move with them
			if slices.Contains(keys, v.coarse) && !slices.Contains(about.Keys, v.coarse) && !slices.ContainsFunc(left, func(l variantRow) bool { return l.coarse == v.coarse }) {
				about.Keys = append(about.Keys, v.coarse)
			}
		}
		part, err := tx.groupByHand(ctx, g, "split", moved[0].coarse, moved[0].strict)
		if err != nil {
			return Event{}, Done{}, err
		}
		err = tx.moveVariants(ctx, g, part, about.Variants, about.Keys)
		return Event{What: Split, Group: part.id, About: about}, Done{Group: part.code, Other: g.code, Count: len(moved)}, err
	})
}

// byHand is the coarse key for variants of reports that were moved by hand. The strict key is the code of the group to
// which they were first moved.
const byHand = "by hand"

// Move moves reports, given by their numbers, to a group, or to a new one if to is "". They stay there when they are
// triaged again. Similar reports do not follow.
func (e *Editor) Move(ctx context.Context, reports []int64, to string) (Done, error) {
	reports = slices.Compact(slices.Sorted(slices.Values(reports)))
	return e.edit(ctx, func(tx *Tx) (Event, Done, error) {
		if len(reports) == 0 {
			return Event{}, Done{}, errors.New("a move names the reports that are moved")
		}
		var list []counted
		var about About
		for _, id := range reports {
			x, pinned, err := tx.counted(ctx, id)
			if err != nil {
				return Event{}, Done{}, err
			}
			if x.variant == 0 {
				return Event{}, Done{}, fmt.Errorf("report %d has no divergence, so it belongs to no bug", id)
			}
			if len(list) > 0 && x.game != list[0].game {
				return Event{}, Done{}, fmt.Errorf("reports %d and %d are of different games", reports[0], id)
			}
			list = append(list, x)
			about.Reports = append(about.Reports, MovedReport{id, x.variant, pinned})
		}
		target, err := tx.target(ctx, to, list[0], reports[0])
		if err != nil {
			return Event{}, Done{}, err
		}
		if target.game != list[0].game {
			return Event{}, Done{}, fmt.Errorf("group %s belongs to another game than report %d", target.code, reports[0])
		}
		var variant, group int64
		if err := tx.row(ctx, "variant.insert", []any{target.game, byHand, target.code, target.id, "put here by hand", false}, &variant, &group); err != nil {
			return Event{}, Done{}, err
		}
		if group != target.id { // the variant was merged or split away since
			if err := tx.row(ctx, "variant.insert", []any{target.game, byHand, fmt.Sprint(target.code, " ", reports[0]), target.id, "put here by hand", false}, &variant, &group); err != nil {
				return Event{}, Done{}, err
			}
		}
		for i, id := range reports {
			if err := tx.moveReport(ctx, id, &list[i], variant, true); err != nil {
				return Event{}, Done{}, err
			}
		}
		return Event{What: Moved, Group: target.id, About: about}, Done{Group: target.code, Count: len(reports)}, nil
	})
}

// target returns the group to which reports are moved.
func (tx *Tx) target(ctx context.Context, to string, x counted, report int64) (*groupRow, error) {
	if to != "" {
		return tx.live(ctx, to)
	}
	var group int64
	if err := tx.row(ctx, "variant.group", []any{x.variant}, &group); err != nil {
		return nil, err
	}
	g, err := tx.groupByID(ctx, group)
	if err != nil {
		return nil, err
	}
	return tx.groupByHand(ctx, g, "move", fmt.Sprint(report))
}

// counted returns the parts of a report that are counted.
func (tx *Tx) counted(ctx context.Context, id int64) (x counted, pinned bool, err error) {
	var bundle, match int64
	err = tx.row(ctx, "report.counted", []any{id}, &bundle, &match, &x.variant, &pinned, &x.game, &x.build, &x.day, &x.peers)
	if errors.Is(err, sql.ErrNoRows) {
		return x, false, fmt.Errorf("report %d: there is none", id)
	}
	if err == nil {
		x.traits, err = tx.reportTraits(ctx, id)
	}
	return x, pinned, err
}

// moveReport moves a report to another variant.
func (tx *Tx) moveReport(ctx context.Context, id int64, x *counted, variant int64, pinned bool) error {
	for _, step := range []struct {
		variant, by int64
	}{{x.variant, -1}, {variant, 1}} {
		if x.variant = step.variant; x.variant == 0 {
			continue // in no group
		}
		var group int64
		if err := tx.row(ctx, "variant.group", []any{x.variant}, &group); err != nil {
			return err
		}
		if err := tx.count(ctx, x, step.by); err != nil {
			return err
		}
		if err := tx.refresh(ctx, group); err != nil {
			return err
		}
	}
	_, err := tx.run(ctx, "report.move", id, variant, pinned)
	return err
}

// variantRow is a variant of a group.
type variantRow struct {
	id             int64
	coarse, strict string
}

func (tx *Tx) variantsOf(ctx context.Context, group int64) (list []variantRow, err error) {
	return rowsOf(ctx, tx, func(v *variantRow) []any { return []any{&v.id, &v.coarse, &v.strict} }, "group.variants", group)
}

func (tx *Tx) keysOf(ctx context.Context, group int64) (list []string, err error) {
	return valuesOf[string](ctx, tx, "key.of-group", group)
}

// moveVariants moves variants and keys from one group to another.
func (tx *Tx) moveVariants(ctx context.Context, from, to *groupRow, variants []int64, keys []string) error {
	for _, id := range variants {
		if _, err := tx.run(ctx, "variant.move", id, to.id); err != nil {
			return err
		}
	}
	for _, key := range keys {
		if _, err := tx.run(ctx, "key.move", from.game, key, to.id); err != nil {
			return err
		}
	}
	for _, g := range []*groupRow{from, to} {
		if err := tx.refresh(ctx, g.id); err != nil {
			return err
		}
	}
	return nil
}

// groupByHand creates a group of the same game as another one. Its code is derived from parts, so the same split gives
// the same code. A group that an undo emptied is reused.
func (tx *Tx) groupByHand(ctx context.Context, of *groupRow, parts ...string) (*groupRow, error) {
	h := sha256.Sum256([]byte(strings.Join(append([]string{fmt.Sprint(of.code)}, parts...), "\x00")))
	digits := hex.EncodeToString(h[:])
	for n := 8; n <= len(digits); n++ {
		code := digits[:n]
		var id int64
		err := tx.row(ctx, "group.insert", []any{code, of.game, of.title, false, ""}, &id)
		if errors.Is(err, sql.ErrNoRows) {
			old, err := tx.group(ctx, code)
			if err != nil || old.code != code || old.state != GroupMerged || old.mergedIn != of.id {
				continue
			}
			if list, err := tx.variantsOf(ctx, old.id); err != nil || len(list) > 0 {
				continue
			}
			_, err = tx.run(ctx, "group.set-state", old.id, GroupOpen, 0, "", "")
			return old, err
		}
		if err != nil {
			return nil, err
		}
		return tx.groupByID(ctx, id)
	}
	return nil, fmt.Errorf("group %s: no code is free", of.code)
}

// refreshSearch writes the texts by which a group is found: its title, code, name, notes and links, and the words of reports.
func (tx *Tx) refreshSearch(ctx context.Context, group int64) error {
	g, err := tx.groupByID(ctx, group)
	if err != nil {
		return err
	}
	text := []string{g.title, g.code, g.name}
	err = tx.each(ctx, "group.said", []any{group}, func(scan func(...any) error) error {
		var about string
		if err := scan(&about); err != nil {
			return err
		}
		var a About
		err := json.Unmarshal([]byte(about), &a)
		text = append(text, a.Text)
		return err
	})
	if err != nil {
		return err
	}
	names, err := valuesOf[string](ctx, tx, "group.print-names", group)
	if err != nil {
		return err
	}
	text = append(text, names...)
	reports, err := valuesOf[int64](ctx, tx, "group.of-variants", group)
	if err != nil {
		return err
	}
	for _, id := range reports {
		r, err := tx.Document(ctx, id)
		if err != nil {
			return err
		}
		text = append(text, wordsOf(r)...)
	}
	_, err = tx.run(ctx, "group.set-search", group, searchText(text))
	return err
}
