package bisect

import (
	"fmt"
	"github.com/desynctool/desynctool/internal/lists"
)

// text is a sentence of a result. Peers are named in it once all names are known.
type text struct {
	format string
	args   []any
	once   bool // it is left out if the same was said before
}

func (t *text) String() string {
	if t.args == nil {
		return t.format
	}
	return fmt.Sprintf(t.format, t.args...)
}

// say returns a sentence. It is formatted at once unless it names a peer.
func say(format string, args ...any) text {
	for _, a := range args {
		if _, ok := a.(*peer); ok {
			return text{format, args, true}
		}
	}
	return text{format: fmt.Sprintf(format, args...), once: true}
}

// texts are sentences in the order in which they were said.
type texts []text

func (t *texts) add(list ...string) {
	*t = append(*t, lists.Map(list, func(s string) text { return text{format: s} })...)
}

// strings puts the sentences into words.
func (t texts) strings() (list []string) {
	seen := make(map[string]bool, len(t))
	for i := range t {
		s := t[i].String()
		if t[i].once && seen[s] {
			continue
		}
		seen[s] = true
		list = append(list, s)
	}
	return list
}
