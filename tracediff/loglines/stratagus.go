package loglines

import "github.com/desynctool/desynctool/tracediff"

// stratagus is the engine of Wargus and War1gus. What a player sent stands before
// what this peer has. The seed of the random number generator and the hash are one
// value here: they are sampled together.
func stratagus() engine {
	return engine{
		name: "stratagus-log", title: "log of Stratagus",
		dialect: tracediff.Dialect{Engine: "Stratagus", File: "log", TickName: tickName("cycle"), Covers: "the seed of the random number generator and a hash of the units that acted"},
		forms:   []form{{literal: "Network out of sync ", common: true, parse: outOfSync}},
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
func outOfSync(c *cursor) finding {
	var seeds, hashes [2]string
	if c.try("seed: ") {
		seeds = c.unequal(hexDigits)
		c.literal(" , hash: ")
		hashes = c.unequal(hexDigits)
	} else {
		seeds = c.unequal(hexDigits)
		c.literal("! ")
		hashes = c.unequal("-0123456789")
		c.literal("!")
	}
	c.literal(" Cycle ")
	f := finding{tick: c.number(), hasTick: true}
	sender := ""
	if c.optional(" sampled-after-cycle ") {
		f.tick = c.number()
		c.literal(" first-desync-cycle ")
		c.number()
		c.literal(" first-sampled-after-cycle ")
		c.number()
		c.literal(" player ")
		number := c.number()
		c.literal(" (")
		sender = c.untilLast(")")
		if number < 1<<16 {
			f.players = map[uint32]string{uint32(number): sender}
		}
		f.peers = named(sender)
	}
	value := func(i int) string { return "seed " + seeds[i] + " hash " + hashes[i] }
	f.values = []tracediff.ClaimedValue{{Value: value(1)}, {Peer: sender, Value: value(0)}}
	return f
}

// unequal reads "A!=B".
func (c *cursor) unequal(digits string) (out [2]string) {
	out[0] = c.digits(digits, 16)
	c.literal("!=")
	out[1] = c.digits(digits, 16)
	return out
}
