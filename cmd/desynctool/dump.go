package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/snapshot"
)

func newDump(e *env) *cobra.Command {
	var reverse bool
	var output, format string
	cmd := &cobra.Command{
		Use:   "dump FILE|FILE@TICK",
		Short: "Print any file it knows as text, one variable a line, and back",
		Long: `dump prints the text twin of a snapshot, an order log, a trace, a chain of tick
signatures, or an engine's save, replay, stream or log: one variable a line.
Each line contains the full name of its variable, so that diff, grep and git
work on single lines. With --reverse it turns the text back into the binary
file. A file in a format of desynctool comes back byte for byte; a savegame
becomes a .snap. If a file contains several states, dump prints all of them, one
after the other; FILE@TICK prints one. Of a report that desynctool wrote (JSON,
SARIF, JUnit, HTML) it prints the kind, the status and the verdict.

As git's textconv:

  git config diff.desync.textconv 'desynctool dump'
  echo '*.snap diff=desync' >> .gitattributes

With --format json it prints each variable as an object with its name and value.

Exit status: 0 on success, 2 if a file is unusable.`,
		Example: `  desynctool dump desync_0000000000000007_0000001242.snap | grep Position
  desynctool dump --reverse state.txt -o state.snap`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&reverse, "reverse", false, "turn text back into the binary file")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file instead of stdout")
	cmd.Flags().StringVarP(&format, "format", "f", "text", "text or json")
	addGame(e, cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if format != "text" && (format != "json" || reverse) {
			return fmt.Errorf("--format is %q, expected text or json; --reverse takes text", format)
		}
		return doDump(e, args[0], format == "json", reverse, output)
	}
	return cmd
}

func doDump(e *env, path string, asJSON, reverse bool, output string) error {
	dump := formats.Dump
	if asJSON {
		dump = formats.DumpJSON
	}
	in, name := e.Stdin, "stdin"
	tree, err := e.open(path)
	if err != nil {
		return err
	}
	defer tree.Close()
	if path != "-" {
		if output != "" || !cli.IsTerminal(e.Stdout) { // otherwise the text itself shows the progress
			defer e.watch(tree, "reading")()
		}
		if bundle.IsDir(tree, path) {
			return fmt.Errorf("%s is a folder, expected a file, or %s@TICK for the state of a point", path, path)
		}
		f, err := tree.Open(path)
		if errors.Is(err, fs.ErrNotExist) && strings.Contains(path, "@") && !reverse {
			state, _, err := bundle.OpenState(tree, path)
			if err != nil {
				return err
			}
			return dumpState(e, state, asJSON, output)
		}
		if err != nil {
			return err
		}
		defer f.Close()
		if head, err := formats.Head(tree, path); !reverse && err == nil && (e.game != "" || !formats.Known(path, head) && !formats.Written(head)) {
			if state, _, err := bundle.OpenState(tree, path); err == nil {
				return dumpState(e, state, asJSON, output)
			}
		}
		in, name = f, path
	}
	write := func(f *os.File) error { return dump(f, in, name) }
	if reverse {
		write = func(f *os.File) error { return formats.Undump(f, bufio.NewReaderSize(in, 1<<16), name) }
	}
	switch {
	case output != "":
		return files.Replace(output, write)
	case reverse:
		return copyTemporary(e.Stdout, write)
	}
	return e.Paged(func(w io.Writer) error { return dump(w, in, name) })
}

// dumpState prints a state and closes it. The state is one of several in a file, or in an ordinary notation.
func dumpState(e *env, state snapshot.State, asJSON bool, output string) error {
	defer state.Close()
	write := func(w io.Writer) error { return snapshot.WriteText(w, state) }
	if asJSON {
		write = func(w io.Writer) error {
			return formats.TextJSON(w, func(w io.Writer) error { return snapshot.WriteText(w, state) })
		}
	}
	if output != "" {
		return files.Replace(output, func(f *os.File) error { return write(f) })
	}
	return e.Paged(write)
}
