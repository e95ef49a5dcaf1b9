package main

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/queue"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/internal/prose"
)

// deskWorkFlags are the flags of desk work.
type deskWorkFlags struct {
	intakeFlags
	untilEmpty, retryAside bool
	metrics                string
	format                 *cli.Outputs
}

func newDeskWork(d *deskEnv) *cobra.Command {
	var flags deskWorkFlags
	cmd := &cobra.Command{
		Use:   "work",
		Short: "Triage the bundles that wait in the queue",
		Long: `work triages the bundles that desk add --queue and uploads have stored: bundles
of the newest build first, bundles of desk again last. Any number of workers may
do so at once, on one folder, or with PostgreSQL on many machines. However a
worker ends, each bundle has its reports once: they are written in the
transaction that ends its job.

The bundles of a killed worker are taken again a few seconds later. Work that a
machine cannot do, such as reaching the bundles, is tried again: after a second,
then each time after four times as long, at most ten minutes. A bundle is set
aside if it takes longer than --wall, if it reaches limit cpu or heap, if its
process dies, or if three workers have died with it; desk work --retry-aside
tries these bundles again.

If the database server does not answer when work begins, or later, it is tried
again until it does. A worker has two connections to it.

When a signal ends work, it finishes its current bundles within half a minute,
or gives them back. A line each minute on stderr shows its progress; --metrics
serves the progress at /metrics for Prometheus, on a loopback address.

Exit status:
  0  all that it took is done
  2  an argument or the store is unusable
  3  a bundle was set aside, or is tried again later
If a signal ends it, it exits with 128 and the number of the signal.
`,
		Example: `  desynctool desk work --until-empty
  desynctool desk work --until-empty --isolate --jobs 4 --store desk`,
		Args: cobra.NoArgs,
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&flags.untilEmpty, "until-empty", false, "end when nothing waits and nothing runs, on any machine")
	f.BoolVar(&flags.retryAside, "retry-aside", false, "first give the bundles that were set aside back to the queue")
	f.StringVar(&flags.metrics, "metrics", "", "serve metrics at this loopback address, such as 127.0.0.1:9100")
	flags.format = cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return d.doWork(&flags) }
	return cmd
}

func (d *deskEnv) doWork(flags *deskWorkFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	say := func(line string) { fmt.Fprintln(d.Stderr, prose.OneLine(line)) }
	o := queue.Options{Jobs: flags.jobs, UntilEmpty: flags.untilEmpty, Log: say, Metrics: &queue.Metrics{}}
	for said := false; ; said = true {
		summary, err := d.work(flags, o)
		if err != nil && desk.Unreachable(err) && d.Context.Err() == nil {
			if !said {
				say("the desk cannot be reached, and is tried again: " + err.Error())
			}
			select {
			case <-time.After(time.Second):
			case <-d.Context.Done():
			}
			continue
		}
		if err != nil {
			return err
		}
		doc := render.NewWork(summary)
		if err := d.writeDocument(flags.format, doc); err != nil {
			return err
		}
		return cli.Ended(doc.Status)
	}
}

// work triages until it is stopped, or the server of the database does not answer when it begins.
func (d *deskEnv) work(flags *deskWorkFlags, o queue.Options) (s queue.Summary, err error) {
	store, err := desk.Open(d.Context, d.where(), desk.Options{Connections: queue.Connections})
	if err != nil {
		return s, err
	}
	defer store.Close()
	x, err := d.intake(store, &flags.intakeFlags, "desk work")
	if err != nil {
		return s, err
	}
	q, err := queue.Open(d.Context, store)
	if err != nil {
		return s, err
	}
	if flags.retryAside {
		n, err := q.RetryAside(d.Context)
		if err != nil {
			return s, err
		}
		o.Log(prose.Count(n, "bundle that was set aside waits", "bundles that were set aside wait") + " again")
	}
	if flags.metrics != "" {
		at, end, err := o.Metrics.Serve(d.Context, q, flags.metrics)
		if err != nil {
			return s, fmt.Errorf("--metrics: %w", err)
		}
		defer end()
		o.Log("metrics: http://" + at + "/metrics")
	}
	return q.Work(d.Context, x, o)
}
