package paste

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/file/partial"
	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// known recognises a file that begins with the line "log NAME", and lines that begin with "tick ".
var known = Known{
	Whole: func(head []byte) string {
		if bytes.HasPrefix(head, []byte("log ")) {
			return "log"
		}
		return ""
	},
	Lines: func(lines []byte) string {
		if bytes.HasPrefix(lines, []byte("tick ")) {
			return "log"
		}
		return ""
	},
}

// numbered returns the lines of an excerpt by their numbers, and whether it ends with a gap.
func numberedLines(t *testing.T, f File) (lines map[int64]string, open bool) {
	t.Helper()
	_, text, ok := partial.Cut(f.Text)
	if !ok {
		t.Fatalf("%s: no excerpt: %.80q", f.Folder, f.Text)
	}
	lines = map[int64]string{}
	at := int64(1)
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		open = false
		if g, gap := partial.ParseGap([]byte(line)); gap {
			if g.First != at {
				t.Fatalf("%s: gap %+v at line %d", f.Folder, g, at)
			}
			at, open = g.Last+1, g.Last == 0
			continue
		}
		lines[at] = line
		at++
	}
	return lines, open
}

// file draws the lines of a log.
func file(t *rapid.T, label string) []string {
	lines := []string{"log of a game"}
	n := rapid.IntRange(0, 40).Draw(t, label+" lines")
	for range n {
		lines = append(lines, fmt.Sprintf("tick %d", rapid.IntRange(0, 6).Draw(t, label)))
	}
	return lines
}

// changed draws a changed copy of a log.
func changed(t *rapid.T, lines []string) []string {
	out := slices.Clone(lines)
	for range rapid.IntRange(1, 6).Draw(t, "changes") {
		at := rapid.IntRange(1, len(out)).Draw(t, "at")
		switch rapid.IntRange(0, 2).Draw(t, "what") {
		case 0:
			out = slices.Insert(out, at, "tick added")
		case 1:
			if at < len(out) {
				out = slices.Delete(out, at, at+1)
			}
		default:
			if at < len(out) {
				out[at] += " changed"
			}
		}
	}
	return out
}

