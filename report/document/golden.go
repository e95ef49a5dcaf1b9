package document

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect/golden"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// goldenDocument is desynctool.golden/1: replays compared with their golden traces, in one run or in several. A file
// with results is such a document.
type goldenDocument struct {
	Head
	Interrupted bool `json:"interrupted"`
	*golden.Table
}

// Golden returns the document of a table of golden replays.
func Golden(t *golden.Table) Document {
	return Document{
		StatusOf(t),
		func() any { return &goldenDocument{head("golden", StatusOf(t), nil), t.Interrupted(), t} },
		func(out *Text, all bool) { goldenText(out, t, all) },
	}
}

// GoldenTitle sums up a table in a line.
func GoldenTitle(t *golden.Table) string {
	replays := 0
	if len(t.Runs) > 0 {
		replays = len(t.Runs[0].Replays)
	}
	n := map[golden.Result]int{}
	for i := range replays {
		n[worst(t, i)]++
	}
	var parts []string
	add := func(result golden.Result, one, many string) {
		if n[result] > 0 {
			parts = append(parts, prose.Count(n[result], one, many))
		}
	}
	add(golden.Diverged, "differs", "differ")
	add(golden.Unusable, "is unusable", "are unusable")
	add(golden.NotPlayed, "was not played", "were not played")
	add(golden.Same, "is the same", "are the same")
	title := "nothing was played"
	if len(t.Runs) > 0 {
		title = fmt.Sprintf("%s on %s: %s", prose.Count(replays, "golden replay", "golden replays"), goldenPlace(t), strings.Join(parts, ", "))
	}
	if t.Interrupted() {
		title += "; interrupted"
	}
	return title
}

// goldenLabels are what the runs are called, for people.
func goldenLabels(t *golden.Table) []string {
	labels := t.Labels()
	for i := range labels {
		labels[i] = prose.Cut(Safe(labels[i]), maxGoldenLabel)
	}
	return labels
}

// maxGoldenLabel is how many characters of a run's name are shown.
const maxGoldenLabel = 60

// goldenPlace names the only run, or counts them.
func goldenPlace(t *golden.Table) string {
	if len(t.Runs) == 1 {
		return goldenLabels(t)[0]
	}
	return prose.Count(len(t.Runs), "platform or build", "platforms and builds")
}

// worst is the worst outcome of a replay over all runs.
func worst(t *golden.Table, replay int) golden.Result {
	for _, result := range []golden.Result{golden.Diverged, golden.Unusable, golden.NotPlayed} {
		for i := range t.Runs {
			if t.Runs[i].Replays[replay].Result == result {
				return result
			}
		}
	}
	return golden.Same
}

// GoldenOutcome describes in a sentence how a replay ended.
func GoldenOutcome(o *golden.Outcome) string {
	switch o.Result {
	case golden.Same:
		return "every hash is the golden one"
	case golden.Unusable:
		return "unusable: " + Safe(o.Why)
	case golden.NotPlayed:
		return "not played: " + Safe(o.Why)
	}
	text := goldenFirst(o.First)
	switch o.Again {
	case golden.AgainSame:
		text += "; a second replay came to the same"
	case golden.AgainOther:
		text += "; a second replay on the same machine came to something else: the simulator does not agree with itself"
	}
	return text
}

// goldenFirst describes where a replay first differs.
func goldenFirst(f *golden.First) string {
	text := "differs"
	switch {
	case f.Start:
		text = "differs at the start, before any tick"
	case f.Tick != nil:
		text = fmt.Sprintf("differs in tick %d", *f.Tick)
	case f.Equal != nil && f.Differs != nil:
		text = fmt.Sprintf("differs between ticks %d and %d", *f.Equal+1, *f.Differs)
	case f.Differs != nil:
		text = fmt.Sprintf("differs in tick %d at the latest, the first that was compared", *f.Differs)
	}
	if f.System != "" {
		text += ", after " + prose.Name(f.System)
	}
	return text + fmt.Sprintf(": expected %s, got %s", hashOrNone(f.Expected), hashOrNone(f.Got))
}

func hashOrNone(hash string) string {
	if hash == "" {
		return "no hash"
	}
	return prose.Name(hash)
}

