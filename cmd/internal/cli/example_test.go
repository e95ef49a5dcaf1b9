package cli_test

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/document"
)

// A program with one command, which ends as a comparison that proved a divergence.
func ExampleRun() {
	p := cli.Program{Root: func(e *cli.Env) *cobra.Command {
		root := &cobra.Command{Use: "compare", Short: "Compare"}
		root.AddCommand(&cobra.Command{Use: "files", RunE: func(*cobra.Command, []string) error {
			fmt.Fprintln(e.Stdout, "DIVERGED")
			return cli.Ended(document.Diverged)
		}})
		return root
	}}
	fmt.Println(cli.Run(p, []string{"files"}, os.Stdin, os.Stdout, os.Stdout))
	fmt.Println(cli.Run(p, []string{"fils"}, os.Stdin, os.Stdout, os.Stdout))
	// Output:
	// DIVERGED
	// 1
	// desynctool: unknown command "fils"; did you mean files?
	// 2
}
