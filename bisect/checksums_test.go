package bisect

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/tracediff"
)

// checksums compares two traces of ticks 0 to last; the second differs from tick from to tick to.
func checksums(t *testing.T, last, from, to int, claims ...tracediff.Claim) *tracediff.Result {
	t.Helper()
	var text [2]strings.Builder
	for i := range last + 1 {
		for side := range text {
			value := 0x1000 + i
			if side == 1 && i >= from && i <= to {
				value = 0xffff
			}
			fmt.Fprintf(&text[side], "tick=%d sum=%08x\n", i, value)
		}
	}
	var list []*tracediff.Trace
	for i := range text {
		found, err := tracediff.Read(strings.NewReader(text[i].String()), fmt.Sprint("peer", i), tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, found...)
	}
	opts := tracediff.Options{Context: -1}
	if claims != nil {
		opts.Claims = []*tracediff.ClaimLog{{Claims: claims}}
	}
	r, err := tracediff.Compare(list, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestFourVerdicts: states and checksums can each differ or not.
func TestFourVerdicts(t *testing.T) {
	same := []*state{{value: 1}, {value: 2}, {value: 3}}  // points 0, 100, 200
	other := []*state{{value: 1}, {value: 2}, {value: 9}} // parts in (100, 200]
	none := 1 << 30
	named := func(r *tracediff.Result, names ...string) *tracediff.Result {
		for i := range r.Traces {
			r.Traces[i].Name = names[i]
		}
		return r
	}
	framed := func(r *tracediff.Result) *tracediff.Result {
		r.Traces[0].Dialect = tracediff.Dialect{Engine: "a game", TickName: func(n uint64) string { return fmt.Sprint("frame ", n) }}
		return r
	}
	for _, c := range []struct {
		what     string
		b        []*state
		traces   *tracediff.Result
		kind     Kind
		diverged bool
		note     string
	}{
		{"both agree", same, checksums(t, 300, none, none), "", false, ""},
		{"both differ", other, checksums(t, 300, 150, 300), StateDiffers, true, ""},
		{"blind", other, checksums(t, 300, none, none), BlindChecksum, true, "every recorded checksum agrees, up to tick 300"},
		{"blind, by frames", other, framed(checksums(t, 300, none, none)), BlindChecksum, true, "every recorded checksum agrees, up to frame 300"},
		{"only the checksum", same, checksums(t, 300, 150, 300), ChecksumOnly, true, "equal at all 3 state points"},
		{"of one of them and a third peer", other, named(checksums(t, 300, none, none), "host", "guest"), StateDiffers, true, ""},
		{"a self-test passes", other, named(checksums(t, 300, none, none), tracediff.FirstRun, tracediff.SecondRun), StateDiffers, true, ""},
		{"a self-test fails before", other, named(checksums(t, 300, 20, 300), tracediff.FirstRun, tracediff.SecondRun), StateDiffers, true, ""},
		{"only a self-test fails", same, named(checksums(t, 300, 20, 300), tracediff.FirstRun, tracediff.SecondRun), StateDiffers, true, ""},
		{"too short to show it", other, checksums(t, 120, none, none), StateDiffers, true, "end with tick 120, before they could show it"},
	} {
		dirs := peersOf(t, t.TempDir(), same, c.b)
		r := run1(t, dirs, Options{Traces: []*tracediff.Result{c.traces}})
		if r.Kind != c.kind || r.Diverged() != c.diverged || len(r.Contradictions) > 0 {
			t.Errorf("%s: kind %q, diverged %v, %q", c.what, r.Kind, r.Diverged(), r.Contradictions)
		}
		if c.note != "" && !slices.ContainsFunc(r.Notes, func(s string) bool { return strings.Contains(s, c.note) }) {
			t.Errorf("%s: notes %q", c.what, r.Notes)
		}
	}
}

// TestChecksumsBeforeTheStates: checksums that differ and go on differing where the
// states are still equal contradict them.
func TestChecksumsBeforeTheStates(t *testing.T) {
	same, other := []*state{{value: 1}, {value: 2}, {value: 3}}, []*state{{value: 1}, {value: 2}, {value: 9}}
	dirs := peersOf(t, t.TempDir(), same, other)
	for _, to := range []int{110, 300} {
		r := run1(t, dirs, Options{Traces: []*tracediff.Result{checksums(t, 300, 20, to)}})
		if len(r.Contradictions) != 1 || !strings.Contains(r.Contradictions[0], "differ from tick 20 on, the states are still equal at 100") {
			t.Errorf("to %d: %q", to, r.Contradictions)
		}
	}
	// What has healed by then contradicts nothing, and a running checksum that is
	// tainted only hints at something.
	r := run1(t, dirs, Options{Traces: []*tracediff.Result{checksums(t, 300, 20, 90)}})
	if len(r.Contradictions) != 0 {
		t.Errorf("%q", r.Contradictions)
	}
	running := checksums(t, 300, 20, 300)
	for i := range running.Traces {
		running.Traces[i].Dialect = tracediff.Dialect{Engine: "Spring", Reset: 4096}
	}
	r = run1(t, dirs, Options{Traces: []*tracediff.Result{running}})
	if len(r.Contradictions) != 0 || !slices.ContainsFunc(r.Notes, func(s string) bool { return strings.Contains(s, "healed, or writes in another order") }) {
		t.Errorf("%q %q", r.Contradictions, r.Notes)
	}
}

// TestChecksumsBetweenTheStates: checksums of whole states that differ between two states narrow the bracket to a tick;
// checksums of less do not.
func TestChecksumsBetweenTheStates(t *testing.T) {
	same, other := []*state{{value: 1}, {value: 2}, {value: 3}}, []*state{{value: 1}, {value: 2}, {value: 9}}
	dirs := peersOf(t, t.TempDir(), same, other)
	for _, c := range []struct {
		what      string
		d         tracediff.Dialect
		from      int
		good, bad uint64
		by        Source
		names     []string
	}{
		{"whole states", tracediff.Dialect{}, 150, 150, 151, BySnapshotsAndSums, nil},
		{"by name", tracediff.Dialect{}, 150, 150, 151, BySnapshotsAndSums, []string{"client", "host"}},
		{"of a third peer", tracediff.Dialect{}, 150, 100, 200, BySnapshots, []string{"host", "other"}},
		{"a part of them", tracediff.Dialect{Covers: "not health"}, 150, 100, 200, BySnapshots, nil},
		{"all until then", tracediff.Dialect{Cumulative: true}, 150, 100, 200, BySnapshots, nil},
		{"before both states", tracediff.Dialect{}, 20, 100, 200, BySnapshots, nil},
		{"after both states", tracediff.Dialect{}, 220, 100, 200, BySnapshots, nil},
	} {
		sums := checksums(t, 300, c.from, 300)
		for i := range sums.Traces {
			if c.names != nil {
				sums.Traces[i].Name = c.names[i]
			}
			c.d.Engine = "some game"
			sums.Traces[i].Dialect = c.d
		}
		r := run1(t, dirs, Options{Traces: []*tracediff.Result{sums}})
		if b := r.Bracket; b == nil || b.Good == nil || b.Good.Tick != c.good || b.Bad.Tick != c.bad || b.By != c.by || r.Exact != (c.bad == c.good+1) {
			t.Errorf("%s: %+v", c.what, b)
		}
	}
}

// TestClaimsBesideStates: where no trace has its tick, a claim is judged by the
// states.
func TestClaimsBesideStates(t *testing.T) {
	same, other := []*state{{value: 1}, {value: 2}, {value: 3}}, []*state{{value: 1}, {value: 2}, {value: 9}}
	dirs := peersOf(t, t.TempDir(), same, other)
	claim := func(tick uint64) tracediff.Claim {
		return tracediff.Claim{Text: fmt.Sprint("desync in ", tick), Tick: tick, HasTick: true}
	}
	traces, err := tracediff.Compare(nil, tracediff.Options{Claims: []*tracediff.ClaimLog{{Claims: []tracediff.Claim{claim(50), claim(150), claim(250)}}}})
	if err != nil {
		t.Fatal(err)
	}
	r := run1(t, dirs, Options{Traces: []*tracediff.Result{traces}})
	var got []tracediff.Standing
	for _, c := range r.Traces[0].Claims {
		got = append(got, c.Standing)
	}
	if want := []tracediff.Standing{tracediff.Contradicted, tracediff.Unchecked, tracediff.Late}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestTracesAlone: without states the traces give the bracket.
func TestTracesAlone(t *testing.T) {
	r := RunTraces([]*tracediff.Result{checksums(t, 300, 150, 300)})
	if b := r.Bracket; b == nil || b.Good == nil || b.Good.Tick != 150 || b.Bad.Tick != 151 || !r.Exact || r.Tick != 150 || len(r.Groups) != 2 || r.Kind != StateDiffers {
		t.Errorf("%+v %+v", r, r.Bracket)
	}
	claim := tracediff.Claim{Text: "desync", Tick: 320, HasTick: true, Values: []tracediff.ClaimedValue{{Peer: "a", Value: "1"}, {Peer: "b", Value: "2"}}}
	r = RunTraces([]*tracediff.Result{checksums(t, 300, 1<<30, 1<<30, claim)})
	if b := r.Bracket; b == nil || b.By != ByClaim || b.Good == nil || b.Good.Tick != 301 || b.Bad.Tick != 321 {
		t.Errorf("%+v %+v", r, r.Bracket)
	}
	if r := RunTraces([]*tracediff.Result{checksums(t, 300, 1<<30, 1<<30)}); r.Diverged() {
		t.Errorf("%+v", r)
	}
}
