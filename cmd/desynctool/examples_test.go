package main

import (
	"archive/zip"
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/cmd/internal/cli/clitest"
	"github.com/desynctool/desynctool/internal/testkit/effort"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

// standIns are the programs of others in the examples of helps, as shell scripts.
var standIns = map[string]string{
	"xclip":     "cat paste.txt",
	"game-1.2":  "exec desynctool sim",
	"game-1.3":  "exec desynctool sim",
	"python3":   "exec desynctool sim",
	"make":      `printf '#!/bin/sh\nexec desynctool replay "$1" --write-trace "$2"\n' >replay; chmod +x replay`,
	"replay.sh": `grep -q ',"' "$1" && echo MISMATCH; true`,
}

// playground has files with the names that examples use.
type playground struct {
	t           *testing.T
	corpus, dir string
}

func (p *playground) check(err error) {
	if p.t.Helper(); err != nil {
		p.t.Fatal(err)
	}
}

// run runs desynctool here, which must end so.
func (p *playground) run(status int, args ...string) (stdout string) {
	p.t.Helper()
	var out, errors bytes.Buffer
	if got := run(args, strings.NewReader(""), &out, &errors); got != status {
		p.t.Fatalf("desynctool %v ends with %d: %s", args, got, &errors)
	}
	return out.String()
}

func (p *playground) write(name, text string, mode os.FileMode) {
	p.t.Helper()
	p.check(os.MkdirAll(filepath.Dir(name), 0o777))
	p.check(os.WriteFile(name, []byte(text), mode))
}

// copyFile copies a file of the corpus.
func (p *playground) copyFile(from, to string) {
	p.t.Helper()
	b, err := os.ReadFile(filepath.Join(p.corpus, from))
	p.check(err)
	p.write(to, string(b), 0o666)
}

// session has a session of two peers who part in tick 1241, under all the names that it has.
func (p *playground) session() {
	p.t.Helper()
	p.run(0, "record", "-o", "s", "--seed", "7", "--ticks", "1300", "--entities", "200", "--fault", "rng-leak/Movement@1241:client", "--signatures")
	for _, name := range []string{"report", "session", "artifacts"} {
		p.check(os.CopyFS(name, os.DirFS("s")))
	}
	p.check(os.CopyFS("host", os.DirFS("s/host")))
	p.check(os.CopyFS("client", os.DirFS("s/client")))
	for _, dir := range []string{"bugs", "reports"} {
		p.check(os.Mkdir(dir, 0o777))
	}
	const snap = "desync_0000000000000007_0000001242.snap"
	b, err := os.ReadFile(filepath.Join("host", snap))
	p.check(err)
	p.write(snap, string(b), 0o666)
	b, err = os.ReadFile(filepath.Join("host", "checkpoints.trace"))
	p.check(err)
	p.write("host.trace", string(b), 0o666)
	b, err = os.ReadFile(filepath.Join("host", signatures.Name))
	p.check(err)
	p.write(signatures.Name, string(b), 0o666)
	p.write("host.pub", signatures.Public(session.SigningKey(7, "host")).String()+"\n", 0o666)
	p.write("state.txt", p.run(0, "dump", snap), 0o666)
	p.write("proof.json", p.run(0, "proof", snap, "Infantry"), 0o666)
	p.run(0, "golden", "record", "golden", "s/host", "--name", "skirmish")
	p.run(0, "golden", "check", "golden", "--sim", "builtin", "--write-results", "results")
	p.write("triage.json", p.run(1, "triage", "s", "--format", "json"), 0o666)

	file, err := os.Create("report.zip")
	p.check(err)
	w := zip.NewWriter(file)
	p.check(w.AddFS(os.DirFS("s")))
	p.check(w.Close())
	p.check(file.Close())
}

// others has the files of other games.
func (p *playground) others() {
	p.t.Helper()
	p.copyFile("pastes/post-unified.md", "paste.txt")
	p.copyFile("0ad/mp_late_damage/host/commands.txt", "commands.txt")
	p.copyFile("wasm/skirmish.wasm", "mygame.wasm")
	p.write("a.log", "frame 1 checksum 0a\nframe 2 checksum 0b\n", 0o666)
	p.write("b.log", "frame 1 checksum 0a\nframe 2 checksum 0c\n", 0o666)
	p.write("mygame", "#!/bin/sh\nexec desynctool sim\n", 0o777)
	p.repository()
}

// repository makes the folder a repository of a game. Version 1.1 plays otherwise than 1.0.
func (p *playground) repository() {
	p.t.Helper()
	git := func(args ...string) {
		p.t.Helper()
		out, err := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@example.org"}, args...)...).CombinedOutput()
		if err != nil {
			p.t.Fatalf("git %v: %v\n%s", args, err, out)
		}
	}
	git("init", "-q", ".")
	for i, sim := range []string{"sim", "sim", "sim builtin:fault=rng-leak/Movement@1000", "sim builtin:fault=rng-leak/Movement@1000"} {
		p.write("mygame", fmt.Sprintf("#!/bin/sh\nexec desynctool %s\n# %d\n", sim, i), 0o777)
		git("add", "mygame")
		git("commit", "-q", "-m", fmt.Sprint("change ", i))
		switch i {
		case 0:
			git("tag", "v1.0")
		case 3:
			git("tag", "v1.1")
		}
	}
}

// TestExamples runs the examples in the help of every command as they are, with the files that they name.
func TestExamples(t *testing.T) {
	effort.Whole(t)
	corpus, err := filepath.Abs(filepath.Join("..", "..", "testdata"))
	if err != nil {
		t.Fatal(err)
	}
	p := &playground{t, corpus, t.TempDir()}
	bin := t.TempDir()
	for name, script := range standIns {
		p.write(filepath.Join(bin, name), "#!/bin/sh\n"+script+"\n", 0o777)
	}
	t.Setenv("PATH", bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Chdir(p.dir)
	p.session()
	p.others()
	clitest.Examples(t, fresh, effort.Of(12, 1), func(command, dir string) bool {
		switch command {
		case "completion powershell", "explore": // not for bash, needs a terminal
			return false
		case "record": // makes what others read
			return true
		case "describe": // files of a game that is on no list
			for _, peer := range []string{"host", "client"} {
				p.check(os.CopyFS(filepath.Join(dir, peer), os.DirFS(filepath.Join(corpus, "anygame", "skirmish", peer))))
			}
			return true
		case "orders": // of another game, in folders of the same names
			p.copyFile("openttd/dropped_sign/server/commands-out.log", filepath.Join(dir, "server", "commands-out.log"))
			p.copyFile("openttd/dropped_sign/client/commands-out.log", filepath.Join(dir, "client", "commands-out.log"))
			p.check(os.CopyFS(filepath.Join(dir, "session"), os.DirFS(filepath.Join(p.dir, "session"))))
			return true
		}
		p.check(os.CopyFS(dir, os.DirFS(p.dir)))
		if command == "sim check" || strings.HasPrefix(command, "golden") { // CopyFS takes no permissions to run along
			p.check(os.Chmod(filepath.Join(dir, "mygame"), 0o777))
		}
		if command == "replay" { // two builds of a game
			for _, build := range []string{"sound", "own"} {
				p.check(os.Link(filepath.Join(dir, "mygame"), filepath.Join(dir, build)))
				p.check(os.Chmod(filepath.Join(dir, build), 0o777))
			}
		}
		return true
	})
}
