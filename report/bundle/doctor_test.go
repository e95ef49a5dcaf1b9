package bundle_test

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

func examine(t testing.TB, paths ...string) *document.Checkup {
	t.Helper()
	c, err := bundle.Examine(walked(t, paths...), nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func checkupText(t testing.TB, c *document.Checkup) string {
	t.Helper()
	var out strings.Builder
	if err := document.Doctor(c).Text(&out, document.NewStyle(false), true); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// can returns the steps that evidence allows.
func can(c *document.Checkup) (steps []string) {
	for _, s := range c.Steps {
		if s.Can {
			steps = append(steps, s.Step)
		}
	}
	return steps
}

func troubles(c *document.Checkup) map[string]string {
	all := map[string]string{}
	for _, f := range c.Files {
		for _, trouble := range f.Trouble {
			all[filepath.Base(filepath.Dir(f.Path))+"/"+filepath.Base(f.Path)] += trouble.Kind + " "
		}
	}
	return all
}

// TestDoctorComplete: of whole evidence nothing is asked, in folders and archives.
func TestDoctorComplete(t *testing.T) {
	dir := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1)
	path := archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), archivetest.Packings[".zip"](t, archivetest.Entries(t, dir, "")))
	for _, at := range []string{dir, path} {
		c := examine(t, at)
		if document.StatusOf(c) != document.InSync || c.Ask != "" || len(c.Peers) != 2 || c.Peers[0].Name != "client" || c.Peers[1].Name != "host" {
			t.Errorf("%s", checkupText(t, c))
		}
		if steps := can(c); !slices.Equal(steps, []string{"inputs", "window", "tick", "system", "values"}) {
			t.Errorf("narrows %q", steps)
		}
		for _, f := range c.Facts {
			if !f.Same {
				t.Errorf("%s differs: %v", f.Name, f.Values)
			}
		}
		want := []document.Coverage{{What: "states", First: 0, Last: 120, Count: c.Peers[0].Covers[0].Count}, {What: "orders", First: 0, Last: 119, Count: 120}}
		if got := c.Peers[0].Covers[:2]; !slices.Equal(got, want) {
			t.Errorf("covers %v, expected %v", got, want)
		}
	}
}

// TestDoctorLoose: peers whose states are files of one folder are named as triage names them, and nobody is asked for
// another player's files.
func TestDoctorLoose(t *testing.T) {
	c := examine(t, filepath.Join("..", "..", "testdata", "spring", "recoil"))
	if len(c.Peers) != 2 || c.Ask != "" || len(troubles(c)) > 0 || c.Peers[0].Name != "ClientGameState-1804289383-[600-602].txt" || !slices.Contains(can(c), "values") {
		t.Errorf("%s", checkupText(t, c))
	}
}

// TestDoctorTrouble: each kind of damage has its name, and the text asks the right peer for what is lost.
func TestDoctorTrouble(t *testing.T) {
	dir := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1)
	stale := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 2)
	snap := func(peer string, tick uint64) string { return filepath.Join(dir, peer, snapshot.Name(1, tick)) }
	change := func(path string, f func(b []byte) []byte) {
		t.Helper()
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		archivetest.Write(t, path, f(b))
	}
	change(snap("host", 30), func(b []byte) []byte { return nil })
	change(snap("host", 60), func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
	change(snap("client", 30), func(b []byte) []byte { return b[:len(b)-7] })
	change(filepath.Join(dir, "client/order-log.bin"), func(b []byte) []byte { return b[:len(b)/3] })
	change(filepath.Join(dir, "client/checkpoints.trace"), func(b []byte) []byte { return []byte("\x7fELF, no trace") })
	b, err := os.ReadFile(snap("client", 0))
	if err != nil {
		t.Fatal(err)
	}
	archivetest.Write(t, snap("client", 77), b)
	b, err = os.ReadFile(filepath.Join(stale, "host", snapshot.Name(2, 90)))
	if err != nil {
		t.Fatal(err)
	}
	archivetest.Write(t, filepath.Join(dir, "host", snapshot.Name(2, 90)), b)

	c := examine(t, dir)
	want := map[string]string{
		"host/" + snapshot.Name(1, 30): "empty ", "host/" + snapshot.Name(1, 60): "corrupt ", "client/" + snapshot.Name(1, 30): "truncated ",
		"client/order-log.bin": "truncated ", "client/checkpoints.trace": "unreadable ", "host/" + snapshot.Name(2, 90): "stale ",
		"client/" + snapshot.Name(1, 77): "misnamed duplicate ",
	}
	got := troubles(c)
	for file, kinds := range want {
		if got[file] != kinds {
			t.Errorf("%s: %q, expected %q", file, got[file], kinds)
		}
	}
	if len(got) != len(want) || document.StatusOf(c) != document.Inconclusive {
		t.Errorf("%v\n%s", got, checkupText(t, c))
	}
	client, host, _ := strings.Cut(c.Ask, "From host:")
	for _, words := range []string{"seed 0000000000000001", "order-log.bin again: the one that we have is cut off", "checkpoints.trace again: the one that we have is damaged", snapshot.Name(1, 30)} {
		if !strings.Contains(client, words) {
			t.Errorf("%q is not asked of client:\n%s", words, c.Ask)
		}
	}
	for _, words := range []string{snapshot.Name(1, 30) + " again: the one that we have is empty", snapshot.Name(1, 60)} {
		if !strings.Contains(host, words) || strings.Contains(host, "seed 2") {
			t.Errorf("%q is not asked of host:\n%s", words, c.Ask)
		}
	}
}

