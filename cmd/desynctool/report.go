package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/page"
	"github.com/desynctool/desynctool/report/peers"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// reportFlags are the flags of report.
type reportFlags struct {
	all, redact bool
	open        bool // the page, in a browser

	peer       string // write this peer's own report; the other fields configure it
	against    string
	tick       string
	player     int
	archetypes []string
	excerpt    uint64
	output     string
}

// ofPeer are the flags that need --peer.
var ofPeer = []string{"against", "tick", "player", "archetype", "excerpt", "output"}

func newReport(e *env) *cobra.Command {
	var flags reportFlags
	cmd := &cobra.Command{
		Use:   "report FILE...",
		Short: "Merge the peers' own reports, write one, or show a saved one",
		Long: `report merges the reports that the peers wrote,
desync_report_<seed>_<tick>.json. It shows which peers agree, which archetypes
and values differ, which orders some peers lack, and which parts of the reports
contradict the rest. FILE is a report, - for stdin, a folder or an archive with
reports. docs/peer-report.md specifies the format.

Given one saved report of triage, or one saved merged report, it renders this
report again.

--peer PATH writes the report of one peer, from its folder or one of its
snapshots. The report is about the last state, or about the state at --tick.
With --against OTHER it is about the first state that differs from the state of
another peer, with the archetypes that differ.

--redact leaves only the facts that players may see: state points, verdict, who
agrees; no names, no state, no orders, no files.

Exit status: 0 on success, whatever the reports show; 2 if an argument is unusable.`,
		Example: `  desynctool report host/desync_report_0000000000000007_0000001242.json \
    client/desync_report_0000000000000007_0000001242.json
  desynctool report session --format json
  desynctool report --peer host --against client -o reports
  desynctool report triage.json --redact --format json`,
	}
	f := cmd.Flags()
	f.BoolVarP(&flags.all, "all", "a", false, "print all of a long answer")
	f.BoolVar(&flags.redact, "redact", false, "leave only the facts that players may see")
	addOpen(cmd, &flags.open)
	f.StringVar(&flags.peer, "peer", "", "write the report of the peer with this folder or snapshot")
	f.StringVar(&flags.against, "against", "", "with --peer: another peer's folder or snapshot")
	f.StringVar(&flags.tick, "tick", "", "with --peer: the state point")
	f.IntVar(&flags.player, "player", 0, "with --peer: number of the player; -1 for none (default: by the order log)")
	f.StringArrayVar(&flags.archetypes, "archetype", nil, "with --peer: include the content of this archetype (repeatable)")
	f.Uint64Var(&flags.excerpt, "excerpt", 30, "with --peer: include the orders of this many ticks")
	f.StringVarP(&flags.output, "output", "o", "", "with --peer: write to this file or folder instead of the current folder; - is stdout")
	format := cli.AddReportFormats(cmd)
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if flags.peer == "" {
			for _, name := range ofPeer {
				if cmd.Flags().Changed(name) {
					return fmt.Errorf("--%s is for --peer PATH", name)
				}
			}
			if len(args) == 0 {
				return errors.New("report needs the reports of peers, a saved report, or --peer PATH")
			}
			return doReport(e, args, flags, format)
		}
		switch {
		case len(args) > 0:
			return fmt.Errorf("--peer writes a report, %s would be read: give one of them", args[0])
		case flags.open:
			return errors.New("--open is for reports that are read; --peer writes JSON")
		case len(format.List) > 0:
			return errors.New("--format is for reports that are read; --peer writes JSON, -o - to stdout")
		case flags.player < -1 || flags.player > math.MaxInt32:
			return fmt.Errorf("--player is %d, expected -1 or more", flags.player)
		}
		if !cmd.Flags().Changed("player") {
			flags.player = playerByLog
		}
		return doPeerReport(e, flags)
	}
	return cmd
}

