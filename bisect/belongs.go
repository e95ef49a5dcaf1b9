package bisect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// strange says how a state is of another game than a log: of another seed, another
// build, or with another value of what both know of, such as the map. It is empty if
// nothing speaks against it. Builds count only if they matter.
func strange(head *snapshot.Head, h *orderlog.Header, builds bool) string {
	if head.Seed != h.Seed {
		return fmt.Sprintf("of seed %016x, the log of %016x", head.Seed, h.Seed)
	}
	var list []string
	differ := func(key, state, log string) {
		if state != "" && log != "" && state != log {
			list = append(list, fmt.Sprintf("%s %q, the log has %q", key, state, log))
		}
	}
	if builds {
		differ("build", head.Meta["build"], h.Build)
	}
	for _, key := range slices.Sorted(maps.Keys(h.Params)) {
		if key != "build" {
			differ(key, head.Meta[key], h.Params[key])
		}
	}
	if len(list) == 0 {
		return ""
	}
	return "of a game with " + strings.Join(list, ", ")
}

// belongs refuses a state of another game than the log, unless it is forced on it. That
// of another build is noted where two builds are to be compared.
func (p *player) belongs(what string, head *snapshot.Head) error {
	why := strange(head, &p.log.Header, true)
	switch {
	case why == "":
		return nil
	case p.opts.Mode == Against && strange(head, &p.log.Header, false) == "":
		p.out.Notes = append(p.out.Notes, fmt.Sprintf("%s is %s: the session went on in another build", what, why))
		return nil
	case !p.opts.Force:
		return fmt.Errorf("%s: %s is %s (--force replays it all the same)", p.log.Name, what, why)
	}
	p.out.Notes = append(p.out.Notes, fmt.Sprintf("forced: %s is %s, so that what departs need not be anybody's mistake", what, why))
	return nil
}