// goldenCell is an outcome in a table.
func goldenCell(o *golden.Outcome) string {
	f := o.First
	switch {
	case o.Result == golden.NotPlayed:
		return "not played"
	case o.Result != golden.Diverged:
		return string(o.Result)
	case f.Start:
		return "start"
	case f.Tick != nil && f.System != "":
		return fmt.Sprintf("tick %d %s", *f.Tick, prose.Name(f.System))
	case f.Tick != nil:
		return fmt.Sprintf("tick %d", *f.Tick)
	case f.Equal != nil && f.Differs != nil:
		return fmt.Sprintf("ticks %d to %d", *f.Equal+1, *f.Differs)
	case f.Differs != nil:
		return fmt.Sprintf("up to tick %d", *f.Differs)
	}
	return string(o.Result)
}

// GoldenFacts describes what is known about the runs in which replays diverged, compared with the runs in which they
// did not. Replays with the same facts are listed together.
func GoldenFacts(t *golden.Table) (facts []string) {
	if len(t.Runs) < 2 {
		return nil
	}
	labels := goldenLabels(t)
	names := map[string][]string{} // by their texts
	var said []string
	say := func(name, text string) {
		if names[text] == nil {
			said = append(said, text)
		}
		names[text] = append(names[text], name)
	}
	for i := range t.Broken {
		b := &t.Broken[i]
		say(b.Replay, goldenSides(b, labels))
		for _, c := range b.Common {
			if !slices.Contains(t.Common, c) {
				say(b.Replay, goldenCommon(c))
			}
		}
	}
	facts = lists.Map(said, func(text string) string { return prose.FirstOf(prose.Names(names[text]), maxGoldenNames) + ": " + text })
	facts = append(facts, lists.Map(t.Common, goldenCommon)...)
	return facts
}

// goldenSides lists the runs on which a replay differs and those on which it does not.
func goldenSides(b *golden.Broken, labels []string) string {
	text := "differs on " + namesOf(labels, b.Runs)
	if len(b.Held) > 0 {
		text += ", the same on " + namesOf(labels, b.Held)
	}
	switch {
	case len(b.Runs) < 2:
	case b.Agree:
		text += "; everywhere in the same tick and with the same hash"
	case b.Moment:
		text += "; everywhere in the same tick, with different hashes"
	default:
		text += "; not everywhere in the same tick"
	}
	return text
}

func goldenCommon(c golden.Common) string {
	text := fmt.Sprintf("%s is %s on all that differ, and on ", prose.Name(c.Name), prose.Name(c.Value))
	others := c.Same + c.Other + c.Unknown
	if c.Same == 0 && c.Unknown == 0 {
		return text + "none that is the same"
	}
	text += fmt.Sprintf("%d of %d that are the same", c.Same, others)
	if c.Unknown > 0 {
		text += fmt.Sprintf("; %d do not show it", c.Unknown)
	}
	return text
}

// maxGoldenNames is how many runs or replays a sentence names.
const maxGoldenNames = 8

func namesOf(labels []string, runs []int) string {
	return prose.FirstOf(lists.Map(runs, func(i int) string { return labels[i] }), maxGoldenNames)
}

// Of runs and outcomes, how many are shown.
const (
	maxGoldenColumns = 8
	maxGoldenLines   = 40
)

func goldenText(out *Text, t *golden.Table, all bool) {
	out.put(out.Verdict(StatusOf(t)), "  ", GoldenTitle(t))
	if len(t.Runs) > 1 && len(t.Runs) <= maxGoldenColumns {
		if rows := goldenRows(t, all); len(rows) > 1 {
			out.Table(rows)
		}
	}
	labels, shown, more := goldenLabels(t), 0, 0
	for i := range t.Runs {
		for k := range t.Runs[i].Replays {
			o := &t.Runs[i].Replays[k]
			if o.Result == golden.Same && !all {
				continue
			}
			if shown++; shown > maxGoldenLines && !all {
				more++
				continue
			}
			on := ""
			if len(t.Runs) > 1 {
				on = "  " + labels[i]
			}
			out.put("  ", out.name.Sprint(prose.Name(o.Replay)), on, "  ", GoldenOutcome(o))
		}
	}
	if more > 0 {
		out.put(fmt.Sprintf("  and %d more (--all lists them)", more))
	}
	for _, text := range GoldenFacts(t) {
		out.put("  ", out.faint.Sprint("known   "), text)
	}
	for _, text := range t.Unread {
		out.put("  ", out.warn.Sprint("unread  "), Safe(text))
	}
}

