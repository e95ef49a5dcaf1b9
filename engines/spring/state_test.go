package spring_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/spring"
	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/snapshot"
)

const stateCorpus = "../../testdata/spring"

// load returns the content of a file, which may be compressed.
func stateLoad(t testing.TB, name ...string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(append([]string{stateCorpus}, name...)...))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(name[len(name)-1], ".gz") {
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if b, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	return string(b)
}

func parts(t testing.TB, text string) []snapshot.Part {
	t.Helper()
	list, err := spring.Parts(strings.NewReader(text), int64(len(text)), "x")
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// frames returns the text of each frame of a dump.
func frames(t testing.TB, text string) (list []string) {
	t.Helper()
	for _, p := range parts(t, text) {
		list = append(list, text[p.Offset:p.Offset+p.Size])
	}
	return list
}

func stateOpen(text string) (snapshot.State, error) {
	return spring.Format().Open(strings.NewReader(text), int64(len(text)), "x")
}

func root(t testing.TB, text string) string {
	t.Helper()
	s, err := stateOpen(text)
	if err != nil {
		t.Fatal(err)
	}
	return s.Info().Root.String()
}

func changes(t testing.TB, a, b string) (list []string) {
	t.Helper()
	sa, err := stateOpen(a)
	if err != nil {
		t.Fatal(err)
	}
	sb, err := stateOpen(b)
	if err != nil {
		t.Fatal(err)
	}
	diff, err := snapshot.Compare(sa, sb, snapshot.DiffOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, table := range diff.Tables {
		if len(table.Schema) > 0 {
			list = append(list, fmt.Sprint(table.Label, " ", table.Schema))
		}
		for _, c := range table.Changes {
			list = append(list, fmt.Sprint(table.Label, " ", c.Key, " ", c.Component, ".", c.Field))
		}
	}
	return list
}

var stateSessions = map[string]int{"control": 67, "pos_1ulp": 67, "silent_health": 67, "checksum_only": 151}

// TestTruth checks that states of two peers are equal exactly where their text is,
// in all frames of all sessions, and where they first differ.
func TestStateTruth(t *testing.T) {
	for session, count := range stateSessions {
		alice := frames(t, stateLoad(t, session, "Alice", "GameState.txt.gz"))
		if len(alice) != count {
			t.Fatalf("%s: %d frames, want %d", session, len(alice), count)
		}
		var roots []string
		for _, text := range alice {
			roots = append(roots, root(t, text))
		}
		for _, peer := range []string{"Bob", "Carol"} {
			other := frames(t, stateLoad(t, session, peer, "GameState.txt.gz"))
			var differ []int
			for i := range alice {
				if same := alice[i] == other[i]; same != (roots[i] == root(t, other[i])) {
					t.Fatalf("%s: text of frame %d equal: %v, root equal: %v", session, 30*i, same, !same)
				} else if !same {
					differ = append(differ, i)
				}
			}
			want := 0
			switch {
			case session == "silent_health" && peer == "Bob":
				want = 46
				for _, i := range differ {
					if diff := cmp.Diff([]string{"Unit 15920 Unit.health"}, changes(t, alice[i], other[i])); diff != "" {
						t.Errorf("frame %d: %s", 30*i, diff)
					}
				}
			case session == "pos_1ulp" && peer == "Carol":
				want = len(differ)
				list := changes(t, alice[21], other[21])
				if diff := cmp.Diff([]string{"Unit 17206 Unit.pos.z", "UnitWeapon 17206:0 UnitWeapon.absWeaponMuzzlePos.z"}, list); diff != "" {
					t.Error(diff)
				}
			}
			if len(differ) != want || want > 0 && differ[0] != 21 {
				t.Errorf("%s: Alice and %s differ in %d frames, want %d: %v", session, peer, len(differ), want, differ)
			}
		}
	}
}

// TestParts checks what the parts of a real dump are.
func TestParts(t *testing.T) {
	text := stateLoad(t, "control", "Alice", "GameState.txt.gz")
	end := int64(strings.Index(text, "frame: 0,"))
	for i, p := range parts(t, text) {
		want := snapshot.Point{Tick: uint64(30 * i), Native: fmt.Sprintf("frame %d", 30*i)}
		if p.Point != want || p.Seed != 0 || p.Offset != end || !strings.HasPrefix(text[p.Offset:], fmt.Sprintf("frame: %d, seed: 0\n", 30*i)) {
			t.Errorf("%+v", p)
		}
		end = p.Offset + p.Size
	}
	if end != int64(len(text)) {
		t.Errorf("ends at %d of %d", end, len(text))
	}
}

// TestAlignment puts headings at each offset around the sizes of buffers, next to
// lines that look alike.
func TestAlignment(t *testing.T) {
	for _, around := range []int{4 << 10, 64 << 10, 256 << 10, 1 << 20} {
		for shift := -20; shift <= 20; shift++ {
			var b strings.Builder
			b.WriteString("frame: 1, seed: 2\n\tframe: 3, seed: 0\nxframe: 4, seed: 0\n")
			fill := around + shift - b.Len()
			if shift%2 == 0 {
				b.WriteString(strings.Repeat("x", fill-1) + "\n")
			} else {
				b.WriteString(strings.Repeat("frame:\n", fill/7) + strings.Repeat("\n", fill%7))
			}
			b.WriteString("frame: 5, seed: 6\r\n\tunits: 0\nframe: 7, seed: 8\nframe: 9, se")
			text := b.String()
			var want []string
			for at := 0; at < len(text); {
				line := text[at:]
				n := strings.IndexByte(line, '\n')
				if n < 0 {
					break
				}
				if strings.HasPrefix(line, "frame: ") {
					want = append(want, fmt.Sprint(at))
				}
				at += n + 1
			}
			var got []string
			for _, p := range parts(t, text) {
				got = append(got, fmt.Sprint(p.Offset))
			}
			if !slices.Equal(got, want) || len(got) != 3 {
				t.Fatalf("%d%+d: %v, want %v", around, shift, got, want)
			}
		}
	}
}

func TestBadParts(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "no frame",
		" mapName: M\n":                          "no frame",
		"frame: 1, seed":                         "no frame",
		"frame: 1, seed: 0\nframe: 1, seed: 0\n": "frame 1 after frame 1",
		"frame: 2, seed: 0\nframe: 1, seed: 0\n": "frame 1 after frame 2",
		"frame: x, seed: 0\n":                    "expected frame",
		"frame: 4294967296, seed: 0\n":           "expected frame",
		"frame: 1\n":                             "expected frame",
		strings.Repeat(" mapName: M\n", 9999) + "frame: 1, seed: 0\n": "no frame within",
	} {
		_, err := spring.Parts(strings.NewReader(text), int64(len(text)), "x")
		if !errors.Is(err, frame.ErrCorrupt) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: %v, want %s", text, err, want)
		}
	}
	if _, err := spring.Parts(broken{}, 100, "x"); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if _, err := spring.Read(broken{}, 100, "x"); !errors.Is(err, errBroken) {
		t.Error(err)
	}
	if _, err := spring.Read(broken{}, 1<<40, "x"); !errors.As(err, new(*limits.Error)) {
		t.Error(err)
	}
}

