package commits

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/desynctool/desynctool/bisect/gitbisect"
	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/lists"
	"github.com/desynctool/desynctool/internal/prose"
	"github.com/desynctool/desynctool/report/formats"
	"github.com/desynctool/desynctool/report/simulators"
	"github.com/desynctool/desynctool/tracediff"
)

// What a command line of a Program has for the paths of the log and of the trace that is to be written.
const (
	LogPlace = "{log}"
	OutPlace = "{out}"
)

// Program tests a commit by a program that is built from it and writes a trace, which is compared with a golden one. A
// commit cannot be tested if its program writes no trace, is ended by a signal, or exits with 125 or more. A lower
// status does not matter if there is a trace; but a golden trace needs status 0.
type Program struct {
	line    string
	words   []string
	log     string // absolute
	expect  string // the golden trace; empty is what the good end gives
	runs    int    // how often it is run in one test, to agree with itself; 0 for once
	timeout time.Duration
	name    string
}

// ProgramOptions are the other settings of a Program.
type ProgramOptions struct {
	Log     string // path that replaces {log}, empty for none
	Expect  string // path of the golden trace, empty for the good end's trace
	Runs    int    // the program is run so often in one test, and has to agree with itself; 0 for once
	Timeout time.Duration
}

// ProgramTest returns the test by a command, which is split into words as a shell does.
func ProgramTest(line string, opts ProgramOptions) (*Program, error) {
	words, err := simulators.Words(line)
	if err != nil {
		return nil, err
	}
	takes := func(place string) bool { return strings.Contains(strings.Join(words, " "), place) }
	switch {
	case !takes(OutPlace):
		return nil, fmt.Errorf("no %s in %q, the placeholder for the path of the trace that it writes", OutPlace, line)
	case takes(LogPlace) && opts.Log == "":
		return nil, fmt.Errorf("%s in %q is the placeholder for the log at PATH, and no PATH is given", LogPlace, line)
	case !takes(LogPlace) && opts.Log != "":
		return nil, fmt.Errorf("no %s in %q, the placeholder for the log at %s", LogPlace, line, opts.Log)
	}
	p := &Program{line: line, words: words, expect: opts.Expect, runs: opts.Runs, timeout: opts.Timeout}
	p.name = fmt.Sprintf("program %q %d", words, opts.Runs)
	for _, file := range []string{opts.Log, opts.Expect} {
		sum := ""
		if file != "" {
			if sum, err = digest(file); err != nil {
				return nil, err
			}
		}
		p.name += " " + sum
	}
	if opts.Log != "" {
		if p.log, err = filepath.Abs(opts.Log); err != nil {
			return nil, err
		}
	}
	if opts.Expect != "" {
		if _, err := tracesIn(opts.Expect); err != nil {
			return nil, err
		}
	}
	return p, nil
}

// Name implements gitbisect.Test.
func (p *Program) Name() string { return p.name }

// What implements gitbisect.Test.
func (p *Program) What() string { return p.line }

// Run implements gitbisect.Test.
func (p *Program) Run(ctx context.Context, store *gitbisect.Store, dir string, c gitbisect.Commit, golden bool) (_ gitbisect.Verdict, _ string, err error) {
	folder, remove, err := files.TemporaryFolder(store.Path(""))
	if err != nil {
		return "", "", err
	}
	defer func() { err = errors.Join(err, remove()) }()
	var first, how, failed string
	for i := range max(p.runs, 1) {
		out := filepath.Join(folder, fmt.Sprintf("%d.trace", i+1))
		if how, failed, err = p.run(ctx, dir, c, out); err != nil || failed != "" {
			return gitbisect.Skipped, failed, err
		}
		if first == "" {
			first = out
			continue
		}
		verdict, why := compare(first, out, fmt.Sprintf("itself, run %d", i+1))
		if verdict != gitbisect.Good {
			return verdict, why, nil
		}
	}
	agrees := ""
	if p.runs > 1 {
		agrees = fmt.Sprintf("agrees with itself in %d runs", p.runs)
		if p.expect == "" {
			return gitbisect.Good, agrees, nil
		}
		agrees += "; "
	}
	expect := p.expect
	if expect == "" {
		expect = store.Path(goldenName)
		if _, err := os.Lstat(expect); errors.Is(err, fs.ErrNotExist) && golden {
			if how != "" {
				return gitbisect.Skipped, how, nil
			}
			list, err := tracesIn(first)
			if err != nil {
				return gitbisect.Skipped, short(err, first), nil
			}
			if err := os.Rename(first, expect); err != nil {
				return "", "", err
			}
			return gitbisect.Good, "gives the golden " + trace(len(list)), nil
		}
	}
	verdict, why := compare(expect, first, "the golden trace")
	if verdict == gitbisect.Good {
		why = agrees + why
	}
	return verdict, why, nil
}

func trace(n int) string {
	if n == 1 {
		return "trace"
	}
	return fmt.Sprintf("%d traces", n)
}

