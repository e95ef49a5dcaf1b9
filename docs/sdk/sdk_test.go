package sdk_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
)

// tool is desynctool, built once into a folder that the last test leaves behind.
var tool = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "desynctool-sdk-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "desynctool")
	if out, err := exec.Command("go", "build", "-o", path, "github.com/desynctool/desynctool/cmd/desynctool").CombinedOutput(); err != nil {
		return "", &buildError{out, err}
	}
	return path, nil
})

type buildError struct {
	out []byte
	err error
}

func (e *buildError) Error() string { return e.err.Error() + "\n" + string(e.out) }

// TestMain removes what was built.
func TestMain(m *testing.M) {
	code := m.Run()
	if path, err := tool(); err == nil {
		os.RemoveAll(filepath.Dir(path))
	}
	os.Exit(code)
}

// run runs desynctool and returns what it says on stdout.
func run(t *testing.T, wantExit int, args ...string) string {
	t.Helper()
	path, err := tool()
	if err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	cmd := exec.Command(path, args...)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err)
	}
	if got := cmd.ProcessState.ExitCode(); got != wantExit {
		t.Fatalf("desynctool %q: exit status %d, expected %d\n%s%s", args, got, wantExit, stdout.String(), stderr.String())
	}
	return stdout.String()
}

// needTool skips a test whose tool is not installed, unless all SDKs are to be tested.
func needTool(t *testing.T, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err == nil {
		return
	}
	if os.Getenv("DESYNCTOOL_SDK_TESTS") == "1" {
		t.Fatalf("%s is not installed", name)
	}
	t.Skipf("%s is not installed", name)
}
