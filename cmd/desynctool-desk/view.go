package main

import (
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/report/document"
)

// filterHelp is part of the help of commands that accept a filter.
const filterHelp = `FILTER is a list of words that must all match: game:tanks, build:1.4.2,
build:>=1.4.0, os:linux, state:closed, kind:state, cause:float,
since:2026-01-01, until:…, peer:NAME, file:NAME, hash:ab12, group:3f9a,
weak:yes, or text that is searched for in titles, names, notes and links.
docs/desk-filters.md lists all of them.`

// parseFilter parses the words of a filter. An argument with spaces is one word.
func parseFilter(args []string) (desk.Filter, error) {
	for i, arg := range args {
		if strings.ContainsAny(arg, " \t\n") && !strings.Contains(arg, `"`) {
			if key, value, found := strings.Cut(arg, ":"); found && !strings.ContainsAny(key, " \t\n") {
				args[i] = key + `:"` + value + `"`
			} else {
				args[i] = `"` + arg + `"`
			}
		}
	}
	return desk.ParseFilter(strings.Join(args, " "))
}

// asking returns the function that runs a command: it opens the store, queries it, and writes the result in the
// requested formats.
func (d *deskEnv) asking(format *cli.Outputs, ask func(s *desk.Store, args []string) (*render.View, error)) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		store, err := d.open(false)
		if err != nil {
			return err
		}
		defer store.Close()
		v, err := ask(store, args)
		if err != nil {
			return err
		}
		err = format.Each(func(out cli.Output) error {
			return d.RenderTo(out, func(w io.Writer, s document.Style) error { return v.Write(w, out.Format, s) })
		})
		if err != nil {
			return err
		}
		return cli.Ended(v.Status)
	}
}
