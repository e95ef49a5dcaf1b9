package statements

import (
	"fmt"
	"strings"
	"testing"
)

// told describes the claims of a text.
func told(text string) string {
	var out []string
	log := Told([]byte(text), "post.md")
	for _, c := range log.Claims {
		s := c.Text
		if !c.Told {
			s = "values"
		}
		if c.HasTick {
			s += " (" + log.Dialect.TickName(c.Tick) + ")"
		}
		if c.Of != "" {
			s += " of " + c.Of
		}
		for _, v := range c.Values {
			s += fmt.Sprintf(" %s=%s", v.Peer, v.Value)
		}
		out = append(out, s)
	}
	return strings.Join(out, "; ")
}

func TestTold(t *testing.T) {
	for text, want := range map[string]string{
		// Sentences.
		"# City desyncs early\n\nWe play with three mods.\nThe game began in turn 80, and the desync came in turn 93 (I saw it first).\n": "" +
			"The game began in turn 80, and the desync came in turn 93 (I saw it first). (turn 93); City desyncs early",
		"# A desync of Kim\nA desync of Kim.":                       "A desync of Kim",
		"Why is my physics not deterministic? It worked on Monday.": "Why is my physics not deterministic?",
		"# Desync of position\nMy client thought that I had passed the line, while the server thought that I had missed it.\n![oos](https://x.org/desync.png)": "" +
			"My client thought that I had passed the line, while the server thought that I had missed it.; Desync of position",
		"Whenever I join late the clients are out of sync.": "Whenever I join late the clients are out of sync.",
		"# Crash when I open the shop\nIt closes at once.":  "",
		"":                         "",
		"The file is 3 MB. Hello!": "",
		"INCONCLUSIVE  Nothing shows a desync.\nThe cause of the desync is not known.": "",

		// Values on one line.
		"# Root mismatch\nHash: given=a4efcabf0dd2c4075882, expected=dcfa4fd44da5b9319cf6": "values actual=a4efcabf0dd2c4075882 expected=dcfa4fd44da5b9319cf6",
		"-> Assertion failed. counter mismatch for 'sys_read'; expected 52881, got 52880":  "values of counter expected=52881 actual=52880",
		"Not deterministic: spin.z bits be29dcf0 vs 3e29dcf0, the sign only":               "values of spin.z one side=be29dcf0 the other side=3e29dcf0",
		"A desync, see\nclaimed ledger [seq=27644519, hash=4366c2] does not agree with ours [seq=27644519, hash=ca621b]": "" +
			"values (ledger 27644519) one side=4366c2 the other side=ca621b",
		"Determinism: 0: mismatch at byte 0x5F6 (0x35 vs 0x69). Path: gs.Timer": "values of gs.Timer one side=0x35 the other side=0x69",
		"Determinism again\n  clock_src_ms  8300 vs 8290":                       "values of clock_src_ms one side=8300 the other side=8290",
		"Our tests expected 3 apples and got 4 apples.":                         "",

		// Values of two sides below each other.
		"I see a desync like\nLocal heading (laptop): 87\n\nRemote heading (phone): 87.25\n":                        "values of heading local=87 remote=87.25",
		"# nondeterminism in test X\nSeed: 7\nChecksum 1: 82431\nChecksum 2: 76878":                                 "values of Checksum one side=82431 the other side=76878",
		"# desync at frame 137\n  win:    normal b7979754 depth bbb5c426\n  linux:  normal b7979754 depth bbb5c526": "values (frame 137) of depth win=bbb5c426 linux=bbb5c526",
		"# desync\nclient 1: 55001 units\nclient 2: 55001 units":                                                    "desync",
		"# Root hash not equal\nHash not equal\nc788724dafa5ada309c55f62\n2849d4064e84f951cb7686cd":                 "values one side=c788724dafa5ada309c55f62 the other side=2849d4064e84f951cb7686cd",
		"A desync of version\nLocal version: 12\nRemote name: 14":                                                   "A desync of version",
	} {
		if got := told(text); got != want {
			t.Errorf("%q:\n%s\nwant\n%s", text, got, want)
		}
	}
}

// TestToldLimits reads no text that no person would write.
func TestToldLimits(t *testing.T) {
	if got := told("desync\x00"); got != "" {
		t.Errorf("binary: %s", got)
	}
	if got := told("A desync." + strings.Repeat(" ", MaxTold)); got != "" {
		t.Errorf("long: %s", got)
	}
	if got := Told([]byte("A desync.\nAnother desync.\nOne more desync.\nWe had a desync.\n"), "x"); len(got.Claims) != mostTold {
		t.Errorf("%d claims, want %d", len(got.Claims), mostTold)
	}
}

// TestToldLinks names the files that a text links to.
func TestToldLinks(t *testing.T) {
	for text, want := range map[string]string{
		"A desync, see [logs.zip](https://github.com/a/b/files/1/logs.zip) and https://pastebin.com/md2VWphi.": "what it links to is not here: " +
			"https://github.com/a/b/files/1/logs.zip, https://pastebin.com/md2VWphi",
		"A desync: ![oos](https://example.org/a.zip.png)":               "",
		"A desync. https://example.org/a.log https://example.org/a.log": "what it links to is not here: https://example.org/a.log",
		"No game. https://example.org/a.zip":                            "",
	} {
		if got := Told([]byte(text), "x").Lost; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func FuzzTold(f *testing.F) {
	f.Add("# desync at frame 137\nwin: normal b7979754\nlinux: normal b7979755\n")
	f.Add("Hash: given=a4efcabf0dd2c407, expected=dcfa4fd44da5b931\nchecksum mismatch (local 5f3a91c7")
	f.Add("Local (a): 1\nRemote (b): 2 desync desync\nRun 1: 5\nRun 2: 6")
	f.Add("Lncal (a): 1\nRemote (b): 2 desync desync\nRun 1: 5\nRun 2: #")
	f.Add("Run 1: 5\nRun 2: \x00 desync\n1 2\n1 \x00\n")
	f.Fuzz(func(t *testing.T, text string) {
		for _, c := range Told([]byte(text), "x").Claims {
			if !c.Quoted || c.Told && len(c.Values) > 0 || len(c.Values) == 1 || len(c.Text) > maxText+3 || c.Pos.Line < 1 {
				t.Errorf("%+v", c)
			}
		}
	})
}
