package widelands

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"

	"github.com/desynctool/desynctool/tracediff"
)

const (
	maxClaims = 1 << 12 // of one file that are kept
	maxName   = 1 << 10 // bytes of a player's name
)

// Lines that the game prints about a desync. The time follows the prefix; two lines with MD5s follow, and the first one
// begins with iHave.
const (
	hostLost   = "[Host]: lost synchronization with client "
	hostLost0  = "[Host] lost synchronization with client " // up to 2012
	comparing  = "[Host]: comparing syncreports for time "
	leaving    = "[Host]: disconnect_player_controller("
	left       = "[Host]: disconnect_client("
	replayLost = "REPLAY: Lost synchronization at time "
	clientTold = "[Client] received NETCMD_INFO_DESYNC."

	iHave     = "I have:"
	clientHas = "Client has:"
	replayHas = "Replay has:"
)

// accused returns the name in claims of the client that the host counts as number n.
// That is not the number in the names of files, which counts users.
func accused(n string) string { return "the host's client " + n }

// firstLine is the first line that the game prints.
const firstLine = "This is Widelands Version "

// isLog reports whether one of the first lines is stamped as the game stamps them, is the first of all, or is about a
// desync.
func isLog(head []byte) bool {
	for len(head) > 0 {
		line, rest, whole := bytes.Cut(head, []byte("\n"))
		head = rest
		text, stamped := cutStamp(bytes.TrimSuffix(line, []byte("\r")))
		if stamped {
			return true
		}
		if !whole {
			break
		}
		if _, ok := traceLost(text); ok || bytes.HasPrefix(text, []byte(clientTold)) || bytes.HasPrefix(text, []byte(firstLine)) {
			return true
		}
	}
	return false
}

// cutStamp cuts off the time and the level of a line:
// "[00:06:05.797 real] ERROR: ".
func cutStamp(line []byte) (text []byte, stamped bool) {
	const clock = "[00:00:00.000 "
	if len(line) < len(clock) {
		return line, false
	}
	for i := range len(clock) {
		if clock[i] == '0' && (line[i] < '0' || line[i] > '9') || clock[i] != '0' && line[i] != clock[i] {
			return line, false
		}
	}
	rest := line[len(clock):]
	for _, kind := range []string{"real] ", "game] "} {
		after, ok := bytes.CutPrefix(rest, []byte(kind))
		if !ok {
			continue
		}
		for _, level := range []string{"INFO: ", "DEBUG: ", "WARNING: ", "ERROR: "} {
			if text, ok := bytes.CutPrefix(after, []byte(level)); ok {
				return text, true
			}
		}
	}
	return line, false
}

// lost parses a line that reports that synchronization was lost.
func traceLost(text []byte) (c tracediff.Claim, ok bool) {
	var time []byte
	rest, is := bytes.CutPrefix(text, []byte(hostLost))
	if !is {
		rest, is = bytes.CutPrefix(text, []byte(hostLost0))
	}
	if is {
		// In older versions the line has no time.
		client, after, timed := bytes.Cut(bytes.TrimSuffix(rest, []byte("!")), []byte(" at time "))
		if _, err := strconv.ParseUint(string(client), 10, 32); err != nil || len(rest) == 0 || rest[len(rest)-1] != '!' {
			return c, false
		}
		c.Peers, c.By = []string{accused(string(client))}, "host"
		if !timed {
			c.Text = string(text)
			return c, true
		}
		time = after
	} else if time, is = bytes.CutPrefix(text, []byte(replayLost)); !is {
		return c, false
	}
	tick, err := strconv.ParseUint(string(time), 10, 32)
	if err != nil {
		return c, false
	}
	c.Text, c.Tick, c.HasTick = string(text), tick, true
	return c, true
}

// md5Of returns the hash of a line such as "I have:     a6abc5b3…".
func md5Of(text []byte, what string) (string, bool) {
	rest, ok := bytes.CutPrefix(text, []byte(what))
	rest = bytes.TrimSpace(rest)
	if !ok || len(rest) != 32 || len(bytes.Trim(rest, "0123456789abcdef")) != 0 {
		return "", false
	}
	return string(rest), true
}

