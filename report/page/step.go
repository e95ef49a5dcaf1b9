package page

import (
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/document"
)

// step is something to do: a command with what it shows, or words alone.
type step struct {
	Command string
	About   string
}

// stepOf splits a line: a command may be followed by a shell comment about what it shows. A line with places to fill
// in, such as PATH…, is not a command that could be run.
func stepOf(line string) step {
	command, about := document.CutStep(line)
	if command == "" || strings.Contains(command, "…") {
		return step{About: line}
	}
	return step{command, about}
}

// steps takes lines apart.
func steps(lines []string) []step {
	return lists.Map(lines, stepOf)
}
