package survey

import (
	"fmt"
	"path/filepath"
	"strings"

	"github.com/desynctool/desynctool/anygame/memory"
	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// layoutNotation is the notation of raw memory with the only struct of its size that headers next to it declare.
var layoutNotation = notation.Notation{Name: "memory", Title: "raw memory of a struct"}

// structNames finds the names of structs in a header.
var structNames = lazyregexp.New(`\bstruct\s+([A-Za-z_]\w*)[^;{}()]{0,80}\{|\}\s*([A-Za-z_]\w*)\s*;`)

// maxHeader is how many bytes of a header are read, and mostStructs how many structs of all are tried.
const maxHeader, mostStructs = 256 << 10, 64

// layOut finds the layout of the raw memory, and reports whether it has one and two peers have states of one tick.
func (s *Survey) layOut() bool {
	size, peers, twice := int64(0), map[uint64]string{}, false
	for _, g := range s.order {
		for _, base := range g.bases {
			stat, err := s.tree.Stat(filepath.Join(g.dir, base))
			tick, ok := g.tickOf(base)
			if err != nil || !ok || g.dump || size > 0 && stat.Size() != size {
				return false
			}
			peer := g.dir + "\x00" + g.peerOf(base)
			twice = twice || peers[tick] != "" && peers[tick] != peer
			size, peers[tick] = stat.Size(), peer
		}
	}
	layout, path := s.layoutOf(size)
	if !twice || layout == nil {
		return false
	}
	for _, g := range s.order {
		g.notation, g.layout, g.alone = &layoutNotation, layout, false
	}
	s.notes = append(s.notes, fmt.Sprintf("raw memory of %d bytes: read as struct %s of %s", size, layout.Name, path))
	s.findNoise(learnLen)
	return true
}

// layoutOf returns the only struct of a size that the headers declare, and where.
func (s *Survey) layoutOf(size int64) (found *memory.Layout, path string) {
	tried := 0
	for _, header := range s.all {
		if ext := strings.ToLower(filepath.Ext(header)); ext != ".h" && ext != ".hpp" {
			continue
		}
		text, _ := s.read(header, maxHeader)
		for _, at := range structNames.FindAllSubmatchIndex(text, -1) {
			name := string(text[max(at[2], at[4]):max(at[3], at[5])])
			l, err := memory.Parse(string(text), name)
			if tried++; tried > mostStructs || err == nil && l.Size == size && found != nil && found.Name != name {
				return nil, ""
			}
			if err == nil && l.Size == size {
				found, path = l, header
			}
		}
	}
	return found, path
}

// layOutState returns the state in raw memory, with rows by their places. Addresses and bytes of no value are noise.
func layOutState(l *memory.Layout, text []byte, name string) ([]*snapshot.World, error) {
	w, err := l.Decode(text, name, memory.Options{Keys: map[string]string{}})
	if err != nil {
		return nil, err
	}
	apart := map[column]bool{{label: memory.PaddingLabel}: true}
	for _, t := range w.Tables {
		for _, c := range t.Columns {
			if strings.HasSuffix(c.Component, memory.PointerSuffix) || strings.HasSuffix(c.Component, memory.TailSuffix) {
				apart[column{t.Label, c.Component, c.Field}] = true
			}
		}
	}
	divide(w, apart)
	return []*snapshot.World{w}, nil
}
