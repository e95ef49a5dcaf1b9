package main

import (
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/desk"
	"github.com/desynctool/desynctool/report/desk/door"
	"github.com/desynctool/desynctool/report/desk/render"
)

// texts is a document of desk that has a text.
type texts interface{ Text() string }

// listing returns a command's work: it opens the store and writes what make makes of it.
func (d *deskEnv) listing(format *outputs, make func(*desk.Store) (texts, error)) func(*cobra.Command, []string) error {
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
		return d.render(format, func(w io.Writer, _ report.Style) error {
			_, err := io.WriteString(w, doc.Text())
			return err
		}, func() any { return doc })
	}
}

// changing returns a command's work: it opens the store, changes something in the name of a person, and prints
// what that returns.
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
			_, err = fmt.Fprintln(d.stdout, text)
		}
		return err
	}
}

func addAs(cmd *cobra.Command) *string {
	return cmd.Flags().String("as", "", "who does it, for the list of what was done (default: the user of this system)")
}

func newDeskToken(d *deskEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "token",
		Short: "Say who may reach the desk by HTTP",
		Long: `token makes, lists and revokes tokens. A desk that never had one is open to this machine
alone; once one was made, desk serve asks everybody for one, and may listen on other
addresses. Of a token the desk keeps a hash, so it is shown once.

Exit status: that of its commands.`,
		Example: `  desynctool desk token add bob --scope read
  desynctool desk token list`,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	var scope string
	add := &cobra.Command{
		Use: "add NAME", Short: "Make a token, and print it once",
		Long: `add makes a token and prints it. --scope says what it is for: upload sends bundles and asks
what became of them, read reads everything, triage does both and corrects groups.

Exit status: 0 if it was made, 2 if a valid one has the name.`,
		Example: `  desynctool desk token add ci --scope upload
  desynctool desk token add bob --scope triage`,
		Args: cobra.ExactArgs(1),
	}
	add.Flags().StringVar(&scope, "scope", "", "what it is for: upload, read or triage")
	as := addAs(add)
	add.RunE = d.changing(as, true, func(s *desk.Store, who string, args []string) (string, error) {
		if scope == "" {
			return "", fmt.Errorf("--scope is missing: expected upload, read or triage")
		}
		return s.AddToken(d.ctx, who, args[0], desk.Scope(scope))
	})
	list := &cobra.Command{
		Use: "list", Short: "List the tokens, without their secrets",
		Long: `list names all tokens, those that were revoked as well.

Exit status: 0, or 2 if there is no desk.`,
		Example: `  desynctool desk token list
  desynctool desk token list --format json`,
		Args: cobra.NoArgs,
	}
	list.RunE = d.listing(addFormat(list), func(s *desk.Store) (texts, error) {
		all, err := s.Tokens(d.ctx)
		return render.NewTokens(all), err
	})
	revoke := &cobra.Command{
		Use: "revoke NAME", Short: "End a token, and the sessions of browsers that logged in with it",
		Long: `revoke ends a token. A server that runs knows it at once.

Exit status: 0 if it was revoked, 2 if there is no valid one of the name.`,
		Example: `  desynctool desk token revoke crash-uploader
  desynctool desk token revoke ann --as root`,
		Args: cobra.ExactArgs(1),
	}
	revoke.RunE = d.changing(addAs(revoke), false, func(s *desk.Store, who string, args []string) (string, error) {
		return "", s.RevokeToken(d.ctx, who, args[0])
	})
	cmd.AddCommand(add, list, revoke)
	return cmd
}

func newDeskShare(d *deskEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "share",
		Short: "Give players a link to what they may see of a report",
		Long: `share makes links to what triage --redact leaves of a report. Nobody can guess one, and
nothing else of the desk can be seen with it. Whoever has the link can pass it on; desk
share revoke ends it.

Exit status: that of its commands.`,
		Example: `  desynctool desk share add 1
  desynctool desk share list`,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	var base string
	add := &cobra.Command{
		Use: "add REPORT", Short: "Make a link to a report, and print it once",
		Long: `add prints the link to a report, whose number desk show and the address of its page have.

Exit status: 0 if it was made, 2 if there is no such report.`,
		Example: `  desynctool desk share add 1
  desynctool desk share add 1 --url https://desk.example.org`,
		Args: cobra.ExactArgs(1),
	}
	add.Flags().StringVar(&base, "url", "", "where others reach the desk; without it the path of the link is printed")
	add.RunE = d.changing(addAs(add), false, func(s *desk.Store, who string, args []string) (string, error) {
		ids, err := numbers("report", args)
		if err != nil {
			return "", err
		}
		secret, err := s.Share(d.ctx, who, ids[0])
		return strings.TrimRight(base, "/") + door.SharePath(secret), err
	})
	list := &cobra.Command{
		Use: "list", Short: "List the links, without their secrets",
		Long: `list numbers all links, those that were revoked as well.

Exit status: 0, or 2 if there is no desk.`,
		Example: `  desynctool desk share list
  desynctool desk share list --format json`,
		Args: cobra.NoArgs,
	}
	list.RunE = d.listing(addFormat(list), func(s *desk.Store) (texts, error) {
		all, err := s.Shares(d.ctx)
		return render.NewShares(all), err
	})
	revoke := &cobra.Command{
		Use: "revoke LINK", Short: "End a link, by its number",
		Long: `revoke ends a link: it shows nothing any more.

Exit status: 0 if it was revoked, 2 if there is no valid one of the number.`,
		Example: `  desynctool desk share revoke 1
  desynctool desk share revoke 2 --as ann`,
		Args: cobra.ExactArgs(1),
	}
	revoke.RunE = d.changing(addAs(revoke), false, func(s *desk.Store, who string, args []string) (string, error) {
		ids, err := numbers("link", args)
		if err != nil {
			return "", err
		}
		return "", s.Unshare(d.ctx, who, ids[0])
	})
	cmd.AddCommand(add, list, revoke)
	return cmd
}