// run runs the program once. Failed is why there is no trace to use. How is the program's end if that was not status 0.
func (p *Program) run(ctx context.Context, dir string, c gitbisect.Commit, out string) (how, failed string, err error) {
	argv := lists.Map(p.words, func(w string) string {
		return strings.ReplaceAll(strings.ReplaceAll(w, LogPlace, p.log), OutPlace, out)
	})
	ended, err := (&gitbisect.Program{Argv: argv, Dir: dir, Commit: c.ID, Timeout: p.timeout}).Run(ctx)
	if err != nil {
		return "", "", err
	}
	if ended.How != "" {
		how = "its program: " + short(errors.New(ended.Why()), out)
	}
	_, errOut := os.Stat(out)
	switch {
	case ended.Status < 0 || ended.Status >= gitbisect.CannotTell:
		return how, how, nil
	case errOut != nil && how == "":
		return "", fmt.Sprintf("its program ended with status 0 and left no trace at %s", OutPlace), nil
	case errOut != nil:
		return how, how, nil
	}
	return how, "", nil
}

// short returns an error's text without the folder of our own files.
func short(err error, path string) string {
	return strings.ReplaceAll(err.Error(), path, OutPlace)
}

// tracesIn opens the traces in one of our own files, of any format that has traces.
func tracesIn(path string) ([]*tracediff.Trace, error) {
	head, err := formats.Head(files.Disk, path)
	if err != nil {
		return nil, err
	}
	if f := formats.Recognize(path, head); f != nil && f.Trace != nil {
		list, err := tracediff.OpenForeign(files.Disk, path, f.Trace, tracediff.ReadOptions{})
		if err == nil && len(list) == 0 {
			err = fmt.Errorf("%s: no checksums", path)
		}
		return list, err
	}
	return tracediff.Open(files.Disk, path, tracediff.ReadOptions{})
}

// compare compares the traces in a file with the expected ones, and returns where it departs.
func compare(expected, got, of string) (gitbisect.Verdict, string) {
	want, err := tracesIn(expected)
	if err != nil {
		return gitbisect.Skipped, short(err, got)
	}
	have, err := tracesIn(got)
	if err != nil {
		return gitbisect.Skipped, short(err, got)
	}
	if len(want) != len(have) {
		return gitbisect.Skipped, fmt.Sprintf("it wrote %s, and of %s there are %d", prose.Count(len(have), "trace", "traces"), of, len(want))
	}
	last := ""
	for i := range want {
		want[i].Name, have[i].Name = "expected", "built"
		r, err := tracediff.Compare([]*tracediff.Trace{want[i], have[i]}, tracediff.Options{FirstOnly: true, Context: -1})
		if err != nil {
			return gitbisect.Skipped, short(err, got)
		}
		verdict, why := judge(r, of)
		if verdict == gitbisect.Good {
			verdict, why = reaches(want[i], have[i], why, of)
		}
		if verdict != gitbisect.Good {
			return verdict, short(errors.New(why), got)
		}
		last = why
	}
	return gitbisect.Good, last
}

// judge returns what a comparison of an expected trace with another shows.
func judge(r *tracediff.Result, of string) (gitbisect.Verdict, string) {
	if d := r.First; d != nil {
		why := fmt.Sprintf("departs from %s in %s", of, r.TickText(d.Tick))
		for _, part := range []string{d.System, d.Scope} {
			if part != "" {
				why += ", " + prose.Name(part)
			}
		}
		return gitbisect.Bad, why
	}
	want, got := &r.Traces[0], &r.Traces[1]
	switch {
	case got.Trouble != "":
		return gitbisect.Skipped, "its trace cannot be read: " + got.What()
	case got.Torn:
		return gitbisect.Skipped, "its trace breaks off"
	case got.Empty:
		return gitbisect.Skipped, "its trace is empty"
	case want.Trouble != "" || want.Torn || want.Empty:
		return gitbisect.Skipped, of + " cannot be read to its end"
	case len(r.Uncompared) > 0:
		return gitbisect.Skipped, "its trace has nothing in common with " + of
	case r.FindingCount > 0:
		return gitbisect.Skipped, "its trace contradicts itself, or runs its checkpoints in another order"
	case r.Incomplete():
		return gitbisect.Skipped, "its trace has gaps"
	}
	return gitbisect.Good, fmt.Sprintf("agrees with %s up to %s", of, r.TickText(r.LastCompared))
}

// reaches returns whether a trace that agrees with another goes as far.
func reaches(want, have *tracediff.Trace, why, of string) (gitbisect.Verdict, string) {
	x, err := want.Extent()
	y, errHave := have.Extent()
	if err = errors.Join(err, errHave); err != nil {
		return gitbisect.Skipped, err.Error()
	}
	if y.Last < x.Last {
		return gitbisect.Skipped, fmt.Sprintf("it agrees with %s up to tick %d, where its trace ends: the other goes on to tick %d", of, y.Last, x.Last)
	}
	return gitbisect.Good, why
}
