package check

// facts are statements of one file that other files also make.
type facts struct {
	path   string
	seed   uint64
	seeded bool
	log    *logFacts    // of an order log
	snap   *snapFacts   // of a snapshot
	report *reportFacts // of a peer's report
}

// logFacts are an order log's facts about the peer's states.
type logFacts struct {
	peer   string
	hashes map[inEpoch][]byte // of the requested points; peer 0 is the log's own
}

type snapLeaf struct {
	label string
	hash  []byte
}

// snapFacts are the facts in the head of a snapshot.
type snapFacts struct {
	tick          uint64
	phase, native string
	peer          string
	epoch         uint32
	history, root []byte   // history is nil if there is none
	tables        []string // class and label
	leaves        []snapLeaf
}

// reportFacts are a peer's report's facts about its state.
type reportFacts struct {
	peer, phase, native string
	tick                uint64
	hash                []byte // of 8 or 32 bytes
}

// machineFacts are names of facts about the machine, sharedFacts of facts that must be the same on all peers: the table
// of docs/recording.md.
var (
	machineFacts = set("os", "cpu", "arch", "compiler", "locale", "language", "lang", "timezone", "threads", "gpu", "driver")
	sharedFacts  = set("seed", "start state", "build", "version", "engine_version", "tick rate", "engine", "mods", "mod", "data hash", "data_hash", "data",
		"map", "ruleset", "settings", "host peer")
	knownFacts = func() map[string]bool {
		all := map[string]bool{}
		for _, list := range []map[string]bool{machineFacts, sharedFacts} {
			for name := range list {
				all[name] = true
			}
		}
		return all
	}()
)

func set(names ...string) map[string]bool {
	out := map[string]bool{}
	for _, name := range names {
		out[name] = true
	}
	return out
}
