package statements

import "testing"

// TestPosts reads values that are on lines apart from each other, and texts that only look like these.
func TestPosts(t *testing.T) {
	const head = "# desync of replicas\n\n"
	for text, want := range map[string]string{
		// Lists of checksums below the names of their owners.
		head + "```\nnode-1\n# crc *\n08aad524  head.img\n7f893752  disk-a.img\n\nnode-2\n08aad524  head.img\n202e8795  disk-a.img\n```": "values of disk-a.img node-1=7f893752 node-2=202e8795",
		head + "node-1\n7f893752  disk-a.img\n7f893753  disk-a.img\nnode-2\n202e8795  disk-a.img":                                        "desync of replicas",
		head + "first try\n7f893752  disk-a.img\nsecond try\n202e8795  disk-a.img":                                                       "desync of replicas",

		// Lines that are equal except for who and what.
		head + "> 0 [Note] Member 2(ada) begins vote on c0ffee01-89f1:41,b3743a02: no\n> 0 [Note] Member 1(bob) begins vote on c0ffee01-89f1:41,acab2faf: nein": "" +
			"values ada=b3743a02 bob=acab2faf",
		head + "Member 2(ada) begins vote on c0ffee01:41,b3743a02: no\nMember 1(bob) begins vote on c0ffee01:42,acab2faf: no": "desync of replicas",
		head + "Player 1 has the session b3743a02\nPlayer 2 has the session acab2faf":                                         "desync of replicas",

		// Labels with a sum each.
		"# Not deterministic\nExpected SHA-256 from `frames.json`:\n\n`8429fedd427b63d9`\n\nActual SHA-256 on every run:\n\n`891a80fc...`": "" +
			"values expected=8429fedd427b63d9 actual=891a80fc",
		"# Not deterministic\nExpected hash: 8429fedd427b63d9\nActual hash: 8429fedd...":                                 "Expected hash: 8429fedd427b63d9; Not deterministic",
		"# Not deterministic\nExpected hash: 8429fedd427b63d9\nActual hash: 991a80fc\n\nI downloaded the tarball again.": "Expected hash: 8429fedd427b63d9; Not deterministic",
		"# Not deterministic\nExpected commit hash: 8429fedd427b63d9\nActual commit hash: 991a80fc":                      "Not deterministic",

		// Sums of two people.
		"We have an unmatched checksum\n\n> Your checksum d9f4 is fine.\n> But your friend's checksum aef6 is not.": "values one side=d9f4 friend=aef6",
		"We have an unmatched checksum\n\nYour checksum d9f4 is fine.":                                              "We have an unmatched checksum",

		// A sentence that sets two sides against each other.
		head + "In wolf-port, the demo enters M9 at gametic 529, whereas in Rook it enters M9 at gametic 519.": "values of gametic wolf-port=529 Rook=519",
		head + "In wolf-port it begins at gametic 529, and it ends at gametic 619.":                            "In wolf-port it begins at gametic 529, and it ends at gametic 619.; desync of replicas",
		"# Game desyncs\n\"The points of client and server don't match. Client = 2, Server = 0":                "values client=2 server=0",
		// What two runs wrote, equal except for some numbers.
		"# Not deterministic\n\nWith one thread:\n```\nloaded 12 reefs\nCurrents met: 4180\nFish left: 93.25\nWarm water: 7\nTime: 31 s\n```\nWith two:\n```\nloaded 12 reefs\nCurrents met: 4177\nFish left: 93.25\nWarm water: 8\nTime: 33 s\n```": "" +
			"values of Currents met one side=4180 the other side=4177; values of Warm water one side=7 the other side=8",
		"# Not deterministic\nCurrents met: 4180\nFish left: 93\nThat is all.\nCurrents met: 4177\nFish left: 93":                                                    "Not deterministic",
		"# Not deterministic\nCurrents met: 4180\nFish left: 93\nWater: 7\nCurrents met: 4177\nFish left: 93\nWater: 7\nCurrents met: 4170\nFish left: 93\nWater: 7": "Not deterministic",
		"# Not deterministic\nIn run 1 the tide turns at frame 940\nIn run 2 the tide turns at frame 941":                                                            "values of turns frame run 1=940 run 2=941",
		"# Not deterministic\nIn run 1 the tide turns in 940 ms\nIn run 2 the tide turns in 941 ms":                                                                  "Not deterministic",
		"# Not deterministic\n```\n612c612\n<     \"drift\": 0.25,\n---\n>     \"drift\": 0.26,\n```":                                                                "values of drift one side=0.25 the other side=0.26",
		"# Not deterministic\n| pair | pixels |\n|---|---|\n| run 1 vs 2 | 0 (identical) |\n| run 1 vs 3 | all |":                                                    "Not deterministic",

		"# Not deterministic\nOut[3]:\n#0. 'crabs': 3903.5\n#1. 'eels': 133\nOut[4]:\n#0. 'crabs': 3848.6\n#1. 'eels': 133":         "values of crabs one side=3903.5 the other side=3848.6",
		"# Not deterministic\n(Ruby)\n48528 3822790476\n10 2445230203\n16 476387\n(Lua)\n48528 1675306828\n10 297746555\n16 476387": "values of 48528 one side=3822790476 the other side=1675306828; values of 10 one side=2445230203 the other side=297746555",

		"# Not deterministic\n0.49  0.92 -0.07\n0.50  0.94 -0.05\n0.51  0.96 -0.03\nThen:\n0.49   0.92  -0.07\n0.50   0.98   -0.01\n0.51   0.99   -0.02": "values of 0.50 one side=0.94 the other side=0.98; values of 0.51 one side=0.96 the other side=0.99",
		"# Not deterministic\nbuilt at 0.49 0.92\n0.50 0.94\nThen:\n0.49 0.93\n0.50 0.95":                                                                "Not deterministic",

		// A table with a column for each of two sides.
		"# Determinism\n| Thing | Native | WASM | Delta |\n|---|---|---|---|\n| Crabs | 10,982 | 10,956 | -26 |\n| Eels | 7 | 7 | 0 |\n| Load time | 3 | 4 | 1 |": "values of Crabs Native=10,982 WASM=10,956",
		"# Determinism\n| Thing | Name | WASM | Delta |\n|---|---|---|---|\n| Crabs | 10,982 | 10,956 | -26 |":                                                    "Determinism",

		// Two texts that a test compared.
		"# Not deterministic\n    expected: \" \\x87D\\xa7\"\n    actual  : \"0\\xf27\\xaa\"": `values expected=\x87D\xa7 actual=0\xf27\xaa`,
		"# Not deterministic\n    expected: \" \\x87D\\xa7\"\n    actual  : nothing":          "Not deterministic",

		// One of three replicas votes for something else: no word for a desync is needed.
		"# Correctness\n1. Replica 0 (view=3) commits op=7 checksum=77e01f3b\n2. Replica 1 (view=4) commits op=7 checksum=5f3a91c7\n3. Replica 2 (view=4) commits op=7 checksum=5f3a91c7": "" +
			"values Replica 0=77e01f3b Replica 1=5f3a91c7 Replica 2=5f3a91c7",
		"# Correctness\n1. Replica 0 commits op=7 checksum=77e01f3b\n2. Replica 1 commits op=7 checksum=5f3a91c7":                                              "",
		"# Correctness\n1. Replica 0 commits op=7 checksum=77e01f3b\n2. Replica 1 commits op=7 checksum=5f3a91c7\n3. Replica 2 commits op=7 checksum=11223344": "",

		"# Game desyncs\nClient = 2, Server = 0": "Game desyncs",
	} {
		if got := told(text); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestPhrased reads words of people about a desync that no program writes of one.
func TestPhrased(t *testing.T) {
	for text, want := range map[string]string{
		"# Everyone moves oddly\n[WARNING] Admin notify: Kim moved wrongly!":                                             "Admin notify: Kim moved wrongly!",
		"# Assertion\nNet Assertion Failed: Assertion i.frame == _next_frame @ input.cpp:17":                             "Net Assertion Failed: Assertion i.frame == _next_frame @ input.cpp:17",
		"Assertion failed: ptr != null":                                                                                  "",
		"**Error**: nondeterministic workflow: missing replay decision for Done: (Result:[], EventId:34)":                "nondeterministic workflow: missing replay decision for Done: (Result:[], EventId:34)",
		"rollback should have fired (predicted Rank missing vs Confirmed":                                                "rollback should have fired (predicted Rank missing vs Confirmed",
		"# checksum issue in matches":                                                                                    "checksum issue in matches",
		"# simulation results change":                                                                                    "simulation results change",
		"I run it again and get different results.":                                                                      "I run it again and get different results.",
		"I expect different results when I run it again.":                                                                "",
		"# A node has an inconsistent AppHash and is out of sync\nIt happened on block height 1500225.":                  "It happened on block height 1500225.; A node has an inconsistent AppHash and is out of sync",
		"# The city is out of sync\nIt has block 12 and height 7.":                                                       "The city is out of sync",
		"We ran it twice with one seed, and the rewards were not the same.":                                              "We ran it twice with one seed, and the rewards were not the same.",
		"Two prizes are not the same.":                                                                                   "",
		"The results are different for each class of ship.":                                                              "",
		"Inconsistent trajectories for other numbers of threads":                                                         "Inconsistent trajectories for other numbers of threads",
		"I get different results with other seeds.":                                                                      "",
		"# Rollback cannot reach the same game state":                                                                    "Rollback cannot reach the same game state",
		"# Discrepancies across Mac and Windows\nIt desynced.":                                                           "Discrepancies across Mac and Windows; It desynced.",
		"# checksum issue of the installer":                                                                              "",
		"# Recorded two desyncs during Red vs. Blue matches":                                                             "Recorded two desyncs during Red vs. Blue matches",
		"# Multiplayer desync\nThe cycle was wrong - 2125 was really game cycle 10,626.":                                 "The cycle was wrong - 2125 was really game cycle 10,626.; Multiplayer desync",
		"We had a desync when the long sentence of this line went on to the\nnext line, which is why it is shown whole.": "We had a desync when the long sentence of this line went on to the next line, which is why it is shown whole.",
	} {
		if got := told(text); got != want && got != "values" || got == "values" && want == "" {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}
