package evidence

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
)

// maxWalk is how many levels of folders Examine looks into.
const maxWalk = 4

// Examine reads all evidence below some paths to its end and says what it is, what is
// wrong with it, what it covers on each peer, and what to ask the players for. It
// compares no states. Progress, if not nil, is called with the files that are read.
func Examine(tree *Tree, paths []string, progress func(done, total int64)) (*report.Checkup, error) {
	d := &doctor{tree: tree, list: formats.All()}
	for _, path := range paths {
		if err := d.collect(filepath.Clean(path)); err != nil {
			return nil, tree.Explain(err)
		}
	}
	for i := range d.found {
		at := &d.found[i]
		x := examine(tree, at.path, d.list)
		x.group = at.group
		if x.format != nil || len(x.Trouble) > 0 {
			d.files = append(d.files, x)
		}
		if progress != nil {
			progress(int64(i+1), int64(len(d.found)))
		}
	}
	if len(d.files) == 0 {
		return nil, tree.Explain(fmt.Errorf("%s: %d file(s), none of a known format; see desynctool formats", strings.Join(paths, ", "), len(d.found)))
	}
	d.assign()
	d.session()
	d.copies()
	d.cover()
	d.compareFacts()
	d.judge()
	return &d.checkup, nil
}

// doctor is a checkup in the making.
type doctor struct {
	tree  *Tree
	list  []formats.Format
	found []place
	files []*examined
	peers []*patient

	checkup report.Checkup
	needs   []need
}

type place struct{ path, group string }

// patient is one peer.
type patient struct {
	report.CheckedPeer
	files   []*examined
	points  map[uint64]bool
	first   bool // it has something of the start
	systems bool
}

// need is something to ask a player for.
type need struct{ peer, text string }

// collect lists the files below a path that was given. The files of one peer are those
// in a folder that holds evidence itself, or else those in each of its folders.
func (d *doctor) collect(path string) error {
	stat, err := d.tree.Stat(path)
	if err != nil {
		return err
	}
	if !stat.IsDir() {
		d.found = append(d.found, place{path, path})
		return nil
	}
	own, folders, err := d.inFolder(path)
	if err != nil {
		return err
	}
	group := ""
	for _, file := range own {
		if holdsPeer(d.tree, file, d.list) {
			group = path
			break
		}
	}
	for _, file := range own {
		d.found = append(d.found, place{file, group})
	}
	for _, folder := range folders {
		below := cmp.Or(group, folder)
		if err := d.walk(folder, below, 1); err != nil {
			return err
		}
	}
	return nil
}

