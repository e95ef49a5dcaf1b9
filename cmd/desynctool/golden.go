package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/bisect/golden"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/ci"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/simulators"
)

func newGolden(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "golden",
		Short: "Keep the hashes of replays, and find replays that no longer match",
		Long: `golden keeps the hashes of many replays in a folder, one folder for each replay:
the order log, its golden trace and a manifest. The folder belongs in the game's
repository. Then each commit can be checked on every platform. The check shows
which replays differ, in which tick and system, and on which platforms.
docs/golden.md describes the files.

` + cli.ExitHelp,
		Example: `  desynctool golden record golden s/host --sim "exec:./mygame --headless"
  desynctool golden check golden --sim "exec:./mygame --headless"`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, args []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newGoldenRecord(e), newGoldenCheck(e))
	return cmd
}

// goldenFlags are the flags of both commands of golden.
type goldenFlags struct {
	sim             string
	sims            simFlags
	platform, build string
	all             bool
}

func (f *goldenFlags) add(cmd *cobra.Command, sim string) {
	flags := cmd.Flags()
	flags.StringVarP(&f.sim, "sim", "s", sim, "the simulator: builtin, builtin:fault=…, exec:COMMAND, …")
	f.sims.addTimeout(cmd)
	flags.StringVar(&f.platform, "platform", "", "the name of this platform (default: system and processor, "+`such as "linux/amd64")`)
	flags.StringVar(&f.build, "build", "", "the name of the game's build (default: the name that the simulator reports)")
	flags.BoolVarP(&f.all, "all", "a", false, "print every replay")
}

// goldenRecordFlags are the flags of golden record.
type goldenRecordFlags struct {
	goldenFlags
	name    string
	every   uint64
	systems *bool
	update  bool
}

func newGoldenRecord(e *env) *cobra.Command {
	var flags goldenRecordFlags
	systems := false
	cmd := &cobra.Command{
		Use:   "record DIR LOG...",
		Short: "Play order logs and keep their hashes",
		Long: `record plays order logs and keeps each log and its golden trace in a separate
folder in DIR. LOG is an order log, or a folder or archive with any number of
order logs. A log that is already in such a folder stays there; any other log is
copied. Replays are named after the logs' files or folders; a log that was kept
before keeps its name.

If you record a log again and the result is the same, no byte changes. If the
result differs, the kept replay stays as it is, and the exit status is 1;
--update replaces the replay.

` + simulators.Help + `

Exit status:
  0  every log is recorded, or was recorded before and gives the same result
  1  a replay differs from the kept replay
  2  an argument is unusable, or a kept file is damaged
  3  a log was not played: it is torn, or the simulator failed`,
		Example: `  desynctool golden record golden s/host --sim exec:./mygame --systems
  desynctool golden record golden golden --sim builtin --update
  desynctool golden record golden s/client --name tower --every 10`,
		Args: cobra.MinimumNArgs(2),
	}
	flags.add(cmd, "builtin")
	f := cmd.Flags()
	f.StringVar(&flags.name, "name", "", "the name of the replay, for one log")
	f.Uint64Var(&flags.every, "every", 1, "keep the hashes at this interval in ticks, and of the last tick")
	f.BoolVar(&systems, "systems", false, "keep a hash after each system, if the simulator can step by systems")
	f.BoolVar(&flags.update, "update", false, "replace kept replays that differ")
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case flags.every == 0:
			return errors.New("--every is 0, expected at least 1")
		case flags.name != "" && !golden.ValidName(flags.name):
			return fmt.Errorf("--name is %q, expected letters, digits and . _ -", flags.name)
		}
		if !cmd.Flags().Changed("every") {
			flags.every = 0
		}
		if cmd.Flags().Changed("systems") {
			flags.systems = &systems
		}
		return doGoldenRecord(e, args[0], args[1:], flags, format)
	}
	return cmd
}

func doGoldenRecord(e *env, dir string, paths []string, flags goldenRecordFlags, format *cli.Outputs) error {
	sim, err := flags.sims.parse(e.Context, "--sim", flags.sim)
	if err != nil {
		return err
	}
	tree, err := e.openToPlay(paths...)
	if err != nil {
		return err
	}
	defer tree.Close()
	logs, lost, err := bundle.OrderLogs(tree, paths)
	if err != nil {
		return tree.Explain(err)
	}
	if flags.name != "" && len(logs) > 1 {
		return fmt.Errorf("--name is for one log, these are %d", len(logs))
	}
	sources := lists.Map(logs, func(log bundle.OrderLog) golden.Source {
		return golden.Source{Tree: tree, Path: log.Path, Usual: log.Usual}
	})
	folder := &golden.Folder{Path: dir}
	if _, err := os.Stat(dir); err == nil {
		if folder, err = golden.Open(dir); err != nil {
			return err
		}
	}
	e.Warn(tree.Warnings().Texts())
	progress, end := e.Progress("recording", "")
	recordings, err := folder.Record(e.Context, sources, golden.RecordOptions{
		Play: simulators.Play(sim), Platform: flags.platform, Build: flags.build,
		Name: flags.name, Every: flags.every, Systems: flags.systems, Update: flags.update, Progress: progress,
	})
	end()
	if err != nil {
		return err
	}
	recordings.Lost = lost
	return e.Finish(format, document.GoldenRecord(recordings), flags.all)
}

