package document

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"iter"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
)

// MatchDocument identifies a report's match among several.
type MatchDocument struct {
	Number int    `json:"number"` // from 1
	Game   string `json:"game,omitempty"`
	Name   string `json:"name"` // the engine's own name of it, its seed, or its folder
	// Doubts list what could not be decided: files that may belong to another match.
	Doubts []string `json:"doubts,omitempty"`
}

// Each are the reports of several matches, in their order, each with its Match. They may be read again for each
// iteration.
type Each iter.Seq2[*Report, error]

// Worst returns the status of a command with results of these statuses: diverged if one has it, else an error's status,
// else inconclusive.
func Worst(list ...Status) Status {
	worst := InSync
	for _, s := range list {
		if rank(s) > rank(worst) {
			worst = s
		}
	}
	return worst
}

func rank(s Status) int {
	switch s {
	case InSync:
		return 0
	case Inconclusive:
		return 1
	case Diverged:
		return 3
	}
	return 2
}

// NoReport is the report for evidence that no report could be made from.
func NoReport(status Status, why string) *Report {
	return &Report{
		Head: head("triage", status, nil), Error: why, Verdict: []string{why},
		Peers: []TriagedPeer{}, Splits: []SplitDocument{}, Ladder: []Rung{}, Locus: []LocusField{}, Causes: []Cause{}, Cascade: []CascadeDocument{},
		Orders: []TriagedOrder{}, Contradictions: []string{}, Missing: []string{}, Notes: []string{}, Next: []string{}, Fingerprints: []Fingerprint{},
	}
}

// Line returns the part of a report that MatchesText needs.
func (r *Report) Line() *Report {
	return &Report{Head: r.Head, Verdict: r.Verdict[:min(1, len(r.Verdict))], Match: r.Match, Seen: r.Seen}
}

// MatchesJSON writes the documents of several reports as an array.
func MatchesJSON(w io.Writer, each Each) error {
	before := "[\n"
	for r, err := range each {
		if err != nil {
			return err
		}
		var one bytes.Buffer
		if err := WriteJSON(&one, r); err != nil {
			return err
		}
		if _, err := fmt.Fprintf(w, "%s%s", before, bytes.TrimSuffix(one.Bytes(), []byte("\n"))); err != nil {
			return err
		}
		before = ",\n"
	}
	_, err := io.WriteString(w, "\n]\n")
	return err
}

// CountedStatuses names how many reports have each status, the worst first.
func CountedStatuses(counts map[Status]int) string {
	var counted []string
	for _, k := range []Status{Diverged, Failed, Inconclusive, InSync} {
		if counts[k] > 0 {
			counted = append(counted, fmt.Sprintf("%d %s", counts[k], strings.Replace(k.Words(), "error", "with an error", 1)))
		}
	}
	return strings.Join(counted, ", ")
}

// maxMatchName is how many columns the name of a match takes, at most.
const maxMatchName = 60

