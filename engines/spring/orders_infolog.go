package spring

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
)

// Infolog is what an infolog.txt contains about sync.
type Infolog struct {
	GameID  string            // 32 hex digits, empty if the log has none
	Players map[uint32]string // names by number, those that a server's log has
	Errors  []SyncError
	// Start is what each player's machine reported about its data at the start, by
	// player and name. All of it has to be the same.
	Start map[string]map[string]string

	// Next is the game that follows in the same file, empty if none does, and NextLine the number of the line that
	// names it. [Games] returns where each begins.
	Next     string
	NextLine int64

	// Malformed is the number of lines that begin like a SyncError but are not one,
	// FirstMalformed the number of the first of them.
	Malformed      int
	FirstMalformed int64
	// Dropped is the number of errors after those that are kept.
	Dropped int
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
	// Logged is the last frame that had begun when it was written, -1 before the first and on a server, since its lines
	// have none.
	Logged int64
	// Players are the players that the engine accuses. Got is their checksum, Correct the one that it takes for right.
	Players      []string
	Got, Correct uint32
	// Replay reports whether the line comes from a machine that replays: the recorded result of Players differs from
	// its own result, which is Correct.
	Replay bool
}

const (
	maxErrors   = 1 << 16  // lines that are kept
	maxKept     = 16 << 20 // bytes of such lines
	maxClaim    = 16 << 10 // bytes of such a line that are read
	maxStart    = 1 << 12  // values of the start that are kept
	maxText     = 1024     // bytes of such a line, or of a value, that are kept
	sniffLength = 4096     // bytes
)

// IsInfolog reports whether head, the leading bytes of a file, belong to an infolog.txt: a line that begins with the
// time since the start, such as "[t=00:00:00.000926]", or with a frame, as before 105: "[f=0070684] ". If the head of a
// log was cut off, the first line may be any part of one.
func IsInfolog(head []byte) bool {
	first := true
	for line := range bytes.Lines(head) {
		if isStamped(line) {
			return true
		}
		if len(bytes.TrimSpace(line)) == 0 {
			continue
		}
		if !first {
			return false
		}
		first = false
	}
	return false
}

// isStamped reports whether a line begins with a time or with a frame.
func isStamped(line []byte) bool {
	if rest, ok := bytes.CutPrefix(line, []byte("[t=")); ok {
		i := bytes.IndexByte(rest, ']')
		return i > 0 && len(bytes.Trim(rest[:i], "0123456789:.")) == 0
	}
	const frame = "[f=0000000] "
	if len(line) < len(frame) || !bytes.HasPrefix(line, []byte("[f=")) || string(line[10:12]) != "] " {
		return false
	}
	return len(bytes.Trim(bytes.TrimPrefix(line[3:10], []byte("-")), "0123456789")) == 0
}

// ReadInfolog reads a log's part about its first game: to its end, or to the line that names another game. Errors have
// the name for the file. If a log ends inside a line, as when a game crashed or still runs, or contains a line longer
// than limits.Line, it returns the part before that line together with a *frame.Error that wraps frame.ErrTorn or
// frame.ErrCorrupt.
func ReadInfolog(r io.Reader, name string) (*Infolog, error) {
	lines := orderlog.NewLines(r, name)
	if !IsInfolog(lines.Peek(sniffLength)) {
		return nil, lines.Unrecognized("no infolog of Spring: its first line does not begin with [t=hours:minutes:seconds] or [f=frame]")
	}
	log := &Infolog{Players: map[uint32]string{}, Start: map[string]map[string]string{}}
	p := infologParser{log: log}
	for log.Next == "" {
		line, err := lines.Next()
		switch {
		case err == nil:
		case err == io.EOF:
			return log, nil
		case errors.As(err, new(*frame.Error)):
			return log, err
		case err != nil:
			return nil, err
		}
		p.line(line, lines.Number(), lines.Offset())
	}
	return log, nil
}

// infologParser keeps what one line contains for the next ones.
type infologParser struct {
	log        *Infolog
	connecting string // the player of the last attempt to connect
	sender     string // the machine that reported the data in the next lines
	what       string
	values     int
	kept       int // bytes
}

