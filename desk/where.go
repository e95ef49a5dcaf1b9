package desk

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/report/document"
)

// where collects the conditions of a statement, and their values.
type where struct {
	conditions []string
	args       []any
	// searches means that a condition searches other rows or texts, so that counting the matches takes as long as
	// finding them.
	searches bool
}

// add adds a condition. {{value}} and {{end}} in it are placeholders for values.
func (w *where) add(condition string, values ...any) {
	for i, v := range values {
		w.args = append(w.args, v)
		condition = strings.ReplaceAll(condition, []string{"{{value}}", "{{end}}"}[i], "$"+strconv.Itoa(len(w.args)))
	}
	w.conditions = append(w.conditions, condition)
}

// ids adds a condition on rows that were already found.
func (w *where) ids(condition string, ids []int64) {
	if len(ids) == 0 {
		w.add("1 = 0")
		return
	}
	w.add(withIDs(condition, ids))
}

// withIDs inserts the numbers of rows.
func withIDs(text string, ids []int64) string {
	var b strings.Builder
	for i, id := range ids {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(strconv.FormatInt(id, 10))
	}
	return strings.ReplaceAll(text, "{{ids}}", b.String())
}

func (w *where) String() string {
	if len(w.conditions) == 0 {
		return "1 = 1"
	}
	return strings.Join(w.conditions, " AND ")
}

// fill returns a statement with conditions and an order.
func (w *where) fill(name, order string) string {
	return strings.NewReplacer("{{where}}", w.String(), "{{order}}", order).Replace(statement(name))
}

// gameIDs returns the games with a name, ignoring case and the marks in the name.
func (s *Store) gameIDs(ctx context.Context, name string) (ids []int64, err error) {
	letters := func(s string) string {
		return strings.Map(func(r rune) rune {
			if strings.ContainsRune(" .-_", r) {
				return -1
			}
			return r
		}, strings.ToLower(s))
	}
	err = s.each(ctx, "list.games", nil, func(scan func(...any) error) error {
		var id int64
		var have string
		err := scan(&id, &have)
		if letters(have) == letters(name) {
			ids = append(ids, id)
		}
		return err
	})
	return ids, err
}

// knownBuild is a build in the store.
type knownBuild struct {
	Build
	id, game int64
}

func (s *Store) builds(ctx context.Context) (list []knownBuild, err error) {
	return rowsOf(ctx, s, func(b *knownBuild) []any { return []any{&b.id, &b.game, &b.Name, &b.Day} }, "list.builds")
}

// named reports whether a build has a name: the whole name, or its first part, up to a plus, a space or a bracket.
func named(build, name string) bool {
	rest, found := strings.CutPrefix(build, name)
	return found && (rest == "" || strings.ContainsAny(rest[:1], "+ ("))
}

// UnknownBuildError reports that a build has no place among others: no report has it, and its name is not a version.
type UnknownBuildError struct{ Build string }

func (e *UnknownBuildError) Error() string {
	return fmt.Sprintf("no report has the build %s, and its name does not show which builds are older", strconv.Quote(e.Build))
}

// buildIDs returns the builds with a relation to the build called name, in each game.
func (s *Store) buildIDs(ctx context.Context, op, name string) (ids []int64, err error) {
	all, err := s.builds(ctx)
	if err != nil {
		return nil, err
	}
	_, version := parseVersion(name)
	of := map[int64]Build{} // the last build with that name, by game
	for _, b := range all {
		if have, found := of[b.game]; named(b.Name, name) && (!found || CompareBuilds(b.Build, have) > 0) {
			of[b.game] = b.Build
		}
	}
	if op != "=" && !version && len(of) == 0 {
		return nil, &UnknownBuildError{name}
	}
	for _, b := range all {
		to, known := of[b.game]
		if !known {
			to = Build{Name: name}
		}
		c := 0
		if !named(b.Name, name) {
			if !known && !version {
				continue
			}
			if c = CompareBuilds(b.Build, to); c == 0 {
				continue
			}
		}
		if op == "=" && c == 0 || op[0] == '<' && c < 0 || op[0] == '>' && c > 0 || len(op) == 2 && c == 0 {
			ids = append(ids, b.id)
		}
	}
	return ids, nil
}

