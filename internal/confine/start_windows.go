package confine

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// joined is a program in a job. All processes that it starts end with the job.
type joined struct {
	cmd     *exec.Cmd
	job     windows.Handle
	lacking []string
}

func start(c *Command, out *os.File) (process, error) {
	job, err := windows.CreateJobObject(nil, nil)
	if err != nil {
		return nil, err
	}
	info := windows.JOBOBJECT_EXTENDED_LIMIT_INFORMATION{}
	info.BasicLimitInformation.LimitFlags = windows.JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE | windows.JOB_OBJECT_LIMIT_DIE_ON_UNHANDLED_EXCEPTION | windows.JOB_OBJECT_LIMIT_ACTIVE_PROCESS
	info.BasicLimitInformation.ActiveProcessLimit = maxProcesses
	if c.Memory > 0 {
		info.BasicLimitInformation.LimitFlags |= windows.JOB_OBJECT_LIMIT_JOB_MEMORY
		info.JobMemoryLimit = uintptr(c.Memory)
	}
	_, err = windows.SetInformationJobObject(job, windows.JobObjectExtendedLimitInformation, uintptr(unsafe.Pointer(&info)), uint32(unsafe.Sizeof(info)))
	if err != nil {
		return nil, errors.Join(err, windows.CloseHandle(job))
	}
	cmd := &exec.Cmd{Path: c.Args[0], Args: c.Args, Env: c.Env, Dir: c.Dir, Stdout: out, Stderr: out}
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: windows.CREATE_NO_WINDOW | syscall.CREATE_NEW_PROCESS_GROUP}
	if err := cmd.Start(); err != nil {
		return nil, errors.Join(cannotRun(c.Args[0], err), windows.CloseHandle(job))
	}
	j := &joined{cmd: cmd, job: job, lacking: []string{Reaching, Writing}}
	if len(c.Private) > 0 {
		j.lacking = append(j.lacking, Reading)
	}
	if !c.Network {
		j.lacking = append(j.lacking, Network)
	}
	own, err := windows.OpenProcess(windows.PROCESS_SET_QUOTA|windows.PROCESS_TERMINATE, false, uint32(cmd.Process.Pid))
	if err == nil {
		err = windows.AssignProcessToJobObject(job, own) // processes that it started before stay outside
		_ = windows.CloseHandle(own)
	}
	if err != nil {
		j.lacking = append(j.lacking, Children, Weighing)
	}
	return j, nil
}

func (j *joined) wait() outcome {
	err := j.cmd.Wait()
	j.kill() // the rest of the job
	_ = windows.CloseHandle(j.job)
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		return outcome{code: -1, err: fmt.Errorf("how the program ended is not known: %w", err)}
	}
	return outcome{code: j.cmd.ProcessState.ExitCode()}
}

// end is the same as kill, because a program without a console cannot be asked to end.
func (j *joined) end() { j.kill() }

func (j *joined) kill() {
	_ = windows.TerminateJobObject(j.job, 1)
	_ = j.cmd.Process.Kill()
}

func (j *joined) usage() (held int64, threads int, known bool) { return 0, 0, false }

func (j *joined) missing() []string { return j.lacking }
