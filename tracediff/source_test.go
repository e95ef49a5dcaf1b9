package tracediff

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// lines is a format of an engine that is made up: lines of "tick value", and one
// peer a line if the first line is "shared".
func lineFormat() *Format {
	return &Format{
		Name: "lines", Title: "lines",
		Peers: func(r io.Reader, name string) ([]string, error) {
			b, err := io.ReadAll(r)
			if bytes.HasPrefix(b, []byte("shared\n")) {
				return []string{"a", "", "b"}, err
			}
			return nil, err
		},
		Read: func(r io.Reader, name string, peer int) (Source, error) {
			b, err := io.ReadAll(r)
			return &lineSource{name: name, text: b, peer: peer}, err
		},
	}
}

type lineSource struct {
	name string
	text []byte
	pos  int
	peer int
	rec  Record
	c    Checkpoint
}

func (s *lineSource) Header() Header {
	peer, _, _ := strings.Cut(filepath.Base(s.name), ".")
	return Header{Peer: peer}
}

func (s *lineSource) Dialect() Dialect {
	return Dialect{Engine: "Lines", File: "lines", TickName: func(t uint64) string { return "turn " + strconv.FormatUint(t, 10) }, Reset: 64}
}

func (s *lineSource) Next() (*Record, error) {
	for {
		begin := s.pos
		line, _, ok := bytes.Cut(s.text[s.pos:], []byte("\n"))
		switch {
		case string(line) == "torn":
			return nil, &frame.Error{Name: s.name, Offset: int64(begin), Err: frame.ErrTorn, Msg: "torn"}
		case string(line) == "running":
			return nil, fmt.Errorf("%w: cut", ErrRunning)
		case !ok:
			return nil, io.EOF
		}
		s.pos += len(line) + 1
		parts := strings.Fields(string(line))
		if len(parts) < 2 {
			continue
		}
		tick, err := strconv.ParseUint(parts[0], 10, 64)
		if err != nil {
			return nil, &SyntaxError{s.name, Position{Offset: int64(begin)}, "no tick"}
		}
		value := parts[1]
		if len(parts) > 2 { // shared: a's value, then b's
			value = parts[1+s.peer/2]
		}
		s.c = Checkpoint{Tick: tick, Sums: []Sum{{Value: []byte(value)}}}
		s.rec = Record{Pos: Position{Offset: int64(begin)}, Checkpoint: &s.c}
		return &s.rec, nil
	}
}

// skipping is a lineSource that passes over ticks, and counts what it passes.
type skipping struct {
	*lineSource
	passed *int
}

func (s skipping) Skip(offset int64) (last uint64, passed bool, err error) {
	for {
		line, _, ok := bytes.Cut(s.text[s.pos:], []byte("\n"))
		if !ok || int64(s.pos+len(line)+1) > offset {
			return last, passed, nil
		}
		word, _, _ := strings.Cut(string(line), " ")
		last, _ = strconv.ParseUint(word, 10, 64)
		passed = true
		*s.passed++
		s.pos += len(line) + 1
	}
}

func openLines(t *testing.T, f *Format, contents ...string) (list []*Trace) {
	t.Helper()
	dir := t.TempDir()
	for i, content := range contents {
		path := filepath.Join(dir, fmt.Sprintf("peer%d.txt", i))
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		found, err := OpenForeign(files.Disk, path, f, ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, found...)
	}
	return list
}

// turns returns lines for ticks from..to with the value of f.
func turns(from, to int, f func(i int) string) string {
	var b strings.Builder
	for i := from; i <= to; i++ {
		fmt.Fprintf(&b, "%d %s\n", i, f(i))
	}
	return b.String()
}

func value(i int) string { return fmt.Sprintf("%08x", 0x1000+i) }

func differFrom(n, to int) func(i int) string {
	return func(i int) string {
		if i >= n && i <= to {
			return "ffffffff"
		}
		return value(i)
	}
}