var errBroken = errors.New("broken")

type broken struct{}

func (broken) ReadAt([]byte, int64) (int, error) { return 0, errBroken }

// small returns a frame of a real dump without all but some units.
func small(t testing.TB) string {
	text := frames(t, stateLoad(t, "pos_1ulp", "Alice", "GameState.txt.gz"))[20]
	head, rest, _ := strings.Cut(text, "\t\tunitID: ")
	units, tail, _ := strings.Cut(rest, "\tfeatures: ")
	list := strings.Split(units, "\t\tunitID: ")
	head = strings.Replace(head, "units: 24", "units: 3", 1)
	projectiles, teams, _ := strings.Cut(tail, "\tteams: ")
	shots := strings.Split(projectiles, "\t\tprojectileID: ")
	return head + "\t\tunitID: " + strings.Join(list[:3], "\t\tunitID: ") + "\tfeatures: " +
		strings.Replace(shots[0], "projectiles: 14", "projectiles: 1", 1) + "\t\tprojectileID: " + shots[1] + "\tteams: " + teams
}

// same reports whether two lines differ in nothing but how many decimals of the
// same f32 they have, or in which of two as near ones was taken: that is no
// difference of the state. Nor is the bracket that Recoil opens before a
// projectile's hashes and never closes.
func same(a, b string) bool {
	if strings.Count(a, "<") > strings.Count(a, ">") {
		a = strings.Replace(a, ": <", ": ", 1)
	}
	if strings.Count(b, "<") > strings.Count(b, ">") {
		b = strings.Replace(b, ": <", ": ", 1)
	}
	split := func(s string) []string {
		return strings.FieldsFunc(s, func(r rune) bool { return strings.ContainsRune("<>, \t", r) })
	}
	x, y := split(a), split(b)
	if len(x) != len(y) || strings.Count(a, ",") != strings.Count(b, ",") || strings.Count(a, "<") != strings.Count(b, "<") || strings.Count(a, ">") != strings.Count(b, ">") {
		return false
	}
	for i := range x {
		if x[i] != y[i] && !(isPrint(x[i]) && isPrint(y[i]) && nearest(x[i]) == nearest(y[i])) {
			return false
		}
	}
	return true
}

