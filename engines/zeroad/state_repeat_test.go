package zeroad

import (
	"bytes"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// readBy reads a text as a decoder does that has read others before.
func readBy(s *scratch, text []byte) (any, string) {
	s.content = append(s.content[:0], text...)
	w, err := s.read("00024.txt")
	if err != nil && strings.Contains(err.Error(), errRepeat.Error()) {
		s.tables.record.forget()
		w, err = s.read("00024.txt")
	}
	return w, fmt.Sprint(err)
}

// dumps returns the texts of all dumps of the corpus, in the order of their names.
func dumps(t testing.TB) (texts [][]byte) {
	t.Helper()
	err := filepath.WalkDir(corpus, func(path string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(path, ".txt.gz") {
			name, _ := filepath.Rel(corpus, path)
			texts = append(texts, statePlain(t, filepath.Join(corpus, name)))
		}
		return err
	})
	if err != nil || len(texts) < 10 {
		t.Fatal(len(texts), err)
	}
	return texts
}

// altered returns a dump with some lines moved, doubled, removed or changed.
func altered(r *rand.Rand, text []byte) []byte {
	lines := bytes.Split(text, []byte("\n"))
	for range 1 + r.IntN(12) {
		i, k := r.IntN(len(lines)), r.IntN(len(lines))
		switch r.IntN(6) {
		case 0:
			lines[i] = lines[k]
		case 1:
			lines[i], lines[k] = lines[k], lines[i]
		case 2:
			lines = append(lines[:i], lines[i+1:]...)
		case 3:
			lines = append(lines[:i+1], lines[i:]...)
		case 4:
			lines[i] = bytes.Replace(lines[i], []byte("1"), []byte("true"), 1)
		case 5:
			lines[i] = bytes.Replace(lines[i], []byte("e"), []byte(`\n`), 1)
		}
		if r.IntN(3) > 0 {
			break
		}
	}
	return bytes.Join(lines, []byte("\n"))
}

// TestRepeat: whatever was read before, a dump is what it is when it is the first one, its errors too.
func TestRepeat(t *testing.T) {
	all := dumps(t)
	r := rand.New(rand.NewPCG(7, 8))
	s, bad, repeated := newScratch(), 0, 0
	type pair struct{ got, want any }
	var earlier []pair
	for n := range effort.Of(25, effort.Long(500, 1500)) {
		text := all[r.IntN(len(all))]
		if n%3 > 0 {
			text = altered(r, text)
		}
		for range 1 + r.IntN(2) { // the same twice, too
			want, wantErr := readBy(newScratch(), text)
			got, gotErr := readBy(s, text)
			if gotErr != wantErr || !reflect.DeepEqual(got, want) {
				t.Fatalf("dump %d is another one after others: %s, expected %s", n, gotErr, wantErr)
			}
			if earlier = append(earlier, pair{got, want}); len(earlier) > 8 {
				earlier = earlier[1:]
			}
			if wantErr != "<nil>" {
				bad++
			} else if s.tables.record.repeated {
				repeated++
			}
		}
	}
	for _, p := range earlier {
		if !reflect.DeepEqual(p.got, p.want) {
			t.Error("what was read changes with what is read later")
		}
	}
	t.Logf("%d malformed, something repeated in %d", bad, repeated)
	if bad == 0 || repeated == 0 {
		t.Error("some of both were expected")
	}
}

// TestRepeatLarge: a dump that has more than is recorded is read the same, and what is recorded of it is bounded.
func TestRepeatLarge(t *testing.T) {
	s := newScratch()
	position := "  Position:\n    x: 1.5\n"
	var members strings.Builder
	for i := range maxColumns - 96 {
		fmt.Fprintf(&members, "%s\"m%d\":1", strings.Repeat(",", min(i, 1)), i)
	}
	for what, component := range map[string]string{
		"text": position + strings.Repeat("    # more\n", maxScratch/11),
		"ops":  "  Health:\n    comp: {\"a\": [" + strings.Repeat("1,", maxOps/2) + "1]}\n",
		// What an object looks like is longer than its text.
		"values": "  Health:\n    comp: {\"" + strings.Repeat("k", 150) + "\": {" + members.String() + "}}\n",
	} {
		text := "rng: \"1\"\nentities:\n"
		for id := range 12 {
			text += fmt.Sprintf("- id: %d\n%s\n", 2*id+2, position)
			if what == "values" || id == 4 {
				text += fmt.Sprintf("- id: %d\n%s\n", 2*id+3, component)
			}
		}
		for range 2 {
			want, wantErr := readBy(newScratch(), []byte(text))
			got, gotErr := readBy(s, []byte(text))
			if gotErr != wantErr || wantErr != "<nil>" || !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: another one after others: %.200s, expected %.200s", what, gotErr, wantErr)
			}
			if r := &s.tables.record.now; len(r.text) > maxScratch || len(r.ops) > maxOps || len(r.values) > maxValues || len(r.blocks) < 2 || !s.tables.record.filled {
				t.Errorf("%s: %d bytes of text, %d ops, %d bytes of values, %d components are recorded", what, len(r.text), len(r.ops), len(r.values), len(r.blocks))
			}
		}
	}
}

