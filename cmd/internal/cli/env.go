package cli

import (
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// complete adds the parts that all programs have to the root: flags, version, help and manual pages.
func (e *Env) complete(root *cobra.Command) {
	root.SilenceErrors, root.SilenceUsage = true, true
	version := root.Flags().BoolP("version", "v", false, "version for "+root.Name())
	root.RunE = func(cmd *cobra.Command, args []string) error {
		if *version {
			_, err := fmt.Fprintln(e.Stdout, ThisBuild().Line(root.Name()))
			return err
		}
		return cmd.Help()
	}
	f := root.PersistentFlags()
	e.Color = "auto"
	f.Var(OneOf(&e.Color, "WHEN", "auto", "always", "never"), "color", "colour the text: auto, always or never")
	f.BoolVar(&e.noPager, "no-pager", false, "do not show a long text in a pager")
	f.BoolVar(&e.gitBisectRun, gitBisectRun, false, "exit with 125 instead of 2 and 3, as git bisect run expects")
	own := root.PersistentPreRunE
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		if err := checkCaller(root.Name()); err != nil {
			return err
		}
		if own != nil {
			if err := own(cmd, args); err != nil {
				return err
			}
		}
		return e.useLimits()
	}
	root.SetHelpCommand(newHelp(root))
	root.AddCommand(newMan(root), newVersion(e, root))
}

// Style returns the style for text on w. --color decides about colours, then NO_COLOR, then FORCE_COLOR and
// CLICOLOR_FORCE, then the kind of w. The width is the terminal's width if w is a terminal.
func (e *Env) Style(w io.Writer) document.Style {
	set := func(name string) bool { v := os.Getenv(name); return v != "" && v != "0" }
	on, shown := false, IsTerminal(w)
	switch {
	case e.Color == "always":
		on = true
	case e.Color == "never" || os.Getenv("NO_COLOR") != "":
	case set("FORCE_COLOR") || set("CLICOLOR_FORCE"):
		on = true
	default:
		on = shown && os.Getenv("TERM") != "dumb"
	}
	style := document.NewStyle(on)
	if shown {
		columns, _ := terminalSize(w)
		style = style.Wide(columns)
	}
	return style
}

// ErrStyle returns the style for stderr.
func (e *Env) ErrStyle() document.Style { return e.Style(e.Stderr) }

// Warn prints warnings, at most a dozen of them.
func (e *Env) Warn(warnings []string) {
	const shown = 12
	for i, w := range warnings {
		if i == shown {
			e.Note(fmt.Sprintf("%s and %d more", e.ErrStyle().Paint(document.Warn, "warning:"), len(warnings)-i))
			return
		}
		e.Note(fmt.Sprintf("%s %s", e.ErrStyle().Paint(document.Warn, "warning:"), prose.OneLine(w)))
	}
}