// namesOf returns the names of builds, each once.
func (s *Store) namesOf(ctx context.Context, ids []int64) (names []any, err error) {
	all, err := s.builds(ctx)
	for _, b := range all {
		if slices.Contains(ids, b.id) && !slices.Contains(names, any(b.Name)) {
			names = append(names, b.Name)
		}
	}
	return names, err
}

// traitIDs returns the traits of a fact with values that contain a text, ignoring case. exactly is for values that are
// desynctool's own words.
func (s *Store) traitIDs(ctx context.Context, fact, text string, exactly bool) (ids []int64, err error) {
	text = strings.ToLower(text)
	err = s.each(ctx, "list.traits", []any{fact}, func(scan func(...any) error) error {
		var id int64
		var value string
		if err := scan(&id, &value); err != nil {
			return err
		}
		if low := strings.ToLower(value); low == text || !exactly && value != "" && strings.Contains(low, text) {
			ids = append(ids, id)
		}
		return nil
	})
	return ids, err
}

// traitOf returns the trait of a term. ok is false if the term has none.
func traitOf(t Term) (fact string, exactly, ok bool) {
	switch t.Key {
	case "fact":
		return t.Fact, false, true
	case "kind":
		return traitKind, true, true
	case "cause":
		return traitCause, true, true
	}
	return "", false, false
}

// likeText escapes the special characters of LIKE.
var likeText = strings.NewReplacer(`\`, `\\`, "%", `\%`, "_", `\_`)

// likeOf returns the pattern of LIKE for texts in lower case that contain a text.
func likeOf(text string) string { return "%" + likeText.Replace(strings.ToLower(text)) + "%" }

// ofGroups adds the conditions of a filter for groups. Each term is compared with a group separately.
func (s *Store) ofGroups(ctx context.Context, w *where, f Filter) error {
	merged := false // groups without reports are meant too
	for _, t := range f.Terms {
		if fact, exactly, ok := traitOf(t); ok {
			ids, err := s.traitIDs(ctx, fact, t.Value, exactly)
			if err != nil {
				return err
			}
			w.ids(statement("groups.trait"), ids)
			w.searches = true
			continue
		}
		switch t.Key {
		case "build", "first", "back":
			if err := s.buildsOfGroups(ctx, w, t); err != nil {
				return err
			}
		case "since":
			w.add("g.last_day >= {{value}}", dayNumber(t.Value))
		case "until":
			w.add("g.first_day <= {{value}} AND g.first_day > 0", dayNumber(t.Value))
		case "status": // groups contain reports that diverged
			if t.Value != string(document.Diverged) {
				w.add("1 = 0")
			}
		case "peer", "file", "hash", "seed":
			w.searches = true
			many, err := s.manyPeers(ctx, t)
			if err != nil {
				return err
			}
			if many {
				w.add(statement("groups.peer.many"), t.Value)
				continue
			}
			var of where
			of.args = w.args
			ofReport(&of, t)
			w.args = of.args
			w.add(strings.ReplaceAll(statement("groups.reports"), "{{where}}", of.String()))
		default:
			merged = merged || t.Key == "group" || t.Key == "state" && t.Value == string(GroupMerged)
			if err := s.ofGroup(ctx, w, t); err != nil {
				return err
			}
		}
	}
	if !merged {
		w.add("g.reports > 0")
	}
	return nil
}

// ofGroup adds a term about the group itself.
func (s *Store) ofGroup(ctx context.Context, w *where, t Term) error {
	switch t.Key {
	case "":
		w.searches = true
		w.add(`g.search LIKE {{value}} ESCAPE '\'`, likeOf(t.Value))
	case "game":
		ids, err := s.gameIDs(ctx, t.Value)
		if err != nil {
			return err
		}
		w.ids("g.game_id IN ({{ids}})", ids)
	case "state":
		if t.Value != "any" {
			w.add("g.state = {{value}}", t.Value)
		}
	case "group":
		w.add("g.code >= {{value}} AND g.code < {{end}}", t.Value, t.Value+"g")
	case "weak":
		w.add(map[string]string{"yes": "g.weak", "no": "NOT g.weak"}[t.Value])
	default:
		return fmt.Errorf("%s: no list of groups has that", t)
	}
	return nil
}