func nearest(s string) float64 {
	f, err := strconv.ParseFloat(s, 32)
	if err != nil {
		return 1e30
	}
	return f
}

// isPrint reports whether a number is an f32 rounded to the decimals it has.
func isPrint(s string) bool {
	exact, ok := new(big.Rat).SetString(s)
	_, decimals, point := strings.Cut(s, ".")
	if !ok || !point {
		return false
	}
	off := new(big.Rat).Sub(exact, new(big.Rat).SetFloat64(nearest(s)))
	half := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Mul(big.NewInt(2), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(len(decimals))), nil)))
	return off.Abs(off).Cmp(half) <= 0
}

// TestNothingLost edits values of real and of Recoil's states, leaves lines out,
// doubles them, and puts them elsewhere: each change is an error or changes the
// root.
func TestNothingLost(t *testing.T) {
	recoil := frames(t, stateLoad(t, "recoil", "ServerGameState-846930886-[600-602].txt"))
	for i, text := range []string{small(t), recoil[0], recoil[1][:strings.Index(recoil[1], "internal")], frames(t, stateLoad(t, "recoil", "ClientGameState-1804289383-[600-602].txt"))[0]} {
		lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
		before := root(t, text)
		random := rand.New(rand.NewPCG(uint64(i), 4))
		alphabet := []byte("0123456789.-x")
		kinds := map[string]int{}
		for range effort.Of(300, 1200) {
			edited := slices.Clone(lines)
			i, j := 1+random.IntN(len(lines)-1), 1+random.IntN(len(lines)-1)
			what, equal := "", lines[i] == ""
			switch random.IntN(5) {
			case 0:
				what, edited = "left out", slices.Delete(edited, i, i+1)
			case 1:
				what, edited = "doubled", slices.Insert(edited, i, lines[i])
			case 2:
				what, edited = "inserted", slices.Insert(edited, j, lines[i])
			default:
				_, _, hasValue := strings.Cut(lines[i], ": ")
				at := strings.Index(lines[i], ": ") + 2
				if !hasValue {
					at = len(lines[i]) - len(strings.TrimLeft(lines[i], "\t"))
				}
				if at >= len(lines[i]) {
					continue
				}
				b := []byte(lines[i])
				at += random.IntN(len(b) - at)
				if b[at] == ' ' || b[at] == ',' || b[at] == '|' || b[at] == '\t' { // separates values
					continue
				}
				if random.IntN(3) == 0 {
					what, b = "cut", slices.Delete(b, at, at+1)
				} else {
					what = "replaced"
					b[at] = alphabet[random.IntN(len(alphabet))]
				}
				edited[i] = string(b)
				equal = edited[i] == lines[i] || same(lines[i], edited[i])
			}
			if equal {
				continue
			}
			kinds[what]++
			s, err := stateOpen(strings.Join(edited, "\n") + "\n")
			if err != nil {
				if !errors.As(err, new(*frame.Error)) {
					t.Fatal(err)
				}
				continue
			}
			if s.Info().Root.String() == before {
				t.Errorf("%s, and the root stays: line %d %q, line %d %q, now %q", what, i, lines[i], j, lines[j], edited[i])
			}
		}
		for _, what := range []string{"left out", "doubled", "inserted", "cut", "replaced"} {
			if kinds[what] < effort.Of(10, 40) {
				t.Errorf("%d lines %s", kinds[what], what)
			}
		}
	}
}

