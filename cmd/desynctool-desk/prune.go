package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/blobs"
	"github.com/desynctool/desynctool/desk/queue"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/report/document"
)

func newDeskPrune(d *deskEnv) *cobra.Command {
	r := desk.Retention{}
	var unfinished bool
	var from string
	cmd := &cobra.Command{
		Use:   "prune",
		Short: "Delete bundles that are old or too many",
		Long: `prune deletes the content of bundles: first of closed groups, then of ignored
groups, then of bundles without a group, at last of open groups. In each case
the bundles that arrived first go first. Reports, and the counts of groups,
stay.

The most complete bundles of each group always stay, and so do bundles that
arrived less than a day ago or are yet to be triaged. Content that no bundle
needs, such as the content that a killed program leaves, is deleted a day later,
without any flag.

--unfinished instead drops uploads in pieces that are not finished, and shows
where they come from; with --dry-run it only lists them.

Exit status: 0 if it was done, 2 if it cannot be.`,
		Example: `  desynctool desk prune --keep-for 90d --dry-run
  desynctool desk prune --bytes 10GiB --keep-best 5
  desynctool desk prune --unfinished --from crash-uploader`,
		Args: cobra.NoArgs,
	}
	f := cmd.Flags()
	f.Var((*ageFlag)(&r.KeepFor), "keep-for", "delete bundles that arrived longer ago: 90d, 12w, 36h")
	f.Int64Var(&r.AtMost, "at-most", 0, "delete until at most this many bundles have content")
	f.Var((*bytesFlag)(&r.Bytes), "bytes", "delete until the content takes at most this many bytes: 500MiB, 10GiB")
	f.IntVar(&r.KeepBest, "keep-best", 3, "number of bundles of each group that always stay")
	f.BoolVar(&r.Reports, "reports", false, "also delete the reports of these bundles")
	f.BoolVar(&unfinished, "unfinished", false, "drop unfinished uploads, and delete nothing else")
	f.StringVar(&from, "from", "", "of these, only from this token or address")
	as := addAs(cmd)
	f.BoolVar(&r.DryRun, "dry-run", false, "only show what would be deleted")
	for _, other := range []string{"keep-for", "at-most", "bytes", "keep-best", "reports"} {
		cmd.MarkFlagsMutuallyExclusive("unfinished", other)
	}
	format := cli.AddFormat(cmd)
	drop := d.listing(format, func(s *desk.Store) (texts, error) {
		name, err := who(*as)
		if err != nil {
			return nil, err
		}
		list, err := s.Unfinished(d.Context, from)
		if err == nil && !r.DryRun {
			list, err = s.DropUnfinished(d.Context, name, from)
		}
		return render.NewUploads(list, r.DryRun), err
	})
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case unfinished:
			return drop(cmd, args)
		case from != "":
			return errors.New("--from selects unfinished uploads; it needs --unfinished")
		}
		if r.AtMost < 0 || r.KeepBest < 0 {
			return errors.New("--at-most and --keep-best are 0 or more")
		}
		return d.withBundles(func(s *desk.Store, b blobs.Store) (err error) {
			if r.Busy, err = queue.Busy(d.Context, s); err != nil {
				return err
			}
			p, err := desk.Prune(d.Context, s, b, r)
			if err != nil {
				return err
			}
			return d.Render(format, func(w io.Writer, _ document.Style) error { return render.Prune(w, p) }, func() any { return render.PruneDocument(p) })
		})
	}
	return cmd
}

// withBundles opens the existing store, and the store of its bundles' content.
func (d *deskEnv) withBundles(f func(*desk.Store, blobs.Store) error) error {
	s, err := d.open(false)
	if err != nil {
		return err
	}
	defer s.Close()
	b, err := d.openBlobs()
	if err != nil {
		return err
	}
	return f(s, b)
}

// ageFlag is a duration in units up to days and weeks.
type ageFlag time.Duration

func (a *ageFlag) String() string {
	if *a == 0 {
		return ""
	}
	return time.Duration(*a).String()
}

func (a *ageFlag) Type() string { return "TIME" }

func (a *ageFlag) Set(text string) error {
	const day = 24 * time.Hour
	for suffix, unit := range map[string]time.Duration{"d": day, "w": 7 * day} {
		if digits, ok := strings.CutSuffix(text, suffix); ok {
			n, err := strconv.ParseUint(digits, 10, 16)
			if err != nil || n == 0 {
				break
			}
			*a = ageFlag(time.Duration(n) * unit)
			return nil
		}
	}
	t, err := time.ParseDuration(text)
	if err != nil || t <= 0 {
		return errors.New("expected a time, such as 90d, 12w or 36h")
	}
	*a = ageFlag(t)
	return nil
}

// bytesFlag is a number of bytes in the syntax of --limit.
type bytesFlag int64

func (b *bytesFlag) String() string {
	if *b == 0 {
		return ""
	}
	return limits.Size(int64(*b))
}

func (b *bytesFlag) Type() string { return "BYTES" }

func (b *bytesFlag) Set(text string) error {
	n, err := limits.File.Parse(text)
	if err != nil {
		return fmt.Errorf("expected bytes, such as 500MiB or 10GiB, at most %s", limits.Size(limits.File.Most))
	}
	*b = bytesFlag(n)
	return nil
}
