package main

import (
	"bytes"
	"encoding/json"
	"html"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/document"
)

// headlines are where each format has its headline, and the sentences of the verdict, which come from other
// places in it.
var headlines = map[string]*regexp.Regexp{
	"comment":  regexp.MustCompile(`^\*\*desynctool: (.+?)\*\*`),
	"markdown": regexp.MustCompile(`(?m)^## desynctool: (.+)$`),
	"junit":    regexp.MustCompile(`message="(.+?)"`),
	"github":   regexp.MustCompile(`(?m)^::\w+ title=desynctool%3A (.+?)::|^::\w+ title=(.+?)::`),
	"html":     regexp.MustCompile(`<title>Desync report: (.+?)</title>`),
}

// plainly takes away what formats put around names.
var plainly = strings.NewReplacer("`", "", "\u200b", "", `\`, "", "%3A", ":", "%2C", ",", "%25", "%")

// TestFormatsAgree: one report claims the same in each format: when the peers diverged, in which system, and who
// is wrong.
func TestFormatsAgree(t *testing.T) {
	dir := t.TempDir()
	paths := map[string][]string{}
	for i := range triageTruths {
		if name := triageTruths[i].dir; i == 1 || effort.Full() {
			paths[name] = []string{"../../testdata/" + name}
		}
	}
	// The short sample has no fault that depends on chance: it holds one session of each kind of moment.
	for _, fault := range effort.Of([]string{"order-dropped@50", "initial-state"},
		[]string{"map-order@60", "initial-state", "save-omits-field@20", "reconverge@40", "order-dropped@50"}) {
		recorded := filepath.Join(dir, fault)
		desynctool(t, 0, nil, "record", "-o", recorded, "--seed", "7", "--ticks", effort.Of("90", "120"), "--entities", effort.Of("1000", "8000"), "--fault", fault+":client")
		paths[fault] = []string{recorded}
		if fault == "initial-state" || effort.Full() {
			paths[fault+", replayed"] = []string{recorded, "--sim", "builtin"}
		}
	}
	kinds := map[document.WhenKind]int{}
	accused := 0
	for name, path := range paths {
		saved := filepath.Join(dir, "saved.json")
		var stdout, stderr bytes.Buffer
		args := append([]string{"triage", "--no-cache", "--format", "json=" + saved, "--format", "text"}, path...)
		if status := run(args, strings.NewReader(""), &stdout, &stderr); status == 2 {
			t.Fatalf("%s: %s", name, &stderr)
		}
		var r document.Report
		b, err := os.ReadFile(saved)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &r); err != nil {
			t.Fatal(err)
		}
		h := r.Headline()
		kinds[h.When.Kind]++
		want := h.Text(document.Safe)
		again := []string{"report", saved}
		for format := range headlines {
			again = append(again, "--format", format+"="+filepath.Join(dir, format))
		}
		stderr.Reset()
		if status := run(again, strings.NewReader(""), io.Discard, &stderr); status != 0 {
			t.Fatalf("%s: status %d: %s", name, status, &stderr)
		}
		for format, at := range headlines {
			rendered, err := os.ReadFile(filepath.Join(dir, format))
			if err != nil {
				t.Fatal(err)
			}
			out := string(rendered)
			m := at.FindStringSubmatch(out)
			if r.Status == document.InSync && format == "junit" {
				continue // a test that passed has no message
			}
			if m == nil {
				t.Errorf("%s: no headline in the format %s:\n%.600s", name, format, out)
				continue
			}
			if got := plainly.Replace(html.UnescapeString(strings.Join(m[1:], ""))); got != want {
				t.Errorf("%s: the format %s has the headline %q, want %q", name, format, got, want)
			}
			for _, peer := range h.Wrong {
				accused++
				if !strings.Contains(plainly.Replace(out), "Wrong: "+peer) && !strings.Contains(plainly.Replace(out), "Wrong by a replay of the orders: "+peer) {
					t.Errorf("%s: the format %s does not have that %s is wrong", name, format, peer)
				}
			}
			if len(h.Wrong) == 0 && regexp.MustCompile(`Wrong(:| by a replay)`).MatchString(out) {
				t.Errorf("%s: the format %s accuses a peer of which nothing is known:\n%s", name, format, out)
			}
		}
	}
	for _, kind := range []document.WhenKind{document.WhenStart, document.WhenTick, document.WhenBetween} {
		if kinds[kind] == 0 {
			t.Errorf("no session diverged in the way %d; there are %v", kind, kinds)
		}
	}
	if accused == 0 {
		t.Error("no session has a peer that is known to be wrong")
	}
}
