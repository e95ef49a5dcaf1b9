package loglines

import (
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// openclonk is OpenClonk, and Clonk Rage as LegacyClonk goes on with it. Only a client
// compares: its log has both sides, of a frame in which the host took its sums. In a
// replay the recording stands in for the host.
func openclonk() engine {
	return engine{
		name: "openclonk-log", title: "log of OpenClonk",
		dialect: tracediff.Dialect{
			Engine: "OpenClonk", File: "log", TickName: tickName("frame"),
			Covers: "counts and few positions: random numbers drawn, the crew's positions, pixels, mass movers, objects, the last object's number, sectors",
		},
		leads: []string{"FATAL ERROR: ", "ERROR: "},
		forms: []form{{literal: "Network: Synchronization loss!", parse: synchronizationLoss}},
	}
}

// clonkSides are the names that the lines have for the two sides, and those of the peers.
var clonkSides = []struct{ mark, peer string }{{"Client", "client"}, {"Host", "host"}, {"Rec ", "recording"}}

// clonkSums are the sums of a line by name, in order. Rn3 is lacking in older versions.
var clonkSums = []string{"Rnc", "Rn3", "Cpx", "PXS", "MMi", "Obc", "Oei", "Sct"}

// synchronizationLoss reads the two lines that follow, whatever stands before "Network: "
// on them:
//
//	Network: Host Frm 100 Ctrl 50 Rnc 98213 Cpx 116852 PXS 593 MMi 630 Obc 1703 Oei 1825 Sct 2655
//	Network: Client Frm 100 Ctrl 50 Rnc 99071 Cpx 76260 PXS 600 MMi 553 Obc 1705 Oei 1827 Sct 2654
//
// Without them it has neither a tick nor values.
func synchronizationLoss(c *cursor) finding {
	end := c.pos
	f := finding{by: "client"}
	for range 2 {
		side, tick, sums := clonkSide(c)
		if c.failed {
			*c = cursor{text: c.text, pos: end, cut: c.cut}
			return finding{by: f.by}
		}
		f.values = append(f.values, tracediff.ClaimedValue{Peer: side, Value: sums})
		f.tick, f.hasTick = max(f.tick, tick), true
	}
	return f
}

// clonkSide reads the rest of a line and then one side on the next.
func clonkSide(c *cursor) (side string, frame uint64, sums string) {
	c.nextLine()
	c.until("Network: ")
	for _, s := range clonkSides {
		if side == "" && c.try(s.mark) {
			side = s.peer
		}
	}
	if side == "" {
		c.fail()
	}
	c.literal(" Frm ")
	frame = c.number()
	c.literal(" Ctrl ")
	c.signed()
	var parts []string
	for _, name := range clonkSums {
		if name == "Rn3" && !c.try(" Rn3 ") {
			continue
		} else if name != "Rn3" {
			c.literal(" " + name + " ")
		}
		parts = append(parts, name+" "+c.signed())
	}
	return side, frame, strings.Join(parts, " ")
}

// signed reads a number that may be negative.
func (c *cursor) signed() string {
	sign := ""
	if c.try("-") {
		sign = "-"
	}
	return sign + c.digits("0123456789", 20)
}
