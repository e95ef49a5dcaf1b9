package document

import (
	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
)

// bisectDocument is desynctool.bisect/1.
type bisectDocument struct {
	Head
	Bracket        *BracketDocument  `json:"bracket"` // null in sync
	Exact          bool              `json:"exact"`
	Tick           *uint64           `json:"tick"`
	InitialState   bool              `json:"initial_state"`
	Splits         []SplitDocument   `json:"splits"`   // all stretches in which peers had diverged
	Probes         int               `json:"probes"`   // pairs that the search opened, or prefixes
	Surveyed       int               `json:"surveyed"` // pairs opened after the search, for healings and later splits
	Pairs          int               `json:"pairs"`    // that there are, of every two peers
	Content        []uint64          `json:"content"`  // state points whose snapshots were read whole and compared with their digests
	Snapshots      int               `json:"snapshots"`
	Recorded       int               `json:"recorded_hashes"`
	Groups         [][]string        `json:"groups"`
	Peers          []bisect.PeerInfo `json:"peers" nil:"null"` // null if there are none
	Healed         *uint64           `json:"healed_at"`        // the first point known to be equal again; Bad itself where histories, or traces within the tick, prove it
	Loaded         *bisect.Loaded    `json:"loaded,omitempty"` // there if a peer diverged by loading a state
	Replay         *replayDocument   `json:"replay,omitempty"`
	Computed       []bisect.Computed `json:"computed,omitempty"`
	SimFailed      string            `json:"simulator_failed,omitempty"` // how
	Witness        *WitnessDocument  `json:"witness,omitempty"`
	Contradictions []string          `json:"contradictions"`
	Missing        []string          `json:"missing"`
	Notes          []string          `json:"notes"`
	Native         map[string]string `json:"native,omitempty"`
	// Headers are the build and the tick rate if they differ between peers.
	Headers []orderlog.HeaderDifference `json:"headers,omitempty"`

	Prefix *bisect.PrefixSearch `json:"prefix,omitempty"` // there if prefixes were searched

	// OnlyHistories reports whether only history hashes show that the peers diverged.
	OnlyHistories bool            `json:"only_histories,omitempty"`
	Noise         []noisyDocument `json:"noise,omitempty"` // differences that the files declare to be noise, which change no status

	// Kind is "state", "blind-checksum", "checksum-only" or "stale-cache", empty in sync.
	Kind      bisect.Kind        `json:"kind,omitempty"`
	Caches    *CachesDocument    `json:"caches,omitempty"` // where only caches differ
	Checksums []checksumDocument `json:"checksums,omitempty"`
	Claims    []ClaimDocument    `json:"claims,omitempty"`
}

// noisyDocument is noise that differs, from Bad on.
type noisyDocument struct {
	Label  string   `json:"label"`
	Good   *uint64  `json:"good"` // the last point before it at which it is known to be equal
	Bad    uint64   `json:"bad"`
	Points int      `json:"points"` // at which it differs
	Peers  []string `json:"peers"`
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
	return &CachesDocument{tickOf(c.Good), c.Bad.Tick, tickOf(c.Again), c.Labels, []string{c.A, c.B}, c.Files[:]}
}

// BracketDocument is the span (good, bad].
type BracketDocument struct {
	Good   *uint64          `json:"good"` // null if no pair is equal
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
	d.Pairs, d.Peers, d.Loaded, d.Prefix = r.Pairs, r.Peers, r.Loaded, r.Prefix
	d.Content = lists.Map(r.Content, func(at snapshot.Point) uint64 { return at.Tick })
	d.Tick, d.Healed = orNull(r.Exact, r.Tick), tickOf(r.Healed)
	if d.Bracket = Bracket(r.Bracket); d.Bracket != nil && d.Bracket.Native != nil {
		d.Native = map[string]string{"state": d.Bracket.Native.Bad}
	}
	d.Computed, d.Kind, d.Caches, d.OnlyHistories = r.Computed, r.Kind, Caches(r.Caches), r.OnlyHistories
	for i := range r.Noise {
		n := &r.Noise[i]
		d.Noise = append(d.Noise, noisyDocument{n.Label, tickOf(n.Good), n.Bad.Tick, n.Points, []string{n.A, n.B}})
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
			c.Good, c.Bad, c.Native = orNull(b.HasGood, b.Good.Number), &b.Bad.Number, t.NativeName(b.Bad)
		}
		if len(t.Groups) > 0 {
			c.Groups = traceGroups(t, t.Groups[0])
		}
		d.Checksums = append(d.Checksums, c)
	}
	if m := r.Sums; m != nil {
		d.Checksums = append(d.Checksums, checksumDocument{What: recordedSums, Good: m.Good, Bad: &m.Bad, Last: m.Last, Groups: m.Groups})
	}
	if rep := r.Replay; rep != nil {
		d.Replay = &replayDocument{Sim: rep.Sim, From: rep.From, To: rep.To, InputsPart: rep.InputsDiffer}
		for i := range rep.Peers {
			p := &rep.Peers[i]
			doc := replayedPeerDocument{
				Name: p.Name, MatchesReference: orNull(p.Compared > 0, p.MatchesReference()), Compared: p.Compared,
				Departs: p.Departs, LastAgreed: p.LastAgreed, OrdersOf: p.Borrowed,
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
	d := &BracketDocument{Good: tickOf(b.Good), Bad: b.Bad.Tick, By: string(b.By), Phase: b.Bad.Phase}
	if b.Bad.Native != "" {
		d.Native = &bracketNative{wordsOf(b.Good), b.Bad.Words()}
	}
	if len(b.GoodFiles)+len(b.BadFiles) > 0 {
		d.Files = &bracketEndFiles{list(b.GoodFiles), list(b.BadFiles)}
	}
	return d
}
