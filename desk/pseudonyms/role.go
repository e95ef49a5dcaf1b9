package pseudonyms

import (
	"strings"

	"github.com/desynctool/desynctool/internal/lazyregexp"
)

// roles are names for the role of a peer, used by games and this program. A number may follow.
var roles = lazyregexp.New(`(?i)^(?:(?:the )?(?:` + strings.Join([]string{
	"host", "client", "server", "dedicated server", "relay", "reference", "local", "remote", "recording", "recorder", "replay",
	"player", "peer", "spectator", "observer", "machine", "game", "match", "session", "run", "side", "slot", "team", "column",
	"nobody", "everybody", "other", "another peer", "unknown", "me", "self", "own",
	"first", "second", "third", "fourth", "before", "after", "good", "bad", "old", "new", "expected", "actual", "left", "right",
	"this replay", "the host's client", "demo", "desynced", "exception", "p", "stock", "modded", "control", "logs?", "saves?", "states?", "snapshots?", "traces?", "dumps?", "replays", "desyncs?",
	"windows", "linux", "macos", "mac", "arm64", "amd64", "x86(?:_64)?",
}, "|") + `)(?:[ _#-]{0,2}[0-9]{1,3})?|(?:first|second|third) (?:run|peer|player|machine)|[0-9]{1,3}|peer -?[0-9]{1,20})(?:#[0-9]{1,3})?$`)

// pseudonyms matches the output of this package.
var pseudonyms = lazyregexp.New(`^(?:player|address)-[0-9a-f]{10}(?:#[0-9]{1,3})?$`)

// IsRole reports whether a name is a role and not a person: host, client 2, server, first run, peer 3, player 1,
// client#2; or a number of up to three digits. Pseudonyms count as roles.
func IsRole(name string) bool {
	return name == "" || roles.MatchString(name) || pseudonyms.MatchString(name)
}

// IsPseudonym reports whether a name has the form of a result of [Key.Player] or [Key.Address].
func IsPseudonym(name string) bool { return pseudonyms.MatchString(name) }
