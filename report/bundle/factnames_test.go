package bundle_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

// pageFact is a row of the table of facts in docs/recording.md.
type pageFact struct {
	names      []string // the first one is that which a writer should take
	must       bool
	inProperty bool
}

var quoted = regexp.MustCompile("`([^`]+)`")

func pageFacts(t *testing.T) (list []pageFact) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "recording.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, ok := strings.Cut(string(b), "## Facts\n")
	if !ok {
		t.Fatal("no section of facts")
	}
	for line := range strings.Lines(section) {
		cells := strings.Split(line, "|")
		if len(cells) != 7 || !strings.Contains(cells[1], "`") {
			continue
		}
		f := pageFact{must: strings.TrimSpace(cells[3]) == "yes", inProperty: strings.Contains(cells[4], "property")}
		for _, m := range quoted.FindAllStringSubmatch(cells[1]+cells[2], -1) {
			f.names = append(f.names, m[1])
		}
		if !f.must && strings.TrimSpace(cells[3]) != "no" {
			t.Errorf("%s: the same on all peers: %q", f.names[0], cells[3])
		}
		list = append(list, f)
	}
	return list
}

// TestFactsOnThePage compares the table of facts in docs/recording.md with the names that doctor knows, and its
// description of each fact with what doctor does with snapshots that have such a property.
func TestFactsOnThePage(t *testing.T) {
	var game, machine []string
	for _, f := range pageFacts(t) {
		if !f.inProperty {
			continue
		}
		if f.must {
			game = append(game, f.names...)
		} else {
			machine = append(machine, f.names...)
		}
		for _, name := range f.names {
			c := examine(t, withProperty(t, name))
			i := slices.IndexFunc(c.Facts, func(f document.Fact) bool { return f.Name == name })
			if i < 0 || c.Facts[i].Same || c.Facts[i].Must != f.must {
				t.Errorf("%s: doctor has %+v", name, c.Facts)
			}
			if slices.Contains(c.Unknown, f.names[0]) {
				t.Errorf("%s: %s is unknown all the same", name, f.names[0])
			}
		}
	}
	for _, of := range []struct{ page, known []string }{{game, bundle.GameFacts}, {machine, bundle.MachineFacts}} {
		slices.Sort(of.page)
		if known := slices.Sorted(slices.Values(of.known)); !slices.Equal(of.page, known) {
			t.Errorf("the page has %q, known are %q", of.page, known)
		}
	}
}

// TestUnknownFactsOnThePage: whatever doctor misses is on the page, and in its sentence on that.
func TestUnknownFactsOnThePage(t *testing.T) {
	b, err := os.ReadFile(filepath.Join("..", "..", "docs", "recording.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(b), "what no file tells: ")
	sentence, _, _ := strings.Cut(rest, ".")
	c := examine(t, withProperty(t, "of no meaning"))
	missing := append([]string{"seed"}, c.Unknown...) // every snapshot has a seed
	if got := strings.Split(strings.Join(strings.Fields(sentence), " "), ", "); !slices.Equal(got, missing) {
		t.Errorf("the page has %q, doctor misses %q", got, missing)
	}
	for _, name := range missing {
		if !slices.ContainsFunc(pageFacts(t), func(f pageFact) bool { return f.names[0] == name }) {
			t.Errorf("%s is not in the table", name)
		}
	}
	if len(c.Facts) == 0 || slices.ContainsFunc(c.Facts, func(f document.Fact) bool { return f.Name == "of no meaning" }) {
		t.Errorf("facts are %+v", c.Facts)
	}
}

// withProperty writes the snapshots of two peers, which have another value of a property.
func withProperty(t *testing.T, name string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, peer := range []string{"client", "host"} {
		w := &snapshot.World{Head: snapshot.Head{Seed: 7, Peer: peer, Meta: map[string]string{name: "of " + peer}}}
		if err := os.Mkdir(filepath.Join(dir, peer), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := snapshot.WriteFile(filepath.Join(dir, peer, "desync_0000000000000007_0000000000.snap"), w, snapshot.WriteOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}