func (d *doctor) walk(path, group string, depth int) error {
	own, folders, err := d.inFolder(path)
	if err != nil {
		return err
	}
	for _, file := range own {
		d.found = append(d.found, place{file, group})
	}
	for _, folder := range folders {
		if depth == maxWalk {
			d.checkup.Lost = append(d.checkup.Lost, fmt.Sprintf("%s: lies too deep, and was not looked into; name it", folder))
			continue
		}
		if err := d.walk(folder, group, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// inFolder returns the paths of what is in a folder, in order.
func (d *doctor) inFolder(path string) (own, folders []string, err error) {
	names, err := d.tree.Names(path)
	if err != nil {
		return nil, nil, err
	}
	slices.Sort(names)
	for _, name := range names {
		if name[0] == '.' {
			continue
		}
		at := filepath.Join(path, name)
		if stat, err := d.tree.Stat(at); err == nil && stat.IsDir() {
			folders = append(folders, at)
		} else {
			own = append(own, at)
		}
	}
	return own, folders, nil
}

// holdsPeer reports whether a file is evidence of one peer: a state, an order log, or a
// trace of ours.
func holdsPeer(tree files.Tree, path string, list []formats.Format) bool {
	head, err := headOf(tree, path)
	if err != nil {
		return false
	}
	for i := range list {
		if f := &list[i]; f.Sniff(head) {
			return f.Snapshot != nil || f.Log != nil && (f.Trace == nil || f.Trace.Peers == nil) || f.Native
		}
	}
	return expectedBy(path) != ""
}

// assign finds out whose each file is: by what it says, where the files of one folder
// say it of several, and else by its folder.
func (d *doctor) assign() {
	told := map[string]map[string]bool{} // the names in a group
	var groups []string
	for _, x := range d.files {
		if x.group == "" {
			continue
		}
		if told[x.group] == nil {
			told[x.group] = map[string]bool{}
			groups = append(groups, x.group)
		}
		if x.Peer != "" {
			told[x.group][x.Peer] = true
		}
		for name := range x.peers {
			if name != "" && x.format.Snapshot != nil {
				told[x.group][name] = true
			}
		}
	}
	// A folder with the files of one peer is that peer. Loose files, and those of folders
	// with several peers, belong to the peers that they name.
	var names, paths []string
	loose := map[string]bool{}
	for _, g := range groups {
		one := ""
		if len(told[g]) == 1 {
			one = slices.Collect(maps.Keys(told[g]))[0]
		}
		stat, err := d.tree.Stat(g)
		if len(told[g]) > 1 || one != "" && err == nil && !stat.IsDir() {
			loose[g] = true
			continue
		}
		names, paths = append(names, one), append(paths, g)
	}
	byGroup, byName := map[string]*patient{}, map[string]*patient{}
	add := func(name, path string) *patient {
		p := &patient{CheckedPeer: report.CheckedPeer{Name: name, Path: path}, points: map[uint64]bool{}}
		d.peers = append(d.peers, p)
		byName[name] = p
		return p
	}
	for i, name := range snapshot.PeerNames(names, paths) {
		byGroup[paths[i]] = add(name, paths[i])
	}
	for _, x := range d.files {
		if p := byGroup[x.group]; p != nil {
			x.Peer = p.Name
			p.files = append(p.files, x)
			continue
		}
		of := slices.Sorted(maps.Keys(x.peers))
		if x.Peer != "" && !slices.Contains(of, x.Peer) {
			of = append(of, x.Peer)
		}
		for _, name := range of {
			if name == "" {
				continue
			}
			p := byName[name]
			if p == nil && (loose[x.group] || len(byGroup) < 2) {
				p = add(name, cmp.Or(x.group, x.Path))
			}
			if p != nil {
				p.files = append(p.files, x)
			}
		}
	}
	slices.SortStableFunc(d.peers, func(a, b *patient) int { return cmp.Compare(a.Name, b.Name) })
}

// session finds the match that most of the evidence is of, and what is of another one.
func (d *doctor) session() {
	peersOf, filesOf := map[uint64]int{}, map[uint64]int{}
	for _, p := range d.peers {
		own := map[uint64]bool{}
		for _, x := range p.files {
			if x.seed != 0 {
				own[x.seed] = true
				filesOf[x.seed]++
			}
		}
		for seed := range own {
			peersOf[seed]++
		}
	}
	best := uint64(0)
	for _, seed := range slices.Sorted(maps.Keys(peersOf)) {
		if best == 0 || peersOf[seed] > peersOf[best] || peersOf[seed] == peersOf[best] && filesOf[seed] > filesOf[best] {
			best = seed
		}
	}
	matches := map[string]string{} // of each format, the first file's
	for _, x := range d.files {
		if x.seed != 0 && x.seed != best {
			x.trouble("stale", "of the match with seed %016x, the others are of %016x", x.seed, best)
		}
		if x.session == "" {
			continue
		}
		if first, seen := matches[x.Format]; !seen {
			matches[x.Format] = x.session
		} else if first != x.session {
			x.trouble("stale", "of match %s, the others are of %s", x.session, first)
		}
	}
}

// copies finds files of one peer that are the same, and peers whose files are.
func (d *doctor) copies() {
	type key struct {
		format string
		size   int64
	}
	alike := map[key][]*examined{}
	for _, x := range d.files {
		if x.format != nil && x.size > 0 {
			k := key{x.Format, x.size}
			alike[k] = append(alike[k], x)
		}
	}
	shared := map[[2]string]int{}
	for _, k := range slices.SortedFunc(maps.Keys(alike), func(a, b key) int {
		return cmp.Or(cmp.Compare(a.format, b.format), cmp.Compare(a.size, b.size))
	}) {
		if len(alike[k]) < 2 {
			continue
		}
		seen := map[[sha256.Size]byte]*examined{}
		for _, x := range alike[k] {
			sum, ok := digest(d.tree, x.Path)
			if !ok {
				continue
			}
			first := seen[sum]
			switch {
			case first == nil:
				seen[sum] = x
			case first.group == x.group && first.Peer == x.Peer:
				x.trouble("duplicate", "the same as %s", first.Path)
			case first.Peer == x.Peer:
				x.copied = true // games keep what other peers sent them
			case first.format.Native && first.format.Log != nil:
				shared[[2]string{first.Peer, x.Peer}]++
			}
		}
	}
	for _, pair := range slices.SortedFunc(maps.Keys(shared), func(a, b [2]string) int { return slices.Compare(a[:], b[:]) }) {
		d.lose("%s and %s: their order logs are the same file: one player's evidence was given twice", pair[0], pair[1])
		d.ask(pair[1], "your own files: what we have of you are copies of %s's", pair[0])
	}
}

func (d *doctor) lose(format string, args ...any) {
	d.checkup.Lost = append(d.checkup.Lost, fmt.Sprintf(format, args...))
}

func (d *doctor) ask(peer, format string, args ...any) {
	d.needs = append(d.needs, need{peer, fmt.Sprintf(format, args...)})
}

// usable reports whether what a file covers counts.
func (x *examined) usable() bool {
	return !x.copied && !slices.ContainsFunc(x.Trouble, func(t report.FileTrouble) bool { return t.Kind == "stale" || t.Kind == "duplicate" })
}

// cover adds up what the files of each peer cover.
func (d *doctor) cover() {
	for _, p := range d.peers {
		sums := map[string]*report.Coverage{}
		for _, x := range p.files {
			if !x.usable() {
				continue
			}
			own := x.peers[p.Name]
			if own == nil && x.Peer == p.Name {
				for name, c := range x.peers {
					if name == "" || len(x.peers) == 1 {
						own = append(own, c...)
					}
				}
			}
			for _, c := range own {
				sum := sums[c.What]
				if sum == nil {
					one := c
					sums[c.What] = &one
					continue
				}
				sum.First, sum.Last, sum.Count = min(sum.First, c.First), max(sum.Last, c.Last), sum.Count+c.Count
			}
			for _, point := range x.points {
				p.points[point] = true
			}
			p.first = p.first || x.start
			p.systems = p.systems || x.systems
		}
		for _, what := range []string{"states", "orders", "hashes", "checkpoints"} {
			if sum := sums[what]; sum != nil {
				p.Covers = append(p.Covers, *sum)
			}
		}
		d.checkup.Peers = append(d.checkup.Peers, p.CheckedPeer)
	}
}

// askedFor are the facts that should be known of any match, and other names of them.
var askedFor = [][]string{
	{"seed"}, {"start state"}, {"build", "version", "engine_version"}, {"tick rate"}, {"mods", "mod", "mod checksum"}, {"data hash", "data_hash", "data"},
	{"os"}, {"cpu", "arch"}, {"compiler"}, {"locale", "language", "lang"},
}

// compareFacts compares what the peers' files say of the game and of their machines.
func (d *doctor) compareFacts() {
	type known struct {
		must   bool
		values map[string][]string
	}
	all := map[string]*known{}
	say := func(peer string, f fact) {
		k := all[f.name]
		if k == nil {
			k = &known{f.must, map[string][]string{}}
			all[f.name] = k
		}
		if !slices.Contains(k.values[peer], f.value) {
			k.values[peer] = append(k.values[peer], f.value)
		}
	}
	for _, p := range d.peers {
		for _, x := range p.files {
			if !x.usable() && p.usable() {
				continue
			}
			if x.seed != 0 {
				say(p.Name, fact{name: "seed", value: fmt.Sprintf("%016x", x.seed), must: true})
			}
			for _, f := range x.facts {
				if f.peer == "" || f.peer == p.Name {
					say(p.Name, f)
				}
			}
		}
	}
	for _, names := range askedFor {
		if !slices.ContainsFunc(names, func(name string) bool { return all[name] != nil }) {
			d.checkup.Unknown = append(d.checkup.Unknown, names[0])
		}
	}
	order := []string{"game", "seed", "start state", "build", "tick rate"}
	rank := func(name string) int {
		if i := slices.Index(order, name); i >= 0 {
			return i
		}
		return len(order)
	}
	for _, name := range slices.SortedFunc(maps.Keys(all), func(a, b string) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), cmp.Compare(a, b))
	}) {
		k := all[name]
		f := report.Fact{Name: name, Must: k.must, Same: true, Values: map[string]string{}}
		first := ""
		for peer, values := range k.values {
			slices.Sort(values)
			f.Values[peer] = strings.Join(values, " and ")
			first = f.Values[peer]
		}
		for _, v := range f.Values {
			f.Same = f.Same && v == first
		}
		d.checkup.Facts = append(d.checkup.Facts, f)
	}
}

