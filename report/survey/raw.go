package survey

import (
	"bytes"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/anygame/states"
	"github.com/desynctool/desynctool/anygame/vocabulary"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/snapshot"
)

// Rollback games copy the memory of their state. Such files are in no notation, and only their names show what they are.
// They become states, and their rows are words of four bytes, so that the first pair that differs is found as for any others.

// rawNotation is the notation of raw memory.
var rawNotation = notation.Notation{Name: "raw", Title: "raw memory"}

// rawLabel is the table of the words.
const rawLabel = "bytes"

// raw takes groups of binary files as states if nothing else is evidence, and two of them have files of the same ticks.
func (s *Survey) raw() {
	var list []*group
	for _, g := range s.kinds {
		if g.binary && g.notation == nil && !g.known && len(g.bases) > 1 && (g.kind == description.State || g.dump || g.namesMemory()) {
			g.notation, g.raw = &rawNotation, true
			g.findTick()
			list = append(list, g)
		}
	}
	s.order = list
	s.choose()
	s.name()
	if s.layOut() {
		return
	}
	if len(list) < 2 || slices.ContainsFunc(list, func(g *group) bool { return g.alone || g.tick < 0 }) {
		s.order = nil
		for _, g := range list {
			g.notation, g.raw = nil, false
		}
		return
	}
	s.rawNoise()
}

// mostRaw is how many bytes of raw memory are read to find out what is noise. Noise are at most mostNoisy words, and at
// most half of all: a state of which more differs is another state.
const mostRaw, mostNoisy = 256 << 20, 1 << 12

// rawNoise finds the words that differ between peers in every dump, such as addresses and clocks: they are not compared. In
// two dumps at least, nothing else differs. If nothing else ever does, that is not certain.
func (s *Survey) rawNoise() {
	paths := map[uint64][]string{} // of a tick, of each peer
	for _, g := range s.order {
		for _, base := range g.bases {
			n, _ := g.tickOf(base)
			paths[n] = append(paths[n], filepath.Join(g.dir, base))
		}
	}
	maps.DeleteFunc(paths, func(_ uint64, list []string) bool { return len(list) < 2 })
	var noise map[uint64]bool // words that differ in every dump so far
	var count []int           // how many do in a dump, and one more if others do
	left := int64(mostRaw)
	for _, tick := range Picks(slices.Sorted(maps.Keys(paths)), mostLearned) {
		words, more := map[uint64]bool{}, 0
		first, _ := s.memory(paths[tick][0], left)
		for _, path := range paths[tick][1:] {
			text, err := s.memory(path, left)
			if left -= int64(len(text) + len(first)); err != nil || left <= 0 {
				return
			}
			for at := 0; at+rawWidth <= min(len(text), len(first)); at += rawWidth {
				switch w := uint64(at); {
				case bytes.Equal(text[at:at+rawWidth], first[at:at+rawWidth]):
				case noise != nil && !noise[w]:
					more = 1
				default:
					if words[w] = true; len(words) > mostNoisy || 2*rawWidth*len(words) > len(first) {
						return
					}
				}
			}
		}
		if count, noise = append(count, len(words)+more), words; len(noise) == 0 {
			return
		}
	}
	slices.Sort(count)
	if len(count) < fewestQuiet || count[fewestQuiet-1] > len(noise) {
		return
	}
	for _, g := range s.order {
		g.noisy = noise
	}
	note := fmt.Sprintf("%d words of raw memory differ between peers in every dump that was read", len(noise))
	if count[len(count)-1] > len(noise) {
		s.notes = append(s.notes, note+": taken for noise and not compared")
	} else {
		s.lacking = append(s.lacking, note+", and nothing else does, which does not show whether that is noise: not compared")
	}
}

// memory reads raw memory.
func (s *Survey) memory(path string, most int64) ([]byte, error) {
	text, err := s.read(path, most)
	if s.groups[s.groupOf(path)].dump {
		text = hexDump(text)
	}
	return text, err
}

