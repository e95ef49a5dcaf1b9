package desk

import (
	"context"
	"slices"
)

// SinceBuild lists what is new since a build.
type SinceBuild struct {
	Since string `json:"since"`
	// New are the groups that were seen only in later builds. Back are groups that were closed and came back in such a
	// build. Ignored and merged groups are not included.
	New  []Group `json:"new"`
	Back []Group `json:"came_back"`
}

// allOf lists all groups that match a filter, the group with the most matches first.
func (s *Store) allOf(ctx context.Context, f Filter) ([]Group, error) {
	all := []Group{}
	for page := (Page{Limit: 500}); ; {
		list, err := s.Groups(ctx, f, ByReports, page)
		if err != nil {
			return nil, err
		}
		if all = append(all, list.Groups...); list.Next == "" {
			return slices.DeleteFunc(all, func(g Group) bool { return g.State == GroupIgnored }), nil
		}
		page.After = list.Next
	}
}

// NewSince returns what is new since a build, among the groups that match a filter: groups that were first seen in a
// later build, by CompareBuilds, and groups that came back in one. An *UnknownBuildError reports that the build has no
// place among the builds.
func (s *Store) NewSince(ctx context.Context, build string, f Filter) (*SinceBuild, error) {
	n := &SinceBuild{Since: build}
	var err error
	if n.New, err = s.allOf(ctx, Filter{append(slices.Clone(f.Terms), Term{Key: "first", Op: ">", Value: build})}); err != nil {
		return nil, err
	}
	n.Back, err = s.allOf(ctx, Filter{append(slices.Clone(f.Terms), Term{Key: "back", Op: ">", Value: build})})
	return n, err
}
