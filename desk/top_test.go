//go:build unix

package desk_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/report/document"
)

// timeline puts reports of a step, each of a build and a day, and returns the code of their group.
func timeline(t *testing.T, s *desk.Store, step string, list ...[2]string) (code string) {
	t.Helper()
	for i, x := range list {
		r := diverged(step, "hp", "", x[0], "linux")
		r.Session.Played = &document.Played{First: x[1] + "T10:00:00Z", Last: x[1] + "T11:00:00Z", By: "the header"}
		b, _ := receive(t, s, fmt.Sprint(step, i, x))
		code = put(t, s, b.ID, r)[0].Group
	}
	return code
}

// TestTop: points by hand, by the table of docs/desk-filters.md. Every report has 50 %.
func TestTop(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		ctx := context.Background()
		e := &desk.Editor{Store: s, Who: "ann"}
		old := timeline(t, s, "Old", [2]string{"1.0", "2026-01-01"}, [2]string{"1.0", "2026-01-02"})
		back := timeline(t, s, "Back", [2]string{"1.0", "2026-01-01"})
		if _, err := e.CloseGroup(ctx, back, "1.1"); err != nil {
			t.Fatal(err)
		}
		timeline(t, s, "Back", [2]string{"1.1", "2026-02-20"})
		fresh := timeline(t, s, "Fresh", [2]string{"1.2", "2026-02-26"}, [2]string{"1.2", "2026-02-27"}, [2]string{"1.2", "2026-02-28"})
		steady := timeline(t, s, "Steady", [2]string{"1.0", "2026-01-15"}, [2]string{"1.0", "2026-02-10"}, [2]string{"1.1", "2026-02-15"}, [2]string{"1.1", "2026-02-16"}, [2]string{"1.1", "2026-02-25"})
		ignored := timeline(t, s, "Ignored", [2]string{"1.2", "2026-02-28"})
		if _, err := e.Ignore(ctx, ignored); err != nil {
			t.Fatal(err)
		}
		list, err := s.Top(ctx, desk.Filter{}, 10)
		if err != nil {
			t.Fatal(err)
		}
		want := []struct {
			code   string
			points int
		}{
			{fresh, 20 + 20 + 20 + 5}, // new; 3 of 0; log₂ 4
			{back, 30 + 10 + 5},       // came back; one in 28 days, in the 7 before the last
			{steady, 23 + 5},          // 4 in 28 days: 10 log₂ 5 = 23.2; 1 of 2 does not grow
			{old, 5},
		}
		if len(list) != len(want) {
			t.Fatalf("%+v", list)
		}
		for i, g := range list {
			if g.Code != want[i].code || g.Points != want[i].points {
				t.Errorf("%d: %s has %d points %v, expected %s with %d", i, g.Code, g.Points, g.Reasons, want[i].code, want[i].points)
			}
		}
		if first, err := s.Top(ctx, desk.Filter{}, 1); err != nil || len(first) != 1 || first[0].Code != fresh {
			t.Errorf("%+v, %v", first, err)
		}

		n, err := s.NewSince(ctx, "1.1", desk.Filter{})
		if err != nil || len(n.New) != 1 || n.New[0].Code != fresh || len(n.Back) != 0 {
			t.Errorf("%+v, %v", n, err)
		}
		n, err = s.NewSince(ctx, "1.0.5", desk.Filter{})
		if err != nil || len(n.New) != 1 || len(n.Back) != 1 || n.Back[0].Code != back {
			t.Errorf("%+v, %v", n, err)
		}
		for _, x := range []struct {
			build   string
			on      desk.FailOn
			failing int
			reports int64
		}{{"1.0", desk.FailOnNew, 3, 5}, {"1.1", desk.FailOnNew, 0, 4}, {"1.1", desk.FailOnRegression, 1, 4}, {"1.1", desk.FailOnAny, 2, 4}, {"1.2", desk.FailOnNew, 1, 4}, {"1.3", desk.FailOnAny, 0, 0}, {"nightly", desk.FailOnAny, 0, 0}} {
			c, err := s.CheckBuild(ctx, x.build, []desk.FailOn{x.on}, desk.Filter{})
			if err != nil || c.Failing() != x.failing || c.Reports != x.reports || c.Incomplete() != (x.reports == 0) {
				t.Errorf("%s on %s: %d fail of %+v, %v", x.build, x.on, c.Failing(), c, err)
			}
		}
	})
}

// TestWrongClock: one match of a machine with a clock years ahead moves no trend, a tenth of all does.
func TestWrongClock(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		var readings []desk.Reading
		for i := range 200 {
			r := diverged("Combat", "hp", "", "1.0", "linux")
			day := fmt.Sprintf("2026-01-%02d", 1+i%28)
			if i == 0 {
				day = "2038-01-19"
			}
			r.Session.Played = &document.Played{First: day + "T10:00:00Z", Last: day + "T11:00:00Z", By: "the header"}
			readings = append(readings, desk.Reading{Report: r})
		}
		b, _ := receive(t, s, "a")
		for _, x := range []struct {
			n    int
			last string
		}{{200, "2026-01-28"}, {10, "2038-01-19"}} {
			if err := s.Write(context.Background(), func(tx *desk.Tx) error {
				_, err := tx.Put(context.Background(), b.ID, "test", readings[:x.n])
				return err
			}); err != nil {
				t.Fatal(err)
			}
			list, err := s.Groups(context.Background(), desk.Filter{}, desk.ByReports, desk.Page{})
			if err != nil || list.Groups[0].Trend.Until != x.last || list.Groups[0].LastDay != "2038-01-19" {
				t.Errorf("%+v, %v, expected %s", list, err, x.last)
			}
		}
	})
}

// TestNear: a group without a place is shown with those that share most with it, and stays what it is.
func TestNear(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		level := func(l document.Level, name string) document.Fingerprint {
			return document.Fingerprint{Level: l, Name: name, Digest: digest(string(l[:1])+name) + "0"}
		}
		n := 0
		add := func(strict string, list ...document.Fingerprint) string {
			n++
			r := diverged("", "", strict, "1.0", "linux")
			r.Fingerprints = append([]document.Fingerprint{level(document.LevelKind, "k")}, list...)
			b, _ := receive(t, s, fmt.Sprint(n))
			return put(t, s, b.ID, r)[0].Group
		}
		weak := add("", level(document.LevelArchetype, "a"), level(document.LevelComponent, "c"))
		two := add("x", level(document.LevelArchetype, "a"), level(document.LevelComponent, "c"), level(document.LevelStep, "s"))
		one := add("y", level(document.LevelArchetype, "a"), level(document.LevelComponent, "d"), level(document.LevelStep, "t"))
		add("z", level(document.LevelArchetype, "b"), level(document.LevelStep, "u"))
		kind := add("")
		d, err := s.Group(context.Background(), weak)
		if err != nil || !d.Unplaced || d.KindOnly || len(d.Near) != 2 || d.Near[0].Code != two || d.Near[1].Code != one || fmt.Sprint(d.Near[0].Levels) != "[kind archetype component]" || fmt.Sprint(d.Near[1].Levels) != "[kind archetype]" {
			t.Errorf("%+v, %v", d, err)
		}
		if kind != "" {
			t.Errorf("a report of which only the kind is known is in group %s", kind)
		}
		if d, err := s.Group(context.Background(), two); err != nil || d.Unplaced || len(d.Near) != 0 {
			t.Errorf("%+v, %v", d, err)
		}
	})
}
