package spring

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/frame"
)

// Infolog is what an infolog.txt says of sync.
type Infolog struct {
	GameID  string            // 32 hex digits, empty if the log has none
	Players map[uint32]string // names by number, as far as a server's log tells
	Errors  []SyncError
	// Start is what each player's machine reported of its data at the start, by
	// player and name. All of it has to be the same.
	Start map[string]map[string]string
	// Torn says that the last line has no end.
	Torn bool
}

// SyncError is a line by which the engine claims a desync:
//
//	Sync error for Bob, Carol in frame 1401 (got 862e9672, correct is f3e962e7)
//	[DESYNC WARNING] checksum feec838 from demo player 2 (Carol) does not match our checksum 90c6c4f5 for frame-number 360
type SyncError struct {
	Line   int64
	Offset int64
	Text   string // from "Sync error" or "[DESYNC WARNING]" on
	Frame  uint64
	// Logged is the frame in which the line was written, -1 before the start and
	// on a server, whose lines have none.
	Logged int64
	// Players are those that the engine accuses. Got is their checksum, Correct
	// the one that it takes for right.
	Players      []string
	Got, Correct uint32
	// Replay says that a replaying machine found that what Players had recorded is
	// not what it has itself, which is Correct then.
	Replay bool
}

const (
	maxErrors = 1 << 20 // lines that are kept
	maxStart  = 1 << 12 // values of the start that are kept
	maxText   = 1024    // bytes of such a line, or of a value, that are kept
)

// IsInfolog reports whether head, the leading bytes of a file, are those of an
// infolog.txt: a line that begins with the time since the start, such as
// "[t=00:00:00.000926]".
func IsInfolog(head []byte) bool {
	for line := range bytes.Lines(head) {
		if rest, ok := bytes.CutPrefix(line, []byte("[t=")); ok {
			i := bytes.IndexByte(rest, ']')
			return i > 0 && len(bytes.Trim(rest[:i], "0123456789:.")) == 0
		}
		if len(bytes.TrimSpace(line)) > 0 {
			return false
		}
	}
	return false
}

// ReadInfolog reads a log to its end. The name is what errors call it.
func ReadInfolog(r io.Reader, name string) (*Infolog, error) {
	lines := orderlog.NewLines(r, name)
	if !IsInfolog(lines.Peek(4096)) {
		return nil, lines.Unrecognized("no infolog of Spring: its first line does not begin with [t=hours:minutes:seconds]")
	}
	log := &Infolog{Players: map[uint32]string{}, Start: map[string]map[string]string{}}
	p := infologParser{log: log}
	for {
		line, err := lines.Next()
		var bad *frame.Error
		switch {
		case err == io.EOF:
			return log, nil
		case errors.As(err, &bad) && bad.Err == frame.ErrTorn:
			log.Torn = true
			return log, nil
		case err != nil:
			return nil, err
		}
		p.line(line, lines.Number(), lines.Offset())
	}
}

// infologParser holds what one line says for the next ones.
type infologParser struct {
	log        *Infolog
	connecting string // the player of the last attempt to connect
	sender     string // whose machine reports what the next lines have
	what       string
	values     int
}

// What lines of interest have in them.
var (
	syncErrorMark = []byte("Sync error for ")
	warningMark   = []byte("[DESYNC WARNING]")
	messageMark   = []byte("[LOGMSG] sender=\"")
	gameIDMark    = []byte("GameID: ")
	attemptMark   = []byte("Connection attempt from ")
	givenMark     = []byte("(given id ")
)

func (p *infologParser) line(line []byte, number, offset int64) {
	if p.sender != "" && len(line) > 0 && line[0] == '\t' {
		if value, ok := bytes.CutPrefix(line, []byte("\tclient=")); ok {
			p.keep(p.sender, p.what, strings.TrimSuffix(text(value), `"`))
		}
		return
	}
	p.sender = ""
	if i := bytes.Index(line, syncErrorMark); i >= 0 {
		if e, ok := parseSyncError(line[i:]); ok {
			p.claim(e, line[i:], line, number, offset)
		}
		return
	}
	if i := bytes.Index(line, warningMark); i >= 0 {
		if e, ok := parseWarning(line[i:]); ok {
			p.claim(e, line[i:], line, number, offset)
		}
		return
	}
	if i := bytes.Index(line, messageMark); i >= 0 {
		p.message(text(line[i+len(messageMark):]))
		return
	}
	if i := bytes.Index(line, gameIDMark); i >= 0 && p.log.GameID == "" {
		if id := line[i+len(gameIDMark):]; len(id) == 32 && len(bytes.Trim(id, "0123456789abcdef")) == 0 {
			p.log.GameID = string(id)
		}
		return
	}
	if i := bytes.Index(line, attemptMark); i >= 0 {
		p.connecting = text(line[i+len(attemptMark):])
		return
	}
	if i := bytes.Index(line, givenMark); i >= 0 && p.connecting != "" {
		rest, _, ok := strings.Cut(string(line[i+len(givenMark):]), ")")
		if n, err := strconv.ParseUint(rest, 10, 8); ok && err == nil {
			p.log.Players[uint32(n)] = p.connecting
		}
		p.connecting = ""
	}
}

