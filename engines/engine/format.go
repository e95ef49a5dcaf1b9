package engine

import (
	"io"

	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Format is one format of files, an engine's or one of ours.
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

	// Paths reports whether the file at a path is of the format, where only a survey of all files of
	// a session shows that. Nil means that it is not so.
	Paths func(path string) bool

	// Described says that a page of the game's developers names the files of Paths: that comes before
	// their content.
	Described bool

	// Page says that a page describes the files: an engine's own, or that of the game's developers.
	Page bool

	// Lines reports whether some whole lines, at most HeadLen bytes, are from the middle of
	// such a file. It is nil where single lines do not show that, and where the reader takes no
	// excerpts.
	Lines func(lines []byte) bool

	// Amid says that such a file is the log of a program that writes much else into it: formats that the leading bytes
	// show come before it.
	Amid bool

	// Shared says that a folder may hold such files of several peers, since each file names its own.
	Shared bool

	// Signs are what shows that a file was meant to be of the format, though Sniff does not accept it.
	Signs Signs

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

	// Signatures says that the file is a chain of tick signatures.
	Signatures bool

	// Writer writes parts of an order log so that the game can read them back, nil if it
	// cannot.
	Writer *LogWriter
}

// Signs are texts by which a file that cannot be read is told to be nearly of a format.
type Signs struct {
	Begins []string // what such files begin with
	Lines  []string // what other lines begin with, without blanks before them
}

// MatchPart is a part of a file that is of one match.
type MatchPart struct {
	ID       string // the engine's own name of the match, empty if the part does not say
	From, To int64  // bytes
	Line     int64  // the number of its first line
}

// LogWriter is a format of order logs that a game can read back, so that parts of a log
// can be written in it.
type LogWriter struct {
	Name string
	File minimize.File
	// Fixed reports whether orders of a kind belong to their tick and are never left out.
	// Nil is none.
	Fixed func(kind string) bool
}

// State returns the entry of a format that holds states. Files says how such files are usually called, gives which
// evidence is in them.
func State(f snapshot.Format, files string, gives ...string) Format {
	return Format{Name: f.Name, Title: f.Title, Files: files, Gives: gives, Checksummed: f.Checksummed, Sniff: f.Sniff, Snapshot: &f}
}

// Trace returns the entry of a format that holds checkpoints or claims; see [State].
func Trace(f tracediff.Format, files string, gives ...string) Format {
	return Format{Name: f.Name, Title: f.Title, Files: files, Gives: gives, Sniff: f.Sniff, Trace: &f}
}
