package main

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/internal/testkit/kill"
)

// TestFilesChange: a file that shrinks, grows or is replaced while any command reads it is never a panic or a hang, and
// of peers in sync one that shrinks or grows is never a divergence.
func TestFilesChange(t *testing.T) {
	dir := t.TempDir()
	s := filepath.Join(dir, "s")
	desynctool(t, 0, nil, "record", "-o", s, "--ticks", "1000", "--entities", "150")
	var text strings.Builder // large enough to be mapped for a while
	for n := range effort.Of(40_000, 400_000) {
		fmt.Fprintf(&text, "tick=%d system=Move sum=%08x\n", n, uint32(n)*2654435761)
	}
	mapped := filepath.Join(dir, "mapped")
	large := []string{filepath.Join(mapped, "host.trace"), filepath.Join(mapped, "client.trace")}
	for _, path := range large {
		put(t, path, text.String())
	}
	zipped := filepath.Join(dir, "s.zip")
	put(t, zipped, string(archivetest.Zip(t, zip.Deflate, archivetest.Entries(t, s, ""))))
	host := func(name string) string { return filepath.Join(s, "host", name) }
	snap, last := host("desync_0000000000000001_0000000000.snap"), host("desync_0000000000000001_0000001000.snap")
	files := []string{host("checkpoints.trace"), host("order-log.bin"), snap, last}
	read := []struct {
		command string
		files   []string
	}{
		{"triage " + s, files}, {"doctor " + s, files}, {"bisect " + s, files}, {"tracediff " + s, files[:1]}, {"orders " + s, files[1:2]}, {"verify " + s, files},
		{"triage --isolate " + s, files}, {"triage " + zipped, []string{zipped}}, {"doctor " + zipped, []string{zipped}}, {"triage --verify " + s, files},
		{"diff " + snap + " " + strings.ReplaceAll(snap, "host", "client"), files[2:3]}, {"walk " + last + " " + strings.ReplaceAll(last, "host", "client"), files[3:]},
		{"dump " + files[0], files[:1]}, {"dump " + files[1], files[1:2]}, {"dump " + snap, files[2:3]}, {"check " + files[1], files[1:2]}, {"check " + snap, files[2:3]},
		{"tracediff " + large[0] + " " + large[1], large}, {"doctor " + mapped, large}, {"triage " + mapped, large}, {"bisect " + mapped, large}, {"proof " + snap, files[2:3]}, {"replay " + files[1] + " --sim builtin", files[1:2]},
		{"report " + s, files}, {"describe " + s, files},
	}
	whole := map[string][]byte{}
	for _, x := range read {
		for _, file := range x.files {
			content, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			whole[file] = content
		}
	}
	takes := map[string]time.Duration{}
	run := func(command string) (out []byte, status int) {
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		cmd := exec.CommandContext(ctx, "desynctool", strings.Fields(command)...)
		out, err := cmd.CombinedOutput()
		if ctx.Err() != nil {
			t.Fatalf("%s: still running after %v", command, patience)
		}
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		return out, cmd.ProcessState.ExitCode()
	}
	times := effort.Of(30, 1000)
	for n := range times {
		x := read[n%len(read)]
		if takes[x.command] == 0 {
			begun := time.Now()
			run(x.command)
			takes[x.command] = time.Since(begun)
		}
		round := n / len(read)
		file := x.files[(n+round)%len(x.files)]
		content, how := whole[file], (n+round)%3
		change := func() error {
			switch how {
			case 0:
				return os.Truncate(file, int64(len(content)*(round%5)/5))
			case 1:
				f, err := os.OpenFile(file, os.O_WRONLY|os.O_APPEND, 0)
				if err == nil {
					_, err = f.Write(content[:len(content)/(round%3+1)])
					err = errors.Join(err, f.Close())
				}
				return err
			}
			other := file + ".new"
			return errors.Join(os.WriteFile(other, bytes.Repeat(content[len(content)/2:], 1+round%3), 0o666), os.Rename(other, file))
		}
		done := make(chan error, 1)
		time.AfterFunc(takes[x.command]*time.Duration(round*7%23)/23, func() { done <- change() })
		out, status := run(x.command)
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		what := fmt.Sprintf("%s: %s changed in way %d of round %d", x.command, file, how, round)
		if status < 0 || status > 3 || bytes.Contains(out, []byte("goroutine ")) || bytes.Contains(out, []byte("panic")) || bytes.Contains(out, []byte("SIG")) {
			t.Errorf("%s: status %d:\n%.3000s", what, status, out)
		}
		if how < 2 && status == 1 && !strings.HasPrefix(x.command, "check ") { // whose 1 is another
			t.Errorf("%s: diverged:\n%.3000s", what, out)
		}
		if err := errors.Join(os.Remove(file), os.WriteFile(file, content, 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("%d changes of files while %d commands read them", times, len(takes))
}

// TestKilledReplay: the folders of a replay in a game that is killed are removed by the next run, once they are a minute
// old.
func TestKilledReplay(t *testing.T) {
	temporary := t.TempDir()
	log, err := filepath.Abs("../../engines/engine/gamereplay/testdata/commands.txt")
	if err != nil {
		t.Fatal(err)
	}
	of := func(command string) *exec.Cmd {
		cmd := exec.Command("desynctool", "replay", log, "--no-cache", "--sim", "run:"+command)
		cmd.Env = append(os.Environ(), "TMPDIR="+temporary)
		return cmd
	}
	left := func() (list []string) {
		list, err := filepath.Glob(filepath.Join(temporary, "desynctool-*"))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	hour := time.Now().Add(-time.Hour)
	for range effort.Of(1, 10) {
		hangs := of(`sh -c "sleep 100" {log}`)
		if _, ended, err := kill.After(hangs, 500*time.Millisecond); ended || err != nil {
			t.Fatal("it ended by itself", err)
		}
		if len(left()) == 0 {
			t.Fatal("the killed run left nothing: it was killed too early")
		}
		for _, path := range left() {
			if err := os.Chtimes(path, hour, hour); err != nil {
				t.Fatal(err)
			}
		}
		out, err := of(`cat {log}`).CombinedOutput()
		if err != nil && !errors.As(err, new(*exec.ExitError)) {
			t.Fatal(err)
		}
		if list := left(); len(list) > 0 {
			t.Fatalf("left: %q\n%s", list, out)
		}
	}
}
