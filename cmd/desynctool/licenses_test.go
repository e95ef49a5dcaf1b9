package main

import (
	"bytes"
	"encoding/json"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/desynctool/desynctool/cmd/internal/cli/clitest"
)

// TestLicenses: every module that the toolchain linked is listed, and its licence is known.
func TestLicenses(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run([]string{"version", "--licenses", "--format", "json"}, nil, &out, &errs); status != 0 {
		t.Fatal(status, errs.String())
	}
	clitest.Leave(out.Bytes(), []string{"version", "--licenses"})
	var document struct {
		Schema, License string
		Modules         []struct {
			Module, Version string
			License         *string
		}
	}
	if err := json.Unmarshal(out.Bytes(), &document); err != nil {
		t.Fatal(err)
	}
	if document.Schema != "desynctool.licenses/1" || document.License != "Apache-2.0" {
		t.Errorf("schema %q, licence %q", document.Schema, document.License)
	}
	var got []string
	for _, m := range document.Modules {
		got = append(got, m.Module+" "+m.Version)
		if m.License == nil {
			t.Errorf("the licence of %s is not known", m.Module)
		}
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		t.Fatal("the build records nothing")
	}
	want := []string{"std " + strings.TrimPrefix(info.GoVersion, "go")}
	for _, m := range info.Deps {
		want = append(want, m.Path+" "+m.Version)
	}
	if !slices.Equal(got, want) {
		t.Errorf("it lists %q\nexpected %q", got, want)
	}
	if len(got) < 20 {
		t.Errorf("only %d modules", len(got))
	}
}
