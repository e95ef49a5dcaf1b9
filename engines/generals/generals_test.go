package generals

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/tracediff"
)

const corpus = "../../testdata/generals"

// list reads a file to its end and returns its records, one a line, and the error at the end.
func list(t testing.TB, name, text string) (string, error) {
	t.Helper()
	s, err := Format().Read(strings.NewReader(text), name, 0)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for {
		rec, err := s.Next()
		if wrong := (*tracediff.SyntaxError)(nil); errors.As(err, &wrong) {
			fmt.Fprintf(&b, "! %v\n", wrong)
			continue
		}
		if err != nil {
			if again, err2 := s.Next(); again != nil || err2 != err {
				t.Fatalf("%v, then %v, %v", err, again, err2)
			}
			return b.String(), err
		}
		c := rec.Checkpoint
		fmt.Fprintf(&b, "%d %q %q", c.Tick, c.System, c.Scope)
		for _, sum := range c.Sums {
			fmt.Fprintf(&b, " %s=%s", sum.Name, sum.Value)
		}
		if c.HasCount {
			fmt.Fprintf(&b, " n=%d", c.Count)
		}
		b.WriteByte('\n')
	}
}

// TestLines pins what the messages of the game become.
func TestLines(t *testing.T) {
	for text, want := range map[string]string{
		"CRC at start of frame 7 is 0x00AB00CD":          `7 "CRC at start of frame # is #" "" =0x00ab00cd`,
		"CRC after AI TAiData for frame 7 is 0xFFFFFFFF": `7 "CRC after AI TAiData for frame # is #" "" =0xffffffff`,
		"RandomSeed: -12": `7 "RandomSeed: #" "" RandomSeed=-12`,
		"dumpReal() a.cpp:77 speed 3DCCCCCD (0.100000)":           `7 "dumpReal a.cpp:77" "speed" =0.1/3DCCCCCD`,
		"dumpReal() a.cpp:77 speed 7FC00001 (nan)":                `7 "dumpReal a.cpp:77" "speed" =NaN/7FC00001`,
		"dumpReal() a.cpp:77 speed 80000000 (-0.000000)":          `7 "dumpReal a.cpp:77" "speed" =-0/80000000`,
		"dumpVector3() a.cpp:5 v + 1 3F800000 40000000 C0000000 ": `7 "dumpVector3 a.cpp:5" "v + 1" x=1/3F800000 y=2/40000000 z=-2/C0000000`,
		"dumpCoord3D() a.cpp:5 v 3F800000 40000000":               `7 "dumpCoord3D() a.cpp:5 v # #" "" v=3F800000 =40000000`,
		"f() - min:10 max:20 val:13, bonusROF=1.25/3FA00000":      `7 "f() - min:# max:# val:#, bonusROF=#" "" min=10 max=20 val=13 bonusROF=1.25/3FA00000`,
		"r=1e-05/3727C5AC s=-1.#IND/FFC00000 q=inf/7F800000":      `7 "r=# s=# q=#" "" r=1e-05/3727C5AC s=NaN/FFC00000 q=+Inf/7F800000`,
		"Object 312 (Tank2) attacks object 77 at (1.5, -2)":       `7 "Object # (Tank2) attacks object # at (#, #)" "object 312" object=77 at=1.5 =-2`,
		"moved 3 and 3 of frame 8":                                `7 "moved # and # of frame #" "" moved=3 and=3 frame=8`,
		"GameLogic changed outside of GameLogic::update()!!!":     `7 "GameLogic changed outside of GameLogic::update()!!!" "" n=1`,
		"":             `7 "(no text)" "" n=1`,
		"5":            `7 "#" "" =5`,
		"a \xff b":     "7 \"a \uFFFD b\" \"\" n=1",
		"id DEADBEEF.": `7 "id #." "" id=DEADBEEF`,
	} {
		got, err := list(t, "x.txt", "7:00000 "+text+"\n")
		if err != io.EOF || strings.TrimSuffix(got, "\n") != want {
			t.Errorf("%q: %v\n%s\nwant\n%s", text, err, got, want)
		}
	}
	if got, _ := list(t, "x.txt", "7:00000 "+strings.Repeat("1 ", 200)+"\n"); strings.Count(got, "=1") != maxNumbers {
		t.Errorf("%d numbers of a long line", strings.Count(got, "=1"))
	}
}

// TestFiles: the planted differences are where the fixtures' README describes them, and nothing else differs.
func TestFiles(t *testing.T) {
	for n := 100; n < 105; n++ {
		var got [2][]string
		for i, peer := range []string{"alpha", "bravo"} {
			name := filepath.Join(corpus, "position", peer, fmt.Sprintf("DebugFrame_%06d.txt", n))
			b, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !Format().Sniff(b[:min(len(b), tracediff.SniffLen)]) {
				t.Errorf("%s is not recognised", name)
			}
			text, err := list(t, name, string(b))
			if err != io.EOF {
				t.Error(err)
			}
			got[i] = strings.Split(text, "\n")
		}
		var differ []string
		for i := range got[0] {
			if got[0][i] != got[1][i] {
				differ = append(differ, got[0][i], got[1][i])
			}
		}
		var want []string
		if n >= 102 {
			at := fmt.Sprintf(`%d "dumpCoord3D aiupdate.cpp:2183" "getObject()->getPosition()" x=%d/%s y=100/42C80000 z=`, n, 500+n, map[int]string{102: "44168000", 103: "4416C000", 104: "44170000"}[n])
			row := fmt.Sprintf(`%d "dumpMatrix3D object.cpp:905" "getTransformMatrix()" m20=0/00000000 m21=0/00000000 m22=1/3F800000 m23=`, n)
			want = []string{at + "20.5/41A40000", at + "20.500002/41A40001", row + "20.5/41A40000", row + "20.500002/41A40001"}
		}
		if diff := cmp.Diff(want, differ); diff != "" {
			t.Errorf("frame %d (-want +got):\n%s", n, diff)
		}
	}
}

