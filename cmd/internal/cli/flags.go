package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/spf13/pflag"
)

// valueNames are the names of flags' values in the help, by flag. A flag whose usage has a word in back quotes, or whose
// value names its own type, needs no row.
var valueNames = map[string]string{
	"sim": "SIM", "own": "SIM", "against": "SIM",
	"game": "FILE", "output": "FILE", "expect": "FILE", "from": "FILE", "write-trace": "FILE", "write-up": "FILE",
	"debug-info": "FILE", "state": "FILE", "signatures": "FILE", "results": "FILE", "write-results": "FILE", "log": "FILE",
	"key": "FILE", "ignore-file": "FILE", "schedule": "EARLY,NORMAL,LATE", "secret": "FILE",
	"debugger": "NAME", "known": "DIR", "source": "DIR", "write": "DIR", "repo": "DIR", "store": "DIR", "donors": "DIR",
	"run": "COMMAND", "run-against": "COMMAND", "build": "COMMAND", "git": "GOOD..BAD", "run-keep": "REGEXP",
	"run-diverges": "REGEXP", "pattern": "REGEXP", "until": "POINT", "tick": "POINT", "late-from": "TICK",
	"every": "TICKS", "late": "TICKS", "excerpt": "TICK", "rollback": "TICKS", "ticks": "TICKS", "detect-every": "TICKS", "snapshot-every": "TICKS",
	"fail-on": "OUTCOMES", "struct": "FIELDS", "ignore": "RULE", "local": "KIND", "fault": "FAULT", "dump format": "FORMAT", "type": "NAME", "offset": "BYTES", "root": "HASH",
	"peer": "NAME", "archetype": "NAME", "param": "KEY=VALUE",
	"orders against": "NAME", "report against": "PATH", "report output": "PATH", "minimize output": "DIR", "record output": "DIR",
	"join": "PEER@TICK", "rejoin": "PEER@TICK+LENGTH", "add build": "BUILD", "check build": "BUILD", "since": "BUILD",
	"fixed-in": "BUILD", "as": "NAME", "to": "GROUP", "forget player": "NAME", "listen": "ADDRESS", "metrics": "ADDRESS", "url": "URL",
	"tls-cert": "FILE", "tls-key": "FILE", "uploads": "DIR", "blobs": "PLACE", "where": "FILTER", "order": "ORDER", "after": "ENTRY", "scope": "SCOPE", "predict": "P,Q", "only": "PATTERN", "platform": "NAME", "name": "NAME",
	"secret-file": "FILE",
}

// typeNames are the names of values by their type, for flags that valueNames lacks.
var typeNames = map[string]string{
	"string": "TEXT", "stringArray": "TEXT", "strings": "LIST", "uintSlice": "LIST", "int": "N", "int64": "N", "uint": "N", "uint16": "N", "uint64": "N",
	"float64": "N", "duration": "TIME",
}

// named is the value of a flag that has a name in the help.
type named struct {
	pflag.Value
	name string
}

// Type implements pflag.Value.
func (n named) Type() string { return n.name }

// naming returns a flag of a command as the help shows it: its value has a name that shows what it is.
func naming(command string, f *pflag.Flag) *pflag.Flag {
	value := f.Value.Type()
	if typeNames[value] == "" || strings.Contains(f.Usage, "`") {
		return f
	}
	shown := *f
	shown.Value = named{f.Value, cmp.Or(valueNames[command+" "+f.Name], valueNames[f.Name], typeNames[value])}
	if f.DefValue == "0s" || f.DefValue == "[]" {
		shown.DefValue = "" // nothing, as pflag knows by the type
	}
	return &shown
}

// flagGroups are the groups of flags that the help of a command with many flags lists under a title, in this order. What
// is in none comes last.
var flagGroups = []flagGroup{
	{"Input:", []string{"match", "game", "force", "from", "from-each-snapshot", "pattern", "every", "late-from", "schedule", "tracediff rollback",
		"reconnect", "debug-info", "type", "struct", "offset", "ignore", "ignore-file", "noise", "known", "same-by", "late", "local", "orders against",
		"tick", "player", "peer", "excerpt", "archetype", "report against", "verify"}},
	{"Replay:", []string{"sim", "own", "against", "replays", "sim-timeout", "until", "runs", "dual", "serialize", "rollback", "predict", "check-caches",
		"check-purity", "drill", "branches", "writes", "debugger", "source", "expect", "hunt ticks", "seed", "seeds", "param", "modes"}},
	{"With --run:", []string{"run", "run-against", "run-keep", "run-diverges", "run-timeout"}},
	{"With --git:", []string{"git", "repo", "build", "build-timeout", "rebuild", "restart", "keep-builds", "max-runs", "bisect runs", "bisect expect"}},
	{"Output:", []string{"format", "all", "output", "open", "redact", "context", "first", "write", "write-trace", "write-up", "fail-on", "stats", "store"}},
	{"Limits:", []string{"isolate", "no-cache", "jobs", "max-replays", "for"}},
	{"Other:", nil},
}

type flagGroup struct {
	title string
	flags []string // "COMMAND FLAG" goes before "FLAG"
}

// manyFlags is the number of flags from which on the help groups them.
const manyFlags = 12

// flagUsages returns what the help of a command shows about its own flags, without a line end.
func flagUsages(command string, flags *pflag.FlagSet) string {
	sets := make([]*pflag.FlagSet, len(flagGroups))
	for i := range sets {
		sets[i] = pflag.NewFlagSet("", pflag.ContinueOnError)
	}
	shown := 0
	flags.VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			shown++
		}
	})
	flags.VisitAll(func(f *pflag.Flag) {
		in := func(name string) int {
			return slices.IndexFunc(flagGroups, func(g flagGroup) bool { return slices.Contains(g.flags, name) })
		}
		i := in(command + " " + f.Name)
		if i < 0 {
			i = in(f.Name)
		}
		if i < 0 || shown < manyFlags {
			i = len(sets) - 1
		}
		sets[i].AddFlag(naming(command, f))
	})
	var out []string
	for i, set := range sets {
		title := flagGroups[i].title
		if shown < manyFlags {
			title = "Flags:"
		}
		if set.HasAvailableFlags() {
			out = append(out, title+"\n"+strings.TrimRight(set.FlagUsagesWrapped(helpWidth), " \n"))
		}
	}
	return strings.Join(out, "\n\n")
}
