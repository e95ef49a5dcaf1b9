package pseudonyms

import (
	"cmp"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/bundle"
)

// Scrubber removes the names of players from all output about one bundle. It collects the names while the bundle is
// read: call Open before the triage, Report and Copy after it. While it collects names, it is safe for concurrent use;
// afterwards only one goroutine may use it.
type Scrubber struct {
	key *Key

	mu    sync.Mutex
	known map[string]string // pseudonyms, by name; names that stay are not included
	roots []*folder         // the files below the opened paths
	tree  *archive.Tree     // tree of these paths; nil before Open

	quoted   []pair // the names to search for in quotations, the longest first
	apart    []pair // of these, the names that are not words of desynctool's own sentences
	paths    []pair // paths that contain names, the longest first
	learned  int    // number of names when these lists were made
	prepared bool
}

// pair is a text and its replacement.
type pair struct{ old, new string }

// NewScrubber returns a Scrubber for one bundle.
func NewScrubber(key *Key) *Scrubber {
	return &Scrubber{key: key, known: map[string]string{}}
}

// Open is bundle.OpenMatches, but all results use the peers' pseudonyms.
func (s *Scrubber) Open(tree *archive.Tree, paths []string) (*bundle.Matches, error) {
	m, err := bundle.OpenRenamed(tree, paths, s.Naming())
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		root, err := list(tree, filepath.Clean(path))
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		s.roots, s.tree = append(s.roots, root), tree
		s.prepared = false
		s.mu.Unlock()
	}
	return m, nil
}

// Naming is the naming that Open uses for the evidence.
func (s *Scrubber) Naming() bundle.Naming { return bundle.Naming{Peer: s.name, Path: s.end} }

// name returns the pseudonym of a name and remembers the name.
func (s *Scrubber) name(name string) string {
	out := s.key.Player(name)
	if out != name {
		s.mu.Lock()
		s.known[name] = out
		s.mu.Unlock()
	}
	return out
}

// end is the naming of a peer by the end of its path. It handles each element separately, without the parts that show
// the file type.
func (s *Scrubber) end(path string) string {
	elements := strings.Split(path, "/")
	for i, e := range elements {
		stem := stemOf(e)
		switch {
		case usual()[e], stem != e && telling(stem): // the game gives names with numbers or the role of a peer
		default:
			elements[i] = s.name(stem) + e[len(stem):]
		}
	}
	return strings.Join(elements, "/")
}

// prepare makes the lists of texts to search for, if there are new names since the last call.
func (s *Scrubber) prepare() {
	s.mu.Lock()
	known, done := maps.Clone(s.known), s.prepared && s.learned == len(s.known)
	s.prepared, s.learned = true, len(s.known)
	s.mu.Unlock()
	if done {
		return
	}
	s.quoted, s.apart = nil, nil
	for name, with := range known {
		for _, form := range forms(name) {
			if sought(form) {
				s.quoted = append(s.quoted, pair{form, with})
				if distinct(form) {
					s.apart = append(s.apart, pair{form, with})
				}
			}
		}
	}
	longestFirst(s.quoted)
	longestFirst(s.apart)
	s.paths = nil
	for _, root := range s.roots {
		s.paths = append(s.paths, s.pathPairs(root)...)
	}
	longestFirst(s.paths)
}

// longestFirst sorts pairs so that a text is never replaced inside a longer one.
func longestFirst(list []pair) {
	slices.SortFunc(list, func(a, b pair) int { return cmp.Or(len(b.old)-len(a.old), strings.Compare(a.old, b.old)) })
}

// forms are the ways in which a name may occur in a text: unchanged, in both Unicode forms, and with non-printable
// characters escaped.
func forms(name string) []string {
	list := []string{name, strings.TrimSpace(name), norm.NFC.String(name), norm.NFD.String(name), prose.Printable(name), prose.Printable(norm.NFC.String(name))}
	slices.Sort(list)
	return slices.Compact(list)
}

// distinct reports whether a name cannot be a word in desynctool's own sentences. Such a name has a letter that is not
// English, or digits next to three letters, or a capital letter after a small one.
func distinct(name string) bool {
	letters, digits, humps := 0, 0, 0
	last := ' '
	for _, r := range name {
		switch {
		case r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsMark(r)):
			return true
		case unicode.IsLetter(r):
			letters++
			if unicode.IsUpper(r) && unicode.IsLower(last) {
				humps++
			}
		case unicode.IsDigit(r), r == '_':
			digits++
		}
		last = r
	}
	return letters >= 3 && len(name) >= 5 && (digits > 0 || humps > 0)
}
