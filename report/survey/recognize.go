package survey

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/desynctool/desynctool/anygame/statements"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/notation"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/tracediff"
)

// walk looks at a file or folder.
func (s *Survey) walk(path string, folder, given bool, deeper int) {
	if !folder {
		s.add(path, given)
		return
	}
	names, err := s.tree.Names(path)
	if err != nil || deeper < 0 || s.visited(path) {
		return
	}
	slices.Sort(names)
	for _, name := range names {
		if name[0] == '.' || s.known != "" {
			continue
		}
		at := filepath.Join(path, name)
		stat, err := s.tree.Stat(at)
		if s.files++; err != nil || limits.Files.Over(int64(s.files)) {
			continue
		}
		switch {
		case stat.IsDir():
			s.walk(at, true, false, deeper-1)
		case stat.Mode().IsRegular() && stat.Size() > 0:
			s.add(at, false)
		}
	}
}

// visited notes that a folder is walked. It reports whether it was before, under any name.
func (s *Survey) visited(path string) bool {
	t, ok := s.tree.(interface{ Real(path string) string })
	if !ok {
		return false
	}
	real := t.Real(path)
	if real == "" {
		return false
	}
	before := s.folders[real]
	s.folders[real] = true
	return before
}

// add adds a file to its group. The first of a group that can be recognised shows what the others are.
func (s *Survey) add(path string, given bool) {
	base := filepath.Base(path)
	if base == description.Base {
		return
	}
	s.all = append(s.all, path)
	name := s.groupOf(path)
	if name.kind == description.Other {
		return
	}
	g := s.groups[name]
	if g == nil {
		if len(s.groups) == mostGroups {
			s.left++
			return
		}
		g = &group{groupName: name, page: s.page, tick: -1}
		s.groups[name] = g
		s.kinds = append(s.kinds, g)
	}
	g.bases = append(g.bases, base)
	g.given = g.given || given
	if g.notation == nil && !g.known && len(g.bases) <= mostTried {
		s.recognize(g, path)
	}
}

// recognize finds out what the files of a group are by one of them.
func (s *Survey) recognize(g *group, path string) {
	head, whole, err := s.head(path)
	if err != nil {
		return
	}
	base := filepath.Base(path)
	of := sync.OnceValue(func() *notation.Notation { return notation.Of(base, head, whole) }) // files of known formats do without
	csv := notation.MayBeCSV(base, head, whole) && of() != nil && of().Name == "csv"
	if g.kind == description.Undescribed && !(csv && isMeasured(head)) && s.isKnown(path, head) {
		if g.trace = csv || tracediff.Sniff(head) == tracediff.Table; !g.trace {
			g.known = true
			return
		}
	}
	found := of()
	if found != nil && whole && g.kind == description.Undescribed && isSaid(head, base) {
		found = nil
	}
	binary := bytes.IndexByte(head, 0) >= 0
	if lines := head[:bytes.LastIndexByte(head, '\n')+1]; found == nil && hexDump(lines) != nil {
		g.dump, binary = true, true
	}
	g.notation, g.text = found, g.text || !binary
	g.binary = binary && (found != nil || !g.text)
	g.medium = slices.ContainsFunc(media, func(magic string) bool { return bytes.HasPrefix(head, []byte(magic)) })
}

// isSaid reports whether most of a text is messages about a desync, whatever notation their lines resemble.
func isSaid(text []byte, name string) bool {
	log, err := statements.Scan(bytes.NewReader(text), name)
	if err != nil {
		return false
	}
	size := 0
	for _, c := range log.Claims {
		size += len(c.Text)
	}
	return 2*size > len(bytes.TrimSpace(text))
}

// recognized takes the groups that may be evidence, and notes what else there is.
func (s *Survey) recognized() {
	for _, g := range s.kinds {
		switch {
		case g.known:
		case g.notation != nil || g.text && g.kind != description.State:
			s.order = append(s.order, g)
		case g.kind != description.Undescribed && !(g.binary && g.kind == description.State):
			s.notes = append(s.notes, g.misdescribed())
		}
	}
	if s.left > 0 {
		s.notes = append(s.notes, fmt.Sprintf("files with more than %d kinds of names: %d were not looked at", mostGroups, s.left))
	}
}

// misdescribed returns the note about described files that cannot be read.
func (g *group) misdescribed() string {
	return fmt.Sprintf("%s: described as %s, and in no notation that is read", filepath.Join(g.dir, g.bases[0]), g.kind)
}

// groupOf returns the name of the group of a file.
func (s *Survey) groupOf(path string) groupName {
	dir, base := filepath.Split(path)
	return groupName{filepath.Clean(dir), shapeOf(plainName(s.page, base)), s.kindOf(path)}
}

// isKnown reports whether a file has a known format, and notes that there is evidence of one.
func (s *Survey) isKnown(path string, head []byte) bool {
	head = head[:min(len(head), formats.HeadLen)]
	f := formats.Recognize(path, head)
	if tracediff.Sniff(head) == tracediff.Hashes || formats.TableOfValues(path, head) {
		return false
	}
	if f == nil {
		return bytes.Contains(head, []byte(`"desynctool.`)) || strings.HasPrefix(filepath.Base(path), "desync_report_")
	}
	if s.page == nil && (f.Snapshot != nil || f.Log != nil || f.Native || f.Trace != nil && f.Trace.Read != nil) {
		s.known = path
	}
	return true
}

// head returns the first bytes of what is in a file, and whether that is all.
func (s *Survey) head(path string) (head []byte, whole bool, err error) {
	text, err := s.read(path, headLen+1)
	return text[:min(len(text), headLen)], len(text) <= headLen, err
}
