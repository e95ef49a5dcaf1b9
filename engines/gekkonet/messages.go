package gekkonet

import (
	"strconv"

	"github.com/desynctool/desynctool/engines/messages"
	"github.com/desynctool/desynctool/tracediff"
)

// grammar has the messages of GekkoNet, the rollback library for C and C++. The line is what its examples print of a
// desync, and games that follow them. Its stress session, which computes the last frames of one
// machine again, names remote handle 0 and cannot be told from a session between peers.
func grammar() *messages.Grammar {
	return &messages.Grammar{
		Name: "gekkonet-log", Title: "log with messages of GekkoNet",
		Dialect: tracediff.Dialect{Engine: "GekkoNet", File: "log", TickName: messages.TickName("frame"), Covers: "what the game hashes into the checksum that it hands to GekkoNet"},
		Forms:   []messages.Form{{Literal: "DESYNC!!! f:", Parse: desyncHandles}},
	}
}

// desyncHandles reads "N, rh:N, lc:U32, rc:U32": the frame, the remote player's handle, the
// checksums of this peer and of that one.
func desyncHandles(c *messages.Cursor) messages.Finding {
	f := messages.Finding{Tick: c.Number(), HasTick: true}
	c.Literal(", rh:")
	remote := "handle " + strconv.FormatUint(c.Number(), 10)
	c.Literal(", lc:")
	local := c.Digits("0123456789", 10)
	c.Literal(", rc:")
	f.Values = []tracediff.ClaimedValue{{Value: local}, {Peer: remote, Value: c.Digits("0123456789", 10)}}
	f.Peers = []string{remote}
	return f
}
