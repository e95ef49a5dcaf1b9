package document

import (
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// bisectDocument is desynctool.bisect/1.
type bisectDocument struct {
	Head
	Bracket        *BracketDocument  `json:"bracket"`
	Exact          bool              `json:"exact"`
	Tick           *uint64           `json:"tick"`
	InitialState   bool              `json:"initial_state"`
	Splits         []SplitDocument   `json:"splits"`
	Probes         int               `json:"probes"`
	Surveyed       int               `json:"surveyed"` // pairs opened after the search, for healings and later splits
	Pairs          int               `json:"pairs"`    // that there are, of every two peers
	Content        []uint64          `json:"content"`  // state points whose snapshots were read whole and compared with their digests
	Snapshots      int               `json:"snapshots"`
	Recorded       int               `json:"recorded_hashes"`
	Groups         [][]string        `json:"groups"`
	Peers          []bisectPeer      `json:"peers" nil:"null"` // null if there are none
	Healed         *uint64           `json:"healed_at"`
	Loaded         *loadedDocument   `json:"loaded,omitempty"` // there if a peer diverged by loading a state
	Replay         *replayDocument   `json:"replay,omitempty"`
	Computed       []computedState   `json:"computed,omitempty"`
	SimFailed      string            `json:"simulator_failed,omitempty"` // how
	Witness        *WitnessDocument  `json:"witness,omitempty"`
	Contradictions []string          `json:"contradictions"`
	Missing        []string          `json:"missing"`
	Notes          []string          `json:"notes"`
	Native         map[string]string `json:"native,omitempty"`
	// Headers are the build and the tick rate if they differ between peers.
	Headers []orderlog.HeaderDifference `json:"headers,omitempty"`

	Prefix *prefixDocument `json:"prefix,omitempty"` // there if prefixes were searched

	// OnlyHistories reports whether only history hashes show that the peers diverged.
	OnlyHistories bool            `json:"only_histories,omitempty"`
	Noise         []noisyDocument `json:"noise,omitempty"` // differences that the files declare to be noise

	// Kind is "state", "blind-checksum", "checksum-only" or "stale-cache", empty in sync.
	Kind      bisect.Kind        `json:"kind,omitempty"`
	Caches    *CachesDocument    `json:"caches,omitempty"`
	Checksums []checksumDocument `json:"checksums,omitempty"`
	Claims    []ClaimDocument    `json:"claims,omitempty"`
}

// computedState is a state that was computed and written to a file.
type computedState struct {
	Peer      string `json:"peer"`
	Point     uint64 `json:"point"`
	Sim       string `json:"sim"`
	Hash      string `json:"hash"`
	Confirmed bool   `json:"confirmed"` // by a hash that the peer recorded
	File      string `json:"file"`
}

// noisyDocument is noise that differs, from Bad on.
type noisyDocument struct {
	Label  string   `json:"label"`
	Good   *uint64  `json:"good"` // the last point before it at which it is known to be equal
	Bad    uint64   `json:"bad"`
	Points int      `json:"points"` // at which it differs
	Peers  []string `json:"peers"`
}

// loadedDocument is a peer that diverged by loading a state at the bad end of the bracket.
type loadedDocument struct {
	Peer  string           `json:"peer"`
	Began bisect.Beginning `json:"began"`
	After *uint64          `json:"after"` // the state point that it had reached before, null if it joined
}

// checksumDocument is the evidence of the checksums that engines recorded.
type checksumDocument struct {
	What   string     `json:"what"`
	Good   *uint64    `json:"good"` // the last tick at which they agree before Bad
	Bad    *uint64    `json:"bad"`  // the first at which they differ
	Native string     `json:"native,omitempty"`
	Last   uint64     `json:"last_compared"`
	Groups [][]string `json:"groups"` // at Bad
}

// CachesDocument is where caches begin to differ though the states are equal.
type CachesDocument struct {
	Good   *uint64  `json:"good"` // the last point before it at which they are known to be equal
	Bad    uint64   `json:"bad"`
	Again  *uint64  `json:"again"` // the first after it at which they are known to be equal again
	Labels []string `json:"labels"`
	Peers  []string `json:"peers"`
	Files  []string `json:"files"`
}

// Caches returns the document of caches that differ, nil for none.
func Caches(c *bisect.CacheSplit) *CachesDocument {
	if c == nil {
		return nil
	}
	d := &CachesDocument{Bad: c.Bad.Tick, Labels: c.Labels, Peers: []string{c.A, c.B}, Files: c.Files[:]}
	if c.Good != nil {
		d.Good = &c.Good.Tick
	}
	if c.Again != nil {
		d.Again = &c.Again.Tick
	}
	return d
}

// prefixDocument is a search over the prefixes of one log.
type prefixDocument struct {
	Test string `json:"test"`
	From uint64 `json:"from"` // state points
	To   uint64 `json:"to"`
}

// BracketDocument is the span (good, bad].
type BracketDocument struct {
	Good   *uint64          `json:"good"`
	Bad    uint64           `json:"bad"`
	By     string           `json:"by"`
	Phase  string           `json:"phase,omitempty"`
	Native *bracketNative   `json:"native,omitempty"`
	Files  *bracketEndFiles `json:"files,omitempty"`
}

// bracketNative are the engine's own names of the ends.
type bracketNative struct {
	Good string `json:"good,omitempty"`
	Bad  string `json:"bad"`
}

// worst returns the point at which the bracket ends.
func (d *BracketDocument) worst() snapshot.Point {
	native := ""
	if d.Native != nil {
		native = d.Native.Bad
	}
	return PointOf(native, d.Bad)
}

// known reports whether it is known which point that is.
func (d *BracketDocument) known() bool { return d.worst().Known() }

// bracketEndFiles are the snapshots at the ends.
type bracketEndFiles struct {
	Good []string `json:"good"`
	Bad  []string `json:"bad"`
}

// bisectPeer is one peer.
type bisectPeer struct {
	Name      string `json:"name"`
	Path      string `json:"path"`
	Snapshots int    `json:"snapshots"`
	OrderLog  bool   `json:"order_log"`
}

// replayDocument is what a simulator said.
type replayDocument struct {
	Sim        string                 `json:"sim"`
	From       uint64                 `json:"from"`
	To         uint64                 `json:"to"`
	Peers      []replayedPeerDocument `json:"peers"`
	InputsPart *uint64                `json:"inputs_part"`
}

// replayedPeerDocument is one peer against the replay.
type replayedPeerDocument struct {
	Name             string  `json:"name"`
	MatchesReference *bool   `json:"matches_reference"` // null if nothing was compared
	Compared         int     `json:"compared"`
	Departs          *uint64 `json:"departs_at"`
	LastAgreed       *uint64 `json:"last_agreed"` // the last point before it that was compared
	Expected         string  `json:"expected,omitempty"`
	Got              string  `json:"got,omitempty"`
	OrdersOf         string  `json:"orders_of,omitempty"`

	Drill *trialDocument `json:"drill,omitempty"` // its replay system by system
}

// Bisect returns the document of a bisection.
func Bisect(r *bisect.Result) Document {
	return documentOf(r, bisectJSON, bisectText)
}

func bisectJSON(r *bisect.Result) *bisectDocument {
	d := &bisectDocument{
		Head:  head("bisect", StatusOf(r), r.Warnings),
		Exact: r.Exact, InitialState: r.InitialState, Splits: Splits(r.Splits), Probes: r.Probes, Surveyed: r.Surveyed, Snapshots: r.Snapshots, Recorded: r.Recorded, Groups: r.Groups,
		Contradictions: r.Contradictions, Missing: r.Lost, Notes: r.Notes, Headers: r.Headers, SimFailed: r.SimFailed, Witness: Witness(r.Witnessed),
	}
	d.Pairs = r.Pairs
	for _, at := range r.Content {
		d.Content = append(d.Content, at.Tick)
	}
	if r.Exact {
		d.Tick = &r.Tick
	}
	if r.Healed != nil {
		d.Healed = &r.Healed.Tick
	}
	if l := r.Loaded; l != nil {
		d.Loaded = &loadedDocument{l.Peer, l.Began, l.After}
	}
	if d.Bracket = Bracket(r.Bracket); d.Bracket != nil && d.Bracket.Native != nil {
		d.Native = map[string]string{"state": d.Bracket.Native.Bad}
	}
	if p := r.Prefix; p != nil {
		d.Prefix = &prefixDocument{p.Test, p.From, p.To}
	}
	for i := range r.Computed {
		c := &r.Computed[i]
		d.Computed = append(d.Computed, computedState{c.Peer, c.Point, c.Sim, c.Hash.String(), c.Confirmed, c.File})
	}
	d.Kind, d.Caches, d.OnlyHistories = r.Kind, Caches(r.Caches), r.OnlyHistories
	for i := range r.Noise {
		n := &r.Noise[i]
		doc := noisyDocument{Label: n.Label, Bad: n.Bad.Tick, Points: n.Points, Peers: []string{n.A, n.B}}
		if n.Good != nil {
			doc.Good = &n.Good.Tick
		}
		d.Noise = append(d.Noise, doc)
	}
	for i, t := range r.Traces {
		if i == 0 {
			d.Claims = Claims(t)
		}
		if len(t.Traces) < 2 {
			continue
		}
		c := checksumDocument{What: t.Traces[0].Kind(), Last: t.LastCompared.Number}
		if b := t.Bracket; b != nil {
			c.Bad, c.Native = &b.Bad.Number, t.NativeName(b.Bad)
			if b.HasGood {
				c.Good = &b.Good.Number
			}
		}
		if len(t.Groups) > 0 {
			c.Groups = traceGroups(t, t.Groups[0])
		}
		d.Checksums = append(d.Checksums, c)
	}
	if m := r.Sums; m != nil {
		d.Checksums = append(d.Checksums, checksumDocument{What: recordedSums, Good: m.Good, Bad: &m.Bad, Last: m.Last, Groups: m.Groups})
	}
	for _, p := range r.Peers {
		d.Peers = append(d.Peers, bisectPeer{p.Name, p.Path, p.Snapshots, p.Log})
	}
	if rep := r.Replay; rep != nil {
		d.Replay = &replayDocument{Sim: rep.Sim, From: rep.From, To: rep.To, InputsPart: rep.InputsDiffer}
		for i := range rep.Peers {
			p := &rep.Peers[i]
			doc := replayedPeerDocument{Name: p.Name, Compared: p.Compared, Departs: p.Departs, LastAgreed: p.LastAgreed, OrdersOf: p.Borrowed}
			if p.Compared > 0 {
				matches := p.MatchesReference()
				doc.MatchesReference = &matches
			}
			if p.Departs != nil {
				doc.Expected, doc.Got = p.Expected.String(), p.Got.String()
			}
			if p.Drilled != nil {
				drill := trialJSON(p.Drilled)
				doc.Drill = &drill
			}
			d.Replay.Peers = append(d.Replay.Peers, doc)
		}
	}
	return d
}

// Bracket returns the document of a bracket, nil for none.
func Bracket(b *bisect.Bracket) *BracketDocument {
	if b == nil {
		return nil
	}
	d := &BracketDocument{Bad: b.Bad.Tick, By: string(b.By), Phase: b.Bad.Phase}
	if b.Bad.Native != "" {
		d.Native = &bracketNative{Bad: b.Bad.Words()}
	}
	if b.Good != nil {
		d.Good = &b.Good.Tick
		if d.Native != nil {
			d.Native.Good = b.Good.Words()
		}
	}
	if len(b.GoodFiles)+len(b.BadFiles) > 0 {
		d.Files = &bracketEndFiles{list(b.GoodFiles), list(b.BadFiles)}
	}
	return d
}

func bisectText(out *Text, r *bisect.Result, all bool) {
	s := out.Style
	out.put(s.Verdict(StatusOf(r)), bisectHeadline(r))
	row := out.Row
	if r.SimFailed != "" {
		row("sim", s.bad.Sprint("failed: "), Safe(r.SimFailed))
	}
	for i := range r.Headers {
		row("header", s.bad.Sprint(Safe(r.Headers[i].String())))
	}
	if b := r.Bracket; b != nil {
		width := prose.Columns(bothNames(b.Bad))
		if b.Good != nil {
			width = max(width, prose.Columns(bothNames(*b.Good)))
			end(row, "good", s.good, *b.Good, width, "equal", b.GoodFiles)
		} else if !r.InitialState {
			row("good", "no pair before is known to be equal")
		}
		end(row, "bad", s.bad, b.Bad, width, "differ", b.BadFiles)
		row("by", string(b.By))
	}
	if c := r.Caches; c != nil && r.Kind == bisect.StaleCache {
		width := prose.Columns(bothNames(c.Bad))
		if c.Good != nil {
			width = max(width, prose.Columns(bothNames(*c.Good)))
			end(row, "good", s.good, *c.Good, width, "equal", nil)
		}
		end(row, "bad", s.bad, c.Bad, width, "caches differ", c.Files[:])
		row("caches", strings.Join(prose.Names(c.Labels), ", "), " of ", s.name.Sprint(prose.Name(c.A)), "  ≠  ", s.name.Sprint(prose.Name(c.B)))
		if c.Again != nil {
			row("healed", "the caches are equal again ", atNames(*c.Again))
		}
	}
	if len(r.Groups) > 0 {
		row("groups", groupsText(r.Groups, s))
	}
	if r.Healed != nil {
		row("healed", "the states are equal again ", atNames(*r.Healed))
	}
	splitRows(row, Splits(r.Splits))
	if p := r.Prefix; p != nil {
		row("search", fmt.Sprintf("%s tested, of state points %d to %d", prose.Count(r.Probes, "prefix", "prefixes"), p.From, p.To))
		row("test", Safe(p.Test))
	}
	if r.Snapshots > 0 {
		row("search", pairsText(r))
	}
	for _, t := range r.Traces {
		if len(t.Traces) > 1 {
			row("checksum", checksumText(t, s))
			persistence(row, t)
		}
	}
	if m := r.Sums; m != nil {
		row("checksum", sumsText(m, s))
	}
	if len(r.Traces) > 0 {
		claimsText(row, r.Traces[0], s, "--format json", false)
	}
	replayText(row, r.Replay, s)
	witnessRows(out, r.Witnessed)
	drillText(out, r.Replay)
	var written []string // with different states
	for i := range r.Computed {
		c := &r.Computed[i]
		row("computed", prose.Path(c.File), "  ", Safe(c.String()))
		if i == 0 || len(written) == 1 && c.Hash != r.Computed[0].Hash {
			written = append(written, c.File)
		}
	}
	for _, part := range []struct {
		name  string
		texts []string
		color printer
	}{{"conflict", r.Contradictions, s.bad}, {"lost", r.Lost, s.warn}, {"note", r.Notes, nil}} {
		for i, text := range part.texts {
			if i == shownTexts {
				row(part.name, fmt.Sprintf("… and %d more  (--format json)", len(part.texts)-i))
				break
			}
			text = Safe(text)
			if part.color != nil {
				text = part.color.Sprint(text)
			}
			row(part.name, text)
		}
	}
	if len(written) == 2 {
		out.next(diffOf(written))
	} else if b := r.Bracket; b != nil && len(b.BadFiles) == 2 {
		out.next(diffOf(b.BadFiles))
	} else if c := r.Caches; c != nil && r.Kind == bisect.StaleCache {
		out.next(diffOf(c.Files[:]))
	}
}

// pairsText counts the pairs of states that were opened: where no states differ, it counts all pairs with compared
// roots, and those that were both read whole.
func pairsText(r *bisect.Result) string {
	opened := r.Probes
	if r.Bracket == nil {
		opened += r.Surveyed
	}
	n, how := len(r.Content), "opened"
	switch {
	case r.Bracket != nil || n == 0:
	case n == r.Snapshots:
		n, how = 0, "read whole"
	default:
		how = "compared by hash"
	}
	text := fmt.Sprintf("%s %s of %d", prose.Count(opened, "pair", "pairs"), how, r.Pairs)
	if len(r.Peers) > 2 {
		text = fmt.Sprintf("%s %s at %s", prose.Count(opened, "pair", "pairs"), how, prose.Count(r.Snapshots, "state point", "state points"))
	}
	if n > 0 && r.Bracket == nil {
		names := make([]string, n)
		for i, at := range r.Content {
			names[i] = pointName(at)
		}
		text += "; read whole at " + strings.Join(names, ", ")
	}
	return text
}

// diffOf shows what differs between two states.
func diffOf(files []string) Step {
	return Step{Command: []string{"diff", PathArgument(files[0]), PathArgument(files[1])}}
}

// recordedSums is the name of the hashes in order logs among checksums.
const recordedSums = "recorded sync hashes"

func sumsText(m *bisect.Sums, s Style) string {
	text := recordedSums + ": "
	if m.Good != nil {
		text += fmt.Sprintf("agree at state point %d, ", *m.Good)
	}
	return text + "differ at " + s.bad.Sprint(m.Bad) + ": " + groupsText(m.Groups, s)
}

func groupsText(list [][]string, s Style) string {
	var groups []string
	for _, g := range list {
		names := make([]string, len(g))
		for i, n := range g {
			names[i] = s.name.Sprint(prose.Name(n))
		}
		groups = append(groups, strings.Join(names, " = "))
	}
	return strings.Join(groups, "  ≠  ")
}

// checksumText describes the evidence of the checksums that engines recorded.
func checksumText(t *tracediff.Result, s Style) string {
	what := Safe(t.Traces[0].Kind())
	switch b := t.Bracket; {
	case b == nil:
		return fmt.Sprintf("%s: no difference up to %s", what, tickText(t, t.LastCompared))
	case t.Traces[0].Dialect.Values:
		text := fmt.Sprintf("%s: %s", what, s.bad.Sprint(placeName(t, t.First)))
		for i := range t.First.Values {
			text += "  " + s.name.Sprint(prose.Name(t.Traces[i].Name)) + " " + traceValue(t, t.First, i, false)
		}
		return text
	case !b.HasGood:
		return fmt.Sprintf("%s: differs in %s, the first that was compared", what, s.bad.Sprint(tickText(t, b.Bad)))
	default:
		text := fmt.Sprintf("%s: agrees in %s, differs in %s", what, tickText(t, b.Good), s.bad.Sprint(tickText(t, b.Bad)))
		if len(t.Groups) > 0 {
			var groups []string
			for _, names := range traceGroups(t, t.Groups[0]) {
				groups = append(groups, strings.Join(prose.Names(names), " = "))
			}
			text += ": " + strings.Join(groups, "  ≠  ")
		}
		return text
	}
}

// shownTexts is how many conflicts, losses and notes each a bisection shows.
const shownTexts = 8

func bisectHeadline(r *bisect.Result) string {
	switch b := r.Bracket; {
	case r.Kind == bisect.ChecksumOnly:
		return fmt.Sprintf("  checksum only: checksums differ, the states are equal at all %s", prose.Count(r.Snapshots, "state point", "state points"))
	case r.Kind == bisect.StaleCache && r.Caches != nil:
		return fmt.Sprintf("  stale cache, from state point %s on: %s; the states are equal at all %s", pointName(r.Caches.Bad),
			strings.Join(prose.Names(r.Caches.Labels), ", "), prose.Count(r.Snapshots, "state point", "state points"))
	case r.Kind == bisect.BlindChecksum && b.Good != nil:
		return fmt.Sprintf("  in (%s, %s], with a blind checksum", pointName(*b.Good), pointName(b.Bad))
	case r.Snapshots+r.Recorded == 0 && len(r.Traces) > 0:
		return traceHeadline(r.Traces[0])
	case b == nil && r.Prefix != nil && len(r.Contradictions)+len(r.Lost) > 0:
		return "  nothing found"
	case b == nil && r.Prefix != nil:
		return fmt.Sprintf("  no difference up to state point %d", r.Prefix.To)
	case b == nil && r.Snapshots+r.Recorded == 0:
		return "  nothing to compare"
	case b == nil && r.Snapshots == 0:
		return fmt.Sprintf("  no difference in %s", prose.Count(r.Recorded, "recorded hash", "recorded hashes"))
	case b == nil && r.Recorded == 0:
		return fmt.Sprintf("  no difference at %s", prose.Count(r.Snapshots, "common state point", "common state points"))
	case b == nil:
		return fmt.Sprintf("  no difference at %s, nor in %s", prose.Count(r.Snapshots, "common state point", "common state points"),
			prose.Count(r.Recorded, "recorded hash", "recorded hashes"))
	case r.OnlyHistories:
		return fmt.Sprintf("  by the history hashes alone, at state point %s; every common state is equal", pointName(b.Bad))
	case r.InitialState:
		return "  in the initial state, before any tick"
	case r.Exact && b.Good != nil && b.Good.Native != "" && strings.Trim(b.Good.Words()+b.Bad.Words(), "0123456789") == "":
		return fmt.Sprintf("  in the tick from %s to %s", pointName(*b.Good), pointName(b.Bad))
	case r.Exact:
		return fmt.Sprintf("  in tick %d", r.Tick)
	case b.Good == nil && !b.Bad.Known():
		return "  " + AtPoint(b.Bad)
	case b.Good == nil:
		return fmt.Sprintf("  at or before state point %s", pointName(b.Bad))
	default:
		return fmt.Sprintf("  in (%s, %s]", pointName(*b.Good), pointName(b.Bad))
	}
}

// departed describes where a peer departs: at a point if the one before was compared, else in a span.
func departed(p *bisect.ReplayedPeer) string {
	switch d := *p.Departs; {
	case p.LastAgreed != nil && d > *p.LastAgreed+1:
		return fmt.Sprintf("in (%d, %d]", *p.LastAgreed, d)
	case p.LastAgreed == nil && d > 0:
		return fmt.Sprintf("at or before state point %d", d)
	default:
		return fmt.Sprintf("at state point %d", d)
	}
}

func end(row func(string, ...string), name string, color printer, p snapshot.Point, width int, what string, files []string) {
	at := bothNames(p)
	line := []string{color.Sprint(pad(at, prose.Columns(at), width)), "  ", what}
	for _, f := range files {
		line = append(line, "  ", Safe(f))
	}
	row(name, line...)
}

func replayText(row func(string, ...string), rep *bisect.Replay, s Style) {
	if rep == nil {
		return
	}
	from := "the start"
	if rep.FromState {
		from = fmt.Sprintf("the snapshots at %d", rep.From)
	}
	row("replay", fmt.Sprintf("%s, from %s to state point %d", rep.Sim, from, rep.To))
	for i := range rep.Peers {
		p := &rep.Peers[i]
		name := s.name.Sprint(prose.Name(p.Name))
		switch {
		case p.Compared == 0:
			row("", name, " left nothing to compare")
		case p.Departs == nil:
			row("", name, fmt.Sprintf(" agrees at every point compared (%d)", p.Compared))
		default:
			row("", name, " ", s.bad.Sprint("departs"), " ", departed(p), fmt.Sprintf(": expected %s, got %s", p.Expected, p.Got))
		}
	}
}

// drillText describes in which system each peer departs, and what that system wrote.
func drillText(out *Text, rep *bisect.Replay) {
	s := out.Style
	if rep == nil {
		return
	}
	for i := range rep.Peers {
		p := &rep.Peers[i]
		if p.Drilled == nil {
			continue
		}
		name := s.name.Sprint(prose.Name(p.Name))
		d := p.Drilled.First
		if d == nil {
			out.Row("drill", name, " does not depart from its own trace")
			continue
		}
		what := fmt.Sprintf(", state point %d", d.Point)
		if tick, ok := p.Drilled.Tick(); ok {
			what = fmt.Sprintf(", tick %d", tick)
		}
		out.Row("drill", name, what)
		drilledText(out, d, false)
		for _, lost := range p.Drilled.Lost {
			out.Row("lost", s.warn.Sprint(Safe(lost)))
		}
	}
}