// TestOrder checks that the order of rows that have ids does not count.
func TestOrder(t *testing.T) {
	text := small(t)
	head, rest, _ := strings.Cut(text, "\t\tunitID: ")
	units, tail, _ := strings.Cut(rest, "\tfeatures: ")
	list := strings.Split(units, "\t\tunitID: ")
	slices.Reverse(list)
	turned := head + "\t\tunitID: " + strings.Join(list, "\t\tunitID: ") + "\tfeatures: " + tail
	if turned == text || root(t, turned) != root(t, text) {
		t.Error("units in another order")
	}
	if crlf := strings.ReplaceAll(text, "\n", "\r\n"); root(t, crlf) != root(t, text) {
		t.Error("other ends of lines")
	}
}

// TestTorn cuts a state everywhere.
func TestStateTorn(t *testing.T) {
	text := small(t)
	for n := range text {
		_, err := stateOpen(text[:n])
		if !errors.As(err, new(*frame.Error)) {
			t.Fatalf("cut at %d, after %q: %v", n, text[max(0, n-30):n], err)
		}
		if text[:n] != "" && n > 20 && text[n-1] != '\n' && !errors.Is(err, frame.ErrTorn) {
			t.Fatalf("cut at %d, after %q: %v", n, text[max(0, n-30):n], err)
		}
	}
	recoil := frames(t, stateLoad(t, "recoil", "ServerGameState-846930886-[600-602].txt"))[0]
	whole := root(t, recoil)
	for n := range recoil {
		s, err := stateOpen(recoil[:n])
		if err != nil {
			if !errors.As(err, new(*frame.Error)) {
				t.Fatal(err)
			}
			continue
		}
		if recoil[n-1] != '\n' || strings.Index(recoil, "allyteamID: 1") > n || s.Info().Root.String() == whole {
			t.Fatalf("cut at %d, after %q: no error", n, recoil[max(0, n-30):n])
		}
	}
}

