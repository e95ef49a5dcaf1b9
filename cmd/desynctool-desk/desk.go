package main

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/report/document"
)

// deskVariable is the environment variable that names the store if --store is not given.
const deskVariable = "DESYNCTOOL_DESK"

// deskEnv is the state that the commands share.
type deskEnv struct {
	*cli.Env
	store, blobs, key string
	read              *intake.Processes
}

// newRoot returns the root command with the commands of this program.
func newRoot(e *cli.Env, read *intake.Processes) *cobra.Command {
	d := &deskEnv{Env: e, read: read}
	cmd := &cobra.Command{
		Use:         "desynctool-desk",
		Annotations: map[string]string{cobra.CommandDisplayNameAnnotation: "desynctool desk", cli.TakesPaths: "desynctool desk add"},
		Short:       "Keep many reports, and put the reports of one bug together",
		Long: `desk stores the bundles that many players sent: each bundle once, a report for
each match in it, and groups of reports about the same bug. Its commands show
how many bugs these are, which bugs are new since a build, which came back, and
on which platforms they happen.

A store is a folder, by default desk, or the address of a PostgreSQL database,
on which several machines may work at once. --blobs is the place of the bundles:
a folder, by default blobs in the folder of the store, or s3://BUCKET/PREFIX.
docs/desk.md describes a set-up that takes an afternoon.

` + cli.ExitHelp,
		Example: `  desynctool desk add report.zip
  desynctool desk list`,
	}
	f := cmd.PersistentFlags()
	f.StringVar(&d.store, "store", "", "the store: a folder, or postgres://…; else $"+deskVariable+", else desk")
	f.StringVar(&d.blobs, "blobs", "", "where the bundles are: a folder, or s3://…; else blobs in the folder of the store")
	f.StringVar(&d.key, "key", "", "the file with the key of pseudonyms; else key in the folder of the store")
	for _, g := range []struct {
		id, title string
		commands  []*cobra.Command
	}{
		{"in", "Add reports:", []*cobra.Command{newDeskAdd(d), newDeskWork(d), newDeskAgain(d)}},
		{"ask", "Look at reports:", []*cobra.Command{newDeskList(d), newDeskShow(d), newDeskTop(d), newDeskNew(d), newDeskCheck(d), newDeskStats(d)}},
		{"edit", "Decide about groups:", newDeskEdits(d)},
		{"others", "For others:", []*cobra.Command{newDeskServe(d), newDeskToken(d), newDeskShare(d), newDeskWebhook(d), newDeskAudit(d)}},
		{"keep", "Keep the store:", []*cobra.Command{newDeskDoctor(d), newDeskPrune(d), newDeskForget(d), newDeskExport(d), newDeskImport(d)}},
	} {
		cmd.AddGroup(&cobra.Group{ID: g.id, Title: g.title})
		for _, c := range g.commands {
			c.GroupID = g.id
			cmd.AddCommand(c)
		}
	}
	return cmd
}

// where returns the store that the command line names.
func (d *deskEnv) where() string {
	return cmp.Or(d.store, os.Getenv(deskVariable), "desk")
}

// open opens the store that the command line names. If create is set, it creates the store if needed.
func (d *deskEnv) open(create bool) (*desk.Store, error) {
	return desk.Open(d.Context, d.where(), desk.Options{Create: create})
}

// beside returns a path in the folder of the store, empty if the store is a database.
func (d *deskEnv) beside(name string) string {
	if desk.IsURL(d.where()) {
		return ""
	}
	return filepath.Join(d.where(), name)
}

// texts is a document of desk that has a text.
type texts interface{ Text() string }

// listing returns the function that runs a command: it opens the store and writes the result of make.
func (d *deskEnv) listing(format *cli.Outputs, make func(*desk.Store) (texts, error)) func(*cobra.Command, []string) error {
	return func(*cobra.Command, []string) error {
		store, err := d.open(false)
		if err != nil {
			return err
		}
		defer store.Close()
		doc, err := make(store)
		if err != nil {
			return err
		}
		return d.writeDocument(format, doc)
	}
}

// writeDocument writes a document of desk as its text or as JSON.
func (d *deskEnv) writeDocument(format *cli.Outputs, doc texts) error {
	return d.Render(format, func(w io.Writer, _ document.Style) error {
		_, err := io.WriteString(w, doc.Text())
		return err
	}, func() any { return doc })
}

// changing returns the function that runs a command: it opens the store, makes a change in the name of a person, and
// prints the result.
func (d *deskEnv) changing(as *string, create bool, change func(s *desk.Store, who string, args []string) (string, error)) func(*cobra.Command, []string) error {
	return func(_ *cobra.Command, args []string) error {
		name, err := who(*as)
		if err != nil {
			return err
		}
		store, err := d.open(create)
		if err != nil {
			return err
		}
		defer store.Close()
		text, err := change(store, name, args)
		if err == nil && text != "" {
			_, err = fmt.Fprintln(d.Stdout, text)
		}
		return err
	}
}

func addAs(cmd *cobra.Command) *string {
	return cmd.Flags().String("as", "", "who does it, for the list of actions (default: the user of this system)")
}
