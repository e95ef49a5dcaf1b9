package desk

import (
	"context"
	"slices"
)

// SinceBuild is what is new since a build.
type SinceBuild struct {
	Since string `json:"since"`
	// New are the groups that were seen in builds after it only, Back those that were closed and came back in
	// such a build. None that is ignored or merged is among them.
	New  []Group `json:"new"`
	Back []Group `json:"came_back"`
}

// allOf lists all groups of a filter, those with the most matches first.
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

// NewSince returns what is new since a build: of the groups of a filter, those that were first seen in a build after it, by CompareBuilds, and those
// that came back in one. An *UnknownBuildError says that it has no place among the builds.
func (s *Store) NewSince(ctx context.Context, build string, f Filter) (*SinceBuild, error) {
	n := &SinceBuild{Since: build}
	var err error
	if n.New, err = s.allOf(ctx, Filter{append(slices.Clone(f.Terms), Term{Key: "first", Op: ">", Value: build})}); err != nil {
		return nil, err
	}
	n.Back, err = s.allOf(ctx, Filter{append(slices.Clone(f.Terms), Term{Key: "back", Op: ">", Value: build})})
	return n, err
}
