package widelands_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/tracediff"
)

const (
	mine   = "a6abc5b369550a8dc501e6b9305a98cc"
	theirs = "99222be330c45fc254158caacf90db73"
)

func TestLogTruth(t *testing.T) {
	f := format(t, "widelands-log")
	if f.Read != nil {
		t.Error("a log is not a trace")
	}
	log, err := tracediff.ReadClaims(files.Disk, filepath.Join(traceCorpus, "host/stdout.excerpt.txt"), f, tracediff.ReadOptions{})
	if err != nil || len(log.Claims) != 1 || log.Peer != "host" || log.Trouble != "" || log.Dialect.Unit != "ms" {
		t.Fatalf("%+v, %v", log, err)
	}
	c := log.Claims[0]
	want := fmt.Sprintf("[Host]: lost synchronization with client 0 at time 162175! 162175 true [the host's client 0] [{host %s} {the host's client 0 %s}]", mine, theirs)
	if got := fmt.Sprint(c.Text, " ", c.Tick, c.HasTick, c.Peers, c.Values); got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	if !c.Proves() || c.Pos.Line != 34 || c.Pos.Offset != 2408 {
		t.Errorf("%+v", c.Pos)
	}
	log, err = tracediff.ReadClaims(files.Disk, filepath.Join(traceCorpus, "client/stdout.excerpt.txt"), f, tracediff.ReadOptions{})
	if err != nil || len(log.Claims) != 1 || log.Peer != "" || log.Trouble != "" {
		t.Fatalf("%+v, %v", log, err)
	}
	if c := log.Claims[0]; c.HasTick || c.Values != nil || !strings.HasPrefix(c.Text, "[Client] received NETCMD_INFO_DESYNC.") || c.Pos.Line != 1 {
		t.Errorf("%+v", c)
	}
}

func TestLogs(t *testing.T) {
	f := format(t, "widelands-log")
	for _, test := range []struct{ name, text, want string }{
		{"replay", "REPLAY: Lost synchronization at time 21400\nI have:     " + mine + "\nReplay has: " + theirs + "\n",
			"21400 [] [{ " + mine + "} {the replay " + theirs + "}]"},
		{"replay, stamped", "[00:00:21.400 game] ERROR: REPLAY: Lost synchronization at time 21400\r\n[00:00:21.400 game] ERROR: I have:     " + mine + "\r\n[00:00:21.400 game] ERROR: Replay has: " + theirs + "\r\n",
			"21400 [] [{ " + mine + "} {the replay " + theirs + "}]"},
		{"two clients", "[Host]: lost synchronization with client 0 at time 7!\nI have: " + mine + "\nClient has: " + theirs + "\n[Host]: lost synchronization with client 12 at time 8!\nI have: " + mine + "\nClient has: " + theirs + "\n",
			"7 [the host's client 0] [{host " + mine + "} {the host's client 0 " + theirs + "}]\n8 [the host's client 12] [{host " + mine + "} {the host's client 12 " + theirs + "}]"},
		{"old", "[Host]: lost synchronization with client 3!\nI have:     " + mine + "\nClient has: " + theirs + "\n",
			"- [the host's client 3] [{host " + mine + "} {the host's client 3 " + theirs + "}]"},
		{"time above", "[Host]: comparing syncreports for time 1200\n[Host]: lost synchronization with client 0!\nI have:     " + mine + "\nClient has: " + theirs +
			"\n[Host]: disconnect_player_controller(1, Bob, the second)\n[Host]: disconnect_client(0, CLIENT_DESYNCED, )\n...\n[Host]: comparing syncreports for time 6700\n[Host] lost synchronization with client 0!\nI have:     " +
			theirs + "\nClient has: " + mine + "\n[Host]: disconnect_client(0, CLIENT_DESYNCED, )\n[Host]: disconnect_player_controller(1, Carol)\n",
			"1200 [Bob, the second] [{host " + mine + "} {Bob, the second " + theirs + "}]\n6700 [the host's client 0] [{host " + theirs + "} {the host's client 0 " + mine + "}]"},
		{"half", "REPLAY: Lost synchronization at time 21400\nI have:     " + mine + "\nsomething else\n",
			"21400 [] [{ " + mine + "}]\ntrouble: line 1: the checksums that should follow do not"},
		{"no checksum", "REPLAY: Lost synchronization at time 21400\nI have:     a6abc5\n",
			"21400 [] []\ntrouble: line 1: the checksums that should follow do not"},
		{"at the end", "REPLAY: Lost synchronization at time 21400\n", "21400 [] []\ntrouble: line 1: the checksums that should follow do not"},
		{"cut", "REPLAY: Lost synchronization at time 21400\nI have:     " + mine + "\nReplay has: " + theirs, "21400 [] [{ " + mine + "}]\ntrouble: line 1: the checksums that should follow do not"},
		{"cut elsewhere", "[00:00:21.400 real] INFO: hello\nhello", "trouble: torn at offset 32, bytes lost: 5: line 2: the file ends inside the line"},
		{"no claims", "REPLAY: Lost synchronization at time x\n[Host]: lost synchronization with client -1 at time 5!\n[Host]: lost synchronization with client 1 at time 5\nI have: " + mine + "\n", ""},
	} {
		log, err := f.Claims(strings.NewReader(test.text), "log")
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
			continue
		}
		var got []string
		for _, c := range log.Claims {
			tick := "-"
			if c.HasTick {
				tick = fmt.Sprint(c.Tick)
			}
			got = append(got, fmt.Sprint(tick, " ", c.Peers, " ", c.Values))
		}
		if log.Trouble != "" {
			got = append(got, "trouble: "+strings.TrimPrefix(log.Trouble, "log: "))
		}
		if strings.Join(got, "\n") != test.want {
			t.Errorf("%s:\n%s\nexpected\n%s", test.name, strings.Join(got, "\n"), test.want)
		}
	}
}

func FuzzLog(f *testing.F) {
	f.Add(string(content(f, "host/stdout.excerpt.txt")))
	f.Add("[Host]: comparing syncreports for time 1200\n[Host]: lost synchronization with client 0!\nI have:     " + mine + "\nClient has: " + theirs + "\n[Host]: disconnect_player_controller(1, Bob)\n")
	f.Add("REPLAY: Lost synchronization at time 21400\nI have:     " + mine + "\nReplay has: " + theirs + "\n")
	form := format(f, "widelands-log")
	f.Fuzz(func(t *testing.T, text string) {
		form.Sniff([]byte(text))
		log, err := form.Claims(strings.NewReader(text), "log")
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range log.Claims {
			if !strings.Contains(text, c.Text) || len(c.Values) > 2 || c.Pos.Line < 1 {
				t.Fatalf("%+v", c)
			}
		}
	})
}

func BenchmarkLog(b *testing.B) {
	form := format(b, "widelands-log")
	text := strings.Repeat(string(content(b, "host/stdout.excerpt.txt")), 10_000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := form.Claims(strings.NewReader(text), "log"); err != nil {
			b.Fatal(err)
		}
	}
}