// The beginnings of interesting lines, once the lead is cut off.
var (
	clientMark    = []byte("\tclient=")
	syncErrorMark = []byte("Sync error for ")
	warningMark   = []byte("[DESYNC WARNING] checksum ")
	messageMark   = []byte("[LOGMSG] sender=\"")
	gameIDMark    = []byte("GameID: ")
	attemptMark   = []byte("Connection attempt from ")
	givenMark     = []byte("-> Connection established (given id ")
)

func (p *infologParser) line(line []byte, number, offset int64) {
	if p.sender != "" {
		if len(line) > 0 && line[0] == '\t' {
			if value, ok := bytes.CutPrefix(line, clientMark); ok {
				p.keep(p.sender, p.what, strings.TrimSuffix(ordersText(value), `"`))
			}
			return
		}
		p.sender = ""
	}
	said, begun := cutLead(line)
	if len(said) < 2 {
		return
	}
	switch said[0] {
	case 'S', '[':
		if c := said[1]; c != 'y' && c != 'L' && c != 'D' { // no mark continues like this
			return
		}
		if rest, ok := bytes.CutPrefix(said, messageMark); ok {
			p.message(ordersText(rest))
			return
		}
		e, ok := ParseSyncError(said)
		switch begins := bytes.HasPrefix(said, syncErrorMark) || bytes.HasPrefix(said, warningMark); {
		case ok:
			e.Text, e.Line, e.Offset, e.Logged = ordersText(said), number, offset, logged(begun)
			p.claim(e, min(len(said), maxClaim))
		case begins:
			if p.log.Malformed++; p.log.Malformed == 1 {
				p.log.FirstMalformed = number
			}
		}
	case 'G':
		switch id, ok := gameID(said); {
		case !ok || p.log.GameID == id:
		case p.log.GameID == "":
			p.log.GameID = id
		default:
			p.log.Next, p.log.NextLine = id, number
		}
	case 'C':
		if player, ok := bytes.CutPrefix(said, attemptMark); ok {
			p.connecting = ordersText(player)
		}
	case '-':
		if rest, ok := bytes.CutPrefix(said, givenMark); ok && p.connecting != "" {
			digits, _, ok := bytes.Cut(rest, []byte(")"))
			if n, err := strconv.ParseUint(string(digits), 10, 8); ok && err == nil {
				p.log.Players[uint32(n)] = p.connecting
			}
			p.connecting = ""
		}
	}
}

// gameID returns the game that a line without its lead names.
func gameID(said []byte) (string, bool) {
	id, ok := bytes.CutPrefix(said, gameIDMark)
	return string(id), ok && len(id) == 32 && len(bytes.Trim(id, "0123456789abcdef")) == 0
}

// cutLead cuts off the lead of a line: the time, the frame, the severity and the speaker. Players' texts begin with
// their names, so they are not taken for the engine's messages.
//
//	[t=00:00:22.184280][f=0001012] Error: [Game::ClientReadNet]
//	[f=0001012]
//
// The frame is returned as written, nil if there is none.
func cutLead(line []byte) (said, begun []byte) {
	said, timed := bytes.CutPrefix(line, []byte("[t="))
	switch {
	case timed:
		_, said, _ = bytes.Cut(said, []byte("]"))
	case !isStamped(line):
		return nil, nil
	}
	if rest, ok := bytes.CutPrefix(said, []byte("[f=")); ok {
		i := max(0, bytes.IndexByte(rest, ']'))
		said, begun = rest[min(i+1, len(rest)):], rest[:min(i, 10)]
	}
	for {
		for len(said) > 0 && said[0] == ' ' {
			said = said[1:]
		}
		rest, ok := cutSpeaker(said)
		if !ok {
			return said, begun
		}
		said = rest
	}
}

// logged returns the number of a frame that had begun, -1 if there is none or it is before the start.
func logged(begun []byte) int64 {
	if n, err := strconv.ParseInt(string(begun), 10, 32); err == nil && n >= 0 {
		return n
	}
	return -1
}

