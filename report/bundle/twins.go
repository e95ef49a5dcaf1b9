package bundle

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"io"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/tracediff"
)

// saidName returns the peer's name from the content of a trace, if it has one.
func saidName(t *tracediff.Trace) string {
	if (t.Grammar == tracediff.Table || t.Shared) && t.Name != t.File { // a table of one column has the file's name
		return t.Name
	}
	return t.Header.Peer
}

// folderOf returns the folder that is the peer's of a trace without a name, empty if it is the file
// that is the peer's.
func folderOf(t *tracediff.Trace) string {
	if t.Format == nil || !t.Format.Folder || saidName(t) != "" {
		return ""
	}
	return filepath.Dir(t.File)
}

// merge leaves one trace for each peer that engines' files name, or that owns their folder: files of different ticks
// are joined, and copies are left out after they were compared.
func (t *Traces) merge(list []*tracediff.Trace) ([]*tracediff.Trace, error) {
	var out []*tracediff.Trace
	type owner struct{ name, folder string }
	index := map[owner]int{}
	var parts [][]*tracediff.Trace
	for _, one := range list {
		name := owner{saidName(one), folderOf(one)}
		i, ok := index[name]
		if !ok || name == (owner{}) {
			i = len(parts)
			index[name] = i
			parts = append(parts, nil)
		}
		parts[i] = append(parts[i], one)
	}
	for _, same := range parts {
		kept, err := same, error(nil)
		if slices.ContainsFunc(same, func(one *tracediff.Trace) bool { return one.Dialect.Part == 0 }) {
			if kept, err = t.distinct(same); err != nil {
				return nil, err
			}
		}
		if len(kept) > 1 {
			joined, err := tracediff.Join(kept)
			if err != nil {
				return nil, err
			}
			kept = []*tracediff.Trace{joined}
		}
		out = append(out, kept...)
	}
	return out, nil
}

// distinct returns the traces of one peer that are of different ticks. Of those
// that overlap, or that are in files of several peers, it keeps the longest and
// compares the others with it.
func (t *Traces) distinct(same []*tracediff.Trace) ([]*tracediff.Trace, error) {
	if len(same) == 1 {
		return same, nil
	}
	type span struct {
		tracediff.Extent
		trace *tracediff.Trace
	}
	var spans []span
	for _, one := range same {
		x, err := one.Extent()
		if err != nil {
			return nil, err
		}
		if x.Any {
			spans = append(spans, span{x, one})
		}
	}
	// Where two overlap, one that is whole comes first, then one with more ticks.
	lists.SortStable(spans, func(a, b span) int {
		if a.Whole != b.Whole {
			if a.Whole {
				return -1
			}
			return 1
		}
		return cmp.Compare(b.Last-b.First, a.Last-a.First)
	})
	var kept []span
	for _, s := range spans {
		i := slices.IndexFunc(kept, func(k span) bool {
			return s.trace.Shared || s.trace.Grammar == tracediff.Table || s.First <= k.Last && k.First <= s.Last
		})
		if i < 0 {
			kept = append(kept, s)
		} else if err := t.compareTwin(kept[i].trace, s.trace); err != nil {
			return nil, err
		}
	}
	out := make([]*tracediff.Trace, 0, len(kept))
	out = append(out, lists.Map(kept, func(k span) *tracediff.Trace { return k.trace })...)
	if len(out) == 0 {
		return same[:1], nil
	}
	return out, nil
}

// compareTwin compares two files that name the same peer.
func (t *Traces) compareTwin(kept, twin *tracediff.Trace) error {
	a, err := t.s.digest(kept.File)
	if err != nil {
		return err
	}
	b, err := t.s.digest(twin.File)
	if err != nil {
		return err
	}
	if a == b {
		t.Copies = append(t.Copies, fmt.Sprintf("%s is a copy of %s", twin.File, kept.File))
		return nil
	}
	r, err := tracediff.Compare([]*tracediff.Trace{kept, twin}, tracediff.Options{FirstOnly: true, Context: -1})
	switch {
	case err != nil:
		t.Missing = append(t.Missing, fmt.Sprintf("%s was left out: %v", twin.File, err))
	case r.First != nil:
		t.Missing = append(t.Missing, fmt.Sprintf("%s and %s contradict each other about %s, at %s; the latter was left out",
			kept.File, twin.File, saidName(kept), r.TickText(r.First.Tick)))
	default:
		t.Copies = append(t.Copies, fmt.Sprintf("%s reports the same about %s as %s", twin.File, saidName(kept), kept.File))
	}
	return nil
}

// digest returns the hash of a file's bytes. It is computed once.
func (s *Session) digest(file string) (sum [sha256.Size]byte, err error) {
	if known, ok := s.digests[file]; ok {
		return known, nil
	}
	f, err := s.tree.Open(file)
	if err != nil {
		return sum, err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return sum, err
	}
	sum = [sha256.Size]byte(h.Sum(nil))
	s.digests[file] = sum
	return sum, nil
}
