package loglines

import (
	"bytes"
	"strings"

	"github.com/desynctool/desynctool/tracediff"
)

// openra is OpenRA, whose game ends with an exception when it is out of sync. The tick is the
// net frame. exception.log says before it what was played, and on what.
func openra() engine {
	const exception = "Exception of type `System.InvalidOperationException`: "
	return engine{
		name: "openra-exception", title: "exception.log of OpenRA",
		dialect: tracediff.Dialect{Engine: "OpenRA", File: "exception.log", TickName: tickName("net frame")},
		leads:   []string{exception, "Unhandled Exception: ", "System.InvalidOperationException: "},
		forms: []form{
			{literal: " Mod at Version ", fact: true, before: modName, parse: modVersion},
			{literal: " mod version ", fact: true, before: modName, parse: modVersion},
			{literal: "Operating System: ", fact: true, parse: lineFact("os")},
			{literal: "Runtime Version: ", fact: true, parse: lineFact("runtime")},
			{literal: "Out of sync in frame ", common: true, parse: outOfSyncFrame},
		},
	}
}

// outOfSyncFrame reads "N." or, up to 2015, "N: Blame WHAT.", and that another line asks to
// compare syncreport.log.
func outOfSyncFrame(c *cursor) finding {
	f := finding{tick: c.number(), hasTick: true}
	if !c.try(".") {
		c.literal(": ")
	}
	c.nextLine()
	c.space()
	c.literal("Compare syncreport.log")
	return f
}

// modName takes the whole line before a version for the name of the mod.
func modName(lead []byte, f *finding) (rest []byte, ok bool) {
	if len(lead) == 0 {
		return nil, false
	}
	f.facts = map[string]string{"mod": string(bytes.ToValidUTF8(lead, []byte("\uFFFD")))}
	return lead[:0], true
}

// modVersion reads the version, and from the next line the map.
func modVersion(c *cursor) finding {
	f := finding{facts: map[string]string{"version": c.restOfLine()}}
	if c.try("on map ") {
		f.facts["map"] = strings.TrimSuffix(c.restOfLine(), ".")
	}
	return f
}

// lineFact returns a function that takes the rest of the line for a fact.
func lineFact(name string) func(c *cursor) finding {
	return func(c *cursor) finding { return finding{facts: map[string]string{name: c.restOfLine()}} }
}

// restOfLine reads up to the line's end and passes it.
func (c *cursor) restOfLine() string {
	n := bytes.IndexByte(c.rest(), '\n')
	return strings.TrimSpace(c.name(n, 1))
}
