package pseudonyms_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/text/unicode/norm"
	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/desk/pseudonyms"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/peers"
)

// planted are names that make trouble: of other scripts, in both forms of Unicode, with characters of regular expressions,
// shells and formats, and long ones.
var planted = []string{
	"Zoë", "Zoe\u0308lla", "Пётр", "小明さん", "אבגד", "a.*b+", "$(reboot)", "O'Brien", `quo"ted`, "100% Anna", "xX_Slayer_Xx", "[TAG] Kaj", "Ann-Marie",
	"back\\slash", "{name}", "per:cent", "Robert'); DROP", "🦊fox", "Łukasz Żak", "#1fan", "ünïcödé", "name with  blanks", "^start$", "J. R. Doe", "(bold)",
	"Kim9000", "İstanbul", "straße77", strings.Repeat("long", 20) + "1",
}

// words are names that are words of our own sentences, or of the formats.
var words = []string{"the", "tick", "state", "peers", "parted", "order", "trace", "position", "a", "in", "is", "Wrong", "Health", "seed", "Movement", "snap"}

// tester is what *testing.T and *rapid.T have in common.
type tester interface {
	Helper()
	Fatal(args ...any)
	Errorf(format string, args ...any)
}

// game records one game, whatever its peers are called. A first peer's name that sorts after the second's
// keeps the order in which host and client come.
func game(t tester, dir string, called ...string) {
	t.Helper()
	f, err := session.ParseFault("bit-flip@40")
	if err != nil {
		t.Fatal(err)
	}
	f.Peer = called[1]
	o := session.Options{
		Config: refsim.Config{Seed: 7, Entities: 100}, Ticks: 90, SnapshotEvery: 30, Peers: called, Faults: []session.Fault{f}, Reports: peers.WriteAll,
	}
	if _, err := session.RecordTo(dir, o, session.TraceSystem); err != nil {
		t.Fatal(err)
	}
}

