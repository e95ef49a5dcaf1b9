package spring_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/spring"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
)

func claims(log *spring.Infolog) (list []string) {
	for _, e := range log.Errors {
		list = append(list, fmt.Sprintf("%s %d %x %x", strings.Join(e.Players, "+"), e.Frame, e.Got, e.Correct))
	}
	return list
}

// TestInfolog checks the lines that the real logs have, the same in all of them.
func TestInfolog(t *testing.T) {
	truth := map[string][]string{
		"pos_1ulp": {
			"Carol 712 21f149fb b5ba46e3", "Carol 1113 37bc4767 1f3b7caf", "Carol 1514 26be3fa7 7317605a", "Carol 1915 1907f59d 27aa73f8",
		},
		"checksum_only": {"Carol 3500 a2eb9b9b 63e59414", "Bob 3500 cfb26d63 63e59414", "Carol 3901 185fe9d6 ef947807"},
	}
	for _, session := range ordersSessions {
		for _, peer := range append([]string{"server"}, players...) {
			b := ordersLoad(t, session, peer, "infolog.txt.gz")
			log, err := spring.ReadInfolog(bytes.NewReader(b), "x")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(truth[session], claims(log)); diff != "" || log.Malformed+log.Dropped > 0 {
				t.Errorf("%s/%s: %s", session, peer, diff)
			}
			if fmt.Sprint(log.Players) != "map[0:Alice 1:Bob 2:Carol]" {
				t.Errorf("%s/%s: %v", session, peer, log.Players)
			}
			if peer == "server" {
				continue
			}
			for _, name := range players {
				start := log.Start[name]
				if !strings.HasPrefix(start["path data of block size 16"], "230d8c3715b14392") || len(start) != 4 ||
					len(start["map checksum"]) != 128 || len(start["mod checksum"]) != 128 {
					t.Errorf("%s/%s: %v", session, peer, start)
				}
			}
			for _, e := range log.Errors {
				line, _, _ := bytes.Cut(b[e.Offset:], []byte("\n"))
				number := 1 + bytes.Count(b[:e.Offset], []byte("\n"))
				if !bytes.HasSuffix(line, []byte(e.Text)) || int64(number) != e.Line || e.Logged < int64(e.Frame) ||
					!bytes.Contains(line, fmt.Appendf(nil, "[f=%07d]", e.Logged)) {
					t.Errorf("%+v: %s", e, line)
				}
			}
		}
	}
}

// TestLines pins what lines become.
func TestLines(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"[t=00:00:20.205818][f=0001039] Sync error for Bob in frame 1016 (got 67d9009b, correct is 3b04d30)", "Bob 1016 67d9009b 3b04d30 at 1039"},
		{"[t=00:00:18.477922] [GameServer] Sync error for Bob in frame 615 (got d87354c3, correct is 729bb0de)", "Bob 615 d87354c3 729bb0de at -1"},
		{"[t=00:00:18.4][f=-000001] Sync error for Bob, Carol in frame 1401 (got 862e9672, correct is f3e962e7)", "Bob+Carol 1401 862e9672 f3e962e7 at -1"},
		{"[t=00:00:19.768430][f=0000371] Error: [DESYNC WARNING] checksum feec838 from demo player 2 (Carol) does not match our checksum 90c6c4f5 for frame-number 360", "Carol 360 feec838 90c6c4f5 at 371 replay"},
		{"[t=1][f=0000371] Error: [Net::Read] [DESYNC WARNING] checksum 1 from demo player 2 (a (b) c) does not match our checksum 2 for frame-number 3", "a (b) c 3 1 2 at 371 replay"},
		{"[t=1][f=1] Sync error for x in frame 1 in frame 2 (got 1, correct is 2)", "x in frame 1 2 1 2 at 1"},
		{"[t=1][f=1] <Bob> Sync error for Carol in frame 1 (got 1, correct is 2)", ""},
		{"[t=1][f=1] [Bob] Sync error for Carol in frame 1 (got 1, correct is 2)", ""},
		{"[t=1][f=1] Error: [DESYNC WARNING] path-checksum 00000001 for player 1 (Bob) does not match local checksum 00000002; stale", ""},
		{"[t=1][f=1] Sync error for Bob in frame 1 (0x1F)", "malformed"},
		{"[t=1][f=1] Sync error for Bob in frame 1 (got 123456789, correct is 2)", "malformed"},
		{"[t=1][f=1] Sync error for Bob in frame 2147483648 (got 1, correct is 2)", "malformed"},
		{"[t=1][f=1] Sync error for " + strings.Repeat("a, ", 300) + "a in frame 1 (got 1, correct is 2)", "malformed"},
		{"[t=1][f=1] [DESYNC WARNING] checksum 1 from demo", "malformed"},
		{"[f=0070684] Sync error for Bob in frame 70676 (got 4558668, correct is eabb33c9)", "Bob 70676 4558668 eabb33c9 at 70684"},
		{"[f=-000001] Sync error for Bob in frame 7 (got 0, correct is 1)", "Bob 7 0 1 at -1"},
		{"[f=0070684] <Bob> Sync error for Carol in frame 1 (got 1, correct is 2)", ""},
		{"[f=70684] Sync error for Bob in frame 1 (got 1, correct is 2)", ""},
		{"[t=1][f=1", ""}, {"[t=1", ""}, {"[t=1]", ""}, {"[t=1][f=]", ""}, {"Sync error for Bob in frame 1 (got 1, correct is 2)", ""},
	} {
		log, err := spring.ReadInfolog(strings.NewReader("[t=0] x\n"+c.line+"\n"), "x")
		if err != nil {
			t.Fatal(err)
		}
		got := strings.Join(claims(log), "; ")
		for _, e := range log.Errors {
			got += fmt.Sprintf(" at %d", e.Logged)
			if e.Replay {
				got += " replay"
			}
		}
		if log.Malformed > 0 {
			got += "malformed"
			if log.FirstMalformed != 2 {
				t.Error(log.FirstMalformed)
			}
		}
		if got != c.want {
			t.Errorf("%.100s: %q, want %q", c.line, got, c.want)
		}
	}
}

