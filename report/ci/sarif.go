package ci

import (
	"cmp"
	"fmt"
	"io"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// The objects of SARIF 2.1.0 (OASIS, 27 March 2020) that are written here, by the numbers of its sections.
type (
	sarifLog struct { // 3.13
		Schema  string     `json:"$schema"`
		Version string     `json:"version"`
		Runs    []sarifRun `json:"runs"`
	}
	sarifRun struct { // 3.14
		Tool             sarifTool         `json:"tool"`
		AutomationDetail sarifAutomation   `json:"automationDetails"`
		Invocations      []sarifInvocation `json:"invocations"`
		Artifacts        []sarifArtifact   `json:"artifacts"`
		LogicalLocations []sarifLogical    `json:"logicalLocations"`
		Results          []sarifResult     `json:"results"`
	}
	sarifTool struct { // 3.18
		Driver sarifDriver `json:"driver"`
	}
	sarifDriver struct { // 3.19
		Name           string      `json:"name"`
		Version        string      `json:"version,omitempty"`
		InformationURI string      `json:"informationUri"`
		Rules          []sarifRule `json:"rules"`
	}
	sarifAutomation struct { // 3.17
		ID string `json:"id"`
	}
	sarifRule struct { // 3.49
		ID      string       `json:"id"`
		Name    string       `json:"name,omitempty"`
		Short   sarifText    `json:"shortDescription"`
		HelpURI string       `json:"helpUri,omitempty"`
		Help    *sarifText   `json:"help,omitempty"`
		Default sarifDefault `json:"defaultConfiguration"`
	}
	sarifDefault struct { // 3.50
		Level string `json:"level"`
	}
	sarifText struct { // 3.11, 3.12
		Text string `json:"text"`
	}
	sarifInvocation struct { // 3.20
		Successful    bool                `json:"executionSuccessful"`
		Notifications []sarifNotification `json:"toolExecutionNotifications,omitempty"`
	}
	sarifNotification struct { // 3.58
		Level   string    `json:"level"`
		Message sarifText `json:"message"`
	}
	sarifArtifact struct { // 3.24
		Location sarifFile `json:"location"`
		Roles    []string  `json:"roles"`
	}
	sarifFile struct { // 3.4
		URI   string `json:"uri"`
		Index int    `json:"index"`
	}
	sarifLogical struct { // 3.33
		Name     string `json:"name"`
		FullName string `json:"fullyQualifiedName"`
		Kind     string `json:"kind"`
		Parent   *int   `json:"parentIndex,omitempty"`
	}
	sarifLogicalReference struct { // to one of sarifRun.LogicalLocations
		Name     string `json:"name"`
		FullName string `json:"fullyQualifiedName"`
		Kind     string `json:"kind"`
		Index    int    `json:"index"`
	}
	sarifLocation struct { // 3.28
		ID       int                     `json:"id,omitempty"`
		Physical *sarifPhysical          `json:"physicalLocation,omitempty"`
		Logical  []sarifLogicalReference `json:"logicalLocations,omitempty"`
		Message  *sarifText              `json:"message,omitempty"`
	}
	sarifPhysical struct { // 3.29
		File   sarifFile    `json:"artifactLocation"`
		Region *sarifRegion `json:"region,omitempty"`
	}
	sarifRegion struct { // 3.30
		StartLine int64 `json:"startLine"`
	}
	sarifResult struct { // 3.27
		RuleID       string            `json:"ruleId"`
		RuleIndex    int               `json:"ruleIndex"`
		Kind         string            `json:"kind"`
		Level        string            `json:"level"`
		Message      sarifText         `json:"message"`
		Locations    []sarifLocation   `json:"locations"`
		Related      []sarifLocation   `json:"relatedLocations,omitempty"`
		Fingerprints map[string]string `json:"partialFingerprints,omitempty"`
		Rank         *float64          `json:"rank,omitempty"` // 0 to 100
	}
)

const (
	sarifSchema = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
	home        = "https://github.com/desynctool/desynctool"
	causesPage  = home + "/blob/main/docs/causes.md"
)

// Rules of results that no class of causes explains.
const (
	ruleDivergence    = "divergence"    // without a known cause
	ruleInconclusive  = "inconclusive"  // evidence is lost or lacking
	ruleContradiction = "contradiction" // two pieces of evidence
)

// Levels of results.
const (
	levelError   = "error"
	levelWarning = "warning"
	levelNote    = "note"
)

// SARIF writes a report as a log of SARIF 2.1.0. The rules are classes of causes. A divergence is an error of the
// likeliest class; classes that the evidence cannot separate from it are warnings, the others notes. Missing evidence
// that leaves no verdict, and contradictions, are warnings. Places in the state are logical locations
// (System/Archetype/Component.field), files of evidence physical ones; the line of code, if it is known, is the first.
//
// The partial fingerprints come from the report; GitHub's code scanning reads only primaryLocationLineHash, which is
// the strict one again, or else the finest.
//
// Version is the version of the writing program, empty if it has none.
func SARIF(w io.Writer, r *document.Report, version string) error {
	return writeSARIF(w, []sarifRun{runOf(r, version)})
}

// SARIFOfMatches writes a run for each of several reports, each with its own category.
func SARIFOfMatches(w io.Writer, each document.Each, version string) error {
	runs := []sarifRun{}
	for r, err := range each {
		if err != nil {
			return err
		}
		runs = append(runs, runOf(r, version))
	}
	return writeSARIF(w, runs)
}

func writeSARIF(w io.Writer, runs []sarifRun) error {
	return document.WriteJSON(w, sarifLog{Schema: sarifSchema, Version: "2.1.0", Runs: runs})
}

func runOf(r *document.Report, version string) sarifRun {
	s := sarif{r: r, run: sarifRun{
		Tool:             sarifTool{sarifDriver{Name: "desynctool", Version: safe(version, maxText), InformationURI: home, Rules: []sarifRule{}}},
		AutomationDetail: sarifAutomation{"desynctool/triage/"},
		Invocations:      []sarifInvocation{{Successful: r.Status != document.Failed}},
		Artifacts:        []sarifArtifact{}, LogicalLocations: []sarifLogical{}, Results: []sarifResult{},
	}}
	for _, warning := range r.Warnings[:min(len(r.Warnings), maxListed)] {
		s.run.Invocations[0].Notifications = append(s.run.Invocations[0].Notifications, sarifNotification{levelWarning, message(warning)})
	}
	s.where, s.related = s.places()
	switch r.Status {
	case document.Diverged:
		s.divergence()
	case document.Inconclusive:
		rule := s.rule(sarifRule{ID: ruleInconclusive, Short: sarifText{"Evidence is lost or lacking"}, Default: sarifDefault{levelWarning}})
		s.add(rule, levelWarning, summary(r))
	}
	for _, text := range r.Contradictions[:min(len(r.Contradictions), maxListed)] {
		rule := s.rule(sarifRule{ID: ruleContradiction, Short: sarifText{"Two pieces of evidence contradict each other"}, Default: sarifDefault{levelWarning}})
		s.add(rule, levelWarning, []string{text})
	}
	if r.Match != nil {
		s.run.AutomationDetail.ID = fmt.Sprintf("desynctool/triage/match-%d/", r.Match.Number)
	}
	return s.run
}

// sarif collects a run.
type sarif struct {
	r       *document.Report
	run     sarifRun
	where   []sarifLocation // of all results
	related []sarifLocation // of the first
}

// divergence adds a result for each cause, or one if none is known: guesses are not results.
func (s *sarif) divergence() {
	if len(s.r.Causes) == 0 {
		rule := s.rule(sarifRule{ID: ruleDivergence, Short: sarifText{"The peers of a session diverged"}, Default: sarifDefault{levelError}})
		s.add(rule, levelError, summary(s.r)).Fingerprints = s.fingerprints()
		return
	}
	verdict := summary(s.r)
	for i := range s.r.Causes[:min(len(s.r.Causes), maxListed)] {
		c := &s.r.Causes[i]
		id := ruleID(c.Class)
		rule := s.rule(sarifRule{
			ID: id, Name: safe(c.Title, maxText), Short: message(c.Title), HelpURI: causesPage + "#" + id,
			Help:    &sarifText{"How it looks, how to confirm it and how it is usually fixed: " + causesPage + "#" + id},
			Default: sarifDefault{levelError},
		})
		lines, level := verdict, levelError
		if i > 0 {
			level = levelNote
			if c.Group == s.r.Causes[0].Group {
				level = levelWarning
			}
			lines = []string{"Another cause that the evidence leaves: " + safe(c.Title, maxText)}
			for _, text := range c.Evidence[:min(len(c.Evidence), 10)] {
				lines = append(lines, safe(text, maxText))
			}
			if c.Confirm != "" {
				lines = append(lines, safe(c.Confirm, maxText))
			}
		}
		rank := min(max(c.Score, 0), 1) * 100
		result := s.add(rule, level, lines)
		result.Fingerprints, result.Rank = s.fingerprints(), &rank
	}
}

// ruleID makes a name of a class, which in a report that was edited may hold anything.
func ruleID(class string) string {
	id := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' {
			return r
		}
		return '-'
	}, class)
	if id == "" {
		return ruleDivergence
	}
	return id[:min(len(id), 100)]
}