// TestBad has states that no engine writes.
func TestBad(t *testing.T) {
	text := small(t)
	edit := func(old, replaced string) string {
		if !strings.Contains(text, old) {
			t.Fatalf("no %q", old)
		}
		return strings.Replace(text, old, replaced, 1)
	}
	unit := func(lines ...string) string {
		return "frame: 1, seed: 0\n\tunits: 1\n\t\tunitID: 1\n" + strings.Join(lines, "\n") + "\n\tteams: 0\n"
	}
	many := make([]string, 5000)
	for i := range many {
		many[i] = fmt.Sprintf("\t\t\tk%d: 1", i)
	}
	for what, c := range map[string]struct{ text, want string }{
		"empty":               {"", "the state ends before its teams"},
		"another file":        {"[t=00:00:00.000926] x\n", "expected frame"},
		"a trace":             {"frame,player0\n0,1\n", "expected frame"},
		"binary":              {"\x00\xff\n\x01", "expected frame"},
		"tabs first":          {"\tframe: 1, seed: 0\n", "expected frame"},
		"more units":          {edit("units: 3", "units: 4"), "3 of Unit, line 2 has 4"},
		"fewer units":         {edit("units: 3", "units: 2"), "3 of Unit, line 2 has 2"},
		"not a number":        {edit("units: 3", "units: x"), "expected a number of rows"},
		"negative number":     {edit("units: 3", "units: -3"), "expected a number of rows"},
		"huge number":         {edit("units: 3", "units: 99999999999"), "expected a number of rows"},
		"large number":        {edit("units: 3", "units: 2000000000"), "3 of Unit"},
		"more pieces":         {edit("pieces: 4", "pieces: 5"), "4 of UnitPiece"},
		"fewer weapons":       {edit("weapons: 1", "weapons: 0"), "1 of UnitWeapon"},
		"more commands":       {edit("commandQue.size(): ", "commandQue.size(): 1"), "of UnitCommand"},
		"more parameters":     {edit("params: ", "params: 1"), "parameters, expected 1"},
		"two sections":        {edit("\tfeatures: 0\n", "\tfeatures: 0\n\tfeatures: 0\n"), "features for the second time"},
		"no tabs":             {edit("\tfeatures: 0\n", "features: 0\n"), "expected tabs"},
		"no colon":            {edit("\tfeatures: 0\n", "\tfeatures\n"), "expected a section"},
		"deep":                {edit("\t\t\theading", strings.Repeat("\t", 40)+"heading"), "40 tabs"},
		"id of letters":       {edit("unitID: ", "unitID: x"), "expected a number"},
		"negative id":         {edit("unitID: ", "unitID: -"), "expected a number"},
		"large id":            {edit("unitID: ", "unitID: 99999999999999999999"), "expected a number"},
		"same id":             {unit() + "", ""},
		"id twice":            {"frame: 1, seed: 0\n\tunits: 2\n\t\tunitID: 1\n\t\tunitID: 1\n\tteams: 0\n", "Unit has 1 twice"},
		"piece of nothing":    {"frame: 1, seed: 0\n\tunits: 0\n\t\t\t\tname: x\n\tteams: 0\n", "name outside of a row"},
		"line of nothing":     {"frame: 1, seed: 0\n\t\tx: 1\n", "expected a section"},
		"key of bytes":        {unit("\t\t\t\xff: 1"), "not UTF-8"},
		"no key":              {unit("\t\t\t: 1"), "key of 0 bytes"},
		"long key":            {unit("\t\t\t" + strings.Repeat("k", 2000) + ": 1"), "key of 2000 bytes"},
		"many keys":           {unit(many...), "more than 4096 fields"},
		"two of one name":     {unit("\t\t\tpos: <1.0, 2.0>", "\t\t\tpos.x: 7"), `"pos.x" is the name of two fields`},
		"too many parameters": {unit("\t\t\tcommandAI:", "\t\t\t\tcommandQue.size(): 1", "\t\t\t\t\tcommandID: 1", "\t\t\t\t\tparams: 2000"), "expected 0 to 1024"},
		"endless line":        {"frame: 1, seed: 0\n\tunits: " + strings.Repeat("1", 1<<20), "ends inside the line"},
		"checksums":           {unit() + "internal frame checksums (x):\n", "expected tabs"},
		"after checksums":     {unit() + "internal frame checksums (1):\n\tff\n\t\tff\n", "expected a checksum"},
	} {
		_, err := stateOpen(c.text)
		if c.want == "" {
			if err != nil {
				t.Errorf("%s: %v", what, err)
			}
			continue
		}
		if !errors.As(err, new(*frame.Error)) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", what, err, c.want)
		}
	}
}

// TestManyCells has rows with columns that would fill memory: each row is a few bytes.
func TestManyCells(t *testing.T) {
	var b strings.Builder
	b.WriteString("frame: 1, seed: 0\n\tunits: 200000\n")
	for i := range 200000 {
		fmt.Fprintf(&b, "\t\tunitID: %d\n", i)
	}
	for i := range 4000 {
		fmt.Fprintf(&b, "\t\t\tk%d: 1\n", i)
	}
	b.WriteString("\tteams: 0\n")
	if _, err := stateOpen(b.String()); err == nil || !strings.Contains(err.Error(), "limit sparse is reached") || strings.Contains(err.Error(), "corrupt") {
		t.Error(err)
	}
}

