package gamereplay_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/gamereplay"
)

// TestPrivate: a game in the user's home reads its own folder there, and what its command names; if it fails, the
// failure mentions that.
func TestPrivate(t *testing.T) {
	home, log := t.TempDir(), filepath.Join(t.TempDir(), "log")
	t.Setenv("HOME", home)
	game, secret := filepath.Join(home, "game", "play"), filepath.Join(home, "secret")
	err := errors.Join(os.Mkdir(filepath.Dir(game), 0o700), os.WriteFile(secret, []byte("x"), 0o600), os.WriteFile(log, nil, 0o600),
		os.WriteFile(game, []byte("#!/bin/sh\nhere=${0%/*}\ncat $here/asset || exit 4\ncat $here/../secret || exit 3\n"), 0o700), os.WriteFile(filepath.Join(home, "game", "asset"), nil, 0o600))
	if err != nil {
		t.Fatal(err)
	}
	for words, want := range map[string]string{
		game + " {log}":                "it ended with status 3; of your home it may read only",
		game + " {log} --of=" + secret: "it left nothing of a format that is read; of your home",
		game + " {log} " + home:        "it ended with status 3; of your home it may read only", // not all of it
	} {
		command, program, err := gamereplay.Command(strings.Fields(words))
		if err != nil {
			t.Fatal(err)
		}
		w := &gamereplay.Witness{Game: command, Spec: "run:" + words, Program: *program}
		w.Reads = func(string, []byte) bool { return false }
		_, err = w.Play(t.Context(), &engine.Recording{Path: "log", File: log}, engine.Ask{})
		for _, warning := range w.Warnings() {
			if strings.Contains(warning, "reading") {
				t.Skip("the system has neither namespaces nor Landlock")
			}
		}
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, expected %q", words, err, want)
		}
	}
}
