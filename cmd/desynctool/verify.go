package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
	"github.com/desynctool/desynctool/snapshot/signatures"
)

func newVerify(e *env) *cobra.Command {
	var flags verifyFlags
	cmd := &cobra.Command{
		Use:   "verify PATH...",
		Short: "Check hashes against content, and states against signatures",
		Long: `verify recomputes hashes. For a proof it checks that the leaf and its siblings
lead to the root. For a snapshot it checks that the content gives every digest
in it, up to the state hash. A file of an engine without a checksum is reported
as read, not verified. An order log is read to its end marker, and each tick's
input hash is recomputed. In a folder each file is checked. Files of one peer
about the same moment are compared with each other: history hashes with the
chain of sync hashes, the log's hashes with the roots of snapshots, epochs with
the markers that begin them.

A chain of tick signatures is verified by itself. verify shows the first break,
whether the chain was tampered with or entries are missing, and which ticks its
signer left out. With --signatures a state, or a proof of one of its archetypes,
must match the hash that the chain signs for its tick, in full; nothing is
replayed. With --donors the paths are states that other peers offer. They are
tried in their order, and verify accepts the first state with content that gives
the signed hash, or the hash in --root. The first 8 bytes of a hash, as peers
exchange them in play, are never enough.

verify shows whether evidence is unchanged since it was written. Use check to
test whether a game writes our formats by their rules.

Exit status: 0 if everything holds, 1 if a hash does not match the content or
the signature, a chain is broken, or no donor is accepted; 2 if a file is
unusable: unreadable, corrupt, or with hashes that contradict each other; 3 if a
folder has nothing to check, or a state belongs to a point that the chain does
not sign.`,
		Example: `  desynctool verify session
  desynctool verify desync_0000000000000007_0000001242.snap
  desynctool verify proof.json \
    --root 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08
  desynctool verify tick-signatures.bin --key host.pub
  desynctool verify --donors client@1242 host@1242 \
    --signatures tick-signatures.bin`,
		Args: cobra.MinimumNArgs(1),
	}
	f := cmd.Flags()
	f.StringVar(&flags.root, "root", "", "the state hash that each file must have, 64 hex digits")
	f.StringVar(&flags.state, "state", "", "a state with content that must give the leaf of a proof")
	f.StringVar(&flags.signatures, "signatures", "", "the chain of tick signatures that must sign the states and proofs")
	f.StringVar(&flags.key, "key", "", "the public key that must have signed the chains: 64 hex digits, or a file that contains them")
	f.BoolVar(&flags.donors, "donors", false, "try the states in their order, and accept the first one that is signed")
	format := cli.AddFormat(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		for _, name := range []string{"root", "key"} {
			if cmd.Flags().Changed(name) && cmd.Flag(name).Value.String() == "" {
				return fmt.Errorf("--%s is empty, expected 64 hex digits", name)
			}
		}
		return doVerify(e, args, flags, format)
	}
	return cmd
}

// verifyFlags are the flags of verify.
type verifyFlags struct {
	root, state, signatures, key string
	donors                       bool
}

// check returns an error for flags that conflict.
func (f *verifyFlags) check() error {
	switch {
	case f.donors && (f.root == "") == (f.signatures == ""):
		return errors.New("--donors needs what the state must be: --signatures FILE or --root HEX")
	case f.donors && f.state != "":
		return errors.New("--state is for proofs; --donors takes states")
	case f.donors && f.key != "" && f.signatures == "":
		return errors.New("--key is for tick signatures; give them with --signatures FILE")
	case f.root != "" && f.signatures != "":
		return errors.New("--root and --signatures both set the expected state hash; give one of them")
	}
	return nil
}

func doVerify(e *env, paths []string, flags verifyFlags, format *cli.Outputs) error {
	if err := flags.check(); err != nil {
		return err
	}
	given := append(slices.Clone(paths), flags.state, flags.signatures)
	key, err := parseKey(flags.key)
	if err != nil {
		return err
	}
	tree, err := e.open(given...)
	if err != nil {
		return err
	}
	defer tree.Close()
	end := e.watch(tree, "verifying")
	defer end()
	var want snapshot.Expected
	want.Key = key
	if flags.root != "" {
		root, err := merkle.ParseHash(flags.root)
		if err != nil {
			return fmt.Errorf("--root: %w", err)
		}
		want.Root = &root
	}
	if flags.signatures != "" {
		if want.Signed, err = bundle.OpenSigners(tree, flags.signatures, key); err != nil {
			return tree.Explain(err)
		}
	}
	if flags.donors {
		tried, accepted := bundle.Donate(tree, paths, want)
		end()
		doc := document.Donors(tried, accepted)
		if err := e.RenderDocument(format, doc, false); err != nil {
			return err
		}
		return cli.Ended(doc.Status)
	}
	if flags.state != "" {
		state, _, err := bundle.OpenState(tree, flags.state)
		if err != nil {
			return err
		}
		defer state.Close()
		want.State = state
	}
	result, unread := bundle.Verify(tree, paths, want)
	end()
	unread = tree.Explain(unread)
	if len(result) == 0 {
		return unread
	}
	doc := document.Verify(result)
	if err := e.RenderDocument(format, doc, false); err != nil {
		return err
	}
	if unread != nil {
		return unread
	}
	return cli.Ended(doc.Status)
}

// maxKeyFile is the maximum size in bytes of a key file.
const maxKeyFile = 4096

// parseKey parses a public key: hex digits, or the name of a file that contains them. An empty text gives nil.
func parseKey(text string) (*signatures.Key, error) {
	if text == "" {
		return nil, nil
	}
	switch key, err := signatures.ParseKey(text); {
	case err == nil:
		return &key, nil
	case errors.Is(err, signatures.ErrSmallOrder):
		return nil, fmt.Errorf("--key: %w", err)
	}
	f, err := os.Open(text)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("--key %s is neither %d hex digits nor a file", document.Safe(text), 2*len(signatures.Key{}))
	} else if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxKeyFile))
	if err != nil {
		return nil, fmt.Errorf("--key: %w", err)
	}
	key, err := signatures.ParseKey(strings.TrimSpace(string(b)))
	if err != nil {
		return nil, fmt.Errorf("--key %s: %w", document.Safe(text), err)
	}
	return &key, nil
}
