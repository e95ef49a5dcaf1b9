package desk

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// FailOn is a condition that makes the check of a build fail.
type FailOn string

// What a check may fail on.
const (
	FailOnNew        FailOn = "new"        // a group that was not seen in an older build
	FailOnRegression FailOn = "regression" // a group that was closed and came back in this build
	FailOnAny        FailOn = "any"        // any open group
)

// FailOns returns all conditions.
func FailOns() []FailOn { return []FailOn{FailOnNew, FailOnRegression, FailOnAny} }

// ParseFailOn parses conditions separated by commas.
func ParseFailOn(words string) (list []FailOn, err error) {
	names := lists.Map(FailOns(), func(f FailOn) string { return string(f) })
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

// Checked is the result of checking a build.
type Checked struct {
	Build   string   `json:"build"`
	FailOn  []FailOn `json:"fail_on"`
	Reports int64    `json:"matches"` // in the build, with any status
	Waiting int64    `json:"waiting"` // bundles that are not triaged yet, from any build
	Aside   int64    `json:"aside"`   // bundles that cannot be triaged
	// Groups are the groups that were seen in the build, the group with the most matches first. Ignored and closed
	// groups do not make the check fail.
	Groups []CheckedGroup `json:"groups"`
}

// CheckedGroup is a group that was seen in a build.
type CheckedGroup struct {
	Group
	New        bool `json:"new"`
	Regression bool `json:"regression"`
	// Fails reports whether the check fails because of this group.
	Fails bool `json:"fails"`
}

// Failing returns how many groups make the check fail.
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

// Incomplete reports whether there is nothing to check because the build has no reports.
func (c *Checked) Incomplete() bool { return c.Reports == 0 }

// CheckBuild checks the groups that were seen in a build and match a filter.
func (s *Store) CheckBuild(ctx context.Context, build string, failOn []FailOn, f Filter) (*Checked, error) {
	if len(failOn) == 0 {
		return nil, errors.New("a check that fails on nothing")
	}
	c := &Checked{Build: build, FailOn: failOn, Groups: []CheckedGroup{}}
	of := Term{Key: "build", Op: "=", Value: build}
	list := &where{}
	var games Filter // reports of the build are counted by the filter's games only
	games.Terms = append(games.Terms, lists.Where(f.Terms, func(t Term) bool { return t.Key == "game" })...)
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