// judge says what can be narrowed, and what to ask for.
func (d *doctor) judge() {
	for _, x := range d.files {
		for _, t := range x.Trouble {
			stale := t.Kind == "stale"
			if t.Kind == "misnamed" || t.Kind == "duplicate" || stale && !slices.ContainsFunc(d.peers, func(p *patient) bool { return p.Name == x.Peer && !p.usable() }) {
				d.checkup.Warnings = append(d.checkup.Warnings, x.Path+": "+t.Text)
				continue
			}
			d.lose("%s: %s: %s", x.Path, t.Kind, t.Text)
			switch t.Kind {
			case "stale":
				d.ask(x.Peer, "your files of this match: those that we have are of another one")
			case "lacking": // it is all that there was
			case "empty", "truncated":
				d.ask(x.Peer, "%s once more: the one that we have is %s. Please close the game before you copy it", filepath.Base(x.Path), map[string]string{"empty": "empty", "truncated": "cut off"}[t.Kind])
			default:
				d.ask(x.Peer, "%s once more: the one that we have is damaged", filepath.Base(x.Path))
			}
		}
		d.checkup.Files = append(d.checkup.Files, x.CheckedFile)
	}
	d.checkup.Lost = append(d.checkup.Lost, d.tree.Lost()...)
	d.checkup.Warnings = append(d.checkup.Warnings, d.tree.Warnings()...)
	for _, l := range d.tree.Lost() {
		if strings.Contains(l, "encrypted") {
			d.ask("", "the archive without a password")
		} else {
			d.ask("", "the archive once more: a part of it could not be read")
		}
	}
	if len(d.peers) < 2 {
		who := "nobody"
		if len(d.peers) == 1 {
			who = d.peers[0].Name
		}
		d.lose("evidence of %d peer(s), at least 2 are needed", len(d.peers))
		d.ask("", "the same files from another player of that match, best of all the host: what we have is of %s alone", who)
	}
	d.narrowing()
	d.checkup.Ask = d.text()
}