func TestStateSniff(t *testing.T) {
	sniff := spring.Format().Sniff
	for head, want := range map[string]bool{
		stateLoad(t, "control", "Bob", "GameState.txt.gz")[:snapshot.SniffLen]: true, "frame: 0, seed: 0\n": true,
		"frame: x, seed: 0\n": false, "frame,player0\n": false, "frame: 1": false, "": false, "[t=0]": false,
	} {
		if sniff([]byte(head)) != want {
			t.Errorf("%q: %v", head, !want)
		}
	}
	if usual := spring.Format().Usual; !usual("ClientGameState-1-[0-9].txt") || usual("infolog.txt") {
		t.Error("names")
	}
}

func FuzzState(f *testing.F) {
	f.Add([]byte(small(f)))
	for _, name := range []string{"ServerGameState-846930886-[600-602].txt", "ClientGameState-1804289383-[600-602].txt"} {
		f.Add([]byte(stateLoad(f, "recoil", name)))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		list, err := spring.Parts(r, int64(len(b)), "x")
		if err != nil && !errors.As(err, new(*frame.Error)) {
			t.Fatal(err)
		}
		at := int64(0)
		for i, p := range list {
			if p.Offset < at || p.Size <= 0 || i > 0 && p.Offset != at {
				t.Fatalf("%+v after %d", p, at)
			}
			if at = p.Offset + p.Size; at > int64(len(b)) {
				t.Fatalf("%+v of %d bytes", p, len(b))
			}
			w, err := spring.Read(io.NewSectionReader(r, p.Offset, p.Size), p.Size, "x")
			if err == nil {
				_, err = snapshot.Hold(w)
			} else if !errors.As(err, new(*frame.Error)) {
				t.Fatal(err)
			}
			if err != nil && !errors.As(err, new(*frame.Error)) {
				t.Fatal(err)
			}
		}
		if w, err := spring.Read(r, int64(len(b)), "x"); err == nil {
			if _, err := snapshot.Hold(w); err != nil {
				t.Fatal(err)
			}
		}
	})
}

// large returns a state with the units of a real one, many times, each time with
// other ids.
func stateLarge(b *testing.B) string {
	text := frames(b, stateLoad(b, "control", "Alice", "GameState.txt.gz"))[30]
	head, rest, _ := strings.Cut(text, "\tunits: ")
	_, rest, _ = strings.Cut(rest, "\n")
	units, tail, _ := strings.Cut(rest, "\tfeatures: ")
	list := strings.Split(units, "\t\tunitID: ")[1:]
	var out strings.Builder
	const times = 400
	fmt.Fprintf(&out, "%s\tunits: %d\n", head, times*len(list))
	for n := range times {
		for _, u := range list {
			id, rest, _ := strings.Cut(u, " ")
			fmt.Fprintf(&out, "\t\tunitID: %s%03d %s", id, n, rest)
		}
	}
	return out.String() + "\tfeatures: " + tail
}

func BenchmarkRead(b *testing.B) {
	for name, text := range map[string]string{"real": frames(b, stateLoad(b, "control", "Alice", "GameState.txt.gz"))[30], "large": stateLarge(b)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := spring.Read(strings.NewReader(text), int64(len(text)), "x"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOpen reads a state and computes its digests.
func BenchmarkOpen(b *testing.B) {
	for name, text := range map[string]string{"real": frames(b, stateLoad(b, "control", "Alice", "GameState.txt.gz"))[30], "large": stateLarge(b)} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := stateOpen(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkParts(b *testing.B) {
	text := strings.Repeat(strings.Repeat("\t\t\tpos: <1.0, 2.0, 3.0>\n", 1000)+"\n", 1000)
	text = "frame: 1, seed: 0\n" + text
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if len(parts(b, text)) != 1 {
			b.Fatal("parts")
		}
	}
}
