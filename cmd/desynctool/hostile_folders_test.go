package main

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var folderCommands = []string{"triage", "bisect", "tracediff", "orders", "doctor"}

// put writes a small file, and the folders above it.
func put(t testing.TB, path, text string) {
	t.Helper()
	create(t, path, func(out *bufio.Writer) error { _, err := out.WriteString(text); return err })
}

// link makes a link, or skips where there are none.
func link(t testing.TB, target, path string) {
	t.Helper()
	if err := os.Symlink(target, path); err != nil {
		t.Skip("no links here")
	}
}

// smallTrace is a trace of a peer with another checksum in its last tick.
func smallTrace(peer string, last string) string {
	return fmt.Sprintf("%%desynctool trace 1\n%%seed 7\n%%peer %q\ntick=1 system=A sum=0x01\ntick=2 system=A sum=%s\n%%end\n", peer, last)
}

func hostileFolders() []hostile {
	peers := func(t testing.TB, dir string) {
		put(t, filepath.Join(dir, "host", "a.trace"), smallTrace("host", "0x02"))
		put(t, filepath.Join(dir, "client", "a.trace"), smallTrace("client", "0x03"))
	}
	list := []hostile{
		{name: "links-to-itself", size: 4, make: func(t testing.TB, dir string, n int) {
			peers(t, dir)
			for i := range n {
				link(t, "..", filepath.Join(dir, "host", fmt.Sprint("up", i)))
				link(t, dir, filepath.Join(dir, "client", fmt.Sprint("top", i)))
				link(t, ".", filepath.Join(dir, fmt.Sprint("here", i)))
			}
		}},
		{name: "links-of-files", size: 100, make: func(t testing.TB, dir string, n int) {
			peers(t, dir)
			for i := range n {
				link(t, "a.trace", filepath.Join(dir, "host", fmt.Sprintf("b%d.trace", i)))
				link(t, fmt.Sprint("loop", (i+1)%n), filepath.Join(dir, fmt.Sprint("loop", i)))
			}
		}},
		{name: "links-doubling", size: 4, make: func(t testing.TB, dir string, n int) {
			peers(t, dir)
			last := filepath.Join(dir, "d0")
			put(t, filepath.Join(last, "x.txt"), "x")
			for i := range n {
				next := filepath.Join(dir, fmt.Sprint("d", i+1))
				if err := os.MkdirAll(next, 0o755); err != nil {
					t.Fatal(err)
				}
				link(t, last, filepath.Join(next, "a"))
				link(t, last, filepath.Join(next, "b"))
				last = next
			}
		}},
		{name: "nested", size: 50, make: func(t testing.TB, dir string, n int) {
			peers(t, dir)
			put(t, filepath.Join(dir, "deep", strings.Repeat("d/", n), "x.trace"), smallTrace("third", "0x04"))
		}},
		{name: "wide", size: 1250, make: func(t testing.TB, dir string, n int) {
			peers(t, dir)
			for i := range n {
				put(t, filepath.Join(dir, "w", fmt.Sprint("d", i), "x.txt"), "x")
			}
		}},
		{name: "files", size: 2500, make: func(t testing.TB, dir string, n int) {
			peers(t, dir)
			for i := range n {
				put(t, filepath.Join(dir, "host", fmt.Sprintf("f%d.txt", i)), "x")
			}
		}},
		{name: "files-invalid-names", size: 250, make: func(t testing.TB, dir string, n int) {
			peers(t, dir)
			for i := range n {
				put(t, filepath.Join(dir, "host", fmt.Sprintf("f\n\xff\x1b[31m%d.trace", i)), "x\x00")
			}
		}},
		{name: "logs-empty", size: 250, make: func(t testing.TB, dir string, n int) {
			peers(t, dir)
			for i := range n {
				put(t, filepath.Join(dir, fmt.Sprint("p", i), "order-log.bin"), "")
				put(t, filepath.Join(dir, fmt.Sprint("p", i), fmt.Sprintf("desync_%016x_%010d.snap", 7, i)), "")
			}
		}},
		{name: "traces-many", size: 125, make: func(t testing.TB, dir string, n int) {
			for i := range n {
				put(t, filepath.Join(dir, fmt.Sprint("p", i), "a.trace"), smallTrace(fmt.Sprint("p", i), fmt.Sprintf("0x%04x", i%7)))
			}
		}},
		{name: "traces-one-name", size: 125, make: func(t testing.TB, dir string, n int) {
			for i := range n {
				put(t, filepath.Join(dir, fmt.Sprint("p", i), "a.trace"), smallTrace("host", fmt.Sprintf("0x%04x", i%7)))
			}
		}},
		{name: "traces-no-name", size: 125, make: func(t testing.TB, dir string, n int) {
			for i := range n {
				put(t, filepath.Join(dir, fmt.Sprint("p", i), "a.trace"), smallTrace("", fmt.Sprintf("0x%04x", i%7)))
			}
		}},
		{name: "sparse", size: 1, make: func(t testing.TB, dir string, n int) {
			peers(t, dir)
			for _, name := range []string{"a.zip", "b.tar.gz", "c.log", "order-log.bin", "d.trace", fmt.Sprintf("desync_%016x_%010d.snap", 7, 3), "commands.txt", "x.sav", "desync_report_0000000000000007_0000000020.json", "syncreport-2022-06-26T120000Z.log"} {
				put(t, filepath.Join(dir, "host", name), "")
				if err := os.Truncate(filepath.Join(dir, "host", name), int64(n)<<37); err != nil {
					t.Skip("no sparse files here")
				}
			}
		}},
	}
	for i := range list {
		list[i].name = "folder/" + list[i].name
		list[i].commands = folderCommands
	}
	return append(list, specialFolders(folderCommands)...)
}
