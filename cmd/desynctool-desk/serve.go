package main

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/queue"
	"github.com/desynctool/desynctool/desk/server"
	"github.com/desynctool/desynctool/desk/web"
	"github.com/desynctool/desynctool/internal/prose"
)

// deskServeFlags are the flags of desk serve.
type deskServeFlags struct {
	intakeFlags
	listen, url, uploads string
	cert, certKey        string
	proxied              bool
	bundle, waiting      int64 // MiB
	atOnce               int
	rateToken            float64
	rateAddress          float64
}

func newDeskServe(d *deskEnv) *cobra.Command {
	var flags deskServeFlags
	cmd := &cobra.Command{
		Use:   "serve",
		Short: "Serve the desk's pages, and take uploads",
		Long: `serve offers the desk by HTTP: its pages, uploads by POST /reports and in
pieces, a feed of new groups, webhooks, and links for players.
docs/desk-upload.md specifies it, with curl.

By default it listens only on this machine, and there it needs no token until
one is made. On another address it listens only if there is a token (desk token
add), and then everybody needs one. Tokens should not pass a network in the
clear: give --tls-cert and --tls-key, or let a proxy speak TLS and give
--behind-proxy.

An upload is on stable storage when it is acknowledged, and waits for desk work;
--work N triages in this process, N bundles at once. The log on stderr has a
line for each request, without secrets. When a signal ends serve, it finishes
its current work within half a minute.

Exit status: 2 if it cannot begin. If a signal ends it, it exits with 128 and
the number of the signal.`,
		Example: `  desynctool desk serve --work 2
  desynctool desk serve --listen 0.0.0.0:8443 \
    --tls-cert cert.pem --tls-key key.pem`,
		Args: cobra.NoArgs,
	}
	def := server.DefaultLimits
	f := cmd.Flags()
	f.StringVar(&flags.listen, "listen", "127.0.0.1:8080", "the address to listen on")
	f.IntVar(&flags.jobs, "work", 0, "triage this many bundles at once in this process")
	cli.AddIsolate(cmd, &flags.isolate)
	flags.addNames(cmd)
	f.DurationVar(&flags.wall, "wall", defaultWall, "how long the triage of a bundle may take, with --work")
	f.StringVar(&flags.url, "url", "", "the address at which others reach the desk, for links: https://desk.example.org")
	f.StringVar(&flags.uploads, "uploads", "", "the folder for uploads in pieces; else uploads in the folder of the store")
	f.StringVar(&flags.cert, "tls-cert", "", "the file with the certificate, to speak TLS")
	f.StringVar(&flags.certKey, "tls-key", "", "the file with the key of the certificate")
	f.BoolVar(&flags.proxied, "behind-proxy", false, "believe X-Forwarded-For and X-Forwarded-Proto")
	f.Int64Var(&flags.bundle, "max-bundle", def.Bundle>>20, "maximum size of a bundle, in MiB")
	f.Int64Var(&flags.waiting, "max-waiting", def.Waiting>>20, "maximum size of the bundles that wait to be triaged, in MiB")
	f.IntVar(&flags.atOnce, "uploads-at-once", def.AtOnce, "how many uploads may be under way at once")
	f.Float64Var(&flags.rateToken, "rate-token", def.Token.Often, "how many uploads a minute one token may begin")
	f.Float64Var(&flags.rateAddress, "rate-address", def.Address.Often, "how many uploads a minute one address may begin")
	cmd.RunE = func(*cobra.Command, []string) error { return d.doServe(&flags) }
	return cmd
}

