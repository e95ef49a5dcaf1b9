package pseudonyms_test

import (
	"strings"
	"testing"

	"github.com/desynctool/desynctool/desk/pseudonyms"
	"github.com/desynctool/desynctool/report/document"
)

// TestFile: in the name of a file names of players are found in any case, between any other text; nothing else changes.
func TestFile(t *testing.T) {
	k := key(t)
	known := []string{k.Player("Alice"), k.Player("bob") + "#2", k.Player("Ada Lovelace"), k.Player("x_Sniper_x"), k.Player("Зоя"), "host"}
	alice, bob, ada, sniper, zoya := known[0], k.Player("bob"), known[2], known[3], known[4]
	for name, want := range map[string]string{
		"alice-vs-bob.zip": alice + "-vs-" + bob + ".zip", "Alice": alice, "ALICE_2.tar.gz": alice + "_2.tar.gz", "malice.zip": "malice.zip",
		"ada_lovelace-log.txt": ada + "-log.txt", "Ada.Lovelace 3.zip": ada + " 3.zip", "[x_Sniper_x] desync.rep": "[" + sniper + "] desync.rep",
		"зоя.zip": zoya + ".zip", "host.bob": "host.bob", "": "", "...": "...", alice + ".zip": alice + ".zip", "report.zip": "report.zip",
	} {
		if got := k.File(name, known); got != want {
			t.Errorf("%q: %q, expected %q", name, got, want)
		}
	}
	if got := k.File("alice.zip", nil); got != "alice.zip" {
		t.Errorf("with nobody known: %q", got)
	}
}

// TestSaved: a saved report has no name of its peers, neither where it is one nor in sentences; short words stay in these.
func TestSaved(t *testing.T) {
	r := document.NoReport(document.Diverged, "")
	r.Peers = []document.TriagedPeer{{Name: "Ottokar", Group: 1}, {Name: "Wil", Group: 2}, {Name: "a", Group: 2}, {Name: "host", Group: 2}}
	r.Verdict = []string{"Ottokar and Wil diverged at tick 7; a host saw it. Will it be Ottokar's?"}
	r.Stated = []document.Fact{{Name: "os", Values: map[string]string{"Ottokar": "linux", "Zed": "macos", "a": "linux"}}}
	r.Next = []string{"desynctool diff 'Ottokar/order-log.bin' Wil/order-log.bin"}
	s := pseudonyms.NewScrubber(key(t))
	s.Saved([]*document.Report{r})
	k := key(t)
	o, w := k.Player("Ottokar"), k.Player("Wil")
	want := o + " and " + w + " diverged at tick 7; a host saw it. Will it be " + o + "'s?"
	if r.Verdict[0] != want || r.Peers[0].Name != o || r.Peers[2].Name != k.Player("a") || r.Peers[3].Name != "host" {
		t.Errorf("%q %+v", r.Verdict, r.Peers)
	}
	if v := r.Stated[0].Values; v[o] != "linux" || v[k.Player("Zed")] != "macos" || v[k.Player("a")] != "linux" || len(v) != 3 {
		t.Errorf("%q", v)
	}
	if strings.Contains(r.Next[0], "Ottokar") || strings.Contains(r.Next[0], "Wil/") {
		t.Errorf("%q", r.Next)
	}
	again := *r
	s = pseudonyms.NewScrubber(key(t))
	s.Saved([]*document.Report{&again})
	if again.Verdict[0] != want || again.Peers[0].Name != o {
		t.Errorf("a second time: %q", again.Verdict)
	}
}
