package bundle

import (
	"bufio"
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/bundle/gamelog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/tracediff"
)

// GameLogs are the games' own logs of several peers: infolog.txt, mainlog.html, Player.log.
type GameLogs struct {
	Peers []LogPeer
	// Compared are the entries that only some of them have before the split, nil if fewer than two peers left such a
	// log.
	Compared *document.GameLogs
	// Stated are the facts in them about the game and the machines, Facts the facts that two peers state.
	Stated, Facts []document.Fact
	// Lost lists the logs that could not be read.
	Lost []string
}

// LogPeer is a peer, and the logs that its game wrote.
type LogPeer struct {
	Name, Path string // of its folder or file
	Files      []document.GameLogFile
}

// maxLogLines is how many lines that differ are kept.
const maxLogLines = 200

// isGameLog reports whether a file is a game's own log: by its name, or by the lines of a logger that is known or
// described. A state, an order log or a trace is not one, whatever its name; a log that contains an engine's messages
// is.
func (f *File) isGameLog(head []byte, own *engine.Log) bool {
	if f.Size == 0 || f.pairs || f.table || f.isReport() || !gamelog.Text(head) {
		return false
	}
	if t := f.Format; t != nil && (t.Native || t.Log != nil || t.Snapshot != nil || t.Trace == nil) {
		return false
	}
	if f.Format != nil && f.Format.Trace.Read == nil {
		return true
	}
	return gamelog.Named(f.Path) || f.Format == nil && f.ext() == ".txt" && gamelog.Sniff(head, own)
}

// GameLogs reads the games' own logs, and compares them. Names are the peers' names by the paths of their folders or
// files, as far as known; at is where they diverged.
func (s *Session) GameLogs(names map[string]string, at gamelog.Split) *GameLogs {
	s.parted = at
	g := &GameLogs{}
	var peers []gamelog.Peer
	paths := map[*gamelog.Log]string{}
	for _, group := range s.logGroups(names) {
		p, files := gamelog.Peer{Name: group.name}, []document.GameLogFile{}
		for _, f := range group.files {
			log, err := s.readGameLog(f, at)
			if err != nil {
				g.Lost = append(g.Lost, fmt.Sprintf("%s: %v", f.Path, err))
			}
			if log != nil {
				p.Logs = append(p.Logs, log)
				paths[log] = f.Path
				files = append(files, document.GameLogFile{
					Peer: p.Name, File: f.Path, Logger: log.Logger, Lines: log.Lines, Warnings: log.Warnings, Errors: log.Worse, Split: log.Cut, Left: log.Left,
				})
			}
		}
		if len(p.Logs) > 0 {
			peers = append(peers, p)
			g.Peers = append(g.Peers, LogPeer{group.name, group.path, files})
		}
	}
	g.Stated = logFacts(peers, 1)
	if len(g.Peers) < 2 {
		return g
	}
	g.Compared = compareGameLogs(peers, at, paths)
	for _, p := range g.Peers {
		g.Compared.Files = append(g.Compared.Files, p.Files...)
	}
	g.Facts = logFacts(peers, 2)
	return g
}

// logFacts returns the facts that the logs of at least so many peers state.
func logFacts(peers []gamelog.Peer, least int) (facts []document.Fact) {
	for _, f := range gamelog.Facts(peers, least) {
		one := document.Fact{Name: f.Name, Must: MustMatch(f.Name), Values: f.Values}
		one.Same = !one.Differs()
		facts = append(facts, one)
	}
	return facts
}

