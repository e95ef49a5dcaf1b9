package ggrs_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/ggrs"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

func content(t testing.TB) []byte {
	t.Helper()
	b, err := os.ReadFile("../../testdata/messages/bevy_ggrs-a.log")
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func text(t testing.TB, log []byte) string {
	t.Helper()
	s, err := ggrs.Format().Read(bytes.NewReader(log), "x", 0)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := tracediff.WriteSource(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// TestLog has a log that ends soon after a rollback: nothing in it is confirmed, and what was
// saved before the rollback is not what counts.
func TestLog(t *testing.T) {
	const want = `%desynctool trace 1
tick=15118 phase=predicted sum=0xc3387452a3c84267
tick=15119 scope=Gold phase=predicted sum=0x0000000000000007
tick=15119 scope="Transform<Vec3, f32>" phase=predicted sum=0x00000000000000ab
tick=15119 phase=predicted sum=0x0000000000000001
tick=15120 scope="rollback entities" phase=predicted sum=0x0000000000000005
tick=15120 phase=predicted sum=0x875164d47c219510
event=restore tick=15119 at=15121
tick=15119 phase=predicted sum=0x0000000000000002
tick=15120 phase=predicted sum=0x508030672ffbd971
%end
`
	log := content(t)
	if diff := cmp.Diff(want, text(t, log)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !ggrs.Format().Sniff(log) {
		t.Error("not recognised")
	}
	// With as many frames after it as a rollback can go back, the last values are confirmed.
	var more bytes.Buffer
	more.Write(log)
	for frame := 15121; frame <= 15118+128+3; frame++ {
		fmt.Fprintf(&more, "advancing to frame: %d\nsaving snapshot for frame %d\nFrame has checksum %X\n", frame, frame, frame)
	}
	got := text(t, more.Bytes())
	for _, line := range []string{
		"\ntick=15118 sum=0xc3387452a3c84267\n", "\ntick=15120 phase=predicted sum=0x875164d47c219510\n", "\ntick=15119 sum=0x0000000000000002\n",
		"\ntick=15120 sum=0x508030672ffbd971\n", "\ntick=15121 phase=predicted sum=0x0000000000003b11\n",
	} {
		if !strings.Contains(got, line) {
			t.Errorf("lacks %q", line)
		}
	}
}

func TestNoLog(t *testing.T) {
	for _, log := range []string{
		"", "x\n", "The frame has checksum 7\n", "Frame has checksum 7 or so\n", "saving snapshot for frame 7\n", "Frame has checksum XYZ\n", "<Bob>Frame has checksum 7\n",
		"Component of the game 7\n", "Frame has checksum 000000000000000000000000000000007\n",
	} {
		if ggrs.Format().Sniff([]byte(log)) {
			t.Errorf("%q is taken for a log", log)
		}
	}
}

// session writes the log of one player as the library would: predictions that are wrong are taken
// back, by up to depth frames. From a frame on, if not 0, the confirmed state differs.
func session(seed uint64, frames, depth, parts, apart int) string {
	random := rand.New(rand.NewPCG(seed, 7))
	value := func(frame, part int) uint64 {
		v := uint64(frame)*0x9e3779b97f4a7c15 + uint64(part)
		if apart > 0 && frame >= apart {
			v++
		}
		return v
	}
	var b strings.Builder
	put := func(frame int, wrong bool) {
		fmt.Fprintf(&b, "2026-01-01T00:00:00Z DEBUG ggrs: saving snapshot for frame %d\n", frame)
		for _, p := range random.Perm(parts) {
			v := value(frame, p+1)
			if wrong {
				v = random.Uint64()
			}
			fmt.Fprintf(&b, "2026-01-01T00:00:00Z TRACE ggrs: Component C%d has checksum %X\n", p, v)
		}
		v := value(frame, 0)
		if wrong {
			v = random.Uint64()
		}
		fmt.Fprintf(&b, "2026-01-01T00:00:00Z TRACE ggrs: Frame has checksum %X\n", v)
	}
	wrong := 0 // frames at the end that were predicted wrongly
	for frame := 1; frame <= frames; frame++ {
		if wrong > 0 && (random.IntN(4) == 0 || wrong == depth) {
			fmt.Fprintf(&b, "DEBUG ggrs: restoring snapshot for frame %d\n", frame-1-wrong)
			for again := frame - wrong; again < frame; again++ {
				fmt.Fprintf(&b, "DEBUG ggrs: advancing to frame: %d\n", again)
				put(again, false)
			}
			wrong = 0
		}
		fmt.Fprintf(&b, "DEBUG ggrs: advancing to frame: %d\n", frame)
		if bad := wrong > 0 || random.IntN(10) == 0; bad {
			wrong++
			put(frame, true)
		} else {
			put(frame, false)
		}
	}
	return b.String()
}

func compare(t testing.TB, logs ...string) *tracediff.Result {
	t.Helper()
	dir, f := t.TempDir(), ggrs.Format()
	var traces []*tracediff.Trace
	for i, log := range logs {
		path := filepath.Join(dir, fmt.Sprint(i)+".log")
		if err := os.WriteFile(path, []byte(log), 0o600); err != nil {
			t.Fatal(err)
		}
		one, err := tracediff.OpenForeign(files.Disk, path, &f, tracediff.ReadOptions{})
		if err != nil {
			t.Fatal(err)
		}
		traces = append(traces, one...)
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSessions compares two players of made-up sessions: wrong predictions never differ, and the
// first frame in which the confirmed states do is found, with the component.
func TestSessions(t *testing.T) {
	for seed := range uint64(8) {
		parts := int(seed % 3)
		a := session(seed, 700, 8, parts, 0)
		if r := compare(t, a, session(seed+100, 700, 8, parts, 0)); r.First != nil || r.LastCompared.Number < 300 || len(r.Findings) > 0 {
			t.Errorf("seed %d: %+v, compared up to %v, %+v", seed, r.First, r.LastCompared, r.Findings)
		}
		r := compare(t, a, session(seed+100, 700, 8, parts, 301))
		scope := ""
		if parts > 0 {
			scope = "C0"
		}
		if r.First == nil || r.First.Tick.Number != 301 || r.First.Scope != scope {
			t.Errorf("seed %d: %+v", seed, r.First)
		}
	}
}

func FuzzRead(f *testing.F) {
	f.Add(content(f))
	f.Add([]byte(session(1, 300, 8, 2, 0)))
	f.Fuzz(func(t *testing.T, log []byte) {
		ggrs.Format().Sniff(log)
		s, err := ggrs.Format().Read(bytes.NewReader(log), "x", 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := tracediff.WriteSource(new(bytes.Buffer), s); err != nil {
			t.Fatal(err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	log := []byte(session(1, 20000, 8, 4, 0))
	b.SetBytes(int64(len(log)))
	for b.Loop() {
		s, err := ggrs.Format().Read(bytes.NewReader(log), "x", 0)
		if err != nil {
			b.Fatal(err)
		}
		for {
			if _, err := s.Next(); err != nil {
				break
			}
		}
	}
}
