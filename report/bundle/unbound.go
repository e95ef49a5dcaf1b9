package bundle

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/tracediff"
)

// doubtUnbound notes that logs may belong to several matches if they form one match only because they are in one place,
// without other evidence: no file names its match, and no tick or checksum that games wrote about a desync into one log
// is also in another.
func (m *Matches) doubtUnbound() {
	for _, x := range m.List {
		if x.id != "" || x.Seed != nil {
			continue
		}
		groups := m.bound(x.units)
		if len(groups) < 2 {
			continue
		}
		x.Doubts = append(x.Doubts, fmt.Sprintf("%s and %s may belong to different matches: neither shows its match, and no tick of a message is in both",
			groups[0][0].path, groups[1][0].path))
	}
}

// bound groups logs with messages by what they have in common; nil if there is other evidence.
func (m *Matches) bound(units []*unit) (groups [][]*unit) {
	said := map[*unit][]tracediff.Claim{}
	for _, u := range units {
		list := m.claims(u)
		if len(list) == 0 {
			return nil
		}
		said[u] = list
		joined := []*unit{u}
		groups = slices.DeleteFunc(groups, func(g []*unit) bool {
			common := slices.ContainsFunc(g, func(v *unit) bool { return share(said[v], list) })
			if common {
				joined = append(g, joined...)
			}
			return common
		})
		groups = append(groups, joined)
	}
	return groups
}

// share reports whether two logs have a message of the same tick, or, where messages name none, with
// the same checksum.
func share(a, b []tracediff.Claim) bool {
	type mark struct {
		tick uint64
		sum  string
	}
	marks := map[mark]bool{}
	each := func(list []tracediff.Claim, is func(mark)) {
		for i := range list {
			if list[i].HasTick {
				is(mark{tick: list[i].Tick})
				continue
			}
			for _, v := range list[i].Values {
				if v.Value != "" {
					is(mark{sum: tracediff.SumKey(v.Value)})
				}
			}
		}
	}
	each(a, func(k mark) { marks[k] = true })
	found := false
	each(b, func(k mark) { found = found || marks[k] })
	return found
}

// claims returns what a game wrote of desyncs into a whole file.
func (m *Matches) claims(u *unit) []tracediff.Claim {
	f := u.file
	switch {
	case f == nil || u.part != nil || f.Err != nil:
	case f.claims != nil:
		return f.claims.Claims
	case f.Format != nil && f.Format.Trace != nil && f.Format.Trace.Claims != nil && f.Format.Trace.Read == nil:
		if log, err := tracediff.ReadClaims(m.whole.tree, f.Path, f.Format.Trace, tracediff.ReadOptions{}); err == nil && log != nil {
			return log.Claims
		}
	}
	return nil
}
