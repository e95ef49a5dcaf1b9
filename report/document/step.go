package document

import (
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/shellwords"
)

// Step is something to do next.
type Step struct {
	// Command are the arguments of one of our commands, as a program gets them; nil if the step is not a command.
	Command []string
	// About is what a command shows, or the whole step if it is not a command.
	About string
}

const (
	commandStart = "desynctool "
	aboutStart   = "  # "
)

// String returns a command as a line for a shell, with a comment about what it shows; else the words.
func (s Step) String() string {
	if s.Command == nil {
		return s.About
	}
	line := shellwords.Join(append([]string{strings.TrimSpace(commandStart)}, s.Command...)...)
	if s.About == "" {
		return line
	}
	return line + aboutStart + strings.Join(strings.Fields(Safe(s.About)), " ") // one line without another such mark
}

// StepLines returns steps as documents have them.
func StepLines(steps []Step) []string {
	lines := []string{}
	lines = append(lines, lists.Map(steps, func(s Step) string { return s.String() })...)
	return lines
}

// CutStep returns the parts of a line that a Step returned: a command, "" if it is none, and the rest. Text in a saved
// report counts as a command only if it is written as a Step writes it: one of our commands, with words that need no
// quoting in a shell.
func CutStep(line string) (command, about string) {
	if !strings.HasPrefix(line, commandStart) {
		return "", line
	}
	if asWritten(line) {
		return line, ""
	}
	if i := strings.LastIndex(line, aboutStart); i >= 0 && asWritten(line[:i]) {
		return line[:i], line[i+len(aboutStart):]
	}
	return "", line
}

// asWritten reports whether a line is one that shellwords.Join returns.
func asWritten(line string) bool {
	words, err := shellwords.Literal(line)
	return err == nil && shellwords.Join(words...) == line
}

// PathArgument returns a path as an argument of a command, which no command takes for a flag.
func PathArgument(path string) string {
	if strings.HasPrefix(path, "-") && path != "-" {
		return "./" + path
	}
	return path
}

// next writes what to do next as a row.
func (t *Text) next(s Step) {
	t.step("  "+t.faint.Sprint(pad("next", 4, rowIndent-2)), rowIndent, s.String(), t.faint)
}

// step writes a step. A command has a separate line unless its comment fits next to it.
func (t *lines) step(before string, indent int, line string, faint printer) {
	command, about := CutStep(line)
	if command == "" {
		t.hang(indent, before, Safe(about))
		return
	}
	command = Safe(command)
	if about = Safe(about); about != "" && t.width > 0 && indent+wordColumns(command+aboutStart+about) > t.width {
		t.hang(indent, before, whole(command))
		t.hang(indent+4, strings.Repeat(" ", indent+2), faint.Sprint("# "+about))
		return
	}
	if about != "" {
		about = faint.Sprint(aboutStart + about)
	}
	t.hang(indent, before, whole(command), about)
}
