package warzone

import (
	"fmt"
	"strconv"

	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// grammar has the messages of Warzone 2100. Each peer compares the checksums that the others send
// with its own and says whose differs; the game goes on.
func grammar() *messages.Grammar {
	return &messages.Grammar{
		Name: "warzone-log", Title: "log of Warzone 2100",
		Dialect: tracediff.Dialect{Engine: "Warzone 2100", File: "log", TickName: messages.TickName("tick")},
		Leads:   []string{"[recvPlayerGameTime:"},
		Forms:   []messages.Form{{Literal: "Found CRC error when receiving GAME_GAME_TIME for player: ", Parse: crcError}},
	}
}

// gameTick is the length of a tick in units of game time.
const gameTick = 100

// crcError reads "0 (checkTime: 49902, checkCrc: 6239)", the checksum in decimal.
// Players have the same names as in traces of recordings: their slots.
func crcError(c *messages.Cursor) messages.Finding {
	player := c.Number()
	c.Literal(" (checkTime: ")
	time := c.Number()
	c.Literal(", checkCrc: ")
	crc := c.Number()
	c.Literal(")")
	name := "slot " + strconv.FormatUint(player, 10)
	return messages.Finding{
		Tick: time / gameTick, HasTick: true, Peers: []string{name},
		Values: []tracediff.ClaimedValue{{Peer: name, Value: fmt.Sprintf("0x%04x", crc)}},
	}
}
