package main

import (
	"io"
	"slices"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/survey"
)

func newFormats(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "formats",
		Short: "List the file formats that are read, and the evidence in each",
		Long: `formats lists the file formats in the order in which they are tried. Files are
recognised by content. Notations that any game may use come last: all files of a
session together determine the kind of each of their files.

Exit status: 0.`,
		Example: `  desynctool formats
  desynctool formats --format json`,
		Args: cobra.NoArgs,
	}
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doFormats(e, format) }
	return cmd
}

func doFormats(e *env, format *cli.Outputs) error {
	list := slices.Concat(formats.All(), survey.Ordinary())
	return e.Render(format,
		func(w io.Writer, s document.Style) error { return formats.Text(w, list, s) },
		func() any { return formats.Document(list) })
}
