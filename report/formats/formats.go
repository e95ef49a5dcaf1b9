// Package formats is the one ordered list of the file formats that desynctool
// reads. Files are recognised by content: the first format whose Sniff accepts
// a file's leading bytes has it.
package formats

import (
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Format is one entry of the list.
type Format struct {
	Name  string   // short, for machines
	Title string   // for people
	Files string   // what such files are usually called
	Gives []string // the evidence in it: "state", "orders", "hashes", …

	// Game is whose files these are, empty if they are ours or may be of any game.
	Game string

	// Extensions are how names of such files end where no other format's do so; what
	// says how they are compressed is left out.
	Extensions []string

	// Native is set for the project's own formats, which carry checksums and
	// can be written.
	Native bool

	// Checksummed says that damage to such a file is noticed.
	Checksummed bool

	// Sniff reports whether the leading bytes, at most snapshot.SniffLen, are
	// of the format.
	Sniff func(head []byte) bool

	// Named reports whether a file of such a name, its last element, is of the format whatever
	// its first bytes. Nil means that names do not say.
	Named func(base string) bool

	// Lines reports whether some whole lines, at most HeadLen bytes, are from the middle of
	// such a file. It is nil where single lines do not show that, and where the reader takes no
	// excerpts.
	Lines func(lines []byte) bool

	// Alone says that each line of such a file stands alone, so that some of them are read as a
	// whole file is.
	Alone bool

	// Snapshot opens the file as a state, nil if it is none.
	Snapshot *snapshot.Format

	// Trace reads the file as checkpoints or an engine's claims, nil if it holds
	// neither or is a trace of ours.
	Trace *tracediff.Format

	// Log reads the file as an order log, nil if it is none. The name is for
	// errors.
	Log func(r io.Reader, name string) (orderlog.Source, error)

	// Matches returns the matches in a file that may hold several, one after the other: in the
	// order of the content, which is unpacked, and without gaps. Nil means that a file holds
	// one.
	Matches func(r io.Reader, name string) ([]MatchPart, error)

	// SelfTest reads a folder that the game writes when a test of its own finds that one machine
	// computed two results for the same tick: claims with tracediff.Claim.SelfTest. It returns nil
	// for any other folder, and is nil if the game has none. Files in it that hold states or
	// checksums have the peers tracediff.FirstRun and tracediff.SecondRun.
	SelfTest func(tree files.Tree, folder string) (*tracediff.ClaimLog, error)

	// Replayer is how --sim names the game that plays such a recording again, empty if there is no recipe for it.
	Replayer string

	// Signatures says that the file is a chain of tick signatures.
	Signatures bool

	// Writer writes parts of an order log so that the game can read them back, nil if it
	// cannot.
	Writer *LogWriter
}

// MatchPart is a part of a file that is of one match.
type MatchPart struct {
	ID       string // the engine's own name of the match, empty if the part does not say
	From, To int64  // bytes
	Line     int64  // the number of its first line
}

// All returns the list. It is shared: nobody changes it.
func All() []Format { return all() }

var all = sync.OnceValue(func() []Format {
	return slices.Concat(
		[]Format{snap(), orderLog(), tickSignatures()},
		openTTD(), zeroAD(), springEngine(), widelands(), warzone2100(), openRA(), openRCT2(), rimWorld(), factorioGame(),
		ggpoLibrary(), godotRollback(), commandAndConquer(),
		[]Format{ownTrace()},
		logTraces(),
		messages(), // their lines may stand in any log
		[]Format{textTrace()},
	)
})

// IsGame reports whether a format is of a game of that name, which is a name of ours then.
func IsGame(name string) bool { return name != "" && games()[name] }

var games = sync.OnceValue(func() map[string]bool {
	is := map[string]bool{}
	for _, f := range All() {
		is[f.Game] = true
	}
	return is
})

// state returns the entry of a format that holds states.
func state(f snapshot.Format, files string, gives ...string) Format {
	return Format{Name: f.Name, Title: f.Title, Files: files, Gives: gives, Checksummed: f.Checksummed, Sniff: f.Sniff, Snapshot: &f}
}

// trace returns the entry of an engine's format that holds checkpoints or claims.
func trace(f tracediff.Format, files string, gives ...string) Format {
	return Format{Name: f.Name, Title: f.Title, Files: files, Gives: gives, Sniff: f.Sniff, Trace: &f}
}

// Snapshots returns the formats that hold states, in the order of the list.
func Snapshots() []snapshot.Format { return SnapshotsOf(All()) }

// SnapshotsOf is Snapshots for some formats.
func SnapshotsOf(list []Format) []snapshot.Format {
	var out []snapshot.Format
	for i := range list {
		if list[i].Snapshot != nil {
			out = append(out, *list[i].Snapshot)
		}
	}
	return out
}

// Recognize returns the format of a file by its name, which may be a path, and its leading
// bytes, nil if it is none.
func Recognize(name string, head []byte) *Format { return Among(All(), name, head) }

// Among is Recognize for some formats. A name that Format.Named knows counts before the bytes do;
// one that a snapshot.Format knows, where the content need not show it, after them.
func Among(list []Format, name string, head []byte) *Format {
	base := filepath.Base(name)
	for i := range list {
		if list[i].Named != nil && list[i].Named(base) {
			return &list[i]
		}
	}
	for i := range list {
		if list[i].Sniff(head) {
			return &list[i]
		}
	}
	for i := range list {
		if s := list[i].Snapshot; s != nil && len(head) > 0 && s.Named(name) {
			return &list[i]
		}
	}
	return nil
}