// usable reports whether the peer left anything that counts.
func (p *patient) usable() bool { return slices.ContainsFunc(p.files, (*examined).usable) }

// with returns which peers have something of a kind, and those that lack it.
func (d *doctor) with(what string) (have []*patient, lack []string) {
	for _, p := range d.peers {
		if slices.ContainsFunc(p.Covers, func(c report.Coverage) bool { return c.What == what }) {
			have = append(have, p)
		} else {
			lack = append(lack, p.Name)
		}
	}
	return have, lack
}

// shared returns the most ticks of which two peers have something of a kind.
func shared(peers []*patient, what string) (first, last uint64, ok bool) {
	for i, p := range peers {
		for _, q := range peers[:i] {
			a, b := coverage(p, what), coverage(q, what)
			from, to := max(a.First, b.First), min(a.Last, b.Last)
			if from > to {
				continue
			}
			if !ok || to-from > last-first {
				first, last, ok = from, to, true
			}
		}
	}
	return first, last, ok
}

func coverage(p *patient, what string) report.Coverage {
	return p.Covers[slices.IndexFunc(p.Covers, func(c report.Coverage) bool { return c.What == what })]
}

// narrowing says which steps the evidence allows.
func (d *doctor) narrowing() {
	step := func(name string, can bool, format string, args ...any) {
		d.checkup.Steps = append(d.checkup.Steps, report.NarrowingStep{Step: name, Can: can, Why: fmt.Sprintf(format, args...)})
	}
	// overlap judges a kind of evidence of which two peers are needed.
	overlap := func(name, what, whatFor string) bool {
		have, lack := d.with(what)
		first, last, ok := shared(have, what)
		switch {
		case ok && len(lack) > 0:
			step(name, true, "%s of %d peers, ticks %d to %d in common; %s", what, len(have), first, last, lackText(lack))
		case ok:
			step(name, true, "%s of %d peers, ticks %d to %d in common", what, len(have), first, last)
		case len(have) > 1:
			step(name, false, "the %s of no two peers are of the same ticks", what)
		case len(have) == 1:
			step(name, false, "%s of %s alone; %s", what, have[0].Name, lackText(lack))
		default:
			step(name, false, "no %s of any peer%s", what, whatFor)
		}
		return ok
	}
	orders := overlap("inputs", "orders", "")
	counts := map[uint64]int{}
	for _, p := range d.peers {
		for point := range p.points {
			counts[point]++
		}
	}
	var common []uint64
	for _, point := range slices.Sorted(maps.Keys(counts)) {
		if counts[point] > 1 {
			common = append(common, point)
		}
	}
	have, lack := d.with("states")
	states := len(common) > 0
	if states {
		step("window", true, "states of %d state points that two peers or more have, %d to %d", len(common), common[0], common[len(common)-1])
	} else if len(have) > 1 {
		step("window", false, "the states of no two peers are of the same state point")
	} else {
		step("window", false, "states of %d peer(s)", len(have))
	}
	hashed, _ := d.with("hashes")
	_, _, hashes := shared(hashed, "hashes")
	traced, _ := d.with("checkpoints")
	_, _, checkpoints := shared(traced, "checkpoints")
	switch {
	case hashes:
		overlap("tick", "hashes", "")
	case checkpoints:
		overlap("tick", "checkpoints", "")
	case orders && slices.ContainsFunc(d.peers, func(p *patient) bool { return p.first }):
		step("tick", true, "by replaying the orders in a simulator (bisect --sim)")
	default:
		step("tick", false, "no hashes or checkpoints of the same ticks from two peers")
	}
	inside := 0
	for _, p := range traced {
		if p.systems {
			inside++
		}
	}
	switch {
	case inside > 1 && checkpoints:
		step("system", true, "traces of %d peers with checkpoints inside ticks", inside)
	case checkpoints:
		step("system", false, "the checkpoints are of whole ticks")
	default:
		step("system", false, "no traces of the same ticks from two peers; a simulator may replay the tick (bisect --sim --drill)")
	}
	step("values", states, "%s", map[bool]string{true: "states of the same state points", false: "no states of the same state point from two peers"}[states])

	if len(d.peers) > 1 {
		if !states && !hashes && !checkpoints {
			d.lose("nothing that can be compared: no states of the same state point, and no hashes or checkpoints of the same ticks, from two peers")
		}
		if len(have) == 1 {
			for _, peer := range lack {
				d.lose("%s: no states, which %s has", peer, have[0].Name)
				d.ask(peer, "the saved states (snapshots, savegames or desync dumps) of that match%s", d.near())
			}
		}
		if len(have) > 1 && !states {
			for _, p := range have[1:] {
				d.ask(p.Name, "the states that your game saved at the same moments as %s's: ticks %d to %d", have[0].Name, coverage(have[0], "states").First, coverage(have[0], "states").Last)
			}
		}
		if with, without := d.with("orders"); len(with) == 1 {
			for _, peer := range without {
				d.lose("%s: no order log, which %s has", peer, with[0].Name)
				d.ask(peer, "the order log or replay of that match")
			}
		}
		if with, without := d.with("checkpoints"); len(with) == 1 && !hashes {
			for _, peer := range without {
				d.lose("%s: no checksum trace, which %s has", peer, with[0].Name)
				d.ask(peer, "the checksum trace or sync log of that match")
			}
		}
	}
}

