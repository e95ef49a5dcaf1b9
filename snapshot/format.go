// Package snapshot reads, writes, compares and hashes states of a game: tables of entities with typed columns, in the
// format .snap (docs/snapshot.md) and, through a Format, in the formats of engines. Open or Load a file, Compare two
// states for a Diff, and let subpackage merkle descend their hashes.
package snapshot

import (
	"fmt"
	"io"
	"path/filepath"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// SniffLen is how many bytes at the start of a file a Format needs at most to recognize it.
const SniffLen = 64

// FileName is the information in a file's name.
type FileName struct {
	Seed  uint64
	Point Point

	// Peer is the peer that has this state. It is empty if names in this format do not contain the peer. If they do, a
	// folder may contain states of several peers.
	Peer string

	// NoEvidence means that a file with this name does not belong to a session, for example the state of a title
	// screen. The other fields are then unused.
	NoEvidence bool
}

// Format is a file format that contains a state. Formats are values; callers pass the list of formats they know.
type Format struct {
	Name  string // as listed by `desynctool formats`
	Title string

	// ParseName parses a base name. ok is false if the name does not match the format's pattern.
	ParseName func(base string) (name FileName, ok bool)

	// Folders are the names of folders in which the game keeps a peer's states next to the peer's other files.
	Folders []string

	// Usual reports whether the game uses a name although ParseName does not match it. Nil means that there are no such
	// names.
	Usual func(base string) bool

	// Sniff reports whether the first bytes of a file show this format.
	Sniff func(head []byte) bool

	// Paths reports whether the file at a path has this format. It is for formats that only a survey of all files of a
	// session can detect. Nil means that this is not such a format.
	Paths func(path string) bool

	// Described means that the game's developers describe the files of Paths on a page. The names then take precedence
	// over the content.
	Described bool

	// Unmarked means that Sniff cannot recognize all such files, because their content may be any text. A file has this
	// format if no format's Sniff accepts it and its name matches the pattern.
	Unmarked bool

	// Open opens a state of size bytes. Errors contain name. The State may read from r until it is closed.
	Open func(r io.ReaderAt, size int64, name string) (State, error)

	// Naming returns the game's names for the entities in a state that Open returned. The state must stay open. Nil
	// means that only the tables have names: see TableNaming.
	Naming func(s State) Naming

	// Ground returns the places of the entities in a state that Open returned. The state must stay open. Nil means that
	// the game's format does not declare places.
	Ground func(s State) *Ground

	// Parts lists the states in a file that may contain several. It reads the file once. Nil means that each file
	// contains one state. If Parts is set, Open receives each part separately, and the whole file only if it contains
	// one state.
	Parts func(r io.ReaderAt, size int64, name string) ([]Part, error)

	// NamesPeer means that the content of such files shows which peer the state belongs to, and that a folder may
	// contain states of several peers.
	NamesPeer bool

	// Anonymous means that opening a file reveals nothing about its peer that the Entry does not already contain.
	Anonymous bool

	// Light means that the head of a file can be read without the rest. For other formats, two files are compared byte
	// by byte before both are parsed.
	Light bool

	// Checksummed means that files in this format contain checksums of their content. A state that opens and loads is
	// then exactly what was written. If only some files have checksums, ChecksummedFile decides by the first bytes.
	Checksummed     bool
	ChecksummedFile func(head []byte) bool
}

// Checks reports whether a file with these first bytes contains checksums of its content.
func (f *Format) Checks(head []byte) bool {
	if _, part := partial.ParseHead(head); part {
		return false
	}
	return f.Checksummed || f.ChecksummedFile != nil && f.ChecksummedFile(head)
}

// Named reports whether the name of the file at path shows this format. It is false unless the format is Unmarked.
func (f *Format) Named(path string) bool {
	if !f.Unmarked {
		return false
	}
	_, ok := f.ParseName(compression.PlainName(filepath.Base(path)))
	return ok
}

// Part is one of several states in a file.
type Part struct {
	Peer         string // the peer with this state, if the file names it
	Seed         uint64
	Point        Point
	Offset, Size int64
	Numbered     bool // Offset is the number of the state in the file, and Size the size of the whole file
}

// State is a state that is read piece by piece: the head, then the index of a table, then single blocks of single
// columns. A *File reads them from a .snap; Hold provides them for a World in memory.
type State interface {
	// Info returns the head, the root and one entry for each table.
	Info() *Info

	// Index returns the columns and blocks of table i of Info().Tables.
	Index(i int) (*Index, error)

	// LoadKeys loads the keys of one block of table i.
	LoadKeys(i, block int) (Keys, error)

	// LoadBlock loads the rows of one block of one column of table i. The
	// column is valid until the next call; Column.Clone keeps it.
	LoadBlock(i, block, column int) (Column, error)

	io.Closer
}

// Info is the information in a state's head.
type Info struct {
	Head
	Root   merkle.Hash
	Tables []TableInfo // ascending by class, then label
}

// Broken returns an error if two whole states differ although their files contain the same Seal: one of them is damaged.
func Broken(a, b *Info) error {
	if a.Root == b.Root || a.Seal == "" || a.Seal != b.Seal || a.Incomplete() != "" || b.Incomplete() != "" {
		return nil
	}
	return fmt.Errorf("the states of %s and %s at %s differ, but the game computed the checksum %s for both: one of the files is damaged",
		prose.Name(a.Peer), prose.Name(b.Peer), a.Point, a.Seal)
}

// TableInfo is the information in a state's head about one table.
type TableInfo struct {
	Label  string
	Class  Class
	Rows   uint64
	Placed bool        // see Table
	Single bool        // see Table
	Parts  int         // parts of each key, 1 or 2
	Hash   merkle.Hash // the leaf hash; caches and noise have one too
}

// Index describes the columns and blocks of a table.
type Index struct {
	KeysDigest merkle.Hash
	Columns    []ColumnInfo // in the order of the table
	Blocks     []BlockInfo
}

// ColumnInfo is a column without its values.
type ColumnInfo struct {
	Schema
	Digest merkle.Hash
	Blocks []merkle.Hash // the digest of each block
}

// BlockInfo describes a block of consecutive rows in a table.
type BlockInfo struct {
	First Key // key of the first row
	Rows  int
	Keys  merkle.Hash // digest of the keys
}

// Leaves returns the leaves of the state's Merkle tree: the RNG, if there is
// one, then the archetypes.
func (info *Info) Leaves() []merkle.Leaf {
	leaves := make([]merkle.Leaf, 0, len(info.Tables)+1)
	if info.RNG != nil {
		leaves = append(leaves, merkle.Leaf{Hash: merkle.RNGLeaf(info.RNG)})
	}
	for i := range info.Tables {
		if t := &info.Tables[i]; t.Class == Archetype {
			leaves = append(leaves, merkle.Leaf{Label: t.Label, Hash: t.Hash})
		}
	}
	return leaves
}
