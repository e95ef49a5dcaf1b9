package bundle

import (
	"cmp"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/tracediff"
)

// Accounts returns what games wrote about desyncs, one entry for each file that was read so far, in the order of the
// paths. A file belongs to the peer that it names, else to the peer that names has for its path, else it is named after
// its path.
func (s *Session) Accounts(names map[string]string) (list []verdict.Account) {
	var own, paths []string
	for _, f := range s.files {
		log := f.claimLog()
		if log == nil || len(log.Claims) == 0 {
			continue
		}
		path := f.Path
		if p := s.holder(f); p != nil {
			path = p.Path
		}
		list = append(list, verdict.Account{
			File: f.Path, Engine: log.Dialect.Engine, Arbiter: log.Dialect.Arbiter, TickName: log.Dialect.NameOf, Claims: slices.Clone(log.Claims), Facts: log.Facts,
		})
		own, paths = append(own, cmp.Or(log.Peer, writer(log))), append(paths, path)
	}
	said := slices.Clone(own)
	for i, name := range own {
		for k := range own {
			if name != "" && own[k] == name && paths[k] != paths[i] {
				said[i] = "" // two machines that call themselves the same, such as client
			}
		}
		if list[i].Said = said[i] != ""; name != said[i] {
			unname(list[i].Claims, name)
		}
		if said[i] == "" {
			said[i] = names[list[i].File]
		}
		p := s.holder(s.byPath[list[i].File])
		if list[i].Placed = p != nil; p != nil && said[i] == "" {
			said[i] = p.Name
		}
	}
	for i, name := range s.names.places(said, paths) {
		list[i].Peer = name
		list[i].Placed = list[i].Placed || apart(list)
	}
	for _, log := range s.tests() {
		list = append(list, verdict.Account{File: log.File, Peer: log.File, Engine: log.Dialect.Engine, TickName: log.Dialect.NameOf, Claims: log.Claims})
	}
	return list
}

// apart reports whether several files are in a separate folder each, as several peers' files are.
func apart(list []verdict.Account) bool {
	folders := map[string]bool{}
	for i := range list {
		folders[filepath.Dir(list[i].File)] = true
	}
	return len(list) > 1 && len(folders) == len(list)
}

// claimLog returns the claims that were read of a file, nil if there are none.
func (f *File) claimLog() *tracediff.ClaimLog {
	log := f.claims
	if f.opened != nil && f.opened.claims != nil {
		log = f.opened.claims
	}
	if f.read == nil || len(f.read.Said.Claims) == 0 {
		return log
	}
	if log == nil {
		return &f.read.Said
	}
	both := *log // an order log in a format that also has claims
	both.Claims = slices.Concat(log.Claims, f.read.Said.Claims)
	return &both
}

// writer returns the peer that wrote all claims of a log, as each claim states, "" if they do not agree. In the log of a game that
// is not known, claims that do not name their writer have the one of the others.
func writer(log *tracediff.ClaimLog) string {
	by := log.Claims[0].By
	if log.Dialect.Engine == "" {
		if i := slices.IndexFunc(log.Claims, func(c tracediff.Claim) bool { return c.By != "" }); i >= 0 {
			by = log.Claims[i].By
		}
	}
	differs := func(c tracediff.Claim) bool { return c.By != by && (c.By != "" || log.Dialect.Engine != "") }
	if log.Dialect.Arbiter || slices.ContainsFunc(log.Claims, func(c tracediff.Claim) bool { return differs(c) || c.Replay || c.SelfTest }) {
		return ""
	}
	return by
}

// counterparts are the words for the other machine in messages that use local, ours or mine for their own.
var counterparts = []string{"remote", "theirs", "peer", "them", "his", "opponent", "you"}

