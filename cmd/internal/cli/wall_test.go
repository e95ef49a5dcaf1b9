package cli_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/file/limits"
)

// TestWallEndsComputing: a command that computes and never looks at its context ends after the limit wall.
func TestWallEndsComputing(t *testing.T) {
	t.Cleanup(func() { limits.Use(limits.Settings{}) })
	end := make(chan struct{})
	t.Cleanup(func() { close(end) })
	p := cli.Program{Root: func(e *cli.Env) *cobra.Command {
		root := &cobra.Command{Use: "desynctool"}
		root.AddCommand(&cobra.Command{Use: "compute", RunE: func(*cobra.Command, []string) error { <-end; return nil }})
		return root
	}}
	var out, errs bytes.Buffer
	status := cli.Run(p, []string{"compute", "--limit", "wall=10ms"}, strings.NewReader(""), &out, &errs)
	if status != 3 || strings.Count(errs.String(), "\n") != 1 || !strings.Contains(errs.String(), "limit wall is reached") {
		t.Errorf("status %d: %s%s", status, &out, &errs)
	}
}
