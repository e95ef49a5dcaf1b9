package survey

import (
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/anygame/history"
	"github.com/desynctool/desynctool/engines/engine/description"
)

// learnHistory finds out whether a file is a document with the checksums of many ticks. If its beginning is one, the whole
// file is read: states may follow.
func (s *Survey) learnHistory(l *log, sample []byte) {
	g := l.group
	if g.notation == nil || g.kind != description.Undescribed && g.kind != description.Log {
		return
	}
	if l.past = history.Learn(g.notation, sample); l.past == nil {
		return
	}
	if int64(len(sample)) >= s.sampleOf(l.path)/2 {
		text, err := s.read(l.path, learnLen)
		if err != nil {
			l.past = nil
		} else if l.past = history.Learn(g.notation, text); l.past == nil {
			return
		}
	}
	trace := l.past.Format()
	trace.Title = g.title(trace.Title)
	l.trace = &trace
}

// unshift leaves out documents whose checksums are counted, if they have other places in another one.
func (s *Survey) unshift() {
	shifted := func(l log) bool {
		return l.past != nil && slices.ContainsFunc(s.found, func(o log) bool { return o.past != nil && l.past.Shifted(o.past) })
	}
	for _, l := range s.found {
		if shifted(l) {
			s.unread = append(s.unread, l.group)
			s.lacking = append(s.lacking, fmt.Sprintf("%s: a list of checksums that another file has at other places, so they are not compared", l.path))
		}
	}
	s.found = slices.DeleteFunc(s.found, func(l log) bool { return slices.Contains(s.unread, l.group) && shifted(l) })
}