// MatchesText writes a line for each of several reports, then what could not be decided. Next is the step that shows
// one of them in full, or nil. Unless all is set the text is a screenful: it shows the first matches if not all fit,
// and cuts each to a line if they do not fit as they are.
func MatchesText(w io.Writer, s Style, each Each, next *Step, all bool) error {
	t := lines{w: w, width: s.width}
	var list []*Report
	name, game, status := 0, 0, 0
	counts := map[Status]int{}
	for r, err := range each {
		if err != nil {
			return err
		}
		list = append(list, r)
		d := r.InMatch()
		name = max(name, prose.Columns(matchName(d)))
		game = max(game, prose.Columns(Safe(d.Game)))
		status = max(status, len(statusWord(r.Status)))
		counts[r.Status.Known()]++
	}
	t.put(s.bold.Sprint(prose.Count(len(list), "match", "matches")), "  ", CountedStatuses(counts))
	t.put()
	digits := len(fmt.Sprint(len(list)))
	if before := digits + status + game + name + 8; t.width > 0 && before+leastLast > t.width {
		game, name = 0, 0 // no columns: the facts of a match follow its status
	}
	var about []string
	for _, r := range list {
		d := r.InMatch()
		line := fmt.Sprintf("%*d  ", digits, d.Number)
		line += s.Verdict(r.Status) + strings.Repeat(" ", status-len(statusWord(r.Status))+2)
		if d.Game != "" || game > 0 {
			line += pad(Safe(d.Game), prose.Columns(Safe(d.Game)), game) + "  "
		}
		line += s.name.Sprint(pad(matchName(d), prose.Columns(matchName(d)), name))
		if len(r.Verdict) > 0 {
			line += "  " + Safe(r.Verdict[0])
		}
		for _, b := range r.Seen[:min(1, len(r.Seen))] {
			line += "  " + s.warn.Sprint(Safe(b.How()), ": ") + Safe(b.Title)
		}
		about = append(about, line)
	}
	t.list(about, all, s)
	doubts := 0
	for _, r := range list {
		for _, doubt := range r.InMatch().Doubts {
			if doubts++; doubts > shownDoubts && !all {
				continue
			}
			if doubts == 1 {
				t.put()
				t.put(s.bold.Sprint("not told apart"))
			}
			t.put(fmt.Sprintf("  %*d  ", digits, r.InMatch().Number), s.warn.Sprint(Safe(doubt)))
		}
	}
	if doubts > shownDoubts && !all {
		t.put("  ", s.faint.Sprintf("… and %d more  (--all)", doubts-shownDoubts))
	}
	if next != nil {
		t.put()
		t.step("next  ", 6, next.String(), s.faint)
	}
	return t.err
}

// shownMatches and shownDoubts are how many matches and doubts a text has by default.
const (
	shownMatches = 28
	shownDoubts  = 4
)

// list writes a line for each match.
func (t *lines) list(about []string, all bool, s Style) {
	const indent = 4
	shown, brief := len(about), false
	if !all {
		shown = min(shown, shownMatches)
		rows := 0
		for _, line := range about[:shown] {
			rows += 1 + strings.Count(fold(line, t.width, indent), "\n")
		}
		brief = rows > shownMatches
	}
	for _, line := range about[:shown] {
		if brief {
			first, _, cut := strings.Cut(fold(line, max(0, t.width-2), indent), "\n")
			if line = strings.ReplaceAll(first, " ", joint); cut {
				line += joint + "…"
			}
		}
		t.hang(indent, line)
	}
	if n := len(about) - shown; n > 0 {
		t.put(s.faint.Sprintf("… and %s  (--all)", prose.Count(n, "more match", "more matches")))
	} else if brief {
		t.put(s.faint.Sprint("whole lines  (--all)"))
	}
}

// InMatch returns the match of a report, or a zero value.
func (r *Report) InMatch() MatchDocument {
	if r.Match == nil {
		return MatchDocument{}
	}
	return *r.Match
}

func matchName(d MatchDocument) string { return prose.Shorten(Safe(d.Name), maxMatchName) }

func statusWord(s Status) string { return strings.ToUpper(s.Words()) }

// Title names a match for a heading: "Match 2: Spring, 0123…".
func (d *MatchDocument) Title() string {
	text := fmt.Sprintf("Match %d", d.Number)
	switch {
	case d.Game != "" && d.Name != "":
		text += ": " + d.Game + ", " + d.Name
	case cmp.Or(d.Game, d.Name) != "":
		text += ": " + cmp.Or(d.Game, d.Name)
	}
	return text
}

// MatchesMarkdown writes several reports one after the other, each under a heading, as many as
// there is room for in an issue.
func MatchesMarkdown(w io.Writer, each Each) error {
	written, left := 0, 0
	for r, err := range each {
		if err != nil {
			return err
		}
		d := r.InMatch()
		var one bytes.Buffer
		if written > 0 {
			one.WriteByte('\n')
		}
		fmt.Fprintf(&one, "## %s\n\n", markdownText(d.Title()))
		if err := r.Markdown(&one); err != nil {
			return err
		}
		if left > 0 || written+one.Len() > maxMarkdown-100 {
			left++
			continue
		}
		n, err := w.Write(one.Bytes())
		if err != nil {
			return err
		}
		written += n
	}
	if left > 0 {
		_, err := fmt.Fprintf(w, "\n… and %s, for which there is no room here\n", prose.Count(left, "more match", "more matches"))
		return err
	}
	return nil
}
