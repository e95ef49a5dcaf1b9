package cli

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/desynctool/desynctool/internal/prose"
)

// explainMistakes gives commands desynctool's own messages for mistakes on the command line.
func explainMistakes(cmd *cobra.Command) {
	cmd.SetFlagErrorFunc(flagMistake)
	expected := cmd.Args
	switch {
	case !cmd.HasParent():
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return nil
			}
			return unknownCommand(cmd, args[0])
		}
	case expected != nil:
		cmd.Args = func(cmd *cobra.Command, args []string) error {
			if expected(cmd, args) == nil {
				return nil
			}
			return fmt.Errorf("%s, expected %s %s", CountArguments(len(args)), cmd.Parent().CommandPath(), cmd.Use)
		}
	}
	for _, sub := range cmd.Commands() {
		explainMistakes(sub)
	}
}

// CountArguments formats the number of arguments.
func CountArguments(n int) string {
	if n == 0 {
		return "no argument"
	}
	return prose.Count(n, "argument", "arguments")
}

// unknownCommand returns an error for an unknown command, with a suggestion.
func unknownCommand(parent *cobra.Command, name string) error {
	var names []string
	for _, c := range parent.Commands() {
		if c.IsAvailableCommand() {
			names = append(names, c.Name())
		}
	}
	hint := prose.DidYouMean(name, names)
	if hint == "" {
		hint = fmt.Sprintf("; %s --help lists the commands", parent.CommandPath())
	}
	if _, err := os.Stat(name); err == nil && !parent.HasParent() {
		hint = "; did you mean " + parent.Annotations[TakesPaths] + ", which takes files and folders?"
	}
	return fmt.Errorf("unknown command %q%s", name, hint)
}

// newHelp returns the command help.
func newHelp(root *cobra.Command) *cobra.Command {
	return &cobra.Command{
		Use:     "help [COMMAND]...",
		Short:   "Print the help of a command",
		Long:    "help prints the help of a command, as COMMAND --help does.\n\nExit status: 0, or 2 if there is no such command.",
		Example: "  " + root.CommandPath() + " help version",
		RunE: func(cmd *cobra.Command, args []string) error {
			found, rest, err := cmd.Root().Find(args)
			if err == nil && found.DisableFlagParsing { // another program runs it, and has its help
				return found.RunE(found, append(rest, "--help"))
			}
			if err != nil || len(rest) > 0 {
				if found == nil || len(rest) == 0 {
					found, rest = cmd.Root(), args
				}
				return unknownCommand(found, rest[0])
			}
			found.InitDefaultHelpFlag()
			return found.Help()
		},
		ValidArgsFunction: func(cmd *cobra.Command, args []string, begun string) (list []string, _ cobra.ShellCompDirective) {
			if found, rest, err := cmd.Root().Find(args); err == nil && len(rest) == 0 {
				for _, c := range found.Commands() {
					if c.IsAvailableCommand() && strings.HasPrefix(c.Name(), begun) {
						list = append(list, c.Name()+"\t"+c.Short)
					}
				}
			}
			return list, cobra.ShellCompDirectiveNoFileComp
		},
	}
}

// flagMistake returns an error for a mistake in a flag.
func flagMistake(cmd *cobra.Command, err error) error {
	var (
		unknown *pflag.NotExistError
		lacking *pflag.ValueRequiredError
		invalid *pflag.InvalidValueError
	)
	switch {
	case errors.As(err, &unknown):
		return unknownFlag(cmd, unknown)
	case errors.As(err, &lacking):
		f := lacking.GetFlag()
		return fmt.Errorf("--%s needs a value: %s", f.Name, f.Usage)
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		if expected, ok := expectedOf[f.Value.Type()]; ok {
			return fmt.Errorf("--%s is %q, expected %s", f.Name, invalid.GetValue(), expected)
		}
		return fmt.Errorf("--%s is %q, %w", f.Name, invalid.GetValue(), invalid.Unwrap())
	}
	return err
}

// expectedOf describes the values of flags, by their types.
var expectedOf = map[string]string{
	"int": "a number", "uint64": "a number, 0 or more", "uintSlice": "numbers with commas between", "bool": "true or false",
	"duration": "a number and its unit, such as 30s or 5m",
}

// unknownFlag returns an error for an unknown flag, with a suggestion.
func unknownFlag(cmd *cobra.Command, err *pflag.NotExistError) error {
	var names, begin []string
	short := err.GetSpecifiedShortnames()
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if names = append(names, "--"+f.Name); short != "" && strings.HasPrefix(f.Name, err.GetSpecifiedName()) {
			begin = append(begin, "--"+f.Name)
		}
	})
	if short != "" {
		hint := fmt.Sprintf("; %s --help lists its flags", cmd.CommandPath())
		if begin != nil {
			hint = "; did you mean " + Alternatives(begin) + "?"
		}
		if err.GetSpecifiedName() == "o" && len(formatsOf(cmd)) > 0 {
			hint = "; did you mean --format FORMAT=FILE?"
		}
		return fmt.Errorf("unknown flag -%s%s", err.GetSpecifiedName(), hint)
	}
	name := err.GetSpecifiedName()
	if slices.Contains(formatsOf(cmd), name) {
		return fmt.Errorf("unknown flag --%[1]s; did you mean --format %[1]s?", name)
	}
	hint := prose.DidYouMean("--"+name, names)
	if sub, _, found := cmd.Root().Find([]string{name}); hint == "" && found == nil && sub.HasParent() {
		hint = "; did you mean " + sub.CommandPath() + "?"
	}
	if hint == "" {
		hint = fmt.Sprintf("; %s --help lists its flags", cmd.CommandPath())
	}
	return fmt.Errorf("unknown flag --%s%s", name, hint)
}

// formatsOf returns the formats of a command that can write its output to files.
func formatsOf(cmd *cobra.Command) []string {
	f := cmd.Flags().Lookup("format")
	if f == nil {
		return nil
	}
	if o, ok := f.Value.(*Outputs); ok {
		return o.Allowed
	}
	return nil
}
