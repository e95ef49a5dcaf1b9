package ggrs

import (
	"strings"

	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// grammar has the messages of GGRS, the rollback library for Rust. The first two forms are of its sync test,
// which computes the last frames of one machine again: they name no peers. The
// tick is the first frame that came out differently. The third is the event of a
// session between peers as Debug prints it, on one line or on several; the fourth
// is what many games print of it, the last what an example prints of a sync test.
func grammar() *messages.Grammar {
	return &messages.Grammar{
		Name: "ggrs-log", Title: "log with messages of GGRS",
		Dialect: tracediff.Dialect{Engine: "GGRS", File: "log", TickName: messages.TickName("frame"), Covers: "what the game hashes into the checksum that it hands to GGRS"},
		Leads:   []string{"called `Result::unwrap()` on an `Err` value: ", "GGRS event: ", "GGRS error: ", "Event: ", "event: ", "event = ", "Error: ", "Err("},
		Forms: []messages.Form{
			{Literal: "Detected checksum mismatch during rollback", Parse: mismatchMessage},
			{Literal: "MismatchedChecksum {", Parse: mismatchDebug},
			{Literal: "DesyncDetected {", Parse: desyncDebug},
			{Literal: "Desync on frame ", Common: true, Parse: desyncMessage},
			{Literal: "desync detected at frame ", Common: true, Parse: mismatchPanic},
		},
	}
}

// mismatchMessage reads " on frame N, mismatched frames: [A, B]"; up to 0.10.0
// " on frame N.", where N is the frame that came out differently; in 0.2.1 ".".
func mismatchMessage(c *messages.Cursor) messages.Finding {
	if c.Try(".") {
		return messages.Finding{SelfTest: true}
	}
	c.Literal(" on frame ")
	f := messages.Finding{Tick: c.Number(), HasTick: true, SelfTest: true}
	if c.Optional(", mismatched frames: [") {
		f.Tick = c.List()
		return f
	}
	c.Try(".")
	return f
}

// mismatchDebug reads " current_frame: N, mismatched_frames: [A, B] }", up to
// 0.10.0 " frame: N }".
func mismatchDebug(c *messages.Cursor) messages.Finding {
	c.Space()
	f := messages.Finding{HasTick: true, SelfTest: true}
	if c.Try("frame: ") {
		f.Tick = c.Number()
	} else {
		c.Literal("current_frame: ")
		c.Number()
		c.Literal(",")
		c.Space()
		c.Literal("mismatched_frames: [")
		f.Tick = c.List()
	}
	c.Try(",")
	c.Space()
	c.Literal("}")
	return f
}

// mismatchPanic reads "N! mismatched frames: [A, B]", which an example of bevy_ggrs
// panics with.
func mismatchPanic(c *messages.Cursor) messages.Finding {
	c.Number()
	c.Literal("! mismatched frames: [")
	return messages.Finding{Tick: c.List(), HasTick: true, SelfTest: true}
}

// desyncDebug reads " frame: N, local_checksum: U128, remote_checksum: U128, addr:
// ADDRESS }". What an address is and how it is printed depends on the game.
func desyncDebug(c *messages.Cursor) messages.Finding {
	c.Space()
	c.Literal("frame: ")
	f := messages.Finding{Tick: c.Number(), HasTick: true}
	c.Literal(",")
	c.Space()
	c.Literal("local_checksum: ")
	local := c.Digits("0123456789", messages.MaxDecimal)
	c.Literal(",")
	c.Space()
	c.Literal("remote_checksum: ")
	remote := c.Digits("0123456789", messages.MaxDecimal)
	c.Literal(",")
	c.Space()
	c.Literal("addr: ")
	addr := strings.Trim(c.UntilBrace(), `"`)
	f.Peers = messages.Named(addr)
	f.Values = []tracediff.ClaimedValue{{Value: local}, {Peer: addr, Value: remote}}
	return f
}

// desyncMessage reads "N. Local checksum: HEX, remote checksum: HEX".
func desyncMessage(c *messages.Cursor) messages.Finding {
	f := messages.Finding{Tick: c.Number(), HasTick: true}
	c.Literal(".")
	c.Space()
	c.Literal("Local checksum: ")
	local := c.Digits(messages.HexDigits, messages.MaxHex128)
	c.Literal(", remote checksum: ")
	f.Values = []tracediff.ClaimedValue{{Value: local}, {Value: c.Digits(messages.HexDigits, messages.MaxHex128)}}
	return f
}
