package bundle

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Two peers in sync leave the same states, and files of both may be equal byte for byte. But a file
// that names its peer is the other's as well only if it was copied: then the two are one witness. Two recordings that the
// user names are an exception: these are two runs, and a deterministic game leaves equal files of them.

// witness is a file that may name its peer, of one kind.
type witness struct {
	kind string // "states", "order logs" or "traces"
	path string
	peer func() string // the peer that the file itself names, "" if it names none
	// key is the same for files that may be the same, as far as they were looked at; "" if no other
	// is. named is what peer has returned.
	key, named string
}

// kinds are the kinds of witnesses, as texts name them.
var kinds = []string{"states", "order logs", "traces"}

// oneWitness finds the places whose files are equal to the files of another place, byte for byte, and name their peer.
// These places are left out if two others have such files, else reported as one witness. It reads the heads of files of
// one size, and whole files only where these name one peer.
func (s *Session) oneWitness() {
	lists := make([][]witness, len(s.places))
	for i, p := range s.places {
		lists[i] = s.witnesses(p)
	}
	each := func(f func(w *witness)) {
		for i := range lists {
			for k := range lists[i] {
				f(&lists[i][k])
			}
		}
	}
	several := func() func(w *witness) bool { // have the same key
		count := map[string]int{}
		each(func(w *witness) { count[w.key]++ })
		return func(w *witness) bool { return w.key != "" && count[w.key] > 1 }
	}
	narrow := func(more func(w *witness) string) {
		alike := several()
		each(func(w *witness) {
			if text := ""; alike(w) {
				if text = more(w); text != "" {
					w.key += "\x00" + text
					return
				}
			}
			w.key = ""
		})
	}
	narrow(func(w *witness) string { w.named = w.peer(); return w.named })
	narrow(func(w *witness) string {
		sum, err := s.digest(w.path)
		if err != nil {
			return ""
		}
		return string(sum[:])
	})
	first := map[string]int{} // the place that has files of a kind, by their keys
	var out []*place
	own := map[string]int{} // how many places have files of a kind, those left out not counted
	for _, kind := range kinds {
		for i := range lists {
			if has(lists[i], kind) {
				own[kind]++
			}
		}
	}
	for i, p := range s.places {
		of, copies, peer := -1, []string{}, ""
		for _, kind := range kinds {
			key, named := keysOf(lists[i], kind)
			if key == "" {
				continue
			}
			switch k, known := first[key]; {
			case !known:
				first[key] = i
			case of < 0 || of == k:
				of, copies, peer = k, append(copies, kind), named
			}
		}
		whole := of >= 0 && !slices.ContainsFunc(kinds, func(kind string) bool {
			return !slices.Contains(copies, kind) && has(lists[i], kind) && has(lists[of], kind)
		})
		what := strings.Join(copies, ", ")
		if whole {
			what = "files"
		}
		switch {
		case of < 0:
		case s.twoRuns(s.places[of].path, p.path):
			s.warnings = append(s.warnings, files.Note{Path: p.path, Text: fmt.Sprintf("%s: its %s are identical to the %s of %s; two equal runs leave such files, and a copy shows nothing", p.path, what, what, s.places[of].path)})
		case whole && !slices.ContainsFunc(copies, func(kind string) bool { return own[kind] < 3 }):
			for _, kind := range copies {
				own[kind]--
			}
			s.lose(p.path, "%s: left out: its files are equal to the files of %s, byte for byte, and name the peer %q themselves", p.path, s.places[of].path, peer)
			continue
		default:
			s.lose(p.path, "%s: its %s are equal to the same files of %s, byte for byte, and name the peer %q themselves: the two are one witness, and that they agree shows nothing", p.path, what, s.places[of].path, peer)
		}
		out = append(out, p)
	}
	s.otherNames(lists)
	s.places = out
}

