package engines_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines"
	"github.com/desynctool/desynctool/engines/engine/messages"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/textsearch"
	"github.com/desynctool/desynctool/tracediff"
)

const folder = "../testdata/loglines"

// scan looks for the messages of all engines.
func scan(r io.Reader, name string) (*tracediff.ClaimLog, error) {
	return messages.Scan(r, name, engines.Messages())
}

func content(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// claims lists what is in a log, one claim a line.
func claims(log *tracediff.ClaimLog) []string {
	var out []string
	for _, c := range log.Claims {
		tick := "-"
		if c.HasTick {
			tick = log.Dialect.TickName(c.Tick)
		}
		s := fmt.Sprintf("%s, line %d at %d, accuses %q:", tick, c.Pos.Line, c.Pos.Offset, c.Peers)
		if c.By != "" {
			s = "by " + c.By + ": " + s
		}
		if c.SelfTest {
			s = "self test: " + s
		}
		if c.Quoted {
			s = "quoted: " + s
		}
		for _, v := range c.Values {
			s += fmt.Sprintf(" %q=%s", v.Peer, v.Value)
		}
		out = append(out, s)
	}
	return out
}

var logs = []struct {
	name, format string
	claims       []string
}{
	{"ggrs.log", "ggrs-log", []string{
		`frame 100, line 2 at 92, accuses ["127.0.0.1:7001"]: ""=60519120394857162738495061728394 "127.0.0.1:7001"=456`,
		`frame 200, line 3 at 270, accuses ["PeerId(7f1d2c9e-0b1a-4b7e-9f55-1c8a3e2d4f60)"]: ""=0 "PeerId(7f1d2c9e-0b1a-4b7e-9f55-1c8a3e2d4f60)"=7`,
		`frame 300, line 4 at 448, accuses ["127.0.0.1:7001"]: ""=123 "127.0.0.1:7001"=456`,
		`frame 310, line 10 at 586, accuses []: ""=508030672FBDD971 ""=875164D47C219510`,
		`self test: frame 305, line 11 at 720, accuses []:`,
		`self test: frame 10, line 13 at 909, accuses []:`,
	}},
	{"ggrs-0.9.log", "ggrs-log", []string{"self test: frame 42, line 1 at 0, accuses []:", "self test: frame 42, line 2 at 56, accuses []:"}},
	{"bevy_ggrs-synctest.log", "ggrs-log", []string{"self test: frame 10, line 2 at 72, accuses []:", "self test: frame 305, line 4 at 174, accuses []:"}},
	{"gekkonet.log", "gekkonet-log", []string{
		`frame 240, line 2 at 19, accuses ["handle 1"]: ""=2918735012 "handle 1"=17`,
		`quoted: frame 241, line 3 at 63, accuses ["handle 1"]: ""=1 "handle 1"=2`,
	}},
	{"openclonk.log", "openclonk-log", []string{
		`by client: frame 400, line 2 at 14, accuses []: "client"=Rnc 5121 Cpx 80210 PXS 12 MMi 633 Obc 703 Oei 825 Sct 2655 "host"=Rnc 5120 Cpx 80210 PXS 12 MMi 630 Obc 703 Oei 825 Sct 2655`,
	}},
	{"legacyclonk.log", "openclonk-log", []string{
		`by client: frame 1500, line 2 at 36, accuses []: "client"=Rnc 99 Rn3 7 Cpx -80210 PXS 0 MMi 0 Obc 70 Oei 82 Sct 265 "recording"=Rnc 99 Rn3 8 Cpx -80210 PXS 0 MMi 0 Obc 70 Oei 82 Sct 265`,
	}},
	{"crusaderkings3.log", "clausewitz-log", []string{
		`-, line 2 at 63, accuses []: ""=LIVING_CHARACTERS 309291875, Dynasties 33424665 ""=LIVING_CHARACTERS 309291871, Dynasties -12`,
	}},
	{"beaverbuddies-1.2.log", "beaverbuddies-log", []string{`by client: tick 111, line 3 at 138, accuses []: "client"=5B1458C1 "server"=BFC6816E`}},
	{"beaverbuddies-1.1.log", "beaverbuddies-log", []string{`by client: -, line 2 at 51, accuses []: "client"=1126400659 "server"=-1062276210`}},
	{"openttd-server.log", "openttd-console", []string{
		`quoted: -, line 2 at 64, accuses ["Carol"]:`,
		`-, line 3 at 118, accuses ["Carol's Co."]:`,
		`by server: -, line 4 at 167, accuses ["Carol's Co."]:`,
		`by server: -, line 6 at 345, accuses ["Erin"]:`,
	}},
	{"openttd-client.log", "openttd-console", []string{
		`by client: frame 2008800, line 4 at 301, accuses []:`,
		`by client: frame 2008800, line 5 at 366, accuses []:`,
		`quoted: by client: -, line 6 at 422, accuses []:`,
	}},
	{"openra-2016.log", "openra-exception", []string{`net frame 11465, line 6 at 232, accuses []:`}},
	{"openra-2022.log", "openra-exception", []string{`net frame 16137, line 7 at 246, accuses []:`}},
	{"openra-2015.log", "openra-exception", []string{`net frame 5996, line 1 at 0, accuses []:`}},
	{"faf-desync.log", "faf-log", []string{
		`-, line 2 at 51, accuses []:`,
		`beat 11150, line 4 at 153, accuses ["Bob"]: ""=b8750c98aec33b4a98d34e737945fca5 "Bob"=14828816c354ec5b4f5dafd4afeddf6c`,
		`beat 11150, line 5 at 280, accuses ["Carol (2)"]: ""=b8750c98aec33b4a98d34e737945fca5 "Carol (2)"=14828816c354ec5b4f5dafd4afeddf6c`,
	}},
	{"faf-1.log", "faf-log", []string{
		`beat 1950, line 2 at 58, accuses ["Birchwater"]: ""=00cc3e2923949f4304ca537e1de5d1fb "Birchwater"=afb4d6814241642358c83b0ca9a919d9`,
		`beat 2000, line 5 at 297, accuses ["d0gw00d-1"]: ""=29789254e26e64288eecdb06ad114495 "d0gw00d-1"=afb4d6814241642358c83b0ca9a919d9`,
	}},
	{"faf-2.log", "faf-log", []string{
		`beat 1950, line 1 at 0, accuses ["Cedarfields"]: ""=afb4d6814241642358c83b0ca9a919d9 "Cedarfields"=00cc3e2923949f4304ca537e1de5d1fb`,
	}},
	{"stratagus-3.3.log", "stratagus-log", []string{
		`cycle 145, line 2 at 55, accuses []: ""=seed 87654321 hash 31182108 ""=seed 87654321 hash 3118210E`,
		`cycle 150, line 6 at 276, accuses []: ""=seed 87654321 hash 31182108 ""=seed 1A2B3C hash 0`,
	}},
	{"stratagus-2026.log", "stratagus-log", []string{
		`cycle 139, line 4 at 253, accuses ["Bob (2)"]: ""=seed 87654321 hash 31182108 "Bob (2)"=seed 87654321 hash 3118210E`,
	}},
	{"wesnoth.log", "wesnoth-log", []string{
		`-, line 3 at 187, accuses []: ""=chance to hit 40 "original"=chance to hit 60`,
		`-, line 4 at 407, accuses []: ""=damage 7 "original"=damage 8`,
		`-, line 5 at 629, accuses []: ""=survived "original"=perished`,
		`-, line 6 at 840, accuses []: ""=1123581321 "original"=3455891442`,
		`-, line 7 at 969, accuses []: ""=14 random numbers "original"=12 random numbers`,
		`-, line 8 at 1074, accuses []: ""=next unit id 41 "original"=next unit id 40`,
		`-, line 9 at 1145, accuses []: ""=destination 14,9 "original"=destination 14,10`,
		`quoted: -, line 10 at 1269, accuses []: ""=unsuccessful "original"=successful`,
	}},
	{"warzone.log", "warzone-log", []string{`tick 499, line 2 at 49, accuses ["slot 0"]: "slot 0"=0x185f`}},
	{"stratagus-3.2.log", "stratagus-log", []string{
		`cycle 145, line 1 at 0, accuses []: ""=seed 87654321 hash 825241648 ""=seed 87654321 hash -825307442`,
	}},
}

func TestLogs(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(folder, "*.log"))
	if err != nil || len(files) != len(logs) {
		t.Fatalf("%d logs, %v", len(files), err)
	}
	for _, l := range logs {
		text := content(t, l.name)
		all, err := scan(bytes.NewReader(text), l.name)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(l.claims, claims(all)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", l.name, diff)
		}
		if all.Trouble != "" {
			t.Errorf("%s: trouble %s", l.name, all.Trouble)
		}
		for _, g := range engines.Messages() {
			f := g.Format()
			log, err := f.Claims(iotest.OneByteReader(bytes.NewReader(text)), l.name)
			if err != nil {
				t.Fatal(err)
			}
			own := f.Name == l.format
			if own && !cmp.Equal(claims(all), claims(log)) || !own && len(log.Claims) > 0 {
				t.Errorf("%s as %s: %s", l.name, f.Name, claims(log))
			}
			if f.Read != nil || f.Sniff(text[:min(len(text), tracediff.SniffLen)]) != own {
				t.Errorf("%s: %s does not distinguish it from its own", l.name, f.Name)
			}
		}
	}
}

