package loglines

import (
	"bytes"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// clausewitz are the games of Paradox Interactive. Crusader Kings III writes all its checksums into
// error.log when it is out of sync, both sides in one line; which side is whose the file
// does not say, and it names no date. What other games of the engine write is not known.
func clausewitz() engine {
	return engine{
		name: "clausewitz-log", title: "error.log of a Paradox game (Crusader Kings III)",
		dialect: tracediff.Dialect{Engine: "Clausewitz", File: "error.log"},
		leads:   []string{"[E]"},
		forms:   []form{{literal: "Out of sync! Dumping checksums", parse: dumpedChecksums}},
	}
}

// dumpedChecksums reads the lines that follow, one a checksum:
//
//	[12:00:00][E][synchronizationmanager.cpp:239]:   LIVING_CHARACTERS: [309291875 - 309291876]
//
// The values of the claim are those that differ. A line that is something else, or that
// the file's end cuts off, ends the list.
func dumpedChecksums(c *cursor) finding {
	var sides [2][]string
	for {
		end := c.pos
		name, a, b, ok := c.checksumPair()
		if !ok {
			*c = cursor{text: c.text, pos: end, cut: c.cut}
			break
		}
		if a != b {
			sides[0], sides[1] = append(sides[0], name+" "+a), append(sides[1], name+" "+b)
		}
	}
	var f finding
	if len(sides[0]) > 0 {
		f.values = []tracediff.ClaimedValue{{Value: strings.Join(sides[0], ", ")}, {Value: strings.Join(sides[1], ", ")}}
	}
	return f
}

// checksumPair reads one line of checksums after the rest of the line at hand.
func (c *cursor) checksumPair() (name, left, right string, ok bool) {
	c.nextLine()
	if len(c.rest()) == 0 {
		return "", "", "", false // the list may well end with the file
	}
	lead := c.until("]: ")
	if c.failed || !strings.HasPrefix(lead, "[") || !strings.Contains(lead, "synchronizationmanager.cpp:") {
		return "", "", "", false
	}
	at := bytes.Index(c.line(), []byte(": ["))
	name = strings.TrimSpace(c.name(at, len(": [")))
	left = c.signed()
	c.literal(" - ")
	right = c.signed()
	c.literal("]")
	return name, left, right, !c.failed && name != ""
}
