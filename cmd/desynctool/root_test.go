package main

import (
	"io"
	"strings"
	"testing"

	"github.com/spf13/cobra"
)

// TestHelp: every command shows how it is called.
func TestHelp(t *testing.T) {
	var check func(c *cobra.Command)
	seen := 0
	check = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			seen++
			for line := range strings.Lines(sub.Example) {
				if line = strings.TrimSpace(line); line != "" && !strings.Contains(line, "desynctool ") {
					t.Errorf("%s: example %q", sub.CommandPath(), line)
				}
			}
			if sub.Example == "" {
				t.Errorf("%s has no example", sub.CommandPath())
			}
			check(sub)
		}
	}
	root := newRoot(&env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: io.Discard})
	addCompletion(root)
	check(root)
	if seen < 20 {
		t.Errorf("%d commands", seen)
	}
}