// readGameLog reads a game's own log. Its first claim is known if the file was read for claims. A log that was read
// before is used again if another split would change nothing.
func (s *Session) readGameLog(f *File, at gamelog.Split) (*gamelog.Log, error) {
	opts := gamelog.Options{Split: at, Claim: f.firstClaim(), Own: s.gameLog}
	if f.gameLog != nil && f.gameLog.Serves(opts) {
		return f.gameLog, nil
	}
	file, err := s.tree.Open(f.Path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	content, err := formats.Content(bufio.NewReaderSize(file, 1<<16), f.Path)
	if err != nil {
		return nil, err
	}
	defer content.Close()
	log, err := gamelog.Read(content, filepath.Base(f.Path), opts)
	if err == nil {
		f.gameLog = log
	}
	return log, err
}

// firstClaim returns the line of the first claim of two peers that the program itself wrote, 0
// if none is known.
func (f *File) firstClaim() int64 {
	log := f.claims
	if f.opened != nil && f.opened.claims != nil {
		log = f.opened.claims
	}
	if log == nil {
		return 0
	}
	i := slices.IndexFunc(log.Claims, func(c tracediff.Claim) bool { return !c.Quoted && !c.SelfTest && c.Pos.Line > 0 })
	if i < 0 {
		return 0
	}
	return log.Claims[i].Pos.Line
}

// logGroup is the logs of one peer.
type logGroup struct {
	path, name string
	files      []*File
}

// logGroups groups the logs by peer, in the order of their paths.
func (s *Session) logGroups(names map[string]string) (groups []*logGroup) {
	byPath := map[string]*logGroup{}
	for _, f := range s.files {
		if !f.ownLog {
			continue
		}
		path := f.Path
		if p := f.place; p != nil && p.loose() == nil && (!p.shared || len(s.places) > 1) {
			path = p.path
		}
		if byPath[path] == nil {
			byPath[path] = &logGroup{path: path}
			groups = append(groups, byPath[path])
		}
		byPath[path].files = append(byPath[path].files, f)
	}
	lists.SortStable(groups, func(a, b *logGroup) int { return cmp.Compare(a.path, b.path) })
	known := map[string]bool{}
	for _, name := range names {
		known[name] = true
	}
	var said, paths []string
	for _, group := range groups {
		group.name = s.names.ownerOf(group, names, known)
		said, paths = append(said, group.name), append(paths, group.path)
	}
	joined := groups[:0]
	byName := map[string]*logGroup{}
	for i, name := range s.names.distinct(said, paths) {
		if first := byName[name]; first != nil {
			first.files = append(first.files, groups[i].files...)
			continue
		}
		groups[i].name, byName[name] = name, groups[i]
		joined = append(joined, groups[i])
	}
	return joined
}

// distinct gives a name to those that have none.
func (n *naming) distinct(said, paths []string) []string {
	out := slices.Clone(said)
	var free []string
	for i, name := range said {
		if name == "" {
			free = append(free, paths[i])
		}
	}
	given := n.peers(make([]string, len(free)), free)
	for i, name := range out {
		if name == "" {
			out[i], given = given[0], given[1:]
		}
	}
	return out
}

// ownerOf returns the peer of a group of logs, "" if it is not known: the peer that left the folder or its content, or
// the peer whose name is in the file's name.
func (n *naming) ownerOf(group *logGroup, names map[string]string, known map[string]bool) string {
	if name := names[group.path]; name != "" {
		return name
	}
	const slash = string(filepath.Separator)
	for _, fits := range []func(path string) bool{
		func(path string) bool { return strings.HasPrefix(path, group.path+slash) },
		func(path string) bool { return strings.HasPrefix(group.path, path+slash) },
	} {
		found := map[string]bool{}
		for path, name := range names {
			if fits(path) {
				found[name] = true
			}
		}
		if len(found) == 1 {
			for name := range found {
				return name
			}
		}
	}
	for _, f := range group.files {
		if f.claims != nil && known[f.claims.Peer] {
			return f.claims.Peer
		}
	}
	if group.path != group.files[0].Path {
		return ""
	}
	words := strings.FieldsFunc(strings.ToLower(filepath.Base(group.path)), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	found := ""
	for name := range known {
		if slices.ContainsFunc(words, func(word string) bool { return word == strings.ToLower(name) || n.called(word) == name }) {
			if found != "" {
				return ""
			}
			found = name
		}
	}
	if found != "" {
		return found
	}
	for _, word := range words {
		if word == "host" || word == "client" || word == "server" {
			return word
		}
	}
	return ""
}

// compareGameLogs writes what differs as a document.
func compareGameLogs(peers []gamelog.Peer, at gamelog.Split, paths map[*gamelog.Log]string) *document.GameLogs {
	doc := &document.GameLogs{Files: []document.GameLogFile{}, Lines: []document.GameLogLine{}}
	list := gamelog.Compare(peers, at)
	doc.Total = len(list)
	for _, d := range list[:min(len(list), maxLogLines)] {
		line := document.GameLogLine{
			Severity: d.Severity.String(), Text: d.Text, Data: d.Data, Lack: []string{}, TicksBefore: d.Ticks, LinesBefore: d.Lines,
			ToEnd: d.Have[0].Log.Cut > d.Have[0].Log.Lines,
		}
		for _, h := range d.Have {
			place := document.GameLogPlace{Peer: peers[h.Peer].Name, File: paths[h.Log], Count: h.Count, First: h.First, Last: h.Last}
			if h.HasTick {
				place.At = fmt.Sprintf("%s %d", h.Log.Unit, h.Tick)
			}
			line.Have = append(line.Have, place)
		}
		line.Lack = append(line.Lack, lists.Map(d.Lack, func(i int) string { return peers[i].Name })...)
		doc.Lines = append(doc.Lines, line)
	}
	return doc
}
