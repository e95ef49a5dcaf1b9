package engine

import (
	"io"

	"github.com/desynctool/desynctool/bisect/minimize"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Format is a file format, an engine's or our own.
type Format struct {
	Name  string   // short, for machines
	Title string   // for people
	Files string   // what such files are usually called
	Gives []string // the evidence in it: "state", "orders", "hashes", …

	// Game is the game that the files come from, empty if they are ours or may come from any game.
	Game string

	// Extensions are the name ends of such files that no other format has, without the suffix of the compression.
	Extensions []string

	// Native is set for the project's own formats, which carry checksums and
	// can be written.
	Native bool

	// Checksummed means that damage to such a file is noticed.
	Checksummed bool

	// Sniff reports whether the leading bytes, at most snapshot.SniffLen, are in the format.
	Sniff func(head []byte) bool

	// Named reports whether a file with this base name has the format, whatever its first bytes. Nil means that names
	// do not show it.
	Named func(base string) bool

	// Paths reports whether the file at a path has the format, if only a survey of all files of a session shows that.
	// It is nil for other formats.
	Paths func(path string) bool

	// Described means that a page of the game's developers names the files of Paths; the page takes precedence over
	// their content.
	Described bool

	// Page means that a page describes the files: an engine's own page, or one by the game's developers.
	Page bool

	// Lines reports whether some whole lines, at most HeadLen bytes, come from the middle of such a file. It is nil if
	// single lines do not show that, or if the reader takes no excerpts.
	Lines func(lines []byte) bool

	// Amid means that such a file is a program's log with much other content: formats that the leading bytes show take
	// precedence.
	Amid bool

	// Shared means that a folder may contain such files of several peers, since each file names its own.
	Shared bool

	// Signs show that a file was meant to be in the format, though Sniff does not accept it.
	Signs Signs

	// Alone means that the lines of such a file are independent, so that some of them can be read like a whole file.
	Alone bool

	// Snapshot opens the file as a state, nil if the format has none.
	Snapshot *snapshot.Format

	// Trace reads the file as checkpoints or an engine's claims, nil if it contains neither or is one of our traces.
	Trace *tracediff.Format

	// Log reads the file as an order log, nil if the format has none. The name is for errors.
	Log func(r io.Reader, name string) (orderlog.Source, error)

	// Matches returns the matches in a file that may contain several, one after the other: in the order of the unpacked
	// content, and without gaps. Nil means that a file contains one.
	Matches func(r io.Reader, name string) ([]MatchPart, error)

	// SelfTest reads a folder that the game writes when its self-test finds that one machine computed two results for
	// the same tick: claims with tracediff.Claim.SelfTest. It returns nil for any other folder, and is nil if the game
	// has none. Files in it that contain states or checksums have the peers tracediff.FirstRun and tracediff.SecondRun.
	SelfTest func(tree files.Tree, folder string) (*tracediff.ClaimLog, error)

	// Signatures means that the file is a chain of tick signatures.
	Signatures bool

	// Writer writes parts of an order log so that the game can read them back, nil if it
	// cannot.
	Writer *LogWriter
}

// Signs are texts that show that a file that cannot be read is close to a format.
type Signs struct {
	Begins []string // what such files begin with
	Lines  []string // what other lines begin with, without blanks before them
}

// MatchPart is a part of a file that belongs to one match.
type MatchPart struct {
	ID       string // the engine's own name of the match, empty if the part does not contain it
	From, To int64  // bytes
	Line     int64  // the number of its first line
}

// LogWriter is a format of order logs that a game can read back, so that parts of a log
// can be written in it.
type LogWriter struct {
	Name string
	File minimize.File
	// Fixed reports whether orders of a kind belong to their tick and are never left out. Nil means none.
	Fixed func(kind string) bool
}

// State returns the entry of a format that contains states. Files is the usual word for such files; gives is the
// evidence in them.
func State(f snapshot.Format, files string, gives ...string) Format {
	return Format{Name: f.Name, Title: f.Title, Files: files, Gives: gives, Checksummed: f.Checksummed, Sniff: f.Sniff, Snapshot: &f}
}

// Trace returns the entry of a format that contains checkpoints or claims; see [State].
func Trace(f tracediff.Format, files string, gives ...string) Format {
	return Format{Name: f.Name, Title: f.Title, Files: files, Gives: gives, Sniff: f.Sniff, Trace: &f}
}