// rule returns the index of a rule, which it adds if it is new.
func (s *sarif) rule(rule sarifRule) int {
	rules := &s.run.Tool.Driver.Rules
	if i := slices.IndexFunc(*rules, func(other sarifRule) bool { return other.ID == rule.ID }); i >= 0 {
		return i
	}
	*rules = append(*rules, rule)
	return len(*rules) - 1
}

// add appends a result at the places that the report names.
func (s *sarif) add(rule int, level string, lines []string) *sarifResult {
	result := sarifResult{
		RuleID: s.run.Tool.Driver.Rules[rule].ID, RuleIndex: rule, Kind: "fail", Level: level,
		Message: message(strings.Join(lines, "\n")), Locations: s.where,
	}
	if len(s.run.Results) == 0 {
		result.Related = s.related
	}
	s.run.Results = append(s.run.Results, result)
	return &s.run.Results[len(s.run.Results)-1]
}

// places returns where the results are, and further files of evidence.
func (s *sarif) places() (where, related []sarifLocation) {
	where = []sarifLocation{}
	files := s.files() // the line of code is the first
	at := sarifLocation{Logical: s.logical()}
	if len(files) > 0 {
		at.Physical = &files[0].sarifPhysical
	}
	if at.Physical != nil || len(at.Logical) > 0 {
		where = append(where, at)
	}
	for i := 1; i < len(files); i++ {
		text := message(files[i].what)
		related = append(related, sarifLocation{ID: i, Physical: &files[i].sarifPhysical, Message: &text})
	}
	return where, related
}

