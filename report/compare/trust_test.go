package compare_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// The files of these tests are right in every checksum, and wrong in their content.

// stated is the content of a peer's snapshot of a point.
type stated struct {
	hp      uint64
	history byte
	extra   uint64         // of an additional table
	class   snapshot.Class // of that table; 0 is an archetype
	peer    string
}

func (s stated) world(tick uint64) *snapshot.World {
	column := func(component string, v uint64) []snapshot.Column {
		c := snapshot.NewColumn(component, "value", snapshot.U64, 0)
		c.AppendUint(v)
		return []snapshot.Column{c}
	}
	w := &snapshot.World{
		Head: snapshot.Head{Seed: 7, Point: snapshot.Point{Tick: tick}, Peer: s.peer, History: merkle.Hash{s.history}},
		Tables: []snapshot.Table{
			{Label: "Infantry", Keys: snapshot.Keys{A: []uint64{1}}, Columns: column("Health", s.hp)},
			{Label: "Loot", Class: s.class, Keys: snapshot.Keys{A: []uint64{1}}, Columns: column("Loot", s.extra)},
		},
	}
	w.Sort()
	return w
}

// snaps writes the states of a peer, one every 10 ticks, and returns its folder.
func snaps(t *testing.T, dir string, list ...stated) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	for i, s := range list {
		path := filepath.Join(dir, snapshot.Name(7, uint64(10*i)))
		if err := snapshot.WriteFile(path, s.world(uint64(10*i)), snapshot.WriteOptions{Plain: true}); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// forge changes a value in the only cell of a .snap that has it, under the digests that it had:
// the checksums of the cell and of the index that has it are made right again, by the layout that
// docs/snapshot.md gives.
func forge(t *testing.T, path string, old, value uint64) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	sum := func(b []byte) []byte {
		return binary.LittleEndian.AppendUint32(nil, crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))
	}
	cell := append([]byte{4, 0, 0, 0, 1, 0, 0, 0}, binary.LittleEndian.AppendUint64(nil, old)...)
	at := bytes.Index(b, cell[1:]) - 1
	if at < 0 || bytes.Count(b, cell[1:]) != 1 {
		t.Fatalf("%d cells with %d", bytes.Count(b, cell[1:]), old)
	}
	cell = b[at : at+16]
	crc := at + bytes.Index(b[at:], sum(cell))
	binary.LittleEndian.PutUint64(cell[8:], value)
	begin, end := 0, 0 // of the index
	for i := at + 16; i <= crc && end == 0; i++ {
		for k := crc + 4; k+4 <= len(b); k++ {
			if bytes.Equal(sum(b[i:k]), b[k:k+4]) {
				begin, end = i, k
				break
			}
		}
	}
	if crc < at || end == 0 {
		t.Fatal("no index")
	}
	copy(b[crc:], sum(cell))
	copy(b[end:], sum(b[begin:end]))
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

