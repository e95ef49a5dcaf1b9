package bundle

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/file/compression"
	"github.com/desynctool/desynctool/internal/lists"
)

// split makes matches of units: first of units that name their match, then of units next to them.
func (m *Matches) split(units []*unit) {
	m.byID(units)
	m.bySeed(units)
	m.bySession(units)
	m.ofOneSeed()
	m.ofClaims(units)
	m.companions(units)
	m.byFolder(units)
	m.doubtSessions()
}

// byID makes a match of each name that an engine gave.
func (m *Matches) byID(units []*unit) {
	type key struct{ game, id string }
	found := map[key]*Match{}
	for _, u := range units {
		if u.id == "" {
			continue
		}
		k := key{u.game, u.id}
		if found[k] == nil {
			found[k] = m.add()
		}
		found[k].join(u)
	}
}

// bySeed adds files with a seed to the match with that seed, if there is one of their game, and else makes one. Files
// in our formats that state a seed belong to no other game's match, since seeds of two games may be the same.
func (m *Matches) bySeed(units []*unit) {
	type key struct {
		game string
		seed uint64
	}
	named := map[key][]*Match{} // by the engine
	for _, x := range m.List {
		if x.Seed != nil {
			k := key{x.Game, *x.Seed}
			named[k] = append(named[k], x)
		}
	}
	found := map[key]*Match{}
	for _, u := range units {
		if u.match != nil || u.seed == nil {
			continue
		}
		k := key{u.game, *u.seed}
		switch list := named[k]; {
		case len(list) == 1:
			list[0].join(u)
			continue
		case len(list) > 1:
			u.seed = nil // it does not state its match; its folder may show it
			continue
		}
		if found[k] == nil {
			found[k] = m.add()
		}
		found[k].join(u)
	}
}

// bySession splits a match if two folders of sessions contain it, each with several peers' files. If each folder has
// only one peer of the match, the folders belong to peers.
func (m *Matches) bySession(units []*unit) {
	shared := map[string]bool{}
	for _, x := range slices.Clone(m.List) {
		if found := sessionsOf(x.units); !found.several() {
			for session := range found {
				if session != "" && len(found) > 1 {
					shared[session] = true
				}
			}
			continue
		}
		parts := map[string]*Match{}
		for _, u := range m.forget(x) {
			if parts[u.session] == nil {
				parts[u.session] = m.add()
				parts[u.session].session = u.session
			}
			parts[u.session].join(u)
		}
	}
	for _, u := range units {
		if shared[u.session] && (u.match == nil || u.match.session == "") {
			u.session = ""
		}
	}
}

// inSession is what a folder of a session contains of a match.
type inSession struct {
	homes map[string]bool // folders of peers
	names map[string]bool // of peers, from the files
}

// inSessions are the folders of sessions that contain files of a match; "" is the key for files outside of them.
type inSessions map[string]inSession

func sessionsOf(units []*unit) inSessions {
	found := inSessions{}
	for _, u := range units {
		s, ok := found[u.session]
		if !ok {
			s = inSession{map[string]bool{}, map[string]bool{}}
			found[u.session] = s
		}
		if s.homes[u.home] = true; u.peer != "" {
			s.names[u.peer] = true
		}
	}
	return found
}

// several reports whether two folders each contain several peers' files of one match. If the files in every folder name
// one peer, a different one in each folder, then the folders belong to peers, each with its files of several matches.
func (found inSessions) several() bool {
	whole, ofOne, names := 0, true, map[string]bool{}
	for session, s := range found {
		if session != "" && len(s.homes) > 1 {
			whole++
		}
		ofOne = ofOne && len(s.names) == 1
		for name := range s.names {
			names[name] = true
		}
	}
	return whole > 1 && !(ofOne && len(names) > 1)
}

// companions adds files to the match of the file whose name they have, with more after it: game.wrpl.wss is next to
// game.wrpl.
func (m *Matches) companions(units []*unit) {
	byName := map[string]*Match{}
	for _, u := range units {
		if u.match != nil && u.part == nil && u.file != nil {
			byName[compression.PlainName(u.path)] = u.match
		}
	}
	for _, u := range units {
		if u.match != nil || u.file == nil || u.part != nil || !u.known {
			continue
		}
		for path := compression.PlainName(u.path); ; {
			i := strings.LastIndexByte(path, '.')
			if i <= strings.LastIndexByte(path, filepath.Separator) {
				break
			}
			path = path[:i]
			if x := byName[path]; x != nil && (u.game == "" || u.game == x.Game) {
				x.join(u)
				break
			}
		}
	}
}

