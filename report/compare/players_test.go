package compare_test

import (
	"bufio"
	"compress/gzip"
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/document"
)

// playTable is Spring. A table has the checksum that it computes for each frame, as the column of one player: it leaves
// the recording with these in place of the recorded ones.
func playTable(column, log, out string) error {
	player, path, _ := strings.Cut(column, "@")
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	in, err := gzip.NewReader(f)
	if err != nil {
		return err
	}
	var sums []uint32 // by frame
	at := -1
	for lines := bufio.NewScanner(in); lines.Scan(); {
		cells := strings.Split(lines.Text(), ",")
		if at < 0 {
			at = slices.Index(cells, player)
			continue
		}
		sum, err := strconv.ParseUint(cells[at], 16, 32)
		if err != nil {
			return err
		}
		sums = append(sums, uint32(sum))
	}
	demo, err := os.ReadFile(log)
	if err != nil {
		return err
	}
	le := binary.LittleEndian
	begin := 352 + int(le.Uint32(demo[304:]))
	end := begin + int(le.Uint32(demo[308:]))
	left := slices.Clone(demo[:begin])
	le.PutUint32(left[308:], 0) // up to the end of the file
	number := -1
	for chunk := demo[begin:end]; len(chunk) > 0; {
		size := 8 + int(le.Uint32(chunk[4:]))
		body := chunk[8:size]
		if body[0] != 33 { // what a player's machine computed
			left = append(left, chunk[:size]...)
		}
		switch body[0] {
		case 1:
			number = int(le.Uint32(body[1:]))
		case 2:
			number++
		}
		if (body[0] == 1 || body[0] == 2) && number < len(sums) {
			left = append(left, 0, 0, 0, 0, 10, 0, 0, 0, 33, 0)
			left = le.AppendUint32(left, uint32(number))
			left = le.AppendUint32(left, sums[number])
		}
		chunk = chunk[size:]
	}
	return os.WriteFile(filepath.Join(out, "demo.sdfz"), left, 0o644)
}

// byTable triages what is left of a real session of Spring with a game that computes what one of its players did.
func byTable(t *testing.T, player string, paths ...string) *document.Report {
	t.Helper()
	table, err := filepath.Abs("../../testdata/spring/pos_1ulp/sync_trace.csv.gz")
	if err != nil {
		t.Fatal(err)
	}
	for i := range paths {
		paths[i] = filepath.Join("../../testdata/spring/pos_1ulp", paths[i])
	}
	return witnessed(t, asGame(t, fmt.Sprintf("'table=%s@%s'", player, table)), paths...)
}

// A demo of Spring contains the checksums of all players. Each player is compared with the replay separately: in the
// session on the disk only Carol departed.
func TestPlayersOfOneLog(t *testing.T) {
	for _, paths := range [][]string{{"server/demo.sdfz"}, {"server", "Alice", "Bob", "Carol"}} {
		if have := wrong(byTable(t, "player0", slices.Clone(paths)...)); !slices.Equal(have, []string{"Carol"}) {
			t.Errorf("%v: wrong are %q", paths, have)
		}
		// Had the game computed what Carol did, the two others would be wrong.
		if have := wrong(byTable(t, "player2", slices.Clone(paths)...)); !slices.Equal(have, []string{"Alice", "Bob"}) {
			t.Errorf("%v, by Carol's: wrong are %q", paths, have)
		}
	}
}

// The engine accuses Carol. Where it is she who did what the game does, that is said.
func TestAccusedWrongly(t *testing.T) {
	cleared := func(r *document.Report) (n int) {
		for _, c := range r.Claims {
			if slices.Contains(c.Contradictions, "it accuses the wrong one: Carol agrees with the replay of its log") {
				n++
			}
		}
		return n
	}
	if r := byTable(t, "player2", "server"); len(r.Claims) == 0 || cleared(r) != len(r.Claims) {
		t.Errorf("cleared in %d of %d claims", cleared(r), len(r.Claims))
	}
	if r := byTable(t, "player0", "server"); len(r.Claims) == 0 || cleared(r) != 0 {
		t.Errorf("cleared in %d of %d claims though she departed", cleared(r), len(r.Claims))
	}
}