// buildsOfGroups adds a term about builds.
func (s *Store) buildsOfGroups(ctx context.Context, w *where, t Term) error {
	ids, err := s.buildIDs(ctx, t.Op, t.Value)
	if err != nil {
		return err
	}
	switch {
	case t.Key == "first":
		w.ids("g.first_build IN ({{ids}})", ids)
	case t.Key == "back":
		names, err := s.namesOf(ctx, ids)
		if err != nil {
			return err
		}
		var list []string
		for _, name := range names {
			w.args = append(w.args, name)
			list = append(list, "$"+strconv.Itoa(len(w.args)))
		}
		if len(list) == 0 {
			w.add("1 = 0")
		} else {
			w.add("g.came_back IN (" + strings.Join(list, ",") + ")")
		}
	// The last build of a group is at least as new as all others, and so on.
	case t.Op[0] == '>':
		w.ids("g.last_build IN ({{ids}})", ids)
	case t.Op[0] == '<':
		w.ids("g.first_build IN ({{ids}})", ids)
	default:
		w.ids(statement("groups.build"), ids)
		w.searches = true
	}
	return nil
}

// ofReport adds a term about reports that needs no query.
func ofReport(w *where, t Term) {
	switch t.Key {
	case "peer":
		w.add(statement("reports.peer"), t.Value)
	case "file":
		w.add(statement("reports.file"), t.Value)
	case "hash":
		w.add(statement("reports.hash"), t.Value, t.Value+"g")
	case "seed":
		w.add("r.seed = {{value}}", t.Value)
	case "status":
		w.add("r.status = {{value}}", t.Value)
	case "since":
		w.add("r.day >= {{value}}", dayNumber(t.Value))
	case "until":
		w.add("r.day <= {{value}} AND r.day > 0", dayNumber(t.Value))
	}
}

// manyRows is the number of rows from which on no list of them is made to look others up. Tests lower it.
var manyRows int64 = 20_000

// manyPeers reports whether a term names a peer that very many matches have: a role.
func (s *Store) manyPeers(ctx context.Context, t Term) (bool, error) {
	if t.Key != "peer" {
		return false, nil
	}
	n, err := s.one(ctx, "reports.peer.count", t.Value, manyRows)
	return n == manyRows, err
}

// ofReports adds the conditions of a filter for reports. All terms must hold for a report.
func (s *Store) ofReports(ctx context.Context, w *where, f Filter) error {
	for _, t := range f.Terms {
		if fact, exactly, ok := traitOf(t); ok {
			ids, err := s.traitIDs(ctx, fact, t.Value, exactly)
			if err != nil {
				return err
			}
			condition := "reports.trait"
			if len(ids) > 0 {
				var n int64
				if err := s.read.QueryRowContext(ctx, withIDs(statement("reports.trait.count"), ids), manyRows).Scan(&n); err != nil {
					return err
				}
				if n == manyRows {
					condition = "reports.trait.many"
				}
			}
			w.ids(statement(condition), ids)
			continue
		}
		switch t.Key {
		case "build":
			ids, err := s.buildIDs(ctx, t.Op, t.Value)
			if err != nil {
				return err
			}
			w.ids("r.build_id IN ({{ids}})", ids)
		case "game":
			ids, err := s.gameIDs(ctx, t.Value)
			if err != nil {
				return err
			}
			w.ids("r.game_id IN ({{ids}})", ids)
		case "peer", "file", "hash", "seed", "status", "since", "until":
			many, err := s.manyPeers(ctx, t)
			if err != nil {
				return err
			}
			if many {
				w.add(statement("reports.peer.many"), t.Value)
			} else {
				ofReport(w, t)
			}
		default: // of its group
			if t.Key == "group" && t.Value == ungrouped {
				w.add(statement("reports.ungrouped"))
				continue
			}
			var of where
			of.args = w.args
			if err := s.groupOfReports(ctx, &of, t); err != nil {
				return err
			}
			w.args = of.args
			condition := strings.ReplaceAll(statement("reports.groups"), "{{where}}", of.String())
			if t.Key == "" { // or of the report itself
				var own where
				own.args = w.args
				own.add(statement("reports.text"), likeOf(t.Value))
				w.args = own.args
				condition = "(" + condition + " OR " + own.String() + ")"
			}
			w.add(condition)
		}
	}
	return nil
}

func (s *Store) groupOfReports(ctx context.Context, w *where, t Term) error {
	if slices.Contains(ofBuilds, t.Key) {
		return s.buildsOfGroups(ctx, w, t)
	}
	return s.ofGroup(ctx, w, t)
}
