package compare_test

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/archive/archivetest"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/ci"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
)

// triaged returns what triage makes of a path: a report, or an error of one line.
func triaged(t *testing.T, limits archive.Options, paths ...string) (*document.Report, string) {
	t.Helper()
	tree, err := archive.Open(paths, limits)
	var r *document.Report
	if err == nil {
		defer tree.Close()
		r, err = triageAll(tree, paths)
	}
	if err != nil {
		if text := document.Safe(err.Error()); text == "" || strings.Contains(err.Error(), "\n") || len(text) > 1000 {
			t.Errorf("%q: error %q", paths, text)
		}
		return nil, err.Error()
	}
	return r, ""
}

// textOf returns the text of a report, and checks that its lines are fit for a terminal.
func textOf(t *testing.T, r *document.Report) string {
	t.Helper()
	var out strings.Builder
	if err := r.Text(&out, document.NewStyle(false), true); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		for _, c := range strings.TrimSuffix(line, "\n") {
			if !unicode.IsPrint(c) {
				t.Errorf("%q is not fit for a terminal", line)
				break
			}
		}
	}
	return out.String()
}

// TestTriageBadBundles: whatever a bundle contains, triage gives one line with what is wrong with it, or a report.
func TestTriageBadBundles(t *testing.T) {
	effort.Whole(t)
	folder := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 5)
	good := archivetest.Entries(t, folder, "")
	zeros := archivetest.Entry{Name: "zeros", Content: make([]byte, 64<<20)}
	with := func(list ...archivetest.Entry) []archivetest.Entry { return append(slices.Clone(good), list...) }
	tricks := []archivetest.Entry{
		{Name: "../../evil", Content: []byte("1")}, {Name: "/abs/x", Content: []byte("2")}, {Name: `C:\win\y`, Content: []byte("3")}, {Name: "twice", Content: []byte("first")}, {Name: "twice", Content: []byte("last")},
		{Name: strings.Repeat("long", 300), Content: nil}, {Name: "\x1b[31m<script>x</script>", Content: nil}, {Name: "nested.zip", Content: archivetest.Zip(t, zip.Store, []archivetest.Entry{{Name: "deep.zip", Content: archivetest.Zip(t, zip.Store, []archivetest.Entry{{Name: "x", Content: nil}})}})},
	}
	many := make([]archivetest.Entry, 100_001)
	for i := range many {
		many[i].Name = fmt.Sprintf("host/%06d.snap", i)
	}
	var encrypted bytes.Buffer
	z := zip.NewWriter(&encrypted)
	for _, peer := range []string{"host", "client"} {
		if w, err := z.CreateRaw(&zip.FileHeader{Name: peer + "/order-log.bin", Flags: 1, Method: zip.Deflate, CompressedSize64: 5, UncompressedSize64: 9}); err == nil {
			fmt.Fprint(w, "xxxxx")
		}
	}
	z.Close()
	whole := archivetest.Zip(t, zip.Deflate, good)
	empty := slices.Clone(good)
	for i := range empty {
		empty[i].Content = nil
	}

	for name, c := range map[string]struct {
		file   string
		b      []byte
		status document.Status // Failed for an error
		words  string
	}{
		"tricks, zip":         {"x.zip", archivetest.Zip(t, zip.Deflate, with(tricks...)), document.Diverged, "leads out of the archive"},
		"tricks, tar":         {"x.tar.gz", archivetest.Pack(t, ".gz", archivetest.Tar(t, with(tricks...))), document.Diverged, "leads out of the archive"},
		"a bomb beside":       {"x.zip", archivetest.Zip(t, zip.Deflate, with(zeros)), document.Diverged, "zeros was not read: limit ratio is reached"},
		"a bomb in a stream":  {"x.tar.gz", archivetest.Pack(t, ".gz", archivetest.Tar(t, with(zeros))), document.Diverged, "zeros was not read"},
		"only a bomb":         {"x.zip", archivetest.Zip(t, zip.Deflate, []archivetest.Entry{zeros}), document.Failed, "zeros was not read: limit ratio is reached"},
		"too many files, zip": {"x.zip", archivetest.Zip(t, zip.Store, many), document.Failed, "limit entries is reached: 100001"},
		"too many files, tar": {"x.tar", archivetest.Tar(t, many), document.Failed, ""},
		"encrypted":           {"x.zip", encrypted.Bytes(), document.Failed, "encrypted; ask for it without a password"},
		"no directory":        {"x.zip", whole[:len(whole)-200], document.Diverged, ""},
		"half":                {"x.zip", whole[:len(whole)/2], document.Inconclusive, ""},
		"half a stream":       {"x.tar", archivetest.Tar(t, good)[:100_000], "", ""},
		"nothing":             {"x.zip", archivetest.Zip(t, zip.Store, nil), document.Failed, ""},
		"empty files":         {"x.zip", archivetest.Zip(t, zip.Store, empty), "", ""},
		"no archive":          {"x.zip", []byte("PK\x03\x04 and no more"), document.Failed, ""},
		"an empty file":       {"x.zip", nil, document.Failed, ""},
		"text of no format":   {"x.zip", archivetest.Zip(t, zip.Store, []archivetest.Entry{{Name: "host/readme.txt", Content: []byte("hello")}, {Name: "client/readme.txt", Content: []byte("hello")}}), document.Failed, ""},
	} {
		if effort.Of(name == "too many files, tar" || name == "a bomb in a stream", false) {
			continue // bundles in zips are of the same kind
		}
		t.Run(name, func(t *testing.T) {
			limits := archive.Options{}
			if strings.Contains(name, "bomb") {
				limits = archive.Options{Total: 24 << 20, Ratio: 100, Free: 64 << 10, Entries: 1000}
			}
			path := archivetest.Write(t, filepath.Join(t.TempDir(), c.file), c.b)
			var r *document.Report
			var said string
			if grown := archivetest.Heap(func() { r, said = triaged(t, limits, path) }); grown > 512<<20 {
				t.Errorf("%d bytes of memory", grown)
			}
			status := document.Failed
			if r != nil {
				status, said = r.Status, textOf(t, r)+strings.Join(r.Warnings, "\n")
			}
			t.Logf("%s: %.300s", status, document.Safe(said))
			if c.status != "" && status != c.status || !strings.Contains(strings.Join(strings.Fields(said), " "), c.words) {
				t.Errorf("%s: %s\nexpected %s, %q", status, said, c.status, c.words)
			}
		})
	}
}

