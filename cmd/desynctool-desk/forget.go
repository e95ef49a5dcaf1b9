package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/pseudonyms"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/report/document"
)

func newDeskForget(d *deskEnv) *cobra.Command {
	var player string
	var dryRun bool
	cmd := &cobra.Command{
		Use:   "forget",
		Short: "Delete all reports of a player",
		Long: `forget deletes all reports in which a player is a peer, with their documents and
the content of their bundles. It also removes the name from the names of files.
In a bundle with several matches, the reports of matches without the player
stay.

The player is found by the name, and by the pseudonym of the name if the key of
pseudonyms is there. The output lists the data that has the name and stays, such
as a note of a person, and the data that cannot be known: forget does not look
into the content of other bundles. It cannot be undone. An event in the store
records that something was forgotten, without the name.

Exit status: 0 if it was done, 2 if it cannot be.`,
		Example: `  desynctool desk forget --player alice --dry-run
  desynctool desk forget --player player-3f9a2c1277`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.StringVar(&player, "player", "", "the name of the player")
	as := addAs(cmd)
	f.BoolVar(&dryRun, "dry-run", false, "only show what would be deleted")
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if player = strings.TrimSpace(player); player == "" {
			return errors.New("--player NAME is needed: who is to be forgotten")
		}
		who, err := who(*as)
		if err != nil {
			return err
		}
		return d.withBundles(func(s *desk.Store, b blobs.Store) error {
			called, err := d.namesOf(player)
			if err != nil {
				return err
			}
			f, err := desk.Forget(d.Context, s, b, called, who, dryRun)
			if err != nil {
				return err
			}
			return d.Render(format, func(w io.Writer, _ document.Style) error { return render.Forget(w, f, s.Kind() == desk.SQLite) }, func() any { return render.ForgetDocument(f) })
		})
	}
	return cmd
}

// namesOf returns a player's names in a store: the name, and its pseudonym if there is a key.
func (d *deskEnv) namesOf(player string) ([]string, error) {
	if pseudonyms.IsRole(player) && !pseudonyms.IsPseudonym(player) {
		return nil, fmt.Errorf("%q is a role and not a player; every match has one", player)
	}
	list := []string{player}
	path := cmp.Or(d.key, d.beside("key"))
	if path == "" || pseudonyms.IsPseudonym(player) {
		return list, nil
	}
	key, err := pseudonyms.LoadKey(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && d.key == "":
		return list, nil // names are kept, or nothing has arrived yet
	case err != nil:
		return nil, err
	}
	return append(list, key.Player(player)), nil
}