// check returns an error if the flags are not valid.
func (f *deskServeFlags) check() error {
	for _, x := range []struct {
		name string
		ok   bool
	}{
		{"work", f.jobs >= 0}, {"max-bundle", f.bundle > 0 && f.bundle < 1<<20}, {"max-waiting", f.waiting > 0 && f.waiting < 1<<40},
		{"uploads-at-once", f.atOnce > 0}, {"rate-token", f.rateToken > 0}, {"rate-address", f.rateAddress > 0}, {"wall", f.wall > 0},
	} {
		if !x.ok {
			return fmt.Errorf("--%s is out of range", x.name)
		}
	}
	if (f.cert == "") != (f.certKey == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	if u, err := url.Parse(f.url); f.url != "" && (err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "") {
		return fmt.Errorf("--url is %q, expected https://HOST", f.url)
	}
	return nil
}

func (f *deskServeFlags) limits() server.Limits {
	rate := func(often float64, burst int) server.Rate {
		return server.Rate{Often: often, Burst: max(burst, int(often/6))}
	}
	return server.Limits{
		Bundle: f.bundle << 20, Waiting: f.waiting << 20, AtOnce: f.atOnce,
		Token: rate(f.rateToken, 10), Address: rate(f.rateAddress, 10),
	}
}

func (d *deskEnv) doServe(flags *deskServeFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	var certificate *tls.Certificate
	if flags.cert != "" {
		c, err := tls.LoadX509KeyPair(flags.cert, flags.certKey)
		if err != nil {
			return fmt.Errorf("--tls-cert: %w", err)
		}
		certificate = &c
	}
	flags.uploads = cmp.Or(flags.uploads, d.beside("uploads"))
	if flags.uploads == "" {
		return errors.New("the store is a database: name the place of uploads in pieces with --uploads")
	}
	store, err := d.open(true)
	if err != nil {
		return err
	}
	defer store.Close()
	x, err := d.intake(store, &flags.intakeFlags, "desk serve")
	if err != nil {
		return err
	}
	q, err := queue.Open(d.Context, store)
	if err != nil {
		return err
	}
	_, hasToken, err := store.HasTokens(d.Context)
	if err != nil {
		return err
	}
	l, err := net.Listen("tcp", flags.listen)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	loopback, err := server.CheckListen(l.Addr(), hasToken, flags.proxied)
	if err != nil {
		return errors.Join(err, l.Close())
	}
	pages, err := web.New(web.Config{Store: store, Of: visitor, Blob: bundleFile(x.Blobs), Feed: "/groups.atom", Log: slog.New(slog.NewTextHandler(d.Stderr, nil))})
	if err != nil {
		return errors.Join(err, l.Close())
	}
	entrance := server.New(server.Options{
		Store: store, Blobs: x.Blobs, Uploads: flags.uploads, Pages: pages, Loopback: loopback, Proxied: flags.proxied, URL: flags.url,
		Limits: flags.limits(), Log: d.Stderr,
		Accept: func(ctx context.Context, h server.Hint) (server.Enqueue, error) {
			priority, err := q.PriorityOf(ctx, h.Build)
			return func(ctx context.Context, tx *desk.Tx, b *desk.Bundle) error {
				return q.Enqueue(ctx, tx, b.ID, priority)
			}, err
		},
	})
	scheme := "http"
	if certificate != nil {
		scheme = "https"
	}
	fmt.Fprintf(d.Stderr, "desk: %s://%s/\n", scheme, l.Addr())

	// If either of the two ends, the other ends too.
	ctx, end := context.WithCancelCause(d.Context)
	defer end(nil)
	worked := make(chan error, 1)
	go func() {
		if flags.jobs == 0 {
			worked <- nil
			return
		}
		_, err := q.Work(ctx, x, queue.Options{Jobs: flags.jobs, Log: func(line string) { fmt.Fprintln(d.Stderr, prose.OneLine(line)) }, Metrics: &queue.Metrics{}})
		end(err)
		worked <- err
	}()
	err = entrance.Serve(ctx, l, certificate)
	end(err)
	return errors.Join(err, <-worked)
}

// visitor returns the visitor of a request for the pages.
func visitor(r *http.Request) web.Who {
	v := server.VisitorOf(r.Context())
	return web.Who{Name: v.Name, Read: v.Read, Triage: v.Triage, Upload: v.Upload, CSRF: v.CSRF(), Program: !server.NeedsForm(r), LoggedIn: v.LoggedIn()}
}

// bundleFile opens the stored content of bundles for downloads.
func bundleFile(kept blobs.Store) func(ctx context.Context, b *desk.Bundle) (io.ReadCloser, string, error) {
	return func(ctx context.Context, b *desk.Bundle) (io.ReadCloser, string, error) {
		r, err := kept.Open(ctx, b.Kept)
		if err != nil || b.Kept == b.Hash {
			return r, b.Name, err
		}
		return copied(r, b.Name)
	}
}

// copied returns the copy of a bundle without names, and its name. It is always a tar archive.
func copied(r io.ReadCloser, name string) (io.ReadCloser, string, error) {
	const magic, at = "ustar", 257
	b := bufio.NewReader(r)
	head, err := b.Peek(at + len(magic))
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, "", errors.Join(err, r.Close())
	}
	if len(head) == at+len(magic) && string(head[at:]) == magic { // otherwise it is a saved report
		name = tarName(name)
	}
	return struct {
		io.Reader
		io.Closer
	}{b, r}, name, nil
}

// packings are the endings of archives' names.
var packings = []string{".tar.gz", ".tar.xz", ".tar.zst", ".tar.bz2", ".tgz", ".txz", ".tbz2", ".tzst", ".zip", ".7z", ".rar", ".tar"}

// tarName returns the name of a tar archive of a file's content: report.tar for report.zip, game.log.tar for game.log.
func tarName(name string) string {
	for _, end := range packings {
		if stem := len(name) - len(end); stem > 0 && strings.EqualFold(name[stem:], end) {
			return name[:stem] + ".tar"
		}
	}
	return cmp.Or(name, "bundle") + ".tar"
}