// TestStart pins what lines of the start become, and that another game is not read.
func TestStart(t *testing.T) {
	log, err := spring.ReadInfolog(strings.NewReader(strings.Join([]string{
		"", "[t=0][f=-000001] GameID: 0123456789abcdef0123456789abcdef", "[t=0][f=-000001] GameID: 0123456789abcdef0123456789abcdef",
		"[t=0] [GameServer] Connection attempt from Ann", "[t=0] [GameServer]  -> Version: 1", "[t=0] [GameServer]  -> Connection established (given id 3)",
		"[t=0] [GameServer]  -> Connection established (given id 4)",
		`[t=0][f=-000001] [Game::ClientReadNet][LOGMSG] sender="Ann" string="[PreGame::GameDataReceived][map-checksums]`, "\tserver=aa", "\tclient=bb", `"`,
		`[t=0][f=-000001] [Game::ClientReadNet][LOGMSG] sender="Bob" string="[PE::CalcChecksum][BLK_SIZE=16][SHA_DATA=cc]`,
		"\tclient=dd", "[t=9][f=-000001] GameID: 1123456789abcdef0123456789abcdef", "[t=9] [GameServer] Connection attempt from Eve",
		"[t=9] [GameServer]  -> Connection established (given id 5)", "",
	}, "\r\n")), "x")
	if err != nil {
		t.Fatal(err)
	}
	want := &spring.Infolog{
		GameID: "0123456789abcdef0123456789abcdef", Players: map[uint32]string{3: "Ann"},
		Start: map[string]map[string]string{"Ann": {"map checksum": "bb"}, "Bob": {"path data of block size 16": "cc"}},
		Next:  "1123456789abcdef0123456789abcdef", NextLine: 14,
	}
	if diff := cmp.Diff(want, log); diff != "" {
		t.Error(diff)
	}
}

// TestHeads has logs of old versions and logs without the beginning of their heads.
func TestHeads(t *testing.T) {
	const line = "[f=0070684] Sync error for Bob in frame 70676 (got 4558668, correct is eabb33c9)\n"
	for text, want := range map[string]int{
		line: 1, "\n" + line + line: 2, "of a line]\n" + line: 1, "\tclient=00\n[t=00:00:01.5][f=0000001] x\n" + line: 1,
	} {
		log, err := spring.ReadInfolog(strings.NewReader(text), "x")
		if err != nil || len(log.Errors) != want {
			t.Errorf("%q: %v, %v", text, log, err)
		}
	}
	for _, text := range []string{"a\nb\n" + line, "[f=007068] x\n", "[f=00x0684] x\n", "[f=0070684]x\n"} {
		if spring.IsInfolog([]byte(text)) {
			t.Errorf("%q is taken for an infolog", text)
		}
	}
}

// TestNext has three games in one file; the first and the last have errors: only the first is read.
func TestNext(t *testing.T) {
	text := ""
	for _, id := range []string{"a", "b", "c"} {
		text += "[t=0] GameID: " + strings.Repeat(id, 32) + "\n"
		if id != "b" {
			text += "[t=1][f=0000001] Sync error for " + id + " in frame 1 (got 1, correct is 2)\n"
		}
	}
	log, err := spring.ReadInfolog(strings.NewReader(text), "x")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(claims(log), "; "); got != "a 1 1 2" || log.GameID != strings.Repeat("a", 32) || log.Next != strings.Repeat("b", 32) || log.NextLine != 3 {
		t.Errorf("%s of %s, then %s in line %d", got, log.GameID, log.Next, log.NextLine)
	}
}

