package snapshot

// rngKey is the property of a state that describes its RNG state in words.
const rngKey = "rng"

// SetRNG sets the state of the random number generator, and the text that output shows for it. Example: "count 12, last
// 7" for a generator with a state that consists of a number and a count.
func (h *Head) SetRNG(state []byte, words string) {
	h.RNG = state
	if h.Meta == nil {
		h.Meta = map[string]string{}
	}
	h.Meta[rngKey] = words
}

// rngValues returns the different RNG states of two states. They are in words if both states have words and these
// differ, else bytes.
func rngValues(a, b *Head) (va, vb Value) {
	wa, wb := a.Meta[rngKey], b.Meta[rngKey]
	if a.RNG != nil && b.RNG != nil && wa != "" && wb != "" && wa != wb {
		return Value{Type: String, Raw: []byte(wa)}, Value{Type: String, Raw: []byte(wb)}
	}
	return Value{Type: Bytes, Absent: a.RNG == nil, Raw: a.RNG}, Value{Type: Bytes, Absent: b.RNG == nil, Raw: b.RNG}
}