// goldenRows are replays × runs, with the heading: those that are not the same everywhere, or all.
func goldenRows(t *golden.Table, all bool) [][]string {
	rows := [][]string{append([]string{"  replay"}, goldenLabels(t)...)}
	for k := range t.Runs[0].Replays {
		if worst(t, k) == golden.Same && !all || len(rows) > maxGoldenLines && !all {
			continue
		}
		row := []string{"  " + prose.Name(t.Runs[0].Replays[k].Replay)}
		for i := range t.Runs {
			row = append(row, goldenCell(&t.Runs[i].Replays[k]))
		}
		rows = append(rows, row)
	}
	return rows
}

// GoldenMarkdown writes a table of golden replays as Markdown, as (*Report).Markdown does a report.
func GoldenMarkdown(w io.Writer, t *golden.Table) error {
	var m markdown
	m.block("## desynctool: " + markdownText(GoldenTitle(t)))
	if len(t.Runs) > 0 && len(t.Runs) <= maxGoldenColumns {
		if rows := goldenRows(t, false); len(rows) > 1 {
			m.block("")
			escaped := func(cells []string) (list []string) {
				list = append(list, lists.Map(cells, markdownText)...)
				return list
			}
			m.table(escaped(rows[0]), len(rows)-1, func(i int) []string { return escaped(rows[i+1]) })
		}
	}
	labels := goldenLabels(t)
	var lines []string
	for i := range t.Runs {
		for k := range t.Runs[i].Replays {
			if o := &t.Runs[i].Replays[k]; o.Result != golden.Same {
				lines = append(lines, fmt.Sprintf("%s, %s: %s", prose.Name(o.Replay), labels[i], GoldenOutcome(o)))
			}
		}
	}
	m.list("Replays", lines)
	m.list("Known", GoldenFacts(t))
	m.list("Not read", t.Unread)
	_, err := io.WriteString(w, m.String())
	return err
}

// goldenRecordDocument is desynctool.golden-record/1: what became of logs that were to be kept.
type goldenRecordDocument struct {
	Head
	*golden.Recordings
}

// GoldenRecord returns the document of golden replays that were recorded.
func GoldenRecord(r *golden.Recordings) Document {
	return Document{
		StatusOf(r),
		func() any { return &goldenRecordDocument{head("golden-record", StatusOf(r), nil), r} },
		func(out *Text, all bool) { goldenRecordText(out, r, all) },
	}
}

func goldenRecordText(out *Text, r *golden.Recordings, all bool) {
	n := map[golden.RecordResult]int{}
	for i := range r.Replays {
		n[r.Replays[i].Result]++
	}
	var parts []string
	for _, each := range []struct {
		result golden.RecordResult
		text   string
	}{
		{golden.Recorded, "recorded"}, {golden.Updated, "updated"}, {golden.Unchanged, "unchanged"}, {golden.Differs, "not what is kept, which stays"},
		{golden.Duplicate, "the same as another"}, {golden.Damaged, "unusable"}, {golden.Unplayed, "not played"},
	} {
		if n[each.result] > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n[each.result], each.text))
		}
	}
	verdict := out.Verdict(StatusOf(r))
	if StatusOf(r) == InSync {
		verdict = out.good.Sprint("RECORDED")
	}
	out.put(verdict, "  ", prose.Count(len(r.Replays), "golden replay", "golden replays"), " on ", Safe(r.Platform), ": ", strings.Join(parts, ", "))
	shown := 0
	for i := range r.Replays {
		one := &r.Replays[i]
		if quiet := one.Result == golden.Unchanged && one.Departs == ""; quiet && !all {
			continue
		}
		if shown++; shown > maxGoldenLines && !all {
			continue
		}
		out.put("  ", out.name.Sprint(prose.Name(one.Replay)), "  ", recordedAs(one))
		if one.Departs != "" {
			out.put("    ", out.warn.Sprint("not what was recorded: "), Safe(one.Departs))
		}
	}
	if shown > maxGoldenLines && !all {
		out.put(fmt.Sprintf("  and %d more (--all lists them)", shown-maxGoldenLines))
	}
	for _, text := range r.Lost {
		out.put("  ", out.warn.Sprint("lost    "), Safe(text))
	}
}

// recordedAs describes the outcome for one log.
func recordedAs(r *golden.Recording) string {
	text := string(r.Result)
	switch r.Result {
	case golden.Differs:
		text = "not recorded"
	case golden.Unplayed:
		text = "not played"
	}
	switch {
	case r.First != nil:
		text += ", " + goldenFirst(r.First)
	case r.Why != "":
		text += ": " + Safe(r.Why)
	case r.Golden != nil:
		text += ", " + prose.Count(r.Ticks, "tick", "ticks")
	}
	return text
}