// plant puts files beside those of a peer that have names and addresses in other ways: a log, and a trace as
// text, compressed.
func plant(t tester, dir, own, other string) {
	t.Helper()
	log := fmt.Sprintf("[12:00:01] WARNING: %s (203.0.113.7:8452) lacks texture C:\\Users\\%s\\data\\x.png\n[12:00:02] ERROR: player %s at 2001:db8:1:2::99 has mail %s\n", other, "wilhelmina", other, "someone@example.org")
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	fmt.Fprintf(z, "%%desynctool trace 1\n%%seed 7\n%%peer %q\n%%meta \"hostname\" %q\ntick=1 system=x sum=0x01020304\n%%end\n", own, own+"-pc")
	for name, content := range map[string][]byte{"Player.log": []byte(log), "more.trace.gz": packed.Bytes()} {
		if name == "more.trace.gz" {
			if err := z.Close(); err != nil {
				t.Fatal(err)
			}
			content = packed.Bytes()
		}
		if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// strs calls f with each string of a document, decoded.
func strs(v any, f func(s string)) {
	switch v := v.(type) {
	case string:
		f(v)
	case []any:
		for _, x := range v {
			strs(x, f)
		}
	case map[string]any:
		for k, x := range v {
			f(k)
			strs(x, f)
		}
	}
}

func allStrings(t tester, r *document.Report) (list []string) {
	b, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var doc any
	if err := json.Unmarshal(b, &doc); err != nil {
		t.Fatal(err)
	}
	strs(doc, func(s string) { list = append(list, s) })
	return list
}

// leaks returns where a text stands in another one, in any of its forms.
func leaks(content, name string) bool {
	for _, form := range []string{name, norm.NFC.String(name), norm.NFD.String(name)} {
		if strings.Contains(content, form) {
			return true
		}
	}
	return false
}

// TestNamedFiles: a name of letters only, or of two characters, is replaced in the name of a file that a sentence has by
// itself.
func TestNamedFiles(t *testing.T) {
	for _, called := range [][2]string{{"Zaphodvick", "Trillianova"}, {"小明", "花子"}} {
		dir := t.TempDir()
		for i, own := range called {
			other := called[1-i]
			trace := fmt.Sprintf("%%desynctool trace 1\n%%seed 7\n%%peer %q\n", own)
			for tick := range 20 {
				trace += fmt.Sprintf("tick=%d system=Move scope=unit_%s sum=0x%04x\n", tick, own, tick+tick/13*i)
			}
			log := fmt.Sprintf("[1] WARNING: %s joined\n[2] ERROR: desync with %s: checksum mismatch at tick 13, %s_save.dat\n", own, other, own)
			for name, content := range map[string]string{"checkpoints.trace": trace + "%end\n", "game_" + own + ".log": log} {
				path := filepath.Join(dir, own, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
					t.Fatal(err)
				}
			}
		}
		list, errs := triage(t, pseudonyms.NewScrubber(key(t)), dir)
		if len(list) == 0 || len(errs) > 0 {
			t.Fatalf("%d reports, %q", len(list), errs)
		}
		for _, text := range allStrings(t, list[0]) {
			for _, name := range called {
				if leaks(text, name) {
					t.Errorf("%q is in %q", name, text)
				}
			}
		}
	}
}

// TestNamesOfFolders: names that only the folders have, whose files name roles, are in no report and in no copy, whether
// the copy comes after a triage or alone.
func TestNamesOfFolders(t *testing.T) {
	dir, called := t.TempDir(), map[string]string{"host": "Zaphodvick", "client": "Trillianova"}
	game(t, dir, "host", "client")
	for role, name := range called {
		if err := os.Rename(filepath.Join(dir, role), filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	s := pseudonyms.NewScrubber(key(t))
	list, errs := triage(t, s, dir)
	if len(list) != 1 || len(errs) > 0 {
		t.Fatalf("%d reports, %q", len(list), errs)
	}
	texts := allStrings(t, list[0])
	var out, alone bytes.Buffer
	for to, s := range map[*bytes.Buffer]*pseudonyms.Scrubber{&out: s, &alone: pseudonyms.NewScrubber(key(t))} {
		if _, err := s.Copy(t.Context(), dir, to); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(out.Bytes(), alone.Bytes()) {
		t.Error("a copy after a triage is another one")
	}
	each(t, out.Bytes(), func(name string, _ []byte) { texts = append(texts, name) })
	for _, text := range texts {
		if leaks(text, "Zaphodvick") || leaks(text, "Trillianova") {
			t.Errorf("a name is in %q", text)
		}
	}
}

// TestNamesOfFoldersOfLogs: the same where the files have other names in each folder.
func TestNamesOfFoldersOfLogs(t *testing.T) {
	for _, logs := range [][]string{{"host.log", "client.log"}, {"Player.log", "Player-prev.log"}, {"game.log", "other.log"}, {"2026-11-20.log", "2026-11-21.log"}} {
		dir := t.TempDir()
		for i, name := range []string{"Zaphodvick", "Trillianova"} {
			path := filepath.Join(dir, name, logs[i])
			if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, fmt.Appendf(nil, "tick 1 checksum 1\ntick 2 checksum %d\n", i), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		s := pseudonyms.NewScrubber(key(t))
		list, errs := triage(t, s, dir)
		if len(list) != 1 || len(errs) > 0 {
			t.Fatalf("%d reports, %q", len(list), errs)
		}
		var out bytes.Buffer
		if _, err := s.Copy(t.Context(), dir, &out); err != nil {
			t.Fatal(err)
		}
		texts := allStrings(t, list[0])
		each(t, out.Bytes(), func(name string, _ []byte) { texts = append(texts, name) })
		for _, text := range texts {
			if leaks(text, "Zaphodvick") || leaks(text, "Trillianova") {
				t.Errorf("%q: a name is in %q", logs, text)
			}
		}
	}
}

// drawn are two names that sort as host and client do.
func drawn(t *rapid.T, from []string) []string {
	list := rapid.SliceOfNDistinct(rapid.SampledFrom(from), 2, 2, func(s string) string { return strings.ToLower(s) }).Draw(t, "names")
	slices.Sort(list)
	slices.Reverse(list)
	return list
}

var secrets = []string{"203.0.113.7", "2001:db8:1:2::99", "someone@example.org", "wilhelmina"}

// Neither the report nor the copy has a planted name or an address in any place.
func TestPlanted(t *testing.T) {
	check(t, effort.Of("2", effort.Long("20", "40")), func(t *rapid.T, dir string) {
		called := drawn(t, planted)
		game(t, dir, called...)
		for i, name := range called {
			plant(t, filepath.Join(dir, name), name, called[1-i])
		}
		s := pseudonyms.NewScrubber(key(t))
		list, errs := triage(t, s, dir)
		if len(list) != 1 || len(errs) > 0 {
			t.Fatalf("%d reports, %q", len(list), errs)
		}
		if list[0].Status != document.Diverged {
			t.Fatalf("%q", list[0].Verdict)
		}
		for _, text := range allStrings(t, list[0]) {
			for _, name := range slices.Concat(called, secrets) {
				if leaks(text, name) {
					t.Errorf("%q stands in %q", name, text)
				}
			}
		}
		var out bytes.Buffer
		left, err := s.Copy(context.Background(), dir, &out)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range left {
			for _, name := range called {
				if leaks(text, name) {
					t.Errorf("%q stands in %q", name, text)
				}
			}
		}
		again, err := os.MkdirTemp("", "names")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(again)
		var second bytes.Buffer
		if _, err := pseudonyms.NewScrubber(key(t)).Copy(context.Background(), dir, &second); err != nil || !bytes.Equal(out.Bytes(), second.Bytes()) {
			t.Errorf("a second copy is another one: %v", err)
		}
		foreign := 0
		each(t, out.Bytes(), func(name string, content []byte) {
			for _, planted := range called {
				if leaks(name, planted) {
					t.Errorf("%q stands in the path %q", planted, name)
				}
			}
			if strings.HasSuffix(name, "Player.log") || strings.HasSuffix(name, "truth.json") {
				foreign++
				if !slices.ContainsFunc(left, func(l string) bool { return strings.HasPrefix(l, name+": ") }) {
					t.Errorf("%s is a foreign file, which is not said: %q", name, left)
				}
				return
			}
			for _, planted := range called {
				if bytes.Contains(content, []byte(planted)) {
					t.Errorf("%q stands in %s", planted, name)
				}
			}
		})
		if foreign < 2 {
			t.Errorf("%d foreign files were copied", foreign)
		}
		file := filepath.Join(again, "copy.tar")
		if err := os.WriteFile(file, out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		got, errs := triage(t, pseudonyms.NewScrubber(key(t)), file)
		if len(got) != 1 || len(errs) > 0 || verdict(got[0]) != verdict(list[0]) {
			t.Errorf("the copy: %d reports, %q\n%q\nexpected\n%q", len(got), errs, got[0].Verdict, list[0].Verdict)
		}
		holds(t, file)
	})
}

// holds verifies all hashes, chains and checksums in a copy.
func holds(t *rapid.T, file string) {
	tree, err := archive.Open([]string{file}, archive.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	s, err := bundle.Open(tree, []string{file})
	if err != nil {
		t.Fatal(err)
	}
	checkup, err := bundle.Examine(s, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range checkup.Files {
		for _, trouble := range f.Trouble {
			t.Errorf("%s: %v", f.Path, trouble)
		}
	}
}

// A report of names that are words, or any others, is the one of a session whose peers are called by the
// pseudonyms: no sentence has another word.
func TestWords(t *testing.T) {
	k := key(t)
	check(t, effort.Of("2", effort.Long("20", "40")), func(t *rapid.T, dir string) {
		called := drawn(t, slices.Concat(words, planted))
		now := []string{k.Player(called[0]), k.Player(called[1])}
		if now[0] < now[1] {
			t.Skip("their reports come in another order")
		}
		game(t, filepath.Join(dir, "real"), called...)
		game(t, filepath.Join(dir, "renamed"), now...)
		got, errs := triage(t, pseudonyms.NewScrubber(k), filepath.Join(dir, "real"))
		want, wantErrs := triage(t, nil, filepath.Join(dir, "renamed"))
		if len(got) != 1 || len(want) != 1 || len(errs)+len(wantErrs) > 0 {
			t.Fatalf("%d and %d reports, %q, %q", len(got), len(want), errs, wantErrs)
		}
		a, err := json.MarshalIndent(got[0], "", " ")
		if err != nil {
			t.Fatal(err)
		}
		b, err := json.MarshalIndent(want[0], "", " ")
		if err != nil {
			t.Fatal(err)
		}
		x, y := strings.ReplaceAll(string(a), filepath.Join(dir, "real"), "."), strings.ReplaceAll(string(b), filepath.Join(dir, "renamed"), ".")
		if diff := cmp.Diff(strings.Split(y, "\n"), strings.Split(x, "\n")); diff != "" {
			t.Errorf("%q:\n%s", called, diff)
		}
	})
}

// check tries a property on some sessions, each in a folder of its own.
func check(t *testing.T, number string, f func(t *rapid.T, dir string)) {
	t.Helper()
	if checks := flag.Lookup("rapid.checks"); checks.Value.String() == checks.DefValue {
		if err := flag.Set("rapid.checks", number); err != nil {
			t.Fatal(err)
		}
		defer flag.Set("rapid.checks", checks.DefValue)
	}
	rapid.Check(t, func(rt *rapid.T) {
		dir, err := os.MkdirTemp(t.TempDir(), "session-")
		if err != nil {
			rt.Fatal(err)
		}
		f(rt, dir)
	})
}

// each calls f with the files of a tar, unpacked.
func each(t tester, b []byte, f func(name string, content []byte)) {
	for r := tar.NewReader(bytes.NewReader(b)); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		var in io.Reader = r
		if strings.HasSuffix(h.Name, ".gz") {
			if in, err = gzip.NewReader(r); err != nil {
				t.Fatal(err)
			}
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			f(h.Name, content)
		} else {
			f(h.Name, nil)
		}
	}
}
