//go:build unix

package desk_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/desktest"
	"github.com/desynctool/desynctool/report/document"
)

// stored is a report that was put, and what the store must know of it.
type stored struct {
	r     *document.Report
	hash  string
	group string // empty if it did not diverge
}

func (x *stored) day() string {
	if x.r.Session.Played == nil {
		return ""
	}
	return x.r.Session.Played.First[:10]
}

// some draws a report: few games, builds, places and platforms, so that they meet.
func some(t *rapid.T) *document.Report {
	of := func(label string, list ...string) string { return rapid.SampledFrom(list).Draw(t, label) }
	r := diverged(of("step", "Combat", "Move"), of("field", "hp", "x"), of("strict", "s1", "s2", ""), of("build", "1.4.2", "1.4.10", "1.5.0-rc.1", "1.5.0+af3", "nightly", ""), of("os", "linux", "Windows 11", "macos"))
	r.Session.Game = of("game", "arena", "0 A.D.")
	r.Session.Seed = of("seed", "0000000000000007", "00000000000000ff")
	r.Kind = bisect.Kind(of("kind", "state", "inputs"))
	r.Session.Played = nil
	if day := of("day", "", "2026-01-05", "2026-01-30", "2026-02-03", "2026-02-28"); day != "" {
		r.Session.Played = &document.Played{First: day + "T10:00:00Z", Last: day + "T10:30:00Z", By: "the header"}
	}
	if rapid.Bool().Draw(t, "weak") {
		r.Fingerprints = r.Fingerprints[:1]
		r.Fingerprints = append(r.Fingerprints, document.Fingerprint{Level: document.LevelMessage, Name: "out of sync at #", Digest: "00000000000000bb"})
	}
	if cause := of("cause", "", "float", "rng-leak"); cause != "" {
		r.Causes = []document.Cause{{Class: cause}}
	}
	if rapid.IntRange(0, 4).Draw(t, "in sync") == 0 {
		r.Status = document.InSync
	}
	return r
}

// holds returns whether a term holds for a report, as described in docs/desk-filters.md.
func holds(t desk.Term, x *stored) bool {
	any := func(fact string, fits func(string) bool) bool {
		for _, f := range x.r.Stated {
			if f.Name == fact {
				for _, v := range f.Values {
					if fits(v) {
						return true
					}
				}
			}
		}
		return false
	}
	switch t.Key {
	case "game":
		return strings.EqualFold(strings.NewReplacer(" ", "", ".", "").Replace(x.r.Session.Game), strings.NewReplacer(" ", "", ".", "").Replace(t.Value))
	case "build":
		b := x.r.Session.Build
		same := b == t.Value || strings.HasPrefix(b, t.Value+"+")
		c := desk.CompareBuilds(desk.Build{Name: b}, desk.Build{Name: t.Value})
		return b != "" && (same && strings.Contains(t.Op, "=") || !same && (c < 0 && t.Op[0] == '<' || c > 0 && t.Op[0] == '>'))
	case "fact":
		return any(t.Fact, func(v string) bool { return strings.Contains(strings.ToLower(v), strings.ToLower(t.Value)) })
	case "kind":
		return string(x.r.Kind) == t.Value
	case "cause":
		return len(x.r.Causes) > 0 && x.r.Causes[0].Class == t.Value
	case "status":
		return string(x.r.Status) == t.Value
	case "seed":
		return x.r.Session.Seed == t.Value
	case "since":
		return x.day() >= t.Value
	case "until":
		return x.day() != "" && x.day() <= t.Value
	case "peer":
		return slices.ContainsFunc(x.r.Peers, func(p document.TriagedPeer) bool { return p.Name == t.Value })
	case "hash":
		return strings.HasPrefix(x.hash, t.Value)
	case "file":
		return x.hash+".zip" == t.Value
	}
	panic(t.Key)
}

// filters are those that are tried, each by itself and in pairs.
var filters = []string{"game:arena", "game:0ad", "build:1.4.2", "build:1.5.0", "build:>=1.4.10", "build:<1.5.0", "build:>1.5.0", "build:<=1.5.0", "os:windows", "os:linux", "arch:arm", "kind:state", "cause:float",
	"status:diverged", "seed:ff", "seed:00000000000000ff", "since:2026-01-30", "until:2026-01-30", "peer:host", "peer:guest", "hash:0a", "file:0a.zip"}

