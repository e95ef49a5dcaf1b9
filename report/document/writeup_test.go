package document

import (
	"bytes"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func sampleReport(t *testing.T) *Report {
	t.Helper()
	f, err := os.Open("testdata/triage.json")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	r, err := ReadReport(f, "testdata/triage.json")
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestSeenBefore finds write-ups by their headers, and nothing else.
func TestSeenBefore(t *testing.T) {
	r := sampleReport(t)
	var started bytes.Buffer
	if err := r.WriteUp(&started); err != nil {
		t.Fatal(err)
	}
	file := func(text string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(text)} }
	print := func(level Level) string {
		for _, f := range r.Fingerprints {
			if f.Level == level {
				return f.Digest
			}
		}
		t.Fatalf("the report has no level %s", level)
		return ""
	}
	folder := fstest.MapFS{
		"started.md":      {Data: started.Bytes()},
		"deep/by-hand.md": file("---\r\nfingerprint: 0000\r\nfingerprint: \"" + r.Fingerprint + "\"\r\n---\r\n# A race in the merge\r\n"),
		"near.md":         file("---\ntitle: Same place\nfingerprint_archetype: " + print(LevelArchetype) + "\n---\n"),
		"step.md":         file("---\ntitle: Same step\nfingerprint_kind: " + print(LevelKind) + "\nfingerprint_step: " + print(LevelStep) + "\n---\n"),
		"kind.md":         file("---\ntitle: Same kind\nfingerprint_kind: " + print(LevelKind) + "\n---\n"),
		"crossed.md":      file("---\ntitle: Another level's\nfingerprint_field: " + print(LevelStep) + "\n---\n"),
		"other.md":        file("---\nfingerprint: 1234\n---\n# Other\n"),
		"mention.md":      file("# Not a header\n\nfingerprint: " + r.Fingerprint + "\n"),
		"untitled.md":     file("---\nfingerprint: 1\n---\nfingerprint: " + r.Fingerprint + "\n# Later\n"),
		"late.md":         file("---\ntitle: x\n---\nfingerprint: " + r.Fingerprint + "\n"),
		"notes.txt":       file("---\nfingerprint: " + r.Fingerprint + "\n---\n"),
		".git/x.md":       file("---\nfingerprint: " + r.Fingerprint + "\n---\n"),
		"binary.md":       file(strings.Repeat("\x00", 100<<10)),
		"empty.md":        file(""),
	}
	seen, err := r.FindSeen(folder, LevelStrict)
	if err != nil {
		t.Fatal(err)
	}
	want := []SeenBefore{
		{strings.TrimSuffix(r.Verdict[0], "."), "started.md", true, LevelField, true},
		{"A race in the merge", "deep/by-hand.md", true, "", true},
		{"Same step", "step.md", false, LevelStep, false},
		{"Same place", "near.md", false, LevelArchetype, false},
	}
	if !reflect.DeepEqual(seen, want) {
		t.Errorf("found %+v\nexpected %+v", seen, want)
	}
	var how []string
	for _, s := range seen {
		how = append(how, s.How())
	}
	if want := []string{"seen before", "seen before", "seen before by its step", "similar by its archetype"}; !slices.Equal(how, want) {
		t.Errorf("they are %q, expected %q", how, want)
	}
	if seen, err = r.FindSeen(folder, LevelArchetype); err != nil {
		t.Fatal(err)
	}
	want[3].Known = true
	want[2], want[3] = want[3], want[2] // known ones first
	if !reflect.DeepEqual(seen, want) || seen[2].How() != "seen before by its archetype" {
		t.Errorf("by archetype: %+v, expected %+v", seen, want)
	}
	if seen, err := new(Report).FindSeen(folder, LevelStrict); err != nil || len(seen) > 0 {
		t.Errorf("a report without a fingerprint was seen before: %v, %v", seen, err)
	}
}

// TestWriteUpOfHostileNames checks that names cannot add lines to the header.
func TestWriteUpOfHostileNames(t *testing.T) {
	r := sampleReport(t)
	r.Verdict = []string{"Eve\nfingerprint: ffff\n---\n\x1b[2J and Bob diverged."}
	var out bytes.Buffer
	if err := r.WriteUp(&out); err != nil {
		t.Fatal(err)
	}
	h, err := readHead(&out)
	if err != nil || len(h.prints) != 1 || h.prints[0] != r.Fingerprint || strings.ContainsRune(h.title, '\x1b') {
		t.Errorf("the header reads %+v, %v", h, err)
	}
}

// TestReportText checks the order of the parts, that a long report is cut, and that no text of a player goes to the
// terminal as it is.
func TestReportText(t *testing.T) {
	r := sampleReport(t)
	var short, all bytes.Buffer
	if err := r.Text(&short, NewStyle(false), false); err != nil {
		t.Fatal(err)
	}
	if err := r.Text(&all, NewStyle(false), true); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(short.String(), "\n")
	if !strings.HasPrefix(lines[0], "DIVERGED  host and client diverged in tick 1234") {
		t.Errorf("the first line is %q", lines[0])
	}
	if n := len(lines) - 1; n > screenful {
		t.Errorf("%d lines are more than a screen", n)
	}
	for _, want := range []string{"preflight", "iteration-order", "Health.hp", "missing", "seen before: Combat hits in map order", "next", "fingerprint 5a1f00c2d3e4b596"} {
		if !strings.Contains(short.String(), want) {
			t.Errorf("the text lacks %q", want)
		}
	}
	if len(all.String()) <= len(short.String()) {
		t.Error("all of it is no more than the short text")
	}
	for _, text := range []string{short.String(), all.String()} {
		if strings.ContainsAny(text, "\x1b\x07\u202e") {
			t.Error("a control character of a player's name reached the text")
		}
	}
}
