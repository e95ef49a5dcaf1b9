package desk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// FailOn is what a check of a build fails on.
type FailOn string

// What a check may fail on.
const (
	FailOnNew        FailOn = "new"        // a group that was not seen in an older build
	FailOnRegression FailOn = "regression" // one that was closed and came back in this build
	FailOnAny        FailOn = "any"        // any that is open
)

// FailOns returns all of them.
func FailOns() []FailOn { return []FailOn{FailOnNew, FailOnRegression, FailOnAny} }

// ParseFailOn reads what a check fails on: words with commas between.
func ParseFailOn(words string) (list []FailOn, err error) {
	var names []string
	for _, f := range FailOns() {
		names = append(names, string(f))
	}
	for word := range strings.SplitSeq(words, ",") {
		if word = strings.TrimSpace(word); !slices.Contains(names, word) {
			return nil, fmt.Errorf("%s: expected new, regression or any%s", prose.Name(word), prose.DidYouMean(word, names))
		}
		if f := FailOn(word); !slices.Contains(list, f) {
			list = append(list, f)
		}
	}
	return list, nil
}

// Checked is what a check of a build found.
type Checked struct {
	Build   string   `json:"build"`
	FailOn  []FailOn `json:"fail_on"`
	Reports int64    `json:"matches"` // of the build, whatever their status
	Waiting int64    `json:"waiting"` // bundles that are not triaged yet, of whichever build
	Aside   int64    `json:"aside"`   // bundles that cannot be
	// Groups are those that were seen in the build, the most matches first; of the ignored and closed ones
	// nothing fails.
	Groups []CheckedGroup `json:"groups"`
}

// CheckedGroup is a group that was seen in a build.
type CheckedGroup struct {
	Group
	New        bool `json:"new"`
	Regression bool `json:"regression"`
	// Fails says that the check fails on it.
	Fails bool `json:"fails"`
}

// Failing returns how many groups the check fails on.
func (c *Checked) Failing() (n int) {
	for i := range c.Groups {
		if c.Groups[i].Fails {
			n++
		}
	}
	return n
}

// Diverged reports whether the check fails.
func (c *Checked) Diverged() bool { return c.Failing() > 0 }

// Incomplete reports whether there is nothing to check: no report is of the build.
func (c *Checked) Incomplete() bool { return c.Reports == 0 }

// CheckBuild looks at the groups that were seen in a build, of those of a filter.
func (s *Store) CheckBuild(ctx context.Context, build string, failOn []FailOn, f Filter) (*Checked, error) {
	if len(failOn) == 0 {
		return nil, errors.New("a check that fails on nothing")
	}
	c := &Checked{Build: build, FailOn: failOn, Groups: []CheckedGroup{}}
	of := Term{Key: "build", Op: "=", Value: build}
	list := &where{}
	var games Filter // reports of the build are counted in the game alone
	for _, t := range f.Terms {
		if t.Key == "game" {
			games.Terms = append(games.Terms, t)
		}
	}
	if err := s.ofReports(ctx, list, Filter{append(games.Terms, of)}); err != nil {
		var unknown *UnknownBuildError
		if !errors.As(err, &unknown) {
			return nil, err
		}
		list = nil
	}
	var err error
	if list != nil {
		count := strings.Replace(list.fill("list.reports.count", ""), "LIMIT $1", fmt.Sprintf("LIMIT %d", int64(math.MaxInt32)), 1)
		if err := s.read.QueryRowContext(ctx, count, list.args...).Scan(&c.Reports); err != nil {
			return nil, fmt.Errorf("list.reports.count: %w", err)
		}
	}
	if c.Waiting, err = s.one(ctx, "stats.unread", Waiting); err != nil {
		return nil, err
	}
	if c.Aside, err = s.one(ctx, "stats.unread", Aside); err != nil || c.Reports == 0 {
		return c, err
	}
	with := func(t Term) Filter { return Filter{append(slices.Clone(f.Terms), t)} }
	groups, err := s.allOf(ctx, with(of))
	if err != nil {
		return nil, err
	}
	is := map[string]map[int64]bool{}
	for _, key := range []string{"first", "back"} {
		some, err := s.allOf(ctx, with(Term{Key: key, Op: "=", Value: build}))
		if err != nil {
			return nil, err
		}
		is[key] = map[int64]bool{}
		for _, g := range some {
			is[key][g.ID] = true
		}
	}
	for _, g := range groups {
		x := CheckedGroup{Group: g, New: is["first"][g.ID], Regression: is["back"][g.ID]}
		for _, on := range failOn {
			x.Fails = x.Fails || g.State == GroupOpen && (on == FailOnAny || on == FailOnNew && x.New || on == FailOnRegression && x.Regression)
		}
		c.Groups = append(c.Groups, x)
	}
	return c, nil
}