// TestDoctorLacks: only one peer, two matches, one player's files given twice, and a
// peer without states.
func TestDoctorLacks(t *testing.T) {
	one, two := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1), archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 2)
	host := filepath.Join(one, "host")
	bundle := func(list ...archivetest.Entry) string {
		return archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), archivetest.Packings[".zip"](t, list))
	}
	without := slices.DeleteFunc(archivetest.Entries(t, filepath.Join(one, "client"), "client/"), func(e archivetest.Entry) bool { return strings.HasSuffix(e.Name, ".snap") })
	for _, test := range []struct {
		what, path string
		lost, ask  string
	}{
		{"one peer", host, "evidence of 1 peer,", "from another player of that match"},
		{"two matches", bundle(append(archivetest.Entries(t, host, "host/"), archivetest.Entries(t, filepath.Join(two, "client"), "client/")...)...), "stale: of the match with seed", "your files of this match"},
		{"the same twice", bundle(append(archivetest.Entries(t, host, "a/"), archivetest.Entries(t, host, "b/")...)...), "one player's evidence was given twice", "are copies of"},
		{"no states", bundle(append(archivetest.Entries(t, host, "host/"), without...)...), "client: no states, which host has", "the saved states"},
	} {
		c := examine(t, test.path)
		if lost := strings.Join(c.Lost, "\n"); document.StatusOf(c) != document.Inconclusive || !strings.Contains(lost, test.lost) || !strings.Contains(c.Ask, test.ask) {
			t.Errorf("%s: lacks %q\n%s", test.what, lost, c.Ask)
		}
	}
}

// TestDoctorFacts: a build, a locale and a start state that are not the same.
func TestDoctorFacts(t *testing.T) {
	dir := t.TempDir()
	for i, locale := range []string{"de_DE", "tr_TR"} {
		w := &snapshot.World{Head: snapshot.Head{Seed: 5, Peer: []string{"host", "client"}[i], Meta: map[string]string{"locale": locale, "build": "1.2", "os": "linux"}}}
		b, err := snapshot.Encode(w, snapshot.WriteOptions{})
		if err != nil {
			t.Fatal(err)
		}
		folder := filepath.Join(dir, w.Peer)
		if err := os.Mkdir(folder, 0o777); err != nil {
			t.Fatal(err)
		}
		archivetest.Write(t, filepath.Join(folder, snapshot.Name(5, 0)), b)
	}
	c := examine(t, dir)
	var out bytes.Buffer
	if err := document.Doctor(c).JSON(&out); err != nil {
		t.Fatal(err)
	}
	for _, f := range c.Facts {
		if f.Same == (f.Name == "locale") || f.Must == (f.Name == "locale" || f.Name == "os") {
			t.Errorf("%+v", f)
		}
	}
	if text := checkupText(t, c); !strings.Contains(text, "differs  locale  client: tr_TR  host: de_DE  may be the cause") || !slices.Equal(c.Unknown, []string{"start state", "tick rate", "mods", "data hash", "cpu", "compiler"}) {
		t.Errorf("%s", text)
	}
}

// TestDoctorUnread: each file in a folder that cannot be read is named.
func TestDoctorUnread(t *testing.T) {
	dir := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1)
	archivetest.Write(t, filepath.Join(dir, "host", "more.7z"), []byte("7z\xbc\xaf\x27\x1c and more"))
	archivetest.Write(t, filepath.Join(dir, "client", "more.zip"), []byte("<html>404</html>"))
	got := troubles(examine(t, dir))
	if len(got) != 2 || got["host/more.7z"] != "unreadable " || got["client/more.zip"] != "unreadable " {
		t.Errorf("%v", got)
	}
}
