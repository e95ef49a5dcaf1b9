package session

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/desynctool/desynctool/bisect/refsim"
)

// Options configures what to play and to record. Only Ticks has no default.
type Options struct {
	Config refsim.Config
	Ticks  uint64 // length of the session, 1 at least

	// Peers are the names of the peers, at least 2; nil means host and client. The scripted players look at the first
	// peer's screen.
	Peers []string

	Faults []Fault

	// Absences are the times in which peers other than the first are absent.
	Absences []Absence

	// SnapshotEvery is how many ticks lie between two snapshots; 0 means 300.
	SnapshotEvery uint64

	// Signatures makes RecordTo write a chain of tick signatures for each peer, with the key that SigningKey returns.
	Signatures bool

	// Context, if not nil, ends the session early when it is done: with its cause as an error.
	Context context.Context

	// Progress, if not nil, is called after each tick with the number of finished ticks and of all ticks.
	Progress func(done, total int64)

	// Reports, if not nil, writes additional files of a session that RecordTo has written, before it counts as
	// finished.
	Reports func(*Recording) error

	// DetectEvery is how many ticks lie between two comparisons of sync hashes;
	// 0 means 1.
	DetectEvery uint64
}

// Defaults of Options, and constants that no option sets.
const (
	DefaultSnapshotEvery = 300
	DefaultDetectEvery   = 1

	stateHashEvery = 30 // ticks between two full hashes in the order log
)

// Fault is a mistake and the peer that makes it.
type Fault struct {
	refsim.Fault
	Peer string // empty means the second peer
}

// mistakes returns the mistakes of a peer. A blind checksum is the game's mistake, so every peer has it; only one of
// them makes a mistake in the columns that it does not cover.
func (o *Options) mistakes(peer string) []refsim.Fault {
	var list []refsim.Fault
	for _, f := range o.Faults {
		switch {
		case f.Peer == peer:
			list = append(list, f.Fault)
		case f.Name == "blind-checksum":
			f.From = math.MaxUint64
			list = append(list, f.Fault)
		}
	}
	return list
}

// ParseFault parses NAME[/PLACE][@TICK][:PEER].
func ParseFault(s string) (Fault, error) {
	f, peer, err := refsim.ParseFault(s)
	return Fault{f, peer}, err
}

// withDefaults checks o and fills in what is missing, the places of faults
// included.
func (o Options) withDefaults() (Options, error) {
	if o.Ticks == 0 {
		return o, errors.New("a session of 0 ticks")
	}
	if o.Peers == nil {
		o.Peers = []string{"host", "client"}
	}
	if len(o.Peers) < 2 {
		return o, fmt.Errorf("%d peer, at least 2 are needed", len(o.Peers))
	}
	for i, name := range o.Peers {
		if name == "" || slices.Contains(o.Peers[:i], name) {
			return o, fmt.Errorf("peer %d has the name %q, which is empty or taken", i+1, name)
		}
	}
	o.SnapshotEvery = cmp.Or(o.SnapshotEvery, DefaultSnapshotEvery)
	o.DetectEvery = cmp.Or(o.DetectEvery, DefaultDetectEvery)
	if err := o.checkAbsences(); err != nil {
		return o, err
	}
	faults := make([]Fault, len(o.Faults))
	for i, f := range o.Faults {
		if f.Peer == "" {
			f.Peer = o.Peers[1]
		}
		if !slices.Contains(o.Peers, f.Peer) {
			return o, fmt.Errorf("fault %s: there is no peer %q, only %s", f.Fault, f.Peer, strings.Join(o.Peers, ", "))
		}
		resolved, err := f.Resolve(o.Config.Seed)
		if err != nil {
			return o, err
		}
		faults[i] = Fault{resolved, f.Peer}
	}
	o.Faults = faults
	return o, nil
}
