package confine

import (
	"encoding/binary"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

func init() { acts["display"] = knock }

// knock asks an X server to be let in, as the X protocol has it, with the key in the file of XAUTHORITY and with another one,
// and prints the server's answers.
func knock([]string) {
	file, err := os.ReadFile(os.Getenv("XAUTHORITY"))
	if err != nil {
		fmt.Println(err)
		return
	}
	key := file[len(file)-16:]
	for _, key := range [][]byte{key, make([]byte, 16)} {
		c, err := net.Dial("unix", filepath.Join(displays, "X"+strings.TrimPrefix(os.Getenv("DISPLAY"), ":")))
		if err != nil {
			fmt.Println(err)
			return
		}
		const kind = "MIT-MAGIC-COOKIE-1"
		hello := []byte{'l', 0, 11, 0, 0, 0}
		hello = binary.LittleEndian.AppendUint16(hello, uint16(len(kind)))
		hello = append(hello, 16, 0, 0, 0)
		hello = append(hello, kind+"\x00\x00"...)
		hello = append(hello, key...)
		answer := make([]byte, 1)
		if _, err := c.Write(hello); err != nil {
			fmt.Println(err)
			return
		}
		if _, err := c.Read(answer); err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(map[byte]string{0: "refused", 1: "let in"}[answer[0]])
	}
}

// TestDisplay: a program reaches its display, with the key of it alone, and no other one.
func TestDisplay(t *testing.T) {
	if _, err := exec.LookPath("Xvfb"); err != nil {
		t.Skip("Xvfb is not here")
	}
	s, err := Display(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	second, err := Display(t.Context())
	if err != nil || second.Name == s.Name {
		t.Fatal(second, err)
	}
	defer second.Close()
	modes(t, func(t *testing.T, spaces bool) {
		c := acting(t, "display")
		c.Env = append(c.Env, s.Env...)
		if e := ran(t, c); !slices.Equal(e.Tail, []string{"let in", "refused"}) {
			t.Errorf("%+v", e)
		}
		if c.Env[len(c.Env)-2] = "DISPLAY=" + second.Name; spaces {
			if e := ran(t, c); !slices.Equal(e.Tail, []string{"refused", "refused"}) {
				t.Errorf("%+v", e)
			}
			// A display that it is not given is not there.
			c.Env[len(c.Env)-2] = "DISPLAY=:x"
			socket := filepath.Join(displays, "X"+strings.TrimPrefix(s.Name, ":"))
			c.Env[0] = act + "=reach unix:" + socket
			if e := ran(t, c); !slices.Equal(e.Tail, []string{"own loopback"}) {
				t.Errorf("%+v", e)
			}
		}
	})
	_, key, _ := strings.Cut(s.Env[1], "=")
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	for _, left := range []string{key, filepath.Join(displays, "X"+strings.TrimPrefix(s.Name, ":"))} {
		if _, err := os.Stat(left); err == nil {
			t.Errorf("%s is left", left)
		}
	}
	started := time.Now()
	if _ = s.Close(); time.Since(started) > patience/2 {
		t.Error("closing it again waits")
	}
}

// TestNoDisplay: missing programs are reported.
func TestNoDisplay(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	if _, err := Display(t.Context()); err == nil || !strings.Contains(err.Error(), "Xvfb, which is not here (Debian, Ubuntu: xvfb;") {
		t.Error(err)
	}
	if err := os.WriteFile(filepath.Join(os.Getenv("PATH"), "Xvfb"), []byte("#!/bin/sh\necho starting >&2\necho 'no \033[31mfonts' >&2\nexit 1\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if _, err := Display(t.Context()); err == nil || err.Error() != `the program Xvfb did not start: no \x1b[31mfonts` {
		t.Error(err)
	}
}
