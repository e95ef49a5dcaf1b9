package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
)

func newProof(e *env) *cobra.Command {
	var output string
	cmd := &cobra.Command{
		Use:   "proof FILE LABEL",
		Short: "Prove that an archetype belongs to a state",
		Long: `proof writes a Merkle inclusion proof as JSON: the leaf hash of one archetype
and the sibling hashes that lead from it to the state hash. LABEL is the
archetype's label, or RNG for the state of the random number generator. verify
checks the proof. It needs to trust nothing but the state hash.

Exit status: 0 on success, 2 if the file is unusable or has no such archetype.`,
		Example: `  desynctool proof desync_0000000000000007_0000001242.snap Infantry > proof.json
  desynctool proof desync_0000000000000007_0000001242.snap RNG -o rng.json`,
		Args: cobra.ExactArgs(2),
	}
	cmd.Flags().StringVarP(&output, "output", "o", "", "write to this file instead of stdout")
	format := cli.AddFormat(cmd)
	cmd.Flags().Lookup("format").Usage = "json (the default) or text; FORMAT=FILE writes to a file, and may be repeated"
	cmd.RunE = func(cmd *cobra.Command, args []string) error { return doProof(e, args[0], args[1], output, format) }
	return cmd
}

func doProof(e *env, path, label, file string, format *cli.Outputs) error {
	tree, err := e.open(path)
	if err != nil {
		return err
	}
	defer tree.Close()
	state, from, err := bundle.OpenState(tree, path)
	if err != nil {
		return err
	}
	defer state.Close()
	proof, err := snapshot.Prove(state, label)
	if err != nil {
		return fmt.Errorf("%s: %w", from, err)
	}
	if len(format.List) == 0 || file != "" {
		format.List = append(format.List, cli.Output{Format: "json", File: file})
	}
	return e.Finish(format, document.Proof(proof), false)
}
