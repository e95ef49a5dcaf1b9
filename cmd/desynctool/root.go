package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report"
)

// env is what a command works with besides its flags.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	color          string // auto, always or never
	rendered       bool   // a result has been written to stdout
}

// newRoot returns the command tree.
func newRoot(e *env) *cobra.Command {
	root := &cobra.Command{
		Use:   "desynctool",
		Short: "Find out where and why the peers of a deterministic game parted",
		Long: `desynctool reads what is left of a desync (snapshots, order logs, savegames of
several engines) and narrows it down: the state points between which the peers
parted, the tick, the archetype, the component, the entity, the field.

Results go to stdout, warnings and errors to stderr.

` + exitHelp,
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.PersistentFlags().StringVar(&e.color, "color", "auto", "colour the text: auto, always or never")
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		switch e.color {
		case "auto", "always", "never":
			return nil
		}
		return fmt.Errorf("--color is %q, expected auto, always or never", e.color)
	}
	root.AddCommand(newDoctor(e), newBisect(e), newReplay(e), newMinimize(e), newOrders(e), newTracediff(e), newWalk(e), newDiff(e), newDump(e), newProof(e), newVerify(e), newReport(e), newRecord(e), newSim(e), newFormats(e), newVersion(e))
	return root
}

// style returns the style for text on w: by --color, else NO_COLOR, else
// FORCE_COLOR and CLICOLOR_FORCE, else by what w is.
func (e *env) style(w io.Writer) report.Style {
	set := func(name string) bool { v := os.Getenv(name); return v != "" && v != "0" }
	on := false
	switch {
	case e.color == "always":
		on = true
	case e.color == "never" || os.Getenv("NO_COLOR") != "":
	case set("FORCE_COLOR") || set("CLICOLOR_FORCE"):
		on = true
	default:
		f, ok := w.(*os.File)
		on = ok && os.Getenv("TERM") != "dumb" && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
	}
	return report.NewStyle(on)
}

func (e *env) errStyle() report.Style { return e.style(e.stderr) }

// warn prints warnings, at most a dozen of them.
func (e *env) warn(warnings []string) {
	const shown = 12
	for i, w := range warnings {
		if i == shown {
			fmt.Fprintf(e.stderr, "%s and %d more\n", e.errStyle().Warning("warning:"), len(warnings)-i)
			return
		}
		fmt.Fprintf(e.stderr, "%s %s\n", e.errStyle().Warning("warning:"), oneLine(w))
	}
}

// outputs is the flag --format: formats, each with the file it goes to, "" for
// stdout.
type outputs struct {
	list []output
}

type output struct{ format, file string }

func (o *outputs) String() string { return "" }

func (o *outputs) Type() string { return "FORMAT[=FILE]" }

func (o *outputs) Set(s string) error {
	format, file, toFile := strings.Cut(s, "=")
	if format != "text" && format != "json" {
		return errors.New("expected text or json")
	}
	if toFile && file == "" {
		return errors.New("expected a file behind =")
	}
	if !toFile {
		for _, other := range o.list {
			if other.file == "" {
				return errors.New("two formats for stdout; write one of them to a file with FORMAT=FILE")
			}
		}
	}
	o.list = append(o.list, output{format, file})
	return nil
}

// addFormat adds the flag --format to a command.
func addFormat(cmd *cobra.Command) *outputs {
	o := &outputs{}
	cmd.Flags().Var(o, "format", "text (the default) or json; FORMAT=FILE writes to a file, and may be repeated")
	return o
}

// render writes a result in every format asked for. Only stdout is coloured,
// and only if it is a terminal.
func (e *env) render(o *outputs, text func(w io.Writer, s report.Style) error, document func() any) error {
	list := o.list
	if len(list) == 0 {
		list = []output{{"text", ""}}
	}
	for _, out := range list {
		if err := e.renderTo(out, text, document); err != nil {
			return err
		}
	}
	return nil
}

func (e *env) renderTo(out output, text func(w io.Writer, s report.Style) error, document func() any) error {
	write := func(w io.Writer, style report.Style) error {
		if out.format == "json" {
			return report.WriteJSON(w, document())
		}
		return text(w, style)
	}
	if out.file == "" {
		e.rendered = true
		return write(e.stdout, e.style(e.stdout))
	}
	return writeFile(out.file, func(f *os.File) error { return write(f, report.NewStyle(e.color == "always")) })
}
