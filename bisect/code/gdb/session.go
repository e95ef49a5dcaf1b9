package gdb

import (
	"encoding/hex"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/desynctool/desynctool/bisect/code"
)

// session is a program under gdb.
type session struct {
	*client
	program string
	begun   chan struct{} // closed when the program runs, or cannot
	halted  chan struct{}
	modules modules

	mu           sync.Mutex
	interrupting bool
	abandoned    bool  // it has been watched for too long
	failed       error // why the program could not be started, or how it ended
	places       []place
	writes       []seen
	most         int
	cut, stepped bool
}

// place is memory that is watched.
type place struct {
	address uint64
	bytes   uint32
	last    []byte
}

// seen is a change of a place.
type seen struct {
	place    int
	old, new []byte
	stack    code.Stack
}

// startUnder changes a command so that it runs under a gdb. The program that serves has its stdin and stdout elsewhere: those
// of gdb are for its machine interface.
func startUnder(gdb string, cmd *exec.Cmd) (s *session, started func(error), err error) {
	if cmd.Err != nil {
		return nil, nil, cmd.Err
	}
	p, err := newPipes()
	if err != nil {
		return nil, nil, err
	}
	s = &session{program: cmd.Path, begun: make(chan struct{}), halted: make(chan struct{}, 1)}
	args := make([]string, len(cmd.Args)-1)
	for i, arg := range cmd.Args[1:] {
		args[i] = shellQuote(arg)
	}
	run := "-gdb-set args " + strings.Join(append(args, "</dev/null", "1>&2"), " ")
	cmd.Path, cmd.Args = gdb, append([]string{gdb, "--interpreter=mi3"}, append(plain(), cmd.Path)...)
	cmd.Env = append(cmd.Env, "SHELL=/bin/sh")
	cmd.Stdin, cmd.Stdout = p.in, p.out
	s.client = newClient(p.ours, p.theirs)
	return s, func(err error) {
		p.in.Close()
		p.out.Close()
		if err != nil {
			p.ours.Close()
			close(s.begun)
			return
		}
		go s.follow()
		go s.start(run)
	}, nil
}

// plain are the options of a gdb that runs no file of the user or of the game, and asks nobody.
func plain() []string {
	return []string{"-q", "-nx", "-iex", "set auto-load no", "-iex", "set debuginfod enabled off"}
}

// shellQuote quotes a word for a shell.
func shellQuote(s string) string { return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'" }

// signals are the commands by which a program gets its signals as without a debugger, and those that end it stop it first.
var signals = []string{
	"handle all nostop noprint pass",
	"handle SIGSEGV SIGBUS SIGFPE SIGILL SIGABRT stop print pass",
	"handle SIGINT stop print nopass",
}

// start runs the program.
func (s *session) start(args string) {
	defer close(s.begun)
	commands := []string{
		"-gdb-set mi-async on", "-gdb-set confirm off", "-gdb-set width 0", "-gdb-set height 0", "-gdb-set language c",
		"-gdb-set print frame-arguments none", "-gdb-set startup-with-shell on", "-gdb-set disable-randomization on", args,
	}
	for _, console := range append([]string{"unset environment LINES", "unset environment COLUMNS"}, signals...) {
		commands = append(commands, "-interpreter-exec console "+quote(console))
	}
	if err := s.all(commands...); err != nil {
		if errors.Is(err, errEnded) {
			err = errors.New("gdb ends at once: 9.1 or later is needed")
		}
		s.fail(err)
		return
	}
	_, err := s.do("-exec-run")
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "No executable"):
		s.fail(fmt.Errorf("%s is not a program that gdb can start: name the program itself, not a script that starts it", s.program))
	case strings.Contains(err.Error(), "During startup") || strings.Contains(err.Error(), "ot permitted"):
		s.fail(fmt.Errorf("gdb cannot trace %s (%w): allow it by sysctl kernel.yama.ptrace_scope=1, and in a container by --cap-add=SYS_PTRACE", s.program, err))
	default:
		s.fail(fmt.Errorf("gdb: %w", err))
	}
}

