package spring_test

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/csv"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/spring"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/tracediff"
)

const traceCorpus = "../../testdata/spring"

var traceSessions = []string{"control", "pos_1ulp", "silent_health", "checksum_only"}

func file(parts ...string) string { return filepath.Join(append([]string{traceCorpus}, parts...)...) }

func traceLoad(t testing.TB, name string) []byte {
	t.Helper()
	f, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func format(t testing.TB, name string) *tracediff.Format {
	t.Helper()
	for _, f := range spring.Formats() {
		if f.Name == name {
			return &f
		}
	}
	t.Fatal(name)
	return nil
}

func traceOpen(t testing.TB, path string) []*tracediff.Trace {
	t.Helper()
	list, err := tracediff.OpenForeign(files.Disk, path, format(t, "spring-demo"), tracediff.ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// rows returns the table of checksums that was decoded from the packets of a
// session: by frame, one of each player.
func rows(t *testing.T, session string) map[uint64][]string {
	t.Helper()
	all, err := csv.NewReader(bytes.NewReader(traceLoad(t, file(session, "sync_trace.csv.gz")))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	out := map[uint64][]string{}
	for _, row := range all[1:] {
		n, err := strconv.ParseUint(row[0], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		out[n] = row[1:]
	}
	return out
}

// TestChecksums checks that demos have the checksums that were sent, of all players
// and of each 60th frame.
func TestChecksums(t *testing.T) {
	for _, session := range traceSessions {
		table := rows(t, session)
		for _, peer := range []string{"server", "Alice"} {
			b := traceLoad(t, file(session, peer, "demo.sdfz"))
			names, err := format(t, "spring-demo").Peers(bytes.NewReader(b), "x")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff([]string{"Alice", "Bob", "Carol"}, names); diff != "" {
				t.Fatal(diff)
			}
			for player := range names {
				s, err := format(t, "spring-demo").Read(bytes.NewReader(b), "x", player)
				if err != nil {
					t.Fatal(err)
				}
				n, last := 0, uint64(0)
				for ; ; n++ {
					rec, err := s.Next()
					if err == io.EOF {
						break
					}
					if err != nil {
						t.Fatal(err)
					}
					c := rec.Checkpoint
					if got := string(c.Sums[0].Value); len(c.Sums) != 1 || c.Tick%60 != 0 || got != table[c.Tick][player] {
						t.Errorf("%s/%s: frame %d of player %d has %s, sent was %v", session, peer, c.Tick, player, got, table[c.Tick])
					}
					if n > 0 && c.Tick != last+60 {
						t.Errorf("%s/%s: frame %d after %d", session, peer, c.Tick, last)
					}
					last = c.Tick
				}
				if n != len(table)/60+1 && n != len(table)/60 { // the last one may come too late
					t.Errorf("%s/%s: %d checksums of player %d in %d frames", session, peer, n, player, len(table))
				}
			}
		}
	}
}

// TestTruth checks where the checksums in one demo part.
func TestTraceTruth(t *testing.T) {
	for session, want := range map[string]string{
		"control": "equal", "silent_health": "equal", "pos_1ulp": "660 [[0 1] [2]]", "checksum_only": "3540 [[0] [1] [2]]",
	} {
		r, err := tracediff.Compare(traceOpen(t, file(session, "server", "demo.sdfz")), tracediff.Options{})
		if err != nil {
			t.Fatal(err)
		}
		got := "equal"
		if r.First != nil {
			got = fmt.Sprint(r.First.Tick.Number, " ", r.Groups[0].Groups)
		}
		if got != want {
			t.Errorf("%s: %s, want %s", session, got, want)
		}
		if d := r.Dialect(); d.Reset != 4096 || d.Session == "" || d.Engine != "Spring" || !strings.Contains(d.Covers, "health") {
			t.Errorf("%+v", d)
		}
	}
}

// TestClaims checks that a server's claims are the same in all files that have
// them.
func TestClaims(t *testing.T) {
	truth := map[string][]string{
		"pos_1ulp": {
			"712 [Carol] [{Carol 21f149fb} { b5ba46e3}]", "1113 [Carol] [{Carol 37bc4767} { 1f3b7caf}]",
			"1514 [Carol] [{Carol 26be3fa7} { 7317605a}]", "1915 [Carol] [{Carol 1907f59d} { 27aa73f8}]",
		},
		"checksum_only": {
			"3500 [Carol] [{Carol a2eb9b9b} { 63e59414}]", "3500 [Bob] [{Bob cfb26d63} { 63e59414}]", "3901 [Carol] [{Carol 185fe9d6} { ef947807}]",
		},
	}
	for _, session := range traceSessions {
		ids := map[string]bool{}
		for _, path := range []string{
			file(session, "Alice", "demo.sdfz"), file(session, "server", "demo.sdfz"), file(session, "server", "infolog.txt.gz"),
			file(session, "Alice", "infolog.txt.gz"), file(session, "Bob", "infolog.txt.gz"), file(session, "Carol", "infolog.txt.gz"),
		} {
			name := "spring-demo"
			if strings.Contains(path, "infolog") {
				name = "spring-infolog"
			}
			log, err := tracediff.ReadClaims(files.Disk, path, format(t, name), tracediff.ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			ids[log.Dialect.Session] = true
			var got []string
			for _, c := range log.Claims {
				got = append(got, fmt.Sprint(c.Tick, " ", c.Peers, " ", c.Values))
				if !c.HasTick || c.File != path || !c.Proves() || c.Pos.Offset == 0 {
					t.Errorf("%+v", c)
				}
			}
			if diff := cmp.Diff(truth[session], got); diff != "" || log.Trouble != "" || len(log.Players) != 3 {
				t.Errorf("%s: %s%s", path, log.Trouble, diff)
			}
			for peer, start := range log.Start {
				for what, value := range start {
					if value != log.Start["Alice"][what] {
						t.Errorf("%s: %s of %s is %s", path, what, peer, value)
					}
				}
			}
		}
		if len(ids) != 1 || ids[""] {
			t.Error(session, ids)
		}
	}
}

// TestReplayClaim has the machine that replays be the one that differs.
func TestReplayClaim(t *testing.T) {
	read := format(t, "spring-infolog").Claims
	text := "[t=0][f=0000371] Error: [DESYNC WARNING] checksum feec838 from demo player 2 (Carol) does not match our checksum 90c6c4f5 for frame-number 360\n"
	log, err := read(strings.NewReader(text), "x")
	if err != nil {
		t.Fatal(err)
	}
	c := log.Claims[0]
	if got := fmt.Sprint(c.Tick, c.Peers, c.Values); got != "360 [] [{Carol 0feec838} {this replay 90c6c4f5}]" {
		t.Error(got)
	}
	for text, want := range map[string]string{
		text + "[t=0] half a": "x: torn at offset",
		text + "[t=0] Sync error for Bob in frame 3\n[t=0] Sync error for \n": "x: line 2 begins like the engine's report of a desync but is not one; 2 such lines in all",
		strings.Repeat(text, 1<<16+1):                                         "x: 1 claims after the first 65536 were left out",
	} {
		log, err := read(strings.NewReader(text), "x")
		if err != nil || !strings.HasPrefix(log.Trouble, want) || len(log.Claims) == 0 {
			t.Errorf("%+v %v", log.Trouble, err)
		}
	}
	if _, err := read(strings.NewReader("x"), "x"); !errors.Is(err, frame.ErrUnrecognized) {
		t.Error(err)
	}
}

// TestTorn cuts a demo: what precedes the cut is delivered.
func TestTraceTorn(t *testing.T) {
	b := traceLoad(t, file("pos_1ulp", "server", "demo.sdfz"))
	f := format(t, "spring-demo")
	for _, n := range []int{0, 300, 2000, len(b) / 2, len(b) / 2 * 3 / 2} {
		names, err := f.Peers(bytes.NewReader(b[:n]), "x")
		if n < len(b)/2 {
			if !errors.Is(err, frame.ErrTorn) && !errors.Is(err, frame.ErrUnrecognized) {
				t.Error(n, names, err)
			}
			continue
		}
		if err != nil || len(names) != 3 {
			t.Error(n, names, err)
		}
		s, err := f.Read(bytes.NewReader(b[:n]), "x", 2)
		sums := 0
		for ; err == nil; sums++ {
			_, err = s.Next()
		}
		if _, again := s.Next(); !errors.Is(err, frame.ErrTorn) || again != err || sums < 10 {
			t.Error(n, sums, err)
		}
		log, err := f.Claims(bytes.NewReader(b[:n]), "x")
		if err != nil || !strings.Contains(log.Trouble, "torn") {
			t.Error(log, err)
		}
	}
}

// TestNoChecksum has a demo of a game that ended in its first second.
func TestNoChecksum(t *testing.T) {
	b := traceLoad(t, file("control", "server", "demo.sdfz"))
	at := int(binary.LittleEndian.Uint32(b[20:]) + binary.LittleEndian.Uint32(b[304:]))
	b = slices.Clone(b[:at])
	b = append(b, 0, 0, 0, 0, 5, 0, 0, 0, 1, 0, 0, 0, 0)
	binary.LittleEndian.PutUint32(b[308:], 13)
	if _, err := format(t, "spring-demo").Peers(bytes.NewReader(b), "x"); !errors.Is(err, frame.ErrLacking) {
		t.Error(err)
	}
	if _, err := format(t, "spring-demo").Peers(bytes.NewReader(b[:len(b)-1]), "x"); !errors.Is(err, frame.ErrTorn) {
		t.Error(err)
	}
}

func TestTraceSniff(t *testing.T) {
	for path, want := range map[string]string{
		file("control", "server", "demo.sdfz"): "spring-demo", file("control", "Bob", "infolog.txt.gz"): "spring-infolog",
		file("control", "Bob", "GameState.txt.gz"): "", file("control", "sync_trace.csv.gz"): "",
	} {
		head := traceLoad(t, path)[:tracediff.SniffLen]
		got := ""
		for _, f := range spring.Formats() {
			if f.Sniff(head) {
				got += f.Name
			}
		}
		if got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
}

// FuzzDemo checks what all traces of one demo are to tracediff.
func FuzzTraceDemo(f *testing.F) {
	f.Add(traceLoad(f, file("pos_1ulp", "Alice", "demo.sdfz"))[:9<<10])
	format := format(f, "spring-demo")
	f.Fuzz(func(t *testing.T, b []byte) {
		names, err := format.Peers(bytes.NewReader(b), "x")
		if err != nil {
			return
		}
		for i, name := range names {
			s, err := format.Read(bytes.NewReader(b), "x", i)
			n := 0
			for err == nil {
				var rec *tracediff.Record
				if rec, err = s.Next(); err == nil {
					n++
					if v := rec.Checkpoint.Sums[0].Value; len(v) != 8 || hex.DecodedLen(len(v)) != 4 {
						t.Fatalf("%s", v)
					}
				}
			}
			if err != io.EOF && !errors.As(err, new(*frame.Error)) || n > 0 != (name != "") {
				t.Fatal(name, n, err)
			}
		}
		if _, err := format.Claims(bytes.NewReader(b), "x"); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkTraceDemo(b *testing.B) {
	one := traceLoad(b, file("control", "server", "demo.sdfz"))
	read := format(b, "spring-demo").Read
	b.SetBytes(int64(len(one)))
	b.ReportAllocs()
	for b.Loop() {
		s, err := read(bytes.NewReader(one), "x", 1)
		for err == nil {
			_, err = s.Next()
		}
		if err != io.EOF {
			b.Fatal(err)
		}
	}
}
