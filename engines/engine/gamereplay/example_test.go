package gamereplay_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/desynctool/desynctool/engines/engine"
	"github.com/desynctool/desynctool/engines/engine/gamereplay"
)

// A program that replays a log, here cat: its output is the same log.
func ExampleWitness_Play() {
	game, program, err := gamereplay.Command([]string{"cat", "{log}"})
	if err != nil {
		fmt.Println(err)
		return
	}
	w := &gamereplay.Witness{Game: game, Spec: "run:cat {log}", Program: *program}
	rec := &engine.Recording{Path: "host/commands.txt", File: filepath.Join("testdata", "commands.txt")}
	replay, err := w.Play(context.Background(), rec, engine.Ask{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer replay.Close()
	left, err := os.ReadDir(replay.Folder)
	fmt.Println(left[0].Name(), err)
	// Output:
	// stdout.log <nil>
}
