package document

import (
	"bytes"
	"os"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/pinned"
)

func filled(t *testing.T) *Report {
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
	if err := filled(t).Markdown(&got); err != nil {
		t.Fatal(err)
	}
	pinned.File(t, "testdata/triage.md.golden", got.Bytes())
}
