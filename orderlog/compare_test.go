package orderlog_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/frame"
	. "github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

var compareKinds = []OrderKind{{Name: "move"}, {Name: "build"}, {Name: "chat", Local: true}}

// peerLog writes ticks as the log of a peer, with their input hashes.
func peerLog(t testing.TB, h Header, ticks []Tick) []byte {
	t.Helper()
	if h.Kinds == nil {
		h.Kinds = compareKinds
	}
	var out bytes.Buffer
	w, err := NewWriter(&out, h, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range ticks {
		if ticks[i].InputHash == (merkle.Short{}) {
			ticks[i].InputHash = InputHash(h.Kinds, ticks[i].Orders)
		}
		if err := w.WriteTick(&ticks[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func source(t testing.TB, name string, log []byte) Named {
	t.Helper()
	r, err := NewReader(bytes.NewReader(log), name)
	if err != nil {
		t.Fatal(err)
	}
	return Named{Name: name, Source: r}
}

var peerNames = []string{"host", "client", "third", "fourth"}

func compare(t testing.TB, opts CompareOptions, logs ...[]byte) *Comparison {
	t.Helper()
	var peers []Named
	for i, log := range logs {
		peers = append(peers, source(t, peerNames[i], log))
	}
	c, err := Compare(peers, opts)
	if err != nil {
		t.Fatal(err)
	}
	if c.InputHashCount != 0 {
		t.Errorf("input hashes differ: %+v", c.InputHashes)
	}
	return c
}

// order is "player seq payload", of kind 0; a payload that begins with "!" is
// chat.
func order(tick uint64, player, seq uint32, payload string) Order {
	o := Order{Tick: tick, Player: player, Sequence: seq, Payload: []byte(payload)}
	if strings.HasPrefix(payload, "!") {
		o.Kind = 2
	}
	return o
}

func tick(number uint64, orders ...string) Tick {
	t := Tick{Number: number}
	for _, s := range orders {
		var player, seq uint32
		var payload string
		fmt.Sscanf(s, "%d %d %s", &player, &seq, &payload)
		t.Orders = append(t.Orders, order(number, player, seq, payload))
	}
	return t
}

func lines(c *Comparison) []string {
	var out []string
	for i := range c.Differences {
		out = append(out, c.Differences[i].String())
	}
	return out
}

func withMarker(t Tick, m Marker) Tick {
	t.Markers = append(t.Markers, m)
	return t
}

func withHash(t Tick, kind HashKind, coverage Coverage, value byte) Tick {
	t.Hashes = append(t.Hashes, Observed{Point: t.Number, Kind: kind, Coverage: coverage, Bytes: []byte{value}})
	return t
}

func TestCompareKinds(t *testing.T) {
	base := func() []Tick {
		return []Tick{
			tick(0, "1 0 a", "2 0 b"), tick(1), tick(2, "1 1 c", "1 2 d", "2 1 e"), tick(3), tick(4, "1 3 f"), tick(5, "2 2 g"), tick(6),
		}
	}
	marked := func(number uint64, m Marker) []Tick {
		ticks := base()
		ticks[number] = withMarker(ticks[number], m)
		return ticks
	}
	edit := func(number uint64, orders ...string) []Tick {
		ticks := base()
		ticks[number] = tick(number, orders...)
		return ticks
	}
	twice := func(f func([]Tick)) []Tick {
		ticks := base()
		f(ticks)
		return ticks
	}
	for _, test := range []struct {
		name       string
		host, peer []Tick
		want       []string
		line       string
	}{
		{"equal", base(), base(), nil, "inputs equal: 7 orders from 0 to 6"},
		{"missing", base(), edit(2, "1 1 c", "2 1 e"), []string{"2 missing move of player 1 on client"},
			"inputs differ: network layer: 2 missing move of player 1 on client"},
		{"extra", base(), edit(3, "1 9 z"), []string{"3 extra move of player 1 on client"}, "inputs differ: network layer: 3 extra move of player 1 on client"},
		{"duplicated", base(), edit(2, "1 1 c", "1 1 c", "1 2 d", "2 1 e"), []string{"2 duplicated move of player 1 on client"},
			"inputs differ: network layer: 2 duplicated move of player 1 on client"},
		{"duplicated later", base(), edit(3, "1 2 d"), []string{"3 duplicated move of player 1 on client"},
			"inputs differ: network layer: 3 duplicated move of player 1 on client"},
		{"duplicated on the first", edit(2, "1 1 c", "1 2 d", "1 2 d", "2 1 e"), base(), []string{"2 duplicated move of player 1 on host"},
			"inputs differ: network layer: 2 duplicated move of player 1 on host"},
		// Of two that changed places either one may be reported.
		{"reordered", base(), edit(2, "1 1 c", "2 1 e", "1 2 d"), []string{"2 reordered move of player 2 on client"},
			"inputs differ: network layer: 2 reordered move of player 2 on client"},
		{"altered", base(), edit(4, "1 3 x"), []string{"4 altered move of player 1 on client: byte 0: 0x66, 0x78"},
			"inputs differ: network layer: 4 altered move of player 1 on client: byte 0: 0x66, 0x78"},
		{"late", base(), twice(func(ticks []Tick) { ticks[2] = tick(2, "1 1 c", "2 1 e"); ticks[3] = tick(3, "1 2 d") }),
			[]string{"2 late move of player 1 on client: host at 2, client at 3"},
			"inputs differ: network layer: 2 late move of player 1 on client: host at 2, client at 3"},
		{"early", base(), twice(func(ticks []Tick) { ticks[4] = tick(4); ticks[3] = tick(3, "1 3 f") }),
			[]string{"3 late move of player 1 on client: host at 4, client at 3"},
			"inputs differ: network layer: 3 late move of player 1 on client: host at 4, client at 3"},
		{"failed", base(), marked(4, Marker{Kind: FailedOrder, Player: 1, Sequence: 3}), []string{"4 failed move of player 1 on client"},
			"state differs: simulation: orders are equal, 4 failed move of player 1 on client"},
		{"failed on the first", marked(4, Marker{Kind: FailedOrder, Player: 1, Sequence: 3}), base(), []string{"4 failed move of player 1 on host"},
			"state differs: simulation: orders are equal, 4 failed move of player 1 on host"},
		{"failed on both", marked(4, Marker{Kind: FailedOrder, Player: 1, Sequence: 3}), marked(4, Marker{Kind: FailedOrder, Player: 1, Sequence: 3}), nil,
			"inputs equal: 7 orders from 0 to 6"},
		{"failed order that is not in the log", base(), marked(4, Marker{Kind: FailedOrder, Player: 7, Sequence: 1}),
			[]string{"4 failed marker failed-order of player 7 on client"}, "state differs: simulation: orders are equal, 4 failed marker failed-order of player 7 on client"},
		{"leave in another tick", marked(3, Marker{Kind: Leave, Player: 2}), marked(5, Marker{Kind: Leave, Player: 2}),
			[]string{"3 late marker leave of player 2 on client: host at 3, client at 5"},
			"inputs differ: network layer: 3 late marker leave of player 2 on client: host at 3, client at 5"},
		{"removal on one side", marked(3, Marker{Kind: Removal, Player: 2}), base(), []string{"3 missing marker removal of player 2 on client"},
			"inputs differ: network layer: 3 missing marker removal of player 2 on client"},
		{"join in the first tick on one side", marked(0, Marker{Kind: Join, Player: 2}), base(), []string{"0 missing marker join of player 2 on client"},
			"inputs differ: network layer: 0 missing marker join of player 2 on client"},
		{"saves are no inputs", marked(3, Marker{Kind: Save}), base(), nil, "inputs equal: 7 orders from 0 to 6"},
		{"chat", base(), edit(1, "3 0 !hello"), nil, "inputs equal: 7 orders from 0 to 6"},
		{"state", twice(func(ticks []Tick) {
			ticks[2] = withHash(ticks[2], SyncHash, Full, 1)
			ticks[5] = withHash(ticks[5], SyncHash, Full, 1)
		}),
			twice(func(ticks []Tick) {
				ticks[2] = withHash(ticks[2], SyncHash, Full, 1)
				ticks[5] = withHash(ticks[5], SyncHash, Full, 2)
			}),
			nil, "state differs: simulation: orders are equal, sync hashes differ from state point 5 on"},
		{"state before orders", twice(func(ticks []Tick) { ticks[2] = withHash(ticks[2], SyncHash, Full, 1); ticks[4] = tick(4) }),
			twice(func(ticks []Tick) { ticks[2] = withHash(ticks[2], SyncHash, Full, 2) }),
			[]string{"4 extra move of player 1 on client"},
			"state differs: simulation: sync hashes differ from state point 2 on; orders differ later: 4 extra move of player 1 on client"},
		{"orders before state", twice(func(ticks []Tick) { ticks[5] = withHash(ticks[5], SyncHash, Full, 1); ticks[4] = tick(4) }),
			twice(func(ticks []Tick) { ticks[5] = withHash(ticks[5], SyncHash, Full, 2) }),
			[]string{"4 extra move of player 1 on client"},
			"inputs differ: network layer: 4 extra move of player 1 on client; sync hashes differ from state point 5 on"},
		{"orders some ticks before state", twice(func(ticks []Tick) { ticks[6] = withHash(ticks[6], SyncHash, Full, 1); ticks[2] = tick(2) }),
			twice(func(ticks []Tick) { ticks[2] = tick(2, "1 1 c"); ticks[6] = withHash(ticks[6], SyncHash, Full, 2) }),
			[]string{"2 extra move of player 1 on client"},
			"inputs differ: network layer: 2 extra move of player 1 on client; sync hashes differ from state point 6 on, 3 ticks after the order"},
		// A line is missing in a log, and every hash agrees: only the log may lack it.
		{"orders, and hashes that agree after them", twice(func(ticks []Tick) { ticks[5] = withHash(ticks[5], "md5", "quick", 1) }),
			twice(func(ticks []Tick) { ticks[5] = withHash(ticks[5], "md5", "quick", 1); ticks[4] = tick(4) }),
			[]string{"4 missing move of player 1 on client"},
			"logs differ, states do not: 4 missing move of player 1 on client; the recorded hashes agree up to state point 5"},
		{"orders, and hashes that agree before them", twice(func(ticks []Tick) { ticks[4] = withHash(ticks[4], SyncHash, Full, 1) }),
			twice(func(ticks []Tick) { ticks[4] = withHash(tick(4), SyncHash, Full, 1) }),
			[]string{"4 missing move of player 1 on client"}, "inputs differ: network layer: 4 missing move of player 1 on client"},
		{"a marker of one log, and hashes that agree after it", twice(func(ticks []Tick) { ticks[5] = withHash(ticks[5], SyncHash, Full, 1) }),
			twice(func(ticks []Tick) {
				ticks[2] = withMarker(ticks[2], Marker{Kind: Leave, Player: 2})
				ticks[5] = withHash(ticks[5], SyncHash, Full, 1)
			}),
			[]string{"2 extra marker leave of player 2 on client"},
			"logs differ, states do not: 2 extra marker leave of player 2 on client; the recorded hashes agree up to state point 5"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := compare(t, CompareOptions{}, peerLog(t, Header{}, test.host), peerLog(t, Header{}, test.peer))
			if diff := cmp.Diff(test.want, lines(c)); diff != "" {
				t.Errorf("differences (-expected +got):\n%s", diff)
			}
			if c.Line() != test.line {
				t.Errorf("verdict %q, expected %q", c.Line(), test.line)
			}
			unborne := strings.HasPrefix(test.line, "logs differ")
			if c.DifferenceCount != len(test.want) || c.Incomplete() != unborne {
				t.Errorf("%d differences, incomplete %v", c.DifferenceCount, c.Incomplete())
			}
			if want := !unborne && (len(test.want) > 0 || strings.HasPrefix(test.line, "state")); c.Diverged() != want {
				t.Errorf("diverged is %v", c.Diverged())
			}
		})
	}
}

func TestCompareLocal(t *testing.T) {
	host := peerLog(t, Header{}, []Tick{tick(0, "1 0 a", "1 1 !hello"), tick(1, "2 0 b")})
	client := peerLog(t, Header{}, []Tick{tick(0, "1 0 a"), tick(1)})
	c := compare(t, CompareOptions{LocalKinds: []string{"move"}}, host, client)
	if c.Verdict != InputsEqual || len(c.Differences) != 0 || c.LocalCount != 2 {
		t.Errorf("%s, differences %v, local %v", c.Line(), c.Differences, c.Local)
	}
	c = compare(t, CompareOptions{}, host, client)
	if diff := cmp.Diff([]string{"1 missing move of player 2 on client"}, lines(c)); diff != "" || c.LocalCount != 1 || c.Local[0].Order != "chat" {
		t.Errorf("local %v, differences (-expected +got):\n%s", c.Local, diff)
	}
}

func TestCompareThree(t *testing.T) {
	with := peerLog(t, Header{}, []Tick{tick(0, "1 0 a"), tick(1)})
	without := peerLog(t, Header{}, []Tick{tick(0), tick(1)})
	for _, test := range []struct {
		logs      [][]byte
		reference string
		want      []string
		have      []string
	}{
		{[][]byte{with, without, with}, "", []string{"0 missing move of player 1 on client"}, []string{"host", "third"}},
		{[][]byte{with, without, without}, "", []string{"0 extra move of player 1 on host"}, []string{"host"}},
		{[][]byte{with, without, without}, "host", []string{"0 missing move of player 1 on client", "0 missing move of player 1 on third"}, []string{"host"}},
		{[][]byte{with, with, without, without}, "", []string{"0 missing move of player 1 on third", "0 missing move of player 1 on fourth"}, []string{"host", "client"}},
	} {
		c := compare(t, CompareOptions{Reference: test.reference}, test.logs...)
		if diff := cmp.Diff(test.want, lines(c)); diff != "" {
			t.Errorf("differences (-expected +got):\n%s", diff)
		}
		if diff := cmp.Diff(test.have, c.Differences[0].Have); diff != "" {
			t.Errorf("peers that have it (-expected +got):\n%s", diff)
		}
		if n := len(c.Differences[0].Have) + len(c.Differences[0].Lack); n != len(test.logs) {
			t.Errorf("%d peers have or lack the order, expected %d", n, len(test.logs))
		}
	}
}

// Chat that each peer has by itself does not change which peers have what most peers have, and so not the peer that an
// order is reported for.
func TestCompareLocalDecidesNothing(t *testing.T) {
	logs := func(chat ...string) [][]byte {
		var out [][]byte
		for i := range 3 {
			orders := slices.Clone(chat[:i*len(chat)/3])
			if i == 0 {
				orders = append(orders, "1 0 a")
			}
			out = append(out, peerLog(t, Header{}, []Tick{tick(0, orders...), tick(1)}))
		}
		return out
	}
	for _, chat := range [][]string{{}, {"5 0 !one", "5 1 !two", "6 0 !three"}} {
		c := compare(t, CompareOptions{}, logs(chat...)...)
		if diff := cmp.Diff([]string{"0 extra move of player 1 on host"}, lines(c)); diff != "" {
			t.Errorf("with chat %v: differences (-expected +got):\n%s", chat, diff)
		}
		if got := c.Differences[0].Lack; !slices.Equal(got, []string{"client", "third"}) {
			t.Errorf("with chat %v: lacking on %v", chat, got)
		}
	}
}

// Whichever log comes first, the session's first peer is the base.
func TestCompareHost(t *testing.T) {
	peers := []string{"server", "guest"}
	with := peerLog(t, Header{Peer: "server", Peers: peers}, []Tick{tick(0, "1 0 a", "1 1 b"), tick(1)})
	without := peerLog(t, Header{Peer: "guest", Peers: peers}, []Tick{tick(0, "1 0 x"), tick(1)})
	c := compare(t, CompareOptions{}, without, with)
	if diff := cmp.Diff([]string{"0 altered move of player 1 on host: byte 0: 0x61, 0x78", "0 missing move of player 1 on host"}, lines(c)); diff != "" {
		t.Errorf("differences (-expected +got):\n%s", diff)
	}
}

// An order that only the base has is reported once, whichever peer it is compared with.
func TestCompareThreeFailed(t *testing.T) {
	plain := []Tick{tick(0, "1 0 a", "1 1 b"), tick(1)}
	failed := []Tick{withMarker(tick(0, "1 0 a", "1 1 b"), Marker{Kind: FailedOrder, Player: 1, Sequence: 1}), tick(1)}
	twice := []Tick{tick(0, "1 0 a", "1 0 a", "1 1 b"), tick(1)}
	for _, test := range []struct {
		logs [3][]Tick
		want []string
	}{
		{[3][]Tick{failed, plain, plain}, []string{"0 failed move of player 1 on host"}},
		{[3][]Tick{failed, failed, plain}, []string{"0 failed move of player 1 on host"}},
		{[3][]Tick{plain, plain, failed}, []string{"0 failed move of player 1 on third"}},
		{[3][]Tick{twice, plain, plain}, []string{"0 duplicated move of player 1 on host"}},
	} {
		var logs [][]byte
		for _, ticks := range test.logs {
			logs = append(logs, peerLog(t, Header{}, slices.Clone(ticks)))
		}
		c := compare(t, CompareOptions{Reference: "host"}, logs...)
		if diff := cmp.Diff(test.want, lines(c)); diff != "" {
			t.Errorf("differences (-expected +got):\n%s", diff)
		}
	}
}

// A log that begins at a join, one that ends in a crash and one with a gap
// lack nothing.
func TestCompareCoverage(t *testing.T) {
	var all []Tick
	for n := range uint64(30) {
		all = append(all, tick(n, fmt.Sprintf("1 %d x%d", n, n)))
	}
	host := peerLog(t, Header{}, slices.Clone(all))

	joined := slices.Clone(all[10:])
	joined[0] = withMarker(joined[0], Marker{Kind: Join, Player: 2, Point: 10, NewEpoch: true})
	hostJoined := slices.Clone(all)
	hostJoined[10] = withMarker(hostJoined[10], Marker{Kind: Join, Player: 2, Point: 10})
	c := compare(t, CompareOptions{}, peerLog(t, Header{}, hostJoined), peerLog(t, Header{FirstPoint: 10}, joined))
	if c.Line() != "inputs equal: 20 orders from 10 to 29" || c.Peers[1].Before != 10 {
		t.Errorf("after a join: %s, %+v", c.Line(), c.Peers[1])
	}

	c = compare(t, CompareOptions{}, host, host[:len(host)*2/3])
	if c.Verdict != InputsEqual || !errors.Is(c.Peers[1].Err, frame.ErrTorn) || c.Peers[1].After == 0 || !c.Incomplete() {
		t.Errorf("after a crash: %s, %+v", c.Line(), c.Peers[1])
	}

	resynced := slices.Concat(all[:10], all[20:])
	resynced[10] = withMarker(resynced[10], Marker{Kind: Resync, NewEpoch: true, Point: 20})
	c = compare(t, CompareOptions{}, host, peerLog(t, Header{}, resynced))
	if c.Line() != "inputs equal: 20 orders from 0 to 29" || c.Peers[1].Between != 10 || len(c.Peers[1].Stretches) != 2 {
		t.Errorf("after a resync: %s, %+v", c.Line(), c.Peers[1])
	}

	back := slices.Concat(all[:20], slices.Clone(all[15:]))
	back[20] = withMarker(back[20], Marker{Kind: Resync, NewEpoch: true, Point: 15})
	c = compare(t, CompareOptions{}, host, peerLog(t, Header{}, back))
	if c.Line() != "inputs equal: 30 orders from 0 to 29" || c.Peers[1].Rerun != 5 {
		t.Errorf("after a resync to an older state: %s, %+v", c.Line(), c.Peers[1])
	}

	loaded := slices.Concat(all[:20], slices.Clone(all[5:]))
	loaded[20] = withMarker(loaded[20], Marker{Kind: Load, NewEpoch: true, Point: 5})
	lost := slices.Clone(loaded)
	lost[22] = tick(7)
	c = compare(t, CompareOptions{}, peerLog(t, Header{}, loaded), peerLog(t, Header{}, lost))
	if diff := cmp.Diff([]string{"7 missing move of player 1 on client"}, lines(c)); diff != "" {
		t.Errorf("after a saved game was loaded (-expected +got):\n%s", diff)
	}

	// Empty ticks may be left out.
	sparse := []Tick{tick(0, "1 0 a"), tick(20, "1 1 b")}
	c = compare(t, CompareOptions{}, peerLog(t, Header{}, slices.Clone(sparse)), peerLog(t, Header{}, slices.Insert(slices.Clone(sparse), 1, tick(9, "2 0 c"))))
	if diff := cmp.Diff([]string{"9 extra move of player 2 on client"}, lines(c)); diff != "" {
		t.Errorf("sparse logs (-expected +got):\n%s", diff)
	}

	c = compare(t, CompareOptions{}, peerLog(t, Header{}, slices.Clone(all[:5])), peerLog(t, Header{FirstPoint: 20}, slices.Clone(all[20:])))
	if c.Verdict != NoOverlap || !c.Incomplete() || c.Diverged() {
		t.Errorf("logs that do not overlap: %s", c.Line())
	}
}

// TestCompareGap: a log that has a record of every tick cannot have orders of ticks without
// one; one that leaves out ticks without orders lacks them.
func TestCompareGap(t *testing.T) {
	var every, some []Tick
	for n := uint64(0); n < 30; n++ {
		with := tick(n)
		if n%3 == 0 {
			with = tick(n, fmt.Sprintf("1 %d a", n/3))
			some = append(some, with)
		}
		every = append(every, with)
	}
	without := func(ticks []Tick) []Tick {
		return slices.DeleteFunc(slices.Clone(ticks), func(t Tick) bool { return t.Number >= 14 && t.Number < 20 })
	}
	c := compare(t, CompareOptions{}, peerLog(t, Header{}, every), peerLog(t, Header{}, without(every)))
	if p := c.Peers[1]; c.Diverged() || c.DifferenceCount != 0 || p.Between != 2 || len(p.Stretches) != 2 || p.Stretches[1].From != 20 {
		t.Errorf("%s, %+v", c.Line(), c.Peers)
	}
	c = compare(t, CompareOptions{}, peerLog(t, Header{}, some), peerLog(t, Header{}, without(some)))
	if c.DifferenceCount != 2 || c.Peers[1].Between != 0 {
		t.Errorf("%s, %+v", c.Line(), c.Peers)
	}
}

func TestCompareOwnContradictions(t *testing.T) {
	ticks := []Tick{tick(0, "2 0 b", "1 0 a"), tick(1, "1 1 c")}
	ticks[1].InputHash = merkle.Short{1}
	log := peerLog(t, Header{}, ticks)
	c, err := Compare([]Named{source(t, "a", log), source(t, "b", log)}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if c.MisplacedCount != 2 || c.Misplaced[0].Tick != 0 || c.Misplaced[0].Index != 1 || c.Misplaced[1].Peer != "b" {
		t.Errorf("misplaced: %+v", c.Misplaced)
	}
	if c.InputHashCount != 2 || c.InputHashes[0].Tick != 1 || c.InputHashesRead != 4 || !c.Incomplete() {
		t.Errorf("input hashes: %+v of %d", c.InputHashes, c.InputHashesRead)
	}
}

func TestCompareHashes(t *testing.T) {
	peers := []string{"host", "client"}
	hash := func(point uint64, peer uint32, coverage Coverage, value byte) Observed {
		return Observed{Point: point, Peer: peer, Kind: SyncHash, Coverage: coverage, Bytes: []byte{value}}
	}
	host := peerLog(t, Header{Peer: "host", Peers: peers}, []Tick{
		{Number: 0, Hashes: []Observed{hash(0, 0, Full, 1), hash(0, 1, Full, 1)}},
		{Number: 1, Hashes: []Observed{hash(1, 0, Full, 1), hash(1, 0, "quick", 1)}},
		{Number: 2, Hashes: []Observed{hash(2, 0, "quick", 1)}},
		{Number: 3, Hashes: []Observed{hash(3, 0, Full, 1), hash(3, 1, Full, 9)}},
	})
	client := peerLog(t, Header{Peer: "client", Peers: []string{"client"}}, []Tick{
		{Number: 0, Hashes: []Observed{hash(0, 0, Full, 1)}},
		{Number: 1, Hashes: []Observed{hash(1, 0, Full, 1), hash(1, 0, "quick", 1)}},
		{Number: 2, Hashes: []Observed{hash(2, 0, "quick", 1)}},
		{Number: 3, Hashes: []Observed{hash(3, 0, Full, 2)}},
	})
	c := compare(t, CompareOptions{}, host, client)
	if c.State.First == nil || c.State.First.Point != 3 || c.State.Good == nil || *c.State.Good != 1 {
		t.Errorf("state: %+v, expected a bracket from 1 (the quick hash of 2 proves nothing) to 3", c.State)
	}
	// The host received another hash for the client than the client computed.
	if c.State.ContradictionCount != 1 || c.State.Contradictions[0].Values[0].Peer != "client" {
		t.Errorf("contradictions: %+v", c.State.Contradictions)
	}
}

// TestCompareHistories: history hashes of epochs of other numbers count from where they were
// seen to be one chain.
func TestCompareHistories(t *testing.T) {
	peers := []string{"host", "client"}
	log := func(peer uint32, epoch uint64, values ...byte) []byte {
		var ticks []Tick
		for i, v := range values {
			tick := Tick{Number: uint64(i), Hashes: []Observed{{Point: uint64(i), Peer: peer, Kind: HistoryHash, Bytes: []byte{v}}}}
			if uint64(i) == epoch {
				tick.Markers = []Marker{{Kind: Load, Point: uint64(i), NewEpoch: true}}
			}
			ticks = append(ticks, tick)
		}
		return peerLog(t, Header{Peer: peers[peer], Peers: peers}, ticks)
	}
	for name, c := range map[string]struct {
		client []byte
		first  string
		good   string
	}{
		"one chain":                {log(1, 2, 1, 2, 3, 4, 5), "none", "4"},
		"parts after the load":     {log(1, 2, 1, 2, 3, 4, 9), "4", "3"},
		"parts right after it":     {log(1, 2, 1, 2, 3, 9, 9), "3", "1"}, // at 2 it has what it took over
		"a chain of its own":       {log(1, 2, 1, 2, 7, 8, 9), "none", "1"},
		"parts before the load":    {log(1, 2, 1, 9, 3, 4, 5), "1", "0"},
		"without a load, it parts": {log(1, 9, 1, 2, 7, 8, 9), "2", "1"},
	} {
		s := compare(t, CompareOptions{}, log(0, 9, 1, 2, 3, 4, 5), c.client).State
		first, good := "none", "none"
		if s.First != nil {
			first = fmt.Sprint(s.First.Point)
		}
		if s.Good != nil {
			good = fmt.Sprint(*s.Good)
		}
		if first != c.first || good != c.good {
			t.Errorf("%s: first %s, good %s; want %s, %s", name, first, good, c.first, c.good)
		}
	}
}

func TestCompareRefuses(t *testing.T) {
	log := func(h Header) []byte { return peerLog(t, h, []Tick{tick(0)}) }
	a := log(Header{Seed: 1, Build: "1.0"})
	for _, b := range [][]byte{log(Header{Seed: 2, Build: "1.0"})} {
		_, err := Compare([]Named{source(t, "a", a), source(t, "b", b)}, CompareOptions{})
		if !errors.Is(err, ErrOtherGame) {
			t.Errorf("error is %v", err)
		}
		c, err := Compare([]Named{source(t, "a", a), source(t, "b", b)}, CompareOptions{Force: true})
		if err != nil || len(c.Warnings) != 1 {
			t.Errorf("forced: %v, %+v", err, c)
		}
	}
	for _, peers := range [][]Named{{source(t, "a", a)}, {source(t, "a", a), source(t, "a", a)}} {
		if _, err := Compare(peers, CompareOptions{}); err == nil {
			t.Error("no error")
		}
	}
	if _, err := Compare([]Named{source(t, "a", a), source(t, "b", a)}, CompareOptions{Reference: "c"}); err == nil {
		t.Error("no error for a reference that is none of the logs")
	}
}

// Another build and another tick rate are reported, and refuse nothing; a header that does not state one is like any
// other.
func TestCompareHeaders(t *testing.T) {
	log := func(h Header) []byte { return peerLog(t, h, []Tick{tick(0)}) }
	c := compare(t, CompareOptions{}, log(Header{Build: "1.0", TickRate: Rate{30, 1}}), log(Header{}), log(Header{Build: "1.1", TickRate: Rate{20, 1}}))
	var got []string
	for i := range c.Headers {
		got = append(got, c.Headers[i].String())
	}
	want := []string{"build differs: 1.0 on host, 1.1 on third", "tick rate differs: 30/1 a second on host, 20/1 a second on third"}
	if !slices.Equal(got, want) || c.Verdict != InputsEqual {
		t.Errorf("%s, %q", c.Line(), got)
	}
	if c := compare(t, CompareOptions{}, log(Header{Build: "1.0"}), log(Header{})); len(c.Headers) != 0 {
		t.Errorf("one peer states a build: %v", c.Headers)
	}
}

func TestCompareLimit(t *testing.T) {
	var host, client []Tick
	for n := range uint64(50_000) {
		host = append(host, tick(n, fmt.Sprintf("1 %d x", n)))
		client = append(client, tick(n))
	}
	c := compare(t, CompareOptions{Limit: 3}, peerLog(t, Header{}, host), peerLog(t, Header{}, client))
	if len(c.Differences) != 3 || c.DifferenceCount != 50_000 || c.Counts[Missing] != 50_000 {
		t.Errorf("kept %d of %d, counts %v", len(c.Differences), c.DifferenceCount, c.Counts)
	}
	if c.Differences[2].Tick != 2 {
		t.Errorf("third is %s", c.Differences[2].String())
	}
}

// Names from a file reach no terminal as they are.
func TestDifferenceEscapes(t *testing.T) {
	kinds := []OrderKind{{Name: "mo\x1b[31mve\xff"}}
	h := Header{Kinds: kinds}
	c := compare(t, CompareOptions{}, peerLog(t, h, []Tick{tick(0, "1 0 \x1b]"), tick(1)}), peerLog(t, h, []Tick{tick(0), tick(1)}))
	if got := c.Differences[0]; strings.Contains(got.String(), "\x1b") || strings.Contains(got.String(), "\xff") || got.Order != kinds[0].Name || !bytes.Equal(got.Payload, []byte("\x1b]")) {
		t.Errorf("%q of %q with %q", got.String(), got.Order, got.Payload)
	}
}

func TestDiffPayload(t *testing.T) {
	for _, test := range []struct {
		name, a, b string
		want       []FieldChange
		bytes      string
	}{
		{"JSON", `{"type":"walk","x":78,"e":[1,2],"d":{"c":"w"}}`, `{"type":"walk","x":79,"e":[1,3],"d":{"c":"w","n":null}}`,
			[]FieldChange{{"x", "78", "79"}, {"e[1]", "2", "3"}, {"d.n", "absent", "null"}}, ""},
		{"JSON without a field", `{"a":1,"b c":true}`, `{"a":1}`, []FieldChange{{`["b c"]`, "true", "absent"}}, ""},
		{"JSON numbers as written", `{"a":1.0,"b":"1"}`, `{"a":1,"b":1}`, []FieldChange{{"a", "1.0", "1"}, {"b", `"1"`, "1"}}, ""},
		{"JSON in other bytes", `{"a":1,"b":[]}`, `{"b":[],"a":1}`, nil, "2 0x61223a312c2262223a5b5d 0x62223a5b5d2c2261223a31"},
		{"msgpack", "\x93\x01\xcd\x04\x00\xa2hi", "\x93\x01\xcd\x04\x01\xa2ho", []FieldChange{{"[1]", "1024", "1025"}, {"[2]", `"hi"`, `"ho"`}}, ""},
		{"msgpack map", "\x82\xa1x\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00\x01\xc4\x02\x00\xff", "\x82\xa1x\xcb\x80\x00\x00\x00\x00\x00\x00\x00\x01\xc4\x02\x00\xfe",
			[]FieldChange{{"x", "1.5", "-0"}, {"[1]", "0x00ff", "0x00fe"}}, ""},
		{"bytes", "abcXYdef", "abcZdef", nil, "3 0x5859 0x5a"},
		{"number, not MessagePack", "\x01", "\x02", nil, "0 0x01 0x02"},
		{"JSON cut off", `{"a":1`, `{"a":2`, nil, "5 0x31 0x32"},
	} {
		got := DiffPayload([]byte(test.a), []byte(test.b))
		if diff := cmp.Diff(test.want, got.Fields); diff != "" {
			t.Errorf("%s: fields (-expected +got):\n%s", test.name, diff)
		}
		if s := fmt.Sprint(got.Offset, got.Base, got.Peer); test.bytes != "" && s != test.bytes {
			t.Errorf("%s: bytes %s, expected %s", test.name, s, test.bytes)
		}
	}
}

// TestCompareOracle compares with a definition by whole maps: every order of
// the host is known by player and number, and the client's log is searched for
// it.
func TestCompareOracle(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const ticks = 12
		next := [4]uint32{}
		var host []Tick
		for n := range uint64(ticks) {
			tk := Tick{Number: n}
			for range rapid.IntRange(0, 5).Draw(t, "orders") {
				p := uint32(rapid.IntRange(0, 3).Draw(t, "player"))
				tk.Orders = append(tk.Orders, Order{Tick: n, Player: p, Sequence: next[p], Payload: []byte{byte(rapid.IntRange(0, 2).Draw(t, "payload"))}})
				next[p]++
			}
			SortOrders(tk.Orders)
			host = append(host, tk)
		}
		var client []Tick
		for i := range host {
			client = append(client, *host[i].Clone())
		}
		late := map[int][]Order{}
		for n := range client {
			var out []Order
			for _, o := range client[n].Orders {
				switch rapid.IntRange(0, 19).Draw(t, "fault") {
				case 0: // missing
				case 1:
					out = append(out, o, o)
				case 2:
					o.Payload = []byte{9, o.Payload[0]}
					out = append(out, o)
				case 3:
					if n+2 < ticks {
						o.Tick = uint64(n + 2)
						late[n+2] = append(late[n+2], o)
					}
				default:
					out = append(out, o)
				}
			}
			if rapid.IntRange(0, 4).Draw(t, "swap") == 0 && len(out) > 1 {
				out[0], out[len(out)-1] = out[len(out)-1], out[0]
			}
			client[n].Orders = append(out, late[n]...)
		}
		want := naive(host, client)

		hostLog, clientLog := rapidLog(t, host), rapidLog(t, client)
		c := rapidCompare(t, hostLog, clientLog)
		got := map[string]int{}
		for i := range c.Differences {
			d := &c.Differences[i]
			if d.Kind == Reordered {
				got[fmt.Sprintf("reordered in %d", d.Tick)]++
				continue
			}
			got[fmt.Sprintf("%s %d %d/%d", d.Kind, d.Tick, d.Player, d.Sequence)]++
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("differences (-expected +got):\n%s", diff)
		}
		again, _ := json.Marshal(rapidCompare(t, hostLog, clientLog))
		if first, _ := json.Marshal(c); !bytes.Equal(first, again) {
			t.Fatal("the second run has another result")
		}

		// However the client's log is cut off, nothing is missing that it could
		// not tell.
		cut := rapid.IntRange(len(hostLog)/3, len(hostLog)).Draw(t, "cut")
		if c := rapidCompare(t, hostLog, hostLog[:cut]); c.DifferenceCount != 0 {
			t.Fatalf("cut off at %d: %v", cut, lines(c))
		}
	})
}

// naive is the oracle.
func naive(host, client []Tick) map[string]int {
	type id struct{ player, seq uint32 }
	type where struct {
		tick    uint64
		payload string
	}
	has := map[id][]where{}
	for _, tk := range client {
		for _, o := range tk.Orders {
			has[id{o.Player, o.Sequence}] = append(has[id{o.Player, o.Sequence}], where{tk.Number, string(o.Payload)})
		}
	}
	out := map[string]int{}
	for _, tk := range host {
		var places []int // of what is in the tick of both, in the host's order
		for _, o := range tk.Orders {
			what := fmt.Sprintf("%d %d/%d", tk.Number, o.Player, o.Sequence)
			found := has[id{o.Player, o.Sequence}]
			switch {
			case len(found) == 0:
				out["missing "+what]++
			case found[0].tick != tk.Number:
				out["late "+what]++
			case found[0].payload != string(o.Payload):
				out["altered "+what]++
			default:
				place := slices.IndexFunc(client[tk.Number].Orders, func(p Order) bool { return p.Player == o.Player && p.Sequence == o.Sequence })
				places = append(places, place)
			}
			if len(found) > 1 {
				out["duplicated "+what]++
			}
		}
		// Longest ascending subsequence, by trying every subset.
		best := 0
		for set := range 1 << len(places) {
			last, n := -1, 0
			for i, p := range places {
				if set>>i&1 == 0 {
					continue
				}
				if p < last {
					n = -1
					break
				}
				last = p
				n++
			}
			best = max(best, n)
		}
		if moved := len(places) - best; moved > 0 {
			out[fmt.Sprintf("reordered in %d", tk.Number)] = moved
		}
	}
	return out
}

func rapidLog(t *rapid.T, ticks []Tick) []byte {
	var out bytes.Buffer
	w, err := NewWriter(&out, Header{Kinds: compareKinds}, WriterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range ticks {
		if err := w.WriteTick(&ticks[i]); err != nil {
			t.Fatal(err)
		}
	}
	w.Close()
	return out.Bytes()
}

func rapidCompare(t *rapid.T, a, b []byte) *Comparison {
	var peers []Named
	for i, log := range [][]byte{a, b} {
		r, err := NewReader(bytes.NewReader(log), peerNames[i])
		if err != nil {
			t.Fatal(err)
		}
		peers = append(peers, Named{Name: peerNames[i], Source: r})
	}
	c, err := Compare(peers, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// FuzzCompare compares whatever two logs a fuzzer finds.
func FuzzCompare(f *testing.F) {
	full := encodeText(f, readText(f, fullText))
	f.Add(full, full)
	f.Add(full, full[:len(full)/2])
	f.Add(peerLog(f, Header{}, []Tick{tick(0, "1 0 a", "2 0 b"), tick(1)}), peerLog(f, Header{}, []Tick{tick(0, "2 0 b", "1 0 c"), tick(1, "1 0 a")}))
	f.Fuzz(func(t *testing.T, a, b []byte) {
		var peers []Named
		for i, log := range [][]byte{a, b} {
			r, err := NewReader(bytes.NewReader(log), peerNames[i])
			if err != nil {
				return
			}
			peers = append(peers, Named{Name: peerNames[i], Source: r})
		}
		c, err := Compare(peers, CompareOptions{Force: true, Limit: 5})
		if err != nil {
			t.Fatal(err)
		}
		if c.Diverged() && c.DifferenceCount == 0 && c.State.First == nil && c.ClaimCount == 0 {
			t.Errorf("diverged without a finding: %s", c.Line())
		}
		if _, err := json.Marshal(c); err != nil {
			t.Error(err)
		}
		if bytes.Equal(a, b) && c.DifferenceCount+c.LocalCount != 0 {
			t.Errorf("a log differs from itself: %v", lines(c))
		}
	})
}

// FuzzDiffPayload: whatever the payloads are, both sides can be put together again from the reported bytes.
func FuzzDiffPayload(f *testing.F) {
	f.Add([]byte(`{"type":"walk","entities":[151,152],"x":78}`), []byte(`{"type":"walk","entities":[151],"x":78.5}`))
	f.Add([]byte("\x93\x01\xcd\x04\x00\xa2hi"), []byte("\x83\x01\xc0\xa1x\xcb\x3f\xf8\x00\x00\x00\x00\x00\x00\xc2\xd4\x01\x02"))
	f.Add([]byte("\x82000\x90"), []byte("\x82000\x90")) // one key twice
	f.Fuzz(func(t *testing.T, a, b []byte) {
		d := DiffPayload(a, b)
		if d.Offset > min(len(a), len(b)) || d.BaseLen-d.PeerLen != len(a)-len(b) || (d.BaseLen == 0 && d.PeerLen == 0) != bytes.Equal(a, b) {
			t.Errorf("%q and %q: %+v", a, b, d)
		}
		if !bytes.HasPrefix(a[d.Offset:], d.Base) || !bytes.HasPrefix(b[d.Offset:], d.Peer) {
			t.Errorf("%q and %q: %+v", a, b, d)
		}
		if bytes.Equal(a, b) && d.FieldCount != 0 {
			t.Errorf("%q has fields that differ from its own: %+v", a, d.Fields)
		}
	})
}

// TestAlteredTakesMostSimilar: of orders of one number each takes the one of the first few that is most like it,
// and the others keep their order.
func TestAlteredTakesMostSimilar(t *testing.T) {
	log := func(payloads ...string) []byte {
		tick := Tick{}
		for _, p := range payloads {
			tick.Orders = append(tick.Orders, Order{Payload: []byte(p)})
		}
		var out bytes.Buffer
		w, err := NewWriter(&out, Header{Kinds: []OrderKind{{Name: "k"}}}, WriterOptions{})
		if err == nil {
			err = errors.Join(w.WriteTick(&tick), w.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
		return out.Bytes()
	}
	c, err := Compare([]Named{source(t, "a", log("aaaa", "bbbb", "cccc", "dddd")), source(t, "b", log("cccX", "aaaX", "bbbX", "dddX"))}, CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, d := range c.Differences {
		got = append(got, fmt.Sprintf("%s %s", d.Kind, d.Payload))
	}
	if want := "altered 0x63636363, altered 0x61616161, altered 0x62626262, altered 0x64646464"; strings.Join(got, ", ") != want {
		t.Errorf("%s\nwant %s", strings.Join(got, ", "), want)
	}
}

// cutSource is a log that ends inside its last tick.
type cutSource struct {
	Source
	last uint64
}

func (s cutSource) Next() (Record, error) {
	r, err := s.Source.Next()
	r.TailCut = err == nil && r.Kind == TickRecord && r.Tick.Number == s.last
	return r, err
}

// TestCutTick: a log that ends inside a tick may have had the orders that follow in it, so it is not among those that
// lack one.
func TestCutTick(t *testing.T) {
	whole, lacking := tick(5, "1 1 a", "2 1 b"), tick(5, "1 1 a")
	var peers []Named
	for i, ticks := range [][]Tick{{tick(4), whole, tick(6)}, {tick(4), lacking, tick(6)}, {tick(4), lacking}} {
		peers = append(peers, source(t, peerNames[i], peerLog(t, Header{}, ticks)))
	}
	peers[2].Source = cutSource{peers[2].Source, 5}
	c, err := Compare(peers, CompareOptions{Reference: peerNames[0]})
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Differences) != 1 || !slices.Equal(c.Differences[0].Lack, peerNames[1:2]) {
		t.Errorf("%+v, want one order that only %s lacks", c.Differences, peerNames[1])
	}
}
