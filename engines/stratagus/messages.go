package stratagus

import (
	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// grammar has the messages of Stratagus, the engine of Wargus and War1gus. What a player sent stands before
// what this peer has. The seed of the random number generator and the hash are one
// value here: they are sampled together.
func grammar() *messages.Grammar {
	return &messages.Grammar{
		Name: "stratagus-log", Title: "log of Stratagus",
		Dialect: tracediff.Dialect{Engine: "Stratagus", File: "log", TickName: messages.TickName("cycle"), Covers: "the seed of the random number generator and a hash of the units that acted"},
		Forms:   []messages.Form{{Literal: "Network out of sync ", Common: true, Parse: outOfSync}},
	}
}

// outOfSync reads "seed: HEX!=HEX , hash: HEX!=HEX Cycle N", in 2026 also what the
// values were sampled after and from whom they came:
//
//	sampled-after-cycle N first-desync-cycle N first-sampled-after-cycle N player N (NAME)
//
// and up to 3.2.0 "HEX!=HEX! DECIMAL!=DECIMAL! Cycle N". Values of a cycle are
// compared some cycles later, in Cycle N: the tick is the cycle of the sample if
// the line has it.
func outOfSync(c *messages.Cursor) messages.Finding {
	var seeds, hashes [2]string
	if c.Try("seed: ") {
		seeds = unequal(c, messages.HexDigits)
		c.Literal(" , hash: ")
		hashes = unequal(c, messages.HexDigits)
	} else {
		seeds = unequal(c, messages.HexDigits)
		c.Literal("! ")
		hashes = unequal(c, "-0123456789")
		c.Literal("!")
	}
	c.Literal(" Cycle ")
	f := messages.Finding{Tick: c.Number(), HasTick: true}
	sender := ""
	if c.Optional(" sampled-after-cycle ") {
		f.Tick = c.Number()
		c.Literal(" first-desync-cycle ")
		c.Number()
		c.Literal(" first-sampled-after-cycle ")
		c.Number()
		c.Literal(" player ")
		number := c.Number()
		c.Literal(" (")
		sender = c.UntilLast(")")
		if number < 1<<16 {
			f.Players = map[uint32]string{uint32(number): sender}
		}
		f.Peers = messages.Named(sender)
	}
	value := func(i int) string { return "seed " + seeds[i] + " hash " + hashes[i] }
	f.Values = []tracediff.ClaimedValue{{Value: value(1)}, {Peer: sender, Value: value(0)}}
	return f
}

// unequal reads "A!=B".
func unequal(c *messages.Cursor, digits string) (out [2]string) {
	out[0] = c.Digits(digits, 16)
	c.Literal("!=")
	out[1] = c.Digits(digits, 16)
	return out
}
