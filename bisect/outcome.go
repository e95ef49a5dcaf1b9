package bisect

import "slices"

// Diverged reports whether anything departs.
func (t *Trial) Diverged() bool { return t.Departed() }

// Incomplete reports whether nothing was compared, or something could not be used.
func (t *Trial) Incomplete() bool { return t.Compared == 0 || len(t.Lost) > 0 }

// Trials are replays of one log in several modes.
type Trials []*Trial

// Diverged reports whether anything departs in any of them.
func (list Trials) Diverged() bool { return slices.ContainsFunc(list, (*Trial).Diverged) }

// Incomplete reports whether any trial is incomplete.
func (list Trials) Incomplete() bool { return slices.ContainsFunc(list, (*Trial).Incomplete) }
