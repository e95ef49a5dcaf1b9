package desynctool_test

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/syntax"
)

// script is a run: block of a workflow.
type script struct {
	name string // of its step
	text string
}

var (
	stepName  = regexp.MustCompile(`^ *(?:- )?name: (.*)$`)
	blockRun  = regexp.MustCompile(`^( *)(?:- )?run: \|$`)
	lineRun   = regexp.MustCompile(`^ *(?:- )?run: ([^|].*)$`)
	inputUse  = regexp.MustCompile(`\$\{\{ inputs\.([-\w]+) \}\}`)
	outputUse = regexp.MustCompile(`\$\{\{ steps\.(\w+)\.outputs\.([-\w]+) \}\}`)
)

// runBlocks returns the scripts of a workflow: as much of YAML as ours are written in.
func runBlocks(t *testing.T, text string) (scripts []script) {
	t.Helper()
	if strings.Contains(text, "\t") {
		t.Error("YAML with tabs")
	}
	name := ""
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		if m := stepName.FindStringSubmatch(lines[i]); m != nil {
			name = m[1]
		}
		if m := lineRun.FindStringSubmatch(lines[i]); m != nil {
			scripts = append(scripts, script{name, m[1] + "\n"})
		}
		m := blockRun.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		indent := len(m[1])
		if strings.Contains(lines[i], "- run") {
			indent += 2
		}
		var body strings.Builder
		for i+1 < len(lines) {
			line := lines[i+1]
			if strings.TrimSpace(line) != "" && len(line)-len(strings.TrimLeft(line, " ")) <= indent {
				break
			}
			body.WriteString(strings.TrimPrefix(line, strings.Repeat(" ", indent+2)) + "\n")
			i++
		}
		scripts = append(scripts, script{name, body.String()})
	}
	for _, s := range scripts {
		if strings.Contains(s.text, "${{") {
			t.Errorf("%s: an expression in a script, where its value would be code", s.name)
		}
		if _, err := syntax.NewParser(syntax.Variant(syntax.LangBash)).Parse(strings.NewReader(s.text), s.name); err != nil {
			t.Error(err)
		}
	}
	return scripts
}

func readAction(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile("action.yml")
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestAction checks that the parts of action.yml fit: everything that it uses is there, and it uses everything that is
// there.
func TestAction(t *testing.T) {
	text := readAction(t)
	scripts := runBlocks(t, text)
	if len(scripts) != 2 || strings.Count(text, "shell: bash\n") != 2 {
		t.Fatalf("%d scripts", len(scripts))
	}
	section := func(name string) string {
		_, rest, ok := strings.Cut(text, "\n"+name+":\n")
		if !ok {
			t.Fatalf("no %s", name)
		}
		end := regexp.MustCompile(`(?m)^\w`).FindStringIndex(rest)
		if end == nil {
			return rest
		}
		return rest[:end[0]]
	}
	var declared, used []string
	for _, m := range regexp.MustCompile(`(?m)^  ([-\w]+):$`).FindAllStringSubmatch(section("inputs"), -1) {
		declared = append(declared, m[1])
	}
	for _, m := range inputUse.FindAllStringSubmatch(text, -1) {
		used = append(used, m[1])
	}
	slices.Sort(declared)
	slices.Sort(used)
	if !slices.Equal(declared, used) || len(used) == 0 {
		t.Errorf("inputs %v, used are %v", declared, used)
	}
	outputs := outputUse.FindAllStringSubmatch(text, -1)
	if len(outputs) < 6 {
		t.Errorf("%d outputs", len(outputs))
	}
	for _, m := range outputs {
		if !strings.Contains(text, "\n      id: "+m[1]+"\n") || !strings.Contains(scripts[0].text+scripts[1].text, `echo "`+m[2]+"=") {
			t.Errorf("no step writes %s of %s", m[2], m[1])
		}
	}
}

// bash runs a script as GitHub's runner does and returns its output and exit status.
func bash(t *testing.T, dir, text string, env ...string) (string, int) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "script.sh")
	if err := os.WriteFile(file, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("bash", "--noprofile", "--norc", "-eo", "pipefail", file)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), env...)
	out, err := cmd.CombinedOutput()
	if err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out), cmd.ProcessState.ExitCode()
}

func onUnix(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the stand-in for desynctool is a shell script")
	}
}

func write(t *testing.T, path, text string, mode os.FileMode) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
}

