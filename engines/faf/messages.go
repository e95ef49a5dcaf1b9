package faf

import (
	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// grammar has the messages of Supreme Commander: Forged Alliance, also as Forged Alliance Forever
// starts it. Each peer compares the checksums that the others send with that of
// its own sim, every 50 beats unless sim_ChecksumPeriod says otherwise, so that two
// peers who differ accuse each other.
func grammar() *messages.Grammar {
	return &messages.Grammar{
		Name: "faf-log", Title: "log of Supreme Commander: Forged Alliance",
		Dialect: tracediff.Dialect{Engine: "Supreme Commander: Forged Alliance", File: "log", TickName: messages.TickName("beat")},
		Forms: []messages.Form{
			{Literal: "Checksum for beat ", Parse: beatMismatch},
			{Literal: "Desync at beat ", Common: true, Weak: true, Parse: desyncAtBeat},
		},
	}
}

// beatMismatch reads "N mismatched: MD5 (sim) != MD5 (NAME).": its own checksum
// first.
func beatMismatch(c *messages.Cursor) messages.Finding {
	f := messages.Finding{Tick: c.Number(), HasTick: true}
	c.Literal(" mismatched: ")
	own := c.Digits(messages.HexDigits, messages.MaxHex128)
	c.Literal(" (sim) != ")
	other := c.Digits(messages.HexDigits, messages.MaxHex128)
	c.Literal(" (")
	name := c.Until(").")
	f.Peers = messages.Named(name)
	f.Values = []tracediff.ClaimedValue{{Value: own}, {Peer: name, Value: other}}
	return f
}

// desyncAtBeat reads "N tick T", which the game's Lua code writes in every beat from then
// on: N is the beat that the user interface had come to, which may lie before the one
// that is out of sync. So it names no tick.
func desyncAtBeat(c *messages.Cursor) messages.Finding {
	c.Number()
	c.Literal(" tick ")
	c.Digits("0123456789.", 32)
	return messages.Finding{}
}
