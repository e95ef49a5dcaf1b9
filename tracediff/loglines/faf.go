package loglines

import "github.com/desynctool/desynctool/tracediff"

// faf is Supreme Commander: Forged Alliance, also as Forged Alliance Forever
// starts it. Each peer compares the checksums that the others send with that of
// its own sim, every 50 beats unless sim_ChecksumPeriod says otherwise, so that two
// peers who differ accuse each other.
func faf() engine {
	return engine{
		name: "faf-log", title: "log of Supreme Commander: Forged Alliance",
		dialect: tracediff.Dialect{Engine: "Supreme Commander: Forged Alliance", File: "log", TickName: tickName("beat")},
		forms: []form{
			{literal: "Checksum for beat ", parse: beatMismatch},
			{literal: "Desync at beat ", common: true, weak: true, parse: desyncAtBeat},
		},
	}
}

// beatMismatch reads "N mismatched: MD5 (sim) != MD5 (NAME).": its own checksum
// first.
func beatMismatch(c *cursor) finding {
	f := finding{tick: c.number(), hasTick: true}
	c.literal(" mismatched: ")
	own := c.digits(hexDigits, maxHex128)
	c.literal(" (sim) != ")
	other := c.digits(hexDigits, maxHex128)
	c.literal(" (")
	name := c.until(").")
	f.peers = named(name)
	f.values = []tracediff.ClaimedValue{{Value: own}, {Peer: name, Value: other}}
	return f
}

// desyncAtBeat reads "N tick T", which the game's Lua code writes in every beat from then
// on: N is the beat that the user interface had come to, which may lie before the one
// that is out of sync. So it names no tick.
func desyncAtBeat(c *cursor) finding {
	c.number()
	c.literal(" tick ")
	c.digits("0123456789.", 32)
	return finding{}
}
