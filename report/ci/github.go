package ci

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// Limits of GitHub: it shows 10 annotations of a kind from one step, and the part of a message that the runner sends on
// (4,096 characters; the interface behind it would accept 64 KB). A job summary has at most 1 MiB, or the step loses
// all of it.
const (
	maxAnnotations = 10
	maxAnnotation  = 4000
	maxTitle       = 200
	maxJobSummary  = 1 << 20
)

// GitHub writes a report as workflow commands, which GitHub Actions shows as annotations: an error for a divergence, a
// warning for evidence that is missing or contradicts itself, a notice for peers in sync.
func GitHub(w io.Writer, r *document.Report) error {
	var out strings.Builder
	kind := "error"
	switch r.Status {
	case document.InSync:
		kind = "notice"
	case document.Inconclusive:
		kind = "warning"
	}
	at := ""
	if k := r.Code; k != nil && k.Line > 0 {
		if _, ok := fileURI(k.File); ok {
			at = fmt.Sprintf("file=%s,line=%d,", escapeProperty(safe(path.Clean(k.File), maxText)), k.Line)
		}
	}
	annotateAt(&out, kind, at, title(r), strings.Join(summary(r), "\n"))

	var warnings [][2]string // titles and texts
	add := func(title string, texts []string) {
		warnings = append(warnings, lists.Map(texts, func(text string) [2]string { return [2]string{title, text} })...)
	}
	add("contradiction", r.Contradictions)
	add("missing evidence", r.Missing)
	add("warning", r.Warnings)
	room := maxAnnotations
	if kind == "warning" {
		room-- // the verdict is one
	}
	annotateAll(&out, "warning", "more warnings", warnings, room)
	_, err := io.WriteString(w, out.String())
	return err
}

// annotateAll writes titles and texts as annotations of a kind, as many as there is room for; the last one counts the
// rest under another title.
func annotateAll(b *strings.Builder, kind, rest string, list [][2]string, room int) {
	for i, one := range list {
		if i == room-1 && len(list) > room {
			annotate(b, kind, rest, fmt.Sprintf("and %d more, which the report lists", len(list)-i))
			return
		}
		annotate(b, kind, one[0], safe(one[1], maxAnnotation))
	}
}

// GitHubFailed writes an error annotation for a command that ended without a result; why is the error.
func GitHubFailed(w io.Writer, why string) error {
	var out strings.Builder
	annotate(&out, "error", "no result", safe(why, maxAnnotation))
	_, err := io.WriteString(w, out.String())
	return err
}

// GitHubOfMatches writes an annotation for the verdict on each of several matches.
func GitHubOfMatches(w io.Writer, each document.Each) error {
	for r, err := range each {
		if err != nil {
			return err
		}
		if err := GitHub(w, &document.Report{Head: document.Head{Status: r.Status}, Verdict: r.Verdict, Match: r.Match, FirstDivergence: r.FirstDivergence, Causes: r.Causes, Code: r.Code, Fingerprint: r.Fingerprint}); err != nil {
			return err
		}
	}
	return nil
}

// annotate writes one workflow command. Its lines are joined, so that nothing in the message
// can begin a line of the log, which is where GitHub looks for commands.
func annotate(b *strings.Builder, kind, title, message string) {
	annotateAt(b, kind, "", title, message)
}

// annotateAt is annotate with properties of a place in a file.
func annotateAt(b *strings.Builder, kind, at, title, message string) {
	message = cmp.Or(message, title)
	fmt.Fprintf(b, "::%s %stitle=%s::%s\n", kind, at, escapeProperty(prose.Cut("desynctool: "+title, maxTitle)), escapeData(prose.Cut(message, maxAnnotation)))
}

var (
	dataEscapes     = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	propertyEscapes = strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
)

// escapeData escapes the message of a workflow command.
func escapeData(s string) string { return dataEscapes.Replace(s) }

// escapeProperty escapes the value of a workflow command's property.
func escapeProperty(s string) string { return propertyEscapes.Replace(s) }

// JobSummary appends what write writes to the file that GitHub Actions names in GITHUB_STEP_SUMMARY. The output of
// earlier commands of the step stays; if there is no room left after it, nothing is written and an error is returned.
func JobSummary(path string, write func(w io.Writer) error) (err error) {
	var b strings.Builder
	if err := write(&b); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND|os.O_CREATE, 0o644)
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	stat, err := f.Stat()
	if err != nil {
		return err
	}
	text := b.String()
	if stat.Size() > 0 {
		text = "\n" + text
	}
	if stat.Size()+int64(len(text)) > maxJobSummary {
		return fmt.Errorf("%s: %d bytes are in the job summary already, and it holds %d", path, stat.Size(), maxJobSummary)
	}
	_, err = io.WriteString(f, text)
	return err
}
