package verdict

import (
	"slices"

	"github.com/desynctool/desynctool/bisect"
)

// blameWitnessed finds the peers that departed from the replay of their own log.
func (c *Conclusion) blameWitnessed(e Evidence) {
	w := c.Witnessed
	c.Replayed = slices.ContainsFunc(w.Replays, func(r bisect.WitnessedReplay) bool { return r.Compared() })
	c.Unsteady = w.Differ != nil
	if c.Guilty = w.Guilty(e.Bisect); len(c.Guilty) > 0 || c.Unsteady || w.Elsewhere(c.Bracket) || c.Inputs.Differ() {
		return
	}
	c.borrow(w)
}

// borrow finds the peer that left no recording, where the peer that it diverged from did what the game does.
func (c *Conclusion) borrow(w *bisect.Witnessed) {
	if len(c.Groups) != 2 {
		return
	}
	for i := range w.Replays {
		r := &w.Replays[i]
		if r.Departs != nil || r.Agrees == nil || *r.Agrees < c.Bracket.Bad.Tick {
			continue
		}
		for k, group := range c.Groups {
			others := c.Groups[1-k]
			played := func(name string) bool {
				return slices.ContainsFunc(w.Replays, func(r bisect.WitnessedReplay) bool { return r.Peer == name && r.Compared() })
			}
			if slices.Contains(group, r.Peer) && !slices.ContainsFunc(others, played) {
				c.Guilty, c.Borrowed = others, &Borrowed{others[0], r.Peer}
				return
			}
		}
	}
}

// cleared returns the peers that did what the game computes from their logs, beyond where the peers diverged, while
// others are known to have departed.
func (c *Conclusion) cleared(accused []string) (list []string) {
	if c.Witnessed == nil || c.Bracket == nil || len(c.Guilty) == 0 {
		return nil
	}
	for i := range c.Witnessed.Replays {
		r := &c.Witnessed.Replays[i]
		if r.Departs == nil && r.Agrees != nil && *r.Agrees >= c.Bracket.Bad.Tick && slices.Contains(accused, r.Peer) {
			list = append(list, r.Peer)
		}
	}
	return list
}