// compared returns the time in the line above lines that name none.
func compared(text []byte) (time uint64, ok bool) {
	rest, ok := bytes.CutPrefix(text, []byte(comparing))
	if !ok {
		return 0, false
	}
	time, err := strconv.ParseUint(string(rest), 10, 32)
	return time, err == nil
}

// nameAccused gives the client of a claim its player's name, which the host prints as it
// disconnects that client: "[Host]: disconnect_player_controller(1, Bob)".
func nameAccused(c *tracediff.Claim, text []byte) {
	_, name, ok := bytes.Cut(text[len(leaving):], []byte(", "))
	name, closed := bytes.CutSuffix(name, []byte(")"))
	if !ok || !closed || len(name) == 0 || len(name) > maxName || len(c.Peers) != 1 {
		return
	}
	was := c.Peers[0]
	c.Peers[0] = string(bytes.ToValidUTF8(name, []byte("\uFFFD")))
	for i := range c.Values {
		if c.Values[i].Peer == was {
			c.Values[i].Peer = c.Peers[0]
		}
	}
}

// logClaims reads what the game printed. The host and a client name themselves by
// the kind of the line, other lines of the log are skipped.
func logClaims(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	lines := orderlog.NewLines(r, name)
	log := &tracediff.ClaimLog{
		Dialect: tracediff.Dialect{Engine: title, File: "Widelands log", Unit: unit, Cumulative: true},
		Peer:    Peer(name),
	}
	var open *tracediff.Claim   // its hashes are still to come
	other := ""                 // what begins the line of the second one
	var leaves *tracediff.Claim // the host may now disconnect its client
	var time uint64             // that the host compares last
	timed := false
	incomplete := func() {
		if open != nil && log.Trouble == "" {
			log.Trouble = fmt.Sprintf("%s: line %d: the checksums that should follow do not", name, open.Pos.Line)
		}
		open = nil
	}
	for {
		line, err := lines.Next()
		if err == io.EOF {
			incomplete()
			return log, nil
		}
		if err != nil {
			incomplete()
			return trouble(log, err)
		}
		text, _ := cutStamp(line)
		if at, ok := compared(text); ok {
			time, timed = at, true
		}
		if bytes.HasPrefix(text, []byte(leaving)) && leaves != nil {
			nameAccused(leaves, text)
		}
		if bytes.HasPrefix(text, []byte(left)) {
			leaves = nil
		}
		if c, ok := traceLost(text); ok {
			incomplete()
			if leaves = nil; len(log.Claims) == maxClaims {
				continue
			}
			if !c.HasTick && timed {
				c.Tick, c.HasTick = time, true
			}
			c.File, c.Pos = name, tracediff.Position{Line: lines.Number(), Offset: lines.Offset()}
			log.Claims = append(log.Claims, c)
			open, other = &log.Claims[len(log.Claims)-1], clientHas
			if c.Peers == nil {
				other, open.Replay = replayHas, true
			} else {
				leaves = open
				log.Peer = cmp.Or(log.Peer, "host")
			}
			continue
		}
		if bytes.HasPrefix(text, []byte(clientTold)) && len(log.Claims) < maxClaims {
			log.Claims = append(log.Claims, tracediff.Claim{
				File: name, Pos: tracediff.Position{Line: lines.Number(), Offset: lines.Offset()}, Text: string(text[:min(len(text), 256)]),
			})
			continue
		}
		if open == nil {
			continue
		}
		what := iHave
		if len(open.Values) > 0 {
			what = other
		}
		sum, ok := md5Of(text, what)
		if !ok {
			incomplete()
			continue
		}
		open.Values = append(open.Values, tracediff.ClaimedValue{Peer: owner(what, open), Value: sum})
		if len(open.Values) == 2 {
			open = nil
		}
	}
}

// owner returns the peer of the checksum in a line.
func owner(what string, c *tracediff.Claim) string {
	switch what {
	case clientHas:
		return c.Peers[0]
	case replayHas:
		return "the replay"
	}
	if c.Peers != nil {
		return "host"
	}
	return "" // this machine, which played the replay
}

// trouble returns what was read of a file that breaks off or is damaged.
func trouble(log *tracediff.ClaimLog, err error) (*tracediff.ClaimLog, error) {
	var malformed *frame.Error
	if !errors.As(err, &malformed) {
		return nil, err
	}
	if log.Trouble == "" {
		log.Trouble = err.Error()
	}
	return log, nil
}