func TestMalformed(t *testing.T) {
	for _, test := range []struct {
		name, text, want string
		err              error
	}{
		{"x.txt", "", "", frame.ErrUnrecognized},
		{"x.txt", "hello\n", "", frame.ErrUnrecognized},
		{"x.txt", "7:0 x\n", "", frame.ErrUnrecognized},
		{"x.txt", "07:00000 x\n", "", frame.ErrUnrecognized},
		{"x.txt", "7:000000 x\n", "", frame.ErrUnrecognized},
		{"x.txt", "7:00000 a\n7:00001 b", "7 \"a\" \"\" n=1\n", frame.ErrTorn},
		{"x.txt", "noise\n7:00000 a\nnoise\n7:00001 b\n", "7 \"a\" \"\" n=1\n7 \"b\" \"\" n=1\n", io.EOF},
		{"x.txt", "7:00000 a\n7:00002 b\n", "7 \"a\" \"\" n=1\n7 \"b\" \"\" n=1\n! x.txt:2: line 2 of frame 7 does not follow line 0 of frame 7: lines are lacking\n", io.EOF},
		{"x.txt", "7:00000 a\n6:00000 b\n", "7 \"a\" \"\" n=1\n", frame.ErrCorrupt},
		// The last lines before a desync begin anywhere.
		{"crcDebugPC.txt", "7:00004 a\n7:00005 b\n8:00000 c\n", "8 \"c\" \"\" n=1\n", io.EOF},
		{"crcDebugPC.txt", "7:00004 a\n", "", frame.ErrUnrecognized},
		// A file of one frame is whole, unless the game ran out of room.
		{"DebugFrame_000007.txt", "7:00004 a\n", "! DebugFrame_000007.txt:1: the frame begins with its line 4: the game keeps 64000 lines, the first ones are lost\n7 \"a\" \"\" n=1\n", io.EOF},
		{"DebugFrame_000008.txt", "7:00000 a\n", "", frame.ErrCorrupt},
		{"DebugFrame_000007.txt", "7:00000 a\n8:00000 b\n", "7 \"a\" \"\" n=1\n", frame.ErrCorrupt},
	} {
		got, err := list(t, test.name, test.text)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s, %q: %v\n%s\nwant\n%s", test.name, test.text, err, got, test.want)
		}
	}
}

func TestNames(t *testing.T) {
	for name, want := range map[string]int64{
		"a/DebugFrame_000100.txt": 100, "DebugFrame_1234567.txt": 1234567, "DebugFrame_000000.txt.gz": 0,
		"DebugFrame_100.txt": -1, "DebugFrame_0000100.txt": -1, "DebugFrame_00010x.txt": -1, "Frame_000100.txt": -1,
	} {
		n, ok := frameOf(name)
		if ok != (want >= 0) || ok && int64(n) != want {
			t.Errorf("%s: %d, %v", name, n, ok)
		}
	}
	if got := machine("a/crcDebugMY-PC.txt"); got != "MY-PC" || machine("DebugFrame_000100.txt") != "" {
		t.Errorf("machine %q", got)
	}
	s, err := newSource(strings.NewReader("7:00000 a\n"), "DebugFrame_000007.txt")
	if err != nil {
		t.Fatal(err)
	}
	if first, last := s.(tracediff.Spanner).Span(); first != 7 || last != 7 {
		t.Errorf("frames %d to %d", first, last)
	}
}

func TestSniff(t *testing.T) {
	for head, want := range map[string]bool{
		"100:00000 a\n":                   true,
		"log\n100:00000 a\n100:00001 b\n": true,
		"100:00007 a\n101:00000 b\n":      true,
		"100:00000 a\n100:00005 b\n":      false,
		"100:00000 a":                     false,
		"12:34:56 a\n":                    false,
		"2024:01:01 a\n":                  false,
		"":                                false,
		"tick=1 sum=0x00\n":               false,
	} {
		if Format().Sniff([]byte(head)) != want {
			t.Errorf("%q: %v", head, !want)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, name := range []string{"position/bravo/DebugFrame_000102.txt", "ring/crcDebugALPHA.txt"} {
		b, err := os.ReadFile(filepath.Join(corpus, filepath.FromSlash(name)))
		if err != nil {
			f.Fatal(err)
		}
		f.Add("x.txt", string(b))
	}
	f.Add("DebugFrame_000007.txt", "7:00000 r=1e-05/3727C5AC 1.#IND/FFC00000 -/ 0x 0xg\n")
	f.Fuzz(func(t *testing.T, name, text string) {
		s, err := Format().Read(strings.NewReader(text), name, 0)
		if err != nil {
			return
		}
		var out strings.Builder
		if err := tracediff.WriteSource(&out, s); err != nil && !errors.As(err, new(*frame.Error)) && !errors.As(err, new(*tracediff.SyntaxError)) {
			t.Fatal(err) // a checkpoint that cannot be written is none
		}
	})
}
