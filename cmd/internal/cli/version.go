package cli

import (
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/internal/lazyregexp"
	"github.com/desynctool/desynctool/internal/licenses"
	"github.com/desynctool/desynctool/report/document"
)

func newVersion(e *Env, root *cobra.Command) *cobra.Command {
	program, path := root.Name(), root.CommandPath()
	cmd := &cobra.Command{
		Use:   "version",
		Short: "Print the version of " + program + ", its commit and date",
		Long: `version prints which build this is: the version, the commit and its date (UTC),
whether files had been changed since that commit, the Go version, the platform.
Facts that the build does not record are left out, and null in JSON.

--licenses prints the licence of desynctool and of each module linked into it, with
the module's version, and where the full texts are.

Exit status: 0.`,
		Example: strings.ReplaceAll("  PROGRAM version\n  PROGRAM version --format json\n  PROGRAM version --licenses", "PROGRAM", path),
		Args:    cobra.NoArgs,
	}
	format := AddFormat(cmd)
	list := cmd.Flags().Bool("licenses", false, "print the licences of desynctool and of the modules linked into it")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if *list {
			return doLicenses(e, format)
		}
		return doVersion(e, program, format)
	}
	return cmd
}

// Build describes how the running program was built.
type Build struct {
	Version  string  `json:"version"`  // the module's version; without one "devel", and the commit if it is known
	Commit   *string `json:"commit"`   // of the source, in full or its first 12 digits; nil if unknown
	Date     *string `json:"date"`     // of the commit, RFC 3339 in UTC; nil if unknown
	Modified *bool   `json:"modified"` // whether files were changed since the commit; nil if unknown
	Go       string  `json:"go"`
	Platform string  `json:"platform"`
}

// pseudoVersion is a version that the Go command made of a commit: its time and its name. go.dev/ref/mod specifies it.
var pseudoVersion = lazyregexp.New(`^v[0-9]+\.(?:0\.0-|[0-9]+\.[0-9]+-(?:[^+]*\.)?0\.)([0-9]{14})-([A-Za-z0-9]+)(?:\+[0-9A-Za-z-]+(?:\.[0-9A-Za-z-]+)*)?$`)

// ThisBuild returns how the running program was built.
func ThisBuild() Build {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	return buildOf(info)
}

// buildOf uses the data that the Go command recorded: the commit for a build in a clone, only the version for go
// install MODULE@VERSION. A pseudo-version contains a commit.
func buildOf(info *debug.BuildInfo) Build {
	b := Build{Version: info.Main.Version, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH}
	if m := pseudoVersion.FindStringSubmatch(b.Version); m != nil {
		b.Commit = &m[2]
		if at, err := time.Parse("20060102150405", m[1]); err == nil {
			b.dated(at)
		}
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			b.Commit = &s.Value
		case "vcs.time":
			if at, err := time.Parse(time.RFC3339, s.Value); err == nil {
				b.dated(at)
			}
		case "vcs.modified":
			modified := s.Value == "true"
			b.Modified = &modified
		}
	}
	if b.Version == "" || b.Version == "(devel)" {
		b.Version = "devel"
		if b.Commit != nil {
			b.Version += "-" + short(*b.Commit)
		}
	}
	return b
}

func (b *Build) dated(at time.Time) {
	s := at.UTC().Format(time.RFC3339)
	b.Date = &s
}

func short(commit string) string { return commit[:min(12, len(commit))] }

// Line returns one line: the program and the version, and the commit in parentheses if it is known.
func (b Build) Line(program string) string {
	var of []string
	if b.Commit != nil {
		of = append(of, "commit "+short(*b.Commit))
	}
	if b.Date != nil {
		of = append(of, *b.Date)
	}
	if b.Modified != nil && *b.Modified {
		of = append(of, "with changes")
	}
	s := program + " " + b.Version
	if len(of) > 0 {
		s += " (" + strings.Join(of, ", ") + ")"
	}
	return s + " " + b.Go + " " + b.Platform
}

func doVersion(e *Env, program string, format *Outputs) error {
	b := ThisBuild()
	return e.Render(format,
		func(w io.Writer, s document.Style) error {
			_, err := fmt.Fprintln(w, b.Line(program))
			return err
		},
		func() any {
			return struct {
				document.Head
				Build
			}{document.NewHead("version", document.InSync, nil), b}
		})
}

func doLicenses(e *Env, format *Outputs) error {
	list := licenses.Running()
	return e.Render(format,
		func(w io.Writer, s document.Style) error { return list.Text(w) },
		func() any {
			return struct {
				document.Head
				licenses.List
			}{document.NewHead("licenses", document.InSync, nil), list}
		})
}