// TestRepeatSmall does the same with dumps that are made up, with every kind of line and list, and tables near
// the number of columns that they may have.
func TestRepeatSmall(t *testing.T) {
	members := func(from, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "%s\n  \"m%d\": %d", strings.Repeat(",", min(i, 1)), from+i, i)
		}
		return b.String()
	}
	components := []string{
		"  Decay:\n", "  Position:\n    in world: true\n    x: 1.5\n    y: 2\n", "  Position:\n    in world: true\n    x: 1.5\n", "  Position:\n    in world: false\n    x: what\n    x: 3\n",
		"  Health:\n    comp: {\n  \"max\": 5,\n  \"at\": [1, [2, \"x\"], {\"a\": null}]\n}\n", "  Health:\n    comp: {\n  \"max\": \"5\",\n  \"at\": true\n}\n",
		"  UnitMotion:\n    waypoint x: 1\n    waypoint z: 2\n    waypoint x: 3\n    waypoint z: 4\n",
		"  RangeManager:\n    key: 2\n    x: 1\n    z: 2\n    vision: 3\n    key: 1\n    x: 1\n    z: 2\n", "  RangeManager:\n    key: 1\n    x: 1\n    z: 2\n",
		"  TemplateManager:\n    key: \"a\"\n    length: 0\n    length: 2\n    #: 3\n    los state: 1\n    #: 2\n    los state: 0\n",
		"  ObstructionManager:\n    length: 1\n    subdiv items: 4\n    subdiv items: 5\n", "  AIProxy:\n    comp: {\"1\": {\"a\": 1}, \"2\": {\"b\": [1.25]}}\n",
		"  Many:\n    comp: {" + members(2, 20) + "}\n", "  Many:\n    comp: {" + members(maxColumns-5, 9) + "}\n",
		"  Lists:\n    one: [1, 2]\n    one: {\"a\": 2}\n",
	}
	read := func(t interface{ Fatalf(string, ...any) }, s *scratch, entities [][]string, local bool) {
		text := "rng: \"1\"\nentities:\n"
		for id, components := range entities {
			number := 2*id + 2
			if local {
				number += FirstLocal
			}
			text += fmt.Sprintf("- id: %d\n%s\n", number, strings.Join(components, ""))
		}
		want, wantErr := readBy(newScratch(), []byte(text))
		got, gotErr := readBy(s, []byte(text))
		if gotErr != wantErr || !reflect.DeepEqual(got, want) {
			t.Fatalf("another one after others: %s, expected %s:\n%s", gotErr, wantErr, text[:min(len(text), 2000)])
		}
	}
	most := "  Many:\n    comp: {" + members(0, maxColumns-3) + "}\n"
	health := func(value string) string { return "  Health:\n    comp: {\"a\": " + value + "}\n" }
	one, both := "  RangeManager:\n    key: 1\n    x: 1\n    z: 2\n", "  RangeManager:\n    key: 2\n    x: 1\n    z: 2\n    key: 1\n    x: 1\n    z: 2\n"
	empty := "  TemplateManager:\n    key: \"a\"\n    length: 0\n"
	for _, sequence := range [][][][]string{
		// A table becomes full behind what is repeated, and a column of that is used again.
		{{{most}}, {{most}, {"  Many:\n    comp: {" + members(maxColumns-5, 9) + "}\n"}, {"  Many:\n    comp: {" + members(2, 20) + "}\n"}}},
		// A column has the name of its kind only where there is another kind.
		{{{health("1")}, {health(`"x"`)}}, {{health(`"y"`)}}},
		// Rows go to another table once keys began again.
		{{{one}, {one}}, {{both}, {one}}},
		// A table without rows.
		{{{empty}}, {{empty}}},
	} {
		s := newScratch()
		for _, entities := range sequence {
			read(t, s, entities, false)
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		s := newScratch()
		for range rapid.IntRange(2, 5).Draw(t, "dumps") {
			entities := rapid.SliceOfN(rapid.SliceOfN(rapid.SampledFrom(components), 0, 4), 1, 4).Draw(t, "entities")
			read(t, s, entities, rapid.IntRange(0, 9).Draw(t, "local") == 0)
		}
	})
}