// recordCalm plays a session without a fault.
func recordCalm(t testing.TB, dir string) {
	t.Helper()
	if _, err := session.RecordTo(dir, session.Options{Config: refsim.Config{Seed: 9, Entities: 100}, Ticks: 60, SnapshotEvery: 30}, session.TraceSystem); err != nil {
		t.Fatal(err)
	}
}

// TestTriageDamage: evidence that is damaged is never taken for a divergence.
func TestTriageDamage(t *testing.T) {
	dir := t.TempDir()
	calm := filepath.Join(dir, "calm")
	recordCalm(t, calm)
	list := archivetest.Entries(t, calm, "")
	var bad []string
	for i, e := range list {
		for _, n := range effort.Of([]int{len(e.Content) - 9}, []int{0, 5, len(e.Content) / 2, len(e.Content) - 9}) {
			if n < 0 || n >= len(e.Content) || strings.HasSuffix(e.Name, ".json") {
				continue
			}
			for _, how := range []string{"flipped", "cut"} {
				damaged := slices.Clone(list)
				b := bytes.Clone(e.Content)
				if how == "cut" {
					b = b[:n]
				} else {
					b[n] ^= 0x40
				}
				damaged[i].Content = b
				path := archivetest.Write(t, filepath.Join(dir, "x.zip"), archivetest.Zip(t, zip.Store, damaged))
				r, said := triaged(t, archive.Options{}, path)
				switch {
				case r == nil && said == "":
					t.Errorf("%s %s at %d: nothing is said", e.Name, how, n)
				case r != nil && r.Status == document.Diverged:
					t.Errorf("%s %s at %d: %q", e.Name, how, n, r.Verdict)
				case r != nil && r.Status == document.InSync && strings.HasSuffix(e.Name, "order-log.bin"): // what hashes prove equal is not read
					bad = append(bad, fmt.Sprintf("%s %s at %d", e.Name, how, n))
				}
			}
		}
	}
	if len(bad) > 0 {
		t.Errorf("in sync although damaged: %q", bad)
	}
}

// TestTriageOnePeer: one peer's evidence is inconclusive, with the text that asks for more.
func TestTriageOnePeer(t *testing.T) {
	folder := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 5)
	path := archivetest.Write(t, filepath.Join(t.TempDir(), "host.zip"), archivetest.Zip(t, zip.Deflate, archivetest.Entries(t, filepath.Join(folder, "host"), "")))
	r, said := triaged(t, archive.Options{}, path)
	if r == nil {
		t.Fatal(said)
	}
	if r.Status != document.Inconclusive || !strings.Contains(r.Ask, "the same files from another player") || r.Verdict[0] != "Nothing can be compared: there is evidence of one peer only, host." {
		t.Errorf("%s: %q, %q", r.Status, r.Verdict, r.Ask)
	}
}