// differ returns what a program writes about two files: diff itself, and where the machine has
// none a writer of unified diffs with everything in one hunk.
func differ(t interface{ Fatal(...any) }, dir string, a, b []string, option ...string) []byte {
	left, right := filepath.Join(dir, "host.log"), filepath.Join(dir, "client.log")
	for path, lines := range map[string][]string{left: a, right: b} {
		if err := os.WriteFile(path, []byte(strings.Join(lines, "\n")+"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	program, err := exec.LookPath("diff")
	if err != nil {
		var out bytes.Buffer
		fmt.Fprintf(&out, "--- host.log\n+++ client.log\n@@ -1,%d +1,%d @@\n", len(a), len(b))
		for _, l := range a {
			fmt.Fprintf(&out, "-%s\n", l)
		}
		for _, l := range b {
			fmt.Fprintf(&out, "+%s\n", l)
		}
		return out.Bytes()
	}
	cmd := exec.Command(program, append(option, "host.log", "client.log")...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) {
		t.Fatal(err)
	}
	return out
}

// TestDiff takes diffs of many files apart: each line of a side is that line of the file, and
// lines between the hunks are the same in both files.
func TestDiff(t *testing.T) {
	effort.Checks(t, 30)
	for _, options := range [][]string{{"-u"}, {"-U0"}, {"-U", "1"}, {"-U", "9"}, {"-c"}, {"-C", "1"}, {"-C", "0"}, {"--normal"}} {
		t.Run(strings.Join(options, ""), func(t *testing.T) {
			dir := t.TempDir()
			rapid.Check(t, func(r *rapid.T) {
				a := file(r, "left")
				b := changed(r, a)
				if slices.Equal(a, b) {
					return
				}
				diff := differ(t, dir, a, b, options...)
				p, err := Peel(diff, known)
				if err != nil {
					r.Fatalf("%v\n%s", err, diff)
				}
				if len(p.Files) != 2 {
					r.Fatalf("%d files\n%s", len(p.Files), diff)
				}
				for _, note := range p.Notes {
					if strings.Contains(note, "hunks with") || strings.Contains(note, "ends within") {
						r.Fatalf("%s\n%s", note, diff)
					}
				}
				whole := [][]string{a, b}
				var missing [2][]string
				for i, f := range p.Files {
					lines, open := numberedLines(t, f)
					for n := range lines {
						if n < 1 || n > int64(len(whole[i])) {
							r.Fatalf("side %d has line %d\n%s", i, n, diff)
						}
					}
					for n, want := range whole[i] {
						got, ok := lines[int64(n+1)]
						if ok && got != want {
							r.Fatalf("side %d line %d is %q, want %q\n%s", i, n+1, got, want, diff)
						}
						if !ok {
							missing[i] = append(missing[i], want)
						}
					}
					if _, last := lines[int64(len(whole[i]))]; !last && !open {
						r.Fatalf("side %d does not say that more follows\n%s", i, diff)
					}
				}
				if !slices.Equal(missing[0], missing[1]) {
					r.Fatalf("outside the hunks %q and %q\n%s", missing[0], missing[1], diff)
				}
			})
		})
	}
}

// TestCutAnywhere cuts diffs off at any byte. Each line of a side is still a whole line of the file, and
// where the sides are twins, a line that only one side has is missing in the other file. The keys of the lines
// ascend, so that no line is elsewhere in the other file.
func TestCutAnywhere(t *testing.T) {
	effort.Checks(t, 60)
	draw := func(r *rapid.T) (a, b []string) {
		a, b = []string{"log of a game"}, []string{"log of a game"}
		for key := range rapid.IntRange(5, 40).Draw(r, "keys") {
			switch rapid.IntRange(0, 5).Draw(r, "key") {
			case 0:
				a = append(a, fmt.Sprintf("tick %d x", key))
			case 1:
				b = append(b, fmt.Sprintf("tick %d x", key))
			case 2, 3:
				a, b = append(a, fmt.Sprintf("tick %d x", key)), append(b, fmt.Sprintf("tick %d yz", key))
			default:
				a, b = append(a, fmt.Sprintf("tick %d x", key)), append(b, fmt.Sprintf("tick %d x", key))
			}
		}
		return a, b
	}
	keys := func(lines []string) map[string]bool {
		set := map[string]bool{}
		for _, l := range lines {
			if f := strings.Fields(l); len(f) > 1 && f[0] == "tick" {
				set[f[1]] = true
			}
		}
		return set
	}
	twins, absent := 0, 0
	for _, options := range [][]string{{"-u"}, {"-U0"}, {"-U", "1"}, {"-c"}, {"-C", "1"}, {"--normal"}} {
		t.Run(strings.Join(options, ""), func(t *testing.T) {
			dir := t.TempDir()
			rapid.Check(t, func(r *rapid.T) {
				a, b := draw(r)
				diff := differ(t, dir, a, b, options...)
				at := rapid.IntRange(len(diff)/4, len(diff)).Draw(r, "cut")
				if _, after, _ := bytes.Cut(diff[at:], []byte("\n")); len(after) == 0 || bytes.IndexByte([]byte("@*123456789"), after[0]) >= 0 {
					return // the last line of a hunk may be whole without its end
				}
				diff = diff[:at]
				p, err := Peel(diff, known)
				if err != nil || len(p.Files) != 2 {
					return // too little is left
				}
				var shown [2]map[string]bool
				whole := [2][]string{a, b}
				for i, f := range p.Files {
					_, text, _ := partial.Cut(f.Text)
					lines := strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
					lines = slices.DeleteFunc(lines, func(l string) bool { _, gap := partial.ParseGap([]byte(l)); return gap || l == "" })
					for _, l := range lines {
						if !slices.Contains(whole[i], l) {
							r.Fatalf("side %d has the line %q, which the file lacks\n%s", i, l, diff)
						}
					}
					shown[i] = keys(lines)
				}
				if head, _ := partial.ParseHead(p.Files[0].Text); head.Twin() == "" {
					return
				}
				twins++
				for i := range shown {
					for key := range shown[i] {
						if shown[1-i][key] {
							continue
						}
						absent++
						if keys(whole[1-i])[key] {
							r.Fatalf("line %s is only on side %d of the excerpt, and in both files\n%s", key, i, diff)
						}
					}
				}
			})
		})
	}
	if twins == 0 || absent == 0 {
		t.Errorf("%d twins and %d absent lines: nothing was tested", twins, absent)
	}
}

// TestSideBySide takes side-by-side diffs apart. Lines that may be cut to the width are left out.
func TestSideBySide(t *testing.T) {
	effort.Checks(t, 30)
	if _, err := exec.LookPath("diff"); err != nil {
		t.Log("diff is not there: only what is written here is read")
	}
	for _, options := range [][]string{{"-y"}, {"-y", "-t"}, {"-y", "-W", "60"}, {"-y", "-W", "61", "-t"}, {"-y", "-W", "200"}} {
		t.Run(strings.Join(options, ""), func(t *testing.T) {
			dir := t.TempDir()
			taken, tried := 0, 0
			rapid.Check(t, func(r *rapid.T) {
				a := file(r, "left")
				b := changed(r, a)
				if _, err := exec.LookPath("diff"); err != nil {
					a, b = []string{"log of a game", "tick 1"}, []string{"log of a game", "tick 2"}
				}
				if slices.Equal(a, b) {
					return
				}
				tried++
				diff := differ(t, dir, a, b, options...)
				if _, err := exec.LookPath("diff"); err != nil {
					diff = fmt.Appendf(nil, "%-30s  %s\n%-30s| %s\n", a[0], b[0], a[1], b[1])
				}
				p, err := Peel(diff, known)
				if err != nil || len(p.Files) != 2 {
					return // one that shows no gutter
				}
				taken++
				for i, f := range p.Files {
					lines, _ := numberedLines(t, f)
					whole := [][]string{a, b}[i]
					for n, got := range lines {
						if n > int64(len(whole)) || whole[n-1] != got {
							r.Fatalf("side %d line %d is %q\n%s", i, n, got, diff)
						}
					}
					if wide := !strings.Contains(strings.Join(options, ""), "W6"); wide && len(lines) != len(whole) {
						r.Fatalf("side %d has %d of %d lines\n%s", i, len(lines), len(whole), diff)
					}
				}
			})
			if taken == 0 || 2*taken < tried {
				t.Errorf("%d of %d diffs were taken apart", taken, tried)
			}
		})
	}
}

// wrappers are what people put around a text, with what takes a line in.
var wrappers = map[string]func(lines []string) []string{
	"quoted":    each(func(_ int, l string) string { return "> " + l }),
	"tight":     each(func(_ int, l string) string { return ">" + l }),
	"deep":      each(func(_ int, l string) string { return strings.Repeat("> ", 9) + l }),
	"chat":      each(func(i int, l string) string { return fmt.Sprintf("[12:%02d:07] <some one> %s", i%60, l) }),
	"messenger": each(func(i int, l string) string { return fmt.Sprintf("[25.11.20, 12:%02d] Some One: %s", i%60, l) }),
	"dated":     each(func(i int, l string) string { return fmt.Sprintf("2020-11-25 12:52:%02d.123 %s", i%60, l) }),
	"numbered":  each(func(i int, l string) string { return fmt.Sprintf("%4d: %s", i+1, l) }),
	"listed":    each(func(i int, l string) string { return fmt.Sprintf("%6d\t%s", i+1, l) }),
	"indented":  each(func(_ int, l string) string { return "    " + l }),
	"crlf":      each(func(_ int, l string) string { return l + "\r" }),
	"fenced": func(l []string) []string {
		return slices.Concat([]string{"Hello!", "", "```text"}, l, []string{"```", "Bye"})
	},
	"tildes": func(l []string) []string { return slices.Concat([]string{"~~~~"}, l, []string{"~~~~", "Bye"}) },
	"bbcode": func(l []string) []string {
		return slices.Concat([]string{"My log:", "[spoiler][code]"}, l, []string{"[/code][/spoiler]", "Bye"})
	},
	"tag": func(l []string) []string {
		return slices.Concat([]string{"<pre><code>"}, l, []string{"</code></pre>"})
	},
	"prose": func(l []string) []string { return slices.Concat([]string{"Hello,", "", "it happened again:", ""}, l) },
}

func each(f func(i int, l string) string) func([]string) []string {
	return func(lines []string) (out []string) {
		for i, l := range lines {
			out = append(out, f(i, l))
		}
		return out
	}
}

// TestWrapped takes off all that two or three people put around a text, in any order.
func TestWrapped(t *testing.T) {
	names := make([]string, 0, len(wrappers))
	for name := range wrappers {
		names = append(names, name)
	}
	slices.Sort(names)
	rapid.Check(t, func(r *rapid.T) {
		lines := file(r, "lines")
		text, used := lines, []string{}
		for range rapid.IntRange(1, 3).Draw(r, "wrappers") {
			name := rapid.SampledFrom(names).Draw(r, "wrapper")
			text = wrappers[name](text)
			used = append(used, name)
		}
		joined := []byte(strings.Join(text, "\n") + "\n")
		if known.Whole(joined) != "" {
			return
		}
		p, err := Peel(joined, known)
		if err != nil {
			r.Fatalf("%v: %v\n%s", used, err, joined)
		}
		want := strings.Join(lines, "\n") + "\n"
		if len(p.Files) != 1 || len(p.Notes) == 0 && !slices.Equal(used, []string{"crlf"}) {
			r.Fatalf("%v: %d files, %q\n%s", used, len(p.Files), p.Notes, joined)
		}
		if got := string(p.Files[0].Text); got != want && !strings.HasPrefix(got, want) {
			r.Fatalf("%v: %q, want %q\n%s", used, got, want, joined)
		}
	})
}

// TestQuotedChat takes off a chat within a chat, which is a name before a name.
func TestQuotedChat(t *testing.T) {
	for _, quote := range []string{"> ", "> > > > > > > > > ", "[25.11.20, 11:58] Another: "} {
		text := "[12:00:07] <some one> " + quote + "[25.11.20, 12:00] Some One: log of a game\n"
		p, err := Peel([]byte(text), known)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := string(p.Files[0].Text); got != "log of a game\n" {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestTagged takes off tags in the lines of the text itself.
func TestTagged(t *testing.T) {
	for _, text := range []string{
		"<pre><code>log &lt;a&gt;\ntick &amp;1</code></pre>\n", "Mine:\n[code]log <a>\ntick &1[/code]\n[quote]You wrote[/quote]\n",
		"[spoiler=log][code=text]log <a>\ntick &1[/code][/spoiler]\n", "&gt; log &lt;a&gt;\n&gt; tick &amp;1\n",
		"> <pre>\n> log &lt;a&gt;\n> tick &amp;1\n> </pre>\n",
	} {
		p, err := Peel([]byte(text), known)
		if err != nil {
			t.Errorf("%q: %v", text, err)
		} else if got := strings.TrimSuffix(string(p.Files[0].Text), "\n"); got != "log <a>\ntick &1" {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestPosts takes several files out of one text.
func TestPosts(t *testing.T) {
	text := "Mine:\n```\nlog a\ntick 1\n```\nand his:\n\n> ```\n> log b\n> tick 2\n> ```\nThanks\n"
	p, err := Peel([]byte(text), known)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range p.Files {
		got = append(got, f.Folder+"/"+f.Name+" "+string(f.Text))
	}
	if want := []string{"Mine/paste.txt log a\ntick 1\n", "his/paste.txt log b\ntick 2\n"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestWide(t *testing.T) {
	text := "> log ä😀\n> tick 1\n"
	for _, c := range []struct {
		mark string
		big  bool
	}{{"\xff\xfe", false}, {"\xfe\xff", true}, {"", false}, {"", true}} {
		b := []byte(c.mark)
		for _, r := range text {
			units := []uint16{uint16(r)}
			if r > 0xffff {
				units = []uint16{0xd83d, 0xde00}
			}
			for _, u := range units {
				if c.big {
					b = append(b, byte(u>>8), byte(u))
				} else {
					b = append(b, byte(u), byte(u>>8))
				}
			}
		}
		p, err := Peel(b, known)
		if err != nil || string(p.Files[0].Text) != "log ä😀\ntick 1\n" {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestNothing leaves alone what holds nothing.
func TestNothing(t *testing.T) {
	for _, text := range []string{
		"", "\n", "log a\ntick 1\n", "hello\n", "> hello\n> you\n", "--- a\n+++ b\n@@ -1 +1 @@\n-x\n+y\n", "1c1\n< x\n---\n> y\n",
		"```\n", "[code]", "*** a\n--- b\n", "***************\n", "@@ -1 +1 @@\n", "diff a b\n", "\x00\x01\x02",
	} {
		if p, err := Peel([]byte(text), known); !errors.Is(err, ErrNone) {
			t.Errorf("%q: %+v, %v", text, p, err)
		}
	}
}

// TestUnfit takes the lines of hunks that do not fit their counts, and reports it.
func TestUnfit(t *testing.T) {
	for diff, want := range map[string]string{
		"--- a\n+++ b\n@@ -1,9 +1,9 @@\n log x\n-tick 1\n+tick 2\n":                            "ends within a hunk",
		"--- a\n+++ b\n@@ -1,9 +1,9 @@\n log x\n-tick 1\n+tick 2\n@@ -50 +50 @@\n-tick 3\n":    "fewer lines",
		"--- a\n+++ b\n@@ -1,2 +1,2 @@\n log x\n-tick 1\n+tick 2\n-tick 3\n+tick 4\n tick 5\n": "more lines",
		"1,2c1\n< log x\n< tick 1\n< tick 2\n---\n> log y\n":                                   "more lines",
		"1,3c1,3\n< log x\n< tick 1\n":                                                         "ends within a hunk",
		"*** a\n--- b\n***************\n*** 1,9 ****\n  log x\n! tick 1\n":                     "ends within a hunk",
	} {
		p, err := Peel([]byte(diff), known)
		if err != nil {
			t.Errorf("%q: %v", diff, err)
			continue
		}
		if notes := strings.Join(p.Notes, "\n"); !strings.Contains(notes, want) {
			t.Errorf("%q: %q, want %q", diff, notes, want)
		}
	}
}

// TestMany refuses a diff of far too many hunks.
func TestMany(t *testing.T) {
	head := []byte("--- a\n+++ b\n@@ -1 +1 @@\n-log x\n+log y\n")
	diff := append(head, bytes.Repeat([]byte("@@ -5 +5 @@\n-a\n+b\n"), int(limits.Hunks.Max()))...)
	if _, err := Peel(diff, known); err == nil || errors.Is(err, ErrNone) || !strings.Contains(err.Error(), "hunks") {
		t.Errorf("%v", err)
	}
}

// TestNesting: time grows with the length of a text, however deep its quoting is.
func TestNesting(t *testing.T) {
	line := bytes.Repeat([]byte("> "), 1<<20)
	text := slices.Concat(line, []byte("log x\n"), line, []byte("tick 1\n"))
	if _, err := Peel(text, known); err != nil {
		t.Error(err)
	}
	text = bytes.Repeat([]byte(strings.Repeat(">", 1000)+"x\n"), 1000)
	if _, err := Peel(text, known); !errors.Is(err, ErrNone) {
		t.Error(err)
	}
}

func TestSides(t *testing.T) {
	for _, c := range []struct{ a, b, want string }{
		{"", "", "left/text.txt right/text.txt"},
		{"host/a.log", "client/a.log", "host/a.log client/a.log"},
		{`C:\x\host\a.log`, `C:\x\client\a.log`, "host/a.log client/a.log"},
		{"p0.txt", "p1.txt", "p0/p0.txt p1/p1.txt"},
		{"a.log", "a.log", "left/a.log right/a.log"},
		{"../../etc/passwd", "/etc/../x", "passwd/passwd x/x"},
		{"a.txt", "a.log", "left/a.txt right/a.log"},
		{"..", ".", "left/text.txt right/text.txt"},
	} {
		l, r := sides(c.a, c.b)
		if got := strings.Join(l[:], "/") + " " + strings.Join(r[:], "/"); got != c.want {
			t.Errorf("%q %q: %q, want %q", c.a, c.b, got, c.want)
		}
	}
}

var clean = regexp.MustCompile(`^[^/\\]+$`)

func FuzzPeel(f *testing.F) {
	for _, name := range []string{"quoted", "chat", "numbered", "fenced", "bbcode", "tag"} {
		f.Add([]byte(strings.Join(wrappers[name]([]string{"log a", "tick 1", "tick 2"}), "\n")))
	}
	f.Add([]byte("--- a\n+++ b\n@@ -1,3 +1,3 @@\n log x\n-tick 1\n+tick 2\n tick 3\n"))
	f.Add([]byte("*** a\n--- b\n***************\n*** 1,2 ****\n  log x\n! tick 1\n--- 1,2 ----\n  log x\n! tick 2\n"))
	f.Add([]byte("diff a b\n1,2c1,2\n< log x\n< tick 1\n---\n> log y\n> tick 2\n"))
	f.Add([]byte("log a                 log a\ntick 1              | tick 2\ntick 3              <\n                    > tick 4\n"))
	f.Add([]byte("Server log:\n    t 1 aa\n    t 2 bb\n\nClient (Tom):\n    t 1 aa\n    t 2 bc\n| t | 1 |\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		p, err := Peel(text, anyGame)
		if err != nil {
			return
		}
		if len(p.Files) == 0 {
			t.Fatal("no files and no error")
		}
		total := 0
		for _, file := range p.Files {
			if !clean.MatchString(file.Name) || file.Folder != "" && !clean.MatchString(file.Folder) {
				t.Fatalf("names %q, %q", file.Folder, file.Name)
			}
			total += len(file.Text)
		}
		if total > 64*len(text)+4096 {
			t.Fatalf("%d bytes of %d", total, len(text))
		}
	})
}

func BenchmarkDiff(b *testing.B) {
	for _, kind := range []string{"unified", "normal", "context"} {
		b.Run(kind, func(b *testing.B) {
			var diff bytes.Buffer
			if kind == "unified" {
				diff.WriteString("--- a\n+++ b\n")
			} else if kind == "context" {
				diff.WriteString("*** a\n--- b\n")
			}
			for n := 1; diff.Len() < 100<<20; n += 100 {
				switch line := fmt.Sprintf("tick %d of a line that is as long as such lines are", n); kind {
				case "unified":
					fmt.Fprintf(&diff, "@@ -%d,7 +%d,7 @@\n %[3]s\n %[3]s\n %[3]s\n-%[3]s a\n+%[3]s b\n %[3]s\n %[3]s\n %[3]s\n", n, n, line)
				case "normal":
					fmt.Fprintf(&diff, "%dc%d\n< %[3]s a\n---\n> %[3]s b\n", n, n, line)
				default:
					fmt.Fprintf(&diff, "***************\n*** %d,%d ****\n  %[3]s\n! %[3]s a\n  %[3]s\n--- %[1]d,%[2]d ----\n  %[3]s\n! %[3]s b\n  %[3]s\n", n, n+2, line)
				}
			}
			b.SetBytes(int64(diff.Len()))
			for b.Loop() {
				if _, err := Peel(diff.Bytes(), known); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// FuzzKinds takes damaged diffs of each kind apart: every line of a side is in the text.
func FuzzKinds(f *testing.F) {
	for _, text := range []string{
		"--- a/x.log\n+++ b/x.log\n@@ -1,2 +1,2 @@\n log one\n-tick 1\n+tick 2\n@@ -9 +9 @@\n-tick 3\n+tick 4\n",
		"*** a/x.log\n--- b/x.log\n***************\n*** 1,2 ****\n  log one\n! tick 1\n--- 1,2 ----\n  log one\n! tick 2\n",
		"2c2\n< tick 1\n---\n> tick 2\n7a8,9\n> tick 5\n> tick 6\n",
		"log one                           log one\ntick 1                          | tick 2\ntick 3                          <\n",
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if bytes.IndexByte(text, '&') >= 0 || bytes.IndexByte(text, 0x1d) >= 0 || wide(text) != nil {
			return // entities become signs, and a mark may be taken for a gap
		}
		found, err := Peel(text, known)
		if err != nil {
			return
		}
		for _, file := range found.Files {
			for line := range strings.Lines(string(file.Text)) {
				line = strings.TrimSuffix(line, "\n")
				if !strings.HasPrefix(line, "\x1d") && !bytes.Contains(text, []byte(line)) && !strings.Contains(string(expand(text)), line) {
					t.Fatalf("%s has the line %q, which the text has not", file.Folder, line)
				}
			}
		}
	})
}

// TestDocumentsAreNoPastes: a document, whole or cut, is not searched line by line, which takes seconds where it is large.
func TestDocumentsAreNoPastes(t *testing.T) {
	tried := 0
	known := Known{
		Whole: func([]byte) string { tried++; return "" },
		Lines: func([]byte) string { tried++; return "" },
	}
	for _, text := range []string{
		"\n{\"lines\": [\n" + strings.Repeat("\"a line\",\n", 1000) + "1]}\n",
		"{\"lines\": [\n" + strings.Repeat("\"a line\",\n", 1000),
		"return {\n" + strings.Repeat("  { id = 5, hp = 1 },\n", 1000) + "}\n",
		"tick: 5\n" + strings.Repeat("unit {\n  id: 5\n}\n", 1000),
	} {
		if _, err := Peel([]byte(text), known); !errors.Is(err, ErrNone) || tried != 0 {
			t.Errorf("%.20q: %v, after %d tries", text, err, tried)
		}
	}
	text := "{\"lines\": [\n"
	for n := range 1000 {
		text += "\"a line" + strings.Repeat("!", n%50) + strings.Repeat("?", n/50) + "\",\n"
	}
	text += "?\n"
	if _, err := Peel([]byte(text), known); !errors.Is(err, ErrNone) || tried < 1000 {
		t.Errorf("%v, after %d tries of what is not a document", err, tried)
	}
}

// TestLogsAreTriedSeldom: of lines that are the same but for their numbers few are tried, and a file after them is found.
func TestLogsAreTriedSeldom(t *testing.T) {
	tried := 0
	counting := Known{
		Whole: func(head []byte) string { tried++; return known.Whole(head) },
		Lines: func(lines []byte) string { tried++; return known.Lines(lines) },
	}
	var log strings.Builder
	for n := range 20000 {
		fmt.Fprintf(&log, "[%02d:%02d:%02d] Frame %d checksum: %08x\nunit %d moved to (%d, 3)\n", n/3600, n/60%60, n%60, n, uint32(n)*2654435761, n%700, n%90)
	}
	if _, err := Peel([]byte(log.String()), counting); !errors.Is(err, ErrNone) || tried > 5000 {
		t.Errorf("%v, after %d tries of 40000 lines", err, tried)
	}
	text := log.String()[log.Len()-SearchLen/2:] + "log of a game\ntick 1\n"
	if found, err := Peel([]byte(text), counting); err != nil || len(found.Files) != 1 || string(found.Files[0].Text) != "log of a game\ntick 1\n" {
		t.Errorf("the file after a log: %v, %v", found, err)
	}
}
