package main

import (
	"fmt"
	"os"
	"strings"
	"time"
)

// game is a game with a mistake for the transcripts: it reads a log of text that it is
// given, and its mistake shows if the log holds all the words that it is given.
//
//	game status N LOG WORD...   ends with exit status N if it makes the mistake
//	game say LOG WORD...        prints its progress, and the mistake, and ends with 0
//	game state LOG WORD...      prints a state for each tick, another one from the mistake on
//	game now-and-then N FILE LOG WORD...  makes the mistake in every Nth run, which FILE counts
//	game slowly LOG WORD...     takes its time, and ends with 1 if it makes the mistake
//	game hang LOG               does not end
func game() {
	args := os.Args[1:]
	mode, status := args[0], 1
	args = args[1:]
	every, count := 1, 0
	switch mode {
	case "status":
		fmt.Sscan(args[0], &status)
		args = args[1:]
	case "now-and-then":
		fmt.Sscan(args[0], &every)
		seen, _ := os.ReadFile(args[1])
		count = len(seen) + 1
		os.WriteFile(args[1], append(seen, '.'), 0o666)
		args = args[2:]
	case "slowly":
		time.Sleep(40 * time.Millisecond)
	case "hang":
		time.Sleep(time.Hour)
	}
	log, err := os.ReadFile(args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(127)
	}
	lines := strings.Split(string(log), "\n")
	left := map[string]bool{}
	for _, word := range args[1:] {
		left[word] = true
	}
	mistaken := len(left) == 0 && mode != "state"
	for i, line := range lines {
		for word := range left {
			if strings.Contains(line, word) {
				delete(left, word)
				mistaken = mistaken || len(left) == 0
			}
		}
		if tick, ok := strings.CutPrefix(line, "turn "); ok && mode == "state" {
			fmt.Printf("%v: tick %s state %v\n", time.Now().UnixNano(), tick, mistaken)
		}
		if mode == "say" && i%100 == 0 {
			fmt.Printf("line %d of %d\n", i, len(lines))
		}
	}
	if mistaken && every > 1 && count%every != 0 {
		mistaken = false
	}
	switch {
	case mode == "say" && mistaken:
		fmt.Println("hash mismatch")
	case mode != "state" && mode != "say" && mistaken:
		os.Exit(status)
	}
}
