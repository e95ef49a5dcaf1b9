package tracediff

// names keeps one string for each system, scope and sum, so that a checkpoint needs no new strings. The zero names is
// ready for use.
type names struct {
	recent [256]string
	all    map[string]string
}

// maxInterned limits the number of strings that are kept. Further names in a trace get new strings.
const maxInterned = 1 << 16

func (n *names) intern(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	slot := &n.recent[(uint(len(b))*31+uint(b[0])*7+uint(b[len(b)/2])*131+uint(b[len(b)-1])*17)%256]
	if *slot == string(b) {
		return *slot
	}
	s, ok := n.all[string(b)]
	if !ok {
		s = string(b)
		if n.all == nil {
			n.all = map[string]string{}
		}
		if len(n.all) < maxInterned {
			n.all[s] = s
		}
	}
	*slot = s
	return s
}