// byFolder adds evidence that names no match to the match of its folder, or of the nearest folder above that has a
// match of its game, except for folders of other sessions. The rest becomes a separate match; if several matches were
// near it, that is reported.
func (m *Matches) byFolder(units []*unit) {
	type key struct{ session, game, near string }
	own := map[key]*Match{}
	for _, anyGame := range []bool{false, true} { // matches of the same game first
		var torn []*unit
		tornOf := map[*unit][]*Match{}
		for _, u := range units {
			if u.match != nil || !u.known || anyGame != (u.game == "") {
				continue
			}
			near := m.near(u)
			switch len(near) {
			case 1:
				near[0].join(u)
			case 0:
				k := key{session: u.session, game: u.game}
				if own[k] == nil {
					own[k] = m.add()
					own[k].session = u.session
				}
				own[k].join(u)
			default:
				torn = append(torn, u)
				tornOf[u] = near
			}
		}
		for _, u := range torn {
			k := key{u.session, u.game, u.dir}
			if own[k] == nil {
				own[k] = m.add()
				m.doubt(own[k], tornOf[u])
			}
			own[k].join(u)
		}
	}
}

// doubt notes that a match may be one of some others. They have no numbers yet.
func (m *Matches) doubt(x *Match, others []*Match) {
	m.doubts = append(m.doubts, func() {
		names := lists.Map(others, func(y *Match) string { return y.String() })
		if n := len(names); n > maxDoubted {
			names = append(names[:maxDoubted], fmt.Sprintf("and %d more", n-maxDoubted))
		}
		x.Doubts = append(x.Doubts, fmt.Sprintf("%s: no file in it shows its match; it may be one of these: %s", strings.Join(shortened(x.Files), ", "), strings.Join(names, "; ")))
	})
}

// maxDoubted is how many matches, or files, a doubt names.
const maxDoubted = 5

func shortened(list []string) []string {
	if n := len(list); n > maxDoubted {
		return append(slices.Clone(list[:maxDoubted]), fmt.Sprintf("%d more", n-maxDoubted))
	}
	return list
}

// near returns the matches in a unit's folder that it may be of, or else in the nearest folder
// above. Beyond a folder of a session nothing is near.
func (m *Matches) near(u *unit) []*Match {
	fits := func(x *Match) bool {
		switch {
		case x.Game == u.game, u.game == "":
		case x.Game == "" && library(u.game):
		case library(x.Game) && u.game == "":
		default:
			return false
		}
		return true
	}
	for dir := u.dir; ; dir = filepath.Dir(dir) {
		var list []*Match
		for x := range m.below[dir] {
			if fits(x) {
				list = append(list, x)
			}
		}
		if len(list) > 0 {
			slices.SortFunc(list, func(a, b *Match) int { return cmp.Compare(slices.Index(m.List, a), slices.Index(m.List, b)) })
			return list
		}
		if dir == u.session && u.session != "" || filepath.Dir(dir) == dir {
			return nil
		}
	}
}

// doubtSessions notes that matches may be one if only their folders distinguish them. One of the two may be in no
// folder of a session.
func (m *Matches) doubtSessions() {
	type key struct {
		game, id string
		seed     uint64
		says     bool
	}
	groups := map[key][]*Match{}
	var order []key
	for _, x := range m.List {
		k := key{game: x.Game, id: x.id}
		if x.Seed != nil {
			k.seed, k.says = *x.Seed, true
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], x)
	}
	for _, k := range order {
		for _, x := range groups[k] {
			alike := lists.Where(groups[k], func(y *Match) bool { return y != x && (x.session != "" || y.session != "") && !m.apart(x, y) })
			if len(alike) > 0 {
				m.doubtAlike(x, alike)
			}
		}
	}
}

// doubtAlike notes that matches in other folders may be the same as a match.
func (m *Matches) doubtAlike(x *Match, others []*Match) {
	m.doubts = append(m.doubts, func() {
		what := "no file in them shows the match"
		switch {
		case x.id != "":
			what = "all are of match " + x.id
		case x.Seed != nil:
			what = fmt.Sprintf("all have seed %016x", *x.Seed)
		}
		places := lists.Map(others, func(y *Match) string { return y.place() })
		x.Doubts = append(x.Doubts, fmt.Sprintf("%s may be of the same match as %s: %s, and nothing but the folders tells them apart", x.place(), strings.Join(shortened(places), ", "), what))
	})
}
