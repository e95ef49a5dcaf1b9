package isolate

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/desynctool/desynctool/internal/file/frame"
	"github.com/desynctool/desynctool/internal/sandbox"
	"github.com/desynctool/desynctool/report/document"
)

// acted is the environment variable that has the test binary play a process.
const acted = "DESYNCTOOL_TEST_READER"

var errTold = errors.New("told to end")

func TestMain(m *testing.M) {
	role := os.Getenv(acted)
	if role == "" {
		os.Exit(m.Run())
	}
	if role == "asker" { // of TestKilled
		r := as("hangs")
		process := r.Process
		r.Process = func() (*exec.Cmd, error) {
			cmd, err := process()
			child = cmd
			return cmd, err
		}
		r.State = func(sandbox.State) error { fmt.Println(child.Process.Pid); return nil }
		_, _, _ = r.Ask(context.Background(), asked(), nil)
		os.Exit(0)
	}
	if play := hostile[role]; play != nil {
		_, _, _ = next(os.Stdin)
		play(&wire{w: os.Stdout})
		os.Exit(0)
	}
	look := honest[role]
	if look == nil {
		panic("no role " + role)
	}
	if err := Serve(os.Stdin, os.Stdout, errTold, func(a *Asked) *Answer { return look(a, a.Match) }, func(match int) *Answer { return look(nil, match) }, copies); err != nil {
		os.Exit(4)
	}
	os.Exit(0)
}

var child *exec.Cmd // of the role asker

func ofMatch(n int) *document.Report {
	r := document.NoReport(document.InSync, "")
	if n > 0 {
		r.Match = &document.MatchDocument{Number: n}
	}
	return r
}

// honest are processes that call Serve; asked is nil for further matches.
var honest = map[string]func(asked *Asked, match int) *Answer{
	"fails to copy": func(_ *Asked, match int) *Answer { return &Answer{Report: ofMatch(match)} },
	"answers":       func(_ *Asked, match int) *Answer { return &Answer{Report: ofMatch(match)} },
	"echoes": func(a *Asked, _ int) *Answer {
		b, err := io.ReadAll(a.Stdin)
		return &Answer{Report: document.NoReport(document.InSync, string(b)), Usage: errText(err)}
	},
	"lists": func(a *Asked, match int) *Answer {
		if match == 0 {
			return &Answer{Matches: []document.MatchDocument{{Number: 1, Name: "a"}, {Number: 2, Name: "b"}, {Number: 3, Name: "c"}}, Named: "1: a; 2: b; 3: c"}
		}
		if match == 2 {
			panic("a bad match")
		}
		return &Answer{Report: ofMatch(match)}
	},
	"fails": func(*Asked, int) *Answer {
		return &Answer{Failure: &Failure{Status: document.Inconclusive, Lines: []string{"x: lacking"}, Whole: "x: lacking"}, Usage: "read"}
	},
	"burns": func(*Asked, int) *Answer {
		for n := 0; ; n++ {
			_ = n
		}
	},
	"eats": func(*Asked, int) *Answer {
		var all [][]byte
		for range 1 << 10 {
			b := make([]byte, 16<<20)
			for i := 0; i < len(b); i += 4096 {
				b[i] = 1
			}
			all = append(all, b)
		}
		runtime.KeepAlive(all)
		return nil
	},
	"waits": func(a *Asked, _ int) *Answer {
		<-a.Context.Done()
		return &Answer{Failure: &Failure{Status: document.Failed, Lines: []string{"x"}, Whole: context.Cause(a.Context).Error()}}
	},
	"progresses": func(a *Asked, _ int) *Answer {
		a.Progress("reading\x1b[31m", "ticks", 1, 2)
		a.Progress("comparing", "", 3, 4)
		return &Answer{Report: ofMatch(0)}
	},
	"unmatched": func(*Asked, int) *Answer { return &Answer{Report: ofMatch(7)} },
}

// copies writes 200,000 bytes.
func copies(out io.Writer) ([]string, error) {
	if os.Getenv(acted) == "fails to copy" {
		return nil, errors.New("it is a pipe")
	}
	_, err := out.Write(bytes.Repeat([]byte("copy"), 50_000))
	return []string{"a: chat\x1b[31m", strings.Repeat("long ", 1000)}, err
}

func errText(err error) string {
	if err != nil {
		return err.Error()
	}
	return ""
}

