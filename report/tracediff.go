package report

import (
	"github.com/desynctool/desynctool/tracediff"
)

// TraceDocument is desynctool.tracediff/1.
type TraceDocument struct {
	Head
	Traces      []TraceInfoDocument  `json:"traces"`
	First       *CheckpointDocument  `json:"first"`
	Bracket     *TraceBracket        `json:"bracket"`
	Exact       bool                 `json:"exact"`
	Cascade     []CascadeDocument    `json:"cascade"`
	Differences []CheckpointDocument `json:"differences"`
	Changed     int64                `json:"changed"` // checkpoints, all of them
	Missing     int64                `json:"missing"`
	Groups      []GroupsDocument     `json:"groups"`
	LastDiffers *uint64              `json:"last_differing_tick"`
	LastTick    *uint64              `json:"last_compared_tick"`
	Findings    []FindingDocument    `json:"findings"`
	Noticed     []NoticedDocument    `json:"noticed"`
	Untraced    []UntracedDocument   `json:"untraced"`
	Lost        []string             `json:"missing_traces"`
	Uncompared  []string             `json:"uncompared"`
	Unsure      int64                `json:"unsure_ticks"`

	// Claims are what engines wrote themselves, ClaimCount with repetitions.
	Claims     []ClaimDocument `json:"claims"`
	ClaimCount int64           `json:"claim_count"`
	// Start is what the engines' logs say of the start and is not the same.
	Start []StartDocument `json:"start"`
	// Reset is the number of ticks behind which a running checksum begins anew, 0
	// if it does not; Cumulative says that checksums cover all that came before.
	Reset      uint64   `json:"reset,omitempty"`
	Cumulative bool     `json:"cumulative,omitempty"`
	Notes      []string `json:"notes"`
	Copies     []string `json:"copies"` // files left out, since others say the same
	// Also are the comparisons of other traces of the same peers.
	Also []*TraceDocument `json:"also,omitempty"`
}

// TraceInfoDocument is one trace.
type TraceInfoDocument struct {
	Name           string `json:"name"`
	File           string `json:"file"`
	Grammar        string `json:"grammar"`
	First          uint64 `json:"first_tick"`
	Last           uint64 `json:"last_tick"`
	Ended          bool   `json:"ended"`
	Torn           bool   `json:"torn"`
	Malformed      int64  `json:"malformed_lines"`
	Trouble        string `json:"trouble,omitempty"`
	Mispredictions *int64 `json:"mispredictions,omitempty"`
}

// CheckpointDocument is a checkpoint at which traces differ.
type CheckpointDocument struct {
	Kind       string                   `json:"kind"`
	Tick       uint64                   `json:"tick"`
	Native     string                   `json:"native,omitempty"`
	Epoch      uint64                   `json:"epoch,omitempty"`
	System     string                   `json:"system"`
	Scope      string                   `json:"scope"`
	Phase      string                   `json:"phase"`
	Occurrence uint32                   `json:"occurrence"`
	Values     map[string]ValueDocument `json:"values"` // of the peers that have it
	// Absent says of the others why: lacking, not-begun, over, unreadable, untraced
	// or not-compared. Lacking alone is a difference.
	Absent map[string]string `json:"absent,omitempty"`
}

// ValueDocument is what one peer has at a checkpoint.
type ValueDocument struct {
	File   string            `json:"file,omitempty"` // of a trace in several
	Sum    string            `json:"sum,omitempty"`  // the main one
	Sums   map[string]string `json:"sums,omitempty"`
	Count  *uint64           `json:"count,omitempty"`
	Line   int64             `json:"line,omitempty"`
	Offset int64             `json:"offset"`
}

// TraceBracket is the span of ticks in which traces parted.
type TraceBracket struct {
	Good   *uint64        `json:"good"`
	Bad    uint64         `json:"bad"`
	Native *BracketNative `json:"native,omitempty"`
}

// CascadeDocument is where a scope first differed.
type CascadeDocument struct {
	Scope  string `json:"scope"`
	Tick   uint64 `json:"tick"`
	Native string `json:"native,omitempty"`
	System string `json:"system"`
	Count  int64  `json:"count"`
	Last   uint64 `json:"last_tick"`
}

// GroupsDocument is which peers agree from a tick on.
type GroupsDocument struct {
	Tick   uint64     `json:"tick"`
	Groups [][]string `json:"groups"`
}

