package bundle

import (
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/tracediff"
)

// excuse marks the gaps of traces in which the peers were not there, as their order logs
// show.
func (s *Session) excuse(r *tracediff.Result) {
	for i := range r.Traces {
		t := &r.Traces[i]
		if len(t.Gaps) == 0 {
			continue
		}
		stretches := s.stretchesBeside(t.File)
		for k := range t.Gaps {
			g := &t.Gaps[k]
			g.Away = len(stretches) > 0 && !slices.ContainsFunc(stretches, func(x bisect.Stretch) bool {
				return x.From <= g.Last.Number && g.First.Number < x.To
			}) && slices.ContainsFunc(stretches, func(x bisect.Stretch) bool { return x.From > g.Last.Number })
		}
	}
}

// stretchesBeside returns the stretches of our order log next to a trace, nil if there is none that can be read.
func (s *Session) stretchesBeside(trace string) []bisect.Stretch {
	for _, p := range s.places {
		if !slices.ContainsFunc(p.files, func(f *File) bool { return f.Path == trace }) {
			continue
		}
		for _, f := range p.files {
			if !f.isOwnLog() {
				continue
			}
			source, closer, err := openLog(s.tree, f, nil)
			if err != nil {
				return nil
			}
			log, err := bisect.ReadLog(source)
			closer.Close()
			if err != nil && !damaged(err) {
				return nil
			}
			return log.Stretches
		}
	}
	return nil
}
