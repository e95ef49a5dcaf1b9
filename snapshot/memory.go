package snapshot

import (
	"errors"
	"fmt"
	"slices"
)

// memoryFormat is the format of states in memory.
var memoryFormat = Format{Name: "memory", Title: "state in memory", Light: true}

// SetOf returns the set of one peer's states in memory, such as the states that [Hold] makes from Worlds. The path is
// used in messages. The states stay open: closing a state that an Entry opened does nothing. Two states with the same
// seed and state point are an error.
func SetOf(path string, states ...State) (*Set, error) {
	set := &Set{Path: path}
	for _, s := range states {
		info := s.Info()
		set.Entries = append(set.Entries, &Entry{
			Base: fmt.Sprintf("%s@%s", path, info.Point), Seed: info.Seed, Point: info.Point, Format: &memoryFormat,
			checked: true, root: info.Root, state: s,
		})
	}
	slices.SortFunc(set.Entries, (*Entry).compare)
	for i, e := range set.Entries {
		if i > 0 && e.compare(set.Entries[i-1]) == 0 {
			return nil, fmt.Errorf("%s: two states of state point %s of seed %016x", path, e.Point, e.Seed)
		}
	}
	return set, nil
}

// staysOpen is a state that is closed elsewhere.
type staysOpen struct{ State }

func (staysOpen) Close() error { return nil }

// Clone returns a set that can be changed without changing s.
func (s *Set) Clone() *Set {
	if s == nil {
		return &Set{}
	}
	c := *s
	arena := make([]Entry, len(s.Entries))
	c.Entries = make([]*Entry, len(s.Entries))
	for i, e := range s.Entries {
		arena[i] = *e
		c.Entries[i] = &arena[i]
	}
	c.Others, c.Warnings, c.Folders, c.Conflicts = slices.Clone(s.Others), slices.Clone(s.Warnings), slices.Clone(s.Folders), slices.Clone(s.Conflicts)
	return &c
}

// Info returns the head of the snapshot. It is read once and kept. The error is a *[MisnamedError] if the header has
// another seed or point than the file's name; then nothing is kept.
func (e *Entry) Info() (*Info, error) { return e.InfoLike(nil) }

// InfoLike is Info for a snapshot that has much in common with another one. If the other one is in memory, digests of
// equal data are not computed again. other may be nil.
func (e *Entry) InfoLike(other *Entry) (*Info, error) {
	if e.info != nil {
		return e.info, nil
	}
	s, err := e.openLike(other)
	if s != nil {
		defer s.Close()
	}
	if err != nil {
		var misnamed *MisnamedError
		if errors.As(err, &misnamed) {
			return nil, misnamed
		}
		return nil, err
	}
	kept := *s.Info() // only the Info, without the rest of the state
	e.info = &kept
	return e.info, nil
}

// Read reports whether Info has been read.
func (e *Entry) Read() bool { return e.info != nil }
