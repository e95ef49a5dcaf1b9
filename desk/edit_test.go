//go:build unix

package desk_test

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/report/document"

	"pgregory.net/rapid"
)

// rows returns all rows of a statement as text.
func rows(t failing, db *sql.DB, query string) (lines []string) {
	t.Helper()
	r, err := db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
		values := make([]any, len(columns))
		for i := range values {
			values[i] = new(sql.NullString)
		}
		if err := r.Scan(values...); err != nil {
			t.Fatal(err)
		}
		var line []string
		for _, v := range values {
			line = append(line, v.(*sql.NullString).String)
		}
		lines = append(lines, strings.Join(line, " "))
	}
	return lines
}

// agree compares counts with the rows that they count: the left side is kept, the right one computed.
func agree(t failing, db *sql.DB) {
	t.Helper()
	for what, q := range map[string][2]string{
		"groups": {
			`SELECT id, reports, peers, first_day, last_day FROM groups WHERE reports > 0 ORDER BY id`,
			`SELECT v.group_id, count(*), sum(r.peers), min(CASE WHEN r.day > 0 THEN r.day END), max(r.day) FROM reports r JOIN variants v ON v.id = r.variant_id GROUP BY v.group_id ORDER BY v.group_id`},
		"variants": {
			`SELECT id, reports, peers FROM variants WHERE reports > 0 ORDER BY id`,
			`SELECT variant_id, count(*), sum(peers) FROM reports WHERE variant_id > 0 GROUP BY variant_id ORDER BY variant_id`},
		"builds": {
			`SELECT variant_id, build_id, reports FROM variant_builds WHERE reports <> 0 ORDER BY variant_id, build_id`,
			`SELECT variant_id, build_id, count(*) FROM reports WHERE variant_id > 0 AND build_id > 0 GROUP BY variant_id, build_id ORDER BY variant_id, build_id`},
		"days": {
			`SELECT variant_id, day, reports FROM variant_days WHERE reports <> 0 ORDER BY variant_id, day`,
			`SELECT variant_id, day, count(*) FROM reports WHERE variant_id > 0 AND day > 0 GROUP BY variant_id, day ORDER BY variant_id, day`},
		"traits": {
			`SELECT variant_id, trait_id, reports FROM variant_traits WHERE reports <> 0 ORDER BY variant_id, trait_id`,
			`SELECT r.variant_id, t.trait_id, count(*) FROM reports r JOIN set_traits t ON t.set_id = r.set_id WHERE r.variant_id > 0 GROUP BY r.variant_id, t.trait_id ORDER BY r.variant_id, t.trait_id`},
		"game": {
			`SELECT game_id, name, of_id, reports FROM game_counts WHERE reports <> 0 AND name IN ('reports', 'build') ORDER BY game_id, name, of_id`,
			`SELECT game_id, 'build', build_id, count(*) FROM reports WHERE variant_id > 0 AND build_id > 0 GROUP BY game_id, build_id
			 UNION ALL SELECT game_id, 'reports', 0, count(*) FROM reports WHERE variant_id > 0 GROUP BY game_id ORDER BY 1, 2, 3`},
	} {
		if kept, counted := rows(t, db, q[0]), rows(t, db, q[1]); !slices.Equal(kept, counted) {
			t.Fatalf("%s: kept\n%s\ncounted\n%s", what, strings.Join(kept, "\n"), strings.Join(counted, "\n"))
		}
	}
}