// near says for which ticks states are known.
func (d *doctor) near() string {
	have, _ := d.with("states")
	if len(have) == 0 {
		return ""
	}
	c := coverage(have[0], "states")
	return fmt.Sprintf(", ticks %d to %d if there are many", c.First, c.Last)
}

func lackText(lack []string) string {
	if len(lack) == 0 {
		return "there is no other peer"
	}
	return strings.Join(lack, ", ") + " left none"
}

// seed returns the seed of the match, as far as it is known.
func (d *doctor) match() string {
	for _, f := range d.checkup.Facts {
		if f.Name == "seed" && f.Same {
			for _, v := range f.Values {
				return " (seed " + v + ")"
			}
		}
	}
	return ""
}

// playersKnow are the facts that a player can tell where no file does.
var playersKnow = []struct{ fact, text string }{
	{"build", "the version of the game"}, {"mods", "your mods"}, {"os", "your operating system"},
	{"locale", "the language that it is set to"}, {"cpu", "your processor"},
}

// text returns what to send to the players.
func (d *doctor) text() string {
	if len(d.needs) == 0 {
		return ""
	}
	var out strings.Builder
	fmt.Fprintf(&out, "Hello! Your game went out of sync%s, and we are looking for the reason.\nThank you for what you sent. This is still missing:\n", d.match())
	byPeer := map[string][]string{}
	for _, n := range d.needs {
		if !slices.Contains(byPeer[n.peer], n.text) {
			byPeer[n.peer] = append(byPeer[n.peer], n.text)
		}
	}
	for _, peer := range slices.Sorted(maps.Keys(byPeer)) {
		if peer == "" {
			out.WriteString("\nFrom any of you:\n")
		} else {
			fmt.Fprintf(&out, "\nFrom %s:\n", peer)
		}
		for _, text := range byPeer[peer] {
			fmt.Fprintf(&out, "  - %s.\n", text)
		}
	}
	out.WriteString("\nPlease do not open or rename the files. Put those of one computer into one folder or\nzip archive without a password, and call it by the player's name.\n")
	var tell []string
	for _, q := range playersKnow {
		if slices.Contains(d.checkup.Unknown, q.fact) {
			tell = append(tell, q.text)
		}
	}
	if n := len(tell); n > 1 {
		tell = []string{strings.Join(tell[:n-1], ", ") + " and " + tell[n-1]}
	}
	if len(tell) > 0 {
		fmt.Fprintf(&out, "Please also tell us %s.\n", tell[0])
	}
	return out.String()
}