// TestLists holds every list, count and filter against the reports that were put.
func TestLists(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		n, usual := 0, *desk.ManyRows
		defer func() { *desk.ManyRows = usual }()
		rapid.Check(t, func(t *rapid.T) {
			n++
			s := emptied(t, where, n)
			*desk.ManyRows = rapid.SampledFrom([]int64{20_000, 1, 4}).Draw(t, "many rows")
			var all []*stored
			for i := range rapid.IntRange(1, 25).Draw(t, "reports") {
				x := &stored{r: some(t), hash: fmt.Sprintf("%02x", 7*i%256)}
				b, _ := receive(t, s, x.hash)
				x.group = put(t, s, b.ID, x.r)[0].Group
				all = append(all, x)
			}
			if rapid.Bool().Draw(t, "again") { // counts follow what is read again
				b, _ := receive(t, s, all[0].hash)
				all[0].r = some(t)
				all[0].group = put(t, s, b.ID, all[0].r)[0].Group
			}
			for range 6 {
				f, err := desk.ParseFilter(strings.Join(rapid.SliceOfNDistinct(rapid.SampledFrom(filters), 0, 2, rapid.ID[string]).Draw(t, "filter"), " "))
				if err != nil {
					t.Fatal(err)
				}
				checkGroups(t, s, f, all)
				checkReports(t, s, f, all)
			}
			for _, x := range all {
				if x.group != "" {
					checkDetail(t, s, x.group, all)
				}
			}
		})
	})
}

func checkGroups(t *rapid.T, s *desk.Store, f desk.Filter, all []*stored) {
	t.Helper()
	of := map[string][]*stored{}
	for _, x := range all {
		if x.group != "" {
			of[x.group] = append(of[x.group], x)
		}
	}
	want := map[string]bool{}
	for code, list := range of {
		want[code] = true
		for _, term := range f.Terms { // each by itself
			if !slices.ContainsFunc(list, func(x *stored) bool { return holds(term, x) }) {
				delete(want, code)
			}
		}
	}
	for _, by := range desk.Orders() {
		var got []desk.Group
		for after := ""; ; {
			page, err := s.Groups(context.Background(), f, by, desk.Page{After: after, Limit: 2})
			if err != nil {
				t.Fatal(err)
			}
			if int(page.Total) != len(want) {
				t.Fatalf("%s: %d in all, expected %d", f, page.Total, len(want))
			}
			got = append(got, page.Groups...)
			if after = page.Next; after == "" {
				break
			}
		}
		if len(got) != len(want) {
			t.Fatalf("%s: %d groups, expected %d", f, len(got), len(want))
		}
		for i := range got {
			g := &got[i]
			if !want[g.Code] {
				t.Fatalf("%s: %s", f, g.Code)
			}
			want[g.Code] = true
			if int(g.Reports) != len(of[g.Code]) {
				t.Fatalf("%s: %d reports, expected %d", g.Code, g.Reports, len(of[g.Code]))
			}
			if i > 0 {
				prev := map[desk.Order]int{desk.ByReports: cmp.Compare(got[i-1].Reports, g.Reports), desk.ByLast: cmp.Compare(got[i-1].LastDay, g.LastDay), desk.ByFirst: cmp.Compare(got[i-1].FirstDay, g.FirstDay)}[by]
				if prev < 0 || prev == 0 && got[i-1].ID < g.ID {
					t.Fatalf("%s by %s: %s is before %s", f, by, got[i-1].Code, g.Code)
				}
			}
		}
	}
}

func checkReports(t *rapid.T, s *desk.Store, f desk.Filter, all []*stored) {
	t.Helper()
	want := 0
	bundles := 0
	for _, x := range all {
		if !slices.ContainsFunc(f.Terms, func(term desk.Term) bool { return !holds(term, x) }) {
			want++
			bundles++
		}
	}
	got := 0
	for after, last := "", int64(1<<60); ; {
		page, err := s.Reports(context.Background(), f, desk.Page{After: after, Limit: 3})
		if err != nil {
			t.Fatal(err)
		}
		if int(page.Total) != want {
			t.Fatalf("%s: %d reports in all, expected %d", f, page.Total, want)
		}
		for _, r := range page.Reports {
			i := slices.IndexFunc(all, func(x *stored) bool { return x.hash == r.Bundle })
			if x := all[i]; r.ID >= last || r.Group != x.group || r.Build != x.r.Session.Build || r.Day != x.day() || r.Status != string(x.r.Status) ||
				slices.ContainsFunc(f.Terms, func(term desk.Term) bool { return !holds(term, x) }) {
				t.Fatalf("%s: %+v", f, r)
			}
			last = r.ID
			got++
		}
		if after = page.Next; after == "" {
			break
		}
	}
	if got != want {
		t.Fatalf("%s: %d reports, expected %d", f, got, want)
	}
	if ids, err := s.BundlesOf(context.Background(), f); err != nil || len(ids) != bundles {
		t.Fatalf("%s: %v %v, expected %d", f, ids, err, bundles)
	}
}

