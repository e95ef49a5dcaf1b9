package bisect

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// strange describes why a state belongs to another game than a log: it has another seed, another build, or another
// value of a setting that both record, such as the map. It is empty if nothing contradicts the log. Builds count only
// if they matter.
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

// belongs refuses a state of another game than the log, unless it is forced on it. Where two builds are compared, a
// state of another build is noted.
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
