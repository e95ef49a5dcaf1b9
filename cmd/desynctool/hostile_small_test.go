package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// Bounds for any bundle of less than a mebibyte.
const (
	smallBundle = 1 << 20
	mostCPU     = 5 * time.Second
	mostMemory  = 512 << 20
	late        = 500 * time.Millisecond // the clock of limit cpu, the program's start and end
)

// zstdOf returns what write writes, compressed, without holding it.
func zstdOf(t testing.TB, write func(w io.Writer)) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := zstd.NewWriter(&out, zstd.WithEncoderConcurrency(1), zstd.WithWindowSize(1<<20))
	if err != nil {
		t.Fatal(err)
	}
	write(w)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// written writes n lines, in which %[1]d is the number of the line. Lines without it are one text.
func written(n int, line string) func(w io.Writer) {
	if !strings.Contains(line, "%[1]d") {
		return repeated(line, n)
	}
	return func(w io.Writer) {
		for i := range n {
			fmt.Fprintf(w, line, i)
		}
	}
}

// noise returns bytes that do not pack, and with which a file may unpack to more.
func noise(n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{}).Read(b)
	return b
}

// around writes a piece n times between a beginning and an end; %[1]d is its number.
func around(begin, piece, end string, n int) func(w io.Writer) {
	return func(w io.Writer) {
		io.WriteString(w, begin)
		written(n, piece)(w)
		io.WriteString(w, end)
	}
}

// repeated writes a text n times.
func repeated(text string, n int) func(w io.Writer) {
	return func(w io.Writer) {
		block := strings.Repeat(text, 1<<10)
		for ; n >= 1<<10; n -= 1 << 10 {
			io.WriteString(w, block)
		}
		io.WriteString(w, strings.Repeat(text, n))
	}
}

// smallBundles are bundles of less than a mebibyte that unpack to much, or of which there is much to do: what is in
// report.zip, or report.tar.zst if there are too many files for a zip of that size.
func smallBundles(t testing.TB) map[string]func() (name string, content []byte) {
	inZip := func(files ...archivetest.Entry) func() (string, []byte) {
		return func() (string, []byte) { return "report.zip", archivetest.Zip(t, zip.Deflate, files) }
	}
	both := func(name string, write func(peer int) func(w io.Writer)) func() (string, []byte) {
		return func() (string, []byte) {
			var files []archivetest.Entry
			for peer := range 2 {
				files = append(files, archivetest.Entry{Name: fmt.Sprintf("p%d/%s.zst", peer, name), Content: zstdOf(t, write(peer))})
			}
			return inZip(files...)()
		}
	}
	same := func(write func(w io.Writer)) func(int) func(w io.Writer) {
		return func(int) func(io.Writer) { return write }
	}
	inTar := func(n int, entry func(i int) (name string, content []byte)) func() (string, []byte) {
		return func() (string, []byte) {
			return "report.tar.zst", zstdOf(t, func(w io.Writer) {
				out := tar.NewWriter(w)
				for i := range n {
					name, content := entry(i)
					err := out.WriteHeader(&tar.Header{Name: name, Size: int64(len(content)), Mode: 0o644, Typeflag: tar.TypeReg})
					if err == nil {
						_, err = out.Write(content)
					}
					if err != nil {
						t.Fatal(err)
					}
				}
				if err := out.Close(); err != nil {
					t.Fatal(err)
				}
			})
		}
	}
	return map[string]func() (string, []byte){
		"zstd of empty lines": func() (string, []byte) {
			var files []archivetest.Entry
			empty := zstdOf(t, repeated("\n", 64<<20))
			for i := range 40 {
				files = append(files, archivetest.Entry{Name: fmt.Sprintf("p%d/a.trace.zst", i), Content: empty})
			}
			return inZip(files...)()
		},
		"empty files": inTar(100_000, func(i int) (string, []byte) { return fmt.Sprintf("p%d/%d.log", i%9, i), nil }),
		"one name":    inTar(60_000, func(i int) (string, []byte) { return "p/state_1.json", []byte(`{"tick": 1}`) }),
		"peers": inTar(20_000, func(i int) (string, []byte) {
			return fmt.Sprintf("p%d/a.trace", i), smallBinary(t, fmt.Sprint("p", i), byte(i%2))
		}),
		"order logs": inTar(10_000, func(i int) (string, []byte) {
			return fmt.Sprintf("p%d/order-log.bin", i), smallLog(t, fmt.Sprint("p", i), fmt.Sprint(i%2))
		}),
		"states": inTar(40_000, func(i int) (string, []byte) {
			return fmt.Sprintf("p%d/state_%d.json", i%2, i/2), fmt.Appendf(nil, `{"tick":%d,"x":%d}`, i/2, i%2)
		}),
		"folders": inTar(2000, func(i int) (string, []byte) {
			return strings.Repeat(fmt.Sprint("d", i, "/"), 400) + "a.log", []byte("tick 1 sum 1\n")
		}),
		"peers' reports": inTar(20_000, func(i int) (string, []byte) {
			return fmt.Sprintf("p%d/desync_report_0000000000000007_%010d.json", i%300, i), []byte(`{"format":"desync report","version":1}`)
		}),
		"archives within": inTar(1200, func(i int) (string, []byte) {
			return fmt.Sprintf("%d.zip", i), archivetest.Zip(t, zip.Deflate, []archivetest.Entry{{Name: "a.log", Content: bytes.Repeat([]byte("tick 1 sum 1\n"), 2000)}})
		}),
		"archive in archive in archive": func() (string, []byte) {
			content := archivetest.Zip(t, zip.Deflate, []archivetest.Entry{{Name: "a.log", Content: []byte("tick 1 sum 1\n")}})
			for range 60 {
				content = archivetest.Zip(t, zip.Deflate, []archivetest.Entry{{Name: "a.zip", Content: content}, {Name: "b.zip", Content: content}})
				if len(content) > 200_000 {
					break
				}
			}
			return "report.zip", content
		},
		"gzip of gzip": func() (string, []byte) {
			content := bytes.Repeat([]byte("tick 1 sum 1\n"), 4<<20)
			for range 8 {
				var out bytes.Buffer
				w := gzip.NewWriter(&out)
				_, _ = w.Write(content)
				w.Close()
				content = out.Bytes()
			}
			return inZip(archivetest.Entry{Name: "p/a.log" + strings.Repeat(".gz", 8), Content: content})()
		},
		"tables": both("state_1.json", func(peer int) func(io.Writer) {
			return around(`{"tick": 1, `, `"t%[1]dq": [{"id": 1, "hp": `+fmt.Sprint(peer)+`}], `, `"z": 1}`, 60_000)
		}),
		"columns": both("state_1.csv", func(peer int) func(io.Writer) {
			return around("id", ",c%[1]d", "\n1"+strings.Repeat(fmt.Sprint(",", peer), 60_000)+"\n", 60_000)
		}),
		"rows": both("state_1.csv", func(peer int) func(io.Writer) {
			return around("tick,id,hp\n", "1,%[1]d,"+fmt.Sprint(peer)+"\n", "", 2_000_000)
		}),
		"documents": both("states.jsonl", func(peer int) func(io.Writer) {
			return written(100_000, `{"tick": %[1]d, "u": [{"id": 1, "hp": `+fmt.Sprint(peer)+"}]}\n")
		}),
		"small states": both("states.jsonl", func(peer int) func(io.Writer) {
			return written(200_000, `{"tick": %[1]d, "u": [{"id": 1, "hp": `+fmt.Sprint(peer)+"}]}\n")
		}),
		"states of zeros": both("states.jsonl", func(int) func(io.Writer) {
			return written(90_000, `{"tick": %[1]d, "a": [`+strings.Repeat("0,", 400)+"0]}\n")
		}),
		"zeros": both("state_1.json", func(peer int) func(io.Writer) {
			return around(fmt.Sprintf(`{"tick": 1, "random": "%x", "a": [%d`, noise(256<<10), peer), ",0", "]}", 20<<20)
		}),
		"nesting":    both("state_1.json", same(around(`{"tick": 1, "a": `, "[", "", 4_000_000))),
		"elements":   both("state_1.xml", same(around(`<state tick="1">`, "<a>", "", 2_000_000))),
		"aliases":    both("state_1.yaml", same(around("tick: 1\na0: &a0 [x, x, x, x, x, x, x, x]\n", "b%[1]d: *a0\n", "", 100_000))),
		"one line":   both("a.trace", same(around("tick=1 system=Move sum=", "a", "\n", 30_000_000))),
		"one value":  both("state_1.json", same(around(`{"tick": 1, "u": "`, "x", `"}`, 30_000_000))),
		"one number": both("state_1.json", same(around(`{"tick": 1, "u": `, "7", `}`, 20_000_000))),
		"ticks": both("a.trace", func(peer int) func(io.Writer) {
			return written(1_000_000, "tick=%[1]d system=Move sum=0"+fmt.Sprint(peer)+"\n")
		}),
		"systems": both("a.trace", func(peer int) func(io.Writer) {
			return written(500_000, "tick=1 system=s%[1]d sum=0"+fmt.Sprint(peer)+"\n")
		}),
		"words": both("game.log", same(written(1_000_000, "frame checksum hash desync out of sync tick %[1]d\n"))),
	}
}

