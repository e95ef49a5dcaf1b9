package main

import (
	"path/filepath"
	"strings"
	"testing"
)

// door makes the tokens, links and webhooks that examples name, in the desk that they ask.
func (p *playground) door() {
	p.t.Helper()
	for _, args := range []string{
		"token add crash-uploader --scope upload", "token add ann --scope triage", "share add 1", "share add 1", "webhook add https://a.example.org/1", "webhook add https://a.example.org/2",
	} {
		p.run(strings.Fields(args)...)
	}
}

// TestServeRefuses: what desk serve does not begin with.
func TestServeRefuses(t *testing.T) {
	store := filepath.Join(t.TempDir(), "desk")
	for _, c := range []struct{ args, want string }{
		{"--listen 0.0.0.0:0", "there is no token; desynctool desk token add makes one"},
		{"--listen 127.0.0.1:0 --behind-proxy", "there is no token; desynctool desk token add makes one"},
		{"--listen nowhere", "--listen"},
		{"--work -1", "--work is out of range"},
		{"--max-bundle 0", "--max-bundle is out of range"},
		{"--url desk.example.org", "expected https://HOST"},
		{"--tls-cert x", "--tls-cert and --tls-key go together"},
	} {
		var out, errs strings.Builder
		got := run(append([]string{"serve", "--store", store}, strings.Fields(c.args)...), nil, &out, &errs)
		if got != 2 || !strings.Contains(errs.String(), c.want) || strings.Count(errs.String(), "\n") != 1 {
			t.Errorf("%s: %d %q", c.args, got, errs.String())
		}
	}
}
