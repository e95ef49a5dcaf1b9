package main

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/desynctool/desynctool/internal/cli/clitest"
)

// TestLicenses: every module that the toolchain linked is listed, and its licence is known.
func TestLicenses(t *testing.T) {
	var out, errs bytes.Buffer
	if status := run([]string{"version", "--licenses", "--format", "json"}, nil, &out, &errs); status != 0 {
		t.Fatal(status, errs.String())
	}
	if err := clitest.Valid(filepath.Join("..", "..", "docs"), out.Bytes()); err != nil {
		t.Error(err)
	}
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
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if len(got) < 20 {
		t.Errorf("only %d modules", len(got))
	}
}
