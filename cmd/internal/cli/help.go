package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report/document"
)

// helpWidth is the width of commands' help in columns.
const helpWidth = 80

// fitHelp makes the help of a command and its subcommands fit this width. Their texts are filled when they are shown.
// It uses no templates of cobra: to run one, the linker keeps every method of every type in the program.
func fitHelp(root *cobra.Command) {
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		_, err := io.WriteString(cmd.OutOrStderr(), usage(cmd))
		return err
	})
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		text := cmd.Long
		if text == "" {
			text = cmd.Short
		}
		fmt.Fprintf(cmd.OutOrStdout(), "%s\n\n%s", strings.TrimRight(filled(text), " \n"), usage(cmd))
	})
}

// usage returns the usage of a command: its line, examples, subcommands and flags.
func usage(cmd *cobra.Command) string {
	var out strings.Builder
	local := cmd.LocalFlags() // this also adds the flags of the parent commands, on which its line depends
	below := cmd.HasAvailableSubCommands()
	out.WriteString("Usage:")
	if cmd.Runnable() {
		out.WriteString("\n  " + cmd.UseLine())
	}
	if below {
		out.WriteString("\n  " + cmd.CommandPath() + " [command]")
	}
	if len(cmd.Aliases) > 0 {
		out.WriteString("\n\nAliases:\n  " + cmd.NameAndAliases())
	}
	if cmd.HasExample() {
		out.WriteString("\n\nExamples:\n" + cmd.Example)
	}
	commands := func(title, group string) {
		out.WriteString("\n\n" + title)
		for _, c := range cmd.Commands() {
			if c.GroupID == group && (c.IsAvailableCommand() || c.Name() == "help") {
				fmt.Fprintf(&out, "\n  %-*s %s", c.NamePadding(), c.Name(), c.Short)
			}
		}
	}
	switch {
	case below && len(cmd.Groups()) == 0:
		commands("Available Commands:", "")
	case below:
		for _, g := range cmd.Groups() {
			commands(g.Title, g.ID)
		}
		if !cmd.AllChildCommandsHaveGroup() {
			commands("Additional Commands:", "")
		}
	}
	if cmd.HasAvailableLocalFlags() {
		out.WriteString("\n\n" + flagUsages(cmd.Name(), local))
	}
	if cmd.HasAvailableInheritedFlags() {
		out.WriteString("\n\nGlobal Flags:\n" + globalFlags(cmd))
	}
	if below {
		fmt.Fprintf(&out, "\n\n\"%s COMMAND --help\" shows more about a command.", cmd.CommandPath())
	}
	out.WriteString("\n")
	return out.String()
}

// filled breaks lines that are too long. All lines of a paragraph are filled again. An indented line is filled
// separately, below its second column if it has one.
func filled(text string) string {
	var out, paragraph []string
	flush := func() {
		for _, line := range paragraph {
			if len([]rune(line)) > helpWidth {
				paragraph = []string{document.Fold(strings.Join(paragraph, " "), helpWidth, 0)}
				break
			}
		}
		out, paragraph = append(out, paragraph...), nil
	}
	for _, line := range strings.Split(text, "\n") {
		body := strings.TrimLeft(line, " ")
		if indent := len(line) - len(body); indent == 0 && line != "" {
			paragraph = append(paragraph, line)
			continue
		} else if flush(); indent > 0 {
			if name, after, columns := strings.Cut(body, "  "); columns {
				indent += len(name) + 2 + len(after) - len(strings.TrimLeft(after, " "))
			}
			line = document.Fold(line, helpWidth, indent)
		}
		out = append(out, line)
	}
	flush()
	return strings.Join(out, "\n")
}
