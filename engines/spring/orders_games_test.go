package spring_test

import (
	"bytes"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/engines/spring"
)

const (
	gameA = "0123456789abcdef0123456789abcdef"
	gameB = "fedcba9876543210fedcba9876543210"
)

// TestGames puts logs after each other.
func TestGames(t *testing.T) {
	start := "[t=00:00:00.000926] Spring\n[t=00:00:01.000000] something\n"
	named := func(id string) string { return "[t=00:00:02.000000][f=-000001] GameID: " + id + "\n" }
	const rest = "\tof a longer line\n[t=00:00:09.500000][f=0000030] more\n"
	for name, test := range map[string]struct {
		log  []string // each of a game
		want []string // their ids
	}{
		"one":                      {[]string{start + named(gameA) + rest}, []string{gameA}},
		"one without a name":       {[]string{start + rest}, []string{""}},
		"two":                      {[]string{start + named(gameA) + rest, start + named(gameB) + rest}, []string{gameA, gameB}},
		"two played by one run":    {[]string{start + named(gameA) + rest, "[t=00:00:10.000000] GameID: " + gameB + "\n[t=00:00:11.000000] end\n"}, []string{gameA, gameB}},
		"the same again":           {[]string{start + named(gameA) + rest + start + named(gameA) + rest}, []string{gameA}},
		"there and back":           {[]string{start + named(gameA) + rest, start + named(gameB) + rest, start + named(gameA) + rest}, []string{gameA, gameB, gameA}},
		"breaks off":               {[]string{start + named(gameA) + rest, start + named(gameB) + "[t=00:00:"}, []string{gameA, gameB}},
		"not a name":               {[]string{start + named(gameA) + named("0123") + rest}, []string{gameA}},
		"what a player wrote":      {[]string{start + named(gameA) + "[t=00:00:03.000000][f=0000001] <Bob> GameID: " + gameB + "\n"}, []string{gameA}},
		"named after a first game": {[]string{start + rest + start + named(gameA)}, []string{gameA}},
	} {
		t.Run(name, func(t *testing.T) {
			whole := strings.Join(test.log, "")
			var want []spring.LoggedGame
			at, line := int64(0), int64(1)
			for i, text := range test.log {
				g := spring.LoggedGame{ID: test.want[i], From: at, To: at + int64(len(text)), Line: line}
				at, line = g.To, line+int64(strings.Count(text, "\n"))
				want = append(want, g)
			}
			want[len(want)-1].To = math.MaxInt64
			got, err := spring.Games(strings.NewReader(whole), "x")
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
		})
	}
	if _, err := spring.Games(strings.NewReader("nothing\n"), "x"); err == nil {
		t.Error("whatever is not an infolog has games")
	}
}

// FuzzGames compares the text before each game with the result of reading the infolog.
func FuzzGames(f *testing.F) {
	f.Add([]byte("[t=00:00:00.000926] Spring\n[t=00:00:02.000000] GameID: " + gameA + "\n[t=00:00:01.000000] x\n[t=00:00:02.000000] GameID: " + gameB + "\n"))
	f.Add([]byte("[t=00:00:00.000926] Spring\n[t=0"))
	f.Fuzz(func(t *testing.T, b []byte) {
		games, err := spring.Games(bytes.NewReader(b), "x")
		if err != nil {
			return
		}
		at := int64(0)
		for i, g := range games {
			if g.From != at || g.To <= g.From || g.Line != int64(1+bytes.Count(b[:g.From], []byte("\n"))) || i > 0 && g.ID == games[i-1].ID {
				t.Fatalf("%+v", games)
			}
			at = g.To
			log, err := spring.ReadInfolog(bytes.NewReader(b[g.From:min(g.To, int64(len(b)))]), "x")
			if log != nil && (log.Next != "" || log.GameID != g.ID) {
				t.Fatalf("%s, then %q in the part of %s: %v", log.GameID, log.Next, g.ID, err)
			}
		}
	})
}