// TestTriageTwoMatches: artifacts of two matches are an error of one line that names both.
func TestTriageTwoMatches(t *testing.T) {
	one, two := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1), archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 2)
	list := append(archivetest.Entries(t, filepath.Join(one, "host"), "host/"), archivetest.Entries(t, filepath.Join(two, "client"), "client/")...)
	path := archivetest.Write(t, filepath.Join(t.TempDir(), "x.zip"), archivetest.Zip(t, zip.Deflate, list))
	if r, said := triaged(t, archive.Options{}, path); r != nil || !strings.Contains(said, "client: nothing of the session with seed 0000000000000001") {
		t.Errorf("%v, %q", r, said)
	}
	for _, c := range [][3]string{
		{"openttd/rng_poke/client", "openttd/town_poke/server", "nothing of the session with seed"},
		{"0ad/control_mp_orders/host", "0ad/mp_late_damage/client", "logs of different games"},
		{"spring/control/Alice", "spring/pos_1ulp/Bob", "files of two matches"},
		{"warzone2100/insync_3peer", "widelands/cmdact_serial", "artifacts of several games"},
	} {
		if r, said := triaged(t, archive.Options{}, "../../testdata/"+c[0], "../../testdata/"+c[1]); r != nil || !strings.Contains(said, c[2]) {
			t.Errorf("%q: %+v, %q", c, r, said)
		}
	}
}

// TestTriageEscapes: text from files sends no commands to the terminal and is not markup, in any format.
func TestTriageEscapes(t *testing.T) {
	const evil = "\x1b]0;x\a\u202e<script>alert(1)</script>`|**[x](javascript:y)::error::%0A\n"
	folder := archivetest.Record(t, filepath.Join(t.TempDir(), "s"), 1)
	dir := filepath.Join(t.TempDir(), "m")
	for peer, name := range map[string]string{"host": evil[:len(evil)-1] + "h", "client": "c" + strings.ReplaceAll(evil, "/", "_")} {
		for _, e := range archivetest.Entries(t, filepath.Join(folder, peer), "") {
			if strings.HasSuffix(e.Name, ".trace") || strings.HasPrefix(e.Name, "desync_report") {
				continue
			}
			path := filepath.Join(dir, strings.ReplaceAll(name, "/", "_"), e.Name)
			if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
				t.Fatal(err)
			}
			archivetest.Write(t, path, e.Content)
		}
	}
	r, said := triaged(t, archive.Options{}, dir)
	if r == nil {
		t.Fatal(said)
	}
	// What else may come from a file.
	r.Session.Game, r.Session.Build = evil, evil
	r.Contradictions = append(r.Contradictions, evil)
	r.Missing = append(r.Missing, evil)
	r.Notes = append(r.Notes, evil)
	r.Warnings = append(r.Warnings, evil)
	r.Verdict = append(r.Verdict, evil)
	r.Claims = append(r.Claims, document.ClaimDocument{Text: evil, Files: []string{evil}, Peers: []string{evil}, Native: evil, Contradictions: []string{evil}})
	r.Facts = append(r.Facts, document.Fact{Name: evil, Values: map[string]string{r.Peers[0].Name: evil}})
	r.Peers[0].Name = evil
	for i := range r.Ladder {
		r.Ladder[i].Found += evil
		r.Ladder[i].Evidence += evil
	}
	for i := range r.Locus {
		f := &r.Locus[i]
		f.Archetype, f.Key, f.Component, f.Field = evil+f.Archetype, evil, evil, evil
		f.Values = map[string]string{r.Compared.Peers[0]: evil, r.Compared.Peers[1]: evil}
	}
	for i := range r.Orders {
		r.Orders[i].Kind, r.Orders[i].Names, r.Orders[i].Native, r.Orders[i].Peers = evil, evil, evil, []string{evil}
	}
	for i := range r.Cascade {
		r.Cascade[i].Scope, r.Cascade[i].System, r.Cascade[i].Native = evil, evil, evil
	}
	if r.Compared != nil {
		r.Compared.Native = evil
	}
	textOf(t, r)

	for name, render := range map[string]func(*bytes.Buffer) error{
		"json":     func(out *bytes.Buffer) error { return document.WriteJSON(out, r) },
		"markdown": func(out *bytes.Buffer) error { return r.Markdown(out) },
		"comment":  func(out *bytes.Buffer) error { return r.Comment(out) },
		"html":     func(out *bytes.Buffer) error { return page.Write(out, r) },
		"junit":    func(out *bytes.Buffer) error { return ci.JUnit(out, r) },
		"sarif":    func(out *bytes.Buffer) error { return ci.SARIF(out, r, "") },
		"github":   func(out *bytes.Buffer) error { return ci.GitHub(out, r) },
	} {
		var out bytes.Buffer
		if err := render(&out); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text := out.String()
		if strings.ContainsAny(text, "\x1b\a\u202e") {
			i := strings.IndexAny(text, "\x1b\a\u202e")
			t.Errorf("%s commands terminals: %q", name, text[max(0, i-80):min(len(text), i+80)])
		}
		switch name {
		case "json", "sarif":
			if !json.Valid(out.Bytes()) {
				t.Errorf("%s is not valid", name)
			}
		case "github":
			for line := range strings.Lines(text) {
				if strings.Contains(strings.ToLower(line), "::error") && !strings.HasPrefix(line, "::") && strings.HasPrefix(strings.TrimLeft(line, " "), "::") {
					t.Errorf("github: a command in %q", line)
				}
			}
		default:
			if strings.Contains(text, "<script>alert") {
				t.Errorf("%s has a script of a player's", name)
			}
		}
	}
}
