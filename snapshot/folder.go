package snapshot

import "github.com/desynctool/desynctool/internal/file/files"

// ReadFolder is ReadDir for the folder of a peer: the states that an engine keeps in a
// folder of its own beside its other files are among those of the set, and that folder is
// not among the names returned.
func ReadFolder(tree files.Tree, path string, formats []Format) (*Set, []string, error) {
	return readPeer(tree, path, formats)
}

// FindFile returns the states in a file, one Set for each peer that it names. A file of no
// known format is an error.
func FindFile(tree files.Tree, path string, formats []Format) ([]*Set, error) {
	return findFile(tree, path, formats)
}

// ByPeer splits a set by the peers that its files name; the first has what is not a state.
func (s *Set) ByPeer() []*Set { return s.peers() }
