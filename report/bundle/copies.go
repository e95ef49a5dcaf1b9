package bundle

import (
	"cmp"
	"crypto/sha256"
	"maps"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/internal/prose"
)

// copies finds equal files of one peer, and peers with equal files.
func (d *doctor) copies() {
	type key struct {
		format string
		size   int64
	}
	alike := map[key][]*examined{}
	for _, x := range d.files {
		test := x.format != nil && x.format.Snapshot == nil && d.s.holdsTest(filepath.Dir(x.Path)) // both sides of a self-test may be the same
		if x.format != nil && x.size > 0 && !test {
			k := key{x.Format, x.size}
			alike[k] = append(alike[k], x)
		}
	}
	shared := map[[2]string]int{}
	for _, k := range slices.SortedStableFunc(maps.Keys(alike), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.format, b.format), cmp.Compare(a.size, b.size))
	}) {
		if len(alike[k]) < 2 {
			continue
		}
		seen := map[[sha256.Size]byte]*examined{}
		for _, x := range alike[k] {
			sum, err := d.s.digest(x.Path)
			if err != nil {
				continue
			}
			first := seen[sum]
			switch {
			case first == nil:
				seen[sum] = x
			case first.group == x.group && first.Peer == x.Peer:
				x.trouble("duplicate", "the same as %s", first.Path)
			case first.Peer == x.Peer:
				x.copied = true // games keep what other peers sent them
			case first.format.Native && first.format.Log != nil:
				shared[[2]string{first.Peer, x.Peer}]++
			}
		}
	}
	for _, pair := range slices.SortedStableFunc(maps.Keys(shared), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		d.lose("%s and %s: their order logs are the same file: one player's evidence was given twice", prose.Name(pair[0]), prose.Name(pair[1]))
		d.ask(pair[1], "your own files: what we have of you are copies of %s's", prose.Name(pair[0]))
	}
}