func checkDetail(t *rapid.T, s *desk.Store, code string, all []*stored) {
	t.Helper()
	d, err := s.Group(context.Background(), code)
	if err != nil {
		t.Fatal(err)
	}
	builds, days, causes := map[string]int64{}, map[string]int64{}, map[string]int64{}
	variants := map[string]bool{}
	var ofGame, peers int64
	last := ""
	add := func(m map[string]int64, key string) {
		if key != "" {
			m[key]++
		}
	}
	for _, x := range all {
		if x.group == "" || x.r.Session.Game != d.Game {
			continue
		}
		ofGame++
		last = max(last, x.day())
		if x.group != code {
			continue
		}
		peers += int64(len(x.r.Peers))
		add(builds, x.r.Session.Build)
		add(days, x.day())
		variants[x.r.Fingerprint] = true
		if len(x.r.Causes) > 0 {
			causes[x.r.Causes[0].Class]++
		}
	}
	counts := func(list []desk.Count) map[string]int64 {
		m := map[string]int64{}
		for _, c := range list {
			m[c.Name] += c.Reports
		}
		return m
	}
	switch {
	case d.OfGame != ofGame, d.Peers != peers, d.Trend.Until != last, len(d.Variants) != len(variants) || d.VariantCount != int64(len(variants)):
		t.Fatalf("%+v", d)
	case !reflect.DeepEqual(counts(d.Builds), builds), !reflect.DeepEqual(counts(d.Days), days), !reflect.DeepEqual(counts(d.LikelyCauses), causes):
		t.Fatalf("%v %v %v, expected %v %v %v", d.Builds, d.Days, d.LikelyCauses, builds, days, causes)
	case len(d.Builds) > 0 && (d.Builds[0].Name != d.FirstBuild || d.Builds[len(d.Builds)-1].Name != d.LastBuild):
		t.Fatalf("%v: %s to %s", d.Builds, d.FirstBuild, d.LastBuild)
	case len(d.Days) > 0 && (d.Days[0].Name != d.FirstDay || d.Days[len(d.Days)-1].Name != d.LastDay):
		t.Fatalf("%v: %s to %s", d.Days, d.FirstDay, d.LastDay)
	}
	for _, p := range d.Platforms {
		var want desk.Table
		for _, x := range all {
			if x.group == "" || x.r.Session.Game != d.Game {
				continue
			}
			with := int64(0)
			for _, v := range x.r.Stated[0].Values {
				if v == p.Value {
					with = 1
				}
			}
			if x.group == code {
				want.With, want.Of = want.With+with, want.Of+1
			} else {
				want.OthersWith, want.OthersOf = want.OthersWith+with, want.OthersOf+1
			}
		}
		if p.Table != want || p.Fact != "os" {
			t.Fatalf("%+v, expected %+v", p, want)
		}
	}
}

// TestParseFilter: a word that is not a filter word is refused, with the word that may be meant.
func TestParseFilter(t *testing.T) {
	for words, want := range map[string]string{
		"": "", "combat hp": "combat hp", `game:"0 A.D."`: `game:"0 A.D."`, `"a:b" x`: `"a:b" x`, "BUILD:>=1.4.0": "build:>=1.4.0", "arch:arm64": "cpu:arm64",
		"data-hash:9f": "data-hash:9f", "fact:render=gl": "fact:render=gl", "group:3F9A": "group:3f9a", "build:=>x": "build:=>x",
	} {
		f, err := desk.ParseFilter(words)
		if err != nil || f.String() != want {
			t.Errorf("%s: %s, %v", words, f, err)
		}
	}
	for words, want := range map[string]string{
		"biuld:1": `did you mean build`, "state:opne": `did you mean open`, "since:yesterday": "2026-01-31", "hash:xyz": "hex digits", `"open`: "not closed", "build:": "after the colon",
		"fact:os": "fact:NAME=VALUE", strings.Repeat("x ", 50): "more than",
	} {
		if f, err := desk.ParseFilter(words); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", words, f, err)
		}
	}
}

// FuzzParseFilter: what is read is written so that it reads the same.
func FuzzParseFilter(f *testing.F) {
	for _, seed := range append(filters, `game:"0 A.D." x`, `build:>=`, `fact:"a b"="c d"`, `"`, ":", `"a:b"`, "build:=>=1") {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, words string) {
		f, err := desk.ParseFilter(words)
		if err != nil {
			return
		}
		again, err := desk.ParseFilter(f.String())
		if err != nil || !reflect.DeepEqual(again, f) {
			t.Fatalf("%q is %+v, which is written %s and read as %+v, %v", words, f, f, again, err)
		}
	})
}

// TestUnknownBuild: an order is not made up for a build that has none.
func TestUnknownBuild(t *testing.T) {
	desktest.Each(t, func(t *testing.T, where string) {
		s := open(t, where)
		f, _ := desk.ParseFilter("build:>summer")
		var unknown *desk.UnknownBuildError
		if _, err := s.Groups(context.Background(), f, desk.ByReports, desk.Page{}); !errors.As(err, &unknown) {
			t.Fatal(err)
		}
	})
}
