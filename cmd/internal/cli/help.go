package cli

import (
	"fmt"
	"strings"
	"sync"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report/document"
)

// helpWidth is how many columns the help of commands takes.
const helpWidth = 80

// addTemplates gives the templates of help what they call; cobra has one table for all commands.
var addTemplates = sync.OnceFunc(func() { cobra.AddTemplateFunc("globalFlags", globalFlags) })

// fitHelp has the help of a command, and of those below it, take that many columns. Their texts are filled
// when they are shown.
func fitHelp(root *cobra.Command) {
	addTemplates()
	root.SetUsageTemplate(strings.NewReplacer(
		".InheritedFlags.FlagUsages ", "globalFlags . ",
		".FlagUsages ", fmt.Sprintf(".FlagUsagesWrapped %d ", helpWidth),
		`Use "{{.CommandPath}} [command] --help" for more information about a command.`, `"{{.CommandPath}} COMMAND --help" says more about a command.`,
	).Replace(root.UsageTemplate()))
	show := root.HelpFunc()
	root.SetHelpFunc(func(cmd *cobra.Command, args []string) {
		cmd.Long = filled(cmd.Long)
		show(cmd, args)
	})
}

// filled ends the lines of a text that are too long. Of a paragraph all lines are filled anew, those
// that are indented each by itself, below their second column if they have one.
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