// claim keeps a line by which the engine claims a desync.
func (p *infologParser) claim(e SyncError, what, line []byte, number, offset int64) {
	if len(p.log.Errors) == maxErrors {
		return
	}
	e.Text, e.Line, e.Offset, e.Logged = text(what), number, offset, loggedFrame(line)
	p.log.Errors = append(p.log.Errors, e)
}

// message takes what a player's machine reported, behind its name's first quote:
//
//	Bob" string="[PreGame::GameDataReceived][map-checksums]
//	Bob" string="[PE::CalcChecksum][BLK_SIZE=16][SHA_DATA=230d8c37]"
func (p *infologParser) message(rest string) {
	sender, said, ok := strings.Cut(rest, `" string="`)
	if !ok {
		return
	}
	switch {
	case strings.HasSuffix(said, "[map-checksums]"):
		p.sender, p.what = sender, "map checksum"
	case strings.HasSuffix(said, "[mod-checksums]"):
		p.sender, p.what = sender, "mod checksum"
	case strings.Contains(said, "[SHA_DATA="):
		before, value, _ := strings.Cut(said, "[SHA_DATA=")
		value, _, _ = strings.Cut(value, "]")
		name := "path data"
		if _, size, ok := strings.Cut(before, "[BLK_SIZE="); ok {
			size, _, _ = strings.Cut(size, "]")
			name += " of block size " + size
		}
		p.keep(sender, name, value)
	}
}

func (p *infologParser) keep(player, name, value string) {
	if p.values++; p.values > maxStart {
		return
	}
	if p.log.Start[player] == nil {
		p.log.Start[player] = map[string]string{}
	}
	p.log.Start[player][name] = value
}

// parseSyncError parses "Sync error for Bob, Carol in frame 1401 (got 862e9672,
// correct is f3e962e7)". Checksums have no leading zeros.
func parseSyncError(b []byte) (e SyncError, ok bool) {
	s := string(b[len(syncErrorMark):min(len(b), 16<<10)])
	at := strings.LastIndex(s, " in frame ")
	if at < 0 {
		return e, false
	}
	number, rest, ok1 := strings.Cut(s[at+len(" in frame "):], " (got ")
	got, correct, ok2 := strings.Cut(rest, ", correct is ")
	correct, _, ok3 := strings.Cut(correct, ")")
	if !ok1 || !ok2 || !ok3 {
		return e, false
	}
	for _, name := range strings.Split(s[:at], ", ") {
		e.Players = append(e.Players, text([]byte(name)))
	}
	return e, e.numbers(number, got, correct)
}

// parseWarning parses "[DESYNC WARNING] checksum feec838 from demo player 2
// (Carol) does not match our checksum 90c6c4f5 for frame-number 360".
func parseWarning(b []byte) (e SyncError, ok bool) {
	s := string(b[len(warningMark):min(len(b), 16<<10)])
	_, s, ok1 := strings.Cut(s, "checksum ")
	got, s, ok2 := strings.Cut(s, " from demo player ")
	_, s, ok3 := strings.Cut(s, " (")
	at := strings.LastIndex(s, ") does not match our checksum ")
	if !ok1 || !ok2 || !ok3 || at < 0 {
		return e, false
	}
	correct, number, ok4 := strings.Cut(s[at+len(") does not match our checksum "):], " for frame-number ")
	number, _, _ = strings.Cut(number, " ")
	e.Players = []string{text([]byte(s[:at]))}
	e.Replay = true
	return e, ok4 && e.numbers(number, got, correct)
}

func (e *SyncError) numbers(frame, got, correct string) bool {
	n, err1 := strconv.ParseUint(frame, 10, 31)
	g, err2 := strconv.ParseUint(got, 16, 32)
	c, err3 := strconv.ParseUint(correct, 16, 32)
	e.Frame, e.Got, e.Correct = n, uint32(g), uint32(c)
	return err1 == nil && err2 == nil && err3 == nil
}

// loggedFrame returns the frame in "[t=00:00:22.184280][f=0001012] ", -1 without
// one.
func loggedFrame(line []byte) int64 {
	_, rest, ok := bytes.Cut(line, []byte("][f="))
	digits, _, ok2 := bytes.Cut(rest, []byte("]"))
	if !ok || !ok2 || len(digits) > 10 {
		return -1
	}
	n, err := strconv.ParseInt(string(digits), 10, 32)
	if err != nil || n < 0 || n == math.MaxInt32 {
		return -1
	}
	return n
}

// text returns what a log says as text that is not too long.
func text(b []byte) string {
	if len(b) > maxText {
		b = b[:maxText]
	}
	return strings.ToValidUTF8(string(b), string(utf8.RuneError))
}
