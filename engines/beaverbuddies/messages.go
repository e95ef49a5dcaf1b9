package beaverbuddies

import (
	"bytes"
	"strconv"

	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// grammar has the messages of BeaverBuddies, a mod for Timberborn that lets several play. A client checks what the
// server sent. The first line is without detailed logs: the state of the random number
// generator where an event of the server is played. The second begins the trace that
// detailed logs have; what it holds is read as a trace.
func grammar() *messages.Grammar {
	return &messages.Grammar{
		Name: "beaverbuddies-log", Title: "log of BeaverBuddies (Timberborn)",
		Dialect: tracediff.Dialect{Engine: "BeaverBuddies", File: "log", TickName: messages.TickName("tick"), Covers: "the first word of the random number generator's state"},
		Leads:   []string{"[Warning:BeaverBuddies]", "[Warning: BeaverBuddies]", "[Error  :BeaverBuddies]", "[Error: BeaverBuddies]"},
		Forms: []messages.Form{
			{Literal: " IO done; Order hash: ", Context: true, Before: tickBefore, Parse: func(*messages.Cursor) messages.Finding { return messages.Finding{} }},
			{Literal: "Random state mismatch: ", Common: true, Needs: "]", Parse: stateMismatch},
			{Literal: "Desync detected for tick ", Common: true, Needs: "]", Parse: desyncTrace},
		},
	}
}

// tickBefore reads the number of the tick whose events were played before what follows.
func tickBefore(lead []byte, f *messages.Finding) (rest []byte, ok bool) {
	at := bytes.LastIndex(lead, []byte("Tick "))
	if at < 0 {
		return nil, false
	}
	n, err := strconv.ParseUint(string(lead[at+len("Tick "):]), 10, 62)
	f.Tick, f.HasTick = n+1, true
	return lead[:at], err == nil
}

// stateMismatch reads "X != X", up to 1.1 in decimal: the client's, the server's.
func stateMismatch(c *messages.Cursor) messages.Finding {
	own := signedHex(c)
	c.Literal(" != ")
	return messages.Finding{By: "client", Values: []tracediff.ClaimedValue{{Peer: "client", Value: own}, {Peer: "server", Value: signedHex(c)}}}
}

// signedHex reads hexadecimal digits, or a decimal number that may be negative.
func signedHex(c *messages.Cursor) string {
	sign := ""
	if c.Try("-") {
		sign = "-"
	}
	return sign + c.Digits(messages.HexDigits, 11)
}

// desyncTrace reads "N!".
func desyncTrace(c *messages.Cursor) messages.Finding {
	f := messages.Finding{Tick: c.Number(), HasTick: true, By: "client"}
	c.Literal("!")
	return f
}
