package warzone

import (
	"encoding/binary"
	"fmt"
)

// MessageType is the type of a message. The numbers are the game's.
type MessageType uint8

// Types that mean something to this package.
const (
	TimeMessage       MessageType = 120 // GAME_TIME: the sender's clock and CRC
	PlayerLeftMessage MessageType = 121

	firstType MessageType = 112
	lastType  MessageType = 132
	endType   MessageType = 133 // after the last message
	newEnd    MessageType = 255 // the same since 132 is a message
)

var typeNames = [...]string{
	"DROIDINFO", "STRUCTUREINFO", "RESEARCHSTATUS", "TEMPLATE", "TEMPLATEDEST", "ALLIANCE", "GIFT", "LASSAT", "GAME_TIME",
	"PLAYER_LEFT", "DROIDDISEMBARK", "SYNC_REQUEST", "DEBUG_MODE", "DEBUG_ADD_DROID", "DEBUG_ADD_STRUCTURE",
	"DEBUG_ADD_FEATURE", "DEBUG_REMOVE_DROID", "DEBUG_REMOVE_STRUCTURE", "DEBUG_REMOVE_FEATURE", "DEBUG_FINISH_RESEARCH",
	"SYNC_OPT_CHANGE",
}

// String returns the type's name in the game, "DROIDINFO".
func (t MessageType) String() string {
	if t < firstType || t > lastType {
		return fmt.Sprintf("type %d", uint8(t))
	}
	return typeNames[t-firstType]
}

// Message is one message of a queue. All peers have the same messages in each
// queue, up to where their recordings end.
type Message struct {
	// Queue is the slot whose queue it is in: the sender's, or the slot of a player who left, for which the host
	// speaks.
	Queue   uint8
	Type    MessageType
	Payload []byte // valid until the next message is read
	Offset  int64  // in the file, of the queue's byte
}

// GameTime is the payload of a TimeMessage. Messages after it in its queue are
// due when the game's clock has passed CheckTime + Latency × TickLength.
type GameTime struct {
	Latency       uint32 // ticks
	CheckTime     uint32 // game time at which it was sent
	CRC           uint16 // low half of the CRC of the sender's dump of that time
	WantedLatency uint16 // ms
}

// GameTime decodes the payload of a TimeMessage. It reports false if the payload
// is not of that shape.
func (m *Message) GameTime() (GameTime, bool) {
	latency, n := varint(m.Payload)
	if n <= 0 {
		return GameTime{}, false
	}
	check, k := varint(m.Payload[n:])
	rest := m.Payload[n+max(k, 0):]
	if k <= 0 || len(rest) != 4 {
		return GameTime{}, false
	}
	return GameTime{latency, check, binary.BigEndian.Uint16(rest), binary.BigEndian.Uint16(rest[2:])}, true
}

// playerLeft decodes the payload of a PlayerLeftMessage: who left.
func (m *Message) playerLeft() (uint32, bool) {
	player, n := varint(m.Payload)
	return player, n > 0 && n == len(m.Payload) && player < maxSlots
}
