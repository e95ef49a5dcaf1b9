package effort_test

import (
	"fmt"
	"os"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// How many seeds a test tries.
func ExampleOf() {
	for _, asked := range []string{"", "1", "long"} {
		os.Setenv("DESYNCTOOL_FULL_TESTS", asked)
		fmt.Printf("DESYNCTOOL_FULL_TESTS=%s: %d seeds\n", asked, effort.Of(5, 50))
	}
	// Output:
	// DESYNCTOOL_FULL_TESTS=: 5 seeds
	// DESYNCTOOL_FULL_TESTS=1: 50 seeds
	// DESYNCTOOL_FULL_TESTS=long: 50 seeds
}

// How many files a test tries that takes an hour for all of them.
func ExampleLong() {
	for _, asked := range []string{"", "1", "long"} {
		os.Setenv("DESYNCTOOL_FULL_TESTS", asked)
		fmt.Printf("DESYNCTOOL_FULL_TESTS=%s: %d files\n", asked, effort.Long(5, 5000))
	}
	// Output:
	// DESYNCTOOL_FULL_TESTS=: 5 files
	// DESYNCTOOL_FULL_TESTS=1: 5 files
	// DESYNCTOOL_FULL_TESTS=long: 5000 files
}

// In every run another third of the games.
func ExampleTurn() {
	os.Setenv("DESYNCTOOL_FULL_TESTS", "1")
	for _, turn := range []string{"811", "812", "813", ""} {
		os.Setenv("DESYNCTOOL_TURN", turn)
		var games []string
		for i, game := range []string{"arena", "trade", "skirmish", "chess"} {
			if effort.Turn(i, 3) {
				games = append(games, game)
			}
		}
		fmt.Printf("%q %v\n", turn, games)
	}
	// Output:
	// "811" [skirmish]
	// "812" [trade]
	// "813" [arena chess]
	// "" [arena trade skirmish chess]
}

// Packages take turns. In six runs this package tries its whole sample twice, and each of two games once.
func ExampleFull() {
	os.Setenv("DESYNCTOOL_FULL_TESTS", "turns")
	for _, turn := range []string{"810", "811", "812", "813", "814", "815"} {
		os.Setenv("DESYNCTOOL_TURN", turn)
		if effort.Full() {
			fmt.Println(turn, effort.Turn(0, 2), effort.Turn(1, 2))
		} else {
			fmt.Println(turn, "a sample")
		}
	}
	// Output:
	// 810 a sample
	// 811 a sample
	// 812 true false
	// 813 a sample
	// 814 a sample
	// 815 false true
}

func ExampleAsked() {
	os.Setenv("DESYNCTOOL_SDK_TESTS", "1")
	for _, full := range []string{"", "turns"} {
		os.Setenv("DESYNCTOOL_FULL_TESTS", full)
		for _, turn := range []string{"810", "811", "812"} {
			os.Setenv("DESYNCTOOL_TURN", turn)
			fmt.Printf("%q %s %v\n", full, turn, effort.Asked("DESYNCTOOL_SDK_TESTS"))
		}
	}
	// Output:
	// "" 810 true
	// "" 811 true
	// "" 812 true
	// "turns" 810 false
	// "turns" 811 false
	// "turns" 812 true
}
