package statements

import "testing"

// TestViewed reads what sentences give to two sides, and sentences that only look like these.
func TestViewed(t *testing.T) {
	const head = "# The ferry desyncs\n\n"
	for text, want := range map[string]string{
		// What two machines or two runs show.
		head + "On my machine the toll is 1200, on his machine the toll is 1210.":      "values of toll one side=1200 the other side=1210",
		head + "In run 3 the crane has 7 crates, and in run 4 the crane has 8 crates.": "values of crane crates run 3=7 run 4=8",
		head + "The log of the first run shows that the tram leaves at 5.00.\n![a](x)\nThe log of the second run shows that the tram leaves at 8.00.": "" +
			"values of tram leaves first run=5.00 second run=8.00",
		head + "node0 contains `toll.base` 51934 with:\n```\nall is well\n```\nnode1 contains `toll.base` 51361 with:": "values of toll.base node0=51934 node1=51361",
		head + "Player A sees the gate open at frame 500 and player B sees it open at frame 503.":                      "values of open frame Player A=500 player B=503",
		head + "My hash was 77e0, my friend's hash was 5f3a.":                                                          "values one side=77e0 friend=5f3a",
		head + "In Rook the mast falls at gametic 90, but in crow-port it falls at gametic 95.":                        "values of falls gametic Rook=90 crow-port=95",

		// The same, what belongs to each of them, and what only machines have.
		head + "On my machine the toll is 1200, on his machine the toll is 1200.":           "The ferry desyncs",
		head + "In the first run the seed was 5, in the second run the seed was 6.":         "The ferry desyncs",
		head + "In run 3 we had 4 threads, and in run 4 we had 8 threads.":                  "The ferry desyncs",
		head + "Player 1 has 5 trams\nPlayer 2 has 6 trams":                                 "The ferry desyncs",
		head + "My town has 12 trams and his town has 13 trams.":                            "The ferry desyncs",
		head + "On my machine the ping is 30, on his machine the ping is 80.":               "The ferry desyncs",
		head + "On the host I run Windows 10, on the client I run Windows 11.":              "The ferry desyncs",
		head + "In run 3 the load took 20 seconds, and in run 4 the load took 31 seconds.":  "The ferry desyncs",
		head + "In run 3 the toll is 12. In run 3 the toll is 13. In run 4 the toll is 12.": "The ferry desyncs",
		"On my machine the toll is 1200, on his machine the toll is 1210.":                  "",
	} {
		if got := told(text); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestChanged reads the numbers that a diff in a post shows to differ, and lists that are no diff.
func TestChanged(t *testing.T) {
	const head = "# The ferry desyncs\n\n"
	for text, want := range map[string]string{
		head + "```diff\n--- a/state\n+++ b/state\n@@ -18,4 +18,4 @@\n crew: 7\n-heading of ferry 3: 211.5\n-fuel: 40\n+heading of ferry 3: 211.75\n+fuel: 41\n```": "" +
			"values of heading of ferry 3 one side=211.5 the other side=211.75; values of fuel one side=40 the other side=41",
		head + "```diff\n- fuel: 40\n+ fuel: 41\n```":                     "values of fuel one side=40 the other side=41",
		head + "3,4c3,4\n< fuel: 40\n< oil: 5\n---\n> fuel: 41\n> oil: 5": "values of fuel one side=40 the other side=41",
		head + "- fuel: 40\n+ fuel: 41":                                   "The ferry desyncs",
		head + "```diff\n- fuel: 40\n- oil: 5\n+ fuel: 41\n```":           "The ferry desyncs",
		head + "```diff\n- built in 40 s\n+ built in 41 s\n```":           "The ferry desyncs",
		head + "```diff\n- return fuel(40)\n+ return oil(41)\n```":        "The ferry desyncs",
		"# The ferry leaves\n\n```diff\n- fuel: 40\n+ fuel: 41\n```":      "",
	} {
		if got := told(text); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestSame reads sentences about things that were to be the same.
func TestSame(t *testing.T) {
	for text, want := range map[string]string{
		"I start the ferry twice, but the arrivals are not the same for two simulations.": "I start the ferry twice, but the arrivals are not the same for two simulations.",
		"The arrivals aren't the same when I repeat it.":                                  "The arrivals aren't the same when I repeat it.",
		"Ferries are not the same as trams.":                                              "",
		"# Simulation not reproducible":                                                   "Simulation not reproducible",
		"# Bug not reproducible":                                                          "",
		"Both are identical for the first 88 frames.":                                     "Both are identical for the first 88 frames.",
		"# Two ferries\nThey were in sync until the storm.":                               "They were in sync until the storm.",
		"# Two ferries\nKeep the clocks in sync with me.":                                 "",
		"The rules are identical for all ferries.":                                        "",
	} {
		if got := told(text); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}
