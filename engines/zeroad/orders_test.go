package zeroad_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/zeroad"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/orderlog"
)

const corpus = "../../testdata/0ad"

func logFiles(t testing.TB) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"*/commands.txt", "*/*/commands.txt"} {
		paths, err := filepath.Glob(filepath.Join(corpus, pattern))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, paths...)
	}
	if len(out) < 7 {
		t.Fatalf("only %d files: %v", len(out), out)
	}
	return out
}

func readFile(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func reader(t testing.TB, name, text string) *zeroad.Reader {
	t.Helper()
	r, err := zeroad.NewReader(strings.NewReader(text), name)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func compare(t testing.TB, host, client string) *orderlog.Comparison {
	t.Helper()
	c, err := orderlog.Compare([]orderlog.Named{{Name: "host", Source: reader(t, "host", host)}, {Name: "client", Source: reader(t, "client", client)}}, orderlog.CompareOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func session(t testing.TB, name string) (host, client string) {
	return readFile(t, filepath.Join(corpus, name, "host/commands.txt")), readFile(t, filepath.Join(corpus, name, "client/commands.txt"))
}

// TestTruth checks what is known about each real session. A hash after turn T is
// of point T + 1, which is also the turn that the engine's messages name.
func TestTruth(t *testing.T) {
	for _, test := range []struct {
		session            string
		verdict            orderlog.Verdict
		orders, turns      uint64
		first, full, quick uint64 // points at which hashes differ; 0 if nowhere
		good               uint64
	}{
		{"control_mp_orders", orderlog.InputsEqual, 20, 463, 0, 0, 0, 460},
		// The state differs from turn 24 on. Quick hashes agree up to turn 42.
		{"mp_late_damage", orderlog.Simulation, 0, 224, 40, 40, 44, 20},
		// The state differs from turn 17 on, which the engine calls 18.
		{"mp_orders_walkspeed", orderlog.Simulation, 20, 268, 18, 20, 18, 1},
	} {
		host, client := session(t, test.session)
		c := compare(t, host, client)
		if c.DifferenceCount+c.LocalCount != 0 || c.Verdict != test.verdict || c.Incomplete() {
			t.Errorf("%s: %s, %d differences", test.session, c.Line(), c.DifferenceCount)
		}
		if c.Window.Orders != test.orders || c.Window.Ticks != test.turns {
			t.Errorf("%s: %d orders in %d turns, expected %d in %d", test.session, c.Window.Orders, c.Window.Ticks, test.orders, test.turns)
		}
		first := func(d *orderlog.HashDifference) uint64 {
			if d == nil {
				return 0
			}
			return d.Point
		}
		if got := first(c.State.First); got != test.first {
			t.Errorf("%s: state differs from %d on, expected %d", test.session, got, test.first)
		}
		if c.State.Good == nil || *c.State.Good != test.good {
			t.Errorf("%s: last full hash that agrees is %v, expected %d", test.session, c.State.Good, test.good)
		}
		for _, sum := range c.State.Hashes {
			want := test.full
			if sum.Coverage == zeroad.QuickHash {
				want = test.quick
			}
			if got := first(sum.First); got != want {
				t.Errorf("%s: %s/%s hashes differ from %d on, expected %d", test.session, sum.Kind, sum.Coverage, got, want)
			}
		}
		if len(c.State.Hashes) != 2 {
			t.Errorf("%s: hashes %+v", test.session, c.State.Hashes)
		}
	}
}

// The same orders in a replay of another session's beginning.
func TestTruthReplay(t *testing.T) {
	host, _ := session(t, "control_mp_orders")
	c := compare(t, host, readFile(t, filepath.Join(corpus, "replay_walkspeed/commands.txt")))
	if c.Line() != "inputs equal: 20 orders from 0 to 169" || c.Peers[1].After != 0 {
		t.Errorf("%s, %+v", c.Line(), c.Peers[1])
	}
	for _, o := range c.State.Hashes {
		if o.Differ != 0 {
			t.Errorf("%s/%s hashes differ", o.Kind, o.Coverage)
		}
	}
}

func TestOrders(t *testing.T) {
	r := reader(t, "client", readFile(t, filepath.Join(corpus, "mp_orders_walkspeed/client/commands.txt")))
	h := r.Header()
	if h.Build != "0.0.26" || h.TickRate != (orderlog.Rate{Num: 5, Den: 1}) || r.Dialect().Session == "" || h.Params[zeroad.ParamLength] != "200" {
		t.Errorf("header %+v", h)
	}
	for {
		rec, err := r.Next()
		if err != nil {
			t.Fatal(err)
		}
		if rec.Tick.Number != 16 || len(rec.Tick.Orders) == 0 {
			continue
		}
		o := rec.Tick.Orders[0]
		want := `{"type":"walk","entities":[151,152,153,154],"x":78,"z":96.5,"queued":false,"pushFront":false}`
		if o.Player != 1 || string(o.Payload) != want || r.Header().Kinds[o.Kind].Name != "walk" {
			t.Errorf("order of player %d: %s", o.Player, o.Payload)
		}
		return
	}
}

func TestAltered(t *testing.T) {
	host, client := session(t, "mp_orders_walkspeed")
	client = strings.Replace(client, `"x":78,"z":96.5`, `"x":78.5,"z":96.5`, 1)
	c := compare(t, host, client)
	want := `16 altered walk of player 1 on client: byte 50: 0x, 0x2e35; x: 78, 78.5`
	if len(c.Differences) != 1 || c.Differences[0].String() != want {
		t.Fatalf("differences %v, expected %q", c.Differences, want)
	}
	// The state differs later than the order.
	if c.Verdict != orderlog.InputsDiffer || c.Differences[0].At[1].Line == 0 {
		t.Errorf("%s, at %+v", c.Line(), c.Differences[0].At)
	}
}

// rewrite reads a text and writes it again.
func rewrite(text string) (string, error) {
	r, err := zeroad.NewReader(strings.NewReader(text), "test")
	if err != nil {
		return "", err
	}
	var out strings.Builder
	err = zeroad.Write(&out, r)
	return out.String(), err
}

const start = `start {"settings":{"Seed":7},"matchID":"A"}` + "\n"

func TestLossless(t *testing.T) {
	texts := []string{
		start,
		start + "turn 0 200\nend\nturn 1 500\ncmd 2 {\"a\":\"\xff\x1b[31m\"}\ncmd 1 7\nend\nhash 00ff\nturn 2 500\nend\nturn 3 200\nend\n",
		strings.ReplaceAll(start+"turn 0 200\ncmd 1 {\"type\":\"turn length\"}\nend\nhash-quick 00\n", "\n", "\r\n"),
		start + "turn 7 0\nend\nturn 9 0\nend\nturn 2 0\nend\n",
	}
	for _, path := range logFiles(t) {
		texts = append(texts, readFile(t, path))
	}
	for _, text := range texts {
		got, err := rewrite(text)
		if err != nil {
			t.Errorf("%.100q: %v", text, err)
		}
		if got != text {
			t.Errorf("not written as it was read: %s", cmp.Diff(text, got))
		}
	}
}

// As our order log it loses nothing either.
func TestThroughOrderLog(t *testing.T) {
	for _, path := range logFiles(t) {
		text := readFile(t, path)
		var ticks []orderlog.Tick
		r := reader(t, path, text)
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			ticks = append(ticks, *rec.Tick.Clone())
		}
		var log bytes.Buffer
		w, err := orderlog.NewWriter(&log, r.Header(), orderlog.WriterOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := range ticks {
			if err := w.WriteTick(&ticks[i]); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		lr, err := orderlog.NewReader(&log, path)
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := zeroad.Write(&out, lr); err != nil || out.String() != text {
			t.Errorf("%s: not as it was (%v)", path, err)
		}
	}
}

func TestMalformed(t *testing.T) {
	for _, test := range []struct {
		text  string
		turns int
		err   error
	}{
		{"", 0, frame.ErrUnrecognized},
		{"turn 0 200\n", 0, frame.ErrUnrecognized},
		{"start {\n", 0, frame.ErrCorrupt},
		{"start {\"a\"", 0, frame.ErrTorn},
		{start + "turn 0 200\nend\nturn 1", 1, frame.ErrTorn},
		{start + "turn 0 200\nend\nturn 1 200\ncmd 1 {}\n", 2, frame.ErrTorn},
		{start + "turn 0 200\nend\nturn 1 200\ncmd 1 {}\nturn 2 200\n", 2, frame.ErrCorrupt},
		{start + "turn 00 200\nend\n", 0, frame.ErrCorrupt},
		{start + "turn 0 200 \nend\n", 0, frame.ErrCorrupt},
		{start + "turn 0 200\nend\nhash 0\n", 1, frame.ErrCorrupt},
		{start + "turn 0 200\nend\nhash AB\n", 1, frame.ErrCorrupt},
		{start + "turn 0 200\nend\ncmd 1 {}\n", 1, frame.ErrCorrupt},
		{start + "turn 0 200\nhash 00\n", 1, frame.ErrCorrupt},
		{start + "turn 0 200\ncmd x {}\n", 1, frame.ErrCorrupt},
		{start + "turn 0 200\nend\nflare\n", 1, frame.ErrCorrupt},
		{start + "\n", 0, frame.ErrCorrupt},
		{start + "turn 0 200\r\nend\nturn 1 200\nend\r\n", 2, io.EOF},
	} {
		turns := 0
		r, err := zeroad.NewReader(strings.NewReader(test.text), "test")
		for err == nil {
			if _, err = r.Next(); err == nil {
				turns++
			}
		}
		if !errors.Is(err, test.err) || turns != test.turns {
			t.Errorf("%q: %d turns, error %v; expected %d, %v", test.text, turns, err, test.turns, test.err)
		}
	}
}

// A host that was killed inside a turn, and turns of a different length.
func TestCoverage(t *testing.T) {
	whole := start + "turn 0 200\nend\nturn 1 200\ncmd 1 {\"type\":\"a\"}\ncmd 1 {\"type\":\"b\"}\nend\n"
	killed := start + "turn 0 200\nend\nturn 1 200\ncmd 1 {\"type\":\"a\"}\n"
	c := compare(t, whole, killed)
	if c.DifferenceCount != 0 || !c.Incomplete() || c.Peers[1].After != 1 {
		t.Errorf("%s, %+v", c.Line(), c.Peers[1])
	}
	c = compare(t, whole, strings.Replace(whole, "turn 1 200", "turn 1 500", 1))
	if len(c.Differences) != 1 || c.Differences[0].String() != "1 extra “turn length” of player 0 on client" {
		t.Errorf("turn of another length: %v", c.Differences)
	}
	_, err := orderlog.Compare([]orderlog.Named{
		{Name: "a", Source: reader(t, "a", whole)}, {Name: "b", Source: reader(t, "b", strings.Replace(whole, `"A"`, `"B"`, 1))},
	}, orderlog.CompareOptions{})
	if !errors.Is(err, orderlog.ErrOtherGame) {
		t.Errorf("another match: %v", err)
	}
}

// lineEnds matches the end of a line, however many carriage returns it has: a file that mixes them is written with the
// line ends of its first line.
var lineEnds = regexp.MustCompile("\r*\n")

// FuzzReader: what can be read is written again as it was, but for mixed line ends, or ends in
// an error.
func FuzzReader(f *testing.F) {
	for _, path := range logFiles(f) {
		text := readFile(f, path)
		f.Add([]byte(text))
		f.Add([]byte(text[:min(len(text), 2000)]))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, err := rewrite(string(text))
		if err == nil && lineEnds.ReplaceAllString(got, "\n") != lineEnds.ReplaceAllString(string(text), "\n") {
			t.Fatalf("%q became %q", text, got)
		}
		if err == nil {
			if c := compare(t, got, got); c.DifferenceCount != 0 {
				t.Fatalf("a log differs from itself: %v", c.Differences)
			}
		}
	})
}

// bigLog repeats the real host's turns up to size bytes.
func bigLog(tb testing.TB, size int) string {
	host, _ := session(tb, "mp_orders_walkspeed")
	start, body, _ := strings.Cut(host, "\n")
	turns := strings.Split(body, "turn ")[1:]
	var out strings.Builder
	out.WriteString(start + "\n")
	for n := 0; out.Len() < size; n++ {
		_, rest, _ := strings.Cut(turns[n%len(turns)], " ")
		fmt.Fprintf(&out, "turn %d %s", n, rest)
	}
	return out.String()
}

func BenchmarkReader(b *testing.B) {
	log := bigLog(b, 8<<20)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		r, err := zeroad.NewReader(strings.NewReader(log), "bench")
		for err == nil {
			_, err = r.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}

// BenchmarkCompare counts the bytes of both logs.
func BenchmarkCompare(b *testing.B) {
	log := bigLog(b, 8<<20)
	b.SetBytes(2 * int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		if c := compare(b, log, log); c.Verdict != orderlog.InputsEqual {
			b.Fatal(c.Line())
		}
	}
}
