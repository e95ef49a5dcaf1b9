package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/desk/pseudonyms"
	"github.com/desynctool/desynctool/desk/queue"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/isolate"
	"github.com/desynctool/desynctool/report/triage"
)

// defaultWall is the default time limit for the triage of a bundle.
const defaultWall = 10 * time.Minute

// intakeFlags are the flags of commands of desk that triage.
type intakeFlags struct {
	isolate string
	jobs    int
	wall    time.Duration
	// keepNames keeps the names of players unchanged.
	keepNames bool
}

func (f *intakeFlags) add(cmd *cobra.Command) {
	cli.AddIsolate(cmd, &f.isolate)
	cmd.Flags().Lookup("isolate").Usage = "triage each bundle in a process that can do nothing else; =require: fail where the system cannot ensure it"
	f.addNames(cmd)
	cmd.Flags().IntVar(&f.jobs, "jobs", runtime.NumCPU(), "how many bundles are triaged at once")
	cmd.Flags().DurationVar(&f.wall, "wall", defaultWall, "how long the triage of a bundle may take")
}

// addNames adds the flag --keep-names.
func (f *intakeFlags) addNames(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&f.keepNames, "keep-names", false, "leave the names and addresses of players as they are (docs/privacy.md)")
}

func (f *intakeFlags) check() error {
	if f.jobs < 1 {
		return fmt.Errorf("--jobs is %d, expected 1 or more", f.jobs)
	}
	if f.wall <= 0 {
		return fmt.Errorf("--wall is %s, expected a time such as 10m", f.wall)
	}
	return nil
}

// intake returns the Intake for a store.
func (d *deskEnv) intake(store *desk.Store, flags *intakeFlags, source string) (*intake.Intake, error) {
	kept, err := d.openBlobs()
	if err != nil {
		return nil, err
	}
	x := &intake.Intake{Store: store, Blobs: kept, Tool: cli.ThisBuild().Version, Wall: flags.wall, Source: source}
	var names *triage.Names
	if !flags.keepNames {
		key, err := d.namesKey(store)
		if err != nil {
			return nil, err
		}
		store.NameFiles(key.File)
		names = namesBy(key)
		d.read.Names = names.Key
	}
	var by intake.Copier = &triage.Reader{Isolate: &d.Reader, Require: flags.isolate == cli.IsolateRequired, Died: true, Names: names}
	if flags.isolate == "" {
		d.read.Start = isolate.Process
		by = d.read
	}
	if x.Reader = by; names != nil {
		x.Without = by
	}
	return x, nil
}

// namesKey returns the key for the pseudonyms of a store, and creates it if needed. With a different key than before,
// the reports of a player could not be found together.
func (d *deskEnv) namesKey(store *desk.Store) (*pseudonyms.Key, error) {
	path := cmp.Or(d.key, d.beside("key"))
	if path == "" {
		return nil, errors.New("the store is a database: --key names the file with the key of pseudonyms, or --keep-names leaves the names of players as they are")
	}
	key, err := pseudonyms.EnsureKey(path)
	if err != nil {
		return nil, err
	}
	id, err := store.NamesKey(d.Context, key.ID())
	if err != nil {
		return nil, err
	}
	if id != key.ID() {
		return nil, fmt.Errorf("%s: it is the key %s, and the pseudonyms of this store are made with the key %s", path, key.ID(), id)
	}
	return key, nil
}

// openBlobs opens the store of the bundles' content.
func (d *deskEnv) openBlobs() (blobs.Store, error) {
	where := cmp.Or(d.blobs, d.beside("blobs"))
	if where == "" {
		return nil, errors.New("the store is a database: name the place of the bundles with --blobs")
	}
	return blobs.Open(where)
}

// deskAddFlags are the flags of desk add.
type deskAddFlags struct {
	intakeFlags
	queue, verbose, one, each bool
	build                     string
	format                    *cli.Outputs
}

