// Package kill kills programs during their work, for tests of the state that they leave. On unix it uses SIGKILL, which
// the program cannot notice.
package kill

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/testkit/effort"
)

// After starts a program and kills it after some time. It returns the complete lines that it printed to stdout, and
// whether it ended by itself. If it ended by itself with a failure, that is an error. No process of it runs any more.
func After(cmd *exec.Cmd, d time.Duration) (lines []string, ended bool, err error) {
	return run(cmd, new(printed), func() func() {
		return stopper(time.AfterFunc(d, func() { _ = cmd.Process.Kill() }))
	})
}

// AtLine is After for a program that is killed as soon as it has printed n lines.
func AtLine(cmd *exec.Cmd, n int) (lines []string, ended bool, err error) {
	p := &printed{left: n, kill: func() { _ = cmd.Process.Kill() }}
	return run(cmd, p, func() func() { return func() {} })
}

func stopper(t *time.Timer) func() { return func() { t.Stop() } }

func run(cmd *exec.Cmd, out *printed, begin func() func()) (lines []string, ended bool, err error) {
	var stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = out, &stderr
	if err := cmd.Start(); err != nil {
		return nil, false, err
	}
	end := begin()
	err = cmd.Wait()
	end()
	whole := out.text.Bytes()
	whole = whole[:bytes.LastIndexByte(whole, '\n')+1]
	if len(whole) > 0 {
		lines = strings.Split(strings.TrimSuffix(string(whole), "\n"), "\n")
	}
	var failed *exec.ExitError
	switch {
	case err == nil:
		return lines, true, nil
	case errors.As(err, &failed) && killed(failed.ProcessState):
		return lines, false, nil
	}
	return lines, false, errors.Join(err, errors.New(stderr.String()))
}

// killed reports whether a program was ended.
func killed(s *os.ProcessState) bool {
	return !s.Exited() || runtime.GOOS == "windows" && s.ExitCode() == 1
}

// printed collects a program's output and kills the program after a number of lines.
type printed struct {
	text bytes.Buffer
	left int
	kill func() // or nil
}

func (p *printed) Write(b []byte) (int, error) {
	p.left -= bytes.Count(b, []byte{'\n'})
	if p.left <= 0 && p.kill != nil {
		p.kill()
		p.kill = nil
	}
	return p.text.Write(b)
}

// Variable is the environment variable for how often tests kill programs.
const Variable = "DESYNCTOOL_KILLS"

// Times is how often a test kills a program: three times, ten if the tests try everything, a hundred if they try long
// tests, or the number in Variable.
func Times() int {
	if n, err := strconv.Atoi(os.Getenv(Variable)); err == nil {
		return n
	}
	return effort.Of(3, effort.Long(10, 100))
}
