// Package gitbisect finds the commit from which on a program behaves differently: the first commit with a build that
// gives other hashes, or that does not agree with itself.
//
// Search is only the search, over any graph of commits and with any Tester. Repository, Store and Builder add git: the
// graph of a range, the results of an interrupted search, and builds in separate worktrees. A user's worktree, index,
// HEAD, branches and stash are only read.
//
// A commit is bad as soon as one run of it fails, since a run of a good one never does. It is good once enough runs
// have passed: the odds that a bad one passes them all must be below MaxOdds; see odds.go. The search follows the graph
// as git bisect does: candidates are the ancestors of the bad end that are not ancestors of a good one, and the next
// commit to test is the one with nearest to half of the candidates among its ancestors.
package gitbisect
