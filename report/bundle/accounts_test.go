package bundle

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/report/verdict"
)

// whose returns the owners of the accounts in some files, and the writer of the first claim in each.
func whose(t *testing.T, content map[string]string) (got [][2]string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range content {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, err := OpenPaths(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := s.Traces(TraceOptions{}); err != nil {
		t.Fatal(err)
	}
	for _, a := range s.Accounts(nil) {
		own := ""
		for _, v := range a.Claims[0].Values {
			own += v.Peer + "=" + v.Value[:2] + " "
		}
		got = append(got, [2]string{a.Peer, own})
	}
	return got
}

const (
	lostA = "[Host]: lost synchronization with client 0 at time 1000!\nI have:     0a5aa5608d3dcad2f0d083d595e31d34\nClient has: 602b49ed3f2ec67887b35653b4ace2f6\n"
	lostB = "[Host]: lost synchronization with client 0 at time 1000!\nI have:     1a5aa5608d3dcad2f0d083d595e31d34\nClient has: 702b49ed3f2ec67887b35653b4ace2f6\n"
)

// Two machines that both call themselves host are distinguished by their places, and lose that name in their claims.
func TestAccounts(t *testing.T) {
	for name, test := range map[string]struct {
		content map[string]string
		want    [][2]string
	}{
		"one": {map[string]string{"a/stdout.txt": lostA}, [][2]string{{"host", "host=0a the host's client 0=60 "}}},
		"two": {map[string]string{"a/stdout.txt": lostA, "b/stdout.txt": lostB}, [][2]string{{"a", "=0a the host's client 0=60 "}, {"b", "=1a the host's client 0=70 "}}},
		"no engine": {
			map[string]string{
				"a/game.log":  "[12:00] ERROR net: checksum mismatch at tick 77: remote cd000001, local ab000001\n",
				"b/game.log":  "[12:00] ERROR net: checksum mismatch at tick 77: local cd000001, remote ab000001\n",
				"a/README.md": "Desync at tick 3: local ab000001, remote cd000001\n", // a document, which was not given
				// a person's words next to other evidence
				"b/notes.txt": "it was a desync at tick 4\n",
			},
			[][2]string{{"a", "=ab =cd "}, {"b", "=cd =ab "}},
		},
		"one text":  {map[string]string{"a/notes": "it was a desync at tick 4\n"}, [][2]string{{"notes", ""}}},
		"one place": {map[string]string{"a/game.log": "Checksum for beat 5 mismatched: ab (sim) != cd (x).\n"}, [][2]string{{"game.log", "=ab x=cd "}}},
	} {
		if diff := cmp.Diff(test.want, whose(t, test.content)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// If a session has a message only by name, its text asks the peer that it names for it.
func TestMentioned(t *testing.T) {
	s, err := OpenPaths("../../testdata/claims/openttd-server")
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c, err := Examine(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Peers) != 2 || c.Peers[0].Mentioned || c.Peers[1].Name != "Birch" || !c.Peers[1].Mentioned {
		t.Errorf("peers %+v", c.Peers)
	}
	w := verdict.Hear(s.Accounts(nil))
	if diff := cmp.Diff([]string{"Birch"}, w.Absent()); diff != "" || w.Kind != verdict.WordOnly || w.At == nil || w.At.Native != "000ae760;47" {
		t.Errorf("%+v %s", w, diff)
	}
}
