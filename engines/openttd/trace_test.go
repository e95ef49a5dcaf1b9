package openttd_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/openttd"
	"github.com/desynctool/desynctool/tracediff"
)

const folder = "../../testdata/messages"

func content(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(folder, name))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestLogClaims(t *testing.T) {
	const name = "openttd-commands-out.log"
	log, err := openttd.LogClaims(bytes.NewReader(content(t, name)), name)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range log.Claims {
		got = append(got, fmt.Sprintf("%d %s %q %s", c.Pos.Line, log.Dialect.TickName(c.Tick), c.Peers, c.Text))
	}
	want := []string{
		`11 000ae760;47 ["[A] Bob!"] *** [A] Bob! has left the game (desync error)`,
		`13 000ae761;01 ["Dave *** Erin"] *** Dave *** Erin has left the game (desync error)`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// trace reads a log of the network's messages to its end.
func trace(t testing.TB, text []byte) string {
	t.Helper()
	s, err := openttd.Formats()[0].Read(bytes.NewReader(text), "x", 0)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := tracediff.WriteSource(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestNet(t *testing.T) {
	text := content(t, "openttd-net.log")
	const want = `%desynctool trace 1
%peer "server"
tick=2008671 sum=0x0cd7ab90
tick=2008700 sum=0xffffffff
tick=2008707 scope=commands n=2 sum.cmd=79,93
tick=2008708 scope=commands n=1 sum.cmd=1
tick=12 sum=0x00000007
%end
`
	if diff := cmp.Diff(want, trace(t, text)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if !openttd.Formats()[0].Sniff(text) || openttd.Formats()[0].Sniff(content(t, "openttd-commands-out.log")) {
		t.Error("not distinguished from other logs")
	}
}

// TestWindow has commands for frames to come, so that frames are not in order.
func TestWindow(t *testing.T) {
	var b, want strings.Builder
	want.WriteString("%desynctool trace 1\n%peer \"server\"\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "dbg: [net:9] Client::Receive_SERVER_COMMAND(): cmd=%d, frame=%d\n", i, i+300)
		fmt.Fprintf(&b, "dbg: [net:9] Client::Receive_SERVER_SYNC(): sync_frame=%d, sync_seed_1=%d\n", i, i)
	}
	for i := range 2300 {
		if i < 2000 {
			fmt.Fprintf(&want, "tick=%d sum=0x%08x\n", i, i)
		}
		if i >= 300 {
			fmt.Fprintf(&want, "tick=%d scope=commands n=1 sum.cmd=%d\n", i, i-300)
		}
	}
	want.WriteString("%end\n")
	if diff := cmp.Diff(want.String(), trace(t, []byte(b.String()))); diff != "" {
		t.Errorf("(-want +got):\n%.2000s", diff)
	}
}

func FuzzNet(f *testing.F) {
	f.Add(content(f, "openttd-net.log"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := openttd.Formats()[0].Read(bytes.NewReader(text), "x", 0)
		if err != nil {
			t.Fatal(err)
		}
		for {
			if _, err := s.Next(); err != nil {
				break
			}
		}
	})
}

func FuzzLogClaims(f *testing.F) {
	f.Add(content(f, "openttd-commands-out.log"))
	f.Fuzz(func(t *testing.T, text []byte) {
		log, err := openttd.LogClaims(bytes.NewReader(text), "x")
		if err != nil {
			t.Fatal(err)
		}
		if log == nil {
			return
		}
		for _, c := range log.Claims {
			if len(c.Peers) != 1 || c.Peers[0] == "" || !strings.HasPrefix(c.Text, "*** ") {
				t.Errorf("%+v", c)
			}
		}
	})
}
