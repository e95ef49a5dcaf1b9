package bundle

import (
	"cmp"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/verdict"
	"github.com/desynctool/desynctool/report/words"
)

// maxAsked is how many peers that only messages name are asked by name.
const maxAsked = 16

// lone reports what is missing if there is evidence of fewer than two peers, and asks the peers that the games' own
// messages name for it.
func (d *doctor) lone() {
	names := map[string]string{}
	for _, x := range d.files {
		names[x.Path] = x.Peer
	}
	accounts := d.s.Accounts(names)
	w := verdict.Hear(accounts)
	if w == nil {
		d.lonely(len(d.peers))
		return
	}
	if w.Runs() { // both sides come from one machine, and no other peer is asked
		for _, p := range w.Peers() {
			if !slices.ContainsFunc(d.peers, func(q *patient) bool { return q.Name == p.Name }) {
				path, covers := d.told(w, "")
				d.checkup.Peers = append(d.checkup.Peers, document.CheckedPeer{Name: p.Name, Path: path, Covers: covers})
			}
		}
		return
	}
	if w.Claim.Told {
		d.lose("a text that a person wrote: evidence of two peers is needed")
		d.ask("", "the log of the game of that match, from you and from another player, best of all the host")
		d.ask("", "saves or dumps of the state of that match, from the same players")
		return
	}
	count := len(d.peers)
	for _, p := range w.Peers() {
		if slices.ContainsFunc(d.peers, func(q *patient) bool { return q.Name == p.Name }) {
			continue
		}
		c := document.CheckedPeer{Name: p.Name, Mentioned: p.Mentioned}
		if !p.Mentioned {
			count++
			c.Path, c.Covers = d.told(w, p.Name)
		}
		d.checkup.Peers = append(d.checkup.Peers, c)
	}
	absent := w.Absent()
	if len(absent) == 0 {
		if count < 2 {
			d.lonely(count)
		}
		return
	}
	d.lose("%s: only messages name these peers", words.Need(verdict.Need{What: verdict.PeerFiles, Of: prose.Names(absent)}))
	leaves, _ := d.s.Leaves(w.Engine)
	for i, name := range absent {
		if i == maxAsked {
			d.ask("", "the same files from %d more players of that match", len(absent)-i)
			break
		}
		if len(leaves) == 0 {
			d.ask(name, "the log of the game, of that match")
		}
		for _, file := range leaves {
			d.ask(name, "%s, of that match", file)
		}
	}
}

// told returns the first file with messages of a peer, and the coverage of the messages in all its files.
func (d *doctor) told(w *verdict.Word, peer string) (path string, covers []document.Coverage) {
	sum := span{}
	for _, log := range w.Logs {
		if log.Peer != peer {
			continue
		}
		path = cmp.Or(path, log.File)
		for _, x := range d.files {
			for _, c := range x.Covers {
				if x.Path == log.File && c.What == "claims" {
					if sum.count == 0 || c.First < sum.first {
						sum.first = c.First
					}
					sum.last, sum.count = max(sum.last, c.Last), sum.count+c.Count
				}
			}
		}
	}
	if sum.count > 0 {
		covers = append(covers, sum.as("claims"))
	}
	return path, covers
}

// lonely asks any other player for the same files.
func (d *doctor) lonely(peers int) {
	known := ", best of all the host"
	if len(d.peers) == 1 {
		name := d.peers[0].Name
		if strings.Contains(name, "host") || strings.Contains(name, "server") {
			known = ""
		}
		known += ": we have only the files of " + prose.Name(name)
	}
	d.lose("evidence of %s, at least 2 are needed", prose.Count(peers, "peer", "peers"))
	d.ask("", "the same files from another player of that match%s", known)
}
