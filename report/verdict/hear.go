package verdict

import (
	"slices"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// hear takes the games' own messages. Where nothing was compared they are all that there is: the peers are the ones
// that the messages name. Two checksums of one tick prove, according to the game, that they diverged.
func (c *Conclusion) hear(e Evidence) {
	c.runs(e)
	w := Hear(e.Accounts)
	if w == nil {
		return
	}
	if !c.onlyWords() {
		for i := range c.Statements {
			if s := &c.Statements[i]; s.SelfTest && c.Runs == RunsOfSelfTest && c.Bracket != nil {
				s.Standing = tracediff.Borne // the states of both runs differ
			}
		}
		c.mentioned(w)
		return
	}
	c.Word = w
	c.tell(e, w)
	known := c.peerNames()
	for _, p := range w.Peers() {
		i, ok := known[p.Name]
		if !ok {
			known[p.Name] = len(c.Peers)
			c.Peers = append(c.Peers, p)
			continue
		}
		c.Peers[i].Group, c.Peers[i].ClaimLog = p.Group, p.ClaimLog
	}
	for _, g := range w.Sums {
		if len(g.Peers) > 0 {
			c.Groups = append(c.Groups, g.Peers)
		}
	}
	for _, name := range w.Torn {
		c.Contradictions = append(c.Contradictions, Contradiction{Kind: TwoSums, Peers: [2]string{name}})
	}
	if w.Kind.Proves() {
		c.Kind = bisect.Claimed
	}
	switch w.Kind {
	case WordSelfTest:
		c.Runs = RunsOfSelfTest
	case WordReplay:
		c.Runs = RunsOfReplay
	default:
		if len(c.Groups) > 1 {
			c.majority()
		}
	}
	if w.Kind == WordSelfTest && w.At != nil {
		c.Tick, c.TickBy = w.At, TickByWord
	}
	c.Lacking = c.lackingFiles(e)
	c.Answers = nil
}

// onlyWords reports whether nothing but messages shows whether the peers diverged.
func (c *Conclusion) onlyWords() bool {
	return !c.Search.Compares() && !c.Inputs.Differ() && c.Inputs.Hashes == nil && c.Cache == nil && c.Caches == nil &&
		(c.Bracket == nil || c.Bracket.By == bisect.ByClaim)
}

// runs finds out whether the peers are two runs of one game.
func (c *Conclusion) runs(e Evidence) {
	if len(c.Peers) != 2 || !snapshot.IsRun(c.Peers[0].Name) || !snapshot.IsRun(c.Peers[1].Name) {
		return
	}
	c.Runs = RunsOfSelfTest
	for _, t := range slices.Concat(e.Bisect.Traces, e.Traces) {
		if len(t.Traces) > 0 && t.Dialect().Replay {
			c.Runs = RunsOfReplay
		}
		for i := range t.Claims {
			if t.Claims[i].Loaded { // another test
				c.Began = false
				return
			}
			c.Began = c.Began || t.Claims[i].Began
		}
	}
}

// peerNames returns the place of each peer in c.Peers, the first of a name.
func (c *Conclusion) peerNames() map[string]int {
	at := make(map[string]int, len(c.Peers))
	for i, p := range slices.Backward(c.Peers) {
		at[p.Name] = i
	}
	return at
}

// mentioned adds the peers that only messages name, if the messages call peers with evidence by the same names: else
// they may be the same peers under other names.
func (c *Conclusion) mentioned(w *Word) {
	known := c.peerNames()
	called := func(name string) bool { _, ok := known[name]; return ok }
	if w.Runs() || !slices.ContainsFunc(w.Mentioned, called) {
		return
	}
	for _, name := range w.Mentioned {
		if !called(name) && name != Unnamed {
			c.Peers = append(c.Peers, document.TriagedPeer{Name: name, Mentioned: true})
		}
	}
}

// tell makes statements of accounts in files that no comparison has looked at. A claim at the place where it reports
// the divergence confirms nothing. The writer of a statement follows from the owner of the file.
func (c *Conclusion) tell(e Evidence, w *Word) {
	writers := map[string]string{} // by file; what a server found belongs to the server, in any log
	for i := range e.Accounts {
		a := &e.Accounts[i]
		if !a.Arbiter && !w.Runs() {
			writers[a.File] = w.Logs[i].Peer
		}
		for k := range a.Claims {
			if e.Bisect == nil {
				c.Statements = append(c.Statements, Statement{ClaimDocument: a.document(&a.Claims[k])})
			}
		}
	}
	for i := range c.Statements {
		s := &c.Statements[i]
		s.Standing = tracediff.Unchecked
		if s.By == "" && len(s.Files) == 1 {
			s.By = writers[s.Files[0]]
		}
	}
}

// document returns a claim as a report has it.
func (a *Account) document(c *tracediff.Claim) document.ClaimDocument {
	doc := document.ClaimDocument{
		Text: c.Text, Files: []string{a.File}, Line: c.Pos.Line, Peers: append([]string{}, c.Peers...), Values: append([]tracediff.ClaimedValue{}, c.Values...), Of: c.Of,
		Standing: tracediff.Unchecked, Contradictions: []string{}, By: c.By, SelfTest: c.SelfTest, Replay: c.Replay, Quoted: c.Quoted, Reported: c.Reported, Data: c.Data,
	}
	if c.HasTick {
		doc.Tick, doc.Native = new(c.Tick), nameOf(a.TickName, c.Tick)
	}
	return doc
}

// lackingFiles returns what would confirm the messages: the files of the peers that they name, or of any other; states
// where there are the logs of all.
func (c *Conclusion) lackingFiles(e Evidence) []Need {
	if c.Runs != RunsOfPeers || c.Word.Claim.Data {
		return nil
	}
	if c.Word.Claim.Told {
		return []Need{{What: PlayersFiles, Files: e.Leaves}}
	}
	if of := c.Word.Absent(); len(of) > 0 || len(c.Word.have()) < 2 {
		return []Need{{What: PeerFiles, Of: of, Files: e.Leaves}}
	}
	return []Need{{What: StatesOrHashes, Of: c.Word.have(), Files: e.More}}
}

// have returns the peers that have a file.
func (w *Word) have() (list []string) {
	for _, log := range w.Logs {
		if log.Peer != "" && !slices.Contains(list, log.Peer) {
			list = append(list, log.Peer)
		}
	}
	return list
}

// Absent returns the peers that are named and have no file. A peer without a name cannot be asked for anything.
func (w *Word) Absent() []string {
	if w.Runs() {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(w.Mentioned), func(name string) bool { return name == Unnamed })
}

// answerWord goes through the steps where there are only messages.
func (c *Conclusion) answerWord() {
	files := c.Lacking
	c.answerPreflight()
	if c.Runs == RunsOfPeers {
		c.put(StepInputs, document.RungOpen, files...)
	}
	at := document.RungOpen
	if c.Word.Kind.Proves() && c.Word.At != nil {
		at = document.RungFound
	}
	if c.Bracket != nil {
		c.put(StepBracket, at)
	} else {
		c.put(StepBracket, document.RungOpen, files...)
	}
	switch {
	case c.Tick != nil:
		c.put(StepTick, document.RungFound)
	case c.Runs == RunsOfPeers:
		c.put(StepTick, document.RungOpen, files...)
	}
	switch {
	case len(c.Word.Torn) > 0:
		c.put(StepPeers, document.RungTrouble)
	case c.Runs == RunsOfPeers && len(c.Word.Sums) > 1:
		c.put(StepPeers, document.RungFound)
	case c.Runs == RunsOfPeers:
		c.put(StepPeers, document.RungOpen, files...)
	}
	if c.Diverged() {
		c.put(StepCause, document.RungOpen, c.separates()...)
	}
	if c.Word.Kind.Proves() {
		c.put(StepClaims, document.RungFound)
	} else {
		c.put(StepClaims, document.RungOpen, files...)
	}
}

// separates returns what would narrow the cause down where two results are known by word only.
func (c *Conclusion) separates() []Need {
	if c.Runs == RunsOfPeers {
		return c.Lacking
	}
	return c.separatesRuns()
}

// separatesRuns returns what would narrow the cause down where one game was computed twice, none
// where there are two peers.
func (c *Conclusion) separatesRuns() []Need {
	switch c.Runs {
	case RunsOfSelfTest:
		if c.Word != nil && c.Word.Claim.Loaded {
			return needs(LoadedStates)
		}
		return needs(SecondTest)
	case RunsOfReplay:
		return needs(SameBuildReplay)
	}
	return nil
}