// FindingDocument is something wrong within one trace.
type FindingDocument struct {
	Kind     string `json:"kind"`
	Peer     string `json:"peer"`
	Tick     uint64 `json:"tick"`
	System   string `json:"system,omitempty"`
	Scope    string `json:"scope,omitempty"`
	Player   uint32 `json:"player,omitempty"`
	Line     int64  `json:"line,omitempty"`
	Offset   int64  `json:"offset"`
	Expected string `json:"expected,omitempty"`
	Got      string `json:"got,omitempty"`
}

// NoticedDocument says when a relay on a schedule would have seen the
// divergence.
type NoticedDocument struct {
	Schedule string  `json:"schedule"`
	Noticed  bool    `json:"noticed"`
	Tick     *uint64 `json:"tick"`
	Late     *uint64 `json:"ticks_late"`
	Open     bool    `json:"open"`
}

// UntracedDocument is a system and scope that some peers do not trace.
type UntracedDocument struct {
	System string   `json:"system"`
	Scope  string   `json:"scope"`
	Peers  []string `json:"peers"`
}

// TraceSet is what was compared of one session's traces.
type TraceSet struct {
	// Results are those of each group of traces that can be compared, the one
	// that says most first.
	Results []*tracediff.Result
	Missing []string // evidence that was lost or lacks
	Notes   []string
	Copies  []string // files left out, since others say the same
}

// Status returns the outcome of a comparison of traces.
func (t *TraceSet) Status() Status {
	worst := InSync
	for _, r := range t.Results {
		switch s := traceStatus(r); {
		case s == Diverged:
			return Diverged
		case s != InSync:
			worst = s
		}
	}
	if len(t.Missing) > 0 {
		return Inconclusive
	}
	return worst
}

func traceStatus(r *tracediff.Result) Status {
	if r.Diverged() || r.FindingCount > 0 || len(r.Start) > 0 {
		return Diverged
	}
	for i := range r.Traces {
		if t := &r.Traces[i]; t.Torn || t.Trouble != "" || t.Empty {
			return Inconclusive
		}
	}
	if len(r.Traces) < 2 || len(r.Uncompared) > 0 || r.Unsure > 0 || len(r.Claims) > 0 {
		return Inconclusive
	}
	return InSync
}

// Trace returns the JSON document of a comparison of traces.
func Trace(t *TraceSet) *TraceDocument {
	doc := traceDocument(t.Results[0], t.Status())
	doc.Lost, doc.Notes, doc.Copies = list(t.Missing), list(t.Notes), list(t.Copies)
	for _, r := range t.Results[1:] {
		also := traceDocument(r, traceStatus(r))
		also.Claims = []ClaimDocument{} // they stand in the first one
		doc.Also = append(doc.Also, also)
	}
	return doc
}