func (s *sarif) fingerprints() map[string]string {
	if len(s.r.Fingerprints) == 0 {
		return nil
	}
	prints := map[string]string{}
	most := ""
	for _, f := range s.r.Fingerprints {
		most = safe(f.Digest, maxText)
		prints["desynctool/"+safe(string(f.Level), maxText)+"/v2"] = most
	}
	if s.r.Fingerprint != "" {
		most = safe(s.r.Fingerprint, maxText)
		prints["desynctool/v2"] = most
	}
	prints["primaryLocationLineHash"] = most + ":1"
	return prints
}

// logical returns the places of what diverged first: the fields of the locus in the system,
// or as much of it as is known.
func (s *sarif) logical() []sarifLogicalReference {
	var out []sarifLogicalReference
	system, parent := "", -1
	place := func(name, kind string, parent int) int {
		full := pathName(name)
		if parent >= 0 {
			full = s.run.LogicalLocations[parent].FullName + "/" + full
		}
		same := func(l sarifLogical) bool { return l.FullName == full && l.Kind == kind }
		i := slices.IndexFunc(s.run.LogicalLocations, same)
		if i < 0 {
			l := sarifLogical{Name: safe(name, maxText), FullName: full, Kind: kind}
			if parent >= 0 {
				l.Parent = &parent
			}
			s.run.LogicalLocations = append(s.run.LogicalLocations, l)
			i = len(s.run.LogicalLocations) - 1
		}
		return i
	}
	refer := func(i int) {
		l := s.run.LogicalLocations[i]
		if !slices.ContainsFunc(out, func(o sarifLogicalReference) bool { return o.Index == i }) {
			out = append(out, sarifLogicalReference{l.Name, l.FullName, l.Kind, i})
		}
	}
	f := s.r.FirstDivergence
	if f != nil {
		system = f.System
	}
	if system != "" {
		parent = place(system, "function", -1)
	}
	if len(s.r.Locus) == 0 && f != nil {
		for _, name := range f.Archetypes[:min(len(f.Archetypes), maxListed)] {
			at := place(label(name), "type", parent)
			if f.Component != "" && f.Root {
				at = place(f.Component, "member", at)
			}
			refer(at)
		}
	}
	for i := range s.r.Locus[:min(len(s.r.Locus), maxListed)] {
		l := &s.r.Locus[i]
		refer(place(l.Component+"."+l.Field, "member", place(label(l.Archetype), "type", parent)))
	}
	if len(out) == 0 && parent >= 0 {
		refer(parent)
	}
	return out
}

