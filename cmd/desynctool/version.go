package main

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report"
)

func newVersion(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of desynctool and of its file formats",
		Long: `version prints which build this is.

Exit status: 0.`,
		Example: `  desynctool version
  desynctool version --format json`,
		Args: cobra.NoArgs,
	}
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doVersion(e, format) }
	return cmd
}

// version returns the module's version, or the commit it was built from, or
// "devel" if neither was stamped.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}

func doVersion(e *env, format *outputs) error {
	v, platform := version(), runtime.GOOS+"/"+runtime.GOARCH
	return e.render(format,
		func(w io.Writer, s report.Style) error {
			_, err := fmt.Fprintf(w, "desynctool %s %s %s\n", v, runtime.Version(), platform)
			return err
		},
		func() any {
			return struct {
				report.Head
				Version  string `json:"version"`
				Go       string `json:"go"`
				Platform string `json:"platform"`
			}{report.NewHead("version", report.InSync, nil), v, runtime.Version(), platform}
		})
}
