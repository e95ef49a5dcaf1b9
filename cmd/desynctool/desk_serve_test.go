//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

var serveLine = regexp.MustCompile(`^desk: (http://127\.0\.0\.1:\d+)/$`)

// TestServe: desk serve takes an upload, triages it, shows it, asks for a token once there is one, and ends as it is
// told to, with nothing of it left.
func TestServe(t *testing.T) {
	store := filepath.Join(t.TempDir(), "desk")
	cmd := exec.Command("desynctool", "desk", "serve", "--store", store, "--listen", "127.0.0.1:0", "--work", "1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	log := bufio.NewReader(stderr)
	line, err := log.ReadString('\n')
	m := serveLine.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		t.Fatal(line, err)
	}
	go io.Copy(io.Discard, log)
	get := func(r *http.Request, err error) (int, string) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		a, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(text)
	}
	status, text := get(http.NewRequest("POST", m[1]+"/reports?name=notes.txt", strings.NewReader("no evidence")))
	if status != 202 || !strings.Contains(text, `"state":"waiting"`) {
		t.Fatal(status, text)
	}
	at := regexp.MustCompile(`/bundles/[0-9a-f]{64}`).FindString(text)
	for strings.Contains(text, `"waiting"`) { // the test's own time bounds it
		status, text = get(http.NewRequest("GET", m[1]+at, nil))
	}
	if status != 200 || !strings.Contains(text, `"state":"`) {
		t.Error(status, text)
	}
	if status, text = get(http.NewRequest("GET", m[1]+"/upload", nil)); status != 200 || !strings.Contains(text, `name="csrf"`) {
		t.Error(status, text)
	}
	var out, errs strings.Builder
	if got := run([]string{"desk", "token", "add", "ann", "--scope", "read", "--store", store}, nil, &out, &errs); got != 0 {
		t.Fatal(got, errs.String())
	}
	if status, text = get(http.NewRequest("GET", m[1]+at, nil)); status != 401 {
		t.Error(status, text)
	}
	r, err := http.NewRequest("GET", m[1]+"/", nil)
	r.Header.Set("Authorization", "Bearer "+strings.TrimSpace(out.String()))
	if status, text = get(r, err); status != 200 || !strings.Contains(text, "<html") {
		t.Error(status, text)
	}
	cmd.Process.Signal(syscall.SIGTERM)
	cmd.Wait()
	if got := cmd.ProcessState.ExitCode(); got != 128+15 {
		t.Errorf("it ends with %d", got)
	}
}