func TestBadInfolog(t *testing.T) {
	for _, text := range []string{"", "\n\n", "x\n", "[t=]\n", "[t=a] x\n", "frame,player0\n", string(demo(0, script))} {
		if log, err := spring.ReadInfolog(strings.NewReader(text), "x"); log != nil || !errors.Is(err, frame.ErrUnrecognized) {
			t.Errorf("%q: %v", text, err)
		}
	}
	line := "[t=1][f=1] Sync error for Bob in frame 1 (got 1, correct is 2)"
	log, err := spring.ReadInfolog(strings.NewReader(line+"\n"+line), "x")
	if !errors.Is(err, frame.ErrTorn) || len(log.Errors) != 1 {
		t.Error(log, err)
	}
	endless := io.MultiReader(strings.NewReader(line+"\n[t=1] "), strings.NewReader(strings.Repeat("x", int(limits.Line.Max())+1)))
	if log, err = spring.ReadInfolog(endless, "x"); !errors.As(err, new(*limits.Error)) || len(log.Errors) != 1 {
		t.Error(log, err)
	}
	trouble := errors.New("trouble")
	if log, err := spring.ReadInfolog(io.MultiReader(strings.NewReader(line+"\n"), iotest.ErrReader(trouble)), "x"); log != nil || !errors.Is(err, trouble) {
		t.Error(log, err)
	}
	log, err = spring.ReadInfolog(strings.NewReader("[t=1] Sync error for \xff\xfe in frame 1 (got 1, correct is 2)\n"), "x")
	if err != nil || log.Errors[0].Players[0] != "\uFFFD" {
		t.Error(log, err)
	}
}

// TestManyErrors has more lines than are kept, and long ones.
func TestManyErrors(t *testing.T) {
	line := "[t=1][f=1] Sync error for Bob in frame 1 (got 1, correct is 2)\n"
	log, err := spring.ReadInfolog(strings.NewReader(strings.Repeat(line, 1<<16+5)), "x")
	if err != nil || len(log.Errors) != 1<<16 || log.Dropped != 5 {
		t.Error(len(log.Errors), log.Dropped, err)
	}
	line = strings.Replace(line, "Bob", strings.Repeat("Bob, ", 200)+strings.Repeat("x", 8000), 1)
	log, err = spring.ReadInfolog(strings.NewReader(strings.Repeat(line, 5000)), "x")
	if err != nil || log.Dropped == 0 || len(log.Errors)+log.Dropped != 5000 {
		t.Error(len(log.Errors), log.Dropped, err)
	}
}

func FuzzReadInfolog(f *testing.F) {
	for _, peer := range []string{"Bob", "server"} {
		lines := strings.SplitAfter(string(ordersLoad(f, "checksum_only", peer, "infolog.txt.gz")), "\n")
		var kept []string
		for i, line := range lines {
			if i < 5 || strings.Contains(line, "Sync error") || strings.Contains(line, "LOGMSG") || strings.HasPrefix(line, "\t") || strings.Contains(line, "onnection") {
				kept = append(kept, line)
			}
		}
		f.Add([]byte(strings.Join(kept[max(0, len(kept)-30):], "")))
		f.Add([]byte(strings.Join(kept[:30], "")))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		log, err := spring.ReadInfolog(bytes.NewReader(b), "x")
		if err != nil && !errors.As(err, new(*frame.Error)) {
			t.Fatal(err)
		}
		if log == nil {
			return
		}
		for _, e := range log.Errors {
			if e.Line < 1 || e.Offset < 0 || e.Offset >= int64(len(b)) || len(e.Players) == 0 || len(e.Text) > 4*1024 {
				t.Errorf("%+v", e)
			}
		}
	})
}

// BenchmarkInfolog reads a client's log, many times over, as a stream.
func BenchmarkInfolog(b *testing.B) {
	one := ordersLoad(b, "control", "Alice", "infolog.txt.gz")
	n := 100 << 20 / len(one)
	b.SetBytes(int64(n * len(one)))
	b.ReportAllocs()
	for b.Loop() {
		readers := make([]io.Reader, n)
		for i := range readers {
			readers[i] = bytes.NewReader(one)
		}
		if _, err := spring.ReadInfolog(io.MultiReader(readers...), "x"); err != nil {
			b.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	b.ReportMetric(float64(m.Sys)/(1<<20), "MiB")
}
