package loglines

import (
	"strconv"

	"github.com/desynctool/desynctool/tracediff"
)

// gekkonet is the rollback library for C and C++. The line is what its examples print of a
// desync, and games that follow them. Its stress session, which computes the last frames of one
// machine again, names remote handle 0 and cannot be told from a session between peers.
func gekkonet() engine {
	return engine{
		name: "gekkonet-log", title: "log with messages of GekkoNet",
		dialect: tracediff.Dialect{Engine: "GekkoNet", File: "log", TickName: tickName("frame"), Covers: "what the game hashes into the checksum that it hands to GekkoNet"},
		forms:   []form{{literal: "DESYNC!!! f:", parse: desyncHandles}},
	}
}

// desyncHandles reads "N, rh:N, lc:U32, rc:U32": the frame, the remote player's handle, the
// checksums of this peer and of that one.
func desyncHandles(c *cursor) finding {
	f := finding{tick: c.number(), hasTick: true}
	c.literal(", rh:")
	remote := "handle " + strconv.FormatUint(c.number(), 10)
	c.literal(", lc:")
	local := c.digits("0123456789", 10)
	c.literal(", rc:")
	f.values = []tracediff.ClaimedValue{{Value: local}, {Peer: remote, Value: c.digits("0123456789", 10)}}
	f.peers = []string{remote}
	return f
}