// TestLiterals: a pattern without a fixed text would be tried on each line of each log.
func TestLiterals(t *testing.T) {
	for _, g := range engines.Messages() {
		for _, f := range g.Forms {
			if f.Literal == "" {
				t.Errorf("%s: no text of 6 bytes is in all messages of %s", g.Name, f.Pattern)
			}
		}
	}
}

func TestClaim(t *testing.T) {
	log, err := scan(bytes.NewReader(content(t, "stratagus-2026.log")), "x.log")
	if err != nil {
		t.Fatal(err)
	}
	want := tracediff.Claim{
		File: "x.log", Pos: tracediff.Position{Line: 4, Offset: 253}, Tick: 139, HasTick: true, Peers: []string{"Bob (2)"},
		Text:   "Network out of sync seed: 87654321!=87654321 , hash: 3118210E!=31182108 Cycle 145 sampled-after-cycle 139 first-desync-cycle 145 first-sampled-after-cycle 139 player 1 (Bob (2))",
		Values: []tracediff.ClaimedValue{{Value: "seed 87654321 hash 31182108"}, {Peer: "Bob (2)", Value: "seed 87654321 hash 3118210E"}},
	}
	if diff := cmp.Diff(want, log.Claims[0]); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !log.Claims[0].Proves() || log.Players[1] != "Bob (2)" || log.Dialect.Engine != "Stratagus" {
		t.Errorf("%+v", log)
	}
	log, err = scan(bytes.NewReader(content(t, "ggrs.log")), "x.log")
	if err != nil {
		t.Fatal(err)
	}
	if text := log.Claims[2].Text; text != "DesyncDetected { frame: 300, local_checksum: 123, remote_checksum: 456, addr: 127.0.0.1:7001, }" {
		t.Errorf("text %q", text)
	}
	if !log.Claims[4].SelfTest || !log.Claims[4].Proves() || log.Claims[0].SelfTest || !log.Claims[0].Proves() {
		t.Error("two values of one tick are a proof, and so is a self-test that failed")
	}
}

