package bisect

import "slices"

// Witnessed is the outcome of a game that played the recordings of the peers again.
type Witnessed struct {
	Spec string // as the command line gives it
	Game string // "0 A.D. 0.0.26"

	Replays []WitnessedReplay
	// Twice are the peers whose logs gave two replays of the same orders that were compared: two peers, or one with a
	// log that was played twice; empty if nothing was compared. Differ is where the replays diverge, nil if they do
	// not.
	Twice  []string
	Differ *Bracket
	// Narrowed reports whether the replays made the bracket of the peers narrower.
	Narrowed bool
	// Forced lists the recordings that another version made but that were played all the same, with that version: a
	// line each. Then a peer that departs may only have done what its own version does.
	Forced []string
	// Failed lists what could not be played, and why: a line each.
	Failed []string
}

// WitnessedReplay is how a peer compares with the replay of its log.
type WitnessedReplay struct {
	Peer   string
	Replay string // its name
	// Departs is where the peer departs from it, nil if it does not, as far as they were compared. Agrees is the last
	// state point up to which they were compared and do not differ, nil if that is not known.
	Departs *Bracket
	Agrees  *uint64
	Why     string // why nothing of them could be compared, else empty
}

// Compared reports whether anything of the peer was compared with the replay.
func (r *WitnessedReplay) Compared() bool { return r.Departs != nil || r.Agrees != nil }

// earlier reports whether a bracket ends at or before the beginning of another.
func earlier(a, b *Bracket) bool {
	return b.Good != nil && a.Bad.Compare(*b.Good) <= 0
}

// Elsewhere reports whether a peer departs from its replay before the peers diverged: then the game that replays is not
// the one that they played.
func (w *Witnessed) Elsewhere(peers *Bracket) bool {
	return slices.ContainsFunc(w.Replays, func(r WitnessedReplay) bool { return r.Departs != nil && earlier(r.Departs, peers) })
}

// Guilty returns the peers that depart from the replays of their own logs where the peers diverged, while another
// agrees with its replay until then, or is not known not to. It is nil if the replays do not decide: if they differ
// from each other, if a peer departs before the peers diverged, if all do, or if another version was forced to play and
// no peer agrees with it.
func (w *Witnessed) Guilty(b *Result) (guilty []string) {
	if b == nil || b.Bracket == nil || w.Differ != nil || w.Elsewhere(b.Bracket) {
		return nil
	}
	var innocent []string
	for i := range w.Replays {
		switch r := &w.Replays[i]; {
		case r.Departs != nil && !earlier(b.Bracket, r.Departs):
			guilty = append(guilty, r.Peer)
		case r.Departs != nil || r.Agrees != nil && *r.Agrees >= b.Bracket.Bad.Tick:
			innocent = append(innocent, r.Peer)
		}
	}
	if len(guilty) == 0 || len(innocent) == 0 && (len(guilty) == len(b.Peers) || len(w.Forced) > 0) {
		return nil
	}
	return guilty
}
