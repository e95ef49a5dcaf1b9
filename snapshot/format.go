package snapshot

import (
	"io"
	"path/filepath"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// SniffLen is how many leading bytes of a file a Format needs at most to
// recognise it.
const SniffLen = 64

// FileName is what a file's name says of its content.
type FileName struct {
	Seed  uint64
	Point Point

	// Peer is whose state it is, if names of this format say so: a folder may
	// hold those of several peers then. Else it is empty.
	Peer string

	// NoEvidence says that files of this name say nothing of a session, such
	// as the state of a title screen. The other fields mean nothing then.
	NoEvidence bool
}

// Format is a file format that holds a state. Formats are values, so that
// whoever knows them all hands them in.
type Format struct {
	Name  string // as `desynctool formats` lists it
	Title string

	// ParseName reads a base name; ok is false if the name is not of this
	// format's pattern.
	ParseName func(base string) (name FileName, ok bool)

	// Folders are the names of folders in which the game keeps a peer's states beside the
	// peer's other files.
	Folders []string

	// Usual reports whether a name that ParseName makes nothing of is one that
	// the game gives all the same. Nil means that there are none.
	Usual func(base string) bool

	// Sniff reports whether the leading bytes are of this format.
	Sniff func(head []byte) bool

	// Paths reports whether the file at a path is of this format, where only a survey of all files
	// of a session shows that. Nil means that it is not so.
	Paths func(path string) bool

	// Described says that a page of the game's developers names the files of Paths: that comes before
	// their content.
	Described bool

	// Unmarked says that Sniff cannot know all such files, since their content may be any
	// text: a file that no format's Sniff accepts, and whose name is of the pattern, is one.
	Unmarked bool

	// Open opens a state of size bytes. Name is for errors. The State may read
	// from r until it is closed.
	Open func(r io.ReaderAt, size int64, name string) (State, error)

	// Naming returns what the game calls the entities of a state that Open returned, which
	// has to stay open. Nil means that nothing but its tables says that: see TableNaming.
	Naming func(s State) Naming

	// Ground returns where the entities of a state that Open returned are, which has to stay
	// open. Nil means that the game's format does not declare it.
	Ground func(s State) *Ground

	// Parts lists the states in a file that may hold several, by reading it once.
	// It is nil if each file holds one. Open is given each part by itself, and
	// the whole file only where it holds one state.
	Parts func(r io.ReaderAt, size int64, name string) ([]Part, error)

	// NamesPeer says that the content of such files shows whose state it is, and
	// that a folder may hold those of several peers.
	NamesPeer bool

	// Anonymous says that opening such a file shows no more of whose state it is than its Entry
	// says.
	Anonymous bool

	// Light says that the head of a file is read without the rest of it. Where it
	// is not, two files are compared byte by byte before both are taken apart.
	Light bool

	// Checksummed says that files of this format carry checksums of their
	// content, so that a state that opens and loads is what its writer wrote.
	// Where only some files do, ChecksummedFile decides by the leading bytes.
	Checksummed     bool
	ChecksummedFile func(head []byte) bool
}

// Checks reports whether a file with these leading bytes carries checksums of its
// content.
func (f *Format) Checks(head []byte) bool {
	if _, part := partial.ParseHead(head); part {
		return false
	}
	return f.Checksummed || f.ChecksummedFile != nil && f.ChecksummedFile(head)
}

// Named reports whether the file at path is of this format by its name, where content need
// not show it.
func (f *Format) Named(path string) bool {
	if !f.Unmarked {
		return false
	}
	_, ok := f.ParseName(compression.PlainName(filepath.Base(path)))
	return ok
}

// Part is one of several states in a file.
type Part struct {
	Peer         string // whose state it is, if the file says so
	Seed         uint64
	Point        Point
	Offset, Size int64
}

// State is a state that is read piece by piece: only the head, then the index
// of one table, then single blocks of single columns. A *File reads them from
// a .snap; Hold gives them for a World in memory.
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

// Info is what a state's head says.
type Info struct {
	Head
	Root   merkle.Hash
	Tables []TableInfo // ascending by class, then label
}

// TableInfo is what a state's head says of one table.
type TableInfo struct {
	Label  string
	Class  Class
	Rows   uint64
	Placed bool        // see Table
	Parts  int         // parts of each key, 1 or 2
	Hash   merkle.Hash // the leaf hash, for caches and noise too
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

// BlockInfo is a run of rows of a table.
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
