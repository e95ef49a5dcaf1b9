package cli

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
)

// callerVariable is the environment variable with which a program tells a started program its version.
const callerVariable = "DESYNCTOOL_CALLER"

// CallerVersion returns the environment entry that tells a started program the version of this one. The programs of a
// release belong together: a program refuses to be started by another version.
func CallerVersion() string { return callerVariable + "=" + ThisBuild().Line("desynctool") }

// checkCaller returns an error if a program of another version started this one.
func checkCaller(program string) error {
	caller := os.Getenv(callerVariable)
	if own := ThisBuild().Line("desynctool"); caller != "" && caller != own {
		return fmt.Errorf("%s started %s: the versions differ; install both from one release", caller, ThisBuild().Line(program))
	}
	return os.Unsetenv(callerVariable) // programs started by this one must not see it
}

// Exit returns the result of a command with an exit status from another program, nil for 0.
func Exit(status int) error {
	if status == 0 {
		return nil
	}
	return exited(status)
}

// exited is an exit status. It is returned as an error so that a command has only one way to end; nothing prints it.
type exited int

func (s exited) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// Become runs another desynctool program in place of this one. If the system can replace a process, and the command
// uses the streams of the process, it does not return. Otherwise the program receives the signals that are sent to this
// one, and Become returns its exit status.
func (e *Env) Become(path string, args []string) (status int, err error) {
	environment := append(os.Environ(), CallerVersion())
	if e.Stdin == io.Reader(os.Stdin) && e.Stdout == io.Writer(os.Stdout) && e.Stderr == io.Writer(os.Stderr) {
		e.IgnoreSignals()
		if err := replaceProcess(path, append([]string{path}, args...), environment); !errors.Is(err, errors.ErrUnsupported) {
			return 0, err
		}
	}
	cmd := exec.Command(path, args...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = environment, e.Stdin, e.Stdout, e.Stderr
	e.IgnoreSignals()
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, listened()...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		select {
		case s := <-signals:
			_ = cmd.Process.Signal(s) // the program may have ended
		case err := <-ended:
			if exit := (*exec.ExitError)(nil); errors.As(err, &exit) {
				return statusOf(exit.ProcessState), nil
			}
			return 0, err
		}
	}
}
