package snapshot

// rngKey is the property of a state that says its RNG state in words.
const rngKey = "rng"

// SetRNG sets the state of the random number generator, and what people see of it: "count 12,
// last 7" of a generator whose bytes are a number and a count.
func (h *Head) SetRNG(state []byte, words string) {
	h.RNG = state
	if h.Meta == nil {
		h.Meta = map[string]string{}
	}
	h.Meta[rngKey] = words
}

// rngValues returns the RNG states of two states that differ in them: in words if both have them and
// these differ, else as bytes.
func rngValues(a, b *Head) (va, vb Value) {
	wa, wb := a.Meta[rngKey], b.Meta[rngKey]
	if a.RNG != nil && b.RNG != nil && wa != "" && wb != "" && wa != wb {
		return Value{Type: String, Raw: []byte(wa)}, Value{Type: String, Raw: []byte(wb)}
	}
	return Value{Type: Bytes, Absent: a.RNG == nil, Raw: a.RNG}, Value{Type: Bytes, Absent: b.RNG == nil, Raw: b.RNG}
}
