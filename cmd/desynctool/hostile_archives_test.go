package main

import (
	"archive/tar"
	"archive/zip"
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/tracediff"
)

var archiveCommands = []string{"triage", "bisect", "tracediff", "orders", "doctor", "triage --format html=/dev/null"}

// smallLog is an order log of a peer with one tick.
func smallLog(t testing.TB, peer string, payload string) []byte {
	t.Helper()
	var out bytes.Buffer
	l := orderlog.Header{Seed: 7, Peer: peer, Build: "1", Kinds: []orderlog.OrderKind{{Name: "move"}}}
	w, err := orderlog.NewWriter(&out, l, orderlog.WriterOptions{})
	if err == nil {
		err = w.WriteTick(&orderlog.Tick{Orders: []orderlog.Order{{Player: 1, Payload: []byte(payload)}}})
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// smallBinary is a binary trace of a peer with two ticks.
func smallBinary(t testing.TB, peer string, last byte) []byte {
	t.Helper()
	var out bytes.Buffer
	w, err := tracediff.NewWriter(&out, tracediff.Header{Peer: peer})
	for tick := range uint64(2) {
		if err == nil {
			err = w.WriteCheckpoint(&tracediff.Checkpoint{Tick: tick, System: "A", Sums: []tracediff.Sum{tracediff.BytesSum("", []byte{byte(tick) * last})}})
		}
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func hostileArchives() []hostile {
	zipOf := func(t testing.TB, dir string, entries []archivetest.Entry) {
		put(t, filepath.Join(dir, "report.zip"), string(archivetest.Zip(t, zip.Deflate, entries)))
	}
	logs := func(name func(i int) string) func(t testing.TB, dir string, n int) {
		return func(t testing.TB, dir string, n int) {
			var list []archivetest.Entry
			for i := range n {
				list = append(list, archivetest.Entry{Name: fmt.Sprintf("p%d/order-log.bin", i), Content: smallLog(t, name(i), fmt.Sprint(i%2))})
			}
			zipOf(t, dir, list)
		}
	}
	traces := func(name func(i int) string) func(t testing.TB, dir string, n int) {
		return func(t testing.TB, dir string, n int) {
			var list []archivetest.Entry
			for i := range n {
				list = append(list, archivetest.Entry{Name: fmt.Sprintf("p%d/a.trace", i), Content: smallBinary(t, name(i), byte(i%2))})
			}
			zipOf(t, dir, list)
		}
	}
	reports := func(t testing.TB, dir string, n int) {
		var list []archivetest.Entry
		for i := range n {
			list = append(list, archivetest.Entry{Name: fmt.Sprintf("p%d/desync_report_0000000000000007_0000000020.json", i),
				Content: fmt.Appendf(nil, `{"schema":"desynctool.peer-report/1","seed":"7","tick":20,"peer":"p%d","state_hash":"%016x"}`, i, i%5)})
		}
		zipOf(t, dir, list)
	}
	one := func(int) string { return "host" }
	none := func(int) string { return "" }
	own := func(i int) string { return fmt.Sprint("peer", i) }
	zeros := func(size int64) io.Reader { return io.LimitReader(zero{}, size) }
	zipStream := func(t testing.TB, path string, add func(z *zip.Writer) error) {
		create(t, path, func(out *bufio.Writer) error {
			z := zip.NewWriter(out)
			if err := add(z); err != nil {
				return err
			}
			return z.Close()
		})
	}
	tarStream := func(t testing.TB, path string, add func(w *tar.Writer) error) {
		create(t, path, func(out *bufio.Writer) error {
			packed := gzip.NewWriter(out)
			w := tar.NewWriter(packed)
			return errors.Join(add(w), w.Close(), packed.Close())
		})
	}
	list := []hostile{
		{name: "peers-one-name", size: 500, make: logs(one)},
		{name: "peers-no-name", size: 500, make: logs(none)},
		{name: "peers-own-names", size: 500, make: logs(own)},
		{name: "traces-one-name", size: 500, make: traces(one)},
		{name: "traces-own-names", size: 500, make: traces(own)},
		{name: "reports", size: 500, make: reports},
		{name: "entries", size: 12_500, make: func(t testing.TB, dir string, n int) {
			zipStream(t, filepath.Join(dir, "report.zip"), func(z *zip.Writer) error {
				for i := range n {
					if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprint("d/", i)}); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "entries-one-name", size: 12_500, make: func(t testing.TB, dir string, n int) {
			zipStream(t, filepath.Join(dir, "report.zip"), func(z *zip.Writer) error {
				for range n {
					if _, err := z.CreateHeader(&zip.FileHeader{Name: "a.trace"}); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "entries-bad-names", size: 12_500, make: func(t testing.TB, dir string, n int) {
			bad := []string{"../x%d", "/abs%d", "a\\..\\..\\%d", "nul\x00%d", "a//b/./../../%d", "c:\\%d", strings.Repeat("d/", 40) + "%d", "a%d/", "x\n%d\x1b[2J"}
			zipStream(t, filepath.Join(dir, "report.zip"), func(z *zip.Writer) error {
				for i := range n {
					if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf(bad[i%len(bad)], i)}); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "entries-long-names", size: 50, make: func(t testing.TB, dir string, n int) {
			zipStream(t, filepath.Join(dir, "report.zip"), func(z *zip.Writer) error {
				for i := range n {
					if _, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprint(i, strings.Repeat("n", 65_000))}); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "overlap", size: 12_500, make: func(t testing.TB, dir string, n int) {
			put(t, filepath.Join(dir, "report.zip"), string(overlapping(t, n)))
		}},
		{name: "bomb", size: 8, make: func(t testing.TB, dir string, n int) {
			zipStream(t, filepath.Join(dir, "report.zip"), func(z *zip.Writer) error {
				for i := range n {
					w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("p%d/order-log.bin", i), Method: zip.Deflate})
					if err != nil {
						return err
					}
					if _, err := w.Write(smallLog(t, own(i), "x")); err != nil {
						return err
					}
					if _, err := io.Copy(w, zeros(60<<20)); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "bomb-nested", size: 1, make: func(t testing.TB, dir string, n int) {
			var inner bytes.Buffer
			z := zip.NewWriter(&inner)
			for i := range 4 {
				w, err := z.CreateHeader(&zip.FileHeader{Name: fmt.Sprintf("p%d.log", i), Method: zip.Deflate})
				if err == nil {
					_, err = io.Copy(w, zeros(60<<20))
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			z.Close()
			var middle []archivetest.Entry
			for i := range 4 {
				middle = append(middle, archivetest.Entry{Name: fmt.Sprintf("m%d.zip", i), Content: inner.Bytes()})
			}
			packed := archivetest.Zip(t, zip.Deflate, middle)
			var outer []archivetest.Entry
			for i := range n {
				outer = append(outer, archivetest.Entry{Name: fmt.Sprintf("o%d.zip", i), Content: packed})
			}
			zipOf(t, dir, outer)
		}},
		{name: "tar-bomb", size: 4, make: func(t testing.TB, dir string, n int) {
			tarStream(t, filepath.Join(dir, "report.tar.gz"), func(w *tar.Writer) error {
				for i := range n {
					if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("p%d/order-log.bin", i), Mode: 0o644, Size: 40 << 20}); err != nil {
						return err
					}
					if _, err := io.Copy(w, zeros(40<<20)); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "tar-without-evidence", size: 4, make: func(t testing.TB, dir string, n int) {
			tarStream(t, filepath.Join(dir, "report.tar.gz"), func(w *tar.Writer) error {
				for i := range n {
					if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("p%d/picture.png", i), Mode: 0o644, Size: 40 << 20}); err != nil {
						return err
					}
					if _, err := io.Copy(w, zeros(40<<20)); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "tar-folders", size: 50_000, make: func(t testing.TB, dir string, n int) {
			tarStream(t, filepath.Join(dir, "report.tar.gz"), func(w *tar.Writer) error {
				for i := range n {
					if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("d%d/", i), Typeflag: tar.TypeDir, Mode: 0o755}); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "tar-small-files", size: 12_500, make: func(t testing.TB, dir string, n int) {
			tarStream(t, filepath.Join(dir, "report.tar.gz"), func(w *tar.Writer) error {
				for i := range n {
					if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("d%d/e/f/x.txt", i), Mode: 0o644}); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "tar-odd", size: 5_000, make: func(t testing.TB, dir string, n int) {
			tarStream(t, filepath.Join(dir, "report.tar.gz"), func(w *tar.Writer) error {
				kinds := []byte{tar.TypeSymlink, tar.TypeLink, tar.TypeChar, tar.TypeBlock, tar.TypeFifo}
				for i := range n {
					if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("../d%d", i), Linkname: "/etc/passwd", Typeflag: kinds[i%len(kinds)], Mode: 0o644}); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "tar-sparse", size: 100, make: func(t testing.TB, dir string, n int) {
			tarStream(t, filepath.Join(dir, "report.tar.gz"), func(w *tar.Writer) error {
				for i := range n {
					text := "1\n0\n1\n"
					if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("s%d/order-log.bin", i), Mode: 0o644, Size: int64(len(text)), PAXRecords: map[string]string{"DESYNC.x": "1"}}); err != nil {
						return err
					}
					if _, err := io.WriteString(w, text); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "tar-broken-in-it", size: 4, make: func(t testing.TB, dir string, n int) {
			broken := archivetest.Zip(t, zip.Store, []archivetest.Entry{{Name: "host/order-log.bin", Content: make([]byte, 30<<20)}})
			broken = broken[:len(broken)-40]
			tarStream(t, filepath.Join(dir, "report.tar.gz"), func(w *tar.Writer) error {
				for i := range n {
					if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("p%d.zip", i), Mode: 0o644, Size: int64(len(broken))}); err != nil {
						return err
					}
					if _, err := w.Write(broken); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "broken-gz-in-tar", size: 4, make: func(t testing.TB, dir string, n int) {
			inner := archivetest.Pack(t, ".gz", archivetest.Tar(t, []archivetest.Entry{{Name: "host/order-log.bin", Content: make([]byte, 60<<20)}}))
			inner[len(inner)-6] ^= 1
			tarStream(t, filepath.Join(dir, "report.tar.gz"), func(w *tar.Writer) error {
				for i := range n {
					if err := w.WriteHeader(&tar.Header{Name: fmt.Sprintf("p%d.tar.gz", i), Mode: 0o644, Size: int64(len(inner))}); err != nil {
						return err
					}
					if _, err := w.Write(inner); err != nil {
						return err
					}
				}
				return nil
			})
		}},
		{name: "gz-bombs", size: 4, make: func(t testing.TB, dir string, n int) {
			bomb := archivetest.Pack(t, ".gz", append([]byte("a line of a log\n"), make([]byte, 60<<20)...))
			var list []archivetest.Entry
			for i := range n {
				list = append(list, archivetest.Entry{Name: fmt.Sprintf("p%d/game.log.gz", i), Content: bomb})
			}
			zipOf(t, dir, list)
		}},
	}
	for i := range list {
		list[i].name = "archive/" + list[i].name
		list[i].commands = archiveCommands
	}
	return list
}

// zero is an endless file of zeros.
type zero struct{}

func (zero) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// overlapping returns a zip archive in which n entries have one and the same content.
func overlapping(t testing.TB, n int) []byte {
	t.Helper()
	content := archivetest.Zip(t, zip.Store, []archivetest.Entry{{Name: "a", Content: make([]byte, 1<<20)}})
	list := bytes.Index(content, []byte("PK\x01\x02"))
	end := bytes.Index(content, []byte("PK\x05\x06"))
	entry := content[list:end]
	out := bytes.Clone(content[:list])
	for range n {
		out = append(out, entry...)
	}
	tail := bytes.Clone(content[end:])
	binary.LittleEndian.PutUint16(tail[8:], uint16(n))
	binary.LittleEndian.PutUint16(tail[10:], uint16(n))
	binary.LittleEndian.PutUint32(tail[12:], uint32(n*len(entry)))
	return append(out, tail...)
}
