package confine

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/desynctool/desynctool/internal/file/files"
)

// displays is the folder with the sockets of X servers.
const displays = "/tmp/.X11-unix"

// displayStarts is how long an X server may take to start.
const displayStarts = 20 * time.Second

// Screen is an X server without a physical screen. Only programs with its key can use it.
type Screen struct {
	// Name is its display name, ":7".
	Name string
	// Env are the variables with which programs find and may use it.
	Env []string

	cmd  *exec.Cmd
	over chan struct{}
}

// Display starts an X server, Xvfb, with a screen of 1024 by 768. It listens only at a socket in the file system,
// because a network namespace cannot reach others. It uses no shared memory, because that is separate too. It ends when
// ctx is done, at Close, and with this process.
func Display(ctx context.Context) (*Screen, error) {
	path, err := exec.LookPath("Xvfb")
	if err != nil {
		return nil, errors.New("a screen that is not seen needs the program Xvfb, which is not here (Debian, Ubuntu: xvfb; Fedora: xorg-x11-server-Xvfb; Arch: xorg-server-xvfb)")
	}
	folder, remove, err := files.TemporaryFolder("")
	if err != nil {
		return nil, err
	}
	s := &Screen{over: make(chan struct{})}
	key := filepath.Join(folder, "key")
	if err := os.WriteFile(key, authority(), 0o600); err != nil {
		return nil, errors.Join(err, remove())
	}
	number, said, err := os.Pipe()
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	defer number.Close()
	var complains bytes.Buffer
	s.cmd = exec.CommandContext(ctx, path, "-displayfd", "3", "-auth", key, "-nolisten", "tcp", "-noreset", "-extension", "MIT-SHM", "-screen", "0", "1024x768x24")
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(os.Interrupt) } // so that it removes its socket
	s.cmd.Env = Minimal(folder)
	s.cmd.ExtraFiles = []*os.File{said}
	s.cmd.Stderr = &head{b: &complains}
	s.cmd.SysProcAttr = alone()
	s.cmd.WaitDelay = patience
	started := make(chan error)
	go func() {
		unlock := withThread()
		defer unlock()
		err := s.cmd.Start()
		started <- err
		if err == nil {
			_ = s.cmd.Wait() // its users notice that it has ended
			_ = remove()
		}
		close(s.over)
	}()
	err = <-started
	said.Close()
	if err != nil {
		return nil, errors.Join(err, remove())
	}
	_ = number.SetReadDeadline(time.Now().Add(displayStarts))
	text, err := bufio.NewReader(io.LimitReader(number, 16)).ReadString('\n') // written last
	if text = strings.TrimSpace(text); err == nil && text != "" {
		s.Name = ":" + text
		s.Env = []string{"DISPLAY=" + s.Name, "XAUTHORITY=" + key}
		return s, nil
	}
	s.Close()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return nil, fmt.Errorf("the program Xvfb did not start: %s", lastLine(complains.String()))
}

// Close ends the server.
func (s *Screen) Close() error {
	_ = s.cmd.Cancel() // it may have ended
	select {
	case <-s.over:
	case <-time.After(patience):
		_ = s.cmd.Process.Kill()
		<-s.over
	}
	return nil
}

// authority returns an X key file with one key for all displays: family 65535 for any address, and four texts preceded
// by their lengths (2 bytes, big-endian): the address, the number, the kind of key, the key.
func authority() []byte {
	key := make([]byte, 16)
	_, _ = rand.Read(key) // it does not fail
	b := []byte{0xff, 0xff}
	for _, text := range []string{"", "", "MIT-MAGIC-COOKIE-1", string(key)} {
		b = binary.BigEndian.AppendUint16(b, uint16(len(text)))
		b = append(b, text...)
	}
	return b
}

// head keeps the first bytes that are written to it.
type head struct{ b *bytes.Buffer }

func (h *head) Write(b []byte) (int, error) {
	h.b.Write(b[:min(len(b), max(0, 8<<10-h.b.Len()))])
	return len(b), nil
}

// lastLine returns the last line of a server's error output in printable form.
func lastLine(text string) string {
	o := newOutput(&Command{})
	o.take(strings.NewReader(text))
	if tail := o.tail(); len(tail) > 0 {
		return tail[len(tail)-1]
	}
	return "it said nothing"
}
