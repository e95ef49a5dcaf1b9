package pseudonyms

import (
	"strings"
	"testing"
)

func testScrubber(t testing.TB) *Scrubber {
	k, err := ParseKey(keyPrefix+strings.Repeat("2a", KeySize), "key")
	if err != nil {
		t.Fatal(err)
	}
	return NewScrubber(k)
}

// What is an address, and what looks like one and is not.
func TestAddresses(t *testing.T) {
	s := testScrubber(t)
	versions := map[string]bool{"31.0.15.3129": true, "1.2.3.4": true}
	for text, found := range map[string][]string{
		"connected to 203.0.113.7:8452 as host":       {"203.0.113.7:8452"},
		"203.0.113.7, 198.51.100.23.":                 {"203.0.113.7", "198.51.100.23"},
		"[2001:db8::17]:6112 left":                    {"[2001:db8::17]:6112"},
		"fe80::1ff:fe23:4567:890a%eth0":               {"fe80::1ff:fe23:4567:890a%eth0"},
		"at 2001:db8:1:2:3:4:5:6 now":                 {"2001:db8:1:2:3:4:5:6"},
		"::ffff:203.0.113.7":                          {"::ffff:203.0.113.7"},
		"mail anna.b+x@example.co.uk.":                {"anna.b+x@example.co.uk"},
		"steam 76561198000000001 and STEAM_0:1:12345": {"76561198000000001", "STEAM_0:1:12345"},

		"127.0.0.1:27015, ::1, 0.0.0.0 and 255.255.255.255": nil,
		"driver 31.0.15.3129, build 1.2.3.4":                nil,
		"version 10.0.0.1 of the game":                      nil,
		"1.2.3.4.5 and 300.1.2.3 and 1.2.3":                 nil,
		"at 12:34:56.789, and 2026:11:22":                   nil,
		"std::vector, add::bed, Game::a1, de::ad":           nil,
		"0x7f::3 and a:b:c":                                 nil,
		"peers@tick 12":                                     nil,
	} {
		want := text
		for _, f := range found {
			want = strings.Replace(want, f, s.key.Address(f), 1)
		}
		if got := s.addresses(text, versions); got != want {
			t.Errorf("%q became %q, expected %q", text, got, want)
		}
	}
	for text, want := range map[string]string{
		`C:\Users\Anna Lena\game`:                 `C:\Users\` + s.key.Player("Anna Lena") + `\game`,
		"/home/anna/.local/share":                 "/home/" + s.key.Player("anna") + "/.local/share",
		"/Users/anna/Library and /Users/Shared/x": "/Users/" + s.key.Player("anna") + "/Library and /Users/Shared/x",
		"/home/runner/work":                       "/home/runner/work",
	} {
		if got := s.addresses(text, nil); got != want {
			t.Errorf("%q became %q, expected %q", text, got, want)
		}
	}
}

func TestReplaceWhole(t *testing.T) {
	for _, test := range [][4]string{
		{"Ann met Anna, Ann.", "Ann", "x", "x met Anna, x."},
		{"a.*b and aXb", "a.*b", "x", "x and aXb"},
		{"Zoë and Zoëlla", "Zoë", "x", "x and Zoëlla"},
		{"Zoe and Zoe\u0308", "Zoe", "x", "x and Zoe\u0308"},
		{"$(ls)$(ls)", "$(ls)", "x", "xx"},
		{"", "a", "x", ""},
	} {
		if got := replaceWhole(test[0], test[1], test[2]); got != test[3] {
			t.Errorf("%q without %q is %q, expected %q", test[0], test[1], got, test[3])
		}
	}
}
