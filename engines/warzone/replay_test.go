package warzone_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/gamereplay"
	"github.com/desynctool/desynctool/engines/warzone"
)

// recording is one on the disk.
func recording(t *testing.T, file string) *engine.Recording {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := warzone.NewReader(f, file)
	if err != nil {
		t.Fatal(err)
	}
	rec := &engine.Recording{Path: "host/x.wzrp", File: file, Format: "warzone-replay", Header: r.Header()}
	for {
		record, err := r.Next()
		if err != nil {
			return rec
		}
		rec.Last = record.Tick.Number
	}
}

func real(name string) string { return filepath.Join(replaySession, filepath.FromSlash(name)) }

// play has a stand-in play a recording, and returns the files that it left by name.
func play(t *testing.T, kind, file string, ask engine.Ask) (map[string]string, error) {
	t.Helper()
	w := &gamereplay.Witness{Game: warzone.Game(), Spec: "warzone2100", Program: engine.Program{Path: program(t, kind), Options: map[string]string{}}}
	r, err := w.Play(context.Background(), recording(t, file), ask)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	left := map[string]string{}
	list, err := os.ReadDir(r.Folder)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range list {
		b, err := os.ReadFile(filepath.Join(r.Folder, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		left[e.Name()] = string(b)
	}
	return left, nil
}

// sums returns the CRCs that a recording has of a queue, by game time, and how many orders it has.
func sums(t *testing.T, text string, queue uint8) (crcs map[uint32]uint16, orders int) {
	t.Helper()
	r, err := warzone.NewReplay(strings.NewReader(text), "x.wzrp")
	if err != nil {
		t.Fatal(err)
	}
	crcs = map[uint32]uint16{}
	for {
		m, err := r.Next()
		if err == io.EOF {
			return crcs, orders
		}
		if err != nil {
			t.Fatal(err)
		}
		g, ok := m.GameTime()
		switch {
		case m.Type != warzone.TimeMessage:
			orders++
		case !ok:
			t.Fatalf("%x", m.Payload)
		case m.Queue == queue:
			crcs[g.CheckTime] = g.CRC
		case g.CheckTime != 0 || g.CRC != 0:
			// the other players' checksums are not what the game computed
			crcs[0]++
		}
	}
}

func replayLoad(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(real(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestReplay has the recordings of both peers played: the recording of slot 0, which is right, and the recording of
// slot 1, which had its power changed.
func TestReplayReplay(t *testing.T) {
	for name, last := range map[string]uint32{replayHostFile: 66702, replayGammaFile: 65602} {
		left, err := play(t, "good", real(name), engine.Ask{})
		if err != nil {
			t.Fatal(err)
		}
		if got := slices.Sorted(maps.Keys(left)); fmt.Sprint(got) != "[desync25702_p23.txt desync25802_p23.txt replay_p23.wzrp]" {
			t.Fatal(got)
		}
		for _, time := range []int{25702, 25802} {
			if left[fmt.Sprintf("desync%d_p23.txt", time)] != replayLoad(t, fmt.Sprintf("host_p0/desync%d_p0.txt", time)) {
				t.Errorf("%s: dump of %d is not that of slot 0", name, time)
			}
		}
		got, orders := sums(t, left["replay_p23.wzrp"], 23)
		want, wantOrders := sums(t, replayLoad(t, name), 0)
		delete(want, 0)
		maps.DeleteFunc(want, func(time uint32, _ uint16) bool { return time > last })
		if !maps.Equal(got, want) || orders != wantOrders {
			t.Errorf("%s: %d sums and %d orders, want %d and %d", name, len(got), orders, len(want), wantOrders)
		}
	}
}

// ticks reads a recording as an order log, without its hashes: the orders of each tick.
func ticks(t *testing.T, text string, until uint64) (list []string) {
	t.Helper()
	r, err := warzone.NewReader(strings.NewReader(text), "x.wzrp")
	if err != nil {
		t.Fatal(err)
	}
	for {
		rec, err := r.Next()
		if err != nil {
			return list
		}
		if len(rec.Tick.Orders) > 0 && rec.Tick.Number <= until {
			list = append(list, fmt.Sprint(rec.Tick.Number, rec.Tick.Orders))
		}
	}
}

// TestDumps asks for states, among them one after the first two that differ, and one that cannot be had.
func TestReplayDumps(t *testing.T) {
	until := uint64(300)
	left, err := play(t, "good", real(replayGammaFile), engine.Ask{Until: &until, Dump: []uint64{255, 257, 258, 299, 1 << 40, 5000}})
	if err != nil {
		t.Fatal(err)
	}
	want := "[desync25502_p23.txt desync25702_p23.txt desync25802_p23.txt desync29902_p23.txt replay_p23.wzrp]"
	if got := slices.Sorted(maps.Keys(left)); fmt.Sprint(got) == want {
		t.Fatal("the stand-in has no text of 25502 and 29902, which cannot be mended to what it was", got)
	} else if fmt.Sprint(got) != "[desync25702_p23.txt desync25802_p23.txt replay_p23.wzrp]" {
		t.Fatal(got)
	}
	crcs, _ := sums(t, left["replay_p23.wzrp"], 23)
	if len(crcs) != 301 {
		t.Errorf("%d sums", len(crcs))
	}
	if got, want := ticks(t, left["replay_p23.wzrp"], 300), ticks(t, replayLoad(t, replayGammaFile), 300); fmt.Sprint(got) != fmt.Sprint(want) || len(got) == 0 {
		t.Errorf("orders are in other ticks: %d, want %d", len(got), len(want))
	}
}

// TestMended asks for dumps in which there is no difference, so that none is written unasked.
func TestMended(t *testing.T) {
	file := same(t)
	left, err := play(t, "good", file, engine.Ask{Dump: []uint64{257, 258}})
	if err != nil {
		t.Fatal(err)
	}
	for _, time := range []int{25702, 25802} {
		if got, want := left[fmt.Sprintf("desync%d_p23.txt", time)], replayLoad(t, fmt.Sprintf("host_p0/desync%d_p0.txt", time)); got != want {
			t.Errorf("dump of %d of %d bytes, want those of slot 0, %d", time, len(got), len(want))
		}
	}
}

// same writes the recording of slot 0 without the queue of slot 1, which differs, and the lines of its messages.
func same(t *testing.T) string {
	t.Helper()
	text := replayLoad(t, replayHostFile)
	r, err := warzone.NewReplay(strings.NewReader(text), "x")
	if err != nil {
		t.Fatal(err)
	}
	var out []byte
	truth := map[uint32]uint16{}
	first := int64(0)
	end := int64(0)
	for {
		m, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if first == 0 {
			first = m.Offset
		}
		end = m.Offset + int64(len(m.Append(nil)))
		if g, ok := m.GameTime(); ok && m.Type == warzone.TimeMessage {
			if m.Queue == 0 {
				truth[g.CheckTime] = g.CRC
			} else if m.Queue == 1 && g.CheckTime >= 25702 {
				g.CRC = truth[g.CheckTime]
				m.Payload = g.Append(nil)
			}
		}
		out = m.Append(out)
	}
	file := filepath.Join(t.TempDir(), "same.wzrp")
	if err := os.WriteFile(file, []byte(text[:first]+string(out)+text[end:]), 0o666); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestNobody plays with a game that computes from 26002 on what nobody has recorded.
func TestNobody(t *testing.T) {
	until := uint64(264)
	left, err := play(t, "random", same(t), engine.Ask{Until: &until})
	if err != nil {
		t.Fatal(err)
	}
	crcs, _ := sums(t, left["replay_p23.wzrp"], 23)
	first, _ := sums(t, replayLoad(t, replayHostFile), 0)
	if crcs[25902] != first[25902] || crcs[26002] == first[26002] || left["desync26002_p23.txt"] == "" {
		t.Errorf("%04X %04X %v", crcs[25902], crcs[26002], slices.Sorted(maps.Keys(left)))
	}
	if _, ok := crcs[26202]; ok {
		t.Errorf("a sum of 26202, which nobody knows: %04X", crcs[26202])
	}
}

func TestNoReplay(t *testing.T) {
	cut := filepath.Join(t.TempDir(), "cut.wzrp")
	text := replayLoad(t, replayHostFile)
	header := func(old, new string) string {
		file := filepath.Join(t.TempDir(), "x.wzrp")
		if strings.Count(text, old) == 0 || len(old) != len(new) {
			t.Fatal(old)
		}
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, old, new)), 0o666); err != nil {
			t.Fatal(err)
		}
		return file
	}
	if err := os.WriteFile(cut, []byte(text[:len(text)-200]), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ kind, file, want string }{
		{"other", real(replayHostFile), "was recorded with 4.3.3, and"},
		{"mute", real(replayHostFile), "does not print a version of Warzone 2100"},
		{"crash", real(replayHostFile), `it ended with status 3; it said last: “error   |18:58:45: [debug:1] Assert in Warzone”`},
		{"silent", real(replayHostFile), "it ended before the end of the recording"},
		{"refuses", real(replayHostFile), `it does not play it; it said last: “Could not load replay file x: bad header”`},
		{"good", header(`"modHashes":[],"name":"",`, `"modHashes":["../x"]    ,`), "mods=DIR names the folder of their files: ../x"},
		{"good", header(`"versionString":"4.3.3"`, `"versionString":"-x;$("`), "recorded with -x;$("},
		{"good", cut, ""},
	} {
		left, err := play(t, test.kind, test.file, engine.Ask{})
		switch {
		case test.want == "":
			if err != nil || left["replay_p23.wzrp"] == "" {
				t.Errorf("%s %s: %v", test.kind, test.file, err)
			}
		case err == nil || !strings.Contains(err.Error(), test.want):
			t.Errorf("%s %s: %v, want %s", test.kind, test.file, err, test.want)
		}
	}
	var refused *engine.Refusal
	_, err := play(t, "other", real(replayHostFile), engine.Ask{})
	if !errors.As(err, &refused) || !refused.Version {
		t.Errorf("%v is not of the version", err)
	}
}