func newDeskAdd(d *deskEnv) *cobra.Command {
	var flags deskAddFlags
	cmd := &cobra.Command{
		Use:   "add PATH...",
		Short: "Store bundles, and triage each match in them",
		Long: `add stores bundles and writes a report for each match in them. It makes the
store if it does not exist. A bundle that is already in the store gets one more
receipt, and is not triaged again; its stored content is read, and written again
if it is damaged or missing. A bundle that cannot be read is stored with a report
that contains the reason.

A file is a bundle; - is a bundle on stdin. A folder is a bundle, unless it
contains only archives and folders, and the first of these that can be read has
files of more than one peer or match by itself. In that case each of them is a
bundle. --one takes every folder as one bundle; --each takes every file and
folder in a folder as one bundle. In a folder of bundles, names that begin with
a dot are left out.

With --queue bundles are only stored; desk work triages them. Without it add
triages the bundles itself, as many at once as --jobs, and stores them in the
order of the paths. No matter how an add was ended, run the same command
again to continue it.

Exit status:
  0  every bundle is stored, whatever its reports show
  2  a bundle is not stored, or an argument is unusable
  3  all are stored, but one has no report: it takes too much time or memory,
     its process died, or this machine could not triage it
`,
		Example: `  desynctool desk add reports/
  desynctool desk add report.zip --store /srv/desk --queue --build 1.4.3`,
		Args: cobra.MinimumNArgs(1),
	}
	flags.add(cmd)
	f := cmd.Flags()
	f.BoolVar(&flags.queue, "queue", false, "store the bundles only; desk work triages them")
	f.StringVar(&flags.build, "build", "", "with --queue: the build of the bundles, so that the newest are triaged first")
	f.BoolVar(&flags.one, "one", false, "take every folder as one bundle")
	f.BoolVar(&flags.each, "each", false, "take every file and folder in a folder as a bundle")
	f.BoolVar(&flags.verbose, "verbose", false, "print on stderr the result for each bundle")
	cmd.MarkFlagsMutuallyExclusive("one", "each")
	flags.format = cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return d.doAdd(args, &flags) }
	return cmd
}

func (d *deskEnv) doAdd(args []string, flags *deskAddFlags) error {
	if err := flags.check(); err != nil {
		return err
	}
	if flags.build != "" && !flags.queue {
		return errors.New("--build is for --queue")
	}
	store, err := d.open(true)
	if err != nil {
		return err
	}
	defer store.Close()
	x, err := d.intake(store, &flags.intakeFlags, "desk add")
	if err != nil {
		return err
	}
	var receive intake.Receive
	if flags.queue {
		if receive, err = d.queued(store, flags.build); err != nil {
			return err
		}
	}
	doc := render.NewAdding(flags.queue)
	list := d.sources(x, args, flags, doc)
	show, end := d.Progress("bundles", "bundles")
	total := len(list)
	err = x.Add(d.Context, list, flags.jobs, receive, func(a intake.Added) error {
		doc.Add(&a)
		if show != nil {
			show(int64(doc.Bundles), int64(total))
		}
		if flags.verbose {
			d.Note(render.AddedLine(&a))
		}
		return nil
	})
	end()
	if err != nil {
		return err
	}
	d.Warn(doc.Warnings)
	if err := d.writeDocument(flags.format, doc); err != nil {
		return err
	}
	return cli.Ended(doc.Status)
}

// queued returns the function that queues bundles of a build for workers.
func (d *deskEnv) queued(store *desk.Store, build string) (intake.Receive, error) {
	q, err := queue.Open(d.Context, store)
	if err != nil {
		return nil, err
	}
	priority, err := q.PriorityOf(d.Context, build)
	return func(ctx context.Context, b desk.Bundle, r desk.Receipt) (*desk.Bundle, bool, error) {
		return q.Receive(ctx, b, r, priority)
	}, err
}

// sources lists the bundles at the paths. Paths that cannot be a bundle are added to the document.
func (d *deskEnv) sources(x *intake.Intake, args []string, flags *deskAddFlags, doc *render.Adding) (list []intake.Source) {
	how := intake.Look
	switch {
	case flags.one:
		how = intake.One
	case flags.each:
		how = intake.Each
	}
	for _, path := range args {
		if path == archive.Stdin {
			list = append(list, intake.Source{Path: path, Name: "stdin", Content: d.Stdin})
			continue
		}
		found, err := x.Find(d.Context, path, how)
		if err != nil {
			doc.Refused(path, err)
			continue
		}
		if len(found) > 1 && how == intake.Look {
			fmt.Fprintf(d.Stderr, "%s: each of its %s is a bundle (--one takes it as one)\n", prose.OneLine(path), prose.Count(len(found), "entry", "entries"))
		}
		list = append(list, found...)
	}
	return list
}