// cutSpeaker cuts off "Error: ", "[GameServer]", "[Game::ClientReadNet]".
func cutSpeaker(said []byte) ([]byte, bool) {
	if len(said) == 0 {
		return said, false
	}
	switch said[0] {
	case '[':
		speaker, rest, ok := bytes.Cut(said[1:], []byte("]"))
		return rest, ok && (string(speaker) == "GameServer" || string(speaker) == "DedicatedServer" || bytes.Contains(speaker, []byte("::")))
	case 'E', 'W', 'F':
		for _, grave := range [...]string{"Error: ", "Warning: ", "Fatal: "} {
			if bytes.HasPrefix(said, []byte(grave)) {
				return said[len(grave):], true
			}
		}
	}
	return said, false
}

// claim keeps a line by which the engine claims a desync.
func (p *infologParser) claim(e SyncError, size int) {
	if p.kept += size; len(p.log.Errors) == maxErrors || p.kept > maxKept {
		p.log.Dropped++
		return
	}
	p.log.Errors = append(p.log.Errors, e)
}

// message takes what a player's machine reported, after its name's first quote:
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

// ParseSyncError parses both kinds of lines in which the engine claims a desync, without the text before them:
//
//	Sync error for Bob, Carol in frame 1401 (got 862e9672, correct is f3e962e7)
//	[DESYNC WARNING] checksum feec838 from demo player 2 (Carol) does not match our checksum 90c6c4f5 for frame-number 360
//
// Checksums have no leading zeros.
func ParseSyncError(said []byte) (e SyncError, ok bool) {
	said = said[:min(len(said), maxClaim)]
	if rest, ok := bytes.CutPrefix(said, syncErrorMark); ok {
		return parseServerError(string(rest))
	}
	if rest, ok := bytes.CutPrefix(said, warningMark); ok {
		return parseReplayError(string(rest))
	}
	return SyncError{}, false
}

// parseServerError parses what follows "Sync error for ".
func parseServerError(s string) (e SyncError, ok bool) {
	at := strings.LastIndex(s, " in frame ")
	if at < 0 {
		return e, false
	}
	number, rest, ok1 := strings.Cut(s[at+len(" in frame "):], " (got ")
	got, correct, ok2 := strings.Cut(rest, ", correct is ")
	correct, _, ok3 := strings.Cut(correct, ")")
	for _, name := range strings.Split(s[:at], ", ") {
		e.Players = append(e.Players, ordersText([]byte(name)))
	}
	return e, ok1 && ok2 && ok3 && len(e.Players) <= maxPlayers && e.numbers(number, got, correct)
}

// parseReplayError parses what follows "[DESYNC WARNING] checksum ".
func parseReplayError(s string) (e SyncError, ok bool) {
	got, s, ok1 := strings.Cut(s, " from demo player ")
	_, s, ok2 := strings.Cut(s, " (")
	at := strings.LastIndex(s, ") does not match our checksum ")
	if !ok1 || !ok2 || at < 0 {
		return e, false
	}
	correct, number, ok3 := strings.Cut(s[at+len(") does not match our checksum "):], " for frame-number ")
	number, _, _ = strings.Cut(number, " ")
	e.Players = []string{ordersText([]byte(s[:at]))}
	e.Replay = true
	return e, ok3 && e.numbers(number, got, correct)
}

// maxPlayers is how many numbers of players there are.
const maxPlayers = 256

func (e *SyncError) numbers(frame, got, correct string) bool {
	n, err1 := strconv.ParseUint(frame, 10, 31)
	g, err2 := strconv.ParseUint(got, 16, 32)
	c, err3 := strconv.ParseUint(correct, 16, 32)
	e.Frame, e.Got, e.Correct = n, uint32(g), uint32(c)
	return err1 == nil && err2 == nil && err3 == nil
}

// text returns a log's text, cut if it is too long.
func ordersText(b []byte) string {
	if len(b) > maxText {
		b = b[:maxText]
	}
	return strings.ToValidUTF8(string(b), string(utf8.RuneError))
}