// goldenCheckFlags are the flags of golden check.
type goldenCheckFlags struct {
	goldenFlags
	results, only []string
	write         string
}

func newGoldenCheck(e *env) *cobra.Command {
	var flags goldenCheckFlags
	cmd := &cobra.Command{
		Use:   "check DIR",
		Short: "Play golden replays again, and report the differences",
		Long: `check plays all replays in DIR, side by side, and compares each replay with its
golden trace. It reports which replays differ, in which tick, and after which
system if the traces contain systems. If one replay has a fault, the others are
still checked.

--write-results DIR2 writes the results to a small file, which is named after
the platform. --results reads such files, or all in a folder, and puts them
together: replays × platforms. With --results and without --sim nothing is
played.

` + simulators.Help + `

Exit status:
  0  every replay gives its golden hashes
  1  one differs
  2  an argument is unusable; a golden trace, a log or results are damaged or missing
  3  a replay was not played to its end: the simulator failed, the log is torn,
     or the results of a platform lack it`,
		Example: `  desynctool golden check golden --sim exec:./mygame --write-results results
  desynctool golden check golden --results results --format junit=junit.xml`,
		Args: cobra.ExactArgs(1),
	}
	flags.add(cmd, "")
	f := cmd.Flags()
	f.StringArrayVar(&flags.results, "results", nil, "results of other platforms: a file or a folder (repeatable)")
	f.StringVar(&flags.write, "write-results", "", "write the results to a file in this folder")
	f.StringArrayVar(&flags.only, "only", nil, "only the replays with names that fit this pattern, such as skirmish-* (repeatable)")
	format := cli.AddFormats(cmd, "text", "json", "junit", "github", "markdown")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		switch {
		case flags.sim == "" && len(flags.results) == 0:
			return errors.New("nothing to check: --sim plays the replays, --results reads what other platforms found")
		case flags.sim == "" && flags.write != "":
			return errors.New("--write-results writes what --sim finds")
		case flags.sim == "" && (flags.platform != "" || flags.build != ""):
			return errors.New("--platform and --build name what --sim plays")
		}
		if err := golden.CheckPatterns(flags.only); err != nil {
			return fmt.Errorf("--only is %w", err)
		}
		return doGoldenCheck(e, args[0], flags, format)
	}
	return cmd
}

func doGoldenCheck(e *env, dir string, flags goldenCheckFlags, format *cli.Outputs) error {
	folder, err := golden.Open(dir)
	if err != nil {
		return err
	}
	entries := folder.Chosen(flags.only)
	switch {
	case len(folder.Entries) == 0:
		return fmt.Errorf("%s: no golden replays in it; golden record makes them", dir)
	case len(entries) == 0:
		return fmt.Errorf("--only: none of %d replays is called so", len(folder.Entries))
	}
	runs, unread, err := golden.ReadResults(flags.results)
	if err != nil {
		return err
	}
	if flags.sim != "" {
		run, err := e.checkGolden(folder, flags)
		if err != nil {
			return err
		}
		runs = append(runs, *run)
		if flags.write != "" {
			if err := writeResults(flags.write, golden.Merge(entries, []golden.Run{*run})); err != nil {
				return err
			}
		}
	}
	table := golden.Merge(entries, runs)
	table.Unread = append(table.Unread, unread...)
	if err := e.renderGolden(format, table, flags.all); err != nil {
		return err
	}
	return cli.Ended(document.StatusOf(table))
}

// checkGolden plays the replays of a folder.
func (e *env) checkGolden(folder *golden.Folder, flags goldenCheckFlags) (*golden.Run, error) {
	sim, err := flags.sims.parse(e.Context, "--sim", flags.sim)
	if err != nil {
		return nil, err
	}
	progress, end := e.Progress("replaying", "ticks")
	defer end()
	return folder.Check(e.Context, golden.Options{Play: simulators.Play(sim), Platform: flags.platform, Build: flags.build, Only: flags.only, Progress: progress})
}

// writeResults writes the results of the only run of a table.
func writeResults(dir string, t *golden.Table) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	return files.Replace(filepath.Join(dir, golden.ResultsName(&t.Runs[0])), func(f *os.File) error { return document.Golden(t).JSON(f) })
}

// renderGolden writes a table in every requested format.
func (e *env) renderGolden(o *cli.Outputs, t *golden.Table, all bool) error {
	doc, markdown := document.Golden(t), func(w io.Writer) error { return document.GoldenMarkdown(w, t) }
	return e.RenderSummed(o, markdown, func(w io.Writer, format string, style document.Style) error {
		switch format {
		case "json":
			return doc.JSON(w)
		case "junit":
			return ci.JUnitOfGolden(w, t)
		case "github":
			return ci.GitHubOfGolden(w, t)
		case "markdown":
			return markdown(w)
		}
		return doc.Text(w, style, all)
	})
}
