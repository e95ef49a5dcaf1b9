package explore

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/shellwords"
	"github.com/desynctool/desynctool/report/document"
)

// commands are the command lines that show single parts of a report.
type commands struct {
	r     *document.Report
	given Given
	match int // of several, 0 if there is one
}

// line returns a command on the given paths.
func (c commands) line(command string, more ...string) string {
	words := []string{"desynctool", command}
	words = append(words, lists.Map(c.given.Paths, document.PathArgument)...)
	if len(c.given.Paths) == 0 {
		words = append(words, "PATH…")
	}
	if c.match > 0 {
		words = append(words, "--match", strconv.Itoa(c.match))
	}
	return shellwords.Join(append(words, more...)...)
}

func (c commands) triage() string {
	return c.line("triage", c.given.Flags...)
}

func (c commands) doctor() string    { return c.line("doctor") }
func (c commands) bisect() string    { return c.line("bisect") }
func (c commands) tracediff() string { return c.line("tracediff") }
func (c commands) orders() string    { return c.line("orders", "--all") }
func (c commands) diff() string      { return c.pair("diff", "--all") }
func (c commands) walk() string      { return c.pair("walk") }

// ofStep returns the command that answers a step of the narrowing.
func (c commands) ofStep(step string) string {
	switch step {
	case "preflight":
		return c.doctor()
	case "inputs":
		return c.orders()
	case "initial-state", "bracket", "tick":
		return c.bisect()
	case "checksums", "system", "claims":
		return c.tracediff()
	case "archetype":
		return c.walk()
	case "component", "entity", "field":
		return c.diff()
	}
	return c.triage()
}

// pair returns a command of the two states that were compared: by their files where the report
// knows them, else by the state point.
func (c commands) pair(command string, flags ...string) string {
	k := c.r.Compared
	if k == nil {
		return c.triage()
	}
	at := func(path string) string { return fmt.Sprintf("%s@%d", path, k.Point) }
	var files [2]string
	if d := c.r.FirstDivergence; d != nil && d.Bracket != nil && d.Bracket.Files != nil && d.Bracket.Bad == k.Point {
		for i, peer := range k.Peers {
			files[i] = only(d.Bracket.Files.Bad, peer)
		}
		if bad := d.Bracket.Files.Bad; (files[0] == "" || files[1] == "") && len(bad) == 2 && len(c.r.Peers) == 2 {
			files = [2]string{bad[0], bad[1]}
		}
	}
	switch {
	case files[0] != "" && files[1] != "" && files[0] != files[1]:
	case len(c.given.Paths) == 2 && len(c.r.Peers) == 2:
		files = [2]string{at(c.given.Paths[0]), at(c.given.Paths[1])}
	default:
		files = [2]string{at("A"), at("B")}
	}
	words := []string{"desynctool", command, document.PathArgument(files[0]), document.PathArgument(files[1])}
	return shellwords.Join(append(words, flags...)...)
}

// only returns the one of some files that is in a folder of that name, empty if not exactly one does.
func only(files []string, folder string) string {
	found := ""
	for _, f := range files {
		if folders := strings.Split(f, "/"); slices.Contains(folders[:len(folders)-1], folder) {
			if found != "" {
				return ""
			}
			found = f
		}
	}
	return found
}
