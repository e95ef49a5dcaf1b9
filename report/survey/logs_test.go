package survey_test

import (
	"fmt"
	"hash/crc32"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/survey"
	"github.com/desynctool/desynctool/tracediff"
)

// TestRotatedLogs: parts of logs belong to the peers that folders name, and other logs of a folder to peers of their names.
func TestRotatedLogs(t *testing.T) {
	part := func(from int) (out string) {
		for turn := from; turn < from+40; turn++ {
			out += fmt.Sprintf("turn %d crc=%08x\n", turn, uint32(turn)*2654435761)
		}
		return out
	}
	for want, names := range map[string]string{
		"ann ann bob": "ann/game.1.log ann/game.log bob/game.log",
		"eve fay":     "one/eve.log one/fay.log",
		"game1 game2": "one/game1.log one/game2.log",
	} {
		texts := map[string]string{}
		for i, name := range strings.Fields(names) {
			texts[name] = part(40*i + 1)
		}
		dir := write(t, texts)
		all, err := survey.For(files.Disk, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for name := range texts {
			path := filepath.Join(dir, filepath.FromSlash(name))
			f := all.Format(path)
			if f == nil || f.Trace == nil {
				t.Fatalf("%s: no log", name)
			}
			source, err := f.Trace.Read(strings.NewReader(texts[name]), path, 0)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, source.Header().Peer)
		}
		if slices.Sort(got); strings.Join(got, " ") != want {
			t.Errorf("%s: %q, want %s", names, got, want)
		}
	}
}

// TestKindsOfLogs: if each peer has logs of several kinds, the logs of one kind are compared with each other, and belong to the
// same peers as the others.
func TestKindsOfLogs(t *testing.T) {
	for _, c := range []struct{ net, sim, want string }{
		{"n%d_net.log", "n%d_sim.log", "n0 n0 n1 n1"},
		{"net-%d.log", "sim-%d.log", "0 0 1 1"},
		{"n%d_net.log", "m%d_sim.log", "m0_sim m1_sim n0_net n1_net"},
	} {
		texts := map[string]string{}
		for peer := range 2 {
			net, sim := fmt.Sprintf(c.net, peer), fmt.Sprintf(c.sim, peer)
			for turn := range uint32(40) {
				texts[net] += fmt.Sprintf("turn %d crc=%08x\n", turn, turn*2654435761)
				texts[sim] += fmt.Sprintf("t=%d state hash %08x, %d units\n", turn, turn*2246822519, turn%3)
			}
		}
		dir := write(t, texts)
		all, err := survey.For(files.Disk, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		kinds := map[string]bool{}
		for name := range texts {
			f := all.Format(filepath.Join(dir, name))
			source, err := f.Trace.Read(strings.NewReader(texts[name]), filepath.Join(dir, name), 0)
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, source.Header().Peer)
			kinds[f.Name] = true
		}
		apart := strings.HasPrefix(c.sim, "m")
		if slices.Sort(got); strings.Join(got, " ") != c.want || len(kinds) == 2 == apart {
			t.Errorf("%s: %q of %d kinds, expected %s", c.net, got, len(kinds), c.want)
		}
	}
}

// TestMessageLogs: messages of a logging library in JSON Lines are a log with values, and the date in the name is no tick.
func TestMessageLogs(t *testing.T) {
	texts := map[string]string{}
	for peer, name := range []string{"seat1-20260401.clef", "seat2-20260401.clef"} {
		log := ""
		for turn := range uint32(60) {
			at := fmt.Sprintf("2026-04-01T09:%02d:%02d.%d23Z", turn/60, turn%60, peer)
			log += fmt.Sprintf(`{"@t":%q,"@mt":"Order {Id} of {By}","Id":%d,"By":"eve","Turn":%d}`+"\n", at, turn/3, turn)
			log += fmt.Sprintf(`{"@t":%q,"@mt":"Done {Turn}","Turn":%d,"Wells":"%08x","Herd":"%08x","ThreadId":%d}`+"\n", at, turn, turn/2*0x9e3779b1, turn*0x85ebca6b, turn%5+uint32(peer))
		}
		texts[name] = log
	}
	dir := write(t, texts)
	all, err := survey.For(files.Disk, []string{dir})
	if err != nil {
		t.Fatal(err)
	}
	for name := range texts {
		if f := all.Format(filepath.Join(dir, name)); f == nil || f.Trace == nil {
			t.Errorf("%s: no log", name)
		}
	}
}