func traceDocument(r *tracediff.Result, status Status) *TraceDocument {
	doc := &TraceDocument{
		Head: head("tracediff", status, r.Warnings), Traces: []TraceInfoDocument{}, Cascade: []CascadeDocument{},
		Differences: []CheckpointDocument{}, Changed: r.Changed, Missing: r.Missing, Groups: []GroupsDocument{},
		Findings: []FindingDocument{}, Noticed: []NoticedDocument{}, Untraced: []UntracedDocument{}, Lost: []string{},
		Claims: []ClaimDocument{}, ClaimCount: r.ClaimCount, Start: []StartDocument{}, Notes: []string{}, Copies: []string{},
	}
	d := r.Dialect()
	doc.Reset, doc.Cumulative = d.Reset, d.Cumulative
	for i := range r.Claims {
		doc.Claims = append(doc.Claims, claimDocument(r, &r.Claims[i]))
	}
	for _, s := range r.Start {
		doc.Start = append(doc.Start, StartDocument(s))
	}
	name := func(i int) string { return r.Traces[i].Name }
	for i := range r.Traces {
		t := &r.Traces[i]
		info := TraceInfoDocument{
			Name: t.Name, File: t.File, Grammar: traceKind(t), First: t.First.Number, Last: t.Last.Number,
			Ended: t.Ended, Torn: t.Torn, Malformed: t.Malformed, Trouble: t.Trouble,
		}
		if t.Rollback != nil {
			info.Mispredictions = &t.Rollback.Mispredictions
		}
		doc.Traces = append(doc.Traces, info)
	}
	if r.First != nil {
		first := checkpoint(r, r.First)
		doc.First = &first
		last, compared := r.LastDiffering.Number, r.LastCompared.Number
		doc.LastDiffers, doc.LastTick = &last, &compared
	}
	if b := r.Bracket; b != nil {
		doc.Bracket, doc.Exact = &TraceBracket{Bad: b.Bad.Number}, b.Exact()
		if b.HasGood {
			doc.Bracket.Good = &b.Good.Number
		}
		if bad := nativeTick(r, b.Bad); bad != "" {
			doc.Bracket.Native = &BracketNative{Bad: bad}
			if b.HasGood {
				doc.Bracket.Native.Good = nativeTick(r, b.Good)
			}
		}
	}
	for _, c := range r.Cascade {
		doc.Cascade = append(doc.Cascade, CascadeDocument{Scope: c.Scope, Tick: c.Tick.Number, Native: nativeTick(r, c.Tick), System: c.System, Count: c.Count, Last: c.Last.Number})
	}
	for i := range r.Differences {
		doc.Differences = append(doc.Differences, checkpoint(r, &r.Differences[i]))
	}
	for _, g := range r.Groups {
		doc.Groups = append(doc.Groups, GroupsDocument{g.Tick.Number, traceGroups(r, g)})
	}
	for _, f := range r.Findings {
		doc.Findings = append(doc.Findings, FindingDocument{
			Kind: string(f.Kind), Peer: name(f.Trace), Tick: f.Tick.Number, System: f.System, Scope: f.Scope, Player: f.Player,
			Line: f.Pos.Line, Offset: f.Pos.Offset, Expected: f.Expected, Got: f.Got,
		})
	}
	for i := range r.Noticed {
		n := &r.Noticed[i]
		d := NoticedDocument{Schedule: n.Schedule.Name, Noticed: n.Noticed, Open: n.Open}
		if n.Noticed || n.Open {
			d.Tick, d.Late = &n.Tick.Number, &n.Late
		}
		doc.Noticed = append(doc.Noticed, d)
	}
	doc.Uncompared, doc.Unsure = []string{}, r.Unsure
	for _, i := range r.Uncompared {
		doc.Uncompared = append(doc.Uncompared, name(i))
	}
	for _, u := range r.Untraced {
		d := UntracedDocument{System: u.System, Scope: u.Scope}
		for _, i := range u.Traces {
			d.Peers = append(d.Peers, name(i))
		}
		doc.Untraced = append(doc.Untraced, d)
	}
	return doc
}

// nativeTick returns the engine's own name of a tick, "" if it has none.
func nativeTick(r *tracediff.Result, t tracediff.Tick) string {
	if name := r.TickName(t); name != t.String() {
		return name
	}
	return ""
}

func traceGroups(r *tracediff.Result, g tracediff.Groups) [][]string {
	var out [][]string
	for _, group := range g.Groups {
		var names []string
		for _, i := range group {
			names = append(names, r.Traces[i].Name)
		}
		out = append(out, names)
	}
	return list(out)
}

func checkpoint(r *tracediff.Result, d *tracediff.Difference) CheckpointDocument {
	doc := CheckpointDocument{
		Kind: string(d.Kind), Tick: d.Tick.Number, Native: nativeTick(r, d.Tick), Epoch: d.Tick.Epoch, System: d.System, Scope: d.Scope, Phase: d.Phase.String(),
		Occurrence: d.Occurrence, Values: map[string]ValueDocument{},
	}
	for i := range d.Values {
		v := &d.Values[i]
		if !v.Present {
			if doc.Absent == nil {
				doc.Absent = map[string]string{}
			}
			doc.Absent[r.Traces[i].Name] = string(v.Absent)
			continue
		}
		value := ValueDocument{File: v.File, Sum: v.Sum(""), Line: v.Pos.Line, Offset: v.Pos.Offset}
		for _, s := range v.Sums {
			if s.Name != "" {
				if value.Sums == nil {
					value.Sums = map[string]string{}
				}
				value.Sums[s.Name] = string(s.Value)
			}
		}
		if v.HasCount {
			value.Count = &v.Count
		}
		doc.Values[r.Traces[i].Name] = value
	}
	return doc
}
