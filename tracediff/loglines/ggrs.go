package loglines

import (
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// ggrs is the rollback library for Rust. The first two forms are of its sync test,
// which computes the last frames of one machine again: they name no peers. The
// tick is the first frame that came out differently. The third is the event of a
// session between peers as Debug prints it, on one line or on several; the fourth
// is what many games print of it.
func ggrs() engine {
	return engine{
		name: "ggrs-log", title: "log with messages of GGRS",
		dialect: tracediff.Dialect{Engine: "GGRS", File: "log", TickName: tickName("frame"), Covers: "what the game hashes into the checksum that it hands to GGRS"},
		forms: []form{
			{literal: "Detected checksum mismatch during rollback", parse: mismatchMessage},
			{literal: "MismatchedChecksum {", parse: mismatchDebug},
			{literal: "DesyncDetected {", parse: desyncDebug},
			{literal: "Desync on frame ", common: true, parse: desyncMessage},
		},
	}
}

// mismatchMessage reads " on frame N, mismatched frames: [A, B]"; up to 0.10.0
// " on frame N.", where N is the frame that came out differently; in 0.2.1 ".".
func mismatchMessage(c *cursor) finding {
	if c.try(".") {
		return finding{selfTest: true}
	}
	c.literal(" on frame ")
	f := finding{tick: c.number(), hasTick: true, selfTest: true}
	if c.optional(", mismatched frames: [") {
		f.tick = c.list()
		return f
	}
	c.try(".")
	return f
}

// mismatchDebug reads " current_frame: N, mismatched_frames: [A, B] }", up to
// 0.10.0 " frame: N }".
func mismatchDebug(c *cursor) finding {
	c.space()
	f := finding{hasTick: true, selfTest: true}
	if c.try("frame: ") {
		f.tick = c.number()
	} else {
		c.literal("current_frame: ")
		c.number()
		c.literal(",")
		c.space()
		c.literal("mismatched_frames: [")
		f.tick = c.list()
	}
	c.try(",")
	c.space()
	c.literal("}")
	return f
}

// desyncDebug reads " frame: N, local_checksum: U128, remote_checksum: U128, addr:
// ADDRESS }". What an address is and how it is printed depends on the game.
func desyncDebug(c *cursor) finding {
	c.space()
	c.literal("frame: ")
	f := finding{tick: c.number(), hasTick: true}
	c.literal(",")
	c.space()
	c.literal("local_checksum: ")
	local := c.digits("0123456789", maxDecimal)
	c.literal(",")
	c.space()
	c.literal("remote_checksum: ")
	remote := c.digits("0123456789", maxDecimal)
	c.literal(",")
	c.space()
	c.literal("addr: ")
	addr := strings.Trim(c.untilBrace(), `"`)
	f.peers = named(addr)
	f.values = []tracediff.ClaimedValue{{Value: local}, {Peer: addr, Value: remote}}
	return f
}

// desyncMessage reads "N. Local checksum: HEX, remote checksum: HEX".
func desyncMessage(c *cursor) finding {
	f := finding{tick: c.number(), hasTick: true}
	c.literal(".")
	c.space()
	c.literal("Local checksum: ")
	local := c.digits(hexDigits, maxHex128)
	c.literal(", remote checksum: ")
	f.values = []tracediff.ClaimedValue{{Value: local}, {Value: c.digits(hexDigits, maxHex128)}}
	return f
}
