package main

import (
	"bufio"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

var engineCommands = []string{"triage", "bisect", "doctor", "triage --format html=/dev/null"}

// springEnd is what follows the units of a frame of Spring.
const springEnd = "\tfeatures: 0\n\tprojectiles: 0\n\tteams: 0\n"

// twoStates returns a case of one file of an engine of each of two peers.
func twoStates(name, file string, size int, write func(out *bufio.Writer, peer, n int)) hostile {
	end := map[string]string{"oos_dump.txt": "\n", "GameState.txt": springEnd}[file]
	h := twoTexts(name, file, size, func(out *bufio.Writer, peer, n int) {
		write(out, peer, n)
		fmt.Fprint(out, end)
	})
	h.name, h.commands = "engine/"+name, engineCommands
	return h
}

// ofLog returns a case of an engine's log or replay of each of two peers.
func ofLog(name, file string, size int, write func(out *bufio.Writer, peer, n int)) hostile {
	h := twoTexts(name, file, size, write)
	h.name, h.commands = "engine/"+name, []string{"triage", "orders", "bisect", "doctor"}
	return h
}

// hostileEngines are states and logs of games with a valid form and too much of one thing in their content: entities,
// components, fields that no other entity has, depth, one name, one turn.
func hostileEngines() []hostile {
	const zeroadDump, zeroadLog, springState, openraReport, ggpoState, ttdLog = "oos_dump.txt", "commands.txt", "GameState.txt", "syncreport-2023-11-05T181502Z-0.log", "state-0014-original.log", "commands-out.log"
	zeroad := func(out *bufio.Writer) {
		fmt.Fprint(out, "oos turn: 40\nnet client turn: 42\nsim turn: 42\nrng: \"64981088699119\"\nentities:\n")
	}
	match := "start {\"settings\":{\"Seed\":7,\"mapName\":\"x\",\"PlayerData\":[null,{\"Name\":\"A\"},{\"Name\":\"B\"}]},\"engine_version\":\"0.0.26\",\"matchID\":\"1234567890ABCDEF\",\"timestamp\":\"1\",\"mods\":[]}\n"
	spring := func(out *bufio.Writer) {
		fmt.Fprint(out, " mapName: M\n modName: G\nminFrame: 0\nmaxFrame: 2000\nframe: 0, seed: 0\n")
	}
	openra := func(out *bufio.Writer, peer int) {
		fmt.Fprintf(out, "Player: P%d (Linux Unix 6.1.0.13 .NET CLR 6.0.22)\nGame ID: 6f1c2f0e-52a4-4f0a-9d5d-3a1f0a7c9b11 (Mod: Red Alert at Version release-20231010)\nSync for net frame 1204 -------------\nSharedRandom: 1839201733 (#48213)\nSynced Traits:\n", peer)
	}
	ggpo := func(out *bufio.Writer) { fmt.Fprint(out, "GameState object.\n  bounds: 8,8 x 632,472.\n") }
	return []hostile{
		twoStates("0ad-entities", zeroadDump, 4_000, func(out *bufio.Writer, peer, n int) {
			zeroad(out)
			for i := range n {
				fmt.Fprintf(out, "- id: %d\n  Position:\n    x: %d\n\n", i+1, i+peer)
			}
		}),
		twoStates("0ad-own-components", zeroadDump, 2_000, func(out *bufio.Writer, peer, n int) {
			zeroad(out)
			for i := range n {
				fmt.Fprintf(out, "- id: %d\n  C%d:\n    x: %d\n\n", i+1, i, peer)
			}
		}),
		twoStates("0ad-own-fields", zeroadDump, 2_000, func(out *bufio.Writer, peer, n int) {
			zeroad(out)
			for i := range n {
				fmt.Fprintf(out, "- id: %d\n  C:\n    f%d: %d\n\n", i+1, i, peer)
			}
		}),
		twoStates("0ad-one-entity", zeroadDump, 4_000, func(out *bufio.Writer, peer, n int) {
			zeroad(out)
			fmt.Fprint(out, "- id: 1\n")
			for i := range n {
				fmt.Fprintf(out, "  C%d:\n    x: %d\n", i, peer)
			}
		}),
		twoStates("0ad-values", zeroadDump, 8_000, func(out *bufio.Writer, peer, n int) {
			zeroad(out)
			fmt.Fprint(out, "- id: 1\n  C:\n    length: 29\n")
			for i := range n {
				fmt.Fprintf(out, "    value: %d\n", i+peer)
			}
		}),
		twoStates("0ad-deep", zeroadDump, 500, func(out *bufio.Writer, peer, n int) {
			zeroad(out)
			fmt.Fprintf(out, "- id: 1\n  C:\n    comp: {\n%s\"x\": %d\n%s    }\n", strings.Repeat("      \"a\": {\n", n), peer, strings.Repeat("      }\n", n))
		}),
		twoStates("spring-units", springState, 2_000, func(out *bufio.Writer, peer, n int) {
			spring(out)
			fmt.Fprintf(out, "\tunits: %d\n", n)
			for i := range n {
				fmt.Fprintf(out, "\t\tunitID: %d (name: tank)\n\t\t\tpos: <%d.0, 1.0, 1.0>\n\t\t\theading: 0, mapSquare: 0\n", i, i+peer)
			}
		}),
		twoStates("spring-own-fields", springState, 1_000, func(out *bufio.Writer, peer, n int) {
			spring(out)
			fmt.Fprintf(out, "\tunits: %d\n", n)
			for i := range n {
				fmt.Fprintf(out, "\t\tunitID: %d (name: tank)\n\t\t\tf%d: %d\n", i, i, peer)
			}
		}),
		twoStates("spring-frames", springState, 1_000, func(out *bufio.Writer, peer, n int) {
			spring(out)
			fmt.Fprint(out, "\tunits: 0\n")
			for i := range n {
				fmt.Fprintf(out, springEnd+"frame: %d, seed: %d\n\tunits: 1\n\t\tunitID: 1 (name: tank)\n\t\t\tpos: <%d.0, 1.0, 1.0>\n", i+1, i, i+peer)
			}
		}),
		twoStates("openra-actors", openraReport, 4_000, func(out *bufio.Writer, peer, n int) {
			openra(out, peer)
			for i := range n {
				fmt.Fprintf(out, "\t %d proc P Health (%d)\n\t\t hp: %d\n", i, i+peer, i+peer)
			}
		}),
		twoStates("openra-own-traits", openraReport, 2_000, func(out *bufio.Writer, peer, n int) {
			openra(out, peer)
			for i := range n {
				fmt.Fprintf(out, "\t %d proc P T%d (%d)\n\t\t f%d: %d\n", i, i, i+peer, i, peer)
			}
		}),
		twoStates("openra-one-trait", openraReport, 4_000, func(out *bufio.Writer, peer, n int) {
			openra(out, peer)
			for i := range n {
				fmt.Fprintf(out, "\t 7 proc P Cloak (%d)\n\t\t t: %d\n", i+peer, i+peer)
			}
		}),
		{name: "engine/ggpo-fields", size: 4_000, commands: engineCommands, make: ggpoStates(ggpoState, func(out *bufio.Writer, peer, n int) {
			ggpo(out)
			for i := range n {
				fmt.Fprintf(out, "  ship %d field%d: %d\n", i%3, i, i+peer)
			}
		})},
		{name: "engine/ggpo-one-field", size: 4_000, commands: engineCommands, make: ggpoStates(ggpoState, func(out *bufio.Writer, peer, n int) {
			ggpo(out)
			for i := range n {
				fmt.Fprintf(out, "  ship 0 speed: %d\n", i+peer)
			}
		})},
		ofLog("0ad-turns", zeroadLog, 8_000, func(out *bufio.Writer, peer, n int) {
			fmt.Fprint(out, match)
			for i := range n {
				fmt.Fprintf(out, "turn %d 200\ncmd 1 {\"type\":\"walk\",\"x\":%d}\nend\nhash-quick %032x\n", i, i+peer, i)
			}
		}),
		ofLog("0ad-one-turn", zeroadLog, 8_000, func(out *bufio.Writer, peer, n int) {
			fmt.Fprint(out, match+"turn 0 200\n")
			for i := range n {
				fmt.Fprintf(out, "cmd 1 {\"type\":\"walk\",\"x\":%d}\n", (i*7+peer*3)%n)
			}
			fmt.Fprint(out, "end\n")
		}),
		ofLog("0ad-players", zeroadLog, 8_000, func(out *bufio.Writer, peer, n int) {
			fmt.Fprint(out, match)
			for i := range n {
				fmt.Fprintf(out, "turn %d 200\ncmd %d {\"type\":\"t%d\"}\nend\n", i, i, i+peer)
			}
		}),
		ofLog("openttd-saves", ttdLog, 4_000, func(out *bufio.Writer, peer, n int) {
			fmt.Fprint(out, "new_map: 00000309\n")
			for i := range n {
				fmt.Fprintf(out, "save: %08x; 00; dmp_cmds_00000309_%08x.sav\n", 0xade1f+i, 0xade1f+i)
			}
		}),
		ofLog("openttd-sync", ttdLog, 8_000, func(out *bufio.Writer, peer, n int) {
			fmt.Fprint(out, "new_map: 00000309\n")
			for i := range n {
				fmt.Fprintf(out, "sync: %08x; 00; %08x; %08x\n", 0xade1f+i, i+peer, i)
			}
		}),
		ofLog("openttd-maps", ttdLog, 2_000, func(out *bufio.Writer, peer, n int) {
			for i := range n {
				fmt.Fprintf(out, "new_map: %08x\nsync: 000ade1f; 00; %08x; %08x\n", i, i+peer, i)
			}
		}),
		{name: "engine/warzone-entries", size: 8_000, commands: engineCommands, make: func(t testing.TB, dir string, n int) {
			for peer := range 2 {
				create(t, filepath.Join(dir, fmt.Sprintf("desync25702_p%d.txt", peer)), func(out *bufio.Writer) error {
					fmt.Fprintf(out, "===== BEGIN gameTime=25702, %d entries, CRC 0x2D406294 =====\n", n)
					for i := range n {
						fmt.Fprintf(out, "[droidUpdate] < droid%d = p0;pos(%d,1,1)\n", i, i+peer)
					}
					fmt.Fprintf(out, "===== END gameTime=25702, %d entries, CRC 0x2D406294 =====\n", n)
					return nil
				})
			}
		}},
	}
}

// ggpoStates writes the two runs of a self-test of GGPO.
func ggpoStates(file string, write func(out *bufio.Writer, peer, n int)) func(t testing.TB, dir string, n int) {
	return func(t testing.TB, dir string, n int) {
		for run, name := range []string{file, strings.Replace(file, "original", "replay", 1)} {
			create(t, filepath.Join(dir, "synclogs", name), func(out *bufio.Writer) error {
				write(out, run, n)
				return nil
			})
		}
	}
}
