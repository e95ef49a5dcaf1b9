// SPDX-License-Identifier: MIT-0
// Copyright 2026 The desynctool authors

// The program relay is an example of a server that carries the packets of flight recorders, and finds what differs
// without a simulation.
//
//	relay -seed 7 -peers relay,ann,bob -listen 127.0.0.1:7777
//
// It prints its address, and each report as text. Datagrams to it have the number of their sender, the number of the peer
// that they are for, and the packet; datagrams from it have the number of the sender and the packet. A peer's number
// belongs to the first address that sends it: a real server knows its players by their login.
package main

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"net/netip"
	"os"
	"strings"
	"time"

	"github.com/desynctool/desynctool/relay"
)

const tick = 20 * time.Millisecond

func main() {
	listen := flag.String("listen", "127.0.0.1:0", "address of UDP")
	seed := flag.Uint64("seed", 0, "seed of the session")
	peers := flag.String("peers", "", "names of the peers by number, the relay's first, with commas between them")
	flag.Parse()
	if err := serve(os.Stdout, *listen, relay.Options{Seed: *seed, Peers: strings.Split(*peers, ",")}); err != nil {
		fmt.Fprintln(os.Stderr, "relay:", err)
		os.Exit(2)
	}
}

type server struct {
	conn      *net.UDPConn
	relay     *relay.Relay
	addresses []netip.AddrPort // of peers that have sent something
	begun     time.Time
}

func serve(out io.Writer, listen string, o relay.Options) error {
	r, err := relay.New(o)
	if err != nil {
		return err
	}
	at, err := net.ResolveUDPAddr("udp", listen)
	if err != nil {
		return err
	}
	conn, err := net.ListenUDP("udp", at)
	if err != nil {
		return err
	}
	defer conn.Close()
	fmt.Fprintln(out, conn.LocalAddr())
	s := &server{conn: conn, relay: r, addresses: make([]netip.AddrPort, len(o.Peers)), begun: time.Now()}
	for was := relay.Watching; ; was = r.Status() {
		if err := s.step(); err != nil {
			return err
		}
		if r.Status() == relay.Found && was != relay.Found {
			fmt.Fprint(out, r.Text())
		}
	}
}

// step takes the packets that arrive within a tick, and then sends what the relay has.
func (s *server) step() error {
	var datagram [2048]byte
	end := time.Now().Add(tick)
	if err := s.conn.SetReadDeadline(end); err != nil {
		return err
	}
	for time.Now().Before(end) {
		n, from, err := s.conn.ReadFromUDPAddrPort(datagram[:])
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err == nil && n > 2 { // other errors are of a peer that has left
			s.carry(int(datagram[0]), int(datagram[1]), datagram[2:n], from)
		}
	}
	for {
		to, packet := s.relay.Send(uint64(time.Since(s.begun).Milliseconds()))
		if packet == nil {
			return nil
		}
		s.send(0, to, packet)
	}
}

func (s *server) carry(from, to int, packet []byte, address netip.AddrPort) {
	if from == 0 || from >= len(s.addresses) || to >= len(s.addresses) {
		return
	}
	if !s.addresses[from].IsValid() {
		s.addresses[from] = address
	}
	switch {
	case s.addresses[from] != address:
	case to == 0:
		s.relay.Receive(from, packet)
	default:
		s.send(from, to, packet)
	}
}

func (s *server) send(from, to int, packet []byte) {
	if s.addresses[to].IsValid() { // what is lost is sent again
		_, _ = s.conn.WriteToUDPAddrPort(append([]byte{byte(from)}, packet...), s.addresses[to])
	}
}