// otherNames warns about files that name their peer by the name of another place's folder, whose name is used, and about
// chains of signatures that no other file next to them names the peer of.
func (s *Session) otherNames(lists [][]witness) {
	paths := make([]string, len(s.places))
	for i, p := range s.places {
		paths[i] = p.path
	}
	folders := snapshot.PeerNames(make([]string, len(paths)), paths)
	for i, list := range lists {
		seen, own := []string{"", folders[i]}, []string{folders[i]}
		for k := range list {
			name := cmp.Or(list[k].named, list[k].peer())
			if of := slices.Index(folders, name); of >= 0 && !slices.Contains(seen, name) {
				seen = append(seen, name)
				s.warnings = append(s.warnings, files.Note{Path: paths[i], Text: fmt.Sprintf(
					"%s: its %s name their peer %q, which is the name of another peer's folder, %s: here the peer is %s, by its folder", paths[i], list[k].kind, name, paths[of], prose.Name(folders[i]))})
			}
			own = append(own, name)
		}
		for _, f := range s.places[i].files {
			if !f.isChain() {
				continue
			}
			signed, err := s.chain(f)
			if err != nil {
				continue
			}
			name := s.names.peer(signed.Header.Peer)
			if slices.Contains(own, name) || len(own) == 1 && !slices.Contains(folders, name) {
				continue
			}
			s.warnings = append(s.warnings, files.Note{Path: f.Path, Text: fmt.Sprintf(
				"%s: it is signed as the peer %q, and lies among the files of %s", f.Path, name, prose.Name(folders[i]))})
		}
	}
}

// twoRuns reports whether two places were given by two paths: a user who names two recordings compares two runs, and a
// deterministic game leaves equal files for both.
func (s *Session) twoRuns(a, b string) bool {
	if len(s.paths) != 2 {
		return false
	}
	below := func(path, root string) bool {
		rel, err := filepath.Rel(root, path)
		return err == nil && filepath.IsLocal(rel)
	}
	first, second := s.paths[0], s.paths[1]
	return below(a, first) && below(b, second) && !below(a, second) && !below(b, first)
}

// has reports whether there are witnesses of a kind.
func has(list []witness, kind string) bool {
	return slices.ContainsFunc(list, func(w witness) bool { return w.kind == kind })
}

// keysOf returns the keys of the witnesses of a kind as one key, and the peer that they name; "" if one of them has
// none, or if there are none.
func keysOf(list []witness, kind string) (key, peer string) {
	for i := range list {
		switch w := &list[i]; {
		case w.kind != kind:
		case w.key == "" || peer != "" && peer != w.named:
			return "", ""
		default:
			key, peer = key+w.key, w.named
		}
	}
	return key, peer
}

// witnesses returns the files of a place that may name their peer: the first and the last state, our order logs and
// traces.
func (s *Session) witnesses(p *place) (list []witness) {
	add := func(kind, path string, peer func() string) {
		if stat, err := s.tree.Stat(path); err == nil && stat.Mode().IsRegular() {
			list = append(list, witness{kind: kind, path: path, peer: peer, key: fmt.Sprint(kind, stat.Size())})
		}
	}
	state := func(e *snapshot.Entry) {
		if e.Checksummed() {
			add("states", filepath.Join(e.Dir, e.Base), func() string { return nameIn(e) })
		}
	}
	if p.set != nil && len(p.set.Entries) > 0 {
		n := len(p.set.Entries)
		state(p.set.Entries[0])
		if n > 1 {
			state(p.set.Entries[n-1])
		}
	}
	for _, f := range p.files {
		switch {
		case f.isOwnLog():
			add("order logs", f.Path, func() string { return s.logPeer(f) })
		case f.Format == nil || !f.Format.Native:
		case f.Format.Snapshot != nil:
			add("states", f.Path, func() string { return s.statePeer(f) })
		case f.ownTrace():
			add("traces", f.Path, func() string { return s.tracePeer(f) })
		}
	}
	return list
}

// logPeer returns the peer that an order log names, "" if it cannot be read.
func (s *Session) logPeer(f *File) string {
	source, closer, err := openLog(s.tree, f, nil)
	if err != nil {
		return ""
	}
	defer closer.Close()
	return source.Header().Peer
}

// statePeer returns the peer that a loose state names.
func (s *Session) statePeer(f *File) string {
	state, err := snapshot.OpenPath(s.tree, f.Path, f.Format.Snapshot)
	if err != nil {
		return ""
	}
	defer state.Close()
	return state.Info().Peer
}

// tracePeer returns the peer that a trace names.
func (s *Session) tracePeer(f *File) string {
	list, err := tracediff.Open(s.tree, f.Path, tracediff.ReadOptions{})
	if err != nil || len(list) != 1 {
		return ""
	}
	return s.names.peer(list[0].Header.Peer)
}
