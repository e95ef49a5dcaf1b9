// Package golden keeps the results of a game's replays, and compares later replays with them: other commits, other
// platforms, other compilers.
//
// A folder contains a folder for each replay, with the replay's name:
//
//	skirmish/golden.txt         the manifest, a few lines of text
//	skirmish/golden.trace.zst   the golden trace, compressed
//	skirmish/order-log.bin      the log that is replayed, as the game wrote it
//
// docs/golden.md specifies the files. A [Play] plays a log: a simulator, or anything else that gives checkpoints.
package golden

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/tracediff"
)

// Names of the files of a replay are part of the format.
const (
	ManifestName = "golden.txt"
	TraceName    = "golden.trace.zst"
)

// Play plays an order log from its start and hands its results to out. An error means that the log could not be played
// to its end.
type Play func(ctx context.Context, job Job, out Sink) (*Played, error)

// Job is what to play.
type Job struct {
	Tree files.Tree
	Log  string // path of the order log
	// Systems asks for a checkpoint after each system.
	Systems bool
	// Recorded requests a check whether the replay departs from the recording of the log's own peer.
	Recorded bool
	// Until is the last state point, nil the end of the log.
	Until *uint64
	// Progress, if not nil, is called with the number of finished ticks and of all ticks.
	Progress func(done, total int64)
}

// Sink takes the results of a replay: Begin once and first, then checkpoints in the order of execution. The checkpoint
// of tick T without a system belongs to state point T + 1.
type Sink interface {
	// Begin takes the header of the trace, which depends on the log alone, the first state point,
	// and the hash of the state there, nil if it is not known.
	Begin(h tracediff.Header, from uint64, start *merkle.Short) error
	// Checkpoint takes a checkpoint. It must not keep its memory.
	Checkpoint(c *tracediff.Checkpoint) error
}

// Played is what is known about a log that was played.
type Played struct {
	To    uint64 // the last state point
	Build Build
	// Recorded is where the replay differs from the recording of the log's own peer, "" if no difference is known.
	Recorded string
	// Lost lists the parts of the log that could not be read or played.
	Lost []string
}

// Build is what a simulator reports about itself. Any field may be empty.
type Build struct {
	Game  string            `json:"game,omitempty"`
	Build string            `json:"build,omitempty"`
	Facts map[string]string `json:"facts,omitempty"` // "compiler", "os", …
}

// Digest is a SHA-256.
type Digest [sha256.Size]byte

func (d Digest) String() string { return hex.EncodeToString(d[:]) }

// MarshalText returns d as String does.
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText reads the output of MarshalText.
func (d *Digest) UnmarshalText(text []byte) error {
	if hex.DecodedLen(len(text)) != len(d) || strings.ToLower(string(text)) != string(text) {
		return fmt.Errorf("%d characters, expected %d hex digits in lower case", len(text), hex.EncodedLen(len(d)))
	}
	_, err := hex.Decode(d[:], text)
	return err
}

// validName matches the names of replays: names that every system accepts for a file.
var validName = lazyregexp.New(`^[\p{L}\p{N}_][\p{L}\p{N}._-]*$`)

// maxName is the maximum length in bytes of the name of a replay or a log.
const maxName = 128

// reserved are the names that Windows keeps for devices.
var reserved = lazyregexp.New(`(?i)^(con|prn|aux|nul|com\d|lpt\d)(\.|$)`)

// ValidName reports whether a replay may have this name: letters, digits, ".", "_" and "-"; the first and the last
// character are not full stops; not a name that Windows reserves for devices.
func ValidName(name string) bool {
	return len(name) <= maxName && validName.MatchString(name) && !reserved.MatchString(name) && !strings.HasSuffix(name, ".")
}

// NameOf makes a name for a replay of any text.
func NameOf(text string) string {
	var b strings.Builder
	for _, r := range text {
		one := string(r)
		if !validName.MatchString("_"+one) || r == '\uFFFD' {
			one = "-"
		}
		if b.Len()+len(one) > maxName-1 {
			break
		}
		b.WriteString(one)
	}
	name := strings.TrimRight(b.String(), ".")
	if !ValidName(name) {
		name = "_" + name
	}
	return name
}
