package gamelog

import (
	"cmp"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/internal/lists"
)

// Peer is one peer, and the logs that its game wrote.
type Peer struct {
	Name string
	Logs []*Log
}

// Difference is an entry that is not the same on all peers.
type Difference struct {
	Severity     Severity
	Text         string
	Data, Desync bool
	// Have are the places before the split, the peers with most first; Lack are the numbers of the peers that do not
	// have it at all, in the order of the peers. If it is empty, some peers have it less often.
	Have []Place
	Lack []int
	// Unit is the unit of the ticks of Have, empty if no line before the entry has a tick.
	Unit string
	// Ticks is how many ticks before the split the entry occurs last, if known; Lines is the same in lines. The nearest
	// of all peers counts.
	Ticks *uint64
	Lines int64
}

// Place is where a peer's logs have an entry.
type Place struct {
	Peer int // its number
	Log  *Log
	Places
}

// Compare returns the entries that some peers have before the split and that others have less often or not at all,
// before or after it. Entries that others lack come first, then the entries nearest to the split. Only logs of one kind
// are compared; a log that breaks off early, or lacks its head, shows nothing about the ticks that it lacks.
func Compare(peers []Peer, split Split) []Difference {
	c := comparer{peers: peers, split: split, kinds: kindsOf(peers)}
	found := map[uint64]*Difference{}
	var order []uint64
	for i := range peers {
		for _, log := range peers[i].Logs {
			for _, e := range log.Entries {
				if e.Before.Count == 0 || e.Desync || found[e.key] != nil {
					continue
				}
				found[e.key] = &Difference{}
				if d := c.differing(e); d != nil {
					found[e.key] = d
					order = append(order, e.key)
				}
			}
		}
	}
	list := make([]Difference, 0, len(order))
	list = append(list, lists.Map(order, func(key uint64) Difference { return *found[key] })...)
	lists.SortStable(list, func(a, b Difference) int {
		return cmp.Or(-cmp.Compare(min(len(a.Lack), 1), min(len(b.Lack), 1)), nearer(a.Ticks, b.Ticks), cmp.Compare(a.Lines, b.Lines),
			-cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Text, b.Text))
	})
	return list
}

// nearer puts what is known in ticks first.
func nearer(a, b *uint64) int {
	switch {
	case a == nil && b == nil:
		return 0
	case a == nil:
		return 1
	case b == nil:
		return -1
	}
	return cmp.Compare(*a, *b)
}

type comparer struct {
	peers []Peer
	split Split
	kinds map[*Log]string
}

// differing returns how the entry occurs on all peers, nil if it does not differ.
func (c *comparer) differing(e *Entry) *Difference {
	d := &Difference{Severity: e.Severity, Text: e.Text, Data: e.Data, Lines: -1}
	var kinds []string // of the logs that have it
	most := int64(0)
	for i := range c.peers {
		place := Place{Peer: i}
		for _, log := range c.peers[i].Logs {
			if of := log.byKey[e.key]; of != nil && of.Before.Count > 0 {
				kinds = append(kinds, c.kinds[log])
				if of.Before.Count > place.Count || of.Before.Count == place.Count && log.Lines > place.Log.Lines { // of two equal ones, the longer one
					place.Log, place.Places = log, of.Before
				}
				c.near(d, log, &of.Before)
			}
		}
		if place.Count > 0 {
			d.Have = append(d.Have, place)
			most = max(most, place.Count)
		}
	}
	less := false
	for i := range c.peers {
		total, speaks := int64(0), false
		for _, log := range c.peers[i].Logs {
			total = max(total, log.keys[e.key])
			speaks = speaks || slices.Contains(kinds, c.kinds[log]) && !log.Full && log.covers(d.Have[0].Log, &d.Have[0].Places)
		}
		switch {
		case !speaks:
		case total == 0:
			d.Lack = append(d.Lack, i)
		case total < most:
			less = true
		}
	}
	if len(d.Lack) == 0 && !less {
		return nil
	}
	lists.SortStable(d.Have, func(a, b Place) int { return -cmp.Compare(a.Count, b.Count) })
	return d
}

// near notes how near to the split an entry comes.
func (c *comparer) near(d *Difference, log *Log, p *Places) {
	if lines := log.Cut - p.Last; d.Lines < 0 || lines < d.Lines {
		d.Lines = lines
	}
	if !p.HasTick {
		return
	}
	if d.Unit == "" {
		d.Unit = log.Unit
	}
	if c.split.in(log.Unit) && d.Unit == log.Unit {
		before := c.split.Number - min(c.split.Number, p.Tick)
		if d.Ticks == nil || before < *d.Ticks {
			d.Ticks = &before
		}
	}
}

// A log that has another tick this often is taken for a program's log of all ticks: once it has none for idle times the
// usual interval, it has ended. A log that begins with a tick within headless lines lacks the part before.
const (
	dense    = 50
	idle     = 10
	headless = 3
)

