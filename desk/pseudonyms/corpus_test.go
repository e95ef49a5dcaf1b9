package pseudonyms_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/desk/pseudonyms"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/compare"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
)

const testKey = "desynctool-names-key-1 000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f\n"

func key(t tester) *pseudonyms.Key {
	k, err := pseudonyms.ParseKey(testKey, "key")
	if err != nil {
		t.Fatal(err)
	}
	return k
}

// triage reports on all matches of a bundle, as it is or with names taken out.
func triage(t tester, s *pseudonyms.Scrubber, path string) (list []*document.Report, errs []string) {
	t.Helper()
	tree, err := archive.Open([]string{path}, archive.Options{Known: formats.Pasted()})
	if err != nil {
		return nil, []string{err.Error()}
	}
	defer tree.Close()
	open := bundle.OpenMatches
	if s != nil {
		open = s.Open
	}
	matches, err := open(tree, []string{path})
	if err != nil {
		return nil, []string{err.Error()}
	}
	for _, m := range matches.List {
		session, err := m.Open()
		var r *document.Report
		if err == nil {
			r, err = compare.Triage(session, compare.Builds{}, nil)
		}
		if err != nil {
			errs = append(errs, err.Error())
			continue
		}
		r.EscapeBytes()
		if s != nil {
			s.Report(r)
		}
		list = append(list, r)
	}
	return list, errs
}

// verdict is what of a report does not depend on how peers are called.
func verdict(r *document.Report) string {
	type plain struct {
		Status       document.Status
		Kind         any
		Fingerprint  string
		Fingerprints []string
		Tick         *uint64
		Bracket      any
		System       string
		Archetypes   []string
		Component    string
		Locus        []string
		Groups       []int // how many peers each has
		Causes       []string
		Steps        []string
		Claims       int
		Lines        int
	}
	p := plain{Status: r.Status, Kind: r.Kind, Fingerprint: r.Fingerprint}
	for _, f := range r.Fingerprints {
		p.Fingerprints = append(p.Fingerprints, f.Digest)
	}
	if d := r.FirstDivergence; d != nil {
		p.Tick, p.System, p.Archetypes, p.Component = d.Tick, d.System, d.Archetypes, d.Component
		if d.Bracket != nil {
			p.Bracket = []any{d.Bracket.Good, d.Bracket.Bad}
		}
	}
	for i := range r.Locus {
		p.Locus = append(p.Locus, r.Locus[i].Archetype+" "+r.Locus[i].Component+" "+r.Locus[i].Field)
	}
	sizes := map[int]int{} // their numbers follow the order of the names
	for i := range r.Peers {
		sizes[r.Peers[i].Group]++
	}
	for _, n := range sizes {
		p.Groups = append(p.Groups, n)
	}
	slices.Sort(p.Groups)
	for _, c := range r.Causes {
		p.Causes = append(p.Causes, c.Class+" "+c.Standing)
	}
	for _, x := range r.Ladder {
		p.Steps = append(p.Steps, x.Step+" "+string(x.State))
	}
	p.Claims = len(r.Claims)
	if r.GameLogs != nil {
		p.Lines = r.GameLogs.Total
	}
	b, _ := json.MarshalIndent(p, "", " ")
	return string(b)
}

// cases are the folders of the corpus that are sessions: those below which there are files, two levels down at
// most.
func cases(t tester) (list []string) {
	root := filepath.Join("..", "..", "testdata")
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if rel, _ := filepath.Rel(root, path); d.IsDir() && strings.Count(rel, string(filepath.Separator)) == 1 {
			list = append(list, path)
			return fs.SkipDir
		}
		return nil
	})
	if err != nil || len(list) < 40 {
		t.Errorf("%d cases, %v", len(list), err)
	}
	return list
}

var pseudonym = regexp.MustCompile(`player-[0-9a-f]{10}`)

// The verdicts of all cases are the same with and without names, also of the copy without names; and a
// triage of the copy needs no other names.
func TestCorpus(t *testing.T) {
	renamed := 0
	for i, path := range cases(t) {
		if i%effort.Of(6, 1) != 0 {
			continue
		}
		t.Run(strings.TrimPrefix(filepath.ToSlash(path), "../../testdata/"), func(t *testing.T) {
			want, wantErrs := triage(t, nil, path)
			s := pseudonyms.NewScrubber(key(t))
			got, errs := triage(t, s, path)
			same(t, "renamed", got, errs, want, wantErrs)
			for _, r := range got {
				b, err := json.Marshal(r)
				if err != nil {
					t.Fatal(err)
				}
				if pseudonym.Match(b) {
					renamed++
				}
			}
			var tar bytes.Buffer
			if _, err := s.Copy(context.Background(), path, &tar); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "copy.tar")
			if err := os.WriteFile(file, tar.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			got, errs = triage(t, pseudonyms.NewScrubber(key(t)), file)
			same(t, "copy", got, errs, want, wantErrs)
		})
	}
	if renamed < effort.Of(3, 20) {
		t.Errorf("only %d reports have a pseudonym", renamed)
	}
}

func same(t *testing.T, what string, got []*document.Report, errs []string, want []*document.Report, wantErrs []string) {
	t.Helper()
	if len(got) != len(want) || len(errs) != len(wantErrs) {
		t.Fatalf("%s: %d reports and errors %q, expected %d and %q", what, len(got), errs, len(want), wantErrs)
	}
	for i := range got {
		if a, b := verdict(got[i]), verdict(want[i]); a != b {
			t.Errorf("%s: match %d:\n%s\nexpected\n%s\n%s\n%s", what, i+1, a, b, strings.Join(got[i].Verdict, " "), strings.Join(want[i].Verdict, " "))
		}
	}
}