// hostile are processes that do as they like after the request.
var hostile = map[string]func(to *wire){
	"silent":  func(*wire) {},
	"garbage": func(to *wire) { _, _ = to.w.Write(bytes.Repeat([]byte("garbage"), 1000)) },
	"status":  func(*wire) { os.Exit(7) },
	"cut": func(to *wire) {
		states(to)
		_, _ = to.w.Write(binary.BigEndian.AppendUint32([]byte{reportFrame}, 1000))
	},
	"huge": func(to *wire) {
		states(to)
		_, _ = to.w.Write([]byte{reportFrame, 0xff, 0xff, 0xff, 0xff})
		_, _ = io.Copy(to.w, endless{})
	},
	"hangs":  func(to *wire) { states(to); time.Sleep(time.Hour) },
	"closes": func(to *wire) { states(to); os.Stdout.Close(); time.Sleep(time.Hour) },
	"floods": func(to *wire) {
		states(to)
		var err error
		for err == nil {
			err = to.sendJSON(progress, moment{What: "x"})
		}
	},
	"stateless":    func(to *wire) { _ = to.sendJSON(reportFrame, ofMatch(0)) },
	"states twice": func(to *wire) { states(to); states(to) },
	"unknown":      func(to *wire) { states(to); _ = to.send('?', nil) },
	"other schema": func(to *wire) {
		states(to)
		_ = to.send(reportFrame, []byte(`{"schema":"desynctool.diff/1","status":"in-sync"}`))
	},
	"no JSON":   func(to *wire) { states(to); _ = to.send(reportFrame, []byte(`{"schema":`)) },
	"deep":      func(to *wire) { states(to); _ = to.send(reportFrame, bytes.Repeat([]byte("["), 1<<20)) },
	"no status": func(to *wire) { r := ofMatch(0); r.Status = "perfect"; answers(to, r, Answer{}) },
	"nothing":   func(to *wire) { answers(to, nil, Answer{}) },
	"two answers": func(to *wire) {
		answers(to, ofMatch(0), Answer{Failure: &Failure{document.Failed, []string{"x"}, "x"}})
	},
	"empty failure":  func(to *wire) { answers(to, nil, Answer{Failure: &Failure{Status: document.Failed}}) },
	"in sync failed": func(to *wire) { answers(to, nil, Answer{Failure: &Failure{document.InSync, []string{"x"}, "x"}}) },
	"one of one":     func(to *wire) { answers(to, nil, Answer{Matches: []document.MatchDocument{{Number: 1}}}) },
	"misnumbered":    func(to *wire) { answers(to, nil, Answer{Matches: []document.MatchDocument{{Number: 2}, {Number: 1}}}) },
	"copies 1":       func(to *wire) { copyAs(to, 'r', []byte("{}")) },
	"copies 2":       func(to *wire) { copyAs(to, copyFrame, make([]byte, chunk)); _, _ = io.Copy(copying{to}, endless{}) },
	"copies 3":       func(to *wire) { copyAs(to, copyEnd, []byte("[1]")) },
	"copies 4":       func(to *wire) { copyAs(to, copyFrame, []byte("half")); panic("a crafted file") },
	"copies 5":       func(to *wire) { copyAs(to, copyFrame, []byte("half")); time.Sleep(time.Hour) },
	"panics":         func(*wire) { panic("bad \x1b[31mfile") },
}

type endless struct{}

func (endless) Read(b []byte) (int, error) { return len(b), nil }

func states(to *wire) { _ = to.sendJSON(state, sandbox.State{}) }

func answers(to *wire, r *document.Report, a Answer) {
	states(to)
	if r != nil {
		_ = to.sendJSON(reportFrame, r)
	}
	_ = to.sendJSON(answer, a)
}

// copyAs answers, and begins its copy with a frame.
func copyAs(to *wire, kind byte, content []byte) {
	answers(to, ofMatch(0), Answer{})
	_, _, _ = next(os.Stdin)
	_ = to.send(kind, content)
}

// as returns a Reader with processes that play a role.
func as(role string) Reader {
	return Reader{Process: func() (*exec.Cmd, error) {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), acted+"="+role, "GOTRACEBACK=single")
		return cmd, nil
	}}
}

// asked is a request with limits for tests.
func asked() *Request {
	return &Request{Rules: sandbox.Rules{Limits: sandbox.Limits{Memory: 512 << 20, Wall: time.Minute, Files: 64, Written: 1 << 20}}}
}

