package extsim

import "slices"

// entry is a key of a map in a message, and how its value is written and read.
type entry struct {
	key  string
	left bool // out of a message, because it has the value that a map without the key has
	put  func(m *message)
	take func(v *values)
}

// one is an entry with a single value.
func one[T any](key string, value *T, put func(m *message, value T), take func(v *values, what string) T) entry {
	return entry{key: key, put: func(m *message) { put(m, *value) }, take: func(v *values) { *value = take(v, key) }}
}

// several is an entry with an array of values.
func several[T any](key string, list *[]T, put func(m *message, value T), take func(v *values, what string) T) entry {
	return entry{key: key, put: func(m *message) {
		m.array(len(*list))
		for _, value := range *list {
			put(m, value)
		}
	}, take: func(v *values) {
		for range v.array(key) {
			if *list = append(*list, take(v, key)); v.err != nil {
				return
			}
		}
	}}
}

// leftOutIf returns the entry for a map that need not have it.
func (e entry) leftOutIf(left bool) entry {
	e.left = left
	return e
}

func putName[T ~string](m *message, s T) { m.str(string(s)) }

func takeName[T ~string](v *values, what string) T { return T(v.str(what)) }

// entries writes a map.
func (m *message) entries(list []entry) {
	list = slices.DeleteFunc(list, func(e entry) bool { return e.left })
	m.mapping(len(list))
	for _, e := range list {
		m.str(e.key)
		e.put(m)
	}
}

// entries reads a map. Keys that are not in list are skipped.
func (v *values) entries(what string, list []entry) {
	for range v.mapping(what) {
		key := v.str("key of " + what)
		if i := slices.IndexFunc(list, func(e entry) bool { return e.key == key }); i >= 0 {
			list[i].take(v)
		} else {
			v.skip(key)
		}
		if v.err != nil {
			return
		}
	}
}
