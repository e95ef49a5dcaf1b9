package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/internal/kept"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/orderlog/files"
	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/isolate"
)

// env is what a command works with besides its flags.
type env struct {
	stdin          io.Reader
	stdout, stderr io.Writer
	color          string // auto, always or never
	noPager        bool
	gitBisectRun   bool // statuses 2 and 3 are those of a commit that cannot be tested
	args           []string
	*interrupts
	rendered bool // a result has been written
	limits   limitFlags
	endWall  func() // frees what limits.Wall takes; nil without it
	// replayed keeps what games computed, nil until it is asked for.
	replayed *kept.Cache
	// reader is what --isolate reads with, by another process in tests.
	reader isolate.Reader
}

// filesOnly are the commands that take paths, and no - for stdin.
var filesOnly = []string{"doctor", "bisect", "replay", "minimize", "orders", "walk", "diff", "proof", "verify", "check", "explore", "hunt"}

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
		Version:       thisBuild().String(),
		SilenceErrors: true,
		SilenceUsage:  true,
		RunE:          func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	root.SetVersionTemplate("{{.Version}}\n")
	root.PersistentFlags().StringVar(&e.color, "color", "auto", "colour the text: auto, always or never")
	root.PersistentFlags().BoolVar(&e.noPager, "no-pager", false, "do not show a long text in a pager")
	root.PersistentFlags().BoolVar(&e.gitBisectRun, gitBisectRun, false, "exit with 125 for 2 and 3, as git bisect run has it")
	root.PersistentPreRunE = func(cmd *cobra.Command, args []string) error {
		switch e.color {
		case "auto", "always", "never":
		default:
			return fmt.Errorf("--color is %q, expected auto, always or never", e.color)
		}
		if slices.Contains(args, "-") && slices.Contains(filesOnly, cmd.Name()) {
			return fmt.Errorf("stdin is not read by %s; give a file", cmd.Name())
		}
		return e.useLimits()
	}
	root.SetHelpCommand(newHelp())
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"whole", "Where to begin:", []*cobra.Command{newTriage(e), newExplore(e), newDoctor(e)}},
		{"step", "One step by itself:", []*cobra.Command{newOrders(e), newBisect(e), newReplay(e), newTracediff(e), newWalk(e), newDiff(e), newDump(e), newMinimize(e), newHunt(e)}},
		{"report", "Reports and proofs:", []*cobra.Command{newReport(e), newProof(e), newVerify(e), newDesk(e)}},
		{"game", "For games that write the formats:", []*cobra.Command{newFormats(e), newCheck(e), newSim(e), newRecord(e), newGolden(e)}},
	} {
		root.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, cmd := range g.commands {
			cmd.GroupID = g.id
			root.AddCommand(cmd)
		}
	}
	root.AddCommand(newMan(e), newVersion(e))
	return root
}

// style returns the style for text on w: coloured by --color, else NO_COLOR, else
// FORCE_COLOR and CLICOLOR_FORCE, else by what w is; as wide as w if that is a terminal.
func (e *env) style(w io.Writer) report.Style {
	set := func(name string) bool { v := os.Getenv(name); return v != "" && v != "0" }
	on, shown := false, isTerminal(w)
	switch {
	case e.color == "always":
		on = true
	case e.color == "never" || os.Getenv("NO_COLOR") != "":
	case set("FORCE_COLOR") || set("CLICOLOR_FORCE"):
		on = true
	default:
		on = shown && os.Getenv("TERM") != "dumb"
	}
	style := report.NewStyle(on)
	if shown {
		columns, _ := terminalSize(w)
		style = style.Wide(columns)
	}
	return style
}

func (e *env) errStyle() report.Style { return e.style(e.stderr) }

// warn prints warnings, at most a dozen of them.
func (e *env) warn(warnings []string) {
	const shown = 12
	for i, w := range warnings {
		if i == shown {
			fmt.Fprintf(e.stderr, "%s and %d more\n", e.errStyle().Paint(report.Warn, "warning:"), len(warnings)-i)
			return
		}
		fmt.Fprintf(e.stderr, "%s %s\n", e.errStyle().Paint(report.Warn, "warning:"), prose.OneLine(w))
	}
}

// simFailed says on stderr how the simulator of a flag failed, if it did.
func (e *env) simFailed(flag, how string) {
	if how != "" && e.status() == 0 {
		fmt.Fprintf(e.stderr, "%s %s: %s\n", e.errStyle().Paint(report.Bad, "desynctool:"), flag, prose.OneLine(how))
	}
}

