package clausewitz

import (
	"bytes"
	"strings"

	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// grammar has the messages of the games of Paradox Interactive. Crusader Kings III writes all its checksums into
// error.log when it is out of sync, both sides in one line; which side is whose the file
// does not say, and it names no date. What other games of the engine write is not known.
func grammar() *messages.Grammar {
	return &messages.Grammar{
		Name: "clausewitz-log", Title: "error.log of a Paradox game (Crusader Kings III)",
		Dialect: tracediff.Dialect{Engine: "Clausewitz", File: "error.log"},
		Leads:   []string{"[E]"},
		Forms:   []messages.Form{{Literal: "Out of sync! Dumping checksums", Parse: dumpedChecksums}},
	}
}

// dumpedChecksums reads the lines that follow, one a checksum:
//
//	[12:00:00][E][synchronizationmanager.cpp:239]:   LIVING_CHARACTERS: [309291875 - 309291876]
//
// The values of the claim are those that differ. A line that is something else, or that
// the file's end cuts off, ends the list.
func dumpedChecksums(c *messages.Cursor) messages.Finding {
	var sides [2][]string
	for {
		end := c.Mark()
		name, a, b, ok := checksumPair(c)
		if !ok {
			c.Back(end)
			break
		}
		if a != b {
			sides[0], sides[1] = append(sides[0], name+" "+a), append(sides[1], name+" "+b)
		}
	}
	var f messages.Finding
	if len(sides[0]) > 0 {
		f.Values = []tracediff.ClaimedValue{{Value: strings.Join(sides[0], ", ")}, {Value: strings.Join(sides[1], ", ")}}
	}
	return f
}

// checksumPair reads one line of checksums after the rest of the line at hand.
func checksumPair(c *messages.Cursor) (name, left, right string, ok bool) {
	c.NextLine()
	if len(c.Rest()) == 0 {
		return "", "", "", false // the list may well end with the file
	}
	lead := c.Until("]: ")
	if c.Failed() || !strings.HasPrefix(lead, "[") || !strings.Contains(lead, "synchronizationmanager.cpp:") {
		return "", "", "", false
	}
	at := bytes.Index(c.Line(), []byte(": ["))
	name = strings.TrimSpace(c.Name(at, len(": [")))
	left = c.Signed()
	c.Literal(" - ")
	right = c.Signed()
	c.Literal("]")
	return name, left, right, !c.Failed() && name != ""
}
