package sdk_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/orderlog"
)

const tradeGame = "csharp/Trade.cs"

// tradeTruth is the content of truth.json of a session, with a load that went wrong if there was one.
type tradeTruth struct {
	session.Truth
	Load bool `json:"load"`
}

func (t *tradeTruth) bites() bool { return t.Bracket != nil || t.Checksum != nil }

// recordTrade plays a session of a seed and returns its folder and its truth.
func recordTrade(t *testing.T, exe string, seed int, args ...string) (string, *tradeTruth) {
	t.Helper()
	dir, said := recordCSharp(t, exe, append([]string{"--seed", fmt.Sprint(seed)}, args...)...)
	if said != "" {
		t.Errorf("record says %q", said)
	}
	b, err := os.ReadFile(filepath.Join(dir, "truth.json"))
	if err != nil {
		t.Fatal(err)
	}
	truth := new(tradeTruth)
	if err := json.Unmarshal(b, truth); err != nil {
		t.Fatal(err)
	}
	return dir, truth
}

func readLog(t *testing.T, path string) *orderlog.Log {
	t.Helper()
	log, err := orderlog.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// ticksOf returns the numbers of a log's ticks.
func ticksOf(log *orderlog.Log) (ticks []uint64) {
	for _, tick := range log.Ticks {
		ticks = append(ticks, tick.Number)
	}
	return ticks
}

// markersOf returns "TICK KIND PEER" of each marker, with "epoch" where one begins.
func markersOf(log *orderlog.Log) (list []string) {
	for _, tick := range log.Ticks {
		for _, m := range tick.Markers {
			text := fmt.Sprintf("%d %s %d", tick.Number, m.Kind, m.Peer)
			if m.NewEpoch {
				text += " epoch"
			}
			list = append(list, text)
		}
	}
	return list
}

func TestTradeClean(t *testing.T) {
	thorough(t)
	exe := compileCSharp(t, tradeGame, csharpSDK)
	dir, truth := recordTrade(t, exe, 7)
	if truth.bites() || truth.Fault != "" {
		t.Errorf("the truth of a clean session is %+v", truth)
	}
	sim := "exec:mono " + exe + " serve"
	host := filepath.Join(dir, "host")
	conforms(t, nil, "--log", host, "--", "mono", exe, "serve")
	wants(t, run(t, 0, "bisect", dir), "IN SYNC", "361 recorded hashes")
	wants(t, run(t, 0, "triage", dir), "IN SYNC")
	wants(t, run(t, 0, "tracediff", dir), "IN SYNC")
	wants(t, run(t, 0, "replay", host, "--sim", sim), "IN SYNC", "361 compared")
	out := run(t, 0, "replay", host, "--sim", sim, "--serialize", "--rollback", "3", "--check-caches", "--check-purity")
	wants(t, out, "IN SYNC  serialize", "IN SYNC  rollback", "IN SYNC  check-caches", "IN SYNC  check-purity")
	wants(t, run(t, 0, "replay", host, "--sim", sim, "--from-each-snapshot", "--predict", "1,2"), "IN SYNC  from-each-snapshot", "IN SYNC  predict")
	for _, file := range append(filesOf(t, dir, "*/*.snap", 4*5), filesOf(t, dir, "*/order-log.bin", 4)...) {
		wants(t, run(t, 0, "verify", file), "VERIFIED")
	}
	damagedLoads(t, effort.Long(60, 500), dir, "mono", exe, "serve")
	text := run(t, 0, "dump", filepath.Join(dir, "client", "desync_0000000000000007_0000000300.snap"))
	wants(t, text, `%peer "client"`, `%meta "locale" "de_DE"`, `%meta "data_hash" `, "%rng 0x", "Market[3:2].Stock.amount = ", "cache RouteCost[12:12].Way.miles = 0", "Realm[0].Fortune.state = ")
	if text := run(t, 0, "dump", filepath.Join(dir, "client", "order-log.bin")); strings.Contains(text, "locale") {
		t.Error("facts of the machine are in the header, whose parameters are the session's")
	}
	if log := readLog(t, filepath.Join(dir, "guest", "order-log.bin")); len(ticksOf(log)) != 360 || len(markersOf(log)) != 0 {
		t.Errorf("%d ticks with markers %v", len(log.Ticks), markersOf(log))
	}
}

// TestTradeGaps: the records of a peer that was away, one that comes late, and the peers that saw it.
func TestTradeGaps(t *testing.T) {
	thorough(t)
	exe := compileCSharp(t, tradeGame, csharpSDK)
	dir, truth := recordTrade(t, exe, 7, "--ticks", "200", "--reconnect", "client@60+15", "--reconnect", "client@120+5", "--late", "visitor@90")
	if truth.bites() {
		t.Errorf("loading parts the peers: %+v", truth)
	}
	host := readLog(t, filepath.Join(dir, "host", "order-log.bin"))
	client := readLog(t, filepath.Join(dir, "client", "order-log.bin"))
	visitor := readLog(t, filepath.Join(dir, "visitor", "order-log.bin"))

	seen := []string{"60 leave 1", "75 reconnect 1", "90 join 3", "120 leave 1", "125 reconnect 1"}
	guest := markersOf(readLog(t, filepath.Join(dir, "guest", "order-log.bin")))
	if !slices.Equal(guest, seen) {
		t.Errorf("the guest saw %v, expected %v", guest, seen)
	}
	saw := slices.DeleteFunc(markersOf(host), func(m string) bool { return strings.HasSuffix(m, " save 0") })
	if len(markersOf(host)) != len(seen)+3 || !slices.Equal(saw, seen) {
		t.Errorf("the host saw %v, expected %v and three saves", markersOf(host), seen)
	}
	if got, want := markersOf(client), []string{"75 reconnect 1", "75 load 1 epoch", "90 join 3", "125 reconnect 1", "125 load 1 epoch"}; !slices.Equal(got, want) {
		t.Errorf("the client notes %v, expected %v", got, want)
	}
	if got, want := markersOf(visitor), []string{"90 join 3", "90 load 3 epoch", "120 leave 1", "125 reconnect 1"}; !slices.Equal(got, want) {
		t.Errorf("the visitor notes %v, expected %v", got, want)
	}

	var played []uint64
	for tick := range uint64(200) {
		if tick < 60 || tick >= 75 && tick < 120 || tick >= 125 {
			played = append(played, tick)
		}
	}
	if !slices.Equal(ticksOf(client), played) {
		t.Errorf("the client has the ticks %v", ticksOf(client))
	}
	if ticks := ticksOf(visitor); ticks[0] != 90 || len(ticks) != 110 || visitor.Header.FirstPoint != 90 || visitor.Header.Epoch != 1 || len(visitor.Epochs) != 1 {
		t.Errorf("the visitor has %d ticks from %d, first point %d, epoch %d of %d", len(ticks), ticks[0], visitor.Header.FirstPoint, visitor.Header.Epoch, len(visitor.Epochs))
	}
	if len(client.Epochs) != 3 {
		t.Fatalf("%d epochs of the client, expected 3", len(client.Epochs))
	}

	// The client noted the state in which it lost the connection, in the epoch that ended so; the history goes on from the host's.
	for _, c := range []struct {
		peer  *orderlog.Log
		epoch int
		last  uint64
	}{{client, 0, 60}, {client, 1, 120}, {client, 2, 200}, {visitor, 0, 200}} {
		number := uint32(slices.Index(c.peer.Header.Peers, c.peer.Header.Peer))
		if c.peer.Epochs[c.epoch].Hash(c.last, number, orderlog.SyncHash, "") == nil {
			t.Errorf("%s, epoch %d: no hash of state point %d", c.peer.Header.Peer, c.epoch, c.last)
		}
	}
	for _, c := range []struct {
		peer string
		want int
	}{{"host", 7}, {"client", 5}, {"visitor", 4}} {
		csharpHistory(t, filepath.Join(dir, c.peer, "order-log.bin"), c.want)
	}
	for point := uint64(90); point <= 180; point += 30 {
		want := host.Hash(point, 0, orderlog.HistoryHash, "")
		if got := visitor.Hash(point, 3, orderlog.HistoryHash, ""); !bytes.Equal(got, want) {
			t.Errorf("history hash of the visitor at point %d is %x, that of the host %x", point, got, want)
		}
	}
}

// tradeFaults returns the kinds of mistakes that the game can make, with their places.
func tradeFaults(t *testing.T, exe string) (names []string, places map[string][]string) {
	t.Helper()
	out, err := exec.Command("mono", exe, "faults").Output()
	if err != nil {
		t.Fatal(err)
	}
	places = map[string][]string{}
	for line := range strings.Lines(string(out)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 3 {
			t.Fatalf("%q is not a name, places and a sentence", line)
		}
		names = append(names, fields[0])
		places[fields[0]] = strings.Split(fields[1], ",")
	}
	return names, places
}

// needsLoad are the mistakes that show only when a peer comes back.
var needsLoad = []string{"load-loses", "save-omits-field", "timer-off"}

// TestTradeFaults makes each mistake with several seeds, and sees whether it bites; and where the session has no
// gap, whether it is found where it was made.
func TestTradeFaults(t *testing.T) {
	thorough(t)
	exe := compileCSharp(t, tradeGame, csharpSDK)
	sim := "exec:mono " + exe + " serve"
	names, places := tradeFaults(t, exe)
	if len(names) < 20 {
		t.Fatalf("only %d kinds of mistakes", len(names))
	}
	seeds := effort.Long(1, 2)
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bites := 0
			for seed := 1; seed <= seeds; seed++ {
				place := places[name][seed%len(places[name])]
				gap := slices.Contains(needsLoad, name)
				reconnect := "none"
				if gap {
					reconnect = "client@50+15"
				}
				dir, truth := recordTrade(t, exe, seed, "--ticks", "120", "--fault", name+"/"+place+"@20", "--reconnect", reconnect) // of few ticks: a hundred are enough for all
				if !truth.bites() {
					continue
				}
				bites++
				if truth.Fault != name || truth.Place != place || truth.Load != gap {
					t.Errorf("seed %d: the truth is %+v", seed, truth)
				}
				if truth.Bracket == nil || truth.Checksum != nil || gap {
					continue
				}
				// The truth compares values after each system, the tool hashes: they name one tick and one system.
				if truth.Bracket.Good == nil {
					wants(t, run(t, 1, "bisect", dir), "the initial state")
					continue
				}
				out := run(t, 1, "bisect", dir, "--sim", sim, "--drill")
				wants(t, out, fmt.Sprintf("DIVERGED  in tick %d\n", *truth.Bracket.Good))
				if strings.HasPrefix(name, "order-") {
					wants(t, out, "no peer departs from "+sim+": there is nothing to drill into")
					wants(t, run(t, 1, "tracediff", dir), fmt.Sprintf("DIVERGED  in tick %d, after system %s", *truth.Bracket.Good, *truth.System))
					continue
				}
				wants(t, out, "  system   "+*truth.System+"\n", "  drill    "+truth.Peer+", tick ")
			}
			if 2*bites <= seeds {
				t.Errorf("bites with %d of %d seeds", bites, seeds)
			}
		})
	}
}
