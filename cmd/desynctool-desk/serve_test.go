//go:build unix

package main

import (
	"bufio"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

var serveLine = regexp.MustCompile(`^desk: (http://127\.0\.0\.1:\d+)/$`)

// startServe runs desk serve, and returns its address.
func startServe(t *testing.T, store string) (*exec.Cmd, string) {
	t.Helper()
	cmd := exec.Command("desynctool-desk", "serve", "--store", store, "--listen", "127.0.0.1:0", "--work", "1")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill() })
	log := bufio.NewReader(stderr)
	line, err := log.ReadString('\n')
	m := serveLine.FindStringSubmatch(strings.TrimSpace(line))
	if m == nil {
		t.Fatal(line, err)
	}
	go io.Copy(io.Discard, log)
	return cmd, m[1]
}

// TestServe: desk serve takes an upload, triages it, shows it, asks for a token once there is one, and ends when it is
// interrupted, with nothing of it left.
func TestServe(t *testing.T) {
	store := filepath.Join(t.TempDir(), "desk")
	cmd, at0 := startServe(t, store)
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
	status, text := get(http.NewRequest("POST", at0+"/reports?name=notes.txt", strings.NewReader("no evidence")))
	if status != 202 || !strings.Contains(text, `"state":"waiting"`) {
		t.Fatal(status, text)
	}
	at := regexp.MustCompile(`/bundles/[0-9a-f]{64}`).FindString(text)
	for strings.Contains(text, `"waiting"`) { // the test's own time bounds it
		status, text = get(http.NewRequest("GET", at0+at, nil))
	}
	if status != 200 || !strings.Contains(text, `"state":"`) {
		t.Error(status, text)
	}
	if status, text = get(http.NewRequest("GET", at0+"/upload", nil)); status != 200 || !strings.Contains(text, `name="csrf"`) {
		t.Error(status, text)
	}
	var out, errs strings.Builder
	if got := run([]string{"token", "add", "ann", "--scope", "read", "--store", store}, nil, &out, &errs); got != 0 {
		t.Fatal(got, errs.String())
	}
	if status, text = get(http.NewRequest("GET", at0+at, nil)); status != 401 {
		t.Error(status, text)
	}
	r, err := http.NewRequest("GET", at0+"/", nil)
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

// TestServePages: a browser logs in and out, a program corrects groups by its token alone, and the kept bundle is
// downloaded under a name that shows what it is.
func TestServePages(t *testing.T) {
	store := filepath.Join(t.TempDir(), "desk")
	runDesk(t, 0, "add", "../../testdata/openttd/dropped_sign", "--store", store)
	secret := strings.TrimSpace(runDesk(t, 0, "token", "add", "ann", "--scope", "triage", "--store", store))
	secret = secret[strings.LastIndexByte(secret, '\n')+1:]
	_, at := startServe(t, store)
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	post := func(c *http.Client, path string, form url.Values, headers ...string) (int, string, *http.Response) {
		t.Helper()
		r, err := http.NewRequest("POST", at+path, strings.NewReader(form.Encode()))
		if form == nil {
			r, err = http.NewRequest("GET", at+path, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Accept", "text/html")
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		for i := 0; i < len(headers); i += 2 {
			r.Header.Set(headers[i], headers[i+1])
		}
		a, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer a.Body.Close()
		text, err := io.ReadAll(a.Body)
		if err != nil {
			t.Fatal(err)
		}
		return a.StatusCode, string(text), a
	}
	status, text, _ := post(browser, "/login", url.Values{"token": {secret}})
	if status != 200 || !strings.Contains(text, ">Log out</button>") {
		t.Fatal(status, text)
	}
	group := regexp.MustCompile(`/groups/[0-9a-f]{8}`).FindString(text)
	bundle := regexp.MustCompile(`/bundles/[0-9a-f]{64}`)
	csrf := regexp.MustCompile(`action="/logout"><input type="hidden" name="csrf" value="([^"]+)"`).FindStringSubmatch(text)
	if group == "" || csrf == nil {
		t.Fatal(text)
	}
	_, text, _ = post(browser, "/audit", nil)
	hash := bundle.FindString(text)
	if _, _, a := post(browser, hash+"/download", nil); a.StatusCode != 200 || !strings.Contains(a.Header.Get("Content-Disposition"), "dropped_sign.tar") {
		t.Error(a.Status, a.Header)
	}

	// The session is kept by a thief, and is over all the same.
	u, _ := url.Parse(at)
	var kept []string
	for _, c := range jar.Cookies(u) {
		kept = append(kept, c.Name+"="+c.Value)
	}
	if status, _, _ = post(browser, "/logout", url.Values{}); status != 403 {
		t.Errorf("without a token of forms: %d", status)
	}
	if status, text, _ = post(browser, "/logout", url.Values{"csrf": {csrf[1]}}); status != 200 || !strings.Contains(text, "<h1>Log in</h1>") {
		t.Error(status, text)
	}
	if _, text, _ = post(http.DefaultClient, "/", nil, "Cookie", strings.Join(kept, "; ")); !strings.Contains(text, "<h1>Log in</h1>") {
		t.Error("the session goes on")
	}

	// A program has no page, and needs none.
	for headers, want := range map[string]int{"": 401, "Bearer " + secret: 200, "Bearer wrong": 401} {
		status, text, _ := post(http.DefaultClient, group+"/name", url.Values{"name": {"The poked generator"}}, "Authorization", headers)
		if status != want || want == 200 && (!strings.Contains(text, "The poked generator") || strings.Contains(text, "Log out")) {
			t.Errorf("%q: %d, expected %d", headers, status, want)
		}
	}
	for name, want := range map[string]string{
		"a.zip": "a.tar", "a.TAR.GZ": "a.tar", "a.tar": "a.tar", "game.log": "game.log.tar", "a": "a.tar", "": "bundle.tar", ".zip": ".zip.tar", "1.4.2": "1.4.2.tar",
	} {
		if got := tarName(name); got != want {
			t.Errorf("%q: %q, expected %q", name, got, want)
		}
	}
}