// TestSmallBundles: no bundle of less than a mebibyte takes more processor time or memory than any such may, and what
// was not read is never in sync.
func TestSmallBundles(t *testing.T) {
	bundles := smallBundles(t)
	if len(bundles) < 20 {
		t.Fatalf("%d kinds", len(bundles))
	}
	chosen := []string{"gzip of gzip", "one number"}
	if effort.Full() {
		chosen = nil
		for i, name := range slices.Sorted(maps.Keys(bundles)) {
			if effort.Turn(i, 4) {
				chosen = append(chosen, name)
			}
		}
	}
	for _, kind := range chosen {
		t.Run(kind, func(t *testing.T) {
			dir := t.TempDir()
			name, content := bundles[kind]()
			if len(content) >= smallBundle {
				t.Fatalf("the bundle has %d bytes", len(content))
			}
			put(t, filepath.Join(dir, name), string(content))
			for _, command := range effort.Of([]string{"triage"}, []string{"triage", "doctor", "tracediff", "bisect"}) {
				c := spend(t, filepath.Join(dir, name), &hostile{name: kind}, command)
				t.Logf("%s: %d bytes, status %d, %v, %d MiB", command, len(content), c.status, c.cpu.Round(10*time.Millisecond), c.memory>>20)
				if c.cpu > mostCPU+late || c.memory > mostMemory {
					t.Errorf("%s: %d bytes take %v and %d MiB, expected at most %v and %d MiB", command, len(content), c.cpu, c.memory>>20, mostCPU, mostMemory>>20)
				}
				if c.status < 0 || c.status > 3 || bytes.Contains(c.errors, []byte("goroutine ")) {
					t.Errorf("%s: status %d: %.2000s", command, c.status, c.errors)
				}
				if limit := bytes.Contains(c.errors, []byte("is reached")); limit && c.status == 0 {
					t.Errorf("%s: a limit is reached, and its status is 0: %.2000s", command, c.errors)
				}
			}
		})
	}
}
