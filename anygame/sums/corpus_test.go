package sums_test

import (
	"bytes"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/anygame/sums"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// accepted are the files of the repository that are such logs.
var accepted = []string{
	"cmd/desynctool/testdata/script/anygame.txtar",  // has logs of that kind
	"cmd/desynctool/testdata/script/either.txtar",   // has a log of that kind
	"cmd/desynctool/testdata/script/jsonlogs.txtar", // logs of a logging library
	"cmd/desynctool/testdata/script/rotated.txtar",  // has logs of that kind
	"cmd/desynctool/testdata/script/nearby.txtar",   // logs with values
	"cmd/desynctool/testdata/script/parts.txtar",    // has logs of that kind
	"cmd/desynctool/testdata/script/traces.txtar",   // too
	"engines/spring/testdata/computed.txt",          // two columns
	"testdata/generals/groups/*/CRCLogs/DebugFrame_*.txt",
	"testdata/generals/position/*/DebugFrame_*.txt",
	"testdata/generals/ring/crcDebug*.txt",
	"testdata/messages/beaverbuddies-server.log",
	"cmd/desynctool/testdata/script/statements.txtar",
	"testdata/orderlog/rejoin.txt",       // hashes of ticks, one a line
	"testdata/trace/spring_pos_1ulp.csv", // a column a peer
	"testdata/trace/zeroad_*.txt",        // two columns
	"testdata/0ad/*/*/commands.txt",      // turns, and hashes on lines of their own
	"testdata/0ad/*/commands.txt",
	"engines/zeroad/testdata/commands.txt",
	"engines/zeroad/testdata/printed.txt",
	"engines/engine/gamereplay/testdata/commands.txt",
	"testdata/openttd/*/server/commands-out.log", // dates and two states of generators
	"engines/openttd/testdata/recorded.log",
	"engines/openttd/testdata/replayed.log",
	"cmd/desynctool/testdata/script/reports_around.txtar", // ticks and checksums in a report
	"testdata/threads/bevy_ggrs-traces/*.txt",
	"testdata/messages/bevy_ggrs-a.log",
}

// TestOtherText: no text of the repository but those that are such logs is taken for one.
func TestOtherText(t *testing.T) {
	found, seen := map[int]bool{}, 0
	err := filepath.WalkDir("../..", func(at string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			if d != nil && strings.HasPrefix(d.Name(), ".git") {
				return fs.SkipDir
			}
			return err
		}
		if strings.HasSuffix(at, "_test.go") || strings.Contains(filepath.ToSlash(at), "/anygame/") {
			return nil
		}
		file := filepath.ToSlash(strings.TrimPrefix(at, "../../"))
		i := slices.IndexFunc(accepted, func(pattern string) bool { ok, _ := path.Match(pattern, file); return ok })
		if seen++; filepath.Ext(at) == ".go" && seen%effort.Of(8, 1) != 0 {
			return nil
		}
		text, err := os.ReadFile(at)
		if err != nil {
			return err
		}
		text = text[:min(len(text), 1<<18)]
		if bytes.IndexByte(text[:min(len(text), 512)], 0) >= 0 {
			return nil
		}
		if p := sums.Learn(text, at); p != nil {
			if i < 0 {
				t.Errorf("%s: %s", file, p.Title())
				return nil
			}
			found[i] = true
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for i, pattern := range accepted {
		if !found[i] {
			t.Errorf("%s: not accepted", pattern)
		}
	}
}
