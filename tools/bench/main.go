//go:build unix

// Command bench compares desynctool with other tools and prints ratios. Each pair of measurements alternates, so that a
// busy machine slows both. It needs cmp, openssl, jq and diff. Run it as
//
//	go run ./tools/bench [-quick] [-triage | -anygame | -growth | -traces | -desk [-part PART]] [DIR]
//
// DIR contains up to 6 GiB of files during the run; the default is a temporary folder.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"

	"github.com/desynctool/desynctool/tools/internal/try"
)

func main() {
	quick := flag.Bool("quick", false, "smaller files, fewer rounds")
	only := flag.Bool("triage", false, "measure only triage")
	ordinary := flag.Bool("anygame", false, "measure only the readers of any game's files")
	growth := flag.Bool("growth", false, "measure only how commands grow")
	many := flag.Bool("desk", false, "measure only the desk")
	lines := flag.Bool("traces", false, "measure only tracediff, with cmp and GNU diff")
	var traces tracesOf
	flag.IntVar(&traces.mib, "mib", 1024, "with -traces: size of each trace in MiB")
	flag.IntVar(&traces.rounds, "rounds", 5, "with -traces: measurements of each row")
	flag.StringVar(&traces.tool, "tool", "", "with -traces: command and arguments that compare two traces named after it, with --first up to the first difference; without it the built tracediff")
	var of deskOf
	part := flag.String("part", "all", "with -desk: measure only add, isolate, uploads, workers or queries")
	flag.IntVar(&of.bundles, "bundles", 10_000, "with -desk: bundles to add")
	flag.IntVar(&of.isolated, "isolated", 1000, "with -desk: bundles to add, each read by a separate process")
	flag.IntVar(&of.uploads, "uploads", 2000, "with -desk: uploads of 1 MB each")
	flag.IntVar(&of.queued, "queued", 400, "with -desk and -postgres: bundles for one worker, and for two")
	flag.IntVar(&of.reports, "reports", 1_000_000, "with -desk: synthetic reports")
	flag.IntVar(&of.groups, "groups", 20_000, "with -desk: groups of the synthetic reports")
	flag.IntVar(&of.copies, "copies", 25, "with -desk: how often the database has each synthetic report; only the first is put in")
	flag.StringVar(&of.postgres, "postgres", "", "with -desk: the address of an empty database of PostgreSQL, to measure as well as SQLite")
	generate := flag.String("generate", "", "")
	flag.Parse()
	if *generate != "" { // in a separate process, so that its memory is not counted
		end(writeBig(*generate))
		return
	}
	if !*lines {
		traces = tracesOf{}
	}
	if !*many {
		of = deskOf{}
	} else {
		end(of.only(*part))
	}
	end(run(flag.Arg(0), *quick, *only, *ordinary, *growth, traces, of))
}

// end ends the program if there is an error.
func end(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// bench is the state that the measurements share.
type bench struct {
	dir    string
	mib    int // size of a large file
	pairs  int // snapshots in a long session
	rounds int
	quick  bool
	tool   string // the built desynctool
	hello  string // a program that prints a line
}

func run(dir string, quick, only, ordinary, growth bool, traces tracesOf, of deskOf) (err error) {
	defer try.Catch(&err)
	if dir == "" {
		dir = try.Get(os.MkdirTemp("", "desynctool-bench-*"))
		defer os.RemoveAll(dir)
	}
	b := &bench{dir: dir, mib: 1024, pairs: 10_000, rounds: 7, quick: quick}
	if quick {
		b.mib, b.pairs, b.rounds = 128, 1000, 3
	}
	desk := of != (deskOf{})
	if !desk || of.comes() {
		b.build()
	}
	load, _ := os.ReadFile("/proc/loadavg") // there is none on other systems
	fmt.Printf("%s %s/%s, %d CPUs, load %s\n", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), bytes.TrimSpace(load))
	switch {
	case growth:
		b.growth()
		return nil
	case traces != (tracesOf{}):
		b.traces(traces)
		return nil
	case desk:
		b.desk(of)
		return nil
	}
	fmt.Println("\n| What | Ours | Peer | Ratio (min–max) | Goal |")
	fmt.Println("|---|---|---|---|---|")
	measures := []func(){b.start, b.bytesRead, b.bisect, b.hashing, b.sim, b.modes, b.cases, b.columnDiff, b.cells, b.triage, b.anygame}
	switch {
	case only:
		measures = []func(){b.triage}
	case ordinary:
		measures = []func(){b.anygame, b.anygameGrowth}
	}
	for _, measure := range measures {
		release()
		measure()
	}
	if !only && !ordinary {
		b.growth()
	}
	return nil
}

// build builds the programs that are measured as processes.
func (b *bench) build() {
	b.tool, b.hello = filepath.Join(b.dir, "desynctool"), filepath.Join(b.dir, "hello")
	process("go", "build", "-o", b.dir+string(filepath.Separator), "./cmd/desynctool", "./cmd/desynctool-desk")
	source := filepath.Join(b.dir, "hello.go")
	try.Check(os.WriteFile(source, []byte("package main\n\nimport \"fmt\"\n\nfunc main() { fmt.Println(\"hello\") }\n"), 0o666))
	process("go", "build", "-o", b.hello, source)
}
