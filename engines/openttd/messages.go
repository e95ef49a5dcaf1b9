package openttd

import (
	"bytes"

	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// grammar has what OpenTTD prints on its console, which a log of it has with or without dates.
// A client that is told the server's random numbers in a frame compares them when it comes to
// that frame, so that the desync is of the frame that it was told of last. The server only
// hears that a client left for that reason. commands-out.log is another file.
func grammar() *messages.Grammar {
	return &messages.Grammar{
		Name: "openttd-console", Title: "console of OpenTTD",
		Dialect: tracediff.Dialect{Engine: "OpenTTD", File: "console", TickName: messages.TickName("frame"), Covers: "the first word of the random number generator's state"},
		Leads:   []string{"[net]", "[NET]", "[net:0]", "[net:1]", "[net:2]", "[net:3]", "[net:9]", "Client::", "\u200e", "ERROR:"},
		Forms: []messages.Form{
			{Literal: "Receive_SERVER_SYNC(): sync_frame=", Context: true, Parse: syncFrame},
			{Literal: "Sync error detected!", Common: true, Needs: "[net", Parse: plainClaim},
			{Literal: "Network-Game synchronisation failed", Common: true, Parse: plainClaim},
			{Literal: "Network-Game synchronization failed", Common: true, Parse: plainClaim},
			{Literal: " has left the game (desync error)", Common: true, Before: nameAfter("*** "), Parse: leftGame},
			{Literal: "' reported an error and is closing its connection", Common: true, Before: nameAfter("'"), Parse: closedConnection},
		},
	}
}

// syncFrame reads the number of a frame, whose checksum is the server's.
func syncFrame(c *messages.Cursor) messages.Finding {
	return messages.Finding{Tick: c.Number(), HasTick: true}
}

// plainClaim reads what says nothing but that there was a desync, on a client.
func plainClaim(*messages.Cursor) messages.Finding { return messages.Finding{By: "client"} }

// leftGame has read it all. The server says it to every client, whose consoles have it too.
func leftGame(*messages.Cursor) messages.Finding { return messages.Finding{} }

// closedConnection reads " (desync error)", since 14 ": desync error".
func closedConnection(c *messages.Cursor) messages.Finding {
	if !c.Optional(" (desync error)") {
		c.Literal(": desync error")
	}
	return messages.Finding{By: "server"}
}

// nameAfter returns a function that reads the name of the accused from what stands before a
// message: what follows a mark.
func nameAfter(mark string) func(lead []byte, f *messages.Finding) (rest []byte, ok bool) {
	return func(lead []byte, f *messages.Finding) ([]byte, bool) {
		at := bytes.Index(lead, []byte(mark))
		if at < 0 || at+len(mark) == len(lead) {
			return nil, false
		}
		f.Peers = []string{string(bytes.ToValidUTF8(lead[at+len(mark):], []byte("\uFFFD")))}
		return lead[:at], true
	}
}
