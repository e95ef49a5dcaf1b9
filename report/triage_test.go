package report

import (
	"bytes"
	"os"
	"testing"
)

// TestSavedReport reads a saved report and writes it again: nothing may be lost.
func TestSavedReport(t *testing.T) {
	const path = "testdata/triage.json"
	saved, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ReadReport(bytes.NewReader(saved), path)
	if err != nil {
		t.Fatal(err)
	}
	var again bytes.Buffer
	if err := WriteJSON(&again, r); err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(again.Bytes(), saved) {
		t.Error("a saved report is another one after it was read")
	}
	for _, bad := range []string{"", "{}", "[]", `{"schema":"desynctool.bisect/1"}`, `{"schema":1}`} {
		if _, err := ReadReport(bytes.NewReader([]byte(bad)), "x.json"); err == nil {
			t.Errorf("%q was read as a report", bad)
		}
	}
}
