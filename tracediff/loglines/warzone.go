package loglines

import (
	"fmt"
	"strconv"

	"github.com/desynctool/desynctool/tracediff"
)

// warzone is Warzone 2100. Each peer compares the checksums that the others send
// with its own and says whose differs; the game goes on.
func warzone() engine {
	return engine{
		name: "warzone-log", title: "log of Warzone 2100",
		dialect: tracediff.Dialect{Engine: "Warzone 2100", File: "log", TickName: tickName("tick")},
		leads:   []string{"[recvPlayerGameTime:"},
		forms:   []form{{literal: "Found CRC error when receiving GAME_GAME_TIME for player: ", parse: crcError}},
	}
}

// gameTick is the length of a tick in units of game time.
const gameTick = 100

// crcError reads "0 (checkTime: 49902, checkCrc: 6239)", the checksum in decimal.
// Players have the same names as in traces of recordings: their slots.
func crcError(c *cursor) finding {
	player := c.number()
	c.literal(" (checkTime: ")
	time := c.number()
	c.literal(", checkCrc: ")
	crc := c.number()
	c.literal(")")
	name := "slot " + strconv.FormatUint(player, 10)
	return finding{
		tick: time / gameTick, hasTick: true, peers: []string{name},
		values: []tracediff.ClaimedValue{{Peer: name, Value: fmt.Sprintf("0x%04x", crc)}},
	}
}