func newDeskWebhook(d *deskEnv) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "webhook",
		Short: "Tell another program of groups that are new or came back",
		Long: `webhook names addresses to which desk serve sends a message for each group that is new or
came back: JSON, signed with HMAC-SHA-256. docs/desk-upload.md has the format. A message
is sent again for three days until it is answered with 2xx, so it may come twice.

Exit status: that of its commands.`,
		Example: `  desynctool desk webhook add https://chat.example.org/desyncs
  desynctool desk webhook list`,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	var file string
	var private bool
	add := &cobra.Command{
		Use: "add URL", Short: "Have an address told from now on",
		Long: `add has an address told of groups. It prints the secret that signs the messages, unless
--secret-file has it. Addresses of private networks and of this machine are refused when
a message is sent, whatever the name led to, unless --private is given.

Exit status: 0 if it was added, 2 if the address cannot be one.`,
		Example: `  desynctool desk webhook add https://chat.example.org/hooks/desk
  desynctool desk webhook add http://127.0.0.1:9000/desk --private --as ann`,
		Args: cobra.ExactArgs(1),
	}
	add.Flags().StringVar(&file, "secret-file", "", "the file with the secret; without it one is made, and printed")
	add.Flags().BoolVar(&private, "private", false, "the address may be in a private network, or on this machine")
	add.RunE = d.changing(addAs(add), true, func(s *desk.Store, who string, args []string) (string, error) {
		if err := door.CheckWebhook(args[0]); err != nil {
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
		id, err := s.AddWebhook(d.ctx, who, desk.Webhook{Address: args[0], Private: private}, secret)
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
		Long: `list says of each webhook how many messages arrived, wait, or were given up.

Exit status: 0, or 2 if there is no desk.`,
		Example: `  desynctool desk webhook list
  desynctool desk webhook list --format json`,
		Args: cobra.NoArgs,
	}
	list.RunE = d.listing(addFormat(list), func(s *desk.Store) (texts, error) {
		all, err := s.Webhooks(d.ctx)
		return render.NewWebhooks(all), err
	})
	remove := &cobra.Command{
		Use: "remove WEBHOOK", Short: "End a webhook, by its number",
		Long: `remove ends a webhook. What was not delivered is given up.

Exit status: 0 if it was removed, 2 if there is none of the number.`,
		Example: `  desynctool desk webhook remove 1
  desynctool desk webhook remove 2 --as ann`,
		Args: cobra.ExactArgs(1),
	}
	remove.RunE = d.changing(addAs(remove), false, func(s *desk.Store, who string, args []string) (string, error) {
		ids, err := numbers("webhook", args)
		if err != nil {
			return "", err
		}
		return "", s.RemoveWebhook(d.ctx, who, ids[0])
	})
	cmd.AddCommand(add, list, remove)
	return cmd
}

func newDeskAudit(d *deskEnv) *cobra.Command {
	most := 100
	cmd := &cobra.Command{
		Use:   "audit",
		Short: "List who did what to the desk",
		Long: `audit lists what was done last, the last first: what came in, what was done to groups,
logins, and changes of tokens, links and webhooks. Of a bundle that came more than 200
times the first 200 are listed.

Exit status: 0, or 2 if there is no desk.`,
		Example: `  desynctool desk audit
  desynctool desk audit --most 20 --format json`,
		Args: cobra.NoArgs,
	}
	cmd.Flags().IntVar(&most, "most", most, "how many entries are listed")
	cmd.RunE = d.listing(addFormat(cmd), func(s *desk.Store) (texts, error) {
		if most < 1 {
			return nil, fmt.Errorf("--most is %d, expected 1 or more", most)
		}
		all, _, err := s.AuditList(d.ctx, desk.AuditMark{}, most)
		return render.NewAudit(all), err
	})
	return cmd
}