func TestOdd(t *testing.T) {
	for text, want := range map[string]struct {
		claims  []string
		trouble string
	}{
		"":        {nil, ""},
		"nothing": {nil, ""},
		"Detected checksum mismatch during rollback.":                                              {[]string{"self test: -, line 1 at 0, accuses []:"}, ""},
		"a\nbDetected checksum mismatch during rollback on frame 7\n":                              {[]string{"quoted: self test: frame 7, line 2 at 2, accuses []:"}, ""},
		"Detected checksum mismatch during rollback on frame 7":                                    {nil, "x: line 1: the file ends inside a message of GGRS: \"Detected checksum mismatch during rollback on frame 7\""},
		"Detected checksum mismatch during rollback on frame x\n":                                  {nil, ""},
		"Detected checksum mismatch during rollback on frame 9999999999999999999.":                 {nil, "x: line 1: no message of GGRS: the tick is \"9999999999999999999\", expected a number"},
		"DesyncDetected { frame: 1, local_checksum: 1, remote_checksum: 2, addr: A { b: \"c\" } }": {[]string{`frame 1, line 1 at 0, accuses ["A { b: \"c\" }"]: ""=1 "A { b: \"c\" }"=2`}, ""},
		"DesyncDetected { frame: 1, local_checksum: 1, remote_checksum: 2, addr: \"h:1\" }":        {[]string{`frame 1, line 1 at 0, accuses ["h:1"]: ""=1 "h:1"=2`}, ""},
		"DesyncDetected { frame: 1, .. }\n\nDesyncDetected { frame: 2, local":                      {nil, "x: line 3: the file ends inside a message of GGRS: \"DesyncDetected { frame: 2, local\""},
		"Desync on frame 7.Local checksum: AB, remote checksum: C\x1b[0m\n":                        {[]string{`frame 7, line 1 at 0, accuses []: ""=AB ""=C`}, ""},
		"Desync on frame 7 of something\n":                                                         {nil, ""},
		"Desync on frame 7. Local checksum: AB, remote checksum: C":                                {nil, "x: line 1: the file ends inside a message of GGRS: \"Desync on frame 7. Local checksum: AB, remote checksum: C\""},
		"Network out of sync today\n":                                                              {nil, ""},
		"Checksum for beat 5 mismatched: ab (sim) != cd ().\n":                                     {[]string{`beat 5, line 1 at 0, accuses []: ""=ab ""=cd`}, ""},
		"Checksum for beat 5 mismatched: ab (sim) != cd (\xff).\n":                                 {[]string{"beat 5, line 1 at 0, accuses [\"\uFFFD\"]: \"\"=ab \"\uFFFD\"=cd"}, ""},
		"Checksum for beat 5 mismatched: ab (sim) != cd (x)\n":                                     {nil, ""},
		// Two on one line.
		"Checksum for beat 5 mismatched: a (sim) != b (x). Checksum for beat 6 mismatched: a (sim) != b (x).": {[]string{
			`beat 5, line 1 at 0, accuses ["x"]: ""=a "x"=b`, `beat 6, line 1 at 0, accuses ["x"]: ""=a "x"=b`,
		}, ""},
	} {
		log, err := scan(strings.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.claims, claims(log)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
		if log.Trouble != want.trouble {
			t.Errorf("%q: trouble %q, want %q", text, log.Trouble, want.trouble)
		}
	}
}

// TestAnywhere puts a claim after every number of bytes around the places where
// the window moves, without and with line ends before it.
func TestAnywhere(t *testing.T) {
	line := content(t, "faf-2.log")
	for _, n := range []int{0, 1, textsearch.WindowSize - messages.MaxClaim, textsearch.WindowSize, 2 * (textsearch.WindowSize - messages.MaxClaim)} {
		for d := -160; d <= 20; d++ {
			if n+d < 0 {
				continue
			}
			for _, filler := range []string{" ", "\n"} {
				log, err := scan(io.MultiReader(strings.NewReader(strings.Repeat(filler, n+d)), bytes.NewReader(line), strings.NewReader("x")), "x")
				if err != nil {
					t.Fatal(err)
				}
				want := tracediff.Position{Line: 1}
				if filler == "\n" {
					want = tracediff.Position{Line: int64(n + d + 1), Offset: int64(n + d)}
				}
				if len(log.Claims) != 1 || log.Claims[0].Tick != 1950 || log.Claims[0].Pos != want {
					t.Fatalf("after %d bytes %q: %+v, want %+v", n+d, filler, log.Claims, want)
				}
			}
		}
	}
}

// TestTruncated cuts logs at every byte: no claim may differ from the claim in the whole log.
func TestTruncated(t *testing.T) {
	for _, l := range logs {
		text := content(t, l.name)
		whole, err := scan(bytes.NewReader(text), l.name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range len(text) {
			log, err := scan(bytes.NewReader(text[:n]), l.name)
			if err != nil {
				t.Fatal(err)
			}
			for i := range log.Claims {
				if i >= len(whole.Claims) || !saysNothingElse(&log.Claims[i], &whole.Claims[i]) {
					t.Fatalf("%s cut at %d: %q", l.name, n, claims(log))
				}
			}
		}
	}
}

// saysNothingElse reports whether a claim of a log that was cut off equals the claim in the whole log, or is a part of
// it: a list that follows it may be shorter.
func saysNothingElse(cut, whole *tracediff.Claim) bool {
	same := *cut
	same.Text = whole.Text
	if !cut.HasTick {
		same.Tick, same.HasTick = whole.Tick, whole.HasTick
	}
	if cut.Values == nil {
		same.Values = whole.Values
	}
	for i := range same.Values {
		if !strings.HasPrefix(whole.Values[i].Value, same.Values[i].Value+",") && same.Values[i] != whole.Values[i] {
			return false
		}
	}
	same.Values = whole.Values
	return cmp.Equal(same, *whole)
}

func TestMany(t *testing.T) {
	line := content(t, "faf-2.log")
	log, err := scan(bytes.NewReader(bytes.Repeat(line, int(limits.Claims.Max())+5)), "x")
	if err != nil || len(log.Claims) != int(limits.Claims.Max()) || !strings.HasPrefix(log.Trouble, "x: limit claims is reached: 65541, at most 65536") {
		t.Errorf("%d claims, trouble %q, %v", len(log.Claims), log.Trouble, err)
	}
}

func TestReadError(t *testing.T) {
	broken := errors.New("broken")
	_, err := scan(io.MultiReader(strings.NewReader("abc"), iotest.ErrReader(broken)), "x")
	if !errors.Is(err, broken) || err.Error() != "x: reading at offset 3: broken" {
		t.Errorf("error %v", err)
	}
}

func FuzzScan(f *testing.F) {
	for _, l := range logs {
		f.Add(content(f, l.name))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		log, err := scan(bytes.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range log.Claims {
			if line := text[c.Pos.Offset:]; int64(1+bytes.Count(text[:c.Pos.Offset], []byte("\n"))) != c.Pos.Line || c.Pos.Offset > 0 && text[c.Pos.Offset-1] != '\n' || len(line) == 0 {
				t.Errorf("%+v does not begin a line", c.Pos)
			}
		}
		for _, g := range engines.Messages() {
			g.Format().Sniff(text)
		}
	})
}

// filler is a line of a log without claims.
const filler = "2026-03-02T18:04:11.120411Z DEBUG game::net: Message from 127.0.0.1:7001: Checked frame 1204, Network lag 3, Desired delay 2\n"

func BenchmarkScan(b *testing.B) {
	for name, text := range map[string][]byte{
		"one claim":   append([]byte(strings.Repeat(filler, 32<<20/len(filler))), content(b, "faf-2.log")...),
		"one line":    append(bytes.Repeat([]byte("DMNC"), 8<<20), content(b, "faf-2.log")...),
		"claims only": bytes.Repeat(content(b, "faf-2.log"), int(limits.Claims.Max())),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if log, err := scan(bytes.NewReader(text), "x"); err != nil || len(log.Claims) == 0 {
					b.Fatal(err)
				}
			}
		})
	}
}
