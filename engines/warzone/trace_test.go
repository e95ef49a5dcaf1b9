package warzone_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/warzone"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

const traceSession = "../../testdata/warzone2100/player_power_3peer"

const traceHostFile = traceSession + "/host_p0/20261120_085851_multiplay_p0.wzrp"

func format(t testing.TB, name string) *tracediff.Format {
	t.Helper()
	for _, f := range warzone.Formats() {
		if f.Name == name {
			return &f
		}
	}
	t.Fatal(name)
	return nil
}

func traceOpen(t testing.TB, name string, paths ...string) []*tracediff.Trace {
	t.Helper()
	var all []*tracediff.Trace
	for _, file := range paths {
		list, err := tracediff.OpenForeign(files.Disk, file, format(t, name), tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, list...)
	}
	return all
}

func compare(t testing.TB, list []*tracediff.Trace) *tracediff.Result {
	t.Helper()
	r, err := tracediff.Compare(list, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// first returns the first difference in one line.
func first(r *tracediff.Result) string {
	if r.First == nil {
		return "equal"
	}
	s := fmt.Sprintf("%s %s/%s", r.TickName(r.First.Tick), r.First.System, r.First.Scope)
	for _, name := range r.First.Sums {
		s += fmt.Sprintf(" %s:", name)
		for _, v := range r.First.Values {
			s += " " + v.Sum(name)
		}
	}
	return s
}

func names(list []*tracediff.Trace) (names []string) {
	for _, t := range list {
		names = append(names, t.Name)
	}
	return names
}

// TestReplay checks the truth: slot 1 differs from 25702 on, and the others agree.
func TestTraceReplay(t *testing.T) {
	for _, file := range []string{traceHostFile, traceSession + "/gamma_p1/20261120_085852_multiplay_p1.wzrp"} {
		list := traceOpen(t, "warzone-replay", file)
		if diff := cmp.Diff([]string{"slot 0", "slot 1", "slot 2"}, names(list)); diff != "" {
			t.Error(diff)
		}
		h := list[1].Header
		if h.Seed != 1088316054 || h.Build != "4.3.3" || h.Peer != "slot 1" || h.Meta["player"] != "gamma" || h.Meta["map"] != "Sk-Rush" {
			t.Errorf("%+v", h)
		}
		r := compare(t, list)
		if got := first(r); got != "25702 / : 0x782c 0x6294 0x782c" {
			t.Error(got)
		}
		if !r.Bracket.Exact() || r.Bracket.Good.Number != 256 {
			t.Errorf("%+v", r.Bracket)
		}
		if diff := cmp.Diff([][]int{{0, 2}, {1}}, r.Groups[0].Groups); diff != "" {
			t.Errorf("%+v", r.Groups)
		}
		if info := r.Traces[0]; info.First.Number != 1 || info.Trouble != "" {
			t.Errorf("%+v", info)
		}
	}
}

// TestReplays compares the recordings of two peers. Each has what all three sent.
func TestReplays(t *testing.T) {
	list := traceOpen(t, "warzone-replay", traceHostFile, traceSession+"/gamma_p1/20261120_085852_multiplay_p1.wzrp")
	r := compare(t, list)
	if got := first(r); got != "25702 / : 0x782c 0x6294 0x782c 0x782c 0x6294 0x782c" {
		t.Error(got)
	}
}

func TestDump(t *testing.T) {
	dump := func(time, slot int) string {
		return fmt.Sprintf("%s/host_p0/desync%d_p%d.txt", traceSession, time, slot)
	}
	list := traceOpen(t, "warzone-dump", dump(25702, 0), dump(25702, 1), dump(25702, 2))
	if diff := cmp.Diff([]string{"slot 0", "slot 1", "slot 2"}, names(list)); diff != "" {
		t.Error(diff)
	}
	r := compare(t, list)
	if got := first(r); got != "25702 syncDebugEconomy/economy1 : 5583457484800 5587752452096 5583457484800" {
		t.Error(got)
	}
	if r.Changed != 3 || r.Missing != 0 || r.First.Values[1].Pos.Line != 11 || !r.Dialect().Values {
		t.Errorf("%+v", r)
	}
	var cascade []string
	for _, c := range r.Cascade {
		cascade = append(cascade, fmt.Sprint(c.System, " ", c.Scope, " ", c.Count))
	}
	if diff := cmp.Diff([]string{"syncDebugEconomy economy1 2", "updatePlayerPower updatePlayerPower1 1"}, cascade); diff != "" {
		t.Error(diff)
	}
	if r := compare(t, traceOpen(t, "warzone-dump", dump(25702, 0), dump(25702, 2))); r.First != nil || r.LastCompared.Number != 257 {
		t.Errorf("%+v", r.First)
	}
}

// TestPosition edits a droid's position into a dump, and gives it a version of
// the game for which the CRC is not checked against it.
func TestPosition(t *testing.T) {
	b, err := os.ReadFile(traceSession + "/host_p0/desync25702_p0.txt")
	if err != nil {
		t.Fatal(err)
	}
	edited := strings.Replace(string(b), "> droid288 = p3;pos(2879,", "> droid288 = p3;pos(2880,", 1)
	edited = strings.Replace(edited, "My client version = 4.3.3", "My client version = 4.4.0", 1)
	edited = strings.ReplaceAll(edited, "CRC 0xDD89782C", "CRC 0xDD89782D")
	file := filepath.Join(t.TempDir(), "desync25702_p3.txt")
	if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
		t.Fatal(err)
	}
	r := compare(t, traceOpen(t, "warzone-dump", traceSession+"/host_p0/desync25702_p0.txt", file))
	if got := first(r); got != "25702 droidUpdate >/droid 288 pos.x: 2879 2880" || r.Changed != 1 {
		t.Error(got, r.Changed)
	}
	if r.Traces[1].Name != "slot 3" {
		t.Error(r.Traces[1].Name)
	}
}

// TestSealed: dumps that differ under one CRC are damage, also in the name of a function, which no CRC covers.
func TestSealed(t *testing.T) {
	b, err := os.ReadFile(traceSession + "/host_p0/desync25702_p0.txt")
	if err != nil {
		t.Fatal(err)
	}
	sound := traceSession + "/host_p0/desync25702_p0.txt"
	lines := strings.SplitAfter(string(b), "\n")
	lines[1], lines[2] = lines[2], lines[1]
	swapped := strings.Join(lines, "")
	for what, edited := range map[string]string{
		"changed":   strings.Replace(strings.Replace(string(b), "droid288 = p3;pos(2879,", "droid288 = p3;pos(2880,", 1), "4.3.3", "4.4.0", 1),
		"missing":   strings.Replace(string(b), "[droidUpdate] M droid288", "[droidUqdate] M droid288", 1),
		"reordered": strings.Replace(swapped, "4.3.3", "4.4.0", 1),
	} {
		file := filepath.Join(t.TempDir(), "desync25702_p3.txt")
		if err := os.WriteFile(file, []byte(edited), 0o600); err != nil {
			t.Fatal(err)
		}
		r := compare(t, traceOpen(t, "warzone-dump", sound, file))
		if r.First != nil || r.FindingCount > 0 || !strings.Contains(r.Traces[1].Trouble, "all files have the checksum 0xDD89782C") {
			t.Errorf("%s: %q %+v", what, first(r), r.Traces[1])
		}
		list := make([]snapshot.State, 2)
		for i, path := range []string{sound, file} {
			if list[i], err = snapshot.OpenAny(files.Disk, path, []snapshot.Format{warzone.Format()}); err != nil {
				t.Fatal(err)
			}
			defer list[i].Close()
		}
		if _, err := snapshot.Compare(list[0], list[1], snapshot.DiffOptions{}); err == nil || !strings.Contains(err.Error(), "one of the files is damaged") {
			t.Errorf("%s: states: %v", what, err)
		}
	}
}

// TestScopes pins the checkpoints that lines become.
func TestScopes(t *testing.T) {
	b, err := os.ReadFile(traceSession + "/host_p0/desync25702_p0.txt")
	if err != nil {
		t.Fatal(err)
	}
	s, err := format(t, "warzone-dump").Read(bytes.NewReader(b), "somewhere.txt", 0)
	if err != nil {
		t.Fatal(err)
	}
	if s.Header().Peer != "" {
		t.Error(s.Header().Peer)
	}
	got := map[int64]string{}
	for {
		rec, err := s.Next()
		if err != nil {
			if err != io.EOF {
				t.Error(err)
			}
			break
		}
		c := rec.Checkpoint
		text := fmt.Sprintf("%d %s/%s", c.Tick, c.System, c.Scope)
		for _, sum := range c.Sums[:min(len(c.Sums), 2)] {
			text += fmt.Sprintf(" %s=%s", sum.Name, sum.Value)
		}
		got[rec.Pos.Line] = text
	}
	for line, want := range map[int64]string{
		2:   "257 syncDebugEconomy/economy0 =5583457484800",
		3:   "257 updatePlayerPower/updatePlayerPower0 from=5583457484800 to=5583457484800",
		6:   "257 droidUpdate M/droid 289 player=0 pos.x=2752",
		33:  "257 calcDroidMuzzleLocation/droid 288 =connect:body[0]=(0,-23,-10),muzzle=(2883,8808,329)",
		178: "257 countUpdate/counts[0] droid=2 command=0",
		189: "257 gameLoop/End gameTime=25602",
		190: "257 recvPlayerGameTime/GAME_GAME_TIME p0 lat=10 ct=24602",
		194: `257 gameStateUpdate/ map="Sk-Rush" random=0x3946BC1F`,
		195: `257 gameStateUpdate/Player 0 ="alpha"`,
		207: "", // the version, which may differ
	} {
		if got[line] != want {
			t.Errorf("line %d: %q, want %q", line, got[line], want)
		}
	}
	if len(got) != 204 {
		t.Errorf("%d checkpoints", len(got))
	}
}

func TestTraceSniff(t *testing.T) {
	replay, err := os.ReadFile(traceHostFile)
	if err != nil {
		t.Fatal(err)
	}
	for head, want := range map[string]string{
		string(replay[:tracediff.SniffLen]):                                    "warzone-replay",
		"===== BEGIN gameTime=25702, 205 entries, CRC 0xDD89782C =====\n[a] b": "warzone-dump",
		"===== BEGIN gameTime=25702, 205 entries":                              "",
		"tick=1 sum=2\n": "", "": "",
	} {
		got := ""
		for _, f := range warzone.Formats() {
			if f.Sniff([]byte(head)) {
				got += f.Name
			}
		}
		if got != want {
			t.Errorf("%.20q: %q, want %q", head, got, want)
		}
	}
}

func TestTraceBad(t *testing.T) {
	b, err := os.ReadFile(traceHostFile)
	if err != nil {
		t.Fatal(err)
	}
	f := format(t, "warzone-replay")
	if _, err := f.Peers(strings.NewReader(""), "x"); !errors.Is(err, frame.ErrTorn) {
		t.Error(err)
	}
	if _, err := f.Peers(bytes.NewReader(b[:8350]), "x"); !errors.Is(err, frame.ErrTorn) {
		t.Error(err)
	}
	// Torn after the third slot's first message.
	peers, err := f.Peers(bytes.NewReader(b[:8401]), "x")
	if err != nil || len(peers) != 3 {
		t.Error(peers, err)
	}
	for peer, want := range []int{1, 1, 1, 0} {
		s, err := f.Read(bytes.NewReader(b[:8401]), "x", peer)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for ; err == nil; n++ {
			_, err = s.Next()
		}
		if _, again := s.Next(); n-1 != want || !errors.Is(err, frame.ErrTorn) || again != err {
			t.Errorf("%d checkpoints of peer %d: %v", n-1, peer, err)
		}
	}
	bad := append([]byte(nil), b[:8381]...)
	bad = append(bad, 1, 120, 1, 7)
	s, err := f.Read(bytes.NewReader(bad), "x", 0)
	for err == nil {
		_, err = s.Next()
	}
	if !errors.Is(err, frame.ErrCorrupt) {
		t.Error(err)
	}
}

func fuzz(f *testing.F, name string, seeds ...[]byte) {
	read := format(f, name).Read
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := read(bytes.NewReader(b), "x", 1)
		if err != nil {
			return
		}
		for err == nil {
			var rec *tracediff.Record
			if rec, err = s.Next(); err != nil {
				break
			}
			// The reader must give what one of our traces can contain.
			c := rec.Checkpoint
			if len(c.Sums) == 0 && !c.HasCount || len(c.System) > tracediff.MaxText || len(c.Scope) > tracediff.MaxText {
				t.Errorf("%+v", c)
			}
			seen := map[string]bool{}
			for _, sum := range c.Sums {
				if seen[sum.Name] || len(sum.Value) == 0 || strings.ContainsAny(sum.Name, " =\"") {
					t.Errorf("%+v", c)
				}
				seen[sum.Name] = true
			}
		}
		if err != io.EOF && !errors.As(err, new(*frame.Error)) {
			t.Error(err)
		}
	})
}

