package formats_test

import (
	"bytes"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive/paste"
	"github.com/desynctool/desynctool/report/formats"
)

// TestPastedTraces: a text trace with its header is a file wherever it is, so that nothing else is searched for in it.
// Lines of checksums without one are in logs, too.
func TestPastedTraces(t *testing.T) {
	lines := strings.Repeat("tick=1 scope=Combat sum=0x01\n", 3)
	known := formats.Pasted()
	if got := known.Whole([]byte("%desynctool trace 1\n" + lines)); got != "text-trace" {
		t.Errorf("with its header it is %q", got)
	}
	if got := known.Whole([]byte(lines)); got != "" {
		t.Errorf("without a header it is %q", got)
	}
}

// TestPastedRest: the last lines of a report, which a report without a state begins with, do not hide those before them.
func TestPastedRest(t *testing.T) {
	report, err := os.ReadFile("../../testdata/openra/syncreport-2023-11-05T181503Z-1.log")
	if err != nil {
		t.Fatal(err)
	}
	for n := 5; n < 20; n++ {
		rest := bytes.Join(bytes.SplitAfter(report, []byte("\n"))[n:], nil)
		found, err := paste.Peel(rest, formats.Pasted())
		if err != nil || !found.Alone() || bytes.Count(found.Files[0].Text, []byte("\n")) < bytes.Count(rest, []byte("\n")) {
			t.Errorf("from line %d: %+v, %v", n+1, found, err)
		}
	}
}

// TestPastedFields: two machines' states with a field on each line, and tables with a column for each machine, are the files of
// these machines.
func TestPastedFields(t *testing.T) {
	const fence = "```\n"
	for text, want := range map[string][]string{
		"Host:\n" + fence + "tick: 418\nhash: 0xaabbccdd\nhp: 190\n" + fence + "Guest:\n" + fence + "tick: 418\nhash: 0xaabbccde\nhp: 191\n" + fence: {
			"Host/paste.txt tick: 418|hash: 0xaabbccdd|hp: 190|", "Guest/paste.txt tick: 418|hash: 0xaabbccde|hp: 191|"},
		"host at tick 418:\n" + fence + "hash = a1bbccdd\nhp = 190\n" + fence + "guest at tick 418:\n" + fence + "hash = a1bbccde\nhp = 191\n" + fence: {
			"host/paste.txt tick: 418|hash: a1bbccdd|hp: 190|", "guest/paste.txt tick: 418|hash: a1bbccde|hp: 191|"},
		"east:\n" + fence + "[08:31:22 INFO sim] frozen: 41\n  hash: a1bbccdd\n" + fence + "west:\n" + fence + "[08:31:23 INFO sim] game frozen: 41\n  hash: a1bbccde\n" + fence: {
			"east/paste.txt frozen: 41|hash: a1bbccdd|", "west/paste.txt frozen: 41|hash: a1bbccde|"},
		"| | Local | Host |\n|---|---|---|\n| Hash | `1150931754` | `1150931751` |\n| Tick | 3266138 | 3266138\n": {
			"Local/paste.txt Hash: 1150931754|Tick: 3266138|", "Host/paste.txt Hash: 1150931751|Tick: 3266138|"},
		"| Field | Local | Host |\n|---|---|---|\n| version | 1.2 | 1.3 |\n| hash | 12345678 | 12345679 |\n":                                   nil,
		"Host:\n" + fence + "os: Linux\nmods: 3\n" + fence + "Guest:\n" + fence + "os: Windows\nmods: 3\n" + fence:                             nil,
		"Host:\n" + fence + "gold: 3\nwood: 4\n" + fence + "Guest:\n" + fence + "gold: 3\nwood: 5\n" + fence:                                   nil, // of which tick?
		"Host:\n" + fence + "tick: 418\nhash: aabbccdd\nand it went on\n" + fence + "Guest:\n" + fence + "tick: 418\nhash: aabbccde\n" + fence: nil,
	} {
		p, err := paste.Peel([]byte(text), formats.Pasted())
		var got []string
		if p != nil {
			for _, f := range p.Files {
				got = append(got, f.Folder+"/"+f.Name+" "+strings.ReplaceAll(string(f.Text), "\n", "|"))
			}
		}
		if !slices.Equal(got, want) || (err == nil) != (want != nil) {
			t.Errorf("%q\n got %q, %v\nwant %q", text, got, err, want)
		}
	}
}