// fail ends a program for a reason. Only the first one counts.
func (s *session) fail(err error) {
	s.mu.Lock()
	if s.failed == nil {
		s.failed = err
	}
	s.mu.Unlock()
	s.quit()
}

// explain returns the better reason for an error of the target.
func (s *session) explain(err error) error {
	if s == nil || err == nil {
		return err
	}
	<-s.begun
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.failed != nil {
		return s.failed
	}
	return err
}

// follow handles each stop of the program.
func (s *session) follow() {
	for r := range s.stopped {
		if s.stop(r) {
			if _, err := s.do("-exec-continue"); err != nil {
				s.fail(fmt.Errorf("gdb: %w", err))
			}
		}
	}
}

// stop handles a stop, and reports whether the program goes on.
func (s *session) stop(r record) bool {
	reason, signal := r.fields.str("reason"), r.fields.str("signal-name")
	s.mu.Lock()
	interrupting, abandoned := s.interrupting, s.abandoned
	s.mu.Unlock()
	if abandoned && !s.cut && reason != "" && !strings.HasPrefix(reason, "exited") {
		s.cut = true
		if err := s.unwatch(); err != nil {
			s.fail(err)
			return false
		}
	}
	switch {
	case strings.HasPrefix(reason, "exited"):
		s.quit()
		return false
	case interrupting && (signal == "SIGINT" || reason == ""):
		s.halted <- struct{}{}
		return false
	case signal != "" && signal != "SIGINT":
		stack, _ := s.stack(false)
		s.mu.Lock()
		if s.failed == nil && len(stack) > 0 {
			s.failed = fmt.Errorf("it gets %s in %s", signal, stack)
		}
		s.mu.Unlock()
	case reason == "watchpoint-trigger":
		if err := s.written(); err != nil {
			s.fail(err)
			return false
		}
	}
	return true
}

// abandon watches nothing any more, while the program plays a tick.
func (s *session) abandon() {
	s.mu.Lock()
	s.abandoned = true
	s.mu.Unlock()
	_, _ = s.do("-exec-interrupt --all") // an error: it has just stopped by itself
}

// halt stops the program, which waits for a request.
func (s *session) halt() error {
	s.mu.Lock()
	s.interrupting = true
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		s.interrupting = false
		s.mu.Unlock()
	}()
	if _, err := s.do("-exec-interrupt --all"); err != nil {
		return err
	}
	select {
	case <-s.halted:
		return nil
	case <-s.ended:
		return s.gone()
	case <-time.After(answer):
		return fmt.Errorf("gdb could not stop %s within %v", s.program, answer)
	}
}

// steps lets gdb watch memory by stepping the program.
const steps = "-gdb-set can-use-hw-watchpoints 0"

// missed reports whether a watched place of a halted program has changed and nothing stopped it: some virtual machines
// take watchpoints and never report them.
func (s *session) missed() (bool, error) {
	for _, p := range s.places {
		if now, err := s.memory(p); err != nil || string(now) != string(p.last) {
			return err == nil && !s.stepped, err
		}
	}
	return false, nil
}

// resume lets a halted program go on. Where the processor cannot watch the places, gdb steps the program.
func (s *session) resume() error {
	_, err := s.do("-exec-continue")
	if err == nil || !strings.Contains(err.Error(), "hardware") || s.stepped {
		return err
	}
	if err := s.all("-break-delete", steps); err != nil {
		return err
	}
	if err := s.insert(); err != nil {
		return err
	}
	_, err = s.do("-exec-continue")
	return err
}

