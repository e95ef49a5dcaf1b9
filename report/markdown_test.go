package report

import (
	"bytes"
	"flag"
	"os"
	"testing"
)

var update = flag.Bool("update", false, "rewrite testdata/*.golden")

func sample(t *testing.T) *Report {
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

func TestMarkdownSample(t *testing.T) {
	var got bytes.Buffer
	if err := sample(t).Markdown(&got); err != nil {
		t.Fatal(err)
	}
	const path = "testdata/triage.md.golden"
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}
