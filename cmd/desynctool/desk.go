package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/programs"
)

// The name of the desk program, and the environment variable and flag that give its path.
const (
	deskName     = "desynctool-desk"
	deskVariable = "DESYNCTOOL_DESK_PROGRAM"
	deskFlag     = "--desk"
)

func newDesk(e *env) *cobra.Command {
	return &cobra.Command{
		Use:   "desk COMMAND...",
		Short: "Keep many reports, and put the reports of one bug together",
		Long: `desk starts desynctool-desk, which stores the evidence that many players sent,
triages it, and groups the reports of one bug. "desynctool desk --help" lists
its commands. docs/desk.md is the guide.

desynctool looks for the program next to itself, then in PATH. --desk PATH, or
the environment variable ` + deskVariable + `, names another program.
Both programs must have the same version.

Exit status: the status of the command; 2 if the program is missing or has
another version.`,
		Example: `  desynctool desk add report.zip
  desynctool desk list`,
		DisableFlagParsing: true,
		RunE:               func(cmd *cobra.Command, args []string) error { return doDesk(e, cmd, args) },
		ValidArgsFunction: func(_ *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
			return completeDesk(args, begun)
		},
	}
}

// doDesk runs desynctool-desk with the arguments, and exits with its status.
func doDesk(e *env, cmd *cobra.Command, args []string) error {
	rest, named, err := splitDesk(args)
	if err != nil {
		return err
	}
	path, err := programs.Find(deskName, named)
	if missing := (*programs.MissingError)(nil); errors.As(err, &missing) && wantsHelp(rest) {
		if err := cmd.Help(); err != nil {
			return err
		}
		fmt.Fprintf(e.Stdout, "\nIts commands are not listed: %v.\n", missing)
		return nil
	}
	if err != nil {
		return err
	}
	status, err := e.Become(path, rest)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return cli.Exit(status)
}

// splitDesk removes --desk PATH from the arguments. Without it, the environment names the program.
func splitDesk(args []string) (rest []string, named string, err error) {
	named = os.Getenv(deskVariable)
	for i := 0; i < len(args); i++ {
		path, set := strings.CutPrefix(args[i], deskFlag+"=")
		switch {
		case args[i] == "--":
			return append(rest, args[i:]...), named, nil
		case args[i] == deskFlag && i+1 == len(args), set && path == "":
			return nil, "", errors.New(deskFlag + " needs a value: the path of " + deskName)
		case args[i] == deskFlag:
			i++
			named = args[i]
		case set:
			named = path
		default:
			rest = append(rest, args[i])
		}
	}
	return rest, named, nil
}

// wantsHelp reports whether the arguments only ask for help.
func wantsHelp(args []string) bool {
	return len(args) == 0 || slices.Contains(args, "--help") || slices.Contains(args, "-h") || args[0] == "help"
}

// completeDesk lets desynctool-desk complete its own command line. Without the program there are no suggestions.
func completeDesk(args []string, begun string) (list []string, _ cobra.ShellCompDirective) {
	rest, named, err := splitDesk(args)
	if err != nil {
		return nil, cobra.ShellCompDirectiveDefault
	}
	path, err := programs.Find(deskName, named)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cmd := exec.Command(path, append(append([]string{cobra.ShellCompRequestCmd}, rest...), begun)...)
	cmd.Env = append(os.Environ(), cli.CallerVersion())
	out, err := cmd.Output()
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	// The last line is : and the directive, the other lines are words.
	lines := strings.Split(string(bytes.TrimRight(out, "\n")), "\n")
	last := lines[len(lines)-1]
	directive, err := strconv.Atoi(strings.TrimPrefix(last, ":"))
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return lines[:len(lines)-1], cobra.ShellCompDirective(directive)
}
