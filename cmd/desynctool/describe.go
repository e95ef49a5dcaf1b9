package main

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/engines/engine/description"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/describe"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/survey"
)

// describeFlags are the flags of describe.
type describeFlags struct {
	check, all bool
	output     string
}

func newDescribe(e *env) *cobra.Command {
	var flags describeFlags
	cmd := &cobra.Command{
		Use:   "describe PATH...",
		Short: "Write desynctool.toml, the page about a game's files, or check it",
		Long: `describe writes a page desynctool.toml from what desynctool understands by
itself of the files of a game that is on no list, and ignores pages that are
there. Comments show why each line was guessed. Every command reads such files
in the same way with the page and without it, until someone corrects the page.

With --check it shows how the page reads each file: its kind, peer, ticks,
tables with rows and columns, checkpoints, orders. Then it lists the misfits,
with file and line: faults in files, rows without the described key, files that
no glob fits, and parts of the page that fit nothing. describe takes the same
page as other commands: the page next to the files, above them, or given by
--game.

docs/anygame.md describes the keys of a page.

Exit status: 0 if the page was written, or if all fits; 2 if a file or the page
is unusable; 3 if something does not fit, or nothing is understood.`,
		Example: `  desynctool describe host client -o desynctool.toml
  desynctool describe --check host client`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().BoolVar(&flags.check, "check", false, "check the page instead of writing one")
	cmd.Flags().BoolVarP(&flags.all, "all", "a", false, "with --check, show every file and everything that does not fit")
	cmd.Flags().StringVarP(&flags.output, "output", "o", "", "write the page to this file instead of stdout")
	addGame(e, cmd)
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case flags.check && flags.output != "":
			return errors.New("--check writes no page, expected it without --output")
		case flags.check:
			return doDescribeCheck(e, args, flags.all, format)
		case e.game != "":
			return errors.New("--game names a page to check, expected it with --check")
		}
		return doDescribe(e, args, flags.output, format)
	}
	return cmd
}

func doDescribe(e *env, paths []string, output string, format *cli.Outputs) error {
	tree, err := e.openExisting(paths)
	if err != nil {
		return err
	}
	defer tree.Close()
	end := e.watch(tree, "reading")
	defer end()
	guess, err := describe.New(survey.Under(tree, paths, nil))
	end()
	if err != nil {
		return tree.Explain(err)
	}
	warnings := tree.Lost().Texts()
	e.Warn(warnings)
	if output != "" {
		write := func(f *os.File) error {
			_, err := io.WriteString(f, guess.Page)
			return err
		}
		if err := files.Replace(output, write); err != nil {
			return err
		}
	}
	return e.Render(format,
		func(w io.Writer, _ document.Style) error {
			text := guess.Page
			if output != "" {
				text = ""
			}
			_, err := io.WriteString(w, text)
			return err
		},
		func() any { return guess.Document(warnings) })
}

func doDescribeCheck(e *env, paths []string, all bool, format *cli.Outputs) error {
	tree, err := e.openExisting(paths)
	if err != nil {
		return err
	}
	defer tree.Close()
	found, err := survey.For(tree, paths)
	if err != nil {
		return err
	}
	if found.Page() == nil {
		return fmt.Errorf("no %s is next to these files or above them; describe writes one, --game names another", description.Base)
	}
	end := e.watch(tree, "checking")
	defer end()
	check := describe.NewCheck(found)
	end()
	warnings := tree.Lost().Texts()
	e.Warn(warnings)
	err = e.Render(format,
		func(w io.Writer, s document.Style) error { return check.Text(w, s, all) },
		func() any { return check.Document(warnings) })
	if err != nil {
		return err
	}
	return cli.Ended(document.StatusOf(check))
}

// openExisting is open with an error for the first path that does not exist.
func (e *env) openExisting(paths []string) (*archive.Tree, error) {
	tree, err := e.open(paths...)
	if err != nil {
		return nil, err
	}
	for _, path := range paths {
		if _, err := tree.Stat(path); err != nil {
			return nil, errors.Join(err, tree.Close())
		}
	}
	return tree, nil
}
