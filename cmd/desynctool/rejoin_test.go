package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// TestRejoins plays sessions in which a peer is away and comes back, and compares the output of the commands with the
// comparison of the sims. The client is away in ticks 120 to 159.
func TestRejoins(t *testing.T) {
	effort.Whole(t)
	for n, c := range []struct {
		name   string
		flags  []string
		faults []string
	}{
		{"clean", []string{"--rejoin", "client@120+40"}, nil},
		{"twice", []string{"--rejoin", "client@60+1", "--rejoin", "client@120+40"}, nil},
		{"joins late", []string{"--join", "client@120"}, nil},
		{"before", []string{"--rejoin", "client@120+40"}, []string{"bit-flip@%d:client", "rng-leak@%d:host", "order-dropped@%d:client"}},
		{"at the edge", []string{"--rejoin", "client@120+40"}, []string{"rng-leak@11%d:client"}},
		{"meanwhile", []string{"--rejoin", "client@120+40"}, []string{"bit-flip@1%d:host", "rng-leak@1%d:host", "float-fma@1%d:client"}},
		{"after", []string{"--rejoin", "client@120+40"}, []string{"bit-flip@2%d:client", "order-dropped@2%d:client", "rng-leak@2%d:host"}},
		{"bad load", []string{"--rejoin", "client@120+40"}, []string{"save-omits-field@1%d:client", "save-omits-field@160:client"}},
		{"bad join", []string{"--join", "client@120"}, []string{"save-omits-field@100:client"}},
	} {
		if n%effort.Of(2, 1) != 0 || !effort.Turn(n, 6) {
			continue
		}
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			for seed := range effort.Of(1, 8) {
				flags := append([]string{"--seed", fmt.Sprint(seed + 1)}, c.flags...)
				if len(c.faults) > 0 {
					fault := c.faults[seed%len(c.faults)]
					if strings.Contains(fault, "%d") {
						n := 30 + seed*7%29 // two digits
						if strings.Contains(fault, "@11%") {
							n = 5 + seed%5 // the last ticks before
						}
						fault = fmt.Sprintf(fault, n)
					}
					flags = append(flags, "--fault", fault)
				}
				for _, lean := range effort.Of([]bool{n%4 == 0}, []bool{false, true}) {
					rejoined(t, flags, lean)
				}
			}
		})
	}
}