// watch watches places of a halted program, up to a number of changes.
func (s *session) watch(places []place, most int) error {
	s.places, s.most, s.writes = places, most, nil
	for i := range s.places {
		var err error
		if s.places[i].last, err = s.memory(s.places[i]); err != nil {
			return fmt.Errorf("%w: the process that gdb started is not the one that answers, such as where a script starts the game", err)
		}
	}
	if s.stepped {
		if _, err := s.do(steps); err != nil {
			return err
		}
	}
	return s.insert()
}

// insert sets the watchpoints.
func (s *session) insert() error {
	for _, p := range s.places {
		if _, err := s.do("-break-watch %s", quote(p.expression())); err != nil {
			return fmt.Errorf("gdb cannot watch %d bytes at 0x%x: %w", p.bytes, p.address, err)
		}
	}
	list, err := s.do("-break-list")
	for _, f := range list.get("BreakpointTable").get("body").fields {
		if f.str("type") == "watchpoint" {
			s.stepped = true
		}
	}
	return err
}

// expression returns a place in the language C.
func (p place) expression() string {
	typ := map[uint32]string{1: "unsigned char *", 2: "unsigned short *", 4: "unsigned int *", 8: "unsigned long long *"}[p.bytes]
	if typ == "" {
		typ = fmt.Sprintf("unsigned char (*)[%d]", p.bytes)
	}
	return fmt.Sprintf("*(%s)0x%x", typ, p.address)
}

// unwatch watches nothing any more.
func (s *session) unwatch() error {
	s.places = nil
	_, err := s.do("-break-delete")
	return err
}

// memory reads a place.
func (s *session) memory(p place) ([]byte, error) {
	v, err := s.do("-data-read-memory-bytes 0x%x %d", p.address, p.bytes)
	if err != nil {
		return nil, err
	}
	var b []byte
	for _, block := range v.get("memory").fields {
		part, err := hex.DecodeString(block.str("contents"))
		if err != nil {
			return nil, fmt.Errorf("memory that gdb reads at 0x%x: %w", p.address, err)
		}
		b = append(b, part...)
	}
	if len(b) != int(p.bytes) {
		return nil, fmt.Errorf("gdb reads %d bytes at 0x%x, expected %d", len(b), p.address, p.bytes)
	}
	return b, nil
}

// written notes the places that have changed.
func (s *session) written() error {
	var stack code.Stack
	for i := range s.places {
		p := &s.places[i]
		now, err := s.memory(*p)
		if err != nil {
			return err
		}
		if string(now) == string(p.last) {
			continue
		}
		if len(s.writes) == s.most {
			s.cut = true
			return s.unwatch()
		}
		if stack == nil {
			if stack, err = s.stack(true); err != nil {
				return err
			}
		}
		s.writes = append(s.writes, seen{i, p.last, now, stack})
		p.last = now
	}
	return nil
}

// deepestStack is how many calls of a stack are kept.
const deepestStack = 32

// stack returns the calls of the current thread. After a write the program is at the instruction that follows, which may
// belong to another line or inlined function: the stack is taken inside the one before.
func (s *session) stack(afterWrite bool) (code.Stack, error) {
	if afterWrite {
		if err := s.all(`-data-evaluate-expression "$pc = $pc - 1"`); err != nil {
			return nil, err
		}
	}
	v, err := s.do("-stack-list-frames 0 %d", deepestStack-1)
	if afterWrite {
		err = errors.Join(err, s.all(`-data-evaluate-expression "$pc = $pc + 1"`))
	}
	if err != nil {
		return nil, err
	}
	var list code.Stack
	for _, f := range v.get("stack").fields {
		p := code.Place{Function: f.str("func"), File: f.str("file")}
		if p.Function == "??" {
			p.Function = ""
		}
		p.Line, _ = strconv.Atoi(f.str("line"))
		address, _ := strconv.ParseUint(f.str("addr"), 0, 64)
		if p.Module, p.Offset = s.modules.find(s.process(), address); p.Module == "" {
			p.Module = f.str("from")
		}
		list = append(list, p)
	}
	return list.Game(), nil
}
