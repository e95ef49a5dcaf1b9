package document

import (
	"slices"
	"strconv"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// traceDocument is desynctool.tracediff/1.
type traceDocument struct {
	Head
	Traces      []traceInfoDocument  `json:"traces"`
	First       *CheckpointDocument  `json:"first"`
	Bracket     *traceBracket        `json:"bracket"`
	Exact       bool                 `json:"exact"`
	Cascade     []CascadeDocument    `json:"cascade"`
	Differences []CheckpointDocument `json:"differences"`
	Changed     int64                `json:"changed"` // checkpoints, all of them
	Missing     int64                `json:"missing"`
	Groups      []groupsDocument     `json:"groups"`
	LastDiffers *uint64              `json:"last_differing_tick"`
	LastTick    *uint64              `json:"last_compared_tick"`
	Findings    []findingDocument    `json:"findings"`
	Noticed     []noticedDocument    `json:"noticed"`
	Untraced    []untracedDocument   `json:"untraced"`
	Noise       []noiseDocument      `json:"noise"` // differences that do not count
	Lost        []string             `json:"missing_traces"`
	Uncompared  []string             `json:"uncompared"`
	Unsure      int64                `json:"unsure_ticks"`

	// Claims are the engines' own claims, ClaimCount counts them with repetitions.
	Claims     []ClaimDocument `json:"claims"`
	ClaimCount int64           `json:"claim_count"`
	// Start has what the engines' logs contain about the start and differs.
	Start []tracediff.Start `json:"start"`
	// Reset is the number of ticks after which a running checksum restarts, 0 if it does not; Cumulative reports
	// whether checksums cover everything before them.
	Reset      uint64   `json:"reset,omitempty"`
	Cumulative bool     `json:"cumulative,omitempty"`
	Notes      []string `json:"notes"`
	Copies     []string `json:"copies"` // files left out, since others contain the same
	// Also are the comparisons of other traces of the same peers, in other formats.
	Also []*traceDocument `json:"also,omitempty"`
}

// noiseDocument is a value that differs between peers in sync, and where it does so first.
type noiseDocument struct {
	Sum    string `json:"sum"`
	Count  int64  `json:"count"`
	Tick   uint64 `json:"tick"`
	System string `json:"system"`
	Scope  string `json:"scope"`
}

// traceInfoDocument is one trace.
type traceInfoDocument struct {
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
	// Gaps are ticks for which the trace has nothing, while another one has records.
	Gaps []gapDocument `json:"gaps,omitempty"`
}

// gapDocument is a span of ticks, both ends included.
type gapDocument struct {
	First uint64 `json:"first_tick"`
	Last  uint64 `json:"last_tick"`
	Away  bool   `json:"away"` // the peer was not there, as its order log shows
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
	Values     map[string]valueDocument `json:"values"` // of the peers that have it
	// Absent has the reason for the others: lacking, not-begun, over, unreadable, untraced or not-compared. Only
	// lacking is a difference.
	Absent map[string]string `json:"absent,omitempty"`
	// DetailOf is the kind of the values' details: call-stack or path; empty if there are none.
	DetailOf tracediff.DetailKind `json:"detail_of,omitempty"`
}

// Differing returns the names of the sums that differ between peers, "" for the main one; nothing if a peer lacks the
// checkpoint.
func (c *CheckpointDocument) Differing() (names []string) {
	all := map[string]map[string]bool{}
	add := func(name, value string) {
		if all[name] == nil {
			all[name] = map[string]bool{}
		}
		all[name][value] = true
	}
	for _, v := range c.Values {
		add("", v.Sum)
		for name, sum := range v.Sums {
			add(name, sum)
		}
		if v.Count != nil {
			add("count", strconv.FormatUint(*v.Count, 10))
		}
	}
	for name, values := range all {
		if len(values) > 1 {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Place is a position in a peer's file.
type Place struct {
	Peer, File string
	Line       int64 // from 1; 0 if the file has no lines
}

// Places returns where the peers' files have the checkpoint, in the order of these names.
func (c *CheckpointDocument) Places(peers []string) (places []Place) {
	for _, peer := range peers {
		if v, has := c.Values[peer]; has && v.File != "" {
			places = append(places, Place{peer, v.File, v.Line})
		}
	}
	return places
}

// valueDocument is what one peer has at a checkpoint.
type valueDocument struct {
	File   string            `json:"file,omitempty"` // of a trace in several
	Sum    string            `json:"sum,omitempty"`  // the main one
	Sums   map[string]string `json:"sums,omitempty"`
	Count  *uint64           `json:"count,omitempty"`
	Line   int64             `json:"line,omitempty"`
	Offset int64             `json:"offset"`
	// Detail has details, line by line.
	Detail []DetailDocument `json:"detail,omitempty"`
}

// traceBracket is the span of ticks in which traces diverged.
type traceBracket struct {
	Good   *uint64        `json:"good"`
	Bad    uint64         `json:"bad"`
	Native *bracketNative `json:"native,omitempty"`
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

// groupsDocument is which peers agree from a tick on.
type groupsDocument struct {
	Tick   uint64     `json:"tick"`
	Groups [][]string `json:"groups"`
}

// findingDocument is something wrong within one trace.
type findingDocument struct {
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

// noticedDocument is when a relay on a schedule would have seen the divergence.
type noticedDocument struct {
	Schedule string  `json:"schedule"`
	Noticed  bool    `json:"noticed"`
	Tick     *uint64 `json:"tick"`
	Late     *uint64 `json:"ticks_late"`
	Open     bool    `json:"open"`
}

// untracedDocument is a system and scope that some peers do not trace.
type untracedDocument struct {
	System string   `json:"system"`
	Scope  string   `json:"scope"`
	Peers  []string `json:"peers"`
}

// Trace returns the document of a comparison of traces.
func Trace(t *tracediff.Set) Document {
	return documentOf(t, traceJSON, traceText)
}

func traceJSON(t *tracediff.Set) *traceDocument {
	doc := resultJSON(t.Results[0], StatusOf(t))
	doc.Lost, doc.Notes, doc.Copies = t.Missing, t.Notes, t.Copies
	for _, r := range t.Results[1:] {
		also := resultJSON(r, alone(r))
		also.Claims = nil // they are in the first one
		doc.Also = append(doc.Also, also)
	}
	return doc
}

// alone returns the status of one comparison of a set.
func alone(r *tracediff.Result) Status {
	return StatusOf(&tracediff.Set{Results: []*tracediff.Result{r}})
}

func resultJSON(r *tracediff.Result, status Status) *traceDocument {
	doc := &traceDocument{
		Head: head("tracediff", status, r.Warnings), Changed: r.Changed, Missing: r.Missing, Claims: Claims(r), Start: r.Start, ClaimCount: r.ClaimCount, Unsure: r.Unsure,
	}
	d := r.Dialect()
	doc.Reset, doc.Cumulative = d.Reset, d.Cumulative
	name := func(i int) string { return r.Traces[i].Name }
	for i := range r.Traces {
		t := &r.Traces[i]
		info := traceInfoDocument{
			Name: t.Name, File: t.File, Grammar: t.Kind(), First: t.First.Number, Last: t.Last.Number,
			Ended: t.Ended, Torn: t.Torn, Malformed: t.Malformed, Trouble: t.Trouble,
		}
		for _, g := range t.Gaps {
			info.Gaps = append(info.Gaps, gapDocument{g.First.Number, g.Last.Number, g.Away})
		}
		if t.Rollback != nil {
			info.Mispredictions = &t.Rollback.Mispredictions
		}
		doc.Traces = append(doc.Traces, info)
	}
	if r.First != nil {
		first := checkpoint(r, r.First)
		doc.First, doc.LastDiffers, doc.LastTick = &first, &r.LastDiffering.Number, &r.LastCompared.Number
	}
	if b := r.Bracket; b != nil {
		doc.Bracket, doc.Exact = &traceBracket{Good: orNull(b.HasGood, b.Good.Number), Bad: b.Bad.Number}, b.Exact()
		if bad := r.NativeName(b.Bad); bad != "" {
			doc.Bracket.Native = &bracketNative{Bad: bad}
			if b.HasGood {
				doc.Bracket.Native.Good = r.NativeName(b.Good)
			}
		}
	}
	for _, c := range r.Cascade {
		doc.Cascade = append(doc.Cascade, CascadeDocument{Scope: c.Scope, Tick: c.Tick.Number, Native: r.NativeName(c.Tick), System: c.System, Count: c.Count, Last: c.Last.Number})
	}
	for i := range r.Differences {
		doc.Differences = append(doc.Differences, checkpoint(r, &r.Differences[i]))
	}
	for _, g := range r.Groups {
		doc.Groups = append(doc.Groups, groupsDocument{g.Tick.Number, traceGroups(r, g)})
	}
	for _, f := range r.Findings {
		doc.Findings = append(doc.Findings, findingDocument{
			Kind: string(f.Kind), Peer: name(f.Trace), Tick: f.Tick.Number, System: f.System, Scope: f.Scope, Player: f.Player,
			Line: f.Pos.Line, Offset: f.Pos.Offset, Expected: f.Expected, Got: f.Got,
		})
	}
	for i := range r.Noticed {
		n := &r.Noticed[i]
		at := n.Noticed || n.Open
		doc.Noticed = append(doc.Noticed, noticedDocument{n.Schedule.Name, n.Noticed, orNull(at, n.Tick.Number), orNull(at, n.Late), n.Open})
	}
	doc.Uncompared = lists.Map(r.Uncompared, name)
	for _, n := range r.Noise {
		doc.Noise = append(doc.Noise, noiseDocument{n.Sum, n.Count, n.Tick.Number, n.System, n.Scope})
	}
	for _, u := range r.Untraced {
		d := untracedDocument{System: u.System, Scope: u.Scope}
		d.Peers = lists.Map(u.Traces, name)
		doc.Untraced = append(doc.Untraced, d)
	}
	return doc
}

func traceGroups(r *tracediff.Result, g tracediff.Groups) [][]string {
	var out [][]string
	for _, group := range g.Groups {
		names := lists.Map(group, func(i int) string { return r.Traces[i].Name })
		out = append(out, names)
	}
	return list(out)
}

func checkpoint(r *tracediff.Result, d *tracediff.Difference) CheckpointDocument {
	doc := CheckpointDocument{
		Kind: string(d.Kind), Tick: d.Tick.Number, Native: r.NativeName(d.Tick), Epoch: d.Tick.Epoch, System: d.System, Scope: d.Scope, Phase: d.Phase.String(),
		Occurrence: d.Occurrence, Values: map[string]valueDocument{},
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
		value := valueDocument{File: v.File, Sum: v.Sum(""), Line: v.Pos.Line, Offset: v.Pos.Offset, Count: orNull(v.HasCount, v.Count)}
		for _, s := range v.Sums {
			if s.Name != "" {
				if value.Sums == nil {
					value.Sums = map[string]string{}
				}
				value.Sums[s.Name] = string(s.Value)
			}
		}
		if value.Detail = detailDocuments(v.Detail); len(value.Detail) > 0 {
			doc.DetailOf = r.Traces[i].Dialect.Detail
		}
		doc.Values[r.Traces[i].Name] = value
	}
	return doc
}