// rejoined plays a session and compares all commands with its truth. A lean session has no snapshots except at the
// start.
func rejoined(t *testing.T, flags []string, lean bool) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "s")
	desynctool(t, 0, nil, append([]string{"record", "-o", dir, "--entities", "250", "--ticks", "300", "--snapshot-every", "50"}, flags...)...)
	if lean {
		snaps, err := filepath.Glob(filepath.Join(dir, "*", "*.snap"))
		if err != nil || len(snaps) == 0 {
			t.Fatal(err)
		}
		for _, path := range snaps {
			if !strings.HasSuffix(path, "_0000000000.snap") {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	r := &rejoin{t: t, dir: dir, what: fmt.Sprintf("%v, lean %t", flags, lean), truth: readTruth(t, dir)}
	r.bisect()
	r.bisect("--sim", "builtin", "--drill")
	r.traces()
	for _, peer := range []string{"host", "client"} {
		r.replay(peer)
		r.replay(peer, "--from-each-snapshot")
	}
}

type rejoin struct {
	t     *testing.T
	dir   string
	what  string
	truth truth
}

// run runs a command, checks that its exit status is one of the given ones, and decodes its JSON.
func (r *rejoin) run(document any, want []int, args ...string) (status int, stderr string) {
	r.t.Helper()
	var out, errs bytes.Buffer
	status = run(args, strings.NewReader(""), &out, &errs)
	if !slices.Contains(want, status) {
		r.t.Fatalf("%s: %q: exit status %d, want one of %v\n%s%s", r.what, args, status, want, &out, &errs)
	}
	if status != 2 && document != nil {
		if err := json.Unmarshal(out.Bytes(), document); err != nil {
			r.t.Fatalf("%q: %v", args, err)
		}
	}
	return status, errs.String()
}

// inSync are the statuses of a session in which nothing diverged.
var inSync = []int{0, 3}

func (r *rejoin) statuses() []int {
	if r.truth.Bracket == nil {
		return inSync
	}
	return []int{1}
}

func (r *rejoin) bisect(flags ...string) {
	r.t.Helper()
	var d bisectJSON
	r.run(&d, r.statuses(), append([]string{"bisect", r.dir, "--format", "json"}, flags...)...)
	if len(d.Contradictions) > 0 {
		r.t.Errorf("%s: bisect %v: %q", r.what, flags, d.Contradictions)
	}
	want := r.truth.Bracket
	if want == nil {
		return
	}
	b := d.Bracket
	if b.Bad != want.Bad || want.Good != nil && (b.Good == nil || *b.Good > *want.Good) {
		r.t.Fatalf("%s: bisect %v: (%v,%d], the truth is (%v,%d]", r.what, flags, b.Good, b.Bad, want.Good, want.Bad)
	}
	loaded := r.truth.LoadedAt != nil
	switch {
	case loaded != (d.Loaded != nil) || loaded && d.Loaded.Peer != r.truth.Peer:
		r.t.Errorf("%s: bisect %v: loaded %v, want %v by %s", r.what, flags, d.Loaded, r.truth.LoadedAt, r.truth.Peer)
	case loaded == d.Exact:
		r.t.Errorf("%s: bisect %v: exact %t", r.what, flags, d.Exact)
	case d.Exact && *d.Tick != want.Bad-1:
		r.t.Errorf("%s: bisect %v: tick %d, want %d", r.what, flags, *d.Tick, want.Bad-1)
	}
	if len(flags) == 0 {
		return
	}
	if d.Replay == nil {
		r.t.Errorf("%s: no replay: %q", r.what, d.Missing)
		return
	}
	network := strings.HasPrefix(r.truth.Fault, "order-")
	for _, p := range d.Replay.Peers {
		wrong := p.Name == r.truth.Peer && !network
		if wrong != (p.Departs != nil) {
			r.t.Errorf("%s: %s departs at %v, wrong is %s", r.what, p.Name, p.Departs, r.truth.Peer)
		}
		if p.Departs != nil && *p.Departs != want.Bad && !r.meanwhile(*p.Departs) {
			r.t.Errorf("%s: %s departs at %d, want %d", r.what, p.Name, *p.Departs, want.Bad)
		}
	}
}

// meanwhile reports whether the host departed from what is right at a point when nobody was
// there to part from.
func (r *rejoin) meanwhile(point uint64) bool {
	return r.truth.Peer == "host" && r.truth.From < point && point > 120 && point <= 160
}

func (r *rejoin) traces() {
	r.t.Helper()
	var d struct {
		First *struct{ Tick uint64 }
	}
	r.run(&d, r.statuses(), "tracediff", r.dir, "--format", "json")
	if b := r.truth.Bracket; b != nil {
		tick := b.Bad - 1
		if r.truth.LoadedAt != nil {
			tick = b.Bad // the first that is traced after it
		}
		if d.First == nil || d.First.Tick != tick {
			r.t.Errorf("%s: tracediff: %+v, want tick %d", r.what, d.First, tick)
		}
	}
}

// replay compares a peer with its orders. What is wrong with its simulation shows, from the tick on in which it went
// wrong.
func (r *rejoin) replay(peer string, flags ...string) {
	r.t.Helper()
	want := inSync
	healthy := r.truth.Peer != peer || strings.HasPrefix(r.truth.Fault, "order-") || r.truth.LoadedAt != nil
	if !healthy {
		want = []int{0, 1, 3}
	}
	var d struct {
		First   *struct{ Point uint64 } `json:"first_mismatch"`
		Tick    *uint64
		Missing []string
	}
	args := append([]string{"replay", filepath.Join(r.dir, peer), "--format", "json"}, flags...)
	status, stderr := r.run(&d, append(slices.Clone(want), 2), args...)
	switch b := r.truth.Bracket; {
	case status == 2 && !strings.Contains(stderr, "no snapshots between") && !strings.Contains(stderr, "without a snapshot of it"):
		r.t.Errorf("%s: %q: %s", r.what, args, stderr)
	case status == 3 && !slices.ContainsFunc(d.Missing, func(s string) bool { return strings.Contains(s, "judged") }):
		r.t.Errorf("%s: %q is inconclusive: %q", r.what, args, d.Missing)
	case d.Tick != nil && b != nil && len(flags) == 0 && *d.Tick != b.Bad-1 && !r.meanwhile(*d.Tick+1):
		r.t.Errorf("%s: %q: tick %d, want %d", r.what, args, *d.Tick, b.Bad-1)
	}
}
