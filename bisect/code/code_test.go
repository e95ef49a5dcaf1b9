package code

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func Example() {
	fmt.Println(Stack{
		{Function: "step_combat", File: `src\combat.c`, Line: 88, Module: "game", Offset: 0x1200},
		{Function: "game_tick", Module: "game", Offset: 0x1300},
		{Module: "/opt/game", Offset: 0x1400},
	})
	// Output: step_combat (combat.c:88) ← game_tick ← game+0x1400
}

// TestRead: a place gets its line from the file that has the most of its path, and never from outside the folder.
func TestRead(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("src/sim/combat.c", "one\n\tif (near)\n")
	write("src/combat.c", "other\nother\n")
	write("secret.c", "secret\n")
	if err := os.Symlink(filepath.Join(dir, "secret.c"), filepath.Join(dir, "src", "link.c")); err != nil {
		t.Skip(err)
	}
	list := []Place{
		{File: "/home/build/sim/combat.c", Line: 2}, {File: `C:\build\sim\combat.c`, Line: 2}, {File: "lib/combat.c", Line: 1},
		{File: "sim/combat.c", Line: 9}, {File: "link.c", Line: 1}, {File: "../secret.c", Line: 1}, {File: "none.c", Line: 1}, {Line: 1},
	}
	if err := Read(filepath.Join(dir, "src"), list); err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"if (near)", "if (near)", "other", "", "", "", "", ""} {
		if list[i].Text != want {
			t.Errorf("%+v, expected %q", list[i], want)
		}
	}
	if err := Read(filepath.Join(dir, "none"), list); err == nil || !strings.Contains(err.Error(), "folder of sources") {
		t.Error(err)
	}
}