// TestHostile: however a process fails, that is an error with the reason, on a line.
func TestHostile(t *testing.T) {
	want := map[string]string{
		"silent": "ended without an answer", "status": "ended without an answer (exit status 7)", "cut": "ended without an answer",
		"garbage": "did not answer as it should: ", "huge": "did not answer as it should: 4294967295 bytes, at most 67108864 are allowed",
		"hangs": "took longer than 300ms", "closes": "took longer than 300ms", "floods": "took longer than 300ms",
		"stateless": "did not answer as it should: a frame 'r' out of order", "states twice": "did not answer as it should: a frame 's' out of order",
		"unknown": "did not answer as it should: an unknown frame '?'", "other schema": "did not answer as it should: the report: its schema is \"desynctool.diff/1\"",
		"no JSON": "did not answer as it should: the report: not a saved report", "deep": "did not answer as it should: the report: not a saved report",
		"no status": "a report with an unknown status", "nothing": "an answer with 0 of", "two answers": "an answer with 2 of",
		"empty failure": "a failure without a reason", "in sync failed": "a failure without a reason",
		"one of one": "a list of matches that was not asked for", "misnumbered": "match 1 of its list has the number 2",
		"panics": "ended without an answer (exit status 2): panic: bad ", "copies 1": "a frame 'r' instead of a copy", "copies 2": "a copy that is too large",
		"copies 3": "did not answer as it should: json", "copies 4": "panic: a crafted file", "copies 5": "took longer than 300ms",
	}
	for role := range hostile {
		q := asked()
		if strings.Contains(want[role], "300ms") {
			q.Rules.Limits.Wall = 300 * time.Millisecond
		}
		p, a, err := as(role).Ask(t.Context(), q, nil)
		if strings.HasPrefix(role, "copies") && err == nil {
			a = nil
			_, err = p.Copy(io.Discard, 1<<20)
		}
		var how *DiedError
		if !errors.As(err, &how) || want[role] == "" || !strings.Contains(err.Error(), want[role]) || !errors.Is(err, frame.ErrLacking) || a != nil {
			t.Errorf("%s: %v, want %s", role, err, want[role])
			continue
		}
		if strings.ContainsAny(err.Error(), "\n\x1b") {
			t.Errorf("%s: %q is not a line", role, err)
		}
	}
	if len(want) != len(hostile) {
		t.Errorf("%d roles, %d expected errors", len(hostile), len(want))
	}
	_, _, err := as("eats").Ask(t.Context(), asked(), nil)
	if runtime.GOOS == "linux" && (err == nil || err.Error() != "the isolated process needed more memory than it may have, 512 MiB; --limit heap=BYTES sets it for each MiB") {
		if how := fmt.Sprint(err); !strings.HasSuffix(how, "(exit status 66)") && !strings.HasSuffix(how, "for -race mode") { // the race detector's own end
			t.Errorf("memory: %v", err)
		}
	}
	q := asked()
	q.Rules.Limits.Heap = 64 << 20
	if _, _, err = as("eats").Ask(t.Context(), q, nil); err == nil || err.Error() != "the isolated process needed more memory than it may have, 64 MiB; --limit heap=BYTES sets it for each MiB" {
		t.Errorf("memory of the runtime: %v", err)
	}
	q = asked()
	q.Rules.Limits.CPU = time.Second
	_, _, err = as("burns").Ask(t.Context(), q, nil) // on a busy machine the system counts more for the limit than it shows
	if died := (*DiedError)(nil); runtime.GOOS == "linux" && (!errors.As(err, &died) || died.CPU < time.Second/4 || !strings.Contains(err.Error(), "needed more processor time than it may have")) {
		t.Errorf("processor time: %v", err)
	}
	q = asked()
	q.Match, q.OfSeveral = 3, true
	if _, _, err = as("unmatched").Ask(t.Context(), q, nil); err == nil || !strings.Contains(err.Error(), "a report that is not of match 3") {
		t.Errorf("another match: %v", err)
	}
	q.OfSeveral = false
	if _, _, err = as("lists").Ask(t.Context(), q, nil); err == nil || !strings.Contains(err.Error(), "that was not asked for") {
		t.Errorf("a match of several: %v", err)
	}
	if _, _, err = (Reader{Process: func() (*exec.Cmd, error) { return exec.Command("/nowhere/desynctool"), nil }}).Ask(t.Context(), asked(), nil); err == nil || errors.Is(err, frame.ErrLacking) {
		t.Errorf("no program: %v", err)
	}
}

// TestAsk: honest processes answer, of one match after the other.
func TestAsk(t *testing.T) {
	p, a, err := as("answers").Ask(t.Context(), asked(), nil)
	if err != nil || a.Report.Status != document.InSync || a.Report.Match != nil {
		t.Fatal(a, err)
	}
	p.Close()

	text := strings.Repeat("what comes on stdin\n", 10_000)
	p, a, err = as("echoes").Ask(t.Context(), asked(), strings.NewReader(text))
	if err != nil || a.Report.Error != text || a.Usage != "" {
		t.Errorf("stdin: %v", err)
	}
	p.Close()

	_, a, err = as("fails").Ask(t.Context(), asked(), nil)
	var failed *Failure
	if !errors.As(err, &failed) || failed.Lines[0] != "x: lacking" || err.Error() != "x: lacking" || !errors.Is(err, frame.ErrLacking) || a.Usage != "read" {
		t.Errorf("a failure: %v, %v", a, err)
	}

	p, a, err = as("lists").Ask(t.Context(), asked(), nil)
	if err != nil || len(a.Matches) != 3 || a.Named != "1: a; 2: b; 3: c" {
		t.Fatal(a, err)
	}
	for _, match := range []int{3, 1} {
		if a, err := p.Another(match); err != nil || a.Report.Match.Number != match {
			t.Errorf("match %d: %v, %v", match, a, err)
		}
	}
	var died *DiedError
	if _, err := p.Another(2); !errors.As(err, &died) || !strings.HasSuffix(err.Error(), "(exit status 2): panic: a bad match") {
		t.Errorf("the match that kills: %v", err)
	}
	p.Close() // which it is already
}

