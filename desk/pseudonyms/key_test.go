package pseudonyms_test

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/desynctool/desynctool/desk/pseudonyms"
)

func TestKeyFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "key")
	if _, err := pseudonyms.LoadKey(path); !os.IsNotExist(err) {
		t.Errorf("a key that is not there: %v", err)
	}
	texts := make([]string, 8)
	var wait sync.WaitGroup
	for i := range texts {
		wait.Go(func() {
			k, err := pseudonyms.EnsureKey(path)
			if err != nil {
				t.Error(err)
				return
			}
			texts[i] = k.Text()
		})
	}
	wait.Wait()
	for _, text := range texts {
		if text != texts[0] || len(text) != len("desynctool-names-key-1 ")+64+1 {
			t.Errorf("%q and %q", text, texts[0])
		}
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("%v lie in the folder, %v", list, err)
	}
	stat, err := os.Stat(path)
	if err != nil || runtime.GOOS != "windows" && stat.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", stat.Mode(), err)
	}
	if runtime.GOOS == "windows" {
		return
	}
	if err := os.Chmod(path, 0o640); err != nil {
		t.Fatal(err)
	}
	if _, err := pseudonyms.EnsureKey(path); err == nil || !strings.Contains(err.Error(), "mode 0640") {
		t.Errorf("a key that others may read: %v", err)
	}
}

// What is not a key is refused, and none of it is in the error.
func TestBadKeys(t *testing.T) {
	for _, text := range []string{"", "secret", testKey[:len(testKey)-3], strings.TrimSpace(testKey) + "00", strings.Replace(testKey, "0f", "0g", 1), testKey + testKey} {
		if _, err := pseudonyms.ParseKey(text, "desk/key"); err == nil || !strings.HasPrefix(err.Error(), "desk/key: not a key: ") || strings.Contains(err.Error(), "0e0") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestRoles(t *testing.T) {
	k := key(t)
	for _, name := range []string{"", "host", "Host", "client 2", "client2", "client#2", "server", "player 1", "player12", "peer 3", "peer -77", "first run", "second run", "slot 0", "7", "column 3", k.Player("Ada")} {
		if got := k.Player(name); got != name {
			t.Errorf("%q became %q", name, got)
		}
	}
	for _, name := range []string{"Ada", "a", "hostess", "clientele", "76561198000000001", "1234", "host Ada", "player Ada", "player-7f3a21c4", "the"} {
		if got := k.Player(name); got == name || got != k.Player(" "+name+"\t") || got == k.Player(strings.ToUpper(name)+"x") {
			t.Errorf("%q became %q", name, got)
		}
	}
	other, err := pseudonyms.ParseKey(strings.Replace(testKey, "00", "01", 1), "key")
	if err != nil {
		t.Fatal(err)
	}
	if other.Player("Ada") == k.Player("Ada") || other.ID() == k.ID() || k.Player("Ada")[7:] == k.Address("Ada")[8:] {
		t.Error("pseudonyms of two keys, or of a player and an address, are the same")
	}
}
