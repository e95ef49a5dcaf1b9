package extsim

import (
	"bufio"
	"bytes"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"time"

	"github.com/desynctool/desynctool/internal/file/files"
	"github.com/desynctool/desynctool/internal/processgroup"
)

// Transport is how a target is talked to.
type Transport string

// Transports.
const (
	Stdio Transport = ""     // over its stdin and stdout
	Unix  Transport = "unix" // over a Unix socket
	TCP   Transport = "tcp"  // over a TCP connection on the loopback interface
)

// Environment variables with the address that a target has to connect to, and the token that it has to send first, so
// that no other process can take its place.
const (
	AddressVar = "DESYNCTOOL_SIM"       // unix:PATH or tcp:HOST:PORT
	TokenVar   = "DESYNCTOOL_SIM_TOKEN" // the token, as text
)

// startConnected starts a command and waits until it has connected. Its stdout is part
// of its log.
func (p *process) startConnected(by Transport, timeout time.Duration) error {
	network, address := "tcp", "127.0.0.1:0"
	if by == Unix {
		dir, remove, err := files.TemporaryFolder("")
		if err != nil {
			return err
		}
		defer remove()
		network, address = "unix", filepath.Join(dir, "sim")
	}
	listener, err := net.Listen(network, address)
	if err != nil {
		return err
	}
	defer listener.Close()
	token := rand.Text()
	p.cmd.Env = append(p.cmd.Env, AddressVar+"="+network+":"+listener.Addr().String(), TokenVar+"="+token)
	p.cmd.Stdout = &p.log
	if err := p.start(); err != nil {
		return err
	}
	accepted := make(chan net.Conn)
	failed := make(chan error, 1)
	stop := make(chan struct{})
	defer close(stop)
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				failed <- err
				return
			}
			go func() { // a stranger must not keep the target from connecting
				if err := admit(conn, token); err != nil {
					conn.Close()
					return
				}
				select {
				case accepted <- conn:
				case <-stop:
					conn.Close()
				}
			}()
		}
	}()
	select {
	case p.conn = <-accepted:
		return nil
	case err = <-failed:
	case <-p.done:
		return &BrokenError{Kind: Died, Msg: p.ended() + " before it connected", Said: p.log.Last()}
	case <-time.After(timeout):
		err = fmt.Errorf("it did not connect to %s within %v", AddressVar, timeout)
	}
	_ = processgroup.Kill(p.cmd.Process)
	<-p.done
	return &BrokenError{Kind: Silent, Msg: err.Error(), Said: p.log.Last()}
}

// admit reads the token that a target sends first, as a frame of one string.
func admit(conn net.Conn, token string) error {
	if err := conn.SetReadDeadline(time.Now().Add(DefaultTimeout)); err != nil {
		return err
	}
	var buf bytes.Buffer
	// One byte at a time: nothing after the frame may be taken away.
	b, err := readFrame(bufio.NewReaderSize(oneByOne{conn}, 16), &buf, 64)
	if err != nil {
		return err
	}
	var v values
	if err := v.read(b); err != nil {
		return err
	}
	if got := v.str("token"); v.err != nil || subtle.ConstantTimeCompare([]byte(got), []byte(token)) != 1 {
		return errors.New("not the token")
	}
	return conn.SetReadDeadline(time.Time{})
}

// oneByOne reads single bytes.
type oneByOne struct{ conn net.Conn }

func (r oneByOne) Read(b []byte) (int, error) { return r.conn.Read(b[:min(1, len(b))]) }