// TestInterrupted: a process that is interrupted still answers.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	r := as("waits")
	r.State = func(sandbox.State) error { cancel(); return nil }
	_, _, err := r.Ask(ctx, asked(), nil)
	var failed *Failure
	if !errors.As(err, &failed) || failed.Whole != errTold.Error() {
		t.Errorf("%v", err)
	}
}

// TestState: the restrictions of a process can be refused before it reads anything, and are as the system reports them.
func TestState(t *testing.T) {
	refuse := errors.New("not enough")
	r := as("answers")
	r.State = func(s sandbox.State) error {
		if n := len(s.Holds) + len(s.Missing); n != 4 && (n != 5 || s.Holds[len(s.Holds)-1] != "namespaces") {
			t.Errorf("%+v", s)
		}
		return refuse
	}
	if _, _, err := r.Ask(t.Context(), asked(), nil); !errors.Is(err, refuse) || errors.Is(err, frame.ErrLacking) {
		t.Errorf("%v", err)
	}
}

// TestProgress: a process's progress text is shown, as harmless text.
func TestProgress(t *testing.T) {
	var all []string
	r, q := as("progresses"), asked()
	r.Progress = func(what, unit string, done, total int64) {
		b, _ := json.Marshal([]any{what, unit, done, total})
		all = append(all, string(b))
	}
	q.Progress = true
	p, _, err := r.Ask(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	p.Close()
	if got := strings.Join(all, " "); got != `["reading\\x1b[31m","ticks",1,2] ["comparing","",3,4]` {
		t.Error(got)
	}
}

// TestCopy: a process writes what it has read, and reports what is left of names in it, on lines that can be printed.
// One that cannot reports it, and answers on.
func TestCopy(t *testing.T) {
	p, _, err := as("lists").Ask(t.Context(), asked(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	for range 2 {
		var out bytes.Buffer
		left, err := p.Copy(&out, 200_000)
		if err != nil || out.String() != strings.Repeat("copy", 50_000) || len(left) != 2 || left[0] != `a: chat\x1b[31m` || len(left[1]) > 410 {
			t.Fatalf("%d bytes, %q, %v", out.Len(), left, err)
		}
		if a, err := p.Another(3); err != nil || a.Report.Match.Number != 3 {
			t.Errorf("%+v %v", a, err)
		}
	}
	full := errors.New("the disk is full")
	if _, err := p.Copy(failing{full}, 1<<20); !errors.Is(err, full) {
		t.Error(err)
	}
	p, _, err = as("fails to copy").Ask(t.Context(), asked(), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	var not *CopyError
	if _, err := p.Copy(io.Discard, 1<<20); !errors.As(err, &not) || not.Why != "it is a pipe" {
		t.Error(err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// TestServeAlone: a process without a request, or with an asker that is gone, ends.
func TestServeAlone(t *testing.T) {
	if err := Serve(strings.NewReader(""), io.Discard, errTold, nil, nil, nil); err == nil || !strings.Contains(err.Error(), "triage --isolate") {
		t.Errorf("without a request: %v", err)
	}
	cmd, err := as("waits").Process()
	if err != nil {
		t.Fatal(err)
	}
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if err := (&wire{w: in}).request(asked()); err != nil {
		t.Fatal(err)
	}
	if kind, _, err := next(out); kind != state || err != nil {
		t.Fatal(kind, err)
	}
	in.Close()
	if err := cmd.Wait(); err == nil || cmd.ProcessState.ExitCode() != 4 {
		t.Errorf("it ended with %v", err)
	}
}

// FuzzNext: whatever comes, a frame takes no more memory than there is.
func FuzzNext(f *testing.F) {
	f.Add([]byte{answer, 0, 0, 0, 2, '{', '}'})
	f.Add([]byte{reportFrame, 3, 0xff, 0xff, 0xff, '{'})
	f.Add([]byte{progress, 0xff, 0xff, 0xff, 0xff})
	f.Add([]byte("garbage"))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := bytes.NewReader(b)
		for {
			kind, content, err := next(r)
			if err != nil {
				return
			}
			var again bytes.Buffer
			if err := (&wire{w: &again}).send(kind, content); err != nil || !bytes.Contains(b, again.Bytes()) {
				t.Fatalf("%q: %v", content, err)
			}
		}
	})
}
