package main

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/bisect/refsim"
	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/shellwords"
	"github.com/desynctool/desynctool/report/bundle"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/simulators"
	"github.com/desynctool/desynctool/snapshot"
)

// completions returns the completion of a command's flags, by name. It also sets up the completion of arguments that
// are states.
func completions(cmd *cobra.Command) map[string]cli.Completer {
	of := map[string]cli.Completer{
		"fail-on": completeFailOn, "sim": completeSim, "own": completeSim, "fault": completeFault,
		"modes": cli.Words(huntModes()...),
		"match": completeMatch, "rejoin": completeAbsence, "join": completeAbsence, "tick": completeTick,
	}
	switch cmd.Name() {
	case "replay", "minimize", "hunt":
		of["against"] = completeSim
	case "orders":
		of["against"] = completePeer
	case "diff", "walk", "dump", "proof":
		cmd.ValidArgsFunction = cli.Completer(completeState).Begun()
	}
	return of
}

// completeFailOn completes lists of outcomes.
func completeFailOn(_ *cobra.Command, _ []string, begun string) (list []string, _ cobra.ShellCompDirective) {
	switch before, _, several := strings.Cut(begun, ","); {
	case !several:
		list = []string{document.FailDiverged, document.FailNew, document.FailNever, document.FailInconclusive}
	case before == document.FailDiverged || before == document.FailNew:
		list = []string{before + "," + document.FailInconclusive}
	case before == document.FailInconclusive:
		list = []string{before + "," + document.FailDiverged, before + "," + document.FailNew}
	}
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completeSim completes the name of a simulator, or of a game for commands that accept one.
func completeSim(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	const fault, module = "builtin:fault=", "wasm:"
	if mistake, ok := strings.CutPrefix(begun, fault); ok {
		return faults(fault, mistake), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
	}
	if file, ok := strings.CutPrefix(begun, module); ok {
		return cli.CompletePaths(module, file, ".wasm")
	}
	list := []string{"builtin", fault, "exec:", "exec+unix:", "exec+tcp:", module}
	if cmd.Flags().Lookup(noCache) != nil {
		list = append(list, "run:")
		for _, g := range simulators.Games() {
			list = append(list, g.Name+"\t"+g.Title)
		}
	}
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// faults completes NAME/PLACE of a mistake.
func faults(before, begun string) (list []string) {
	name, _, placed := strings.Cut(begun, "/")
	for _, kind := range refsim.Faults() {
		switch {
		case !placed:
			list = append(list, before+kind.Name+"\t"+kind.Doc)
		case kind.Name == name:
			list = append(list, lists.Map(kind.Places, func(place string) string { return before + name + "/" + place })...)
		}
	}
	return list
}

// completeFault completes NAME/PLACE@TICK:PEER of record.
func completeFault(cmd *cobra.Command, _ []string, begun string) ([]string, cobra.ShellCompDirective) {
	if i := strings.LastIndexByte(begun, ':'); i >= 0 {
		return recordedPeers(cmd, begun[:i+1], ""), cobra.ShellCompDirectiveNoFileComp
	}
	if i := strings.LastIndexByte(begun, '@'); i >= 0 && len(begun) > i+1 { // nobody completes a tick
		return recordedPeers(cmd, begun+":", ""), cobra.ShellCompDirectiveNoFileComp
	}
	return faults("", begun), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// completeAbsence completes PEER@ of record.
func completeAbsence(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	return recordedPeers(cmd, "", "@"), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
}

// recordedPeers returns the names of the peers that record plays, each between two texts.
func recordedPeers(cmd *cobra.Command, before, after string) []string {
	n, err := cmd.Flags().GetInt("peers")
	if err != nil || n < 2 || n > session.MaxPeers {
		n = 2
	}
	return lists.Map(session.PeerNames(n), func(name string) string { return before + name + after })
}

// completeMatch completes the numbers of the matches below the paths.
func completeMatch(_ *cobra.Command, args []string, _ string) (list []string, _ cobra.ShellCompDirective) {
	matchesOf(args, func(m *bundle.Matches) {
		for _, x := range m.List {
			list = append(list, fmt.Sprintf("%d\t%s %s", x.Number, document.Safe(x.Game), document.Safe(x.Name)))
		}
	})
	return list, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completePeer completes the names of the peers below the paths.
func completePeer(_ *cobra.Command, args []string, _ string) (list []string, _ cobra.ShellCompDirective) {
	matchesOf(args, func(m *bundle.Matches) {
		if whole, err := m.Whole(); err == nil {
			var said, paths []string
			for _, p := range whole.Peers() {
				said, paths = append(said, p.Name), append(paths, p.Path)
			}
			list = snapshot.PeerNames(said, paths)
		}
	})
	return list, cobra.ShellCompDirectiveNoFileComp
}

// completeTick completes the state points of the path that --peer names.
func completeTick(cmd *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	path := ""
	if flag := cmd.Flags().Lookup("peer"); flag != nil {
		path = flag.Value.String()
	}
	return points(path, ""), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
}

// completeState completes a path, and after it @ and a state point.
func completeState(cmd *cobra.Command, args []string, begun string) ([]string, cobra.ShellCompDirective) {
	if cmd.Name() == "proof" && len(args) > 0 || cmd.Name() == "dump" && len(args) > 0 || len(args) > 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	if i := strings.LastIndexByte(begun, '@'); i > 0 {
		if points := points(begun[:i], begun[:i+1]); points != nil {
			return points, cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveKeepOrder
		}
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// points returns the state points of the states below a path, after a text.
func points(path, before string) (list []string) {
	if path == "" {
		return nil
	}
	below([]string{path}, func(tree *archive.Tree) {
		sets, err := bundle.StatesOf(tree, path)
		if err != nil {
			return // not a folder or file with states, so there are no suggestions
		}
		for _, set := range sets {
			for _, entry := range set.Entries {
				point := entry.Point.Native
				if plain := point != "" && shellwords.Quote(point) == point; !plain && entry.Point.Phase != "" {
					continue // another point has the same number
				} else if !plain {
					point = strconv.FormatUint(entry.Point.Tick, 10)
				}
				if text := before + point; !slices.Contains(list, text) && len(list) < maxPoints {
					list = append(list, text)
				}
			}
		}
	})
	return list
}

// below calls use with the tree of files below paths, if they are readable. It ignores stdin.
func below(paths []string, use func(tree *archive.Tree)) {
	if len(paths) == 0 || slices.Contains(paths, archive.Stdin) {
		return
	}
	if tree, err := archive.Open(paths, archive.Options{Known: formats.Pasted()}); err == nil {
		defer tree.Close()
		use(tree)
	}
}

// matchesOf calls use with the matches below paths, if they are readable.
func matchesOf(paths []string, use func(m *bundle.Matches)) {
	below(paths, func(tree *archive.Tree) {
		if m, err := bundle.OpenMatches(tree, paths); err == nil {
			use(m)
		}
	})
}

// maxPoints is the maximum number of suggested state points.
const maxPoints = 500
