package blobs

import (
	"io"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// BenchmarkUploads keeps 100 bundles of 1 MB that arrive at the same time, piece by piece. Half of their bytes can be
// compressed. It reports the most memory of the process, its resident set.
func BenchmarkUploads(b *testing.B) {
	const uploads, size = 100, 1_000_000
	b.SetBytes(uploads * size)
	for n := 0; b.Loop(); n++ {
		b.StopTimer()
		s, err := Open(b.TempDir())
		if err != nil {
			b.Fatal(err)
		}
		runtime.GC()
		b.StartTimer()
		var all sync.WaitGroup
		for i := range uploads {
			all.Go(func() {
				k, err := s.Put(b.Context(), io.LimitReader(&upload{rand.NewChaCha8([32]byte{byte(i), byte(n)})}, size), 0)
				if err != nil || k.Bytes != size {
					b.Error(k, err)
				}
			})
		}
		all.Wait()
	}
	b.ReportMetric(peak(b), "MiB-peak")
}

// upload is endless content; half of it can be compressed. It arrives in pieces, and others have their turn after each.
type upload struct{ noise *rand.ChaCha8 }

func (u *upload) Read(p []byte) (int, error) {
	runtime.Gosched()
	p = p[:min(len(p), 16<<10)]
	half := len(p) / 2
	for i := range p[:half] {
		p[i] = "tick 100 hash 0123\n"[i%19]
	}
	_, err := u.noise.Read(p[half:])
	return len(p), err
}

// peak returns the largest resident set of this process in MiB, 0 where the system does not report it.
func peak(b *testing.B) float64 {
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil {
				b.Fatal(err)
			}
			return float64(kib) / 1024
		}
	}
	return 0
}
