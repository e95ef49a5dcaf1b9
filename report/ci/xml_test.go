package ci

import (
	"encoding/xml"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestXMLText: text is escaped as the standard library does it, but for line ends.
func TestXMLText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.OneOf(rapid.String(), rapid.StringOf(rapid.RuneFrom([]rune("<>&\"'\t\r\n\x00\x1b\uffff\ufffd\U0010ffffa")))).Draw(t, "text")
		var want strings.Builder
		if err := xml.EscapeText(&want, []byte(text)); err != nil {
			t.Fatal(err)
		}
		if got := xmlText(text); got != strings.ReplaceAll(want.String(), "&#xA;", "\n") {
			t.Fatalf("%q is escaped as %q, expected %q", text, got, want.String())
		}
	})
}
