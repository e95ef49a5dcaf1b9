package peers

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/desynctool/desynctool/bisect/refsim/session"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/orderlog"
	"github.com/desynctool/desynctool/report/document"
	"github.com/desynctool/desynctool/snapshot"
	"github.com/desynctool/desynctool/snapshot/merkle"
)

// FileName returns the name of a peer's report file.
func FileName(seed, tick uint64) string {
	return fmt.Sprintf("desync_report_%016x_%010d.json", seed, tick)
}

// excerptTicks is how many ticks before a report it includes the orders of.
const excerptTicks = 60

// WriteAll writes the report of each peer of a recorded session next to its snapshots, if a difference was detected.
func WriteAll(r *session.Recording) (err error) {
	if r.Detected == nil {
		return nil
	}
	states := make([]*snapshot.File, len(r.Peers))
	defer func() {
		for _, s := range states {
			if s != nil {
				err = errors.Join(err, s.Close())
			}
		}
	}()
	trees := make([]*merkle.Tree, len(r.Peers))
	for i := range r.Peers {
		if r.Peers[i].At(*r.Detected) == "" {
			continue // it was not there
		}
		if states[i], err = snapshot.OpenFile(r.Peers[i].At(*r.Detected)); err != nil {
			return err
		}
		if trees[i], err = merkle.New(states[i].Info().Leaves()); err != nil {
			return err
		}
	}
	for i := range r.Peers {
		var diverged []string
		if trees[i] == nil {
			continue
		}
		for k := range trees {
			if trees[k] == nil {
				continue
			}
			diverged = append(diverged, merkle.Compare(trees[i], trees[k]).Diverged...)
		}
		slices.Sort(diverged)
		if err := writeOne(r, i, states[i], slices.Compact(diverged)); err != nil {
			return err
		}
	}
	return nil
}

func writeOne(r *session.Recording, peer int, state snapshot.State, diverged []string) error {
	log, err := orderlog.Open(r.Peers[peer].Log)
	if err != nil {
		return err
	}
	excerpt, err := ReadExcerpt(log, *r.Detected-min(*r.Detected, excerptTicks), *r.Detected)
	if err := errors.Join(err, log.Close()); err != nil {
		return err
	}
	own, err := New(peer, document.Diverged, state, diverged, excerpt)
	if err != nil {
		return err
	}
	path := filepath.Join(r.Peers[peer].Dir, FileName(state.Info().Seed, *r.Detected))
	return files.Replace(path, func(f *os.File) error { return document.WriteJSON(f, own) })
}
