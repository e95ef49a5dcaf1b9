package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"

	"golang.org/x/sys/unix"
)

// terminal runs a program with a terminal of so many columns and rows as its stdout, prints what the
// program wrote, and fails unless it ended with this status: terminal STATUS COLUMNS ROWS
// PROGRAM ARG…
func terminal() {
	if err := onTerminal(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "terminal:", err)
		os.Exit(1)
	}
}

func onTerminal(args []string) error {
	var numbers [3]int
	for i := range numbers {
		n, err := strconv.Atoi(args[i])
		if err != nil {
			return err
		}
		numbers[i] = n
	}
	outer, inner, err := openTerminal(numbers[1], numbers[2])
	if err != nil {
		return err
	}
	cmd := exec.Command(args[3], args[4:]...)
	cmd.Stdout, cmd.Stderr = inner, os.Stderr
	if err := cmd.Start(); err != nil {
		return err
	}
	inner.Close()
	if _, err := io.Copy(os.Stdout, outer); err != nil && !errors.Is(err, unix.EIO) { // nobody has it open any more
		return err
	}
	if err := cmd.Wait(); err != nil && !errors.As(err, new(*exec.ExitError)) {
		return err
	}
	if got := cmd.ProcessState.ExitCode(); got != numbers[0] {
		return fmt.Errorf("exit status %d, want %d", got, numbers[0])
	}
	return nil
}

// openTerminal returns both ends of a terminal, which adds no carriage returns.
func openTerminal(columns, rows int) (outer, inner *os.File, err error) {
	if outer, err = os.OpenFile("/dev/ptmx", os.O_RDWR, 0); err != nil {
		return nil, nil, err
	}
	fd := int(outer.Fd())
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		return nil, nil, err
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		return nil, nil, err
	}
	if inner, err = os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0); err != nil {
		return nil, nil, err
	}
	fd = int(inner.Fd())
	mode, err := unix.IoctlGetTermios(fd, unix.TCGETS)
	if err != nil {
		return nil, nil, err
	}
	mode.Oflag &^= unix.OPOST
	if err := unix.IoctlSetTermios(fd, unix.TCSETS, mode); err != nil {
		return nil, nil, err
	}
	return outer, inner, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: uint16(rows), Col: uint16(columns)})
}
