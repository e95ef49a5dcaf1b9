package main

import (
	"context"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/debug"
	"syscall"

	"github.com/desynctool/desynctool/archive"
	"github.com/desynctool/desynctool/cmd/internal/cli"
	"github.com/desynctool/desynctool/desk/intake"
	"github.com/desynctool/desynctool/desk/pseudonyms"
	"github.com/desynctool/desynctool/internal/file/limits"
	"github.com/desynctool/desynctool/report/triage"
)

// A process ends after so many bundles, or if it has kept much memory.
const (
	mostBundles = 200
	mostKept    = 128 << 20
)

// serveBundles reads bundles for the process that started this one, each within the limits of a command.
func serveBundles(stdin io.Reader, stdout io.Writer) {
	cli.TuneProcess()
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP) // the other process ends this one
	soft, read := debug.SetMemoryLimit(-1), 0
	intake.Serve(stdin, stdout, func(b *intake.Bundle, over func(error)) (intake.Copier, func() bool, error) {
		var set limits.Settings
		for _, text := range b.Limits {
			if err := set.Assign(text, "--limit"); err != nil {
				return nil, nil, err
			}
		}
		limits.Use(set)
		r := &triage.Reader{}
		if b.Names != "" {
			key, err := pseudonyms.ParseKey(b.Names, "the key")
			if err != nil {
				return nil, nil, err
			}
			r.Names = namesBy(key)
		}
		running, end := context.WithCancel(context.Background())
		cli.Watch(running, func() int64 { return archive.SizeOnDisk([]string{b.Path}) }, func(reached error, _ func() bool) { over(reached) })
		return r, func() bool {
			end()
			debug.SetMemoryLimit(soft)
			var stats runtime.MemStats
			runtime.ReadMemStats(&stats)
			read++
			return read < mostBundles && stats.Sys-stats.HeapReleased < mostKept
		}, nil
	}, func() { os.Exit(0) })
}

// namesBy replaces the names of players with pseudonyms.
func namesBy(key *pseudonyms.Key) *triage.Names {
	return &triage.Names{Key: key.Text(), New: func(string) (triage.Scrubber, error) { return pseudonyms.NewScrubber(key), nil }}
}