// Raw reports whether a file is raw memory.
func (s *Survey) Raw(path string) bool {
	g := s.groups[s.groupOf(path)]
	return g != nil && g.raw
}

// media are how pictures, sounds, archives, programs and databases begin.
var media = []string{
	"\x89PNG", "\xff\xd8\xff", "GIF8", "BM", "RIFF", "OggS", "ID3", "fLaC", "DDS ", "\xabKTX", "%PDF", "SQLite format",
	"PK\x03\x04", "Rar!", "7z\xbc\xaf", "\x1f\x8b", "\x28\xb5\x2f\xfd", "\xfd7zXZ", "BZh", "\x7fELF", "MZ", "\xcf\xfa\xed\xfe", "\x00asm",
}

// namesMemory reports whether names look like names of states, and a file does not begin like one of another program.
func (g *group) namesMemory() bool {
	return !g.medium && (slices.Contains([]string{".bin", ".dat", ".raw", ".mem", ".ram", ".dump", ".dmp", ".state"}, strings.ToLower(filepath.Ext(g.shape))) ||
		slices.ContainsFunc(g.words(g.bases[0]), states.NamesState))
}

// isOther reports whether text in a loose notation is no state: it has no tick, or its name is not one for states of ticks.
func (g *group) isOther() bool {
	if !g.notation.Loose || g.given || g.kind != description.Undescribed {
		return false
	}
	words := g.words(g.bases[0])
	if slices.ContainsFunc(words, func(w string) bool { return slices.Contains(vocabulary.Parts(w), "log") }) {
		return true
	}
	ticked := slices.ContainsFunc(words, func(w string) bool { return vocabulary.Of(w) == vocabulary.Tick })
	bare := len(words) > 0 && strings.Join(words[:len(words)-1], "") == "" && len(g.bases) > mostTried && !g.alone // 40.txt
	return !g.showsTicks() && !(g.tick >= 0 && (ticked || bare || g.namesMemory()))
}

// rawWidth is the number of bytes of a word.
const rawWidth = 4

// rawState returns the state that consists of the words of a file, by their offsets. The remaining bytes of the last
// one become a separate table, and so do the words that are noise.
func rawState(text []byte, noise map[uint64]bool) *snapshot.World {
	whole := len(text) / rawWidth * rawWidth
	w := &snapshot.World{Head: snapshot.Head{Point: snapshot.Point{Native: "state", Relation: snapshot.Some}}}
	add := func(label, field string, class snapshot.Class, typ snapshot.Type, keys []uint64) *snapshot.Column {
		w.Tables = append(w.Tables, snapshot.Table{Label: label, Class: class, Keys: snapshot.Keys{A: keys}, Columns: []snapshot.Column{snapshot.NewColumn("word", field, typ, 0)}})
		return &w.Tables[len(w.Tables)-1].Columns[0]
	}
	keys, data := make([]uint64, 0, whole/rawWidth), text[:whole]
	var hidden, values = []uint64(nil), []byte(nil)
	if len(noise) > 0 {
		data = make([]byte, 0, whole)
	}
	for at := 0; at < whole; at += rawWidth {
		switch word := text[at : at+rawWidth]; {
		case len(noise) == 0:
			keys = append(keys, uint64(at))
		case noise[uint64(at)]:
			hidden, values = append(hidden, uint64(at)), append(values, word...)
		default:
			keys, data = append(keys, uint64(at)), append(data, word...)
		}
	}
	add(rawLabel, "u32", snapshot.Archetype, snapshot.U32, keys).Data = data
	if len(hidden) > 0 {
		add(rawLabel, "u32", snapshot.Noise, snapshot.U32, hidden).Data = values
	}
	if whole < len(text) {
		add(rawLabel+".rest", "rest", snapshot.Archetype, snapshot.Bytes, []uint64{uint64(whole)}).AppendBytes(text[whole:])
	}
	return w
}
