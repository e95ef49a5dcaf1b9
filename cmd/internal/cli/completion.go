package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
)

// addCompletion adds cobra's completion command, with examples and the exit status as in all other commands. The output
// of the root must already be set, because the command keeps it.
func addCompletion(root *cobra.Command) {
	root.InitDefaultCompletionCmd()
	name, path := root.Name(), root.CommandPath()
	load := map[string]string{
		"completion": "source <(" + path + " completion bash)",
		"bash":       "source <(" + path + " completion bash)",
		"fish":       path + " completion fish \\\n    >~/.config/fish/completions/" + name + ".fish",
		"powershell": path + " completion powershell | Out-String | Invoke-Expression",
		"zsh":        "source <(" + path + " completion zsh)",
	}
	for _, c := range root.Commands() {
		if c.Name() != "completion" {
			continue
		}
		c.Args = nil
		c.RunE = func(c *cobra.Command, args []string) error {
			if len(args) > 0 {
				return unknownCommand(c, args[0])
			}
			return c.Help()
		}
		for _, c := range append(c.Commands(), c) {
			c.Example = "  " + load[c.Name()]
			c.Long = "completion prints the script that a shell needs to complete commands, flags and their\nvalues."
			if c.Name() != "completion" {
				c.Long = fmt.Sprintf("%[1]s prints the script that %[1]s needs to complete commands, flags and their values.\nLoad it when %[1]s starts.", c.Name())
			}
			if c.Name() == "bash" {
				c.RunE = func(c *cobra.Command, _ []string) error {
					return writeBash(root, c.OutOrStdout(), !c.Flag("no-descriptions").Changed)
				}
			}
			c.Long = strings.TrimRight(strings.ReplaceAll(c.Long, "#### ", ""), "\n") + "\n\nExit status: 0; 2 for wrong usage.\n"
		}
	}
}

// writeBash writes the completion for bash. Bash treats the text after the last : or = as a separate word. cobra's
// script removes the text before : and then no longer finds =, as in builtin:fault=map. In the reverse order both work.
func writeBash(root *cobra.Command, w io.Writer, descriptions bool) error {
	var script strings.Builder
	if err := root.GenBashCompletionV2(&script, descriptions); err != nil {
		return err
	}
	split := "__" + strings.NewReplacer("-", "_", ":", "_").Replace(root.Name()) + `_handle_special_char "$cur" `
	colon, equals := split+":", split+"="
	_, err := strings.NewReplacer(colon, equals, equals, colon).WriteString(w, script.String())
	return err
}
