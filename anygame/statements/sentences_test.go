package statements

import (
	"fmt"
	"os"
	"strings"
	"testing"
)

// rows returns the rows of a file of testdata, with a number of cells.
func rows(t *testing.T, path string, cells int) (out [][]string) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		row := strings.SplitN(strings.TrimSuffix(line, "\n"), " | ", cells)
		if len(row) != cells {
			t.Fatalf("%s: %s", path, line)
		}
		out = append(out, row)
	}
	if len(out) < 60 {
		t.Fatalf("%s has %d rows", path, len(out))
	}
	return out
}

// claimOf returns the tick, the sums and the peers of the only claim of a text, as testdata has them.
func claimOf(t *testing.T, text string) string {
	t.Helper()
	log, err := Scan(strings.NewReader(text), "x")
	if err != nil {
		t.Fatal(err)
	}
	if len(log.Claims) != 1 {
		return fmt.Sprintf("%d claims", len(log.Claims))
	}
	tick, sums, peers := "-", "-", "-"
	c := log.Claims[0]
	if c.HasTick {
		tick = log.Dialect.TickName(c.Tick)
	}
	var values []string
	for _, v := range c.Values {
		values = append(values, v.Peer+"="+v.Value)
	}
	if len(values) > 0 {
		sums = strings.Join(values, " ")
	}
	if len(c.Peers) > 0 {
		peers = strings.Join(c.Peers, ", ")
	}
	return strings.Join([]string{tick, sums, peers}, " | ")
}

// chatter is many lines of a program in which nothing differs.
func chatter() string {
	var out strings.Builder
	for i := range 3000 {
		line := []string{
			"unit %d moved to 13,55", "client 2 ping %d ms", "server tick took 3 ms, queue %d", "replay position %d of 90000", "player 1 gold %d00000", "loaded sound %d",
		}[i%6]
		fmt.Fprintf(&out, "[12:%02d:%02d] INFO "+line+"\n", i/60%60, i%60, i)
	}
	return out.String()
}

// TestSentences reads each message alone, as players paste it, and in a long log.
func TestSentences(t *testing.T) {
	noise := chatter()
	for _, row := range rows(t, "testdata/said.txt", 5) {
		message := strings.ReplaceAll(row[4], `\n`, "\n")
		want := strings.Join(row[1:4], " | ")
		for i, text := range []string{
			message, "> " + message + "\r\n", "[2026-03-02 18:04:11.120] [WARN] " + message, "```\n" + message + "\n```\n", noise + message + "\n\n" + noise,
			noise + "2026-03-02T18:04:11Z ERROR " + message + "\n\n" + noise,
		} {
			if got := claimOf(t, text); got != want {
				t.Errorf("%s, form %d: %s\n got %s\nwant %s", row[0], i, row[4], got, want)
			}
		}
	}
}

// TestNoSentences reads each line alone, after what a program puts before a line, and between others.
func TestNoSentences(t *testing.T) {
	noise := chatter()
	for _, row := range rows(t, "testdata/unsaid.txt", 2) {
		for i, text := range []string{row[1], "[2026-03-02 18:04:11.120] [WARN] " + row[1], "18:04:11 ERROR " + row[1] + "\n", noise + row[1] + "\n" + noise} {
			if got := scanned(t, text); got != "" {
				t.Errorf("%s, form %d: %s\n got %s", row[0], i, row[1], got)
			}
		}
	}
}

// TestPairs reads logs in which each line has the sums of two peers.
func TestPairs(t *testing.T) {
	sum := func(n int) uint32 { return uint32(n+1) * 2654435761 }
	lines := func(from, to int, remote func(n int) uint32) string {
		var out strings.Builder
		for n := from; n < to; n++ {
			fmt.Fprintf(&out, "tick %d local crc %08x remote crc %08x\nunit 7 moved\n", n, sum(n), remote(n))
		}
		return out.String()
	}
	other := func(n int) uint32 { return ^sum(n) }
	for _, c := range []struct{ name, text, want string }{
		{"equal", lines(0, 300, sum), ""},
		{"equal, then not", lines(0, 300, sum) + lines(300, 302, other), "601 tick 300 local=073a151d remote=f8c5eae2 by local; 603 tick 301 local=a5718ece remote=5a8e7131 by local"},
		{"one", lines(5, 6, other), "1 tick 5 local=b54cda26 remote=4ab325d9 by local"},
		{"all differ", lines(5, 8, other), "1 tick 5 local=b54cda26 remote=4ab325d9 by local ~; 3 tick 6 local=538453d7 remote=ac7bac28 by local ~; 5 tick 7 local=f1bbcd88 remote=0e443277 by local ~"},
		{"of another tick", lines(5, 300, func(n int) uint32 { return sum(n - 3) }), ""},
		{"of another tick, after a pause", lines(5, 6, sum) + lines(6, 300, func(n int) uint32 { return sum(n - 3) }), ""},
	} {
		got := scanned(t, c.text)
		if got != c.want {
			t.Errorf("%s\n got %.300s\nwant %s", c.name, got, c.want)
		}
	}
}