// TestLogsOfMatches: logs of two matches are compared with those of the same match, which differ or not.
func TestLogsOfMatches(t *testing.T) {
	for bad, want := range map[string]string{"": "", "hugo": "turn 30, room kd-52"} {
		texts := map[string]string{}
		for room, peers := range map[string][]string{"kd-41": {"ida", "jon"}, "kd-52": {"gwen", "hugo"}} {
			for n, peer := range peers {
				log := ""
				for turn := 1; turn <= 60; turn++ {
					sum := crc32.ChecksumIEEE(fmt.Append(nil, room, turn))
					if peer == bad && turn >= 30 {
						sum++
					}
					log += fmt.Sprintf("10:00:%02d room=%s turn=%d crc=%08x ping=%d\n", turn%60, room, turn, sum, 30+turn%(7+n))
				}
				texts[peer+".log"] = log
			}
		}
		dir := write(t, texts)
		all, err := survey.For(files.Disk, []string{dir})
		if err != nil {
			t.Fatal(err)
		}
		var traces []*tracediff.Trace
		for _, name := range slices.Sorted(maps.Keys(texts)) {
			path := filepath.Join(dir, name)
			list, err := tracediff.OpenForeign(files.Disk, path, all.Format(path).Trace, tracediff.ReadOptions{})
			if err != nil || len(list) != 1 {
				t.Fatal(list, err)
			}
			traces = append(traces, list[0])
		}
		r, err := tracediff.Compare(traces, tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		if r.First != nil {
			got = r.TickText(r.First.Tick) + ", " + r.First.Scope
		}
		if got != want {
			t.Errorf("%q, expected %q", got, want)
		}
	}
}

// TestUncovered: a value that differs to the end is named although the checksums of the logs are equal.
func TestUncovered(t *testing.T) {
	for bad, want := range map[int]string{80: "hull of barge 1 from turn 80 on", 999: ""} {
		texts := map[string]string{}
		for peer, name := range []string{"one.log", "two.log"} {
			sim, own, log := rand.New(rand.NewPCG(3, 4)), rand.New(rand.NewPCG(uint64(peer), 4)), ""
			for turn := 1; turn <= 140; turn++ {
				log += fmt.Sprintf("turn=%d hash=%08x rtt=%d\n", turn, sim.Uint32(), own.IntN(90))
				for barge := range 3 {
					hull := sim.IntN(400)
					if turn >= bad && barge == 1 {
						hull += peer
					}
					log += fmt.Sprintf("turn=%d barge=%d hull=%d drawn=%d\n", turn, barge, hull, own.IntN(90))
				}
			}
			texts[name] = log
		}
		all, err := survey.For(files.Disk, []string{write(t, texts)})
		if err != nil {
			t.Fatal(err)
		}
		if notes := strings.Join(all.Lost(), "\n"); (want != "") != strings.Contains(notes, "all checksums are") || !strings.Contains(notes, want) {
			t.Errorf("%d: %s", bad, notes)
		}
	}
}

// TestTablesOfPlayers: a table with a row for each player at every tick has states, unless all of its columns are inputs.
func TestTablesOfPlayers(t *testing.T) {
	for header, states := range map[string]int{"tick,player,stick_x,buttons": 0, "tick,player,mana,stick_x": 40, "tick,player,gold,wood": 40} {
		for _, players := range [][]string{{"ann", "bob"}, {"0", "1"}} {
			text := header + "\n"
			for tick := range 20 {
				for _, player := range players {
					text += fmt.Sprintf("%d,%s,%d,7\n", tick, player, tick*tick%11)
				}
			}
			if players[0] == "0" && states > 0 && strings.Contains(header, "stick") { // what a number plays may be an input
				continue
			}
			if list := found(t, write(t, map[string]string{"a/t.csv": text, "b/t.csv": text})); len(list) != states {
				t.Errorf("%s of %s: %d states, expected %d", header, players, len(list), states)
			}
		}
	}
}
