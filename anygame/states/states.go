// Package states makes tables of states that a game writes in an ordinary notation, such as JSON or XML, without being
// told what is in them.
//
// # Tables
//
// A list of maps is a table with a row for each element. So is a map with ids as names: numbers, or names that differ
// from file to file while their members are the same. A map of lists of one length is a table by columns. A list
// within a row becomes a separate table, keyed by the row that it belongs to and by its index. A map within a row adds
// fields with dotted names, and so does a short list of numbers that always has the same length, such as a vector.
// Everything else is one row of the table "state".
//
//	{"tick": 300, "units": [{"id": 7, "pos": {"x": 1.5, "y": 2}, "cargo": [4, 4, 9, 1, 7]}]}
//
//	units[7]           pos.x = 1.5, pos.y = 2, units.id = 7
//	units.cargo[7, 0]  cargo.value = 4
//
// # Identity
//
// A row is found again by the member that identifies it: one that every row has, that is unique within its list in every
// file that was learned, and that is called id or the like. If there is none, a text that is unique and has the same
// values in several files identifies the row. Else its place in the list does.
//
// # One schema for a session
//
// The tables and the identities of their rows are learned from several files of a session together, and then hold for
// all of them: see [Schema]. Values keep their own types, so that 3 in one file and 3.0 in the next are equal: see
// snapshot.Scalar.
package states

import (
	"bytes"
	"errors"

	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// GlobalLabel is the label of the table with the values that belong to no table.
const GlobalLabel = "state"

// Schema is how the states of one game become tables. The zero Schema has learned nothing; it decides by each file
// alone. Learn is called before Decode. A Schema that learns no more can be used by several goroutines.
type Schema struct {
	// Table is the name of the table that files contain, where each has only one. It is empty for files that name their
	// tables.
	Table string
	// Unnamed is the label of a list of rows that has no name in its file.
	Unnamed string
	// Dumps is set if there may be several files of each peer, of other ticks. Then a map of small records is a table.
	Dumps bool
	// Untimed means that the names of the files have no number, so that a tick is in the files or nowhere.
	Untimed bool
	// Hints are what is known of the states beforehand, nil if nothing is.
	Hints *Hints

	root      *node
	documents int // learned
	files     int // learned
	lists     int // begun in them
	nodes     int
	several   bool // a file has several documents
	ended     bool // a file of lines ends with its last one
	before    *lately
}

// Learn adds the documents of a file to the known structure of the game's states. A fault is a *notation.Error;
// everything before it is learned.
func (s *Schema) Learn(n *notation.Notation, text []byte) error {
	if s.root == nil {
		s.begin()
	}
	s.files++
	s.ended = s.ended || n.Lines && ended(text)
	l := learner{schema: s, separated: n.Name == "csv" && separated(text)}
	before := s.documents
	err := n.Parse(text, notation.Unfold(&l))
	l.end()
	s.several = s.several || s.documents > before+1
	s.collapse(&s.nodes)
	return err
}

// separated reports whether the names of the columns of a CSV file have no commas between them.
func separated(text []byte) bool {
	for line := range bytes.Lines(text) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return bytes.IndexByte(line, ',') < 0
		}
	}
	return false
}

// EndsAnywhere reports whether a file in a notation may end after any of its rows, so that one that is cut there is read as
// a whole one.
func (s *Schema) EndsAnywhere(n *notation.Notation) bool { return n.Lines || s.several }

// ended reports whether a text ends with the end of a line.
func ended(text []byte) bool { return len(text) == 0 || text[len(text)-1] == '\n' }

// Decode returns the states in a file, in the order of the file. Ticks and peers are in their heads if the file has them.
// What cannot be read is a *notation.Error, or an error of a name or a limit. The states that were read as far as a
// notation.Error are returned with it.
func (s *Schema) Decode(n *notation.Notation, text []byte) ([]*snapshot.World, error) {
	worlds, _, err := s.Read(n, text)
	return worlds, err
}

// Read is Decode, and returns what was found out of the states. It is nil if they cannot be read at all.
func (s *Schema) Read(n *notation.Notation, text []byte) ([]*snapshot.World, *Found, error) {
	if s.root == nil {
		_ = s.Learn(n, text) // Parse finds the same fault
	}
	b := newBuilder(s)
	err := n.Parse(text, notation.Unfold(b))
	switch {
	case err != nil:
	case b.bare:
		return nil, nil, &notation.Error{Msg: "a value by itself, expected a map or list", Offset: len(text)}
	case b.maps == 0 || len(bytes.TrimSpace(text)) == 0:
		return nil, nil, &notation.Error{Msg: "nothing but blanks and comments", Offset: len(text), Cut: true}
	}
	if err == nil && n.Lines && s.ended && !ended(text) {
		err = &notation.Error{Msg: "the file ends inside a line, and others of the session do not", Offset: len(text), Cut: true}
	}
	if err != nil && len(b.tables[0].keys) == 0 {
		return nil, nil, err
	}
	switch {
	case b.shape.table:
		b.split()
	case b.whole:
		b.finish()
	case err != nil && len(b.stack) > 0:
		b.finish()
	}
	s.before.keep(b.worlds)
	return b.worlds, &b.found, errors.Join(err, b.err)
}
