package warzone

import "strconv"

// TickLength is the length of a tick in units of game time, which are
// milliseconds.
const TickLength = 100

// firstTime is the game time at which a game begins; each tick adds TickLength.
const ordersFirstTime = 2

// TickName returns the game's name for a tick, its game time: "25702".
func TickName(tick uint64) string { return strconv.FormatUint(tick*TickLength+ordersFirstTime, 10) }

// SlotName returns the name of the peer in a slot: "slot 1".
func SlotName(slot int) string { return "slot " + strconv.Itoa(slot) }
