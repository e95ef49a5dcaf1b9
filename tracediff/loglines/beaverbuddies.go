package loglines

import (
	"bytes"
	"strconv"

	"github.com/desynctool/desynctool/tracediff"
)

// beaverbuddies is a mod for Timberborn that lets several play. A client checks what the
// server sent. The first line is without detailed logs: the state of the random number
// generator where an event of the server is played. The second begins the trace that
// detailed logs have; what it holds is read as a trace.
func beaverbuddies() engine {
	return engine{
		name: "beaverbuddies-log", title: "log of BeaverBuddies (Timberborn)",
		dialect: tracediff.Dialect{Engine: "BeaverBuddies", File: "log", TickName: tickName("tick"), Covers: "the first word of the random number generator's state"},
		leads:   []string{"[Warning:BeaverBuddies]", "[Warning: BeaverBuddies]", "[Error  :BeaverBuddies]", "[Error: BeaverBuddies]"},
		forms: []form{
			{literal: " IO done; Order hash: ", context: true, before: tickBefore, parse: func(*cursor) finding { return finding{} }},
			{literal: "Random state mismatch: ", common: true, needs: "]", parse: stateMismatch},
			{literal: "Desync detected for tick ", common: true, needs: "]", parse: desyncTrace},
		},
	}
}

// tickBefore reads the number of the tick whose events were played before what follows.
func tickBefore(lead []byte, f *finding) (rest []byte, ok bool) {
	at := bytes.LastIndex(lead, []byte("Tick "))
	if at < 0 {
		return nil, false
	}
	n, err := strconv.ParseUint(string(lead[at+len("Tick "):]), 10, 62)
	f.tick, f.hasTick = n+1, true
	return lead[:at], err == nil
}

// stateMismatch reads "X != X", up to 1.1 in decimal: the client's, the server's.
func stateMismatch(c *cursor) finding {
	own := c.signedHex()
	c.literal(" != ")
	return finding{by: "client", values: []tracediff.ClaimedValue{{Peer: "client", Value: own}, {Peer: "server", Value: c.signedHex()}}}
}

// signedHex reads hexadecimal digits, or a decimal number that may be negative.
func (c *cursor) signedHex() string {
	sign := ""
	if c.try("-") {
		sign = "-"
	}
	return sign + c.digits(hexDigits, 11)
}

// desyncTrace reads "N!".
func desyncTrace(c *cursor) finding {
	f := finding{tick: c.number(), hasTick: true, by: "client"}
	c.literal("!")
	return f
}
