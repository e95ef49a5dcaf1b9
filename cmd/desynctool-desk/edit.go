package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/user"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk"
	"github.com/desynctool/desynctool/desk/render"
	"github.com/desynctool/desynctool/report/document"
)

// deskEdit is a command that edits groups: its name, its help, and its function.
type deskEdit struct {
	use, short, long, example string
	args                      cobra.PositionalArgs
	flags                     func(*cobra.Command)
	do                        func(ctx context.Context, e *desk.Editor, args []string) (desk.Done, error)
}

// newDeskEdits returns the commands that edit groups.
func newDeskEdits(d *deskEnv) (list []*cobra.Command) {
	var fixedIn, to string
	for _, x := range []deskEdit{
		{
			use: "merge FROM INTO", short: "Move all reports of a group into another group",
			long: `merge moves all reports of a group into another group of the same game. Later
reports that would have joined the first group join the second.`,
			example: `  desynctool desk merge 3f9a2c12 77ab01cd
  desynctool desk undo`,
			args: cobra.ExactArgs(2),
			do: func(ctx context.Context, e *desk.Editor, args []string) (desk.Done, error) {
				return e.Merge(ctx, args[0], args[1])
			},
		}, {
			use: "split GROUP VARIANT...", short: "Move variants of a group to a new group",
			long: `split moves some variants of a group to a new group: the reports with the exact
fingerprint of one of these variants, and also later ones. desk show lists the
variants of a group with their numbers.`,
			example: `  desynctool desk split 3f9a2c12 1
  desynctool desk undo`,
			args: cobra.MinimumNArgs(2),
			do: func(ctx context.Context, e *desk.Editor, args []string) (desk.Done, error) {
				ids, err := numbers("variant", args[1:])
				if err != nil {
					return desk.Done{}, err
				}
				return e.Split(ctx, args[0], ids)
			},
		}, {
			use: "move REPORT...", short: "Move single reports to another group, or to a new one",
			long: `move puts reports into a group by hand. They stay there when they are triaged
again. Other reports like them do not follow; use split for that.`,
			example: `  desynctool desk move 1 --to 77ab01cd
  desynctool desk move 1 2`,
			args:  cobra.MinimumNArgs(1),
			flags: func(cmd *cobra.Command) { cmd.Flags().StringVar(&to, "to", "", "the group; without it a new one") },
			do: func(ctx context.Context, e *desk.Editor, args []string) (desk.Done, error) {
				ids, err := numbers("report", args)
				if err != nil {
					return desk.Done{}, err
				}
				return e.Move(ctx, ids, to)
			},
		}, {
			use: "name GROUP NAME", short: "Give a group a name",
			long: `name gives a group a name. Lists show the name instead of the data that the
group was made from. An empty name removes it.`,
			example: `  desynctool desk name 3f9a2c12 "two medics heal at once"
  desynctool desk name 3f9a2c12 ""`,
			args: cobra.ExactArgs(2),
			do: func(ctx context.Context, e *desk.Editor, args []string) (desk.Done, error) {
				return e.Name(ctx, args[0], args[1])
			},
		}, {
			use: "close GROUP", short: "Mark the bug of a group as fixed",
			long: `close marks a bug as fixed. A report from the build with the fix, or from a
later build, opens the group again. Without --fixed-in, a report opens the group
again if its build is later than all builds in which the bug was seen.`,
			example: `  desynctool desk close 3f9a2c12 --fixed-in 1.4.3
  desynctool desk close 3f9a2c12`,
			args: cobra.ExactArgs(1),
			flags: func(cmd *cobra.Command) {
				cmd.Flags().StringVar(&fixedIn, "fixed-in", "", "the first build that has the fix")
			},
			do: func(ctx context.Context, e *desk.Editor, args []string) (desk.Done, error) {
				return e.CloseGroup(ctx, args[0], fixedIn)
			},
		}, {
			use: "reopen GROUP", short: "Open a group that is closed or ignored",
			long: `reopen opens a group that was closed or ignored.`,
			example: `  desynctool desk ignore 3f9a2c12
  desynctool desk reopen 3f9a2c12 --as ann`,
			args: cobra.ExactArgs(1),
			do: func(ctx context.Context, e *desk.Editor, args []string) (desk.Done, error) {
				return e.Reopen(ctx, args[0])
			},
		}, {
			use: "ignore GROUP", short: "Leave a group out of lists",
			long: `ignore leaves a group out of lists, unless they ask for it. Its reports are
still counted, and nothing opens the group again by itself.`,
			example: `  desynctool desk ignore 3f9a2c12
  desynctool desk ignore 77ab01cd --format json`,
			args: cobra.ExactArgs(1),
			do: func(ctx context.Context, e *desk.Editor, args []string) (desk.Done, error) {
				return e.Ignore(ctx, args[0])
			},
		}, {
			use: "note GROUP TEXT", short: "Write a note on a group",
			long: `note writes a note on a group. desk show lists the notes, and desk list finds a
group by the words in its notes.`,
			example: `  desynctool desk note 3f9a2c12 "only with the new path finder"
  desynctool desk note 3f9a2c12 "seen at the tournament" --as ann`,
			args: cobra.ExactArgs(2),
			do: func(ctx context.Context, e *desk.Editor, args []string) (desk.Done, error) {
				return e.Note(ctx, args[0], args[1])
			},
		}, {
			use: "link GROUP ADDRESS", short: "Link a group to an issue",
			long: `link adds the address of an issue to a group, http or https.`,
			example: `  desynctool desk link 3f9a2c12 https://example.org/issues/17
  desynctool desk link 3f9a2c12 https://example.org/issues/17 --as ann`,
			args: cobra.ExactArgs(2),
			do: func(ctx context.Context, e *desk.Editor, args []string) (desk.Done, error) {
				return e.Link(ctx, args[0], args[1])
			},
		}, {
			use: "undo [EVENT]", short: "Take an edit back",
			long: `undo takes an edit back: the edit with the number EVENT, or your last edit.
Every edit prints its number, and desk show lists it. If a later edit depends on
an edit, undo refuses to take it back until the later edit is undone.`,
			example: `  desynctool desk note 3f9a2c12 "not this one"
  desynctool desk undo`,
			args: cobra.MaximumNArgs(1),
			do: func(ctx context.Context, e *desk.Editor, args []string) (desk.Done, error) {
				var event int64
				if len(args) > 0 {
					ids, err := numbers("event", args)
					if err != nil {
						return desk.Done{}, err
					}
					event = ids[0]
				}
				return e.Undo(ctx, event)
			},
		},
	} {
		list = append(list, x.command(d))
	}
	return list
}

