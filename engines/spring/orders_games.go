package spring

import (
	"bytes"
	"errors"
	"io"
	"math"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
)

// Game is a stretch of an infolog that belongs to one game: files are appended to each other, and one program plays
// several games.
type LoggedGame struct {
	ID       string // 32 hex digits, empty if none was named
	From, To int64  // bytes of the content; To is math.MaxInt64 of the last game
	Line     int64  // the number of its first line
}

// maxGames is how many games of a file are distinguished.
const maxGames = 1 << 10

// Games returns the games of an infolog in their order. A game begins at the line that names another one than before,
// or earlier, where the time restarts between the two. Everything after damage belongs to the last game.
func Games(r io.Reader, name string) ([]LoggedGame, error) {
	lines := orderlog.NewLines(r, name)
	if !IsInfolog(lines.Peek(sniffLength)) {
		return nil, lines.Unrecognized("no infolog of Spring: its first line does not begin with [t=hours:minutes:seconds] or [f=frame]")
	}
	list := []LoggedGame{{Line: 1}}
	var begun LoggedGame // where the time went back after the last game was named; no line if it did not
	var last []byte      // its last time
	for {
		line, err := lines.Next()
		switch {
		case err == nil:
		case err == io.EOF || errors.As(err, new(*frame.Error)):
			list[len(list)-1].To = math.MaxInt64
			return list, nil
		case err != nil:
			return nil, err
		}
		if now, ok := stamp(line); ok {
			if len(now) == len(last) && bytes.Compare(now, last) < 0 {
				begun = LoggedGame{From: lines.Offset(), Line: lines.Number()}
			}
			last = append(last[:0], now...)
		}
		if at := len(line) - len(gameIDMark) - 32; at < 0 || !bytes.HasPrefix(line[at:], gameIDMark) {
			continue
		}
		said, _ := cutLead(line)
		id, ok := gameID(said)
		if !ok {
			continue
		}
		game := &list[len(list)-1]
		switch {
		case game.ID == "":
			game.ID = id
		case game.ID != id && len(list) < maxGames:
			next := LoggedGame{From: lines.Offset(), Line: lines.Number()}
			if begun.Line > 0 {
				next = begun
			}
			next.ID = id
			game.To = next.From
			list = append(list, next)
		}
		begun = LoggedGame{}
	}
}

// stamp returns the time that a line begins with, "00:00:22.184280": as text such times are in
// the order of time if they are as long.
func stamp(line []byte) ([]byte, bool) {
	rest, ok := bytes.CutPrefix(line, []byte("[t="))
	if !ok {
		return nil, false
	}
	for i, c := range rest {
		switch {
		case c >= '0' && c <= '9' || c == ':' || c == '.':
		default:
			return rest[:i], i > 0 && c == ']'
		}
	}
	return nil, false
}
