package prose

import (
	"strings"
	"testing"
)

// TestPieces: lines end in long words alone, after marks and before humps.
func TestPieces(t *testing.T) {
	for text, want := range map[string]string{
		"":                                       "",
		"arena state":                            "arena state",
		"Movement: Position":                     "Movement: Position",
		"Position.x":                             "Position.x",
		"in UnitAI.targetPosition.x now":         "in Unit|AI.|target|Position.|x now",
		"simulation/components/UnitMotion.js":    "simulation/|components/|Unit|Motion.|js",
		"HTTPServerConnection2Last":              "HTTP|Server|Connection2Last",
		"one_two_three_four_five":                "one_|two_|three_|four_|five",
		"0123456789abcdef0123456789":             "0123456789abcdef0123456789",
		"std::vector<Übergröße::LangerName>":     "std::|vector<Übergröße::|Langer|Name>",
		"2026-02-05T10:30:00Z to 1.4.10.2345678": "2026-02-05T10:30:00Z to 1.4.10.2345678",
		"  begins/with_a_blank_and_ends ":        "  begins/|with_|a_|blank_|and_|ends ",
		"..................................dots": "..................................|dots",
		"ends in a mark//////////":               "ends in a mark//////////",
	} {
		got := Pieces(text)
		if strings.Join(got, "|") != want || strings.Join(got, "") != text {
			t.Errorf("%q: %q, expected %q", text, strings.Join(got, "|"), want)
		}
	}
}

func FuzzPieces(f *testing.F) {
	f.Add("a.b")
	f.Add("\xff\xfe.............aB")
	f.Fuzz(func(t *testing.T, text string) {
		for i, p := range Pieces(text) {
			if p == "" && i > 0 {
				t.Errorf("%q has an empty piece", text)
			}
		}
		if got := strings.Join(Pieces(text), ""); got != text {
			t.Errorf("%q, expected %q", got, text)
		}
	})
}
