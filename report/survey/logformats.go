package survey

import (
	"cmp"
	"io"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

// logFormats returns the formats of the logs. If a folder has several of one kind, the parts of their names that vary
// are the peers.
func (s *Survey) logFormats() (out []engine.Format) {
	byPath := map[string]engine.Format{}
	for _, l := range s.found {
		beside := 0
		for _, other := range s.found {
			if other.group.dir == l.group.dir && (other.trace == nil) == (l.trace == nil) {
				beside++
			}
		}
		peer := ""
		if s.rotated(l) {
			peer = filepath.Base(l.group.dir)
		} else if beside > 1 || s.page != nil {
			peer = s.peerOf(l)
		}
		f := l.format(peer)
		if i := s.kindWord(l); i >= 0 { // logs of one kind are compared with each other
			f.Name += " of " + l.group.word(filepath.Base(l.path), i)
		}
		byPath[l.path] = f
		alike := func(other engine.Format) bool {
			return other.Name == f.Name && other.Shared == f.Shared && slices.Equal(other.Gives, f.Gives)
		}
		if !slices.ContainsFunc(out, alike) {
			out = append(out, one(f, byPath, alike))
		}
	}
	return out
}

// rotated reports whether the logs of a folder are parts of one, game.log and game.1.log, as in other folders.
func (s *Survey) rotated(l log) bool {
	stem, parts := stemOf(l.path), map[string]int{} // by folder
	for _, other := range s.found {
		switch same := stemOf(other.path) == stem; {
		case (other.trace == nil) != (l.trace == nil):
		case same:
			parts[other.group.dir]++
		case other.group.dir == l.group.dir:
			return false
		}
	}
	most := 0
	for _, n := range parts {
		most = max(most, n)
	}
	return most > 1 && len(parts) > 1
}

// stemOf returns the name of a file without the numbers between its points.
func stemOf(path string) string {
	parts := strings.Split(filepath.Base(path), ".")
	return strings.Join(slices.DeleteFunc(parts, func(part string) bool { return strings.Trim(part, "0123456789") == "" }), ".")
}

// rotation returns the number between the points of a file's name, 0 if there is none.
func rotation(path string) (n int) {
	for _, part := range strings.Split(filepath.Base(path), ".") {
		if one, err := strconv.Atoi(part); err == nil {
			n = one
		}
	}
	return n
}

// one returns one format for all similar logs: each is read in its own way.
func one(f engine.Format, byPath map[string]engine.Format, alike func(engine.Format) bool) engine.Format {
	of := func(path string) engine.Format {
		if own, ok := byPath[path]; ok && alike(own) {
			return own
		}
		return f // independent of its current name
	}
	out := f
	out.Paths = func(path string) bool {
		own, ok := byPath[path]
		return ok && alike(own)
	}
	if f.Trace != nil {
		t := *f.Trace
		if t.Read != nil {
			t.Read = func(r io.Reader, name string, n int) (tracediff.Source, error) {
				return of(name).Trace.Read(r, name, n)
			}
		}
		if t.Claims != nil {
			t.Claims = func(r io.Reader, name string) (*tracediff.ClaimLog, error) { return of(name).Trace.Claims(r, name) }
		}
		out.Trace = &t
	}
	if f.Log != nil {
		out.Log = func(r io.Reader, name string) (orderlog.Source, error) { return of(name).Log(r, name) }
	}
	return out
}

// kindWord returns the word of the names of the logs in a folder that shows their kind, -1 if each peer has one log: all peers have
// a log of each kind, and the lines with checksums are others in each kind: ann_net.log, ann_sim.log, bob_net.log, bob_sim.log.
func (s *Survey) kindWord(l log) int {
	logs := lists.Where(s.found, func(o log) bool { return o.sums != nil && o.group.dir == l.group.dir })
	if l.sums == nil {
		return -1
	}
	first := l.group.words(filepath.Base(l.path))
	for i := range first {
		peers, forms, ok := map[string]string{}, map[string]string{}, true // the peers of each kind, and the kind of each form of lines
		for _, o := range logs {
			name, form := o.group.words(filepath.Base(o.path)), strings.Join(append(o.sums.Expressions(), o.sums.Title()), "\n")
			if len(name) != len(first) {
				return -1
			}
			kind, known := forms[form]
			ok = ok && (!known || kind == name[i])
			forms[form] = name[i]
			peers[name[i]] += strings.Join(slices.Delete(slices.Clone(name), i, i+1), "_") + "\n"
		}
		for _, list := range peers {
			ok = ok && list == peers[first[i]] && strings.Count(list, "\n") > 1
		}
		if ok && len(peers) > 1 && len(peers) == len(forms) {
			return i
		}
	}
	return -1
}

// peerOf returns the peer that the name of a log shows.
func (s *Survey) peerOf(l log) string {
	var groups []*group
	for _, other := range s.found {
		alike := other.group.dir == l.group.dir && (other.trace == nil) == (l.trace == nil)
		if alike && !slices.Contains(groups, other.group) {
			groups = append(groups, other.group)
		}
	}
	l.group.peer = nil
	base := filepath.Base(l.path)
	if slices.ContainsFunc(groups, func(g *group) bool { return len(g.words(g.bases[0])) != len(l.group.words(base)) }) && l.group.peerOf(base) == "" {
		name := compression.PlainName(base) // words do not correspond to each other
		return strings.TrimSuffix(name, filepath.Ext(name))
	}
	kind := s.kindWord(l)
	for i := range l.group.words(l.group.bases[0]) {
		if i != kind && varies(groups, i) {
			l.group.peer = append(l.group.peer, i)
		}
	}
	l.group.peer = l.group.withRole(l.group.peer)
	return l.group.peerOf(base)
}

// format returns the format of a log, with the peer's name if its folder has logs of several peers.
func (l *log) format(peer string) engine.Format {
	var out engine.Format
	if l.trace != nil {
		t := *l.trace
		game := ""
		if l.group.page != nil {
			game = l.group.page.Title()
		}
		if read := t.Read; read != nil && peer+game != "" {
			t.Read = func(r io.Reader, name string, n int) (tracediff.Source, error) {
				source, err := read(r, name, n)
				if err != nil {
					return nil, err
				}
				return namedTrace{source, peer, game}, nil
			}
		}
		out = engine.Trace(t, "*", given(t)...)
	} else {
		out = engine.Format{
			Name: "inputs", Title: l.group.title("inputs of any game"), Files: "*", Gives: []string{"orders"},
			Log: func(r io.Reader, name string) (orderlog.Source, error) {
				source, err := l.order.Read(r, name)
				if err != nil || peer == "" {
					return source, err
				}
				return namedLog{source, peer}, nil
			},
		}
	}
	out.Sniff = func([]byte) bool { return false }
	out.Shared = peer != ""
	return out
}

// given returns the evidence in a log.
func given(t tracediff.Format) (out []string) {
	if t.Read != nil {
		out = append(out, "checkpoints")
	}
	if t.Claims != nil {
		out = append(out, "claims")
	}
	return out
}

// namedTrace is a trace that does not contain the name of its peer or game.
type namedTrace struct {
	tracediff.Source
	peer, game string
}

// Dialect implements tracediff.Source.
func (n namedTrace) Dialect() tracediff.Dialect {
	d := n.Source.Dialect()
	d.Engine = cmp.Or(n.game, d.Engine)
	return d
}

// Header implements tracediff.Source.
func (n namedTrace) Header() tracediff.Header {
	h := n.Source.Header()
	h.Peer = cmp.Or(h.Peer, n.peer)
	return h
}

// Pass implements tracediff.Passer.
func (n namedTrace) Pass(offset int64) {
	if s, ok := n.Source.(tracediff.Passer); ok {
		s.Pass(offset)
	}
}

// namedLog is an order log that does not contain the name of its peer.
type namedLog struct {
	orderlog.Foreign
	peer string
}

// Header implements orderlog.Source.
func (n namedLog) Header() orderlog.Header {
	h := n.Foreign.Header()
	h.Peer = cmp.Or(h.Peer, n.peer)
	return h
}
