package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/document"
)

// limitsVariable is the environment variable that sets limits: NAME=VALUE,NAME=VALUE.
const limitsVariable = "DESYNCTOOL_LIMITS"

// limitFlags are the flags --limits and --limit, which all commands have.
type limitFlags struct {
	show bool
	set  []string // NAME=VALUE, as given
}

// String implements pflag.Value.
func (f *limitFlags) String() string { return "" }

// Type implements pflag.Value.
func (f *limitFlags) Type() string { return "NAME=VALUE" }

// Set implements pflag.Value.
func (f *limitFlags) Set(text string) error {
	if err := new(limits.Settings).Assign(text, ""); err != nil {
		return nearLimit(err)
	}
	f.set = append(f.set, text)
	return nil
}

// nearLimit adds a suggestion to an error about an unknown limit.
func nearLimit(err error) error {
	unknown := (*limits.UnknownError)(nil)
	if !errors.As(err, &unknown) {
		return err
	}
	hint := cmp.Or(prose.DidYouMean(unknown.Name, limitNames()), "; desynctool --limits lists them")
	return fmt.Errorf("%w%s", err, hint)
}

func limitNames() []string {
	return lists.Map(limits.All(), func(l *limits.Limit) string { return l.Name })
}

// addLimits adds the flags of limits to all commands. It must be called after their Args and RunE are set.
func addLimits(e *Env, root *cobra.Command) {
	f := root.PersistentFlags()
	f.BoolVar(&e.limits.show, "limits", false, "list the limits on reading, their values, and where the values come from")
	f.Var(&e.limits, "limit", "set a limit, such as --limit memory=2GiB; may be repeated")
	format := AddFormat(root)
	root.Flags().Lookup("format").Usage = "with --limits: text (the default) or json"
	var each func(c *cobra.Command)
	each = func(c *cobra.Command) {
		args, run := c.Args, c.RunE
		if args != nil {
			c.Args = func(c *cobra.Command, given []string) error {
				if e.limits.show {
					return nil
				}
				return args(c, given)
			}
		}
		if run != nil {
			c.RunE = func(c *cobra.Command, given []string) error {
				if !e.limits.show {
					return run(c, given)
				}
				if f := c.Flags().Lookup("format"); f != nil {
					if own, ok := f.Value.(*Outputs); ok {
						return e.showLimits(own)
					}
				}
				return e.showLimits(format)
			}
		}
		for _, sub := range c.Commands() {
			each(sub)
		}
	}
	each(root)
}

// showLimits prints the table of limits.
func (e *Env) showLimits(format *Outputs) error {
	return e.Render(format,
		func(w io.Writer, s document.Style) error { return document.LimitsText(w, s) },
		func() any { return document.NewLimits() })
}

// useLimits sets the limits of the process from the configuration file limits, the environment and flags. Later sources
// override earlier ones.
func (e *Env) useLimits() error {
	var s limits.Settings
	if dir, err := os.UserConfigDir(); err == nil { // without a home there is no configuration
		path := filepath.Join(dir, "desynctool", "limits")
		f, err := os.Open(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		default:
			err = s.Read(f, path)
			if err = errors.Join(err, f.Close()); err != nil {
				return nearLimit(err)
			}
		}
	}
	if err := s.List(os.Getenv(limitsVariable), limitsVariable); err != nil {
		return fmt.Errorf("%s: %w", limitsVariable, nearLimit(err))
	}
	for _, text := range e.limits.set {
		if err := s.Assign(text, "--limit"); err != nil {
			return err
		}
	}
	limits.Use(s)
	if wall, ok := limits.Deadline(); ok {
		var cancel func()
		e.Context, cancel = context.WithTimeoutCause(e.Context, wall, limits.Wall.Reached("", 0))
		hard := time.AfterFunc(wall+max(wall/4, time.Second), func() { e.overdue <- limits.Wall.Reached("", 0) })
		e.endWall = func() { hard.Stop(); cancel() }
	}
	return nil
}

// TimeReached returns a line which reports that the run took too long, "" if it did not.
func (e *Env) TimeReached() string {
	if over := (*limits.Error)(nil); e.Context.Err() != nil && errors.As(context.Cause(e.Context), &over) {
		return over.Error()
	}
	return ""
}

// completeLimit completes NAME=.
func completeLimit(*cobra.Command, []string, string) (list []string, _ cobra.ShellCompDirective) {
	list = append(list, lists.Map(limits.All(), func(l *limits.Limit) string { return l.Name + "=\t" + l.Doc })...)
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// ofAll are flags that only the help of the root lists, because they are not specific to a command.
var ofAll = []string{"limits", "limit"}

// globalFlags returns the flags that the help of a command lists below its own.
func globalFlags(c *cobra.Command) string {
	shown := pflag.NewFlagSet("", pflag.ContinueOnError)
	c.InheritedFlags().VisitAll(func(f *pflag.Flag) {
		if !slices.Contains(ofAll, f.Name) {
			shown.AddFlag(naming(c.Name(), f))
		}
	})
	return strings.TrimRight(shown.FlagUsagesWrapped(helpWidth), "\n")
}
