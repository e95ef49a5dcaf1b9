package main

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/desk/server"
)

func newDeskWebhook(d *deskEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Notify another program of groups that are new or came back",
		Long: `webhook sets the addresses to which desk serve sends a message for each group
that is new or came back: JSON, signed with HMAC-SHA-256. docs/desk-upload.md
specifies the format. A message is sent again for three days until it is
answered with 2xx, so it may arrive twice.

Exit status: the status of its commands.`,
		Example: `  desynctool desk webhook add https://chat.example.org/desyncs
  desynctool desk webhook list`,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	var file string
	var private bool
	add := &cobra.Command{
		Use: "add URL", Short: "Notify an address from now on",
		Long: `add sets an address to notify of groups. It prints the secret that signs the
messages, unless --secret-file contains it. When a message is sent, addresses of
private networks and of this machine are refused, even if a name led to them,
unless --private is given.

Exit status: 0 if it was added, 2 if the address cannot be one.`,
		Example: `  desynctool desk webhook add https://chat.example.org/hooks/desk
  desynctool desk webhook add http://127.0.0.1:9000/desk --private --as ann`,
		Args: cobra.ExactArgs(1),
	}
	add.Flags().StringVar(&file, "secret-file", "", "the file with the secret; without it a secret is made, and printed")
	add.Flags().BoolVar(&private, "private", false, "the address may be in a private network, or on this machine")
	add.RunE = d.changing(addAs(add), true, func(s *desk.Store, who string, args []string) (string, error) {
		if err := server.CheckWebhook(args[0]); err != nil {
			return "", err
		}
		secret, said := desk.NewSecret(), true
		if file != "" {
			text, err := os.ReadFile(file)
			if err != nil {
				return "", err
			}
			if secret, said = strings.TrimSpace(string(text)), false; len(secret) < 16 || len(secret) > 4096 {
				return "", fmt.Errorf("%s: the secret has %d characters, expected 16 to 4096", file, len(secret))
			}
		}
		id, err := s.AddWebhook(d.Context, who, desk.Webhook{Address: args[0], Private: private}, secret)
		if err != nil {
			return "", err
		}
		text := "webhook " + strconv.FormatInt(id, 10)
		if said {
			text += ", secret " + secret
		}
		return text, nil
	})
	list := &cobra.Command{
		Use: "list", Short: "List the webhooks, and how their deliveries went",
		Long: `list shows for each webhook how many messages arrived, wait, or were given up.

Exit status: 0, or 2 if there is no desk.`,
		Example: `  desynctool desk webhook list
  desynctool desk webhook list --format json`,
		Args: cobra.NoArgs,
	}
	list.RunE = d.listing(cli.AddFormat(list), func(s *desk.Store) (texts, error) {
		all, err := s.Webhooks(d.Context)
		return render.NewWebhooks(all), err
	})
	remove := &cobra.Command{
		Use: "remove WEBHOOK", Short: "End a webhook, by its number",
		Long: `remove ends a webhook. Messages that were not delivered are given up.

Exit status: 0 if it was removed, 2 if there is no webhook with the number.`,
		Example: `  desynctool desk webhook remove 1
  desynctool desk webhook remove 2 --as ann`,
		Args: cobra.ExactArgs(1),
	}
	remove.RunE = d.changing(addAs(remove), false, func(s *desk.Store, who string, args []string) (string, error) {
		ids, err := numbers("webhook", args)
		if err != nil {
			return "", err
		}
		return "", s.RemoveWebhook(d.Context, who, ids[0])
	})
	cmd.AddCommand(add, list, remove)
	return cmd
}
