package cli

import (
	"cmp"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Completer returns the words that may complete the start of a word, and whether a space follows them.
type Completer func(cmd *cobra.Command, args []string, begun string) (list []string, directive cobra.ShellCompDirective)

// Begun returns a completer that omits words that start differently.
func (c Completer) Begun() cobra.CompletionFunc {
	return func(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
		list, directive := c(cmd, args, begun)
		return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return !strings.HasPrefix(s, begun) }), directive
	}
}

// addCompletions sets up the shell completion for the flags of a command and its subcommands.
func (e *Env) addCompletions(cmd *cobra.Command) {
	of := map[string]Completer{
		"format": completeFormat, "limit": completeLimit,
	}
	words := func(f *pflag.Flag) {
		if value, ok := f.Value.(interface{ words() []string }); ok {
			of[f.Name] = Words(value.words()...)
		}
	}
	cmd.Flags().VisitAll(words)
	cmd.PersistentFlags().VisitAll(words)
	if e.program.Complete != nil {
		maps.Copy(of, e.program.Complete(cmd))
	}
	for name, complete := range of {
		if cmd.Flags().Lookup(name) == nil && cmd.PersistentFlags().Lookup(name) == nil {
			continue
		}
		if err := cmd.RegisterFlagCompletionFunc(name, complete.Begun()); err != nil {
			panic(err) // it is registered twice
		}
	}
	for _, sub := range cmd.Commands() {
		e.addCompletions(sub)
	}
}

// Words completes one of the words in a list.
func Words(list ...string) Completer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

// completeFormat completes FORMAT and FORMAT=FILE.
func completeFormat(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	formats := []string{"text", "json"}
	if o, ok := cmd.Flags().Lookup("format").Value.(*Outputs); ok {
		formats = o.Allowed
	}
	if format, file, toFile := strings.Cut(begun, "="); toFile && slices.Contains(formats, format) {
		return CompletePaths(format+"=", file, "")
	}
	return formats, cobra.ShellCompDirectiveNoFileComp
}

// CompletePaths completes the path of a file after a text. If ending is set, the path must end with it.
func CompletePaths(before, begun, ending string) (list []string, directive cobra.ShellCompDirective) {
	dir, base := filepath.Split(begun)
	in := cmp.Or(dir, ".")
	entries, err := os.ReadDir(in)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	directive = cobra.ShellCompDirectiveNoFileComp
	for _, entry := range entries {
		name := entry.Name()
		switch {
		case !strings.HasPrefix(name, base) || base == "" && strings.HasPrefix(name, "."):
		case entry.IsDir():
			list = append(list, before+dir+name+"/")
			directive |= cobra.ShellCompDirectiveNoSpace
		case strings.HasSuffix(name, ending):
			list = append(list, before+dir+name)
		}
	}
	return list, directive
}
