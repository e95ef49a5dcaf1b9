package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// mounted runs a script in a shell that sees a small file system at $DISK, its own: 64 KiB that hold old.json,
// or with ro nothing that can be written. It skips the test where that is not allowed.
func mounted(t *testing.T, ro bool, script string, args ...string) string {
	t.Helper()
	disk := t.TempDir()
	setup := `mount -t tmpfs -o size=64k tmpfs "$DISK" && echo old >"$DISK/old.json"`
	if ro {
		setup += ` && mkdir "$DISK/empty" && mount -o remount,ro "$DISK"`
	}
	env := append(os.Environ(), "DISK="+disk, "ERR="+filepath.Join(t.TempDir(), "err"))
	try := exec.Command("unshare", "-rm", "sh", "-c", setup)
	try.Env = env
	if out, err := try.CombinedOutput(); err != nil {
		t.Skipf("no file system can be mounted here: %v: %s", err, out)
	}
	cmd := exec.Command("unshare", append([]string{"-rm", "sh", "-c", setup + "\n" + script, "sh"}, args...)...)
	cmd.Env = env
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return strings.ReplaceAll(string(out), disk, "DISK")
}

// On a disk that fills up, or is not writable, each command names in one line the file that it cannot write, ends with
// 2, and leaves neither half a file nor a temporary one: the old file stays.
func TestDiskFaults(t *testing.T) {
	dir := t.TempDir()
	s := filepath.Join(dir, "s")
	desynctool(t, 0, nil, "record", "-o", s, "--ticks", "300", "--entities", "100", "--fault", "rng-leak@40")
	saved := filepath.Join(dir, "saved.json")
	desynctool(t, 1, nil, "triage", s, "--format", "json="+saved)
	for _, c := range []struct {
		name string
		ro   bool
		want string
	}{{"full", false, "no space left on device"}, {"read-only", true, "read-only file system"}} {
		t.Run(c.name, func(t *testing.T) {
			commands := []string{
				"record -o $DISK/fresh --ticks 20000 --entities 100",
				"triage " + s + " --format text --format html=$DISK/old.json",
				"report " + saved + " --format html=$DISK/new.html",
				"dump " + s + "/host/checkpoints.trace -o $DISK/old.json",
			}
			if c.ro { // else there is room for its result
				commands = append(commands, "minimize "+s+"/host -o $DISK/empty --sim builtin:fault=rng-leak@40 --against builtin --max-replays 20")
			}
			for _, command := range commands {
				got := mounted(t, c.ro, `desynctool `+command+` >/dev/null 2>"$ERR"; status=$?; cat "$ERR"; echo "status $status"; ls -A "$DISK"; cat "$DISK/old.json"`)
				lines := strings.Split(strings.TrimSpace(got), "\n")
				if !strings.Contains(lines[0], "DISK/") || !strings.Contains(lines[0], c.want) || len(lines) < 2 || lines[1] != "status 2" {
					t.Errorf("%s:\n%s", command, got)
					continue
				}
				left := strings.Join(lines[2:], " ")
				if left != "old.json old" && left != "empty old.json old" {
					t.Errorf("%s: leaves %s", command, left)
				}
			}
		})
	}
}
