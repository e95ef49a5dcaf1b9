package compare

import (
	"errors"
	"fmt"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/bundle/gamelog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/report/words"
	"github.com/desynctool/desynctool/tracediff"
)

// alone concludes from evidence that cannot be compared with any other; why is the reason. Without any that can be used
// it stays an error.
func alone(s *bundle.Session, why error) (*document.Report, error) {
	var few *bundle.AloneError
	if !errors.As(why, &few) {
		return nil, why
	}
	c, err := few.Checkup, error(nil)
	if c == nil {
		c, err = bundle.Examine(s, nil)
	}
	if err != nil || !slices.ContainsFunc(c.Peers, func(p document.CheckedPeer) bool { return len(p.Covers)+len(p.Logs) > 0 }) {
		return nil, why
	}
	e := verdict.Evidence{Given: s.Given(), Engine: s.Engine(), Replayer: s.Replayer(), Facts: c.Facts, Stated: statedAlone(s, c), GameLogs: c.GameLogs, Warnings: c.Warnings, Ask: func() string { return c.Ask }}
	e.Session.Played = s.Played()
	for _, f := range c.Files {
		for _, t := range f.Trouble {
			if t.Kind != "misnamed" && t.Kind != "duplicate" {
				e.Lost = append(e.Lost, fmt.Sprintf("%s: %s: %s", f.Path, t.Kind, t.Text))
			}
		}
	}
	e.Lost = append(e.Lost, s.Lost()...)
	var unplayed *unplayedError
	if errors.As(why, &unplayed) {
		e.Lost = append(e.Lost, unplayed.lost...)
	}
	names := map[string]string{}
	for _, f := range c.Files {
		names[f.Path] = f.Peer
	}
	hear(&e, s, names)
	for _, p := range c.Own() {
		e.Covers = append(e.Covers, verdict.Covered{Name: p.Name, Spans: p.Covers})
	}
	if traces, _ := s.Traces(bundle.TraceOptions{Logs: true}); traces != nil && len(traces.Claims) > 0 {
		if e.Traces, err = traces.Compare(tracediff.Options{Context: -1}); err != nil {
			e.Lost = append(e.Lost, err.Error())
		}
	}
	found, err := verdict.Conclude(e)
	if err != nil {
		return nil, err
	}
	return words.Report(found), nil
}

// statedAlone returns all facts of the game and of the machines that a checkup has, and those that the log
// of a game states which lies there by itself.
func statedAlone(s *bundle.Session, c *document.Checkup) []document.Fact {
	names := map[string]string{}
	for _, p := range c.Peers {
		names[p.Path] = p.Name
	}
	var said bundle.Said
	said.Add(c.Facts)
	said.Add(s.GameLogs(names, gamelog.Split{}).Stated)
	peers := lists.Map(c.Own(), func(p document.CheckedPeer) string { return p.Name })
	return bundle.Stated(said.Facts(peers))
}
