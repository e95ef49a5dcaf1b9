package warzone

import (
	"bufio"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
)

// wrong is a line in which the game reports that a recorded checksum differs from its own.
type wrong struct {
	key
	crc uint16
}

// wrong returns the game's line for a wrong report.
func (r report) wrong() wrong { return wrong{key{r.queue, r.CheckTime}, r.CRC} }

// parseWrong takes "… [recvPlayerGameTime:474] Found CRC error when receiving GAME_GAME_TIME for player: 1
// (checkTime: 25702, checkCrc: 25236)".
func parseWrong(line string) (w wrong, ok bool) {
	_, rest, ok := strings.Cut(line, "] Found CRC error when receiving GAME_GAME_TIME for player: ")
	if !ok {
		return w, false
	}
	queue, rest, ok1 := strings.Cut(rest, " (checkTime: ")
	time, rest, ok2 := strings.Cut(rest, ", checkCrc: ")
	crc, _, ok3 := strings.Cut(rest, ")")
	q, err1 := strconv.ParseUint(queue, 10, 8)
	t, err2 := strconv.ParseUint(time, 10, 32)
	c, err3 := strconv.ParseUint(crc, 10, 16)
	ok = ok1 && ok2 && ok3 && err1 == nil && err2 == nil && err3 == nil
	return wrong{key{uint8(q), uint32(t)}, uint16(c)}, ok
}

// refusals are the game's messages when it does not play a recording.
var refusals = []string{
	"Could not load replay file ", "Unable to load replay", "Replay File Format Unsupported", "Missing map used for replay", "Failed to load replay",
	"Unrecognised replay name", "Unable to find specified replay",
}

// cannot returns the reason in a line why the game does not play the recording, empty if it has none.
func cannot(line string) string {
	for _, text := range refusals {
		if i := strings.Index(line, text); i >= 0 {
			return line[i:]
		}
	}
	return ""
}

// printed is what a run has said.
type printed struct {
	// wrong are the reports that were called wrong, or could not be compared.
	wrong  map[key]bool
	over   bool
	end    uint32 // time up to which the game has compared
	cannot string // why it did not play
}

// readPrinted reads what a run printed up to where the recording ended.
func readPrinted(file string, ends map[wrong]bool) (*printed, error) {
	in, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	p := &printed{wrong: map[key]bool{}}
	lines := bufio.NewReader(in)
	for {
		line, err := lines.ReadSlice('\n')
		text := string(line)
		if w, ok := parseWrong(text); ok {
			if ends[w] {
				p.over, p.end = true, w.time
				return p, nil
			}
			p.wrong[w.key] = true
		} else if p.cannot == "" {
			p.cannot = strings.TrimSpace(cannot(text))
		}
		switch {
		case err == io.EOF:
			return p, nil
		case err != nil && err != bufio.ErrBufferFull:
			return nil, err
		}
	}
}

// lastOf returns what is to be said of a run: why it does not play, or its last line.
func lastOf(tail []string, cannot string) string {
	if cannot != "" {
		return cannot
	}
	return engine.LastLine(tail)
}
