package main

import (
	"strings"

	"github.com/spf13/cobra"
)

// addCompletion adds cobra's completion command, with examples and the exit status such as
// all others have. The output of the root must be set: the command keeps it.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	load := map[string]string{
		"completion": "source <(desynctool completion bash)",
		"bash":       "source <(desynctool completion bash)",
		"fish":       "desynctool completion fish >~/.config/fish/completions/desynctool.fish",
		"powershell": "desynctool completion powershell | Out-String | Invoke-Expression",
		"zsh":        "source <(desynctool completion zsh)",
	}
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		for _, c := range append(c.Commands(), c) {
			c.Example = "  " + load[c.Name()]
			c.Long = strings.TrimRight(strings.ReplaceAll(c.Long, "#### ", ""), "\n") + "\n\nExit status: 0; 2 for wrong usage.\n"
		}
	}
}