func trusted(t *testing.T, paths ...string) (*document.Report, *bisect.Result) {
	t.Helper()
	s, err := bundle.OpenPaths(paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := compare.Triage(s, compare.Builds{}, nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := bundle.OpenPaths(paths...)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	b, err := compare.Bisect(other, compare.Builds{}, compare.BisectOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := document.StatusOf(b); got != r.Status {
		t.Errorf("triage says %s, bisect %s", r.Status, got)
	}
	return r, b
}

// says are all texts of a report.
func says(r *document.Report) string {
	return strings.Join(slices.Concat(r.Verdict, r.Contradictions, r.Missing, r.Notes, r.Warnings), "\n")
}

// expect compares a status, and looks for texts.
func expect(t *testing.T, r *document.Report, status document.Status, texts ...string) {
	t.Helper()
	if r.Status != status {
		t.Errorf("%s, want %s: %s", r.Status, status, says(r))
	}
	for _, text := range texts {
		if !strings.Contains(says(r), text) {
			t.Errorf("%q is not said: %s", text, says(r))
		}
	}
}

// TestEqualHistoriesOverOtherStates: states that differ in the middle under histories that are
// equal throughout were once in sync, since a search by histories opens the two ends only.
func TestEqualHistoriesOverOtherStates(t *testing.T) {
	var host, client []stated
	for i := range 10 {
		s := stated{hp: 1, history: byte(i + 1), peer: "host"}
		host = append(host, s)
		if s.peer = "client"; i >= 3 && i <= 7 {
			s.hp = 2
		}
		client = append(client, s)
	}
	dir := t.TempDir()
	h, c := snaps(t, dir+"/host", host...), snaps(t, dir+"/client", client...)
	r, b := trusted(t, h, c)
	expect(t, r, document.Diverged, "equal, the state hashes are not", filepath.Join(h, snapshot.Name(7, 30)), filepath.Join(c, snapshot.Name(7, 30)), "4 state points more")
	d := r.FirstDivergence
	if d == nil || d.Bracket.Bad != 30 || d.Bracket.Good == nil || *d.Bracket.Good != 20 || d.Healed == nil || *d.Healed != 80 {
		t.Errorf("diverged at %+v", d)
	}
	if b.Pairs != 10 || b.Probes+b.Surveyed != 10 {
		t.Errorf("%d + %d of %d pairs opened", b.Probes, b.Surveyed, b.Pairs)
	}
}

// TestEarlierSplitUnderEqualHistories: an earlier split is not passed over for a later one that
// histories show.
func TestEarlierSplitUnderEqualHistories(t *testing.T) {
	var host, client []stated
	for i := range 30 {
		s := stated{hp: 1, history: byte(i + 1), peer: "host"}
		host = append(host, s)
		s.peer = "client"
		switch {
		case i == 3:
			s.hp = 2
		case i >= 25:
			s.hp, s.history = 2, s.history+100
		}
		client = append(client, s)
	}
	dir := t.TempDir()
	r, _ := trusted(t, snaps(t, dir+"/host", host...), snaps(t, dir+"/client", client...))
	expect(t, r, document.Diverged, "equal, the state hashes are not")
	if d := r.FirstDivergence; d == nil || d.Bracket.Bad != 30 {
		t.Errorf("diverged at %+v", d)
	}
}

// TestOnlyHistoriesDiffer: where every state is equal, a history that differs is one peer's word.
func TestOnlyHistoriesDiffer(t *testing.T) {
	var host, client []stated
	for i := range 10 {
		host = append(host, stated{hp: 1, history: byte(i + 1), peer: "host"})
		s := stated{hp: 1, history: byte(i + 1), peer: "client"}
		if i > 4 {
			s.history += 100
		}
		client = append(client, s)
	}
	dir := t.TempDir()
	r, b := trusted(t, snaps(t, dir+"/host", host...), snaps(t, dir+"/client", client...))
	expect(t, r, document.Diverged, "history hashes of host and client differ", "every state that both left is equal", "one of them recorded another past")
	if !b.OnlyHistories || !r.OnlyHistories {
		t.Error("it is not said that only histories show it")
	}
	for _, rung := range r.Ladder {
		if rung.Step == "bracket" && len(rung.RestsOn) == 0 {
			t.Error("the bracket does not say whose word it rests on")
		}
	}
}

// TestNoiseThatDiffers: noise that both declare is reported; noise that only one of them declares is a contradiction.
func TestNoiseThatDiffers(t *testing.T) {
	var host, client, honest []stated
	for i := range 6 {
		s := stated{hp: 1, history: byte(i + 1), peer: "host", class: snapshot.Noise}
		host = append(host, s)
		s.peer = "client"
		honest = append(honest, s)
		if i > 2 {
			s.extra = 9
		}
		client = append(client, s)
	}
	dir := t.TempDir()
	h := snaps(t, dir+"/host", host...)
	r, _ := trusted(t, h, snaps(t, dir+"/client", client...))
	expect(t, r, document.InSync, `"Loot" of`, "from state point 30 on, and not at 20", "declare it noise", "in what the files count as state", "Loot differs, which the files declare to be noise")
	r, _ = trusted(t, h, snaps(t, dir+"/honest/client", honest...))
	if expect(t, r, document.InSync); strings.Contains(says(r), "noise") {
		t.Error(says(r))
	}
	for i := range client {
		client[i].class, client[i].extra = snapshot.Cache, 0
	}
	r, _ = trusted(t, h, snaps(t, dir+"/cache/client", client...))
	expect(t, r, document.Inconclusive, `"Loot" is declared noise in`, "cache in", "5 state points more")
	for i := range client {
		client[i].class = snapshot.Archetype
	}
	r, _ = trusted(t, h, snaps(t, dir+"/state/client", client...))
	expect(t, r, document.Diverged, `"Loot" is declared`, "archetype in")
}

// TestPairsAreCounted: ten files that all hold one state point are one pair.
func TestPairsAreCounted(t *testing.T) {
	dir := t.TempDir()
	var paths []string
	for _, peer := range []string{"host", "client"} {
		at := snaps(t, filepath.Join(dir, peer), stated{hp: 1, peer: peer})
		b, err := os.ReadFile(filepath.Join(at, snapshot.Name(7, 0)))
		if err != nil {
			t.Fatal(err)
		}
		for i := range 10 {
			if err := os.WriteFile(filepath.Join(at, snapshot.Name(7, uint64(10*i))), b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		paths = append(paths, at)
	}
	_, b := trusted(t, paths...)
	if b.Pairs != 1 || b.Snapshots != 1 || b.Probes+b.Surveyed > b.Pairs {
		t.Errorf("%d + %d of %d pairs opened, %d points", b.Probes, b.Surveyed, b.Pairs, b.Snapshots)
	}
}

// TestContentAgainstDigests: states are read where an answer rests on them, and what contradicts its
// digests is damage, never a divergence.
func TestContentAgainstDigests(t *testing.T) {
	host := []stated{{hp: 11, history: 1, peer: "host"}, {hp: 12, history: 2, peer: "host"}, {hp: 13, history: 3, peer: "host"}, {hp: 14, history: 4, peer: "host"}}
	client := slices.Clone(host)
	for i := range client {
		client[i].peer = "client"
	}
	session := func(t *testing.T, host, client []stated) (h, c string) {
		dir := t.TempDir()
		return snaps(t, dir+"/host", host...), snaps(t, dir+"/client", client...)
	}
	file := func(dir string, tick uint64) string { return filepath.Join(dir, snapshot.Name(7, tick)) }
	t.Run("sane", func(t *testing.T) {
		r, b := trusted(t, both(session(t, host, client))...)
		expect(t, r, document.InSync)
		if got := fmt.Sprint(b.Content); got != "[0 30]" {
			t.Errorf("read whole at %s", got)
		}
	})
	t.Run("one end", func(t *testing.T) {
		h, c := session(t, host, client)
		forge(t, file(c, 30), 14, 99)
		r, b := trusted(t, h, c)
		expect(t, r, document.Inconclusive, file(c, 30)+": corrupt")
		if got := fmt.Sprint(b.Content); got != "[0 20]" {
			t.Errorf("read whole at %s", got)
		}
	})
	t.Run("in the middle of one side", func(t *testing.T) { // where only hashes are compared
		h, c := session(t, host, client)
		forge(t, file(c, 10), 12, 99)
		r, _ := trusted(t, h, c)
		expect(t, r, document.Inconclusive, file(c, 10)+": corrupt")
	})
	t.Run("both alike", func(t *testing.T) {
		h, c := session(t, host, client)
		forge(t, file(c, 30), 14, 99)
		forge(t, file(h, 30), 14, 99)
		r, _ := trusted(t, h, c)
		expect(t, r, document.Inconclusive, file(c, 30)+": corrupt", file(h, 30)+": corrupt")
	})
	t.Run("every state", func(t *testing.T) {
		h, c := session(t, host, client)
		for i := range uint64(4) {
			forge(t, file(c, 10*i), 11+i, 99)
		}
		r, _ := trusted(t, h, c)
		expect(t, r, document.Inconclusive, file(c, 0)+": corrupt")
		if r.FirstDivergence != nil {
			t.Error("diverged")
		}
	})
	t.Run("zeros after the header", func(t *testing.T) {
		h, c := session(t, host, client)
		for _, path := range []string{file(h, 30), file(c, 30)} {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			clear(b[32+binary.LittleEndian.Uint32(b[12:]):])
			if err := os.WriteFile(path, b, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		r, _ := trusted(t, h, c)
		expect(t, r, document.Inconclusive, file(h, 30))
	})
	t.Run("diverged by a forgery", func(t *testing.T) {
		// The last state of the client has digests of a state that it does not hold.
		parted := slices.Clone(client)
		parted[3].hp, parted[3].history = 77, 50
		h, c := session(t, host, parted)
		forge(t, file(c, 30), 77, 14)
		r, _ := trusted(t, h, c)
		expect(t, r, document.Inconclusive, file(c, 30)+": corrupt")
	})
	t.Run("more than are tried", func(t *testing.T) {
		var many, other []stated
		for i := range 40 {
			s := stated{hp: 1000 + uint64(i), history: byte(i + 1), peer: "host"}
			many = append(many, s)
			s.hp, s.history, s.peer = s.hp+5000, s.history+100, "client"
			other = append(other, s)
		}
		h, c := session(t, many, other)
		for i := range uint64(40) {
			forge(t, file(c, 10*i), 6000+i, 99)
		}
		r, _ := trusted(t, h, c)
		expect(t, r, document.Inconclusive, "no other pair is believed")
	})
}

func both(a, b string) []string { return []string{a, b} }

// TestOneWitness: files that name their peer and lie in the folders of two peers belong to one.
func TestOneWitness(t *testing.T) {
	list := func(peer string) (out []stated) {
		for i := range 4 {
			out = append(out, stated{hp: 1, history: byte(i + 1), peer: peer})
		}
		return out
	}
	dir := t.TempDir()
	host, again := snaps(t, dir+"/host", list("host")...), snaps(t, dir+"/eve", list("host")...)
	client, other := snaps(t, dir+"/client", list("client")...), snaps(t, dir+"/other/client", list("host")[:3]...)
	bundle := t.TempDir()
	snaps(t, bundle+"/host", list("host")...)
	snaps(t, bundle+"/eve", list("host")...)
	r, _ := trusted(t, bundle)
	expect(t, r, document.Inconclusive, "one witness", "the name of another peer's folder")
	r, _ = trusted(t, host, again) // two runs, named by the user
	expect(t, r, document.InSync, "the name of another peer's folder")
	if len(r.Warnings) != 2 || !strings.Contains(r.Warnings[0], "identical to the files of") {
		t.Errorf("%q", r.Warnings)
	}
	r, b := trusted(t, host, client, again)
	expect(t, r, document.Inconclusive, again+": left out")
	if len(b.Peers) != 2 {
		t.Errorf("%d peers", len(b.Peers))
	}
	r, _ = trusted(t, host, other) // another file: the name is said, and nothing follows
	expect(t, r, document.InSync, "the name of another peer's folder")
	nameless, too := snaps(t, dir+"/a", list("")...), snaps(t, dir+"/b", list("")...)
	r, _ = trusted(t, nameless, too) // peers in sync with files that name no peer are the same
	if expect(t, r, document.InSync); len(r.Missing)+len(r.Notes) > 0 {
		t.Error(says(r))
	}
}

// TestTracesBesideEqualStates: a trace that breaks off, or that differs, is not passed over since
// the states are equal.
func TestTracesBesideEqualStates(t *testing.T) {
	trace := func(peer string, ticks, wrong int, end bool) string {
		text := fmt.Sprintf("%%desynctool trace 1\n%%seed 7\n%%peer %q\n", peer)
		for tick := range ticks {
			sum := 1000 + tick
			if tick == wrong {
				sum++
			}
			text += fmt.Sprintf("tick=%d system=Move sum=0x%016x\n", tick, sum)
		}
		if end {
			text += "%end\n"
		}
		return text
	}
	// In tick 5 another system runs before Move or after it.
	aiming := func(peer, order string) string {
		const move = "tick=5 system=Move sum=0x00000000000003ed\n"
		return strings.Replace(trace(peer, 30, -1, true), move, strings.NewReplacer("A", "tick=5 system=Aim sum=0x0000000000000001\n", "M", move).Replace(order), 1)
	}
	for name, c := range map[string]struct {
		host, client string // "" for no trace
		status       document.Status
		say          string
	}{
		"whole":       {trace("host", 30, -1, true), trace("client", 30, -1, true), document.InSync, ""},
		"cut alike":   {trace("host", 15, -1, false), trace("client", 15, -1, false), document.Inconclusive, "no %end"},
		"one cut":     {trace("host", 30, -1, true), trace("client", 15, -1, false), document.Inconclusive, "no %end"},
		"one, cut":    {trace("host", 15, -1, false), "", document.Inconclusive, "no %end"},
		"one, whole":  {trace("host", 30, -1, true), "", document.InSync, ""},
		"differ":      {trace("host", 30, -1, true), trace("client", 30, 12, true), document.Diverged, "Only checksums differ"},
		"one order":   {aiming("host", "AM"), aiming("client", "AM"), document.InSync, ""},
		"two orders":  {aiming("host", "AM"), aiming("client", "MA"), document.Inconclusive, "the same checkpoints in another order"},
		"differ, cut": {trace("host", 30, -1, false), trace("client", 30, 12, false), document.Diverged, "no %end"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			var paths []string
			for _, peer := range []string{"host", "client"} {
				text := map[string]string{"host": c.host, "client": c.client}[peer]
				var list []stated
				for i := range 4 {
					list = append(list, stated{hp: 1, history: byte(i + 1), peer: peer})
				}
				paths = append(paths, snaps(t, filepath.Join(dir, peer), list...))
				if text == "" {
					continue
				}
				if err := os.WriteFile(filepath.Join(dir, peer, "checkpoints.trace"), []byte(text), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			r, _ := trusted(t, paths...)
			expect(t, r, c.status, c.say)
		})
	}
}
