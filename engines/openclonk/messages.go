package openclonk

import (
	"strings"

	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// grammar has the messages of OpenClonk, and Clonk Rage as LegacyClonk goes on with it. Only a client
// compares: its log has both sides, of a frame in which the host took its sums. In a
// replay the recording stands in for the host.
func grammar() *messages.Grammar {
	return &messages.Grammar{
		Name: "openclonk-log", Title: "log of OpenClonk",
		Dialect: tracediff.Dialect{
			Engine: "OpenClonk", File: "log", TickName: messages.TickName("frame"),
			Covers: covers,
		},
		Leads: []string{"FATAL ERROR: ", "ERROR: "},
		Forms: []messages.Form{{Literal: "Network: Synchronization loss!", Parse: synchronizationLoss}},
	}
}

// synchronizationLoss reads the two lines that follow, whatever stands before "Network: "
// on them:
//
//	Network: Host Frm 100 Ctrl 50 Rnc 98213 Cpx 116852 PXS 593 MMi 630 Obc 1703 Oei 1825 Sct 2655
//	Network: Client Frm 100 Ctrl 50 Rnc 99071 Cpx 76260 PXS 600 MMi 553 Obc 1705 Oei 1827 Sct 2654
//
// Without them it has neither a tick nor values.
func synchronizationLoss(c *messages.Cursor) messages.Finding {
	end := c.Mark()
	f := messages.Finding{By: "client"}
	for range 2 {
		side, tick, sums := clonkSide(c)
		if c.Failed() {
			c.Back(end)
			return messages.Finding{By: f.By}
		}
		f.Values = append(f.Values, tracediff.ClaimedValue{Peer: side, Value: sums})
		f.Tick, f.HasTick = max(f.Tick, tick), true
	}
	return f
}

// clonkSide reads the rest of a line and then one side on the next.
func clonkSide(c *messages.Cursor) (side string, frame uint64, values string) {
	c.NextLine()
	c.Until("Network: ")
	for _, s := range sides {
		if side == "" && c.Try(s.mark) {
			side = s.peer
		}
	}
	if side == "" {
		c.Fail()
	}
	c.Literal(" Frm ")
	frame = c.Number()
	c.Literal(" Ctrl ")
	c.Signed()
	var parts []string
	for _, name := range sums {
		if name == "Rn3" && !c.Try(" Rn3 ") {
			continue
		} else if name != "Rn3" {
			c.Literal(" " + name + " ")
		}
		parts = append(parts, name+" "+c.Signed())
	}
	return side, frame, strings.Join(parts, " ")
}
