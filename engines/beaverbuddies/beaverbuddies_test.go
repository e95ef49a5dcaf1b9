package beaverbuddies_test

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/beaverbuddies"
	"github.com/desynctool/desynctool/internal/file/files"
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

func text(t testing.TB, log []byte, peer int) string {
	t.Helper()
	s, err := beaverbuddies.Format().Read(bytes.NewReader(log), "x", peer)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	if err := tracediff.WriteSource(&out, s); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func TestTraces(t *testing.T) {
	log := content(t, "beaverbuddies-client.log")
	f := beaverbuddies.Format()
	names, err := f.Peers(bytes.NewReader(log), "x")
	if err != nil || !cmp.Equal(names, []string{"", "client", "server"}) || !f.Sniff(log) {
		t.Fatal(names, err)
	}
	const shared = "%desynctool trace 1\ntick=812 scope=trace sum=\"Tick 812 started\"\ntick=812 scope=trace sum=\"Spots updated: 3 --> 4\"\n"
	for peer, want := range map[int]string{
		1: shared + "tick=812 scope=trace sum=\"Spawning: Oak, (1, 2, 3)\"\ntick=812 scope=trace sum=\"7 going to: Lodge\"\n%end\n",
		2: shared + "tick=812 scope=trace sum=\"Spawning: Birch, (1, 2, 3)\"\n%end\n",
	} {
		// The mod repeats what it wrote before.
		for _, log := range [][]byte{log, bytes.Repeat(log, 2)} {
			if diff := cmp.Diff(want, text(t, log, peer)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", names[peer], diff)
			}
		}
	}
	traces, err := tracediff.OpenForeign(files.Disk, filepath.Join(folder, "beaverbuddies-client.log"), &f, tracediff.ReadOptions{})
	if err != nil || len(traces) != 2 {
		t.Fatal(traces, err)
	}
	r, err := tracediff.Compare(traces, tracediff.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if r.First == nil || r.First.Tick.Number != 812 || r.First.Values[0].Sum("") != "Spawning: Oak, (1, 2, 3)" || r.First.Values[1].Sum("") != "Spawning: Birch, (1, 2, 3)" {
		t.Errorf("%+v", r.First)
	}
}

func TestHashes(t *testing.T) {
	log := content(t, "beaverbuddies-server.log")
	f := beaverbuddies.Format()
	if names, err := f.Peers(bytes.NewReader(log), "x"); names != nil || err != nil || !f.Sniff(log) {
		t.Fatal(names, err)
	}
	const want = `%desynctool trace 1
tick=811 sum.order=0x1a2b3c4d sum.move=0x00000007 sum.random=0x5b1458c0
tick=812 sum.order=0xffffffff sum.move=0x00000008 sum.random=0x00000001
%end
`
	if diff := cmp.Diff(want, text(t, log, 0)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(content(f, "beaverbuddies-client.log"))
	f.Add(content(f, "beaverbuddies-server.log"))
	f.Fuzz(func(t *testing.T, log []byte) {
		form := beaverbuddies.Format()
		form.Sniff(log)
		if _, err := form.Peers(bytes.NewReader(log), "x"); err != nil {
			t.Fatal(err)
		}
		for peer := range 3 {
			text(t, log, peer)
		}
	})
}
