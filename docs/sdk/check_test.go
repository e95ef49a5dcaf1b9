package sdk_test

import (
	"strings"
	"testing"
)

// keepsRules checks that nothing in a folder breaks a rule of docs/rules.md.
func keepsRules(t *testing.T, dir string) {
	t.Helper()
	if out := run(t, 0, "check", dir); strings.Count(out, "CONFORMS") < 4 {
		t.Errorf("few files are checked:\n%s", out)
	}
}

// TestCChecked: files that the C examples write keep every rule of the formats.
func TestCChecked(t *testing.T) {
	thorough(t)
	skirmish := compile(t, "c/skirmish.c", "-O2")
	for _, args := range [][]string{nil, {"--fault", faultTick}} {
		dir, _ := play(t, skirmish, args...)
		keepsRules(t, dir)
	}
	game := arena(t)
	for _, args := range [][]string{{"--peers", "3", "--ticks", "120", "--trace", "column"}, {"--seed", "7", "--fault", "prediction-leak/Slot@80"}} {
		dir, _ := play(t, game, args...)
		keepsRules(t, dir)
	}
}

// TestCSharpChecked: files that the C# examples write keep every rule of the formats.
func TestCSharpChecked(t *testing.T) {
	thorough(t)
	exe := compileCSharp(t, csharpGame, csharpSDK)
	dir, _ := recordCSharp(t, exe, "--fault", "150")
	keepsRules(t, dir)
	trade := compileCSharp(t, tradeGame, csharpSDK)
	dir, _ = recordTrade(t, trade, 7, "--ticks", "200", "--reconnect", "client@60+15", "--late", "visitor@90")
	keepsRules(t, dir)
}