func doReport(e *env, paths []string, flags reportFlags, format *cli.Outputs) error {
	tree, err := e.open(paths...)
	if err != nil {
		return err
	}
	defer tree.Close()
	s, err := bundle.Open(tree, paths)
	if err != nil {
		return tree.Explain(err)
	}
	found, err := s.Reports()
	if err != nil {
		return tree.Explain(err)
	}
	var reports []*peers.Report
	for i, path := range found {
		if path == "-" {
			found[i] = "stdin"
		}
		saved, err := readSaved(e, tree, path)
		if err != nil {
			return tree.Explain(err)
		}
		peer, ok := saved.(*peers.Report)
		if !ok && len(found) == 1 {
			return e.renderSaved(format, saved, flags)
		}
		if !ok {
			return fmt.Errorf("%s is not the report of a peer, and only those are merged; give a report of another kind by itself", found[i])
		}
		reports = append(reports, peer)
	}
	if len(reports) == 1 && flags.redact {
		return e.renderSaved(format, reports[0], flags)
	}
	merged, err := peers.Merge(reports, found)
	if err != nil {
		return err
	}
	merged.Warnings = append(merged.Warnings, tree.Warnings().Texts()...)
	merged.Missing = append(merged.Missing, tree.Lost().Texts()...)
	e.Warn(merged.Warnings)
	return e.renderSaved(format, merged, flags)
}

// readSaved reads a report of any kind.
func readSaved(e *env, tree *archive.Tree, path string) (any, error) {
	if path == "-" {
		return bundle.UnpackReport(e.Stdin, "stdin")
	}
	f, err := tree.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return bundle.UnpackReport(f, path)
}

// renderSaved renders a report of any kind.
func (e *env) renderSaved(format *cli.Outputs, saved any, flags reportFlags) error {
	if flags.open {
		switch saved.(type) {
		case *document.Report, []*document.Report:
		default:
			return errors.New("--open shows a saved report of triage, and nothing else")
		}
	}
	switch r := saved.(type) {
	case *peers.Merged:
		if flags.redact {
			r = r.Redact()
		}
		return e.Render(format,
			func(w io.Writer, s document.Style) error { return r.Text(w, s, flags.all) },
			func() any { return r })
	case *peers.Report:
		if flags.redact {
			r = r.Redact()
		}
		return e.Render(format,
			func(w io.Writer, s document.Style) error { return r.Text(w, s) },
			func() any { return r })
	case *document.Report:
		if flags.redact {
			r = r.Redact()
		}
		if err := e.RenderReport(format, r, flags.all); err != nil || !flags.open {
			return err
		}
		return e.openPage(format, pageOf(r))
	case []*document.Report:
		if flags.redact {
			for i := range r {
				match := document.MatchDocument{Number: r[i].Match.Number}
				r[i] = r[i].Redact()
				r[i].Match = &match
			}
		}
		if err := e.RenderMatches(format, eachOf(r), eachOf(r), nil, flags.all); err != nil || !flags.open {
			return err
		}
		return e.openPage(format, func(w io.Writer) error { return page.WriteMatches(w, eachOf(r)) })
	}
	return fmt.Errorf("%T cannot be rendered", saved)
}

// playerByLog means that the player is the peer's number in the order log.
const playerByLog = math.MinInt

