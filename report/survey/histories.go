package survey

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/history"
	"github.com/desynctool/desynctool/engines/engine/description"
)

// isHistory reports whether the files of a group are documents with the checksums of many ticks, and reads them as logs.
// Several files of a peer are states instead: their names may show the ticks.
func (s *Survey) isHistory(g *group, all []*group) bool {
	sibling := func(o *group) bool { return o != g && g.sibling(o) }
	switch {
	case g.notation == nil || g.kind != description.Undescribed || g.notation.Name == "csv" || slices.Contains(lineNotations, g.notation.Name),
		len(g.bases) > mostLogs || len(g.bases) > 1 && slices.ContainsFunc(all, sibling):
		return false
	}
	var list []log
	for _, base := range g.bases {
		l := log{group: g, path: filepath.Join(g.dir, base)}
		if l.past = s.historyOf(g, l.path); l.past == nil {
			return false
		}
		list = append(list, l)
	}
	for _, l := range list {
		trace := l.past.Format()
		l.trace = &trace
		s.found = append(s.found, l)
	}
	return true
}

// historyOf returns how a file is read if it is a document with the checksums of many ticks, nil if it is not. If its beginning
// is one, the whole file is looked at.
func (s *Survey) historyOf(g *group, path string) *history.History {
	const most = 16 << 20 // bytes
	for _, n := range []int64{headLen, most} {
		text, err := s.read(path, n)
		if err != nil {
			return nil
		}
		if past := history.Learn(g.notation, text); past == nil || int64(len(text)) < n {
			return past
		}
	}
	return nil
}

// compareHistories notes which values next to the checksums are not compared although they differ. Lists of checksums that
// are at other places in another list are not compared either.
func (s *Survey) compareHistories() {
	var first *log
	for i := range s.found {
		l := &s.found[i]
		if l.past == nil {
			continue
		}
		if first == nil {
			first = l
		}
		if l.past.Shifted(first.past) {
			s.lacking = append(s.lacking, fmt.Sprintf("%s: not compared, since %s has its checksums at other places", l.path, first.path))
			l.past.Forget()
		}
		if names := l.past.Unlike(first.past); len(names) > 0 {
			s.lacking = append(s.lacking, fmt.Sprintf("%s: not as in %s, and not compared: %s", l.path, first.path, strings.Join(names, ", ")))
		}
	}
}
