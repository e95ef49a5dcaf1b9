package formats

import (
	"errors"

	"github.com/desynctool/desynctool/bisect"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/playbook"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/tracediff"
)

// Narrow looks at all that the peers below some paths left, and narrows a desync as far
// as that goes. With a simulator it says who is wrong.
func Narrow(paths []string, sim *bisect.Sim) (*playbook.Verdict, error) {
	var e playbook.Evidence
	var err error
	if e.Bisect, err = Bisect(paths, sim, sim != nil); err != nil {
		return nil, err
	}
	if e.Bisect.Bracket == nil {
		return playbook.Conclude(e), nil
	}
	if logs, err := OpenLogs(paths, nil); err == nil {
		e.Orders, err = orderlog.Compare(logs.Named, orderlog.CompareOptions{})
		if err = errors.Join(err, logs.Close()); err != nil {
			return nil, err
		}
	}
	if traces, err := OpenTraces(paths, nil, tracediff.ReadOptions{}, false); err == nil {
		if e.Traces, err = traces.Compare(tracediff.Options{FirstOnly: true, Context: -1}); err != nil {
			return nil, err
		}
	}
	if e.Diff, err = diffAt(paths, e.Bisect); err != nil {
		return nil, err
	}
	return playbook.Conclude(e), nil
}

// diffAt compares the states of the first two peers that differ at the bad end of a
// bracket, nil if they did not leave them.
func diffAt(paths []string, r *bisect.Result) (*snapshot.Diff, error) {
	var differ []snapshot.State
	defer func() {
		for _, s := range differ {
			s.Close()
		}
	}()
	for _, path := range paths {
		sets, err := snapshot.Find(path, Snapshots())
		if err != nil {
			return nil, err
		}
		for _, set := range sets {
			entry := set.At(r.Bracket.Bad)
			if entry == nil {
				continue
			}
			state, err := entry.Open()
			if err != nil {
				if state != nil {
					state.Close()
				}
				continue // bisect has told that it is lost
			}
			if len(differ) > 0 && differ[0].Info().Root == state.Info().Root {
				state.Close()
				continue
			}
			if differ = append(differ, state); len(differ) == 2 {
				return snapshot.Compare(differ[0], differ[1], snapshot.DiffOptions{})
			}
		}
	}
	return nil, nil
}
