package main

import (
	"errors"
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/report"
	"github.com/desynctool/desynctool/report/evidence"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

func newVerify(e *env) *cobra.Command {
	var root, against string
	cmd := &cobra.Command{
		Use:   "verify PATH...",
		Short: "Check a proof, or a snapshot's hashes against its content",
		Long: `verify recomputes hashes. Of a proof it checks that the leaf and its siblings
lead to the root; of a snapshot that its content gives every digest in it, up to
the state hash. Of an engine's file that carries no checksum it says that it was
read, not verified. An order log is read to its end marker, and each tick's input
hash is recomputed. Of a folder each file is checked, and what the files of one peer
say of the same moment: history hashes against the chain of sync hashes, the log's
hashes against the roots of snapshots, epochs against the markers that begin them.

It shows whether evidence is as it was written. Whether a game writes our formats by
their rules is what check tests.

Exit status: 0 if everything holds, 1 if a hash is not that of the content, 2 if
a file is unusable: unreadable, corrupt, or with hashes that contradict each
other; 3 if a folder has nothing to check.`,
		Example: `  desynctool verify session
  desynctool verify desync_0000000000000007_0000001242.snap
  desynctool verify proof.json \
    --root 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08`,
		Args: cobra.MinimumNArgs(1),
	}
	cmd.Flags().StringVar(&root, "root", "", "the state hash that each file must have, 64 hex digits")
	cmd.Flags().StringVar(&against, "state", "", "a state whose content must give a proof's leaf")
	format := addFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if cmd.Flags().Changed("root") && root == "" {
			return errors.New("--root is empty, expected 64 hex digits")
		}
		return doVerify(e, args, root, against, format)
	}
	return cmd
}

func doVerify(e *env, paths []string, rootText, against string, format *outputs) error {
	tree, err := e.open(append(slices.Clone(paths), against)...)
	if err != nil {
		return err
	}
	defer tree.Close()
	end := e.watch(tree, "verifying")
	defer end()
	var want snapshot.Expected
	if rootText != "" {
		root, err := merkle.ParseHash(rootText)
		if err != nil {
			return fmt.Errorf("--root: %w", err)
		}
		want.Root = &root
	}
	if against != "" {
		state, _, err := evidence.OpenState(tree, against)
		if err != nil {
			return err
		}
		defer state.Close()
		want.State = state
	}
	result, unread := evidence.Verify(tree, paths, want)
	end()
	unread = tree.Explain(unread)
	if len(result) == 0 {
		return unread
	}
	doc := report.Verify(result)
	if err := e.renderDocument(format, doc, false); err != nil {
		return err
	}
	if unread != nil {
		return unread
	}
	return ended(doc.Status)
}