// triageFailed says on stderr which simulator of a triage failed, if one did.
func (e *env) triageFailed(r *report.Report) {
	flag := "--sim"
	if r.OwnFailed {
		flag = "--own"
	}
	e.simFailed(flag, r.SimFailed)
}

// outputs is the flag --format: formats, each with the file it goes to, "" for
// stdout. The first of those allowed is the default.
type outputs struct {
	allowed []string
	list    []output
}

type output struct{ format, file string }

func (o *outputs) String() string { return "" }

func (o *outputs) Type() string { return "FORMAT[=FILE]" }

func (o *outputs) Set(s string) error {
	format, file, toFile := strings.Cut(s, "=")
	if !slices.Contains(o.allowed, format) {
		return fmt.Errorf("expected %s%s", alternatives(o.allowed), prose.DidYouMean(format, o.allowed))
	}
	if toFile && file == "" {
		return errors.New("expected a file after =")
	}
	for _, other := range o.list {
		switch {
		case other.file != file:
		case !toFile:
			return errors.New("two formats for stdout; write one of them to a file with FORMAT=FILE")
		default:
			return fmt.Errorf("two formats for %s", file)
		}
	}
	o.list = append(o.list, output{format, file})
	return nil
}

// wanted returns what to write: the default goes to stdout if nothing was asked for.
func (o *outputs) wanted() []output {
	if len(o.list) == 0 {
		return []output{{o.allowed[0], ""}}
	}
	return o.list
}

// each calls render for every output. Files come first: whoever reads stdout may stop at any time, which ends the
// process. One that cannot be written does not keep the others from being written.
func (o *outputs) each(render func(out output) error) error {
	list := slices.Clone(o.wanted())
	slices.SortStableFunc(list, func(a, b output) int {
		switch {
		case a.file != "" && b.file == "":
			return -1
		case a.file == "" && b.file != "":
			return 1
		}
		return 0
	})
	var all error
	for _, out := range list {
		all = errors.Join(all, render(out))
	}
	return all
}

// alternatives returns "a, b or c".
func alternatives(words []string) string {
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " or " + words[last]
}

// addFormat adds the flag --format to a command.
func addFormat(cmd *cobra.Command) *outputs { return addFormats(cmd, "text", "json") }

// addFormats adds the flag --format with these formats, the default first.
func addFormats(cmd *cobra.Command, allowed ...string) *outputs {
	o := &outputs{allowed: allowed}
	named := slices.Clone(allowed)
	named[0] += " (the default)"
	cmd.Flags().Var(o, "format", alternatives(named)+"; FORMAT=FILE writes to a file, and may be repeated")
	return o
}

// render writes a result in every format asked for, which text and json are. Other formats
// are of reports, see renderReport.
func (e *env) render(o *outputs, text func(w io.Writer, s report.Style) error, document func() any) error {
	return o.each(func(out output) error {
		return e.renderTo(out, func(w io.Writer, style report.Style) error {
			switch out.format {
			case "text":
				return text(w, style)
			case "json":
				return report.WriteJSON(w, document())
			}
			return fmt.Errorf("--format %s: this result is written as text or json", out.format)
		})
	})
}

// renderDocument writes a document in every format asked for.
func (e *env) renderDocument(o *outputs, d report.Document, all bool) error {
	return o.each(func(out output) error {
		return e.renderTo(out, func(w io.Writer, style report.Style) error {
			if out.format == "json" {
				return d.JSON(w)
			}
			return d.Text(w, style, all)
		})
	})
}

// finish writes a document, and ends the command with its status.
func (e *env) finish(o *outputs, d report.Document, all bool) error {
	if err := e.renderDocument(o, d, all); err != nil {
		return err
	}
	return ended(d.Status)
}

// renderTo lets write write to stdout or a file. Only stdout is coloured and shown in a pager,
// and only if it is a terminal.
func (e *env) renderTo(out output, write func(w io.Writer, s report.Style) error) error {
	e.rendered = true
	if out.file == "" {
		return e.paged(func(w io.Writer) error { return write(w, e.style(e.stdout)) })
	}
	return files.Replace(out.file, func(f *os.File) error { return write(f, report.NewStyle(e.color == "always")) })
}
