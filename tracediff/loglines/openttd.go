package loglines

import (
	"bytes"

	"github.com/desynctool/desynctool/tracediff"
)

// openttd is what OpenTTD prints on its console, which a log of it has with or without dates.
// A client that is told the server's random numbers in a frame compares them when it comes to
// that frame, so that the desync is of the frame that it was told of last. The server only
// hears that a client left for that reason. commands-out.log is another file.
func openttd() engine {
	return engine{
		name: "openttd-console", title: "console of OpenTTD",
		dialect: tracediff.Dialect{Engine: "OpenTTD", File: "console", TickName: tickName("frame"), Covers: "the first word of the random number generator's state"},
		leads:   []string{"[net]", "[NET]", "[net:0]", "[net:1]", "[net:2]", "[net:3]", "[net:9]", "Client::", "\u200e", "ERROR:"},
		forms: []form{
			{literal: "Receive_SERVER_SYNC(): sync_frame=", context: true, parse: syncFrame},
			{literal: "Sync error detected!", common: true, needs: "[net", parse: plainClaim},
			{literal: "Network-Game synchronisation failed", common: true, parse: plainClaim},
			{literal: "Network-Game synchronization failed", common: true, parse: plainClaim},
			{literal: " has left the game (desync error)", common: true, before: nameAfter("*** "), parse: leftGame},
			{literal: "' reported an error and is closing its connection", common: true, before: nameAfter("'"), parse: closedConnection},
		},
	}
}

// syncFrame reads the number of a frame, whose checksum is the server's.
func syncFrame(c *cursor) finding { return finding{tick: c.number(), hasTick: true} }

// plainClaim reads what says nothing but that there was a desync, on a client.
func plainClaim(*cursor) finding { return finding{by: "client"} }

// leftGame has read it all. The server says it to every client, whose consoles have it too.
func leftGame(*cursor) finding { return finding{} }

// closedConnection reads " (desync error)", since 14 ": desync error".
func closedConnection(c *cursor) finding {
	if !c.optional(" (desync error)") {
		c.literal(": desync error")
	}
	return finding{by: "server"}
}

// nameAfter returns a function that reads the name of the accused from what stands before a
// message: what follows a mark.
func nameAfter(mark string) func(lead []byte, f *finding) (rest []byte, ok bool) {
	return func(lead []byte, f *finding) ([]byte, bool) {
		at := bytes.Index(lead, []byte(mark))
		if at < 0 || at+len(mark) == len(lead) {
			return nil, false
		}
		f.peers = []string{string(bytes.ToValidUTF8(lead[at+len(mark):], []byte("\uFFFD")))}
		return lead[:at], true
	}
}
