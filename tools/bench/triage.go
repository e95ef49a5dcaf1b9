//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/tools/internal/try"
)

// triage measures what an engineer waits for: the report about a session of an hour, of a quarter of an hour, and with
// eight peers.
func (b *bench) triage() {
	const hour = 54_000
	for _, s := range []struct {
		what         string
		ticks, peers int
		goal         string
	}{
		{"an hour of game, two peers", hour, 2, "≤ 1 s, ≤ 256 MiB"},
		{"a quarter of it, two peers", hour / 4, 2, ""},
		{"an hour of game, eight peers", hour, 8, "≤ 3 s"},
	} {
		if b.quick {
			s.ticks /= 20
		}
		dir := filepath.Join(b.dir, "session")
		b.record(dir, uint64(s.ticks), s.peers)
		what := fmt.Sprintf("%s (%d ticks)", s.what, s.ticks)
		b.report(what, s.goal, dir)
		try.Check(os.RemoveAll(dir))
	}
}

// record plays a session in which one peer diverges in the middle.
func (b *bench) record(dir string, ticks uint64, peers int) {
	o := session.Options{Config: refsim.Config{Seed: 7, Entities: 5000}, Ticks: ticks, SnapshotEvery: 300, Peers: []string{"host", "client"}}
	for i := 2; i < peers; i++ {
		o.Peers = append(o.Peers, fmt.Sprintf("client%d", i))
	}
	f := try.Get(session.ParseFault(fmt.Sprintf("map-order@%d:client", ticks/2)))
	o.Faults = []session.Fault{f}
	try.Get(session.RecordTo(dir, o, session.TraceSystem))
}

// report prints how long the triage of a session takes, and how much of the session is read.
func (b *bench) report(what, goal, dir string) {
	var times []float64
	var most int64
	for range b.rounds {
		var rss int64
		s := timed(func() { rss = process(b.tool, "triage", dir) })
		times, most = append(times, s), max(most, rss)
	}
	tree := try.Get(archive.Open([]string{dir}, archive.Options{Count: true}))
	defer tree.Close()
	s := try.Get(bundle.Open(tree, []string{dir}))
	try.Get(compare.Triage(s, compare.Builds{}, nil))
	u := tree.Usage([]string{dir})
	fmt.Printf("| triage of %s, of %d MiB read %.0f %%, peak memory %d MiB | %s | | | %s |\n",
		what, u.Given>>20, 100*float64(u.Read)/float64(u.Given), most>>20, seconds(median(times)), goal)
}
