// Package lists makes lists of lists.
package lists

import "slices"

// Map returns f of each element, in order; nil for none.
func Map[T, U any](list []T, f func(T) U) []U {
	out := slices.Grow([]U(nil), len(list))
	for _, x := range list {
		out = append(out, f(x))
	}
	return out
}
