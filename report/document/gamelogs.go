package document

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
)

// GameLogs are warnings and errors in the games' own logs that not all peers have.
type GameLogs struct {
	Files []GameLogFile `json:"files"`
	// Lines are the lines before the split: first lines that a peer lacks, then lines that a peer has less often, each
	// with the nearest to the split first.
	Lines []GameLogLine `json:"lines"`
	Total int           `json:"total"` // of lines, those included that are left out
}

// GameLogFile is a log.
type GameLogFile struct {
	Peer     string `json:"peer"`
	File     string `json:"file"`
	Logger   string `json:"logger,omitempty"` // who writes such logs, empty if that is not known
	Lines    int64  `json:"lines"`
	Warnings int64  `json:"warnings"`
	Errors   int64  `json:"errors"` // and worse
	// Split is the first line after the split, one more than the number of lines if there is none.
	Split int64 `json:"split_line"`
	// Left counts distinct lines that there was no room for.
	Left int64 `json:"left_out,omitempty"`
}

// GameLogLine is a line, with all lines that are equal to it except for times, addresses and folders.
type GameLogLine struct {
	Severity string `json:"severity"` // warning, error, assertion, exception or fatal
	Text     string `json:"text"`
	// Data reports whether it is about something that could not be found, loaded or understood.
	Data bool           `json:"data,omitempty"`
	Have []GameLogPlace `json:"have"`
	Lack []string       `json:"lack"` // peers with logs that do not have it; none if some have it less often
	// TicksBefore is how many ticks before the split it occurs last, null if that is not known; LinesBefore how many
	// lines.
	TicksBefore *uint64 `json:"ticks_before"`
	LinesBefore int64   `json:"lines_before"`
	ToEnd       bool    `json:"to_end,omitempty"` // the log does not show the split; the lines are counted from its end
}

// GameLogPlace is where a peer's log has a line before the split.
type GameLogPlace struct {
	Peer  string `json:"peer"`
	File  string `json:"file"`
	Count int64  `json:"count"`
	First int64  `json:"first"` // line numbers, from 1
	Last  int64  `json:"last"`
	// At is the tick of the last one, in the game's words, such as "frame 700"; empty if no
	// line before it has one.
	At string `json:"at,omitempty"`
}

// Who describes which peers have a line: "only client", "host and server, not client", "client 5 times, host 3 times".
func (l *GameLogLine) Who() string {
	names := lists.Map(l.Have, func(p GameLogPlace) string { return prose.Name(p.Peer) })
	if len(l.Lack) > 0 {
		if len(names) == 1 {
			return "only " + names[0]
		}
		return strings.Join(names, ", ") + ", not " + strings.Join(prose.Names(l.Lack), ", ")
	}
	parts := make([]string, len(names))
	for i, p := range l.Have {
		parts[i] = names[i] + " " + prose.Count(p.Count, "time", "times")
	}
	return "more often " + strings.Join(parts, ", ")
}

// Where returns the place of the line in the log of the first peer that has it.
func (l *GameLogLine) Where() string {
	if len(l.Have) == 0 {
		return ""
	}
	p := &l.Have[0]
	text := prose.Path(p.File) + ":" + strconv.FormatInt(p.First, 10)
	if p.Count > 1 {
		text += fmt.Sprintf(" (%d times, last in line %d)", p.Count, p.Last)
	}
	return text
}

// When describes how far before the split the line is.
func (l *GameLogLine) When() string {
	at := ""
	if len(l.Have) > 0 {
		at = prose.Moment(l.Have[0].At)
	}
	switch {
	case l.TicksBefore != nil && *l.TicksBefore == 0:
		return at + ", where the peers diverged"
	case l.TicksBefore != nil:
		return fmt.Sprintf("%s, %s before", at, prose.Count(*l.TicksBefore, "tick", "ticks"))
	case l.ToEnd && l.LinesBefore == 1:
		return strings.TrimPrefix(at+", the log's last line", ", ")
	case l.ToEnd:
		return strings.TrimPrefix(at+", "+prose.Count(l.LinesBefore-1, "line", "lines")+" before the log's end", ", ")
	case l.LinesBefore > 0:
		return strings.TrimPrefix(at+", "+prose.Count(l.LinesBefore, "line", "lines")+" before", ", ")
	}
	return at
}

const gameLogsTitle = "in the games' own logs"

// About describes what warnings and errors the lines are. Whether they came before the divergence is not known if no log shows that.
func (g *GameLogs) About() string {
	if !slices.ContainsFunc(g.Lines, func(l GameLogLine) bool { return !l.ToEnd }) {
		return "that not all peers have; the logs do not show which of them came before the divergence"
	}
	return "before the divergence that not all peers have, the nearest first"
}
