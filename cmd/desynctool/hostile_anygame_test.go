package main

import (
	"bufio"
	"fmt"
	"strings"
)

// hostileAnyGame are states and logs in ordinary notations with too much of one thing.
func hostileAnyGame() []hostile {
	of := func(name, file string, size int, write func(out *bufio.Writer, peer, n int)) hostile {
		h := twoTexts(name, file, size, write)
		h.name, h.commands = "anygame/"+name, []string{"triage", "bisect", "doctor", "triage --format html=/dev/null"}
		return h
	}
	// list writes a state with so many pieces, in which %[1]d is the number of the piece and %[2]d of the peer.
	list := func(begin, piece, end string) func(out *bufio.Writer, peer, n int) {
		return func(out *bufio.Writer, peer, n int) {
			fmt.Fprint(out, begin)
			for i := range n {
				fmt.Fprintf(out, piece, i, peer)
			}
			fmt.Fprint(out, end)
		}
	}
	return []hostile{
		of("equal-names", "state_1.json", 20_000, list(`{"tick": 1, "u": {`, `"a": %d%d, `, `}}`)),
		of("equal-names-of-a-row", "state_1.json", 20_000, list(`{"tick": 1, "u": [{"id": 1, `, `"a": %d%d, `, `}, {"id": 2, "a": 1}]}`)),
		of("equal-ids", "state_1.json", 20_000, list(`{"tick": 1, "u": {`, `"7": {"hp": %d%d}, `, `}}`)),
		of("names", "state_1.json", 20_000, list(`{"tick": 1, `, `"k%dx": %d, `, `}`)),
		of("rows-with-own-columns", "state_1.json", 10_000, list(`{"tick": 1, "u": [`, `{"id": %[1]d, "f%[1]dq": %[2]d}, `, `]}`)),
		of("tables", "state_1.json", 10_000, list(`{"tick": 1, `, `"t%dq": [{"id": 1, "hp": %d}], `, `}`)),
		of("lists-of-rows", "state_1.json", 10_000, list(`{"tick": 1, "u": [`, `{"id": %d, "in": [{"id": 1, "hp": %d}]}, `, `]}`)),
		of("kinds", "states.json", 10_000, list(`[`, `{"tick": 1, "kind": "k%[1]d", "id": %[1]d, "hp": %[2]d}, `, `]`)),
		of("peers", "states.json", 500, list(`[`, `{"tick": 1, "peer": "p%d", "u": [{"id": 1, "hp": %d}]}, `, `]`)),
		of("a-long-name-above", "state_1.json", 100_000, func(out *bufio.Writer, peer, n int) {
			fmt.Fprintf(out, `{"tick": 1, "%s": {"a": {`, strings.Repeat("n", n))
			for i := range 60 {
				fmt.Fprintf(out, `"k%dx": {"b": [{"c": %d}]}, `, i, peer)
			}
			fmt.Fprint(out, "}}}")
		}),
		of("documents", "states.jsonl", 2000, list("", "{\"tick\": %d, \"u\": [{\"id\": 1, \"hp\": %d}]}\n", "")),
		of("aliases", "state_1.yaml", 2000, list("tick: 1\nbase: &a {x: 1, y: 2}\nu:\n", "  - {id: %d, hp: %d, at: *a}\n", "")),
		of("aliases-of-aliases", "state_1.yaml", 20, list("tick: 1\na0: &a0 [x, x, x]\n", "b%d: %d\n", "a1: &a1 [*a0, *a0, *a0, *a0]\na2: &a2 [*a1, *a1, *a1, *a1]\na3: [*a2, *a2, *a2, *a2]\n")),
		of("attributes", "state_1.xml", 10_000, list(`<state tick="1" `, `a%dq="%d" `, `/>`)),
		of("elements-by-turns", "state_1.xml", 10_000, list(`<state tick="1">`, `<a i="%[1]d"/><b i="%[1]d" j="%[2]d"/>`, `</state>`)),
		of("dotted-keys", "state_1.toml", 5000, list("tick = 1\n", "a.b%d.c = %d\n", "")),
		of("sections", "state_1.ini", 10_000, list("[world]\ntick=1\nrain=a lot\n", "[s%dq]\nhp=%d\n", "")),
		of("equal-paths", "state_1.txt", 10_000, list("tick = 1\nw.x = 1\nw.y = 2\nw.z = 3\n", "a.b = %d%d\n", "")),
		of("fields", "state_1.txt", 10_000, list("tick = 1\nw.x = 1\nw.y = 2\nw.z = 3\n", "u[%[1]d].f%[1]dq = %[2]d\n", "")),
		of("sums-of-a-line", "game.log", 500, func(out *bufio.Writer, peer, n int) {
			for tick := range 20 {
				fmt.Fprintf(out, "frame %d", tick)
				for k := range n {
					fmt.Fprintf(out, " sum%dq %08x", k, uint32(tick*k+peer)*2654435761)
				}
				fmt.Fprintln(out)
			}
		}),
		of("words-of-sums", "game.log", 20_000, list("", "frame checksum hash tick %d%d\n", "")),
		of("shapes", "game.log", 10_000, list("", "frame %[1]d state %08[1]x x%[2]d y%[1]d\nw%[1]dq %[1]d\n", "")),
	}
}
