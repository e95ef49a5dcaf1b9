package survey

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/history"
	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/lists"
)

// histories reads documents with the checksums of many ticks as logs. Several such files of a peer are states instead, as those
// are whose names differ in a number that may be the tick.
func (s *Survey) histories() {
	var list []log
	var all []*group
	for _, g := range s.order {
		if g.notation == nil || !g.may(description.Log) || g.notation.Name == "csv" || slices.Contains(lineNotations, g.notation.Name) || len(g.bases) > mostLogs {
			continue
		}
		before := len(list)
		for _, base := range g.bases {
			path := filepath.Join(g.dir, base)
			past := s.historyOf(g, path)
			if past == nil {
				list = list[:before]
				break
			}
			trace := past.Format()
			trace.Title = g.title(trace.Title)
			list = append(list, log{group: g, path: path, past: past, trace: &trace})
		}
		if len(list) > before {
			all = append(all, g)
		}
	}
	list, all = s.withoutMeasurements(list, all)
	if len(list) == 0 {
		return
	}
	agree := func(l log) bool { return l.path == list[0].path || l.past.Agrees(list[0].past) }
	if len(all) == 1 && lists.Count(list, agree) == len(list) || !severalOf(all) {
		s.found = append(s.found, list...)
		s.order = slices.DeleteFunc(s.order, func(g *group) bool { return slices.Contains(all, g) })
	}
}

// withoutMeasurements takes documents with measurements of the machines out of those with checksums, and out of the groups.
func (s *Survey) withoutMeasurements(list []log, all []*group) ([]log, []*group) {
	isMeasure := func(name string) bool { return noisyNames.MatchString(states.Words(name)) }
	measures := func(l log) bool {
		return vocabulary.Of(filepath.Base(l.path)) != vocabulary.Sum && slices.ContainsFunc(list, func(other log) bool {
			return other.path != l.path && l.past.Measures(other.past, isMeasure)
		})
	}
	out := map[*group]bool{}
	for _, l := range list {
		if !out[l.group] && measures(l) {
			out[l.group] = true
			s.notes = append(s.notes, l.path+": numbers that are not called checksums, and that no other such file has at the same ticks: "+
				"taken for measurements of the machine, and not compared")
		}
	}
	isOut := func(g *group) bool { return out[g] }
	s.order = slices.DeleteFunc(s.order, isOut)
	return slices.DeleteFunc(list, func(l log) bool { return out[l.group] }), slices.DeleteFunc(all, isOut)
}

// severalOf reports whether files may be several ones of each peer: they differ in a number, or in their names and their folders.
func severalOf(groups []*group) bool {
	dirs, shapes, above := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, g := range groups {
		dirs[g.dir], shapes[g.shape], above[filepath.Dir(g.dir)] = true, true, true
		if len(g.bases) > 1 {
			return true
		}
	}
	return len(dirs) > 1 && len(shapes) > 1 || len(above) > 1 && len(dirs) > len(above)
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
			s.lacking = append(s.lacking, fmt.Sprintf("%s: a list of checksums that is not compared, since %s does not have them at the same places", l.path, first.path))
			l.past.Forget()
		}
		if names := l.past.Unlike(first.past); len(names) > 0 {
			s.lacking = append(s.lacking, fmt.Sprintf("%s: not as in %s, and not compared: %s", l.path, first.path, strings.Join(names, ", ")))
		}
	}
}