// TestEdits makes edits at random between reports that come, and takes them back, the last one first.
// What is counted always agrees with the reports; in the end all is where it would be without edits.
func TestEdits(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		n := 0
		check := func(rt *rapid.T) {
			n++
			s := emptied(rt, where, n)
			ctx, editor := context.Background(), &desk.Editor{Store: s, Who: "ann"}
			steps := []string{"Combat", "Movement"}
			strict := []string{"", "s1", "s2"}
			builds := []string{"", "1.4.2", "1.4.10", "1.5.0"}
			var plain []*document.Report
			var events []int64
			for i := range rapid.IntRange(3, 14).Draw(rt, "steps") {
				codes := rows(rt, s.DB(), `SELECT code FROM groups WHERE state <> 'merged' ORDER BY id`)
				what := rapid.SampledFrom([]string{"put", "put", "put", "again", "merge", "split", "move", "close", "ignore", "name", "note"}).Draw(rt, "what")
				if len(codes) == 0 {
					what = "put"
				}
				code := func() string { return rapid.SampledFrom(codes).Draw(rt, "group") }
				var done desk.Done
				var err error
				switch what {
				case "put", "again":
					r := diverged(rapid.SampledFrom(steps).Draw(rt, "step"), "Health.hp", rapid.SampledFrom(strict).Draw(rt, "strict"), rapid.SampledFrom(builds).Draw(rt, "build"), rapid.SampledFrom([]string{"linux", "windows"}).Draw(rt, "os"))
					if what == "again" {
						at := rapid.IntRange(0, len(plain)-1).Draw(rt, "bundle")
						plain[at] = r
						put(rt, s, int64(at+1), r)
						break
					}
					b, _ := receive(rt, s, hexOf(fmt.Sprint("bundle", i)))
					plain = append(plain, r)
					put(rt, s, b.ID, r)
				case "merge":
					done, err = editor.Merge(ctx, code(), code())
				case "split":
					g := code()
					ids := rows(rt, s.DB(), `SELECT v.id FROM variants v JOIN groups g ON g.id = v.group_id WHERE g.code = '`+g+`' ORDER BY v.id`)
					var id int64
					fmt.Sscan(rapid.SampledFrom(ids).Draw(rt, "variant"), &id)
					done, err = editor.Split(ctx, g, []int64{id})
				case "move":
					to := ""
					if rapid.Bool().Draw(rt, "there") {
						to = code()
					}
					done, err = editor.Move(ctx, []int64{int64(rapid.IntRange(1, len(plain)).Draw(rt, "report"))}, to)
				case "close":
					done, err = editor.CloseGroup(ctx, code(), rapid.SampledFrom(builds).Draw(rt, "fixed"))
				case "ignore":
					done, err = editor.Ignore(ctx, code())
				case "name":
					done, err = editor.Name(ctx, code(), "a name")
				case "note":
					done, err = editor.Note(ctx, code(), "a note")
				}
				if err == nil && done.Event != 0 {
					events = append(events, done.Event)
				}
				agree(rt, s.DB())
			}
			examined(rt, s)
			for _, event := range slices.Backward(events) {
				if _, err := editor.Undo(ctx, event); err != nil {
					rt.Fatal(err)
				}
				agree(rt, s.DB())
			}
			examined(rt, s)
			if left := rows(rt, s.DB(), `SELECT id FROM reports WHERE pinned`); len(left) > 0 {
				rt.Fatalf("reports are still where somebody put them: %v", left)
			}
			for i, r := range plain {
				if got := rows(rt, s.DB(), fmt.Sprint(`SELECT v.strict FROM reports r JOIN variants v ON v.id = r.variant_id WHERE r.bundle_id = `, i+1)); len(got) != 1 || strings.TrimSpace(got[0]) != r.Fingerprint {
					rt.Fatalf("report %d is of the variant %v, expected that of %q", i+1, got, r.Fingerprint)
				}
			}
			// Without edits the code of a group is what its key begins with.
			for _, line := range rows(rt, s.DB(), `SELECT v.coarse, g.code, g.state, g.name FROM reports r JOIN variants v ON v.id = r.variant_id JOIN groups g ON g.id = v.group_id`) {
				if f := strings.Fields(line); len(f) != 3 || f[1] != f[0][:8] || f[2] != "open" {
					rt.Fatalf("a report is of the variant and the group %s", line)
				}
			}
		}
		rapid.Check(t, check)
	})
}

// TestClosed: a group comes back in the build in which it is fixed or a later one, and in no earlier
// one.
func TestClosed(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		ctx, editor := context.Background(), &desk.Editor{Store: s, Who: "ann"}
		send := func(build string) desk.Change {
			b, _ := receive(t, s, "sent "+build)
			return put(t, s, b.ID, diverged("Combat", "Health.hp", "s1", build, "linux"))[0]
		}
		group := send("1.4.2").Group
		if _, err := editor.CloseGroup(ctx, group[:6], "1.4.3"); err != nil {
			t.Fatal(err)
		}
		for _, x := range []struct {
			build string
			back  bool
		}{{"1.3.0", false}, {"1.4.2", false}, {"1.4.3-rc.1", false}, {"1.5.0", true}, {"1.6.0", false}} { // the last group is open
			if c := send(x.build); c.CameBack != x.back || c.Group != group {
				t.Errorf("%s: %+v", x.build, c)
			}
		}
		if got := rows(t, s.DB(), `SELECT state, fixed_in, came_back FROM groups`); !slices.Equal(got, []string{"open 1.4.3 1.5.0"}) {
			t.Error(got)
		}
		if _, err := editor.CloseGroup(ctx, group, ""); err != nil {
			t.Fatal(err)
		}
		if c := send("1.5.9"); c.CameBack {
			t.Errorf("1.5.9 is older than 1.6.0, in which it was seen when it was closed: %+v", c)
		}
		if c := send("1.6.1"); !c.CameBack {
			t.Errorf("%+v", c)
		}
		for _, bad := range []string{"", "zz", "ffff", "'; DROP TABLE groups; --"} {
			if _, err := editor.CloseGroup(ctx, bad, ""); err == nil {
				t.Errorf("%q was closed", bad)
			}
		}
		for _, bad := range []string{"javascript:alert(1)", "https://", "x", "ftp://example.org"} {
			if _, err := editor.Link(ctx, group, bad); err == nil {
				t.Errorf("%q was linked", bad)
			}
		}
	})
}
