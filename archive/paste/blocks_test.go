package paste

import (
	"bytes"
	"errors"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// anyGame knows logs with lines such as "t 12 5f3a", as programs write them that are not known otherwise.
var anyGame = Known{
	Whole: known.Whole, Lines: known.Lines,
	Ticks: func(text []byte) (out []uint64) {
		for line := range bytes.Lines(text) {
			f := bytes.Fields(line)
			if len(f) > 2 && string(f[1]) == "t" { // of a table
				f = []([]byte){f[1], f[0]}
			}
			if len(f) < 2 || string(f[0]) != "t" {
				continue
			}
			n, err := strconv.ParseUint(string(f[1]), 10, 64)
			if err != nil {
				return nil
			}
			out = append(out, n)
		}
		if len(out) < 2 || len(out) < bytes.Count(text, []byte("\n"))/2+1 {
			return nil
		}
		return out
	},
	State: func(text []byte) (out map[string]bool, plain []byte) { // lines such as "hp=41"
		out = map[string]bool{}
		for line := range strings.Lines(string(text)) {
			name, _, ok := strings.Cut(line, "=")
			if !ok {
				return nil, nil
			}
			out[name] = true
		}
		return out, nil
	},
}

// TestBlocks takes logs of no known format out of posts.
func TestBlocks(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"Server log:\n    t 1 aa\n    t 2 bb\n\nClient log (Tom):\n    t 1 aa\n    t 2 bc\n", []string{"Server/t 1 aa\nt 2 bb\n\n", "Client (Tom)/t 1 aa\nt 2 bc\n"}},
		{"Host:\nt 1 aa\nt 2 bb\nGuest:\nt 1 aa\nt 2 bc\n", []string{"Host/t 1 aa\nt 2 bb\n", "Guest/t 1 aa\nt 2 bc\n"}},
		{"mine\n```\nt 1 aa\nt 2 bb\n```\nhis\n```\nt 1 aa\nt 2 bc\n```\n", []string{"post1/t 1 aa\nt 2 bb\n", "post2/t 1 aa\nt 2 bc\n"}},
		{"It goes wrong here:\n\n```\nt 1 aa\nt 2 bb\n```\nAny idea? It is a long text about many other things that is no log at all.\n\nThanks\nto\nall\nof you\n", []string{"/t 1 aa\nt 2 bb\n"}},
		{"## Log of host (`~/.local/turns.log`)\n```\nt 1 aa\nt 2 bb\n```\n\n---\n**jonbee** commented on Feb 11\n\nSame for me. My log (only the end):\n\n```\nt 1 aa\nt 2 bc\n```\n", []string{"host/t 1 aa\nt 2 bb\n", "jonbee/t 1 aa\nt 2 bc\n"}},
		{"A table of many things follows here\nand here\nand here\nand here\n\n| t | 1 | aa |\n|---|---|---|\n| t | 2 | bb |\n", []string{"/t\t1\taa\nt\t2\tbb\n"}},
		{
			"=== [1/2] linux: game.zip, on a machine of the build with a long name ===\nloaded in 8 s\n| 1 | t | aa |\n| 2 | t | bb |\nwarning: slow\n| 3 | t | cc |\nend\n" +
				"=== [2/2] windows: game.zip ===\nloaded in 9 s\n| 1 | t | aa |\n| 2 | t | bb |\nwarning: slow\n| 3 | t | cd |\nend\n",
			[]string{"linux/1\tt\taa\n2\tt\tbb\n3\tt\tcc\n", "windows/1\tt\taa\n2\tt\tbb\n3\tt\tcd\n"},
		},
		{ // without headings
			"| 1 | t | aa |\n| 2 | t | bb |\nwarning: slow\n| 3 | t | cc |\nend\n| 1 | t | aa |\nwarning: slow\n| 2 | t | bb |\n| 3 | t | cd |\n",
			[]string{"post1/1\tt\taa\n2\tt\tbb\n3\tt\tcc\n", "post2/1\tt\taa\n2\tt\tbb\n3\tt\tcd\n"},
		},
		{"It broke.\nHost: t 1 aa\nClient: t 1 aa\n- **Host:** t 2 bb\n- Client: t 2 bc\n", []string{"Host/t 1 aa\nt 2 bb\n", "Client/t 1 aa\nt 2 bc\n"}},
		{"net: t 1 aa\nsim: t 1 ab\nnet: t 2 aa\nsim: t 2 ab\n", nil}, // modules of a program
		{"2,3c2,3\n< t 1 aa\n< t 2 bb\n---\n> t 1 aa\n> t 2 bc\n", []string{"left/t 1 aa\nt 2 bb\n", "right/t 1 aa\nt 2 bc\n"}},
		{"--- leader\n+++ follower\n-t 1 aa\n-t 2 bb\n+t 1 aa\n+t 2 bc\n", []string{"leader/t 1 aa\nt 2 bb\n", "follower/t 1 aa\nt 2 bc\n"}},
		{"- t 1 aa\n- t 2 bb\n", nil},                                                // a list
		{"t 1 aa\nt 2 bb\n\nt 3 aa\nt 4 bb\n", nil},                                  // one log with an empty line
		{"Pass 1:\n  t 1 aa\n  t 2 bb\nPass 2:\n  t 3 aa\n  t 4 bb\n", nil},          // no tick in common
		{"Host:\n```\nt 1 aa\nt 2 bb\n```\nHost:\n```\nt 1 aa\nt 2 bb\n```\n", nil},  // twice the same
		{"Host:\n  t 1 aa\n  t 2 bb\n\nsome text here\n\n  t 1 aa\n  t 2 bc\n", nil}, // of whom?
		{"t 1 aa\nt 2 bb\n\nt 3\nt 4 x\nt\nt\nt\nt\nt\n", nil},                       // a damaged log
		{"host\n```\nhp=1\nx=2\n```\nguest\n```\nhp=2\nx=2\n```\n", []string{"post1/hp=1\nx=2\n", "post2/hp=2\nx=2\n"}},
		{"host\n```\nhp=1\nx=2\n```\nguest\n```\nname=2\nport=2\n```\n", nil}, // two documents of other kinds
		{"host\n```\nhp=1\nx=2\n```\n", nil},
		{"# Only prose\n\nt is a letter\n", nil},
	} {
		p, err := Peel([]byte(c.text), anyGame)
		if c.want == nil {
			if !errors.Is(err, ErrNone) {
				t.Errorf("%q: %v, %v", c.text, p, err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		var got []string
		for _, f := range p.Files {
			got = append(got, f.Folder+"/"+string(f.Text))
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%q\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// TestLabelTicks: states below labels with ticks are files of these ticks.
func TestLabelTicks(t *testing.T) {
	for text, want := range map[string][]string{
		"host at tick 512:\n  hp=41\nGuest (Tom), frame #512:\n  hp=40\n":                                     {"host/state_512.txt", "Guest (Tom)/state_512.txt"},
		"host at tick 512:\n```\nhp=41\n```\n\nhere is the one of guest:\n```\nhp=40\n```\n":                  {"host/paste.txt", "one guest/paste.txt"},
		"host:\n  hp=41\nguest:\n  hp=40\n":                                                                   nil,
		"At slot 4187, a differs from b.\n\na:\n```\ndone=4187\nhp=41\n```\nb:\n```\ndone=4187\nhp=40\n```\n": {"a/state_4187.txt", "b/state_4187.txt"},
		"We have 4187 units.\n\na:\n```\ndone=4187\nhp=41\n```\nb:\n```\ndone=4187\nhp=40\n```\n":             {"a/paste.txt", "b/paste.txt"},
	} {
		p, err := Peel([]byte(text), anyGame)
		var got []string
		if p != nil {
			for _, f := range p.Files {
				got = append(got, f.Folder+"/"+f.Name)
			}
		}
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q: %q, want %q, %v", text, got, want, err)
		}
	}
}

// TestLabelNames makes names of folders of any labels.
func TestLabelNames(t *testing.T) {
	for label, want := range map[string]string{
		"**Client log (Tom):**": "Client (Tom)", "### Host": "Host", "../../etc:": "_.._etc", "log:": "log", "Bob's log:": "Bob's", "\x1b[31mRed\x00:": "_[31mRed_", "...:": "post",
	} {
		if got, _ := named([]byte(label)); got != want {
			t.Errorf("%q: %q, want %q", label, got, want)
		}
	}
	if long, _ := named([]byte(strings.Repeat("ä", 29) + ":")); len(long) > maxLabel {
		t.Error(long)
	}
}