// unname takes away the name that a machine has for itself, and the one that it has for the other.
func unname(claims []tracediff.Claim, name string) {
	isOther := func(v tracediff.ClaimedValue) bool { return slices.Contains(counterparts, v.Peer) }
	for i := range claims {
		c := &claims[i]
		c.Values = slices.Clone(c.Values)
		if own := slices.IndexFunc(c.Values, func(v tracediff.ClaimedValue) bool { return v.Peer == name }); own > 0 && c.By == name && slices.ContainsFunc(c.Values, isOther) { // its own is the first without a name
			c.Values = slices.Insert(slices.Delete(slices.Clone(c.Values), own, own+1), 0, c.Values[own])
		}
		for k, v := range c.Values {
			if v.Peer == name || c.By == name && isOther(v) {
				c.Values[k].Peer = ""
			}
		}
		if c.By == name {
			c.By = ""
		}
	}
}

// holder returns the peer that left states or one of our order logs and whose folder contains the file; nil if there is
// none.
func (s *Session) holder(f *File) *Peer {
	for _, p := range s.Peers() {
		if f.place != nil && f.place.path == p.Path {
			return p
		}
	}
	return nil
}

// Hear adds the claims in a record of an order log that its game has desynced.
func (r *LogRead) Hear(file string, rec *orderlog.Record, d orderlog.Dialect) {
	if rec.Tick != nil {
		r.last, r.began = rec.Tick.Number, true
	}
	for _, c := range rec.Claims {
		if c.Kind != orderlog.ClaimDesync || len(r.Said.Claims) == maxSaid {
			continue
		}
		r.Said.Dialect = tracediff.Dialect{Engine: d.Engine, TickName: d.TickName}
		r.Said.Claims = append(r.Said.Claims, tracediff.Claim{
			File: file, Pos: tracediff.Position{Line: c.Line, Offset: c.Offset}, Text: c.Text, Tick: r.last, HasTick: r.began, Peers: c.Peers,
		})
	}
}

// maxSaid is how many claims of an order log are kept.
const maxSaid = 1 << 12

// tests returns what self-tests left that failed: folders that a game writes only then.
func (s *Session) tests() (list []*tracediff.ClaimLog) {
	if s.tested {
		return s.testLogs
	}
	s.tested = true
	for _, w := range s.walked {
		for i := range s.list {
			read := s.list[i].SelfTest
			if read == nil {
				continue
			}
			log, err := read(s.tree, w.path)
			if err != nil {
				s.lose(w.path, "%v", err)
			}
			if log != nil && len(log.Claims) > 0 {
				s.testLogs = append(s.testLogs, log)
			}
		}
	}
	return s.testLogs
}

// holdsTest reports whether a folder, or one below it, is what a self-test left.
func (s *Session) holdsTest(path string) bool {
	return slices.ContainsFunc(s.tests(), func(log *tracediff.ClaimLog) bool {
		return log.File == path || strings.HasPrefix(log.File, path+string(filepath.Separator))
	})
}

// Leaves returns the files that the game leaves on each machine, by name and kind, and which of them contain more than
// messages. Without a known game it returns none.
func (s *Session) Leaves(engine string) (list, more []string) {
	for i := range s.list {
		f := &s.list[i]
		if f.Game != "" && (f.Game == s.game || strings.HasPrefix(engine, f.Game)) && f.Files != "" {
			title, _, _ := strings.Cut(f.Title, " (")
			text := f.Files + " (" + title + ")"
			list = append(list, text)
			if f.Snapshot != nil || f.Log != nil || f.Trace != nil && f.Trace.Read != nil {
				more = append(more, text)
			}
		}
	}
	return list, more
}

// places is like peers, but several files may belong to one peer: files of one place and one name.
func (n *naming) places(said, paths []string) []string {
	type owner struct{ said, path string }
	var once []owner
	for i := range said {
		if o := (owner{said[i], paths[i]}); !slices.Contains(once, o) {
			once = append(once, o)
		}
	}
	var names, places []string
	for _, o := range once {
		names, places = append(names, o.said), append(places, o.path)
	}
	known := n.peers(names, places)
	out := make([]string, len(said))
	for i := range said {
		out[i] = known[slices.Index(once, owner{said[i], paths[i]})]
	}
	return out
}
