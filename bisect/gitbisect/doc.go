// Package gitbisect finds the commit from which on a program no longer does what it did: the
// first whose build gives other hashes, or does not agree with itself.
//
// Search is the search alone, over any graph of commits and with any Tester. Repository, Store and
// Builder are what git adds: the graph of a range, what an interrupted search has learned, and
// builds in worktrees of our own. A user's worktree, index, HEAD, branches and stash are only read.
//
// A commit is bad as soon as one run of it fails, since a run of a good one never does. It is good
// once so many runs have passed that the odds that a bad one passes them all are below MaxOdds; odds.go
// has how they are computed. The search keeps to the graph as git bisect does: candidates are the
// ancestors of the bad end that are not ancestors of a good one, and the commit is tested whose
// number of ancestors among them is nearest to half.
package gitbisect