func doPeerReport(e *env, flags reportFlags) error {
	tree, err := e.open(flags.peer, flags.against)
	if err != nil {
		return err
	}
	defer tree.Close()
	state, file, diverged, status, err := reportedState(tree, flags)
	if err != nil {
		return tree.Explain(err)
	}
	defer state.Close()
	info := state.Info()
	for _, label := range flags.archetypes {
		if !slices.ContainsFunc(info.Tables, func(t snapshot.TableInfo) bool { return t.Class == snapshot.Archetype && t.Label == label }) {
			return fmt.Errorf("%s: no archetype %q", file, label)
		}
	}
	diverged = append(diverged, flags.archetypes...)
	slices.Sort(diverged)
	excerpt, player, err := reportedOrders(e, tree, flags, file, info)
	if err != nil {
		return err
	}
	r, err := peers.New(player, status, state, slices.Compact(diverged), excerpt)
	if err != nil {
		return err
	}
	if base := filepath.Base(flags.peer); r.Peer == "" && bundle.IsDir(tree, flags.peer) && strings.Trim(base, `./\`) != "" {
		r.Peer = base
	}
	return writePeerReport(e, r, info, flags)
}

// reportedState opens the state for a peer's report. If there is another peer to compare with, it also returns the
// archetypes that differ, and whether the states differ.
func reportedState(tree *archive.Tree, flags reportFlags) (state snapshot.State, file string, diverged []string, status document.Status, err error) {
	at := func(path string) string {
		if flags.tick != "" {
			return path + "@" + flags.tick
		}
		return path
	}
	if flags.against != "" {
		pair, err := bundle.OpenPair(tree, at(flags.peer), at(flags.against))
		if err != nil {
			return nil, "", nil, "", err
		}
		diverged, status, err = parted(pair)
		return pair.A, pair.Paths[0], diverged, status, errors.Join(err, pair.B.Close())
	}
	path := at(flags.peer)
	if flags.tick == "" && bundle.IsDir(tree, path) {
		sets, err := bundle.StatesOf(tree, path)
		if err != nil {
			return nil, "", nil, "", err
		}
		if len(sets) != 1 || len(sets[0].Entries) == 0 {
			return nil, "", nil, "", fmt.Errorf("%s: the snapshots of %d peers, expected one peer's folder", path, len(sets))
		}
		last := sets[0].Entries[len(sets[0].Entries)-1].Point
		path += "@" + cmp.Or(last.Native, strconv.FormatUint(last.Tick, 10))
	}
	state, file, err = bundle.OpenState(tree, path)
	return state, file, nil, document.Inconclusive, err
}

// parted returns the archetypes of the first state that differ from the second state.
func parted(pair *bundle.Pair) ([]string, document.Status, error) {
	if err := snapshot.Comparable(pair.A.Info(), pair.B.Info()); err != nil {
		return nil, "", pair.Explain(err)
	}
	a, err := merkle.New(pair.A.Info().Leaves())
	if err != nil {
		return nil, "", err
	}
	b, err := merkle.New(pair.B.Info().Leaves())
	if err != nil {
		return nil, "", err
	}
	c := merkle.Compare(a, b)
	if c.Equal() {
		return nil, document.InSync, nil
	}
	return append(c.Diverged, c.OnlyA...), document.Diverged, nil
}

// excerptOf returns orders from the only log in a folder.
func excerptOf(tree *archive.Tree, dir string, from, to uint64) (*peers.Excerpt, *orderlog.Header, error) {
	s, err := bundle.Open(tree, []string{dir})
	if err != nil {
		return nil, nil, err
	}
	return s.Excerpt(from, to)
}

// reportedOrders reads the orders before a state from the log next to it, and determines which player the peer is.
func reportedOrders(e *env, tree *archive.Tree, flags reportFlags, file string, info *snapshot.Info) (*peers.Excerpt, int, error) {
	player := max(flags.player, -1)
	if flags.player == playerByLog {
		player = 0
	}
	dir := flags.peer
	if !bundle.IsDir(tree, dir) {
		dir = filepath.Dir(file)
	}
	to := info.Point.Tick
	if info.Point.Phase == snapshot.AfterOrders {
		to++
	}
	excerpt, header, err := excerptOf(tree, dir, to-min(to, flags.excerpt), to)
	switch {
	case header == nil && err != nil:
		return nil, 0, err
	case header == nil:
		e.Warn([]string{dir + ": not one order log: the report has no orders"})
		return nil, player, nil
	case header.Seed != info.Seed || header.Peer != "" && info.Peer != "" && header.Peer != info.Peer:
		e.Warn([]string{fmt.Sprintf("the order log in %s belongs to another session or peer than %s: the report has no orders", dir, file)})
		return nil, player, nil
	case err != nil:
		e.Warn([]string{fmt.Sprintf("%v: the report has the orders before that", err)})
	}
	if flags.player == playerByLog {
		player = max(0, slices.Index(header.Peers, header.Peer))
	}
	return excerpt, player, nil
}

// writePeerReport writes a peer's report to the file given by the flags.
func writePeerReport(e *env, r *peers.Report, info *snapshot.Info, flags reportFlags) error {
	name := peers.FileName(info.Seed, info.Point.Tick)
	if flags.redact {
		r = r.Redact()
	}
	path := flags.output
	if path == "-" {
		e.Rendered = true
		return document.WriteJSON(e.Stdout, r)
	}
	if stat, err := os.Stat(path); path == "" || err == nil && stat.IsDir() {
		if flags.redact {
			return errors.New("--redact: the usual name of a report shows the seed; name the file with -o FILE")
		}
		path = filepath.Join(path, name)
	}
	if err := files.Replace(path, func(f *os.File) error { return document.WriteJSON(f, r) }); err != nil {
		return err
	}
	_, err := fmt.Fprintf(e.Stdout, "%s\n", document.Safe(path))
	return err
}
