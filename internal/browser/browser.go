// Package browser opens a file in the browser that the user has chosen.
package browser

import (
	"errors"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/shellwords"
)

// ErrNone is returned where nothing opens a file: there is no display, or none of the programs that
// do it.
var ErrNone = errors.New("no browser is known here; $BROWSER names one")

// patience is how long a program may take to say that it failed. One that runs longer is taken to
// be the browser itself.
const patience = time.Second

// Open opens a file. The program that does it has no terminal, and outlives this one.
func Open(path string) error {
	abs, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	err = ErrNone
	for _, argv := range commands(runtime.GOOS, os.Getenv, abs) {
		program, missing := exec.LookPath(argv[0])
		if missing != nil {
			continue
		}
		if err = start(program, argv[1:]); err == nil {
			return nil
		}
	}
	return err
}

// start starts a program, and waits a moment for it to fail.
func start(program string, args []string) error {
	cmd := exec.Command(program, args...) // its input and outputs are the null device
	detach(cmd)
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err := <-ended:
		if err != nil {
			return errors.New(filepath.Base(program) + ": " + err.Error())
		}
	case <-time.After(patience):
	}
	return nil
}

// commands returns the command lines that may open a file, the one to try first at the front;
// none where there is nothing to show it on.
func commands(goos string, getenv func(string) string, path string) (list [][]string) {
	for _, one := range strings.Split(getenv("BROWSER"), listSeparator(goos)) {
		if argv := chosen(one, fileURL(goos, path)); argv != nil {
			list = append(list, argv)
		}
	}
	switch goos {
	case "windows":
		return append(list, []string{"rundll32", "url.dll,FileProtocolHandler", path})
	case "darwin":
		return append(list, []string{"open", path})
	}
	if getenv("WSL_DISTRO_NAME") != "" {
		list = append(list, []string{"wslview", path})
	}
	if getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != "" {
		list = append(list, []string{"xdg-open", path})
	}
	return list
}

// chosen returns the command line of one entry of $BROWSER: its words as a shell splits them, with the
// address in place of %s, or at the end.
func chosen(entry, address string) []string {
	argv, err := shellwords.Split(entry)
	if err != nil || len(argv) == 0 {
		return nil
	}
	placed := false
	for i, word := range argv {
		if i > 0 && strings.Contains(word, "%s") {
			argv[i], placed = strings.ReplaceAll(word, "%s", address), true
		}
	}
	if !placed {
		argv = append(argv, address)
	}
	return argv
}

func listSeparator(goos string) string {
	if goos == "windows" {
		return ";"
	}
	return ":"
}

// fileURL returns the address of a file.
func fileURL(goos, path string) string {
	if goos == "windows" {
		path = "/" + strings.ReplaceAll(path, `\`, "/")
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