func mustCompare(t *testing.T, list []*Trace, opts Options) *Result {
	t.Helper()
	r, err := Compare(list, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestForeignTraces(t *testing.T) {
	list := openLines(t, lineFormat(), turns(0, 100, value), turns(0, 100, differFrom(40, 64)))
	r := mustCompare(t, list, Options{})
	if r.First == nil || r.First.Tick.Number != 40 || !r.Bracket.Exact() || r.LastDiffering.Number != 64 || r.EqualFrom.Number != 65 || r.LastCompared.Number != 100 {
		t.Fatalf("%+v", r)
	}
	if got := r.TickName(r.First.Tick); got != "turn 40" {
		t.Errorf("tick is called %q", got)
	}
	if len(r.Context) != 2 || len(r.Context[1].Lines) != 7 || r.Context[1].At != 3 || !strings.Contains(r.Context[1].Lines[3], "ffffffff") {
		t.Errorf("context: %+v", r.Context)
	}
	if list[0].Name != "peer0" || list[0].Format == nil || list[0].Shared {
		t.Errorf("%+v", list[0])
	}
}

// TestSharedFile: one file may hold the traces of several peers, and numbers
// without any.
func TestSharedFile(t *testing.T) {
	list := openLines(t, lineFormat(), "shared\n1 aa aa\n2 aa bb\n3 aa aa\n")
	if len(list) != 2 || list[0].Name != "a" || list[1].Name != "b" || !list[1].Shared || list[1].Column != 2 {
		t.Fatalf("%+v", list)
	}
	r := mustCompare(t, list, Options{})
	if r.First == nil || r.First.Tick.Number != 2 || r.First.Values[0].Sum("") != "aa" || r.First.Values[1].Sum("") != "bb" {
		t.Fatalf("%+v", r.First)
	}
}

// TestJoin: files of several ticks are one trace, whatever their order, and one
// that is torn does not hide the next.
func TestJoin(t *testing.T) {
	parts := openLines(t, lineFormat(), turns(20, 29, value), turns(0, 9, value)+"torn", turns(10, 19, value))
	whole := openLines(t, lineFormat(), turns(0, 29, differFrom(25, 25)))
	joined, err := Join(parts)
	if err != nil {
		t.Fatal(err)
	}
	if x, err := joined.Extent(); x != (Extent{0, 29, true, false}) || err != nil {
		t.Errorf("%+v, %v", x, err)
	}
	r := mustCompare(t, []*Trace{joined, whole[0]}, Options{})
	if r.First == nil || r.First.Tick.Number != 25 || r.Missing != 0 || !r.Traces[0].Torn || r.Traces[0].Epochs != 0 {
		t.Fatalf("%+v %+v", r.First, r.Traces[0])
	}
	if v := r.First.Values[0]; filepath.Base(v.File) != "peer0.txt" || r.First.Values[1].File != "" {
		t.Errorf("stands in %q and %q", v.File, r.First.Values[1].File)
	}
	if len(r.Context[0].Lines) == 0 || !strings.Contains(r.Context[0].Lines[r.Context[0].At], value(25)) {
		t.Errorf("context: %+v", r.Context[0])
	}
}

// TestRunning: the copy of a running game's file breaks off, which is neither a
// difference nor damage.
func TestRunning(t *testing.T) {
	list := openLines(t, lineFormat(), turns(0, 100, value), turns(0, 60, value)+"running")
	r := mustCompare(t, list, Options{})
	if i := r.Traces[1]; r.Diverged() || !i.Running || i.Torn || i.Trouble != "" || i.Ended {
		t.Errorf("%+v", r.Traces[1])
	}
}

// TestSkipSources: what files have in common is passed over, and the answer is the
// same as without that.
func TestSkipSources(t *testing.T) {
	passed := 0
	f := lineFormat()
	plain := f.Read
	f.Peers = nil
	f.Read = func(r io.Reader, name string, peer int) (Source, error) {
		s, err := plain(r, name, peer)
		return skipping{s.(*lineSource), &passed}, err
	}
	n := 40_000 // more than the part that is read in any case
	for _, at := range effort.Of([]int{100, n / 2}, []int{1, 100, n / 2, n - 1, n + 1}) {
		a, b := turns(0, n, value), turns(0, n, differFrom(at, at))
		passed = 0
		fast := mustCompare(t, openLines(t, f, a, b), Options{})
		if at > n/4 && passed < n/2 {
			t.Errorf("difference at %d: only %d lines were passed over", at, passed)
		}
		slow := mustCompare(t, openLines(t, lineFormat(), a, b), Options{})
		if (fast.First == nil) != (slow.First == nil) || fast.LastCompared != slow.LastCompared || len(fast.Uncompared) != 0 {
			t.Fatalf("difference at %d: %+v and %+v", at, fast, slow)
		}
		if fast.First == nil {
			continue
		}
		if fast.First.Tick != slow.First.Tick || *fast.Bracket != *slow.Bracket || fast.Changed != slow.Changed || fast.First.Values[1].Pos != slow.First.Values[1].Pos {
			t.Errorf("difference at %d: %+v and %+v", at, fast.First, slow.First)
		}
	}
}

// TestClaims: an engine's claims against what the traces prove.
func TestClaims(t *testing.T) {
	three := func(b, c func(int) string) []*Trace {
		return openLines(t, lineFormat(), turns(0, 100, value), turns(0, 100, b), turns(0, 100, c))
	}
	claim := func(tick int, got, correct string, peers ...string) *ClaimLog {
		c := Claim{File: "log", Text: fmt.Sprintf("Sync error %d %v", tick, peers), Tick: uint64(tick), HasTick: true, Peers: peers}
		for _, p := range peers {
			c.Values = append(c.Values, ClaimedValue{p, got})
		}
		c.Values = append(c.Values, ClaimedValue{"", correct})
		return &ClaimLog{Dialect: Dialect{Engine: "Lines"}, Claims: []Claim{c}}
	}
	bare := func(tick int, peers ...string) *ClaimLog {
		log := claim(tick, "", "", peers...)
		log.Claims[0].Values = nil
		return log
	}
	for _, c := range []struct {
		what        string
		b, c        func(int) string
		log         *ClaimLog
		standing    Standing
		contradicts []string
		omits       []string
	}{
		{"true", differFrom(40, 100), value, claim(40, "ffffffff", value(40), "peer1"), Borne, nil, nil},
		{"late", differFrom(40, 100), value, claim(60, "ffffffff", value(60), "peer1"), Late, nil, nil},
		{"after the traces", differFrom(40, 100), value, claim(200, "ffffffff", value(60), "peer1"), Late, nil, nil},
		{"in sync", value, value, claim(60, "ffffffff", value(60), "peer1"), Contradicted, []string{"agree at turn 60", "reports that peer1 had ffffffff"}, nil},
		{"in sync, after the traces", value, value, claim(200, "ffffffff", value(60), "peer1"), Unchecked, nil, nil},
		{"before the split", differFrom(40, 100), value, claim(20, "ffffffff", value(20), "peer1"), Contradicted, []string{"agree at turn 20", "peer1 had"}, nil},
		{"one of two that agree", differFrom(40, 100), differFrom(40, 100), claim(40, "ffffffff", value(40), "peer1"), Borne, nil, []string{"does not accuse peer2"}},
		{"one of most, without checksums", differFrom(40, 100), differFrom(40, 100), bare(40, "peer1"), Borne, []string{"accuses peer1 and not peer2"}, nil},
		{"both that agree", differFrom(40, 100), differFrom(40, 100), claim(40, "ffffffff", value(40), "peer1", "peer2"), Borne, nil, nil},
		{"one of three groups", differFrom(40, 100), func(i int) string { return strings.ReplaceAll(differFrom(40, 100)(i), "ffffffff", "eeeeeeee") },
			claim(40, "ffffffff", value(40), "peer1"), Borne, nil, []string{"do not agree with each other either"}},
		{"other checksums", differFrom(40, 100), value, claim(40, "12345678", "87654321", "peer1"), Borne, []string{"peer1 had 12345678", "no trace has the checksum 87654321"}, nil},
		{"a stranger", differFrom(40, 100), value, claim(40, "ffffffff", value(40), "Zoe"), Borne, nil, nil},
	} {
		r := mustCompare(t, three(c.b, c.c), Options{Claims: []*ClaimLog{c.log, c.log}})
		if len(r.Claims) != 1 || r.ClaimCount != 2 {
			t.Fatalf("%s: %d of %d claims", c.what, len(r.Claims), r.ClaimCount)
		}
		j := r.Claims[0]
		has := func(have, want []string) bool {
			return slices.EqualFunc(have, want, strings.Contains)
		}
		if j.Standing != c.standing || !has(j.Contradictions, c.contradicts) || !has(j.Omits, c.omits) {
			t.Errorf("%s: %s, %q, %q; want %s, %q, %q", c.what, j.Standing, j.Contradictions, j.Omits, c.standing, c.contradicts, c.omits)
		}
	}
}

// TestClaimsOfSelfTests: what one machine computes twice and what several machines compute show nothing about each other.
func TestClaimsOfSelfTests(t *testing.T) {
	for _, c := range []struct {
		selfTest, runs bool
		want           Standing
	}{{false, false, Contradicted}, {true, true, Contradicted}, {true, false, Unchecked}, {false, true, Unchecked}} {
		list := openLines(t, lineFormat(), turns(0, 100, value), turns(0, 100, value))
		if c.runs {
			list[0].Name, list[1].Name = FirstRun, SecondRun
		}
		claim := Claim{Text: "out of sync", Tick: 60, HasTick: true, SelfTest: c.selfTest}
		r := mustCompare(t, list, Options{Claims: []*ClaimLog{{Dialect: Dialect{Engine: "Lines"}, Claims: []Claim{claim}}}})
		if got := r.Claims[0].Standing; got != c.want {
			t.Errorf("a claim about a self-test: %v, traces of one: %v: %s, want %s", c.selfTest, c.runs, got, c.want)
		}
	}
}

// TestClaimsAlone: an engine's log without a trace proves a divergence if it states
// two checksums of one tick, and only claims one otherwise.
func TestClaimsAlone(t *testing.T) {
	bare := Claim{Text: "desync on frame 7", Tick: 7, HasTick: true}
	both := bare
	both.Values = []ClaimedValue{{"a", "00ff"}, {"", "0x00FE"}}
	same := bare
	same.Values = []ClaimedValue{{"a", "00ff"}, {"", "0x00FF"}}
	for _, c := range []struct {
		claim Claim
		want  bool
	}{{bare, false}, {both, true}, {same, false}} {
		r := mustCompare(t, nil, Options{Claims: []*ClaimLog{{Claims: []Claim{c.claim}}}})
		if r.Diverged() != c.want || r.Claims[0].Standing != Unchecked {
			t.Errorf("%+v: diverged %v", c.claim, r.Diverged())
		}
	}
	if _, err := Compare(nil, Options{}); err == nil {
		t.Error("nothing to compare, and no error")
	}
}

// TestStart: the start in the logs must be the same on all peers.
func TestStart(t *testing.T) {
	log := &ClaimLog{Start: map[string]map[string]string{"a": {"map": "1", "mod": "5"}, "b": {"map": "1", "mod": "6"}}}
	r := mustCompare(t, nil, Options{Claims: []*ClaimLog{log, log}})
	if len(r.Start) != 1 || r.Start[0].Name != "mod" || r.Start[0].Values["b"] != "6" || len(r.Warnings) != 0 {
		t.Errorf("%+v %q", r.Start, r.Warnings)
	}
	other := &ClaimLog{Start: map[string]map[string]string{"a": {"mod": "7"}}}
	r = mustCompare(t, nil, Options{Claims: []*ClaimLog{log, other}})
	if !slices.ContainsFunc(r.Warnings, func(s string) bool { return strings.Contains(s, "contradict") }) {
		t.Errorf("%q", r.Warnings)
	}
}

// TestClaimsOfAnotherMatch: a log of another match shows nothing about this one.
func TestClaimsOfAnotherMatch(t *testing.T) {
	log := func(session string) *ClaimLog {
		return &ClaimLog{File: session + ".log", Dialect: Dialect{Engine: "Lines", Session: session}, Claims: []Claim{{Text: "of " + session, Tick: 7, HasTick: true}}}
	}
	for range 10 { // whatever the order of a map
		r := mustCompare(t, nil, Options{Claims: []*ClaimLog{log("x"), log("y"), log("y"), log("")}})
		if len(r.Claims) != 2 || r.Claims[0].Text != "of y" || len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "x.log: of another match") {
			t.Fatalf("%+v %q", r.Claims, r.Warnings)
		}
	}
	list := openLines(t, lineFormat(), turns(0, 9, value), turns(0, 9, value))
	list[1].Dialect.Session = "x"
	r := mustCompare(t, list, Options{Claims: []*ClaimLog{log("x"), log("y"), log("y")}})
	if len(r.Claims) != 1 || r.Claims[0].Text != "of x" || len(r.Warnings) != 2 {
		t.Errorf("%+v %q", r.Claims, r.Warnings)
	}
}

// TestSession: traces of two matches are not compared.
func TestSession(t *testing.T) {
	list := openLines(t, lineFormat(), turns(0, 9, value), turns(0, 9, value))
	list[0].Dialect.Session, list[1].Dialect.Session = "x", "y"
	if _, err := Compare(list, Options{}); err == nil || !strings.Contains(err.Error(), "matches are x") {
		t.Errorf("%v", err)
	}
	if r := mustCompare(t, list, Options{Force: true}); len(r.Warnings) != 1 {
		t.Errorf("%q", r.Warnings)
	}
}

// passing is a lineSource that passes what is far before a place, and counts the records that are read.
type passing struct {
	*lineSource
	read *int
}

func (s passing) Pass(offset int64) {
	if offset > 0 {
		s.pos = int(offset) + bytes.IndexByte(s.text[offset:], '\n') + 1
	}
}

func (s passing) Next() (*Record, error) {
	*s.read++
	return s.lineSource.Next()
}

// TestContextIsNear: what surrounds the first difference is the same whether a source can pass what is before it or not.
// Far records are neither read again nor written.
func TestContextIsNear(t *testing.T) {
	named, read := 0, 0
	far := func(value string) string { // the records around the difference are far from each other
		gap := strings.Repeat("-\n", 40<<10)
		return "1 x\n2 x\n" + gap + "3 x\n" + gap + "4 " + value + "\n" + gap + "5 x\n"
	}
	for _, c := range []struct {
		a, b  string
		lines int // around the difference
		again int // records that are read again
	}{
		{turns(0, 30_000, value), turns(0, 30_000, differFrom(29_000, 29_000)), 7, 10_000},
		{far("x"), far("y"), 5, 30},
	} {
		var contexts [][]Context
		for _, f := range []*Format{lineFormat(), lineFormat()} {
			plain := f.Read
			if f.Peers = nil; len(contexts) > 0 {
				f.Read = func(r io.Reader, name string, peer int) (Source, error) {
					s, err := plain(r, name, peer)
					return passing{s.(*lineSource), &read}, err
				}
			}
			traces := openLines(t, f, c.a, c.b)
			for _, one := range traces {
				name := one.Dialect.TickName
				one.Dialect.TickName = func(tick uint64) string {
					named++
					return name(tick)
				}
			}
			named, read = 0, 0
			contexts = append(contexts, mustCompare(t, traces, Options{}).Context)
		}
		records := strings.Count(c.a, " ")
		if fmt.Sprint(contexts[0]) != fmt.Sprint(contexts[1]) || len(contexts[1]) != 2 || len(contexts[1][1].Lines) != c.lines {
			t.Errorf("%v\nand, with what is before passed,\n%v", contexts[0], contexts[1])
		}
		if again := read - 2*(records+1); again > c.again || named > c.again {
			t.Errorf("%d of %d records are read again, %d written, expected at most %d", again, records, named, c.again)
		}
	}
}