func (x deskEdit) command(d *deskEnv) *cobra.Command {
	cmd := &cobra.Command{Use: x.use, Short: x.short, Args: x.args, Example: x.example, Long: x.long + `

A group is named by its code, or by enough first digits of the code that no
other group has them.

Exit status: 0 if it was done, 2 if it cannot be.`}
	as := addAs(cmd)
	if x.flags != nil {
		x.flags(cmd)
	}
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		who, err := who(*as)
		if err != nil {
			return err
		}
		store, err := d.open(false)
		if err != nil {
			return err
		}
		defer store.Close()
		done, err := x.do(d.Context, &desk.Editor{Store: store, Who: who}, args)
		if err != nil {
			return err
		}
		return d.Render(format, func(w io.Writer, s document.Style) error {
			text := render.EditText(done)
			if done.What != desk.Undone {
				text += fmt.Sprintf(" To take it back: desynctool desk undo %d", done.Event)
			}
			_, err := fmt.Fprintln(w, text)
			return err
		}, func() any { return render.EditDocument(done) })
	}
	return cmd
}

// who returns the name of the editor: from the command line, else the user of this system.
func who(as string) (string, error) {
	if as = strings.TrimSpace(as); as != "" {
		return as, nil
	}
	u, err := user.Current()
	if err != nil || u.Username == "" {
		return "", errors.New("the system does not know who you are; give --as NAME")
	}
	return u.Username, nil
}

// numbers parses numbers; what is the kind of object that they identify.
func numbers(what string, args []string) (ids []int64, err error) {
	for _, arg := range args {
		id, err := strconv.ParseInt(arg, 10, 64)
		if err != nil || id < 1 {
			return nil, fmt.Errorf("%s is %q, expected the number of one, from 1", what, arg)
		}
		ids = append(ids, id)
	}
	return ids, nil
}
