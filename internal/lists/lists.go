// Package lists makes lists of lists, counts in them and sorts them.
package lists

import (
	"slices"
	"sort"
)

// Map returns f of each element, in order; nil for none.
func Map[T, U any](list []T, f func(T) U) []U {
	out := slices.Grow([]U(nil), len(list))
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
}

// Joined returns the index of the first of some sets which, with those before it, joins all groups into one, -1 if they
// do not. Sets join what they have an element in common with.
func Joined[T comparable](groups, sets [][]T) int {
	if len(groups) == 0 {
		return -1
	}
	parts := slices.Clone(groups)
	for i, set := range sets {
		joined := slices.Clone(set)
		parts = slices.DeleteFunc(parts, func(part []T) bool {
			common := slices.ContainsFunc(part, func(x T) bool { return slices.Contains(set, x) })
			if common {
				joined = append(joined, part...)
			}
			return common
		})
		parts = append(parts, joined)
		if !slices.ContainsFunc(groups, func(g []T) bool { return !slices.Contains(joined, g[0]) }) {
			return i
		}
	}
	return -1
}

// Where returns the elements that f keeps, in order; nil for none.
func Where[T any](list []T, f func(T) bool) (out []T) {
	for _, x := range list {
		if f(x) {
			out = append(out, x)
		}
	}
	return out
}

// Count returns how many elements f is true for.
func Count[T any](list []T, f func(T) bool) (n int) {
	for _, x := range list {
		if f(x) {
			n++
		}
	}
	return n
}

// SortStable sorts a list by cmp, which returns a negative number if a comes before b. Equal elements keep their order.
// Unlike slices.SortStableFunc it is no copy of the algorithm for each type, which matters to the size of the program.
func SortStable[T any](list []T, cmp func(a, b T) int) {
	sort.SliceStable(list, func(i, j int) bool { return cmp(list[i], list[j]) < 0 })
}
