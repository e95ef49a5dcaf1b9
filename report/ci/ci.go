// Package ci writes a triage's report in the formats that systems of continuous integration read: JUnit for test lists,
// SARIF for code scanning, workflow commands for the annotations of GitHub Actions. The names, values and messages in a
// report come from players' files; none of them can end its surrounding text or issue a command.
package ci

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// safe returns a text on one line without control characters, at most n characters of it.
func safe(s string, n int) string {
	s = s[:min(len(s), n*utf8.UTFMax)] // at least n characters, which escaping makes no fewer
	return prose.Cut(document.Safe(s), n)
}

// match names the match of a report among others: "match 2 (0123…): ".
func match(r *document.Report) string {
	switch {
	case r.Match == nil:
		return ""
	case r.Match.Name == "":
		return fmt.Sprintf("match %d: ", r.Match.Number)
	}
	name := prose.Name(r.Match.Name)
	if seed, ok := strings.CutPrefix(r.Match.Name, "seed "); ok && prose.Name(seed) == seed {
		name = r.Match.Name
	}
	return fmt.Sprintf("match %d (%s): ", r.Match.Number, name)
}

// title is the headline of a report, after the match that it belongs to if there are several.
func title(r *document.Report) string {
	return match(r) + r.Headline().Text(func(name string) string { return safe(name, maxText) })
}

// maxListed is the default number of list entries that are written.
const maxListed = 20

// maxText is how many characters of one text are in a result.
const maxText = 1000

// summary is a report in some lines: the verdict, then the other facts.
func summary(r *document.Report) []string {
	var lines []string
	add := func(prefix string, texts []string) {
		const most = 10
		for i, text := range texts {
			if i == most {
				lines = append(lines, fmt.Sprintf("%sand %d more", prefix, len(texts)-i))
				break
			}
			lines = append(lines, prefix+safe(text, maxText))
		}
	}
	add("", r.Verdict)
	for i, c := range r.Causes {
		if i == 3 {
			break
		}
		lines = append(lines, fmt.Sprintf("cause: %s (%s, %s)", safe(c.Title, maxText), safe(c.Class, maxText), safe(standing(&c), maxText)))
	}
	for i := range r.Locus {
		if i == 3 {
			lines = append(lines, fmt.Sprintf("differs: and %d more", len(r.Locus)-i))
			break
		}
		lines = append(lines, "differs: "+field(r, &r.Locus[i]))
	}
	add("contradiction: ", r.Contradictions)
	add("missing: ", r.Missing)
	for _, s := range r.Seen {
		add(safe(s.How(), maxText)+": ", []string{s.Title + " (" + s.File + ")"})
	}
	add("next: ", r.Next)
	if r.Fingerprint != "" {
		lines = append(lines, "fingerprint: "+safe(r.Fingerprint, maxText))
	}
	return lines
}

// label is the name of a leaf of the state.
func label(s string) string { return safe(snapshot.LabelName(s), maxText) }

// field is one value of the locus in a line.
func field(r *document.Report, f *document.LocusField) string {
	const most = 100
	name := fmt.Sprintf("%s %s %s.%s", document.LabelName(f.Archetype), safe(f.Key, most), prose.Name(f.Component), prose.Name(f.Field))
	var values []string
	for _, peer := range document.LocusPeers(r) {
		if value, ok := f.Values[peer]; ok {
			values = append(values, prose.Name(peer)+" "+safe(value, most))
		}
	}
	const peers = 4
	if len(values) > peers {
		values = append(values[:peers], fmt.Sprintf("and %d more", len(values)-peers))
	}
	return name + ": " + strings.Join(values, ", ")
}

// standing describes the evidence for a cause.
func standing(c *document.Cause) string {
	if measured := c.Measured(); measured != "" {
		return c.Standing + ", " + measured
	}
	return c.Standing
}
