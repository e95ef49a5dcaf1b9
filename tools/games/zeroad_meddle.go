//go:build unix

package main

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/desynctool/desynctool/tools/internal/try"
)

// joinAgain ends the client and lets it join again, so that it receives the host's state. Without a screen the engine
// plays as fast as it can, so the host is slowed while the client loads.
func (s *zeroadSession) joinAgain(ctx context.Context) {
	s.until(ctx, 20+uint64(s.r.IntN(10)), s.host, s.client)
	s.client.end()
	at := s.host.turn()
	s.until(ctx, at+4, s.host) // it has noticed that the client is gone
	s.host.signal(syscall.SIGSTOP)
	for _, old := range []string{"data/0ad/replays", "config/0ad/logs/oos_logs"} {
		try.Check(os.RemoveAll(filepath.Join(s.client.dir, old)))
	}
	s.client.start(ctx, append(s.common(), "-autostart-client=127.0.0.1", "-autostart-playername=Client"))
	sleep(ctx, time.Second)
	for end := time.Now().Add(zeroadPatience); s.client.turn() == 0; {
		if time.Now().After(end) {
			panic(try.Failed("the client did not join again"))
		}
		s.host.signal(syscall.SIGCONT)
		time.Sleep(20 * time.Millisecond)
		s.host.signal(syscall.SIGSTOP)
		sleep(ctx, 80*time.Millisecond)
	}
	s.host.signal(syscall.SIGCONT)
	log := s.client.newest("data/0ad/replays/*/*/commands.txt")
	text := try.Get(os.ReadFile(log))
	_, turns, _ := strings.Cut(string(text), "\n")
	if _, err := fmt.Sscanf(turns, "turn %d", &s.client.joined); err != nil || s.client.joined == 0 {
		panic(try.Failed("the client's second log does not show when it joined: %w", err))
	}
}

var zeroadHealth = regexp.MustCompile(`"hitpoints": (\d+\.\d{6,})\b`)

// pokeClient changes the health of a soldier in the client's memory. Scripts store values as doubles there, and a
// double with many digits occurs nowhere else.
func (s *zeroadSession) pokeClient(ctx context.Context) {
	s.until(ctx, 35+uint64(s.r.IntN(20)), s.client)
	for range 20 {
		sleep(ctx, 50*time.Millisecond)
		if s.poke() > 0 {
			return
		}
	}
	panic(try.Failed("no health of a soldier was found in the client's memory"))
}

// poke subtracts 7 from a soldier's health while the client is stopped, and returns how often the value was found.
func (s *zeroadSession) poke() (n int) {
	s.client.signal(syscall.SIGSTOP)
	defer s.client.signal(syscall.SIGCONT)
	file := s.client.newest("config/0ad/logs/oos_logs/*/*.txt")
	text := try.Get(os.ReadFile(file))
	found := zeroadHealth.FindAllSubmatch(text, -1)
	for _, i := range s.r.Perm(len(found)) {
		old, err := strconv.ParseFloat(string(found[i][1]), 64)
		if err != nil || old < 20 || bytes.Count(text, found[i][1]) > 2 { // AIProxy may also have it
			continue
		}
		return zeroadReplace(s.client.cmd.Process.Pid, old, old-7)
	}
	return 0
}

// zeroadReplace replaces a number wherever it occurs in the memory of a process.
func zeroadReplace(pid int, old, now float64) (n int) {
	maps := try.Get(os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid)))
	mem := try.Get(os.OpenFile(fmt.Sprintf("/proc/%d/mem", pid), os.O_RDWR, 0))
	defer mem.Close()
	pattern := binary.LittleEndian.AppendUint64(nil, math.Float64bits(old))
	with := binary.LittleEndian.AppendUint64(nil, math.Float64bits(now))
	for line := range strings.Lines(string(maps)) {
		var from, to int64
		var access string
		if _, err := fmt.Sscanf(line, "%x-%x %s", &from, &to, &access); err != nil || !strings.HasPrefix(access, "rw") || to-from > 1<<30 {
			continue
		}
		content := make([]byte, to-from)
		got, _ := mem.ReadAt(content, from)
		for at := 0; at+8 <= got; at += 8 {
			if bytes.Equal(content[at:at+8], pattern) {
				try.Get(mem.WriteAt(with, from+int64(at)))
				n++
			}
		}
	}
	return n
}

// zeroadPort is the port of a host.
const zeroadPort = 20595

// zeroadProxy relays the messages between a client and the host of this thread's network, and returns the address for
// the client. It changes the host's first message with a text so that the game does not know its kind.
func zeroadProxy(ctx context.Context, lost []byte) string {
	// The game accepts no port with an address, and the host uses the port on all addresses. The system redirects one
	// of them here.
	const address, port = "127.0.0.9", 20600
	rule := exec.CommandContext(ctx, "iptables", "-t", "nat", "-A", "OUTPUT", "-p", "udp", "-d", address, "--dport", strconv.Itoa(zeroadPort),
		"-j", "DNAT", "--to-destination", fmt.Sprintf("127.0.0.1:%d", port))
	if out, err := rule.CombinedOutput(); err != nil {
		panic(try.Failed("iptables: %w: %s", err, out))
	}
	front := try.Get(net.ListenUDP("udp4", &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: port}))
	back, err := net.DialUDP("udp4", nil, &net.UDPAddr{IP: net.IPv4(127, 0, 0, 1), Port: zeroadPort})
	if err != nil {
		front.Close()
		try.Check(err)
	}
	context.AfterFunc(ctx, func() { front.Close(); back.Close() })
	clients := make(chan *net.UDPAddr, 1)
	go func() {
		buf := make([]byte, 1<<16)
		known := false
		for {
			n, from, err := front.ReadFromUDP(buf)
			if err != nil {
				return
			}
			if !known {
				known = true
				clients <- from
			}
			back.Write(buf[:n])
		}
	}()
	go func() {
		buf := make([]byte, 1<<16)
		client := <-clients
		gone := false
		for {
			n, err := back.Read(buf)
			if errors.Is(err, net.ErrClosed) {
				return
			} else if err != nil {
				continue // the host does not listen yet
			}
			if !gone {
				gone = zeroadSpoil(buf[:n], lost)
			}
			front.WriteToUDP(buf[:n], client)
		}
	}()
	return address
}

// zeroadSpoil finds the first message with a text in an ENet datagram and gives it a kind that the game does not know.
// It reports whether there was one. ENet delivers the message, so nothing is sent again; the game ignores it.
func zeroadSpoil(datagram, text []byte) bool {
	if len(datagram) < 2 {
		return false
	}
	at := 2
	if datagram[0]&0x80 != 0 { // with a time
		at += 2
	}
	sizes := map[byte]int{1: 8, 2: 48, 3: 44, 4: 8, 5: 4, 6: 6, 7: 8, 8: 24, 9: 8, 10: 12, 11: 16, 12: 24}
	for at+4 <= len(datagram) {
		kind := datagram[at] & 0x0f
		size := sizes[kind]
		if size == 0 || at+size > len(datagram) {
			return false
		}
		length := 0
		switch kind {
		case 6:
			length = int(binary.BigEndian.Uint16(datagram[at+4:]))
		case 7, 9:
			length = int(binary.BigEndian.Uint16(datagram[at+6:]))
		case 8, 12:
			length = int(binary.BigEndian.Uint16(datagram[at+6:]))
		}
		if at+size+length > len(datagram) {
			return false
		}
		if data := datagram[at+size : at+size+length]; kind == 6 && len(data) > 3 && bytes.Contains(data, text) {
			data[0] = 0xee
			return true
		}
		at += size + length
	}
	return false
}