// covers reports whether a log has anything of the tick at which another has an entry.
func (l *Log) covers(other *Log, p *Places) bool {
	if !p.HasTick || l.Unit == "" || l.Unit != other.Unit {
		return true
	}
	if p.Tick < l.First {
		return l.begun > headless
	}
	return l.ticked < dense || p.Tick <= l.Last || (p.Tick-l.Last)/idle <= (l.Last-l.First)/uint64(l.ticked)
}

// kindsOf groups the logs that can be compared: logs of one logger, or logs with names that differ only in the peer.
func kindsOf(peers []Peer) map[*Log]string {
	kinds := map[*Log]string{}
	single := true
	for _, p := range peers {
		single = single && len(p.Logs) == 1 && p.Logs[0].Logger == ""
	}
	for _, p := range peers {
		for _, log := range p.Logs {
			switch {
			case log.Logger != "":
				kinds[log] = log.Logger
				if log.Relay {
					kinds[log] += " relay"
				}
			case single:
				kinds[log] = "log"
			default:
				kinds[log] = "log " + plainName(log.Name, p.Name)
			}
		}
	}
	return kinds
}

// plainName returns the letters of a file's name, without the letters that name the peer.
func plainName(name, peer string) string {
	text := strings.ToLower(filepath.Base(name))
	for _, who := range []string{strings.ToLower(filepath.Base(peer)), "host", "client", "server", "player", "peer"} {
		if who != "" && who != "." {
			text = strings.ReplaceAll(text, who, "")
		}
	}
	return strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' {
			return r
		}
		return -1
	}, text)
}

// FactValues is one fact as the logs of several peers state it.
type FactValues struct {
	Name   string
	Values map[string]string // by the peers' names
}

// Facts returns what the logs of at least so many peers state, each fact from logs of one kind, in the order of the
// names. For mods the values contain their number, and the mods that not all peers have.
func Facts(peers []Peer, least int) []FactValues {
	kinds := kindsOf(peers)
	type key struct{ kind, name string }
	all := map[key]map[string]string{}
	mods := map[string]map[string][]string{}
	for _, p := range peers {
		for _, log := range p.Logs {
			kind := kinds[log]
			for _, f := range log.Facts {
				k := key{kind, f.Name}
				if all[k] == nil {
					all[k] = map[string]string{}
				}
				if _, known := all[k][p.Name]; !known {
					all[k][p.Name] = f.Value
				}
			}
			if len(log.Mods) > 0 {
				if mods[kind] == nil {
					mods[kind] = map[string][]string{}
				}
				if len(mods[kind][p.Name]) == 0 {
					mods[kind][p.Name] = log.Mods
				}
			}
		}
	}
	for kind, lists := range mods {
		all[key{kind, "mods"}] = modValues(lists)
	}
	var keys []key
	for k, values := range all {
		if len(values) >= least {
			keys = append(keys, k)
		}
	}
	lists.SortStable(keys, func(a, b key) int {
		return cmp.Or(cmp.Compare(a.name, b.name), -cmp.Compare(len(all[a]), len(all[b])), cmp.Compare(a.kind, b.kind))
	})
	var list []FactValues
	for i, k := range keys {
		if i == 0 || keys[i-1].name != k.name {
			list = append(list, FactValues{k.name, all[k]})
		}
	}
	return list
}

// shownMods is how many mods that not all peers have are named.
const shownMods = 6

// modValues describes how lists of mods differ.
func modValues(lists map[string][]string) map[string]string {
	count := map[string]int{}
	for _, list := range lists {
		for _, name := range list {
			count[name]++
		}
	}
	values := map[string]string{}
	for most := shownMods; ; most = maxMods {
		for peer, list := range lists {
			values[peer] = modText(list, most, func(name string) bool { return count[name] < len(lists) })
		}
		if most == maxMods || apart(lists, values) {
			return values
		}
	}
}

// modText lists mods if they are few, else those that not all peers have.
func modText(list []string, most int, rare func(name string) bool) string {
	if len(list) <= most {
		return strings.Join(list, ", ")
	}
	own := lists.Where(list, rare)
	text := fmt.Sprintf("%d mods", len(list))
	if len(own) > 0 {
		text += ", of them not on all peers: " + strings.Join(own[:min(len(own), most)], ", ")
	}
	if n := len(own) - most; n > 0 {
		text += fmt.Sprintf(" and %d more", n)
	}
	return text
}

// apart reports whether lists that differ have texts that differ.
func apart(lists map[string][]string, texts map[string]string) bool {
	for a := range lists {
		for b := range lists {
			if texts[a] == texts[b] && !slices.Equal(lists[a], lists[b]) {
				return false
			}
		}
	}
	return true
}
