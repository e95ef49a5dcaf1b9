package openra

import (
	"bytes"
	"strings"

	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// grammar has the messages of OpenRA, whose game ends with an exception when it is out of sync. The tick is the
// net frame. exception.log says before it what was played, and on what.
func grammar() *messages.Grammar {
	const exception = "Exception of type `System.InvalidOperationException`: "
	return &messages.Grammar{
		Name: "openra-exception", Title: "exception.log of OpenRA",
		Dialect: tracediff.Dialect{Engine: "OpenRA", File: "exception.log", TickName: messages.TickName("net frame")},
		Leads:   []string{exception, "Unhandled Exception: ", "System.InvalidOperationException: "},
		Forms: []messages.Form{
			{Literal: " Mod at Version ", Fact: true, Before: modName, Parse: modVersion},
			{Literal: " mod version ", Fact: true, Before: modName, Parse: modVersion},
			{Literal: "Operating System: ", Fact: true, Parse: lineFact("os")},
			{Literal: "Runtime Version: ", Fact: true, Parse: lineFact("runtime")},
			{Literal: "Out of sync in frame ", Common: true, Parse: outOfSyncFrame},
		},
	}
}

// outOfSyncFrame reads "N." or, up to 2015, "N: Blame WHAT.", and that another line asks to
// compare syncreport.log.
func outOfSyncFrame(c *messages.Cursor) messages.Finding {
	f := messages.Finding{Tick: c.Number(), HasTick: true}
	if !c.Try(".") {
		c.Literal(": ")
	}
	c.NextLine()
	c.Space()
	c.Literal("Compare syncreport.log")
	return f
}

// modName takes the whole line before a version for the name of the mod.
func modName(lead []byte, f *messages.Finding) (rest []byte, ok bool) {
	if len(lead) == 0 {
		return nil, false
	}
	f.Facts = map[string]string{"mod": string(bytes.ToValidUTF8(lead, []byte("\uFFFD")))}
	return lead[:0], true
}

// modVersion reads the version, and from the next line the map.
func modVersion(c *messages.Cursor) messages.Finding {
	f := messages.Finding{Facts: map[string]string{"version": restOfLine(c)}}
	if c.Try("on map ") {
		f.Facts["map"] = strings.TrimSuffix(restOfLine(c), ".")
	}
	return f
}

// lineFact returns a function that takes the rest of the line for a fact.
func lineFact(name string) func(c *messages.Cursor) messages.Finding {
	return func(c *messages.Cursor) messages.Finding {
		return messages.Finding{Facts: map[string]string{name: restOfLine(c)}}
	}
}

// restOfLine reads up to the line's end and passes it.
func restOfLine(c *messages.Cursor) string {
	n := bytes.IndexByte(c.Rest(), '\n')
	return strings.TrimSpace(c.Name(n, 1))
}