func FuzzTraceReplay(f *testing.F) {
	b, err := os.ReadFile(traceHostFile)
	if err != nil {
		f.Fatal(err)
	}
	fuzz(f, "warzone-replay", b[:8900])
}

func FuzzTraceDump(f *testing.F) {
	b, err := os.ReadFile(traceSession + "/host_p0/desync25702_p0.txt")
	if err != nil {
		f.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	fuzz(f, "warzone-dump", []byte(strings.Join(append(lines[:36:36], lines[176:]...), "")))
}

func BenchmarkTraceDump(b *testing.B) {
	text, err := os.ReadFile(traceSession + "/host_p0/desync25702_p0.txt")
	if err != nil {
		b.Fatal(err)
	}
	head, rest, _ := strings.Cut(string(text), "\n")
	body, _, _ := strings.Cut(rest, "===== END")
	long := strings.Replace(head, "205 entries", "999999 entries", 1) + "\n" + strings.Repeat(body, 800)
	read := format(b, "warzone-dump").Read
	b.SetBytes(int64(len(long)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := read(strings.NewReader(long), "x", 0)
		for err == nil {
			_, err = s.Next()
		}
		if !errors.Is(err, frame.ErrTorn) {
			b.Fatal(err)
		}
	}
}

func BenchmarkTraceReplay(b *testing.B) {
	file, err := os.ReadFile(traceHostFile)
	if err != nil {
		b.Fatal(err)
	}
	// The messages of the file, many times, without an end.
	long := append(file[:8310:8310], bytes.Repeat(file[8310:len(file)-36], 800)...)
	read := format(b, "warzone-replay").Read
	b.SetBytes(int64(len(long)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := read(bytes.NewReader(long), "x", 1)
		for err == nil {
			_, err = s.Next()
		}
		if !errors.Is(err, frame.ErrTorn) {
			b.Fatal(err)
		}
	}
}
