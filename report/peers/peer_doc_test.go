package peers

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/document"
)

// TestPeerReportPage checks docs/peer-report.md: its example is the report of that state, its hashes match the
// preimages next to them, and all reports in it can be read and merged.
func TestPeerReportPage(t *testing.T) {
	path := filepath.Join("..", "..", "docs", "peer-report.md")
	page := string(readTestFile(t, path))
	blocks := regexp.MustCompile("(?s)```json\n(.*?)```").FindAllStringSubmatch(page, -1)
	if len(blocks) != 2 {
		t.Fatalf("%d reports in %s", len(blocks), path)
	}
	written, err := New(0, document.Diverged, hold(t, peerWorld("host", 50)), []string{"Infantry"}, &Excerpt{
		Orders: []document.ReportedOrder{{Tick: 12, Player: 1, Sequence: 5, Kind: "move", Payload: "92cd1b"}, {Tick: 14, Player: 0, Sequence: 6, Kind: "chat", Payload: "a2", Local: true}},
		Window: &Window{10, 19},
	})
	if err != nil {
		t.Fatal(err)
	}
	var out, want, example bytes.Buffer
	if err := errors.Join(document.WriteJSON(&out, written), json.Compact(&want, out.Bytes()), json.Compact(&example, []byte(blocks[0][1]))); err != nil {
		t.Fatal(err)
	}
	if example.String() != want.String() {
		t.Errorf("%s has another example than\n%s", path, &want)
	}
	var reports []*Report
	for _, block := range blocks {
		r, err := Read(strings.NewReader(block[1]), path)
		if err != nil {
			t.Fatal(err)
		}
		if c := r.Contradictions(); len(c) > 0 {
			t.Errorf("%q", c)
		}
		reports = append(reports, r)
	}
	m, err := Merge(reports, []string{"a", "b"})
	if err != nil || len(m.Points) != 1 || len(m.Points[0].Groups) != 1 {
		t.Errorf("%+v, %v", m, err)
	}

	// Preimage → hash, with nothing but the hash function.
	sums := regexp.MustCompile(`(?m)^    ((?:[0-9a-f]+ )+)→ ([0-9a-f]{64})$`).FindAllStringSubmatch(page, -1)
	if len(sums) != 3 {
		t.Fatalf("%d hashes in %s", len(sums), path)
	}
	for _, s := range sums {
		preimage, err := hex.DecodeString(strings.ReplaceAll(s[1], " ", ""))
		sum := sha256.Sum256(preimage)
		if err != nil || hex.EncodeToString(sum[:]) != s[2] {
			t.Errorf("SHA-256 of %s is %x, the page says %s", s[1], sum, s[2])
		}
	}
	if nodes := written.Nodes; sums[0][2] != nodes[0][1] || sums[2][2] != written.StateHash ||
		strings.TrimSpace(sums[1][1]) != nodes[0][1]+" "+nodes[1][1] || strings.TrimSpace(sums[2][1]) != sums[1][2]+" "+nodes[2][1] {
		t.Errorf("the hashes of %s are not those of its example", path)
	}
}