// stand is a desynctool that writes down its arguments, one on a line, and leaves a report.
const stand = `#!/bin/bash
for a in "$@"; do printf '<%s>\n' "$a"; done > "$ARGS"
for a in "$@"; do
	case $a in
	json=*) [ -n "$SAMPLE" ] && cp "$SAMPLE" "${a#json=}" ;;
	github=*) echo "::error title=desynctool%3A diverged::message" > "${a#github=}" ;;
	esac
done
echo "::set-output name=evil::text of a player"
exit "$EXIT"
`

// TestActionTriage runs the action's second script with a stand-in for desynctool.
func TestActionTriage(t *testing.T) {
	onUnix(t)
	sample, err := filepath.Abs(filepath.Join("report", "document", "testdata", "triage.json"))
	if err != nil {
		t.Fatal(err)
	}
	script := runBlocks(t, readAction(t))[1].text
	for _, c := range []struct {
		name          string
		exit          int
		noReport      bool
		env           map[string]string
		args, outputs []string
		verdict       string // instead of the sample's first
		refused       bool
	}{
		{
			name: "diverged", exit: 1,
			env:     map[string]string{"PATHS": "host\nclient\n", "FORMATS": "junit=j.xml\nsarif=a b.sarif\n"},
			args:    []string{"--format", "junit=j.xml", "--format", "sarif=a b.sarif", "--", "host", "client"},
			outputs: []string{"status=diverged", "exit-status=1", "fingerprint=5a1f00c2d3e4b596", "report-json=r.json", "verdict=host and client diverged in tick 1234 (1234 → 1235), in Combat: Infantry, Health.hp of 3 entities."},
		},
		{
			name: "policy", exit: 0,
			env:     map[string]string{"PATHS": "host", "FORMATS": "", "FAIL_ON": "new,inconclusive", "KNOWN": "docs/known desyncs", "SAME_BY": "field"},
			args:    []string{"--fail-on", "new,inconclusive", "--known", "docs/known desyncs", "--same-by", "field", "--", "host"},
			outputs: []string{"status=diverged", "exit-status=0"},
		},
		{
			name: "hostile", exit: 1,
			env: map[string]string{
				"PATHS": "$(touch pwned)\n`touch pwned`\n; touch pwned\n--fail-on\na  b\n\n\"'\n${HOME}\\", "FORMATS": "junit=$(touch pwned)\n;touch pwned",
				"FAIL_ON": "$(touch pwned)", "KNOWN": "\";touch pwned;\"", "SAME_BY": "`touch pwned`",
			},
			args: []string{
				"--format", "junit=$(touch pwned)", "--format", ";touch pwned", "--fail-on", "$(touch pwned)", "--known", "\";touch pwned;\"", "--same-by", "`touch pwned`",
				"--", "$(touch pwned)", "`touch pwned`", "; touch pwned", "--fail-on", "a  b", "\"'", `${HOME}\`,
			},
			outputs: []string{"status=diverged"},
		},
		{
			name: "patterns", exit: 1,
			env:     map[string]string{"PATHS": "art*/peer *\nnone*", "FORMATS": ""},
			args:    []string{"--", "artifacts/peer 1", "artifacts/peer 2", "none*"},
			outputs: []string{"status=diverged"},
		},
		{
			name: "quotes", exit: 1, verdict: `a \"quoted\" \\ name \u001b::set-output`,
			env:     map[string]string{"PATHS": "host", "FORMATS": ""},
			args:    []string{"--", "host"},
			outputs: []string{`verdict=a "quoted" \ name \u001b::set-output`},
		},
		{
			name: "unusable", exit: 2, noReport: true,
			env:     map[string]string{"PATHS": "host", "FORMATS": ""},
			args:    []string{"--", "host"},
			outputs: []string{"status=error", "exit-status=2", "verdict=", "fingerprint="},
		},
		{name: "two lines", exit: 2, refused: true, env: map[string]string{"PATHS": "host", "FORMATS": "", "REPORT": "r.json\nstatus=in-sync"}},
		{name: "no report", exit: 2, refused: true, env: map[string]string{"PATHS": "host", "FORMATS": "", "REPORT": ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir, temp := t.TempDir(), t.TempDir()
			for _, peer := range []string{"peer 1", "peer 2"} {
				if err := os.MkdirAll(filepath.Join(dir, "artifacts", peer), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			tool, output, args := filepath.Join(temp, "desynctool"), filepath.Join(temp, "output"), filepath.Join(temp, "args")
			write(t, tool, stand, 0o755)
			from := sample
			if c.verdict != "" {
				text, err := os.ReadFile(sample)
				if err != nil {
					t.Fatal(err)
				}
				from = filepath.Join(temp, "sample.json")
				write(t, from, regexp.MustCompile(`"host and client diverged[^"]*"`).ReplaceAllLiteralString(string(text), `"`+c.verdict+`"`), 0o644)
			}
			if c.noReport {
				from = ""
			}
			env := map[string]string{
				"TOOL": tool, "RUNNER_TEMP": temp, "GITHUB_OUTPUT": output, "REPORT": "r.json", "FAIL_ON": "", "KNOWN": "", "SAME_BY": "",
				"ARGS": args, "SAMPLE": from, "EXIT": fmt.Sprint(c.exit),
			}
			for name, value := range c.env {
				env[name] = value
			}
			var list []string
			for name, value := range env {
				list = append(list, name+"="+value)
			}
			out, exit := bash(t, dir, script, list...)
			if exit != c.exit {
				t.Errorf("exit status %d, want %d:\n%s", exit, c.exit, out)
			}
			if found, _ := filepath.Glob(filepath.Join(dir, "pwned")); len(found) > 0 {
				t.Error("an input was run")
			}
			got, _ := os.ReadFile(output)
			if c.refused {
				if len(got) > 0 || !strings.Contains(out, "::error") {
					t.Errorf("outputs %q\n%s", got, out)
				}
				return
			}
			if n := bytes.Count(got, []byte("\n")); n != 5 {
				t.Errorf("%d outputs:\n%s", n, got)
			}
			for _, line := range c.outputs {
				if !slices.Contains(strings.Split(string(got), "\n"), line) {
					t.Errorf("no output %s in\n%s", line, got)
				}
			}
			given, err := os.ReadFile(args)
			if err != nil {
				t.Fatal(err)
			}
			want := "<" + strings.Join(c.args, ">\n<") + ">\n"
			if !strings.HasPrefix(string(given), "<triage>\n<--format>\n<text>\n<--format>\n<github=") || !strings.HasSuffix(string(given), want) {
				t.Errorf("arguments\n%s\nwant at the end\n%s", given, want)
			}
			// The player's command stands where commands are stopped, ours behind it.
			stopped := regexp.MustCompile(`(?s)::stop-commands::(\w{32})\n(.*)\n::(\w{32})::\n(.*)`).FindStringSubmatch(out)
			if stopped == nil || stopped[1] != stopped[3] || !strings.Contains(stopped[2], "::set-output") || !strings.HasPrefix(stopped[4], "::error title=") || strings.Contains(stopped[4], "set-output") {
				t.Errorf("the log is\n%s", out)
			}
		})
	}
}

// TestActionInstall runs the action's first script: with the tool of its own checkout, with
// one that is installed, and without any.
func TestActionInstall(t *testing.T) {
	onUnix(t)
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	script := runBlocks(t, readAction(t))[0].text
	temp := t.TempDir()
	output := filepath.Join(temp, "output")
	installed := filepath.Join(temp, "bin", "desynctool")
	if err := os.Mkdir(filepath.Dir(installed), 0o755); err != nil {
		t.Fatal(err)
	}
	write(t, installed, "#!/bin/bash\necho installed\n", 0o755)
	run := func(given, path string) (string, int) {
		t.Helper()
		os.Remove(output)
		out, exit := bash(t, temp, script, "GIVEN="+given, "GITHUB_ACTION_PATH="+root, "RUNNER_TEMP="+temp, "GITHUB_OUTPUT="+output, "PATH="+path)
		got, _ := os.ReadFile(output)
		if exit != 0 {
			return out, exit
		}
		return strings.TrimSuffix(strings.TrimPrefix(string(got), "tool="), "\n"), exit
	}
	for _, given := range []string{"desynctool", "bin/desynctool", "./bin/desynctool", installed} {
		if tool, exit := run(given, filepath.Dir(installed)+string(os.PathListSeparator)+os.Getenv("PATH")); exit != 0 || tool != installed {
			t.Errorf("%s is %s, exit status %d", given, tool, exit)
		}
	}
	for _, given := range []string{"desynctool", "./desynctool", "-v", "$(touch pwned)"} {
		if out, exit := run(given, "/usr/bin:/bin"); exit != 2 || !strings.Contains(out, "::error") {
			t.Errorf("%s is not there: exit status %d\n%s", given, exit, out)
		}
	}
	if found, _ := filepath.Glob(filepath.Join(temp, "pwned")); len(found) > 0 {
		t.Error("an input was run")
	}
	tool, exit := run("", goPath(t))
	if exit != 0 {
		t.Fatalf("its own: exit status %d\n%s", exit, tool)
	}
	if out, err := exec.Command(tool, "version").CombinedOutput(); err != nil || !bytes.HasPrefix(out, []byte("desynctool ")) {
		t.Errorf("%s version prints %s (%v)", tool, out, err)
	}
}
