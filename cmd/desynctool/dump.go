package main

import (
	"bufio"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report/formats"
)

func newDump(e *env) *cobra.Command {
	var reverse bool
	var output, format string
	cmd := &cobra.Command{
		Use:   "dump FILE",
		Short: "Print any file it knows as text, one variable a line, and back",
		Long: `dump prints the text twin of a snapshot, an order log, a trace, or an engine's
save, replay, stream or log: one variable a line, each line telling by itself whose value it is, so that diff, grep and
git serve. With --reverse it turns the text back into the binary file. A file
of desynctool's own comes back byte for byte; a savegame becomes a .snap.

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
	cmd.Flags().StringVar(&format, "format", "text", "text or json")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		dump := formats.Dump
		switch {
		case format == "json" && !reverse:
			dump = formats.DumpJSON
		case format != "text":
			return fmt.Errorf("--format is %q, expected text or json; --reverse takes text", format)
		}
		return doDump(e, args[0], dump, reverse, output)
	}
	return cmd
}

func doDump(e *env, path string, dump func(io.Writer, io.Reader, string) error, reverse bool, output string) error {
	in, name := e.stdin, "stdin"
	if path != "-" {
		f, err := os.Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		in, name = f, path
	}
	write := func(f *os.File) error { return dump(f, in, name) }
	if reverse {
		write = func(f *os.File) error { return formats.Undump(f, bufio.NewReaderSize(in, 1<<16), name) }
	}
	switch {
	case output != "":
		return writeFile(output, write)
	case reverse:
		return copyTemporary(e.stdout, write)
	}
	return dump(e.stdout, in, name)
}
