package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report/formats"
)

func newDump(e *env) *cobra.Command {
	var reverse bool
	var output string
	cmd := &cobra.Command{
		Use:   "dump FILE",
		Short: "Print any file it knows as text, one variable a line, and back",
		Long: `dump prints the text twin of a snapshot, an order log or a savegame: one variable
a line, each line telling by itself whose value it is, so that diff, grep and
git serve. With --reverse it turns the text back into the binary file. A file
of desynctool's own comes back byte for byte; a savegame becomes a .snap.

As git's textconv:

  git config diff.desync.textconv 'desynctool dump'
  echo '*.snap diff=desync' >> .gitattributes

Exit status: 0 on success, 2 if a file is unusable.`,
		Example: `  desynctool dump desync_0000000000000007_0000001242.snap | grep Position
  desynctool dump --reverse state.txt -o state.snap`,
		Args: cobra.ExactArgs(1),
	}
	cmd.Flags().BoolVar(&reverse, "reverse", false, "turn text back into the binary file")
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file instead of stdout")
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doDump(e, args[0], reverse, output) }
	return cmd
}

func doDump(e *env, path string, reverse bool, output string) error {
	in, name := e.stdin, "stdin"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		in, name = f, path
	}
	if reverse {
		return undump(e, in, name, output)
	}
	if output == "" {
		return formats.Dump(e.stdout, in, name)
	}
	out, err := os.Create(output)
	if err != nil {
		return err
	}
	return errors.Join(formats.Dump(out, in, name), out.Close())
}

// undump writes a binary file. A snapshot is written back and forth, so it
// goes by way of a temporary file if it goes to stdout.
func undump(e *env, in io.Reader, name, output string) (err error) {
	var out *os.File
	if output != "" {
		out, err = os.Create(output)
	} else {
		out, err = os.CreateTemp("", "desynctool-*")
	}
	if err != nil {
		return err
	}
	if output == "" {
		defer os.Remove(out.Name())
	}
	if err := formats.Undump(out, bufio.NewReaderSize(in, 1<<16), name); err != nil {
		out.Close()
		if output != "" {
			os.Remove(out.Name())
		}
		return err
	}
	if output == "" {
		if _, err := out.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("rewind: %w", err)
		}
		if _, err := io.Copy(e.stdout, out); err != nil {
			return err
		}
	}
	return out.Close()
}