// pathName is a name as a part of a fully qualified one.
func pathName(name string) string {
	return strings.NewReplacer("%", "%25", "/", "%2F").Replace(safe(name, maxText))
}

// place is a file of evidence, and a position in it.
type place struct {
	sarifPhysical
	what string
}

// files returns the places in files of evidence that the report names, by line where a file has
// lines: where traces first differ, the snapshots at the ends of the bracket, the bad end first,
// where engines made their claims, then warnings in the games' own logs.
func (s *sarif) files() []place {
	var out []place
	add := func(name string, line int64, what string) {
		if len(out) == maxListed {
			return
		}
		uri, ok := fileURI(name)
		if !ok {
			return
		}
		index := slices.IndexFunc(s.run.Artifacts, func(a sarifArtifact) bool { return a.Location.URI == uri })
		if index < 0 {
			index = len(s.run.Artifacts)
			s.run.Artifacts = append(s.run.Artifacts, sarifArtifact{sarifFile{uri, index}, []string{"analysisTarget"}})
		}
		physical := sarifPhysical{File: sarifFile{uri, index}}
		if line > 0 {
			physical.Region = &sarifRegion{line}
		}
		out = append(out, place{physical, what})
	}
	if k := s.r.Code; k != nil {
		add(k.File, int64(k.Line), "where the builds depart")
	}
	f := s.r.FirstDivergence
	if f != nil && f.Checkpoint != nil {
		peers := lists.Map(s.r.Peers, func(x document.TriagedPeer) string { return x.Name })
		for _, p := range f.Checkpoint.Places(peers) {
			add(p.File, p.Line, "the first checksum that differs, of "+p.Peer)
		}
	}
	if f != nil && f.Bracket != nil && f.Bracket.Files != nil {
		for _, name := range f.Bracket.Files.Bad {
			add(name, 0, "the state differs")
		}
		for _, name := range f.Bracket.Files.Good {
			add(name, 0, "the state is equal")
		}
	}
	for i := range s.r.Claims {
		for j, name := range s.r.Claims[i].Files {
			line := s.r.Claims[i].Line
			if j > 0 {
				line = 0
			}
			add(name, line, "what the engine claims")
		}
	}
	if logs := s.r.GameLogs; logs != nil {
		for i := range logs.Lines {
			for _, p := range logs.Lines[i].Have {
				add(p.File, p.Last, logs.Lines[i].Severity+" of "+p.Peer+" that not all peers have")
			}
		}
	}
	return out
}

// fileURI returns a relative reference to a file, and whether there can be one: paths that
// are absolute or lead out of where they begin name no artifact of a repository.
func fileURI(name string) (string, bool) {
	name = path.Clean(strings.ReplaceAll(name, `\`, "/"))
	if name == "." || name == ".." || strings.HasPrefix(name, "/") || strings.HasPrefix(name, "../") || len(name) > 1 && name[1] == ':' {
		return "", false
	}
	return (&url.URL{Path: name}).String(), true
}

// message returns a plain text message: what would be an embedded link or a placeholder in
// it is escaped (3.11.5, 3.11.6).
func message(s string) sarifText {
	lines := lists.Map(strings.Split(s, "\n"), func(line string) string { return safe(line, maxText) })
	text := strings.NewReplacer(`\`, `\\`, "[", `\[`, "]", `\]`, "{", "{{", "}", "}}").Replace(prose.Cut(strings.Join(lines, "\n"), 4*maxText))
	text = cmp.Or(text, "no verdict")
	return sarifText{text}
}
