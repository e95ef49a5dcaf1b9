// Package browser opens a file in the user's browser.
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

// ErrNone is returned if nothing can open a file: there is no display, or no suitable program.
var ErrNone = errors.New("no browser is known here; $BROWSER names one")

// patience is how long a program may take to report a failure. One that runs longer counts as the browser itself.
const patience = time.Second

// Open opens a file. The program that shows it has no terminal, and outlives this one.
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

// start starts a program, and waits a moment in case it fails.
func start(program string, args []string) error {
	cmd := exec.Command(program, args...) // the null device for input and output
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

// commands returns the command lines that may open a file, the first one to try first. It returns none if there is no
// display.
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

// chosen returns the command line for one entry of $BROWSER: its words as split by a shell, with the address in place
// of %s, or at the end.
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
