package cli

import (
	"debug/buildinfo"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/module"
)

const commit = "0123456789abcdef0123456789abcdef01234567"

func settings(pairs ...string) (s []debug.BuildSetting) {
	for i := 0; i < len(pairs); i += 2 {
		s = append(s, debug.BuildSetting{Key: pairs[i], Value: pairs[i+1]})
	}
	return s
}

// TestPseudoVersion: versions are taken apart as the Go command's own library does.
func TestPseudoVersion(t *testing.T) {
	for _, version := range []string{
		"v0.0.0-20260304030607-0123456789ab", "v1.2.4-0.20260304030607-0123456789ab+dirty", "v2.3.4-pre.0.20260304030607-0123456789ab",
		"v2.3.4-pre.20260304030607-0123456789ab", "v1.2.3", "v1.0.0-20260304030607-0123456789ab", "v0.0.0-2026030403060-0123456789ab", "(devel)",
	} {
		m := pseudoVersion.FindStringSubmatch(version)
		if (m != nil) != module.IsPseudoVersion(version) {
			t.Errorf("%s: %q, x/mod has %v", version, m, module.IsPseudoVersion(version))
		}
		if rev, err := module.PseudoVersionRev(version); err == nil && (m == nil || m[2] != rev) {
			t.Errorf("%s: %q, x/mod has %s", version, m, rev)
		}
	}
}

// TestBuildOf: each way in which the Go command records a version.
func TestBuildOf(t *testing.T) {
	stamped := settings("vcs", "git", "vcs.revision", commit, "vcs.time", "2026-03-04T05:06:07+02:00", "vcs.modified", "false")
	changed := settings("vcs", "git", "vcs.revision", commit, "vcs.time", "2026-03-04T03:06:07Z", "vcs.modified", "true")
	for _, test := range []struct {
		version  string
		settings []debug.BuildSetting
		want     string // between "desynctool " and Go's version
		commit   string // in JSON
		modified string
	}{
		{"v1.2.3", stamped, "v1.2.3 (commit 0123456789ab, 2026-03-04T03:06:07Z)", `"` + commit + `"`, "false"},
		{"v1.2.4-0.20260304030607-0123456789ab+dirty", changed, "v1.2.4-0.20260304030607-0123456789ab+dirty (commit 0123456789ab, 2026-03-04T03:06:07Z, with changes)", `"` + commit + `"`, "true"},
		{"(devel)", changed, "devel-0123456789ab (commit 0123456789ab, 2026-03-04T03:06:07Z, with changes)", `"` + commit + `"`, "true"},
		{"v0.0.0-20260304030607-0123456789ab", nil, "v0.0.0-20260304030607-0123456789ab (commit 0123456789ab, 2026-03-04T03:06:07Z)", `"0123456789ab"`, "null"},
		{"v1.2.3", nil, "v1.2.3", "null", "null"},
		{"(devel)", nil, "devel", "null", "null"},
		{"", nil, "devel", "null", "null"},
	} {
		b := buildOf(&debug.BuildInfo{Main: debug.Module{Version: test.version}, Settings: test.settings})
		want := "desynctool " + test.want + " " + runtime.Version() + " " + runtime.GOOS + "/" + runtime.GOARCH
		if diff := cmp.Diff(want, b.Line("desynctool")); diff != "" {
			t.Errorf("%s: -want +got\n%s", test.version, diff)
		}
		text, err := json.Marshal(b)
		if err != nil {
			t.Fatal(err)
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(text, &fields); err != nil {
			t.Fatal(err)
		}
		if string(fields["commit"]) != test.commit || string(fields["modified"]) != test.modified {
			t.Errorf("%s: %s", test.version, text)
		}
	}
}

// TestStampedVersion builds a program in a separate git repository: the version is the commit that git names.
func TestStampedVersion(t *testing.T) {
	if testing.Short() {
		t.Skip("builds a program")
	}
	if _, err := exec.LookPath("git"); err != nil {
		t.Skip("no git")
	}
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":  "module example.org/stamped\n\ngo 1.26\n",
		"main.go": "package main\n\nfunc main() {}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	run := func(name string, args ...string) string {
		t.Helper()
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_CONFIG_NOSYSTEM=1", "GIT_COMMITTER_DATE=2026-03-04T05:06:07+02:00")
		out, err := cmd.CombinedOutput()
		if err != nil {
			t.Fatalf("%s %v: %v\n%s", name, args, err, out)
		}
		return strings.TrimSpace(string(out))
	}
	run("git", "init", "-q")
	run("git", "add", ".")
	run("git", "-c", "user.name=A", "-c", "user.email=a@example.org", "commit", "-qm", "x")
	program := filepath.Join(t.TempDir(), "stamped")
	run("go", "build", "-buildvcs=true", "-o", program, ".")
	info, err := buildinfo.ReadFile(program)
	if err != nil {
		t.Fatal(err)
	}
	head := run("git", "rev-parse", "HEAD")
	b := buildOf(info)
	if b.Commit == nil || *b.Commit != head || b.Date == nil || *b.Date != "2026-03-04T03:06:07Z" || b.Modified == nil || *b.Modified {
		t.Errorf("%s, want commit %s", b.Line("desynctool"), head)
	}
}
