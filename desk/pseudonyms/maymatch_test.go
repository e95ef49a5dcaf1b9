package pseudonyms

import (
	"testing"

	"pgregory.net/rapid"
)

// Whatever the patterns find, mayMatch lets through.
func TestMayMatch(t *testing.T) {
	pieces := []string{
		"10.1.2.3", "fe80::1", "1:2:3", "STEAM_1:0:12", "[u:1:7]", "76561197960287930", "a@b.c", "C:\\Users\\", "/home/", "\\documents and settings\\", "x", "7656119", "0123456789", "STEAM_", "0:1:", "[U:1:", "]",
		"fe80:", ":", "::1", ".", "1", "22", "127.0.0.", " ", "/", "\\", "ſ", "K", "/uſers/", "é", "@", "7",
	}
	check := func(text string) {
		if patterns.MatchString(text) && !mayMatch(text) {
			t.Errorf("%q has something that would not be looked for", text)
		}
	}
	for _, a := range pieces {
		for _, b := range pieces {
			check(a + b)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		text := ""
		for _, p := range rapid.SliceOfN(rapid.SampledFrom(pieces), 1, 8).Draw(t, "pieces") {
			text += p
		}
		if patterns.MatchString(text) && !mayMatch(text) {
			t.Fatalf("%q has something that would not be looked for", text)
		}
	})
	if mayMatch("snapshots/client/desync_0000000000000001_0000000021.snap") {
		t.Error("a path without anybody in it is looked through")
	}
}
