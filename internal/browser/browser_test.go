package browser

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestCommands(t *testing.T) {
	for _, c := range []struct {
		name, goos string
		env        map[string]string
		path       string
		want       [][]string
	}{
		{"macOS", "darwin", nil, "/tmp/a b.html", [][]string{{"open", "/tmp/a b.html"}}},
		{"Windows", "windows", nil, `C:\Temp\a b.html`, [][]string{{"rundll32", "url.dll,FileProtocolHandler", `C:\Temp\a b.html`}}},
		{"Windows, chosen", "windows", map[string]string{"BROWSER": `'C:\Program Files\f.exe' -new`}, `C:\T\a b.html`,
			[][]string{{`C:\Program Files\f.exe`, "-new", "file:///C:/T/a%20b.html"}, {"rundll32", "url.dll,FileProtocolHandler", `C:\T\a b.html`}}},
		{"X11", "linux", map[string]string{"DISPLAY": ":0"}, "/tmp/a.html", [][]string{{"xdg-open", "/tmp/a.html"}}},
		{"Wayland", "freebsd", map[string]string{"WAYLAND_DISPLAY": "wayland-0"}, "/tmp/a.html", [][]string{{"xdg-open", "/tmp/a.html"}}},
		{"no display", "linux", nil, "/tmp/a.html", nil},
		{"WSL", "linux", map[string]string{"WSL_DISTRO_NAME": "Debian", "DISPLAY": ":0"}, "/tmp/a.html", [][]string{{"wslview", "/tmp/a.html"}, {"xdg-open", "/tmp/a.html"}}},
		{"chosen, no display", "linux", map[string]string{"BROWSER": "helper.sh"}, "/tmp/a#1?.html", [][]string{{"helper.sh", "file:///tmp/a%231%3F.html"}}},
		{"several chosen", "linux", map[string]string{"BROWSER": "one --new %s:two", "DISPLAY": ":0"}, "/a.html",
			[][]string{{"one", "--new", "file:///a.html"}, {"two", "file:///a.html"}, {"xdg-open", "/a.html"}}},
		{"chosen is no command", "linux", map[string]string{"BROWSER": "'"}, "/a.html", nil},
	} {
		got := commands(c.goos, func(name string) string { return c.env[name] }, c.path)
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.name, d)
		}
	}
}

// TestOpen opens a file with a program that notes what it was given, one that fails, and none.
func TestOpen(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the program is a shell script")
	}
	dir := t.TempDir()
	seen := filepath.Join(dir, "seen")
	program := filepath.Join(dir, "browser")
	script := "#!/bin/sh\necho noise\necho \"$1\" > " + seen + ".part\nmv " + seen + ".part " + seen + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"DISPLAY", "WAYLAND_DISPLAY", "WSL_DISTRO_NAME"} {
		t.Setenv(name, "")
	}
	t.Setenv("BROWSER", "false:"+program)
	page := filepath.Join(dir, "page.html")
	if err := Open(page); err != nil {
		t.Fatal(err)
	}
	for range 100 { // a slow machine: the program may still run
		if _, err := os.Stat(seen); err == nil {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	got, err := os.ReadFile(seen)
	if err != nil || strings.TrimSpace(string(got)) != "file://"+page {
		t.Errorf("the program got %q, %v", got, err)
	}
	t.Setenv("BROWSER", "false")
	if err := Open(page); err == nil || !strings.Contains(err.Error(), "false") {
		t.Errorf("a program that fails: %v", err)
	}
	t.Setenv("BROWSER", "")
	if runtime.GOOS == "darwin" {
		return // where there always is one
	}
	if err := Open(page); !errors.Is(err, ErrNone) {
		t.Errorf("no program: %v", err)
	}
}
