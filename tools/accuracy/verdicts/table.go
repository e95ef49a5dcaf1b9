package verdicts

import (
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
)

// Run measures sessions on all processors, in folders below dir.
func Run(list []Session, dir func(i int) string, m Measured, progress func(done int)) ([]*Score, error) {
	scores := make([]*Score, len(list))
	errs := make([]error, len(list))
	next := make(chan int)
	var wait sync.WaitGroup
	var mu sync.Mutex
	done := 0
	for range runtime.GOMAXPROCS(0) {
		wait.Go(func() {
			for i := range next {
				scores[i], errs[i] = Measure(list[i], dir(i), m)
				mu.Lock()
				done++
				if progress != nil {
					progress(done)
				}
				mu.Unlock()
			}
		})
	}
	for i := range list {
		next <- i
	}
	close(next)
	wait.Wait()
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	return scores, nil
}

// Tally counts the marks in scores.
type Tally struct {
	Sessions, Bit int
	Marks         map[Question]map[Mark]int
	Alarms        int // for clean sessions
}

// Count counts the marks in the scores for which only returns true.
func Count(scores []*Score, only func(*Score) bool) Tally {
	t := Tally{Marks: map[Question]map[Mark]int{}}
	for _, q := range append(Questions(), ofReports...) {
		t.Marks[q] = map[Mark]int{}
	}
	for _, s := range scores {
		if !only(s) {
			continue
		}
		t.Sessions++
		if s.Bit {
			t.Bit++
		}
		if s.Alarm != "" {
			t.Alarms++
		}
		for q, m := range s.Marks {
			t.Marks[q][m]++
		}
	}
	return t
}

// cell returns "exact of held; unknown of the others".
func cell(marks map[Mark]int) string {
	shown := marks[Exact] + marks[Missed] + marks[Wrong]
	open := marks[Unknown] + marks[Guessed]
	parts := []string{"–"}
	if shown > 0 {
		parts = []string{fmt.Sprintf("%d of %d", marks[Exact], shown)}
	}
	if open > 0 {
		parts = append(parts, fmt.Sprintf("(%d of %d)", marks[Unknown], open))
	}
	return strings.Join(parts, " ")
}

// Table writes a Markdown table with a row for each fault, and below it the answers that are not good, by session.
func Table(w io.Writer, scores []*Score) error {
	var b strings.Builder
	b.WriteString("| Fault | Bit |")
	rule := "|---|---|"
	for _, q := range Questions() {
		fmt.Fprintf(&b, " %s |", q)
		rule += "---|"
	}
	b.WriteString("\n" + rule + "\n")
	row := func(title string, t Tally) {
		fmt.Fprintf(&b, "| %s | %d of %d |", title, t.Bit, t.Sessions)
		for _, q := range Questions() {
			fmt.Fprintf(&b, " %s |", cell(t.Marks[q]))
		}
		b.WriteString("\n")
	}
	for _, name := range faults(scores) {
		row("`"+name+"`", Count(scores, func(s *Score) bool { return s.fault() == name }))
	}
	row("all", Count(scores, func(s *Score) bool { return s.fault() != "" }))
	if clean := Count(scores, func(s *Score) bool { return s.fault() == "" }); clean.Sessions > 0 {
		fmt.Fprintf(&b, "\nFalse alarms: %d in %d clean sessions.\n", clean.Alarms, clean.Sessions)
	}
	if short := Short(scores); len(short) > 0 {
		b.WriteString("\nWhat falls short:\n\n")
		for _, line := range short {
			fmt.Fprintf(&b, "- %s\n", line)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// Short lists the answers that are not good, by session.
func Short(scores []*Score) (lines []string) {
	for _, s := range scores {
		if s.Alarm != "" {
			lines = append(lines, fmt.Sprintf("%s: false alarm, %s", s.Session, s.Alarm))
		}
		for _, q := range append(Questions(), ofReports...) {
			if m, ok := s.Marks[q]; ok && !m.Good() {
				lines = append(lines, fmt.Sprintf("%s: %s is %s: %s", s.Session, q, m, s.Answers[q]))
			}
		}
	}
	return lines
}

// faults returns the names of the faults in scores, in order of first appearance.
func faults(scores []*Score) (names []string) {
	for _, s := range scores {
		if name := s.fault(); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// fault returns the name of a session's fault.
func (s *Score) fault() string {
	name, _, _ := strings.Cut(s.Session.Fault, "/")
	return name
}
